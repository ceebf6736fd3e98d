package decoder

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/vocab"
)

// sequenceSource is the Source of a sequence: it combines the sources of the
// constraints, and has frames of its own for free and fixed text. With n-1 parts,
// frame f of the constraint of part i-1 has the number f*n+i; frame f of its own has
// the number f*n.
type sequenceSource struct {
	vocab  *vocab.Vocab
	parts  []*sequencePart
	tokens []int32 // the tokens without text in marks

	frames []sequenceFrame
	index  map[sequenceFrame]Frame
	splits map[Frame]*Prepared
	size   int
}

// sequencePart is a segment; exactly one of free, fixed, fork and sub is set.
type sequencePart struct {
	free   *markFinder
	mayEnd bool
	budget int // for free text

	fixed   *markTree
	after   []int  // for free and fixed text: the segment after each mark
	atStart []bool // for free text: whether each mark counts only at the start
	kept    []int  // for free text: bytes of each mark that belong to the text

	fork []int

	sub  Source
	next int // for a constraint
	own  int // length of the shortest text of the constraint

	cost int // length of the shortest text from here to the end
}

// sequenceFrame is a frame of free text in a state of its mark finder; of fixed text
// at a node of its tree; or of free text that must close, after some bytes of its
// first stop.
type sequenceFrame struct {
	part    int32
	at      int32
	closing bool
	begin   bool // the start of a text that starts with a fork
}

// Stale implements [Staler].
func (s *sequenceSource) Stale() bool {
	for i := range s.parts {
		if x, ok := s.parts[i].sub.(Staler); ok && x.Stale() {
			return true
		}
	}
	return false
}

// Reset implements [Source].
func (s *sequenceSource) Reset() {
	s.frames, s.index = nil, map[sequenceFrame]Frame{}
	s.splits, s.size = map[Frame]*Prepared{}, 0
	for _, p := range s.parts {
		if p.sub != nil {
			p.sub.Reset()
		}
	}
}

// width is the number of sources that share the numbering of frames.
func (s *sequenceSource) width() Frame { return Frame(len(s.parts) + 1) }

func (s *sequenceSource) own(f sequenceFrame) Frame {
	id, ok := s.index[f]
	if !ok {
		id = Frame(len(s.frames))
		s.frames = append(s.frames, f)
		s.index[f] = id
	}
	return id * s.width()
}

// lift returns the number in the sequence of a frame of part i.
func (s *sequenceSource) lift(i int, f Frame) Frame { return f*s.width() + Frame(i) + 1 }

// split returns the part of a frame and the number of the frame in that part; sub
// is nil for frames of free and fixed text.
func (s *sequenceSource) split(f Frame) (i int, sub Source, at Frame) {
	w := s.width()
	if i := int(f % w); i > 0 {
		return i - 1, s.parts[i-1].sub, f / w
	}
	return int(s.frames[f/w].part), nil, f / w
}

// freeState returns the state of a frame of free text.
func (s *sequenceSource) freeState(f Frame) (int32, bool) {
	_, sub, at := s.split(f)
	if sub != nil || s.frames[at].closing || s.frames[at].begin || s.parts[s.frames[at].part].free == nil {
		return 0, false
	}
	return s.frames[at].at, true
}

// entries returns the initial frames of each alternative of a segment, top last.
func (s *sequenceSource) entries(i int) (all [][]Frame) {
	if i == End {
		return [][]Frame{nil}
	}
	p := s.parts[i]
	switch {
	case p.fork != nil:
		for _, k := range p.fork {
			all = append(all, s.entries(k)...)
		}
	case p.sub == nil:
		all = [][]Frame{{s.own(sequenceFrame{part: int32(i)})}}
	default:
		for _, below := range s.entries(p.next) {
			if len(below) > maxEntry {
				return [][]Frame{below}
			}
			all = append(all, append(slices.Clone(below), s.lift(i, p.sub.Start())))
		}
	}
	return all
}

// add adds an edge over bytes from lo to hi for each of ways.
func (s *sequenceSource) add(e *Edges, lo, hi byte, ways [][]Frame) {
	for _, frames := range ways {
		e.Add(lo, hi, frames...)
	}
}

// Start implements [Source].
func (s *sequenceSource) Start() Frame {
	if s.parts[0].fork != nil {
		return s.own(sequenceFrame{begin: true})
	}
	frames := s.entries(0)[0]
	return frames[len(frames)-1]
}

// Starts implements starter. If every alternative is a single frame, one frame with
// the edges of all of them merges the readings sooner.
func (s *sequenceSource) Starts() [][]Frame {
	all := s.entries(0)
	if s.parts[0].fork != nil && !slices.ContainsFunc(all, func(frames []Frame) bool { return len(frames) > 1 }) {
		return [][]Frame{{s.Start()}}
	}
	return all
}

// expandBegin adds the edges of every alternative at the start of a text that starts
// with a fork. No edge there can depend on earlier text.
func (s *sequenceSource) expandBegin(e *Edges) {
	for _, frames := range s.entries(0) {
		from := frames[len(frames)-1]
		one := Edges{like: -1}
		s.Expand(from, &one)
		if one.mayPop {
			e.MayEnd()
		}
		for b := range 256 {
			s.follow(e, from, byte(b), &one)
		}
	}
}

// follow adds the given edges of a frame for one byte.
func (s *sequenceSource) follow(e *Edges, from Frame, b byte, edges *Edges) {
	if edges.like >= 0 && edges.except[b>>6]>>(b&63)&1 == 0 {
		like := Edges{like: -1}
		s.Expand(edges.like, &like)
		s.follow(e, edges.like, b, &like)
	}
	for _, x := range edges.list {
		if b < x.lo || x.hi < b {
			continue
		}
		if x.n >= 0 && !x.capture {
			e.Add(b, b, edges.frames[x.off:x.off+int32(x.n)]...)
			continue
		}
		one := Edges{like: -1}
		if x.capture {
			s.Resolve(from, b, nil, &one)
		} else {
			s.ExpandByte(from, b, &one)
		}
		e.Include(&one, b)
	}
}

// Expand implements [Source].
func (s *sequenceSource) Expand(f Frame, e *Edges) {
	i, sub, at := s.split(f)
	if sub != nil {
		sub.Expand(at, e)
		s.liftEdges(i, e)
		return
	}
	x, p := s.frames[at], s.parts[i]
	switch {
	case x.begin:
		s.expandBegin(e)
	case x.closing:
		if b := p.free.marks[0][x.at]; b != spelledByte {
			s.add(e, b, b, s.closed(x, p, 1))
		}
	case p.fixed != nil:
		if p.mayEnd && x.at == 0 {
			e.MayEnd()
		}
		for _, m := range p.fixed.nodes[x.at].moves {
			if m.b != spelledByte {
				s.add(e, m.b, m.b, s.moved(x, p, m.to))
			}
		}
	default:
		if p.mayEnd {
			e.MayEnd()
		}
		s.expandFree(x, p, e)
	}
}

func (s *sequenceSource) expandFree(x sequenceFrame, p *sequencePart, e *Edges) {
	row := p.free.next[x.at]
	row[spelledByte] = row[spelledByte-1] // outside of spelled tokens, no mark has either byte
	for lo := 0; lo < 256; {
		hi := lo
		for hi < 255 && row[hi+1] == row[lo] {
			hi++
		}
		s.add(e, byte(lo), byte(hi), s.moved(x, p, row[lo]))
		lo = hi + 1
	}
}

// closed returns the next frames after n more bytes of the first stop.
func (s *sequenceSource) closed(x sequenceFrame, p *sequencePart, n int32) [][]Frame {
	if x.at += n; int(x.at) == len(p.free.marks[0]) {
		return s.entries(p.after[0])
	}
	return [][]Frame{{s.own(x)}}
}

// moved returns the next frames after a move to a state or node or, if to is ^i, to
// the end of mark i.
func (s *sequenceSource) moved(x sequenceFrame, p *sequencePart, to int32) [][]Frame {
	if to < 0 {
		return s.entries(p.after[^to])
	}
	return [][]Frame{{s.own(sequenceFrame{part: x.part, at: to})}}
}

// ReadsTokens implements [TokenReader].
func (s *sequenceSource) ReadsTokens() bool {
	return len(s.tokens) > 0 || slices.ContainsFunc(s.parts, func(p *sequencePart) bool {
		r, ok := p.sub.(TokenReader)
		return ok && r.ReadsTokens()
	})
}

// ExpandTokens implements [TokenReader].
func (s *sequenceSource) ExpandTokens(f Frame, e *TokenEdges) {
	i, sub, at := s.split(f)
	if sub != nil {
		if r, ok := sub.(TokenReader); ok {
			from := len(e.list)
			r.ExpandTokens(at, e)
			for _, x := range e.list[from:] {
				for n, f := range x.frames {
					x.frames[n] = s.lift(i, f)
				}
			}
		}
		return
	}
	x, p := s.frames[at], s.parts[i]
	if x.begin {
		for _, frames := range s.entries(0) {
			s.ExpandTokens(frames[len(frames)-1], e)
		}
		return
	}
	for _, tok := range s.tokens {
		add := func(ways [][]Frame) {
			for _, frames := range ways {
				e.Add(tok, frames...)
			}
		}
		spelt := SpellToken(tok)
		switch {
		case x.closing:
			if bytes.HasPrefix(p.free.marks[0][x.at:], spelt) {
				add(s.closed(x, p, spelledSize))
			}
		case p.fixed != nil:
			p.fixed.follow(x.at, spelt, func(to int32) { add(s.moved(x, p, to)) })
		case p.free.takes(x.at, spelt):
			add(s.moved(x, p, p.free.follow(x.at, spelt)))
		}
	}
}

// liftEdges renumbers the frames in the edges of a part.
func (s *sequenceSource) liftEdges(i int, e *Edges) {
	for k, f := range e.frames {
		e.frames[k] = s.lift(i, f)
	}
	if e.like >= 0 {
		e.like = s.lift(i, e.like)
	}
}

// ExpandByte implements [Source].
func (s *sequenceSource) ExpandByte(f Frame, b byte, e *Edges) {
	if i, sub, at := s.split(f); sub != nil {
		sub.ExpandByte(at, b, e)
		s.liftEdges(i, e)
	}
}

// Resolve implements [Source]. Sources search the text backwards from its end, so
// they can be given the text of earlier segments too.
func (s *sequenceSource) Resolve(f Frame, b byte, text []byte, e *Edges) {
	if i, sub, at := s.split(f); sub != nil {
		e.like = -1
		sub.Resolve(at, b, text, e)
		s.liftEdges(i, e)
	}
}

// Prepare implements [Source].
func (s *sequenceSource) Prepare(f Frame, v *vocab.Vocab) *Prepared {
	if p, ok := s.splits[f]; ok {
		return p
	}
	var out *Prepared
	i, sub, at := s.split(f)
	if sub != nil {
		out = s.liftPrepared(i, sub.Prepare(at, v))
	} else if x, p := s.frames[at], s.parts[i]; p.free != nil && !x.closing && !x.begin {
		out = s.prepareFree(x, p)
	}
	s.splits[f] = out
	return out
}

// liftPrepared renumbers the frames in a Prepared.
func (s *sequenceSource) liftPrepared(i int, p *Prepared) *Prepared {
	if p == nil || len(p.Exits) == 0 {
		return p
	}
	out := *p
	out.Exits = make([]Exit, len(p.Exits))
	for k, x := range p.Exits {
		frames := make([]Frame, len(x.Frames))
		for n, f := range x.Frames {
			frames[n] = s.lift(i, f)
		}
		x.Frames = frames
		out.Exits[k] = x
	}
	s.size += 100 * len(out.Exits)
	return &out
}

// prepareFree prepares the mask of free text: most tokens leave it free, some
// complete a stop.
func (s *sequenceSource) prepareFree(x sequenceFrame, p *sequencePart) *Prepared {
	tokens := p.free.freeTokens(s.vocab, x.at, p.atStart)
	out := &Prepared{Base: tokens.base}
	for stop, trie := range tokens.after {
		if trie == nil {
			continue
		}
		for k, frames := range s.entries(p.after[stop]) {
			exit := Exit{Frames: frames, Trie: trie}
			if k == 0 {
				exit.Bare = tokens.bare[stop]
			}
			out.Overlap = out.Overlap || k > 0
			out.Exits = append(out.Exits, exit)
		}
	}
	return out
}

// PrepareAt implements [Source].
func (s *sequenceSource) PrepareAt(f Frame, v *vocab.Vocab, trie *vocab.Trie, node int32) *Prepared {
	i, sub, at := s.split(f)
	if sub == nil {
		return nil
	}
	return s.liftPrepared(i, sub.PrepareAt(at, v, trie, node))
}

// never is the cost of a part that cannot end.
const never = math.MaxInt

// findEnds computes for each part the length of the shortest text from its start to
// the end of the sequence. It returns the index of a part without one, or -1.
func (s *sequenceSource) findEnds() (endless int) {
	for _, p := range s.parts {
		p.cost = never
		if p.sub != nil {
			p.own = len(p.sub.Finish(p.sub.Start()))
		}
	}
	for changed := true; changed; {
		changed = false
		for _, p := range s.parts {
			cost := never
			switch {
			case p.mayEnd:
				cost = 0
			case p.sub != nil:
				cost = s.costAfter(p.own, p.next)
			case p.fork != nil:
				for _, k := range p.fork {
					cost = min(cost, s.parts[k].cost)
				}
			default:
				for i, mark := range p.marks() {
					if !p.onlyAtStart(i) {
						cost = min(cost, s.costAfter(len(mark), p.after[i]))
					}
				}
			}
			if cost < p.cost {
				p.cost, changed = cost, true
			}
		}
	}
	return slices.IndexFunc(s.parts, func(p *sequencePart) bool { return p.cost == never })
}

// costAfter returns the cost of n bytes and the segment after them.
func (s *sequenceSource) costAfter(n, next int) int {
	if next == End {
		return n
	}
	if c := s.parts[next].cost; c != never {
		return n + c
	}
	return never
}

func (p *sequencePart) marks() [][]byte {
	switch {
	case p.free != nil:
		return p.free.marks
	case p.fixed != nil:
		return p.fixed.marks
	}
	return nil
}

// onlyAtStart reports whether mark i counts only at the start of free text.
func (p *sequencePart) onlyAtStart(i int) bool { return p.atStart != nil && p.atStart[i] }

// cheapest returns the alternative of a fork with the least cost.
func (s *sequenceSource) cheapest(fork []int) int {
	return slices.MinFunc(fork, func(a, b int) int { return cmp.Compare(s.parts[a].cost, s.parts[b].cost) })
}

// Finish implements [Source]. The stack below the frame is ignored; below free and
// fixed text it is empty.
func (s *sequenceSource) Finish(f Frame) []byte {
	i, sub, at := s.split(f)
	if sub != nil {
		return sub.Finish(at)
	}
	x, p := s.frames[at], s.parts[i]
	switch {
	case x.begin:
		return s.onward(nil, s.cheapest(p.fork))
	case x.closing:
		return s.onward(p.free.marks[0][x.at:], p.after[0])
	case p.mayEnd && (p.free != nil || x.at == 0):
		return nil
	}
	return s.finishMarks(x, p)
}

// finishMarks returns the shortest text to the end through one of the marks.
func (s *sequenceSource) finishMarks(x sequenceFrame, p *sequencePart) []byte {
	var best []byte
	least, next := never, End
	try := func(i int, rest []byte) {
		if cost := s.costAfter(len(rest), p.after[i]); cost < least {
			best, least, next = rest, cost, p.after[i]
		}
	}
	if p.fixed != nil {
		p.fixed.rests(x.at, try)
	} else {
		for i, mark := range p.free.marks {
			if !p.onlyAtStart(i) {
				try(i, mark[p.free.overlap(x.at, mark):])
			}
		}
	}
	return s.onward(best, next)
}

// onward returns text followed by the shortest text from a segment to the end.
func (s *sequenceSource) onward(text []byte, next int) []byte {
	out := bytes.Clone(text)
	for next != End && !s.parts[next].mayEnd {
		p := s.parts[next]
		if p.fork != nil {
			next = s.cheapest(p.fork)
			continue
		}
		if p.sub != nil {
			out = append(out, p.sub.Finish(p.sub.Start())...)
			next = p.next
			continue
		}
		least := never
		var mark []byte
		for i, m := range p.marks() {
			if p.onlyAtStart(i) {
				continue
			}
			if cost := s.costAfter(len(m), p.after[i]); cost < least {
				mark, least, next = m, cost, p.after[i]
			}
		}
		out = append(out, mark...)
	}
	return out
}

// Describe implements [Source].
func (s *sequenceSource) Describe(f Frame) string {
	i, sub, at := s.split(f)
	if sub != nil {
		return sub.Describe(at)
	}
	x, p := s.frames[at], s.parts[i]
	switch {
	case x.begin:
		var words []string
		for _, frames := range s.entries(0) {
			words = append(words, s.Describe(frames[len(frames)-1]))
		}
		return strings.Join(words, " or ")
	case x.closing:
		return fmt.Sprintf("%q", p.free.marks[0][x.at:])
	case p.fixed != nil:
		var words []string
		p.fixed.rests(x.at, func(_ int, rest []byte) {
			if len(words) < maxDescribed {
				words = append(words, fmt.Sprintf("%q", rest))
			}
		})
		return strings.Join(words, " or ")
	}
	return "any text"
}

// maxDescribed is the maximum number of fixed texts that Describe names.
const maxDescribed = 8

// Err implements [Source].
func (s *sequenceSource) Err() error {
	for _, p := range s.parts {
		if p.sub != nil {
			if err := p.sub.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// SetMeter implements [Metered].
func (s *sequenceSource) SetMeter(m *meter.Meter) {
	for _, p := range s.parts {
		if x, ok := p.sub.(Metered); ok {
			x.SetMeter(m)
		}
	}
}

// Bytes implements [Source].
func (s *sequenceSource) Bytes() int {
	n := s.size + 60*len(s.frames)
	for _, p := range s.parts {
		if p.sub != nil {
			n += p.sub.Bytes()
		}
	}
	return n
}
