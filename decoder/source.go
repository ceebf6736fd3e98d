package decoder

import "stencil/vocab"

// A Frame is one element of the automaton's stacks, numbered from 0 by the
// [Source] that made it. What it stands for is the source's business: a
// position in a grammar rule, or an object of which two keys have been read.
type Frame = int32

// A Source is a front end: it says which bytes may follow a frame. Frames
// are made as they are reached, so a source can be far larger than what a
// document visits.
//
// A source never makes a frame that has no completion. That is what keeps
// masks free of dead ends; the decoder doesn't look ahead itself.
//
// A source is used under its grammar's lock and needs none of its own.
type Source interface {
	// Start returns the frame of the whole text.
	Start() Frame
	// Expand records the edges that leave f. It is called once a frame,
	// until Reset.
	Expand(f Frame, e *Edges)
	// ExpandByte records the edges for byte b of a frame for which
	// [Edges.Later] was used. It is called once for each byte needed.
	ExpandByte(f Frame, b byte, e *Edges)
	// Resolve records the edges for byte b of a frame whose edge was
	// recorded with [Edges.Capture]; text is all that was accepted before b.
	Resolve(f Frame, b byte, text []byte, e *Edges)
	// Prepare returns what is known in advance about the tokens that may
	// follow f, or nil when the vocabulary has to be walked.
	Prepare(f Frame, v *vocab.Vocab) *Prepared
	// PrepareAt does the same for the tokens below a node of a trie, with f
	// reached by the bytes up to that node. Only Extra, Exits and Overlap of
	// the result are used, and name values of the trie. Nil means that the
	// sub-tree has to be walked.
	PrepareAt(f Frame, v *vocab.Vocab, trie *vocab.Trie, node int32) *Prepared
	// Finish returns a shortest text that brings f to its end, nil if that is
	// no text or the source knows none.
	Finish(f Frame) []byte
	// Describe says in words what may follow f.
	Describe(f Frame) string
	// Err returns the first limit that was exceeded, if any. From then on
	// the source's answers are incomplete.
	Err() error
	// Bytes returns the memory held, approximately.
	Bytes() int
	// Reset forgets all frames; numbering starts again.
	Reset()
}

// A staler is a Source that may come to stand on ground that others have spoilt,
// such as a store shared with other sources that has exceeded a limit. Then it
// asks to be reset, after which it may go on.
type staler interface{ Stale() bool }

// Edges collects what may follow a frame.
type Edges struct {
	list   []edge
	frames []Frame
	mayPop bool
	common bool
	like   Frame // the frame whose edges are inherited, or -1
	except [4]uint64
}

type edge struct {
	lo, hi  byte
	capture bool
	n       int8 // frames that replace the source frame, or one of the values below
	off     int32
}

const (
	edgeUnknown = -1 // only Resolve knows
	edgeLater   = -2 // ExpandByte will say
)

// Add records that a byte from lo to hi replaces the frame by the given
// frames, the one to go on with last. Without frames the frame ends with
// that byte. Edges may overlap: then the text is read in several ways at
// once.
func (e *Edges) Add(lo, hi byte, frames ...Frame) {
	e.list = append(e.list, edge{lo: lo, hi: hi, n: int8(len(frames)), off: int32(len(e.frames))})
	e.frames = append(e.frames, frames...)
}

// Capture records an edge whose outcome depends on the text before it. A
// mask is computed with the frames given here, which must lead to the same
// tokens wherever they are not themselves waiting for a capture; an accepted
// byte goes through [Source.Resolve].
func (e *Edges) Capture(lo, hi byte, pending ...Frame) {
	e.Add(lo, hi, pending...)
	e.list[len(e.list)-1].capture = true
}

// CaptureOnly records an edge of which nothing can be said without the text.
// Tokens that cross it are checked one by one.
func (e *Edges) CaptureOnly(lo, hi byte) {
	e.list = append(e.list, edge{lo: lo, hi: hi, capture: true, n: edgeUnknown})
}

// Later records that bytes from lo to hi may follow, without saying what
// they lead to: [Source.ExpandByte] is asked when one of them does.
func (e *Edges) Later(lo, hi byte) {
	e.list = append(e.list, edge{lo: lo, hi: hi, n: edgeLater})
}

// Common records that the frame stands on many stacks, so that it is worth
// keeping what tokens do inside of it.
func (e *Edges) Common() { e.common = true }

// Like records that, but for the bytes in except, the frame is like f, so
// that nothing has to be worked out again. Edges of its own may be added for
// those bytes.
func (e *Edges) Like(f Frame, except [4]uint64) { e.like, e.except = f, except }

// Include adds the edges of from that leave over byte b.
func (e *Edges) Include(from *Edges, b byte) {
	for _, x := range from.list {
		if x.lo <= b && b <= x.hi && x.n >= 0 {
			e.Add(b, b, from.frames[x.off:x.off+int32(x.n)]...)
		}
	}
}

// First returns the first byte of the first edge to a single frame, and that
// frame.
func (e *Edges) First() (b byte, f Frame, ok bool) {
	for _, x := range e.list {
		if x.n == 1 {
			return x.lo, e.frames[x.off], true
		}
	}
	return 0, 0, false
}

// To returns the frame that byte b leads to, if an edge leads to a single one.
func (e *Edges) To(b byte) (f Frame, ok bool) {
	for _, x := range e.list {
		if x.n == 1 && x.lo <= b && b <= x.hi {
			return e.frames[x.off], true
		}
	}
	return 0, false
}

// MayEnd records that the frame may end before the next byte.
func (e *Edges) MayEnd() { e.mayPop = true }

func (e *Edges) reset() {
	e.list, e.frames, e.mayPop, e.common, e.like = e.list[:0], e.frames[:0], false, false, -1
}

// Prepared is what can be said about the tokens after a frame without
// walking the vocabulary. The allowed tokens are Base, Extra, those of the
// exits; with Parent, those that may follow once the frame has ended; and with
// WalkRest, those found by walking the vocabulary from the frame's live bytes
// that are not in Skip. No token may be named twice, unless
// Overlap is set. A Prepared is immutable once returned.
type Prepared struct {
	Base     vocab.Bitset // tokens that end inside the frame; may be nil
	Extra    []int32      // more tokens that end inside the frame
	Exits    []Exit
	Parent   bool
	WalkRest bool
	Skip     *[4]uint64 // set of first bytes; may be nil
	Overlap  bool       // exits may name the same tokens
}

// An Exit stands for a group of tokens which leave the frame in the same
// way, with the rest of each token in a trie. Its walk starts from the
// stack that an edge with Frames leads to.
type Exit struct {
	Frames []Frame // what replaces the frame, as in [Edges.Add]
	Trie   *vocab.Trie
	Tokens []int32      // the token for each value in Trie; nil: values are tokens
	Bare   []int32      // values whose token has no rest
	Only   vocab.Bitset // if not nil: the values that belong to the group
	Doubt  bool         // check the group's tokens one by one

	// A small group is cheaper listed: then Few is its values, Rests what
	// follows by value, and Trie, Bare and Only aren't looked at.
	Few   []int32
	Rests [][]byte
}
