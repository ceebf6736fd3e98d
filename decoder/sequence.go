package decoder

import (
	"fmt"
	"strings"

	"stencil/vocab"
)

// sequenceSource is the source of a sequence: that of its constraints put
// together, with frames of its own for free and fixed text. A frame of the
// constraint of part i-1 has the number f*n+i, one of its own the number f*n.
type sequenceSource struct {
	vocab  *vocab.Vocab
	parts  []*sequencePart
	tokens map[int32][]byte // tokens without text

	frames []sequenceFrame
	index  map[sequenceFrame]Frame
	splits map[Frame]*Prepared
	size   int
}

// sequencePart is a segment. free, fixed or sub says which kind.
type sequencePart struct {
	free   *markFinder
	after  []int // of free text: what follows each stop
	mayEnd bool
	budget int

	fixed []byte
	sub   Source
	next  int
}

// sequenceFrame is a frame of free text in a state of its finder, or after so
// many bytes of fixed text, or of the first stop of free text that has to
// close.
type sequenceFrame struct {
	part    int32
	at      int32
	closing bool
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

// width is the number of sources that share the numbers of frames.
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

// lift returns the number here of a frame of part i.
func (s *sequenceSource) lift(i int, f Frame) Frame { return f*s.width() + Frame(i) + 1 }

// split returns the part that a frame belongs to and its number there; sub is
// nil for frames of free and fixed text.
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
	if sub != nil || s.frames[at].closing || s.parts[s.frames[at].part].free == nil {
		return 0, false
	}
	return s.frames[at].at, true
}

// entry returns the frames with which a segment begins.
func (s *sequenceSource) entry(i int) []Frame {
	var frames []Frame
	for ; i != End; i = s.parts[i].next {
		p := s.parts[i]
		if p.sub == nil {
			frames = append(frames, s.own(sequenceFrame{part: int32(i)}))
			break
		}
		frames = append(frames, s.lift(i, p.sub.Start()))
		if len(frames) > maxEntry {
			break
		}
	}
	for a, b := 0, len(frames)-1; a < b; a, b = a+1, b-1 {
		frames[a], frames[b] = frames[b], frames[a]
	}
	return frames
}

// Start implements [Source].
func (s *sequenceSource) Start() Frame {
	frames := s.entry(0)
	return frames[len(frames)-1]
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
	case x.closing:
		s.fixed(x, p.free.marks[0], p.after[0], e)
	case p.fixed != nil:
		s.fixed(x, p.fixed, p.next, e)
	default:
		if p.mayEnd {
			e.MayEnd()
		}
		s.expandFree(x, p, e)
	}
}

// fixed adds the edge to the next byte of a text.
func (s *sequenceSource) fixed(x sequenceFrame, text []byte, next int, e *Edges) {
	b := text[x.at]
	if x.at++; int(x.at) == len(text) {
		e.Add(b, b, s.entry(next)...)
	} else {
		e.Add(b, b, s.own(x))
	}
}

func (s *sequenceSource) expandFree(x sequenceFrame, p *sequencePart, e *Edges) {
	row := &p.free.next[x.at]
	for lo := 0; lo < 256; {
		hi := lo
		for hi < 255 && row[hi+1] == row[lo] {
			hi++
		}
		if to := row[lo]; to < 0 {
			e.Add(byte(lo), byte(hi), s.entry(p.after[^to])...)
		} else {
			e.Add(byte(lo), byte(hi), s.own(sequenceFrame{part: x.part, at: to}))
		}
		lo = hi + 1
	}
}

// liftEdges gives the frames of a part's edges their numbers here.
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

// Resolve implements [Source]. Sources look for what they need from the end of
// the text backwards, so that they may see the text of other segments too.
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
	} else if x, p := s.frames[at], s.parts[i]; p.free != nil && !x.closing {
		out = s.prepareFree(x, p)
	} else if tok, ok := s.controlAt(x, p); ok {
		out = &Prepared{Extra: []int32{tok}}
	}
	s.splits[f] = out
	return out
}

// liftPrepared gives frames their numbers here.
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

// controlAt returns the token without text that comes next in a fixed text.
func (s *sequenceSource) controlAt(x sequenceFrame, p *sequencePart) (int32, bool) {
	text := p.fixed
	if x.closing {
		text = p.free.marks[0]
	}
	return s.controlIn(text[x.at:])
}

func (s *sequenceSource) controlIn(text []byte) (int32, bool) {
	for tok, spelt := range s.tokens {
		if strings.HasPrefix(string(text), string(spelt)) {
			return tok, true
		}
	}
	return 0, false
}

// prepareFree sorts the vocabulary by what tokens do in free text: most stay in
// it, some complete a stop.
func (s *sequenceSource) prepareFree(x sequenceFrame, p *sequencePart) *Prepared {
	v := s.vocab
	out := &Prepared{Base: vocab.NewBitset(v.Len())}
	rests := make([][]vocab.TrieEntry, len(p.after))
	bare := make([][]int32, len(p.after))
	trie := v.Trie()
	states := make([]int32, trie.Depth+1)
	states[0] = x.at
	for i := int32(0); i < int32(trie.Len()); {
		n := &trie.Nodes[i]
		to := p.free.next[states[n.Depth-1]][n.Byte]
		if to >= 0 {
			states[n.Depth] = to
			for _, tok := range trie.At(i) {
				out.Base.Set(tok)
			}
			i++
			continue
		}
		stop := ^to
		bare[stop] = append(bare[stop], trie.At(i)...)
		for _, tok := range trie.Tokens[trie.Nodes[i+1].First:trie.Nodes[n.End].First] {
			rests[stop] = append(rests[stop], vocab.TrieEntry{Text: v.Bytes(tok)[n.Depth:], Value: tok})
		}
		i = n.End
	}
	for stop, list := range rests {
		if len(list) == 0 && len(bare[stop]) == 0 {
			continue
		}
		out.Exits = append(out.Exits, Exit{Frames: s.entry(p.after[stop]), Trie: vocab.NewTrie(list), Bare: bare[stop]})
	}
	for tok, spelt := range s.tokens {
		if p.free.takes(x.at, spelt) {
			out.Extra = append(out.Extra, tok)
		}
	}
	s.size += 8 * len(out.Base)
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

// Finish implements [Source].
func (s *sequenceSource) Finish(f Frame) []byte {
	i, sub, at := s.split(f)
	if sub != nil {
		return sub.Finish(at)
	}
	x, p := s.frames[at], s.parts[i]
	switch {
	case x.closing:
		return s.through(p.free.marks[0][x.at:], p.after[0], nil)
	case p.fixed != nil:
		return s.through(p.fixed[x.at:], p.next, nil)
	case p.mayEnd:
		return nil
	}
	return s.finishFree(x, p, map[int32]bool{})
}

// through returns text and the shortest way to go on from a segment.
func (s *sequenceSource) through(text []byte, next int, seen map[int32]bool) []byte {
	out := append([]byte(nil), text...)
	frames := s.entry(next)
	for k := len(frames) - 1; k >= 0; k-- {
		i, sub, at := s.split(frames[k])
		if sub != nil {
			out = append(out, sub.Finish(at)...)
			continue
		}
		x, p := s.frames[at], s.parts[i]
		switch {
		case p.fixed != nil:
			out = append(out, s.through(p.fixed, p.next, seen)...)
		case p.mayEnd:
		default:
			rest := s.finishFree(x, p, seen)
			if rest == nil {
				return nil
			}
			out = append(out, rest...)
		}
	}
	return out
}

// finishFree returns the shortest way to the end over one of the stops; nil if
// there is none that doesn't come back here.
func (s *sequenceSource) finishFree(x sequenceFrame, p *sequencePart, seen map[int32]bool) (best []byte) {
	if seen == nil {
		seen = map[int32]bool{}
	}
	if seen[x.part] {
		return nil
	}
	seen[x.part] = true
	defer delete(seen, x.part)
	for k, mark := range p.free.marks {
		text := s.through(mark[p.free.overlap(x.at, mark):], p.after[k], seen)
		if text != nil && (best == nil || len(text) < len(best)) {
			best = text
		}
	}
	return best
}

// Describe implements [Source].
func (s *sequenceSource) Describe(f Frame) string {
	i, sub, at := s.split(f)
	if sub != nil {
		return sub.Describe(at)
	}
	x, p := s.frames[at], s.parts[i]
	switch {
	case x.closing:
		return fmt.Sprintf("%q", p.free.marks[0][x.at:])
	case p.fixed != nil:
		return fmt.Sprintf("%q", p.fixed[x.at:])
	}
	return "any text"
}

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
