package decoder

import (
	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/vocab"
)

// A Frame is one element of the automaton's stacks, numbered from 0 by the [Source]
// that created it. Its meaning is defined by the source: a position in a grammar
// rule, or an object of which two keys have been read.
type Frame = int32

// A Source is a front end: it defines which bytes may follow a frame. It creates
// frames when they are reached, so the automaton can be far larger than the part
// that a document visits.
//
// A source never creates a frame without a completion. This keeps masks free of
// dead ends; the decoder does not look ahead itself.
//
// A source is used under its grammar's lock and needs none of its own.
type Source interface {
	// Start returns the frame of the whole text.
	Start() Frame
	// Expand records the edges that leave f. It is called once per frame,
	// until Reset.
	Expand(f Frame, e *Edges)
	// ExpandByte records the edges for byte b of a frame for which
	// [Edges.Later] was used. It is called once for each byte needed.
	ExpandByte(f Frame, b byte, e *Edges)
	// Resolve records the edges for byte b of a frame whose edge was
	// recorded with [Edges.Capture]; text is all that was accepted before b.
	Resolve(f Frame, b byte, text []byte, e *Edges)
	// Prepare returns the prepared part of the mask after f, or nil if the
	// vocabulary has to be walked.
	Prepare(f Frame, v *vocab.Vocab) *Prepared
	// PrepareAt does the same for the values below a node of a trie, where f is
	// the frame after the bytes up to that node. Only Extra, Exits and Overlap
	// of the result are used, and refer to values of the trie. Nil means that
	// the subtree has to be walked.
	PrepareAt(f Frame, v *vocab.Vocab, trie *vocab.Trie, node int32) *Prepared
	// Finish returns a shortest text that ends f. It is nil if f ends without
	// text, or if the source knows no such text.
	Finish(f Frame) []byte
	// Describe returns a description, for error messages, of what may follow f.
	Describe(f Frame) string
	// Err returns the first limit that was exceeded, if any. After that, the
	// results of the source are incomplete.
	Err() error
	// Bytes returns the memory held, approximately.
	Bytes() int
	// Reset forgets all frames; numbering starts again.
	Reset()
}

// Metered is a Source that reports its work to a meter, which ends it with a panic
// that the grammar recovers. The grammar then resets the source.
type Metered interface{ SetMeter(*meter.Meter) }

// A Staler is a Source with state that it shares with others, such as a common cache.
// Stale reports whether it has exceeded a limit there: it must be reset, after which it
// can be used again, with more room and without that state.
type Staler interface{ Stale() bool }

// Edges collects the edges that leave a frame.
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
	n       int8 // number of frames that replace the frame, or one of the constants below
	off     int32
}

const (
	edgeUnknown = -1 // see CaptureOnly
	edgeLater   = -2 // see Later
)

// Add records that a byte from lo to hi replaces the frame by the given frames,
// top frame last. Without frames, the frame ends with that byte. If edges overlap,
// the text is read in several ways at once.
func (e *Edges) Add(lo, hi byte, frames ...Frame) {
	e.list = append(e.list, edge{lo: lo, hi: hi, n: int8(len(frames)), off: int32(len(e.frames))})
	e.frames = append(e.frames, frames...)
}

// Capture records an edge whose target depends on the text before it. When a byte
// is accepted, [Source.Resolve] returns the target. Masks are computed with the
// pending frames instead, which must allow the same tokens up to the next capture.
func (e *Edges) Capture(lo, hi byte, pending ...Frame) {
	e.Add(lo, hi, pending...)
	e.list[len(e.list)-1].capture = true
}

// CaptureOnly records an edge whose target is unknown without the text. Tokens that
// cross it are checked one by one.
func (e *Edges) CaptureOnly(lo, hi byte) {
	e.list = append(e.list, edge{lo: lo, hi: hi, capture: true, n: edgeUnknown})
}

// Later records that bytes from lo to hi may follow. [Source.ExpandByte] gives the
// edge of such a byte when it is needed.
func (e *Edges) Later(lo, hi byte) {
	e.list = append(e.list, edge{lo: lo, hi: hi, n: edgeLater})
}

// Common records that the frame occurs on many stacks, so that the part of its mask
// that does not depend on the stack is worth keeping.
func (e *Edges) Common() { e.common = true }

// Like copies the edges of f, except those over the bytes in except, for which
// other edges may be added.
func (e *Edges) Like(f Frame, except [4]uint64) { e.like, e.except = f, except }

// Include adds the edges of from that leave over byte b.
func (e *Edges) Include(from *Edges, b byte) {
	for _, x := range from.list {
		if x.lo <= b && b <= x.hi && x.n >= 0 {
			e.Add(b, b, from.frames[x.off:x.off+int32(x.n)]...)
		}
	}
}

// First returns the first byte and the target of the first edge to a single frame.
func (e *Edges) First() (b byte, f Frame, ok bool) {
	for _, x := range e.list {
		if x.n == 1 {
			return x.lo, e.frames[x.off], true
		}
	}
	return 0, 0, false
}

// To returns the target of byte b, if an edge over b leads to a single frame.
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

// Prepared describes the mask after a frame without a walk of the vocabulary. The
// allowed tokens are Base, Extra and those of the exits; with Parent, also those
// that the stack below allows, for a frame that may end; and with WalkRest, also
// those found by walking the vocabulary from the possible first bytes that are not
// in Skip. No token may be listed twice unless Overlap is set. A Prepared is
// immutable once returned.
type Prepared struct {
	Base     vocab.Bitset // tokens that end inside the frame; may be nil
	Extra    []int32      // more tokens that end inside the frame
	Exits    []Exit
	Parent   bool
	WalkRest bool
	Skip     *[4]uint64 // set of first bytes; may be nil
	Overlap  bool       // exits may name the same tokens
}

// An Exit is a group of tokens that leave the frame by the same edge. The trie holds
// the rest of each token after that edge, to be walked from the stack that the edge
// leads to.
type Exit struct {
	Frames []Frame // the frames that replace the frame, as in [Edges.Add]
	Trie   *vocab.Trie
	Tokens []int32      // the token for each value in Trie; nil: values are tokens
	Bare   []int32      // values whose token ends with the edge
	Only   vocab.Bitset // if not nil: the values that are allowed
	Doubt  bool         // check the group's tokens one by one

	// A small group is cheaper as a list: if Few is not nil, it holds the
	// values, Rests holds the rest of the token by value, and Trie, Bare and
	// Only are ignored.
	Few   []int32
	Rests [][]byte
}
