package gbnf

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/meter"
)

// A frame is a state between two characters, or a position inside a character.
type frameKind uint8

const (
	frameState frameKind = iota // at is a state
	framePart                   // left bytes to come of a character from low on, in state at
	frameTail                   // left bytes to come, any of them; at is an outcome
)

type frame struct {
	kind frameKind
	left uint8
	at   int32
	low  rune
}

// source encodes the characters of an automaton as UTF-8. It is the decoder's
// view of the automaton.
type source struct {
	auto    automaton
	out     *outcomes
	tokens  []boundToken // that the automaton's edges may read
	frames  []frame
	index   map[frame]decoder.Frame
	ofState []decoder.Frame  // of states; -1 if there is none yet
	busy    map[int32]bool   // of states: whether many characters may follow
	words   map[int32]string // of states: description of what may follow
	// prepared caches what is known about the tokens after a state.
	prepared   map[int32]*decoder.Prepared
	preparedAt map[place]*decoder.Prepared
	sketches   map[int32]*sketch
	meter      *meter.Meter // nil until a grammar owns the source
}

// newSource returns the decoder's view of the automaton that make returns. The
// automaton's edges refer to the outcomes passed to make.
func newSource(make func(*outcomes) automaton) *source {
	s := &source{out: newOutcomes()}
	s.auto = make(s.out)
	s.forget()
	return s
}

func (s *source) forget() {
	s.frames, s.ofState = nil, nil
	s.index = map[frame]decoder.Frame{}
	s.busy, s.words, s.sketches = map[int32]bool{}, map[int32]string{}, map[int32]*sketch{}
	s.prepared, s.preparedAt = map[int32]*decoder.Prepared{}, map[place]*decoder.Prepared{}
}

// Reset implements [decoder.Source].
func (s *source) Reset() {
	s.out.reset()
	s.auto.reset()
	s.forget()
}

// Follow implements [decoder.Followed].
func (s *source) Follow() {
	s.auto.followed()
	s.forget()
}

// SetMeter implements [decoder.Metered].
func (s *source) SetMeter(m *meter.Meter) {
	s.meter = m
	if x, ok := s.auto.(metered); ok {
		x.setMeter(m)
	}
}

// Err implements [decoder.Source].
func (s *source) Err() error { return s.auto.err() }

// Bytes implements [decoder.Source].
func (s *source) Bytes() int {
	return s.auto.bytes() + s.out.bytes() + 24*len(s.ofState) + 60*len(s.index) + 200*(len(s.prepared)+len(s.preparedAt)) + 4000*len(s.sketches)
}

// Start implements [decoder.Source].
func (s *source) Start() decoder.Frame { return s.state(s.auto.start()) }

// state returns the frame of a state.
func (s *source) state(q int32) decoder.Frame {
	for int(q) >= len(s.ofState) {
		s.ofState = append(s.ofState, -1)
	}
	if s.ofState[q] < 0 {
		s.ofState[q] = decoder.Frame(len(s.frames))
		s.frames = append(s.frames, frame{kind: frameState, at: q})
	}
	return s.ofState[q]
}

// part returns the frame of a position inside a character.
func (s *source) part(f frame) decoder.Frame {
	id, ok := s.index[f]
	if !ok {
		id = decoder.Frame(len(s.frames))
		s.frames = append(s.frames, f)
		s.index[f] = id
	}
	return id
}

// Expand implements [decoder.Source].
func (s *source) Expand(f decoder.Frame, e *decoder.Edges) {
	switch x := s.frames[f]; x.kind {
	case frameState:
		s.expandState(x.at, e)
	case framePart:
		left := x.left - 1
		w := blocks{s: s, e: e, edges: s.auto.edges(x.at), state: x.at}
		for b := range rune(64) {
			w.add(0x80|byte(b), x.low+b*blockSize(left), left, leastAfter(left))
		}
		w.flush()
	case frameTail:
		if x.left == 1 {
			s.outcome(x.at, 0x80, 0xBF, e)
		} else {
			e.Add(0x80, 0xBF, s.part(frame{kind: frameTail, left: x.left - 1, at: x.at}))
		}
	}
}

func (s *source) expandState(q int32, e *decoder.Edges) {
	if s.auto.mayEnd(q) {
		e.MayEnd()
	}
	edges := s.auto.edges(q)
	for _, x := range edges {
		if x.lo >= utf8.RuneSelf {
			break
		}
		lo, hi := byte(x.lo), byte(min(x.hi, utf8.RuneSelf-1))
		switch x.capture {
		case captureNone:
			s.outcome(x.out, lo, hi, e)
		case capturePending:
			for _, a := range s.out.list[x.out] {
				frames := s.framesOf(a)
				e.Capture(lo, hi, frames[:a.n]...)
			}
		case captureOnly:
			e.CaptureOnly(lo, hi)
		}
	}
	if len(edges) == 0 || edges[len(edges)-1].hi < utf8.RuneSelf {
		return
	}
	w := blocks{s: s, e: e, edges: edges, state: q}
	for b := rune(0xC2); b <= 0xDF; b++ {
		w.add(byte(b), (b&0x1F)<<6, 1, 0x80)
	}
	for b := rune(0xE0); b <= 0xEF; b++ {
		w.add(byte(b), (b&0x0F)<<12, 2, 0x800)
	}
	for b := rune(0xF0); b <= 0xF4; b++ {
		w.add(byte(b), (b&0x07)<<18, 3, 0x10000)
	}
	w.flush()
}

// blockSize returns the number of characters that the given number of further
// bytes can encode.
func blockSize(bytes uint8) rune { return 1 << (6 * bytes) }

// leastAfter returns the first character whose encoding isn't overlong, if left
// bytes are to come and at least two have been read.
func leastAfter(left uint8) rune { return [3]rune{0, 0x800, 0x10000}[left] }

// blocks adds edges for bytes that start or continue a character. Adjacent
// bytes that lead to the same frame become one edge.
type blocks struct {
	s      *source
	e      *decoder.Edges
	edges  []edge // of the state
	state  int32
	lo, hi byte
	to     decoder.Frame
	open   bool
}

// add adds byte b, after which left more bytes select a character of the block
// that starts at lo. Characters below least would be overlong in this encoding.
func (w *blocks) add(b byte, lo rune, left uint8, least rune) {
	hi := lo + blockSize(left) - 1
	i, _ := slices.BinarySearchFunc(w.edges, max(lo, least), func(x edge, lo rune) int { return int(x.hi - lo) })
	if i == len(w.edges) || w.edges[i].lo > hi || hi < least {
		return
	}
	whole := lo >= least && w.edges[i].lo <= lo && hi <= w.edges[i].hi
	switch {
	case whole && left == 0:
		w.flush()
		w.s.outcome(w.edges[i].out, b, b, w.e)
	case whole:
		w.join(b, w.s.part(frame{kind: frameTail, left: left, at: w.edges[i].out}))
	default:
		w.join(b, w.s.part(frame{kind: framePart, left: left, at: w.state, low: lo}))
	}
}

func (w *blocks) join(b byte, to decoder.Frame) {
	if w.open && w.to == to && w.hi+1 == b {
		w.hi = b
		return
	}
	w.flush()
	w.lo, w.hi, w.to, w.open = b, b, to, true
}

func (w *blocks) flush() {
	if w.open {
		w.e.Add(w.lo, w.hi, w.to)
		w.open = false
	}
}

// outcome adds the edges of an outcome.
func (s *source) outcome(out int32, lo, hi byte, e *decoder.Edges) {
	for _, a := range s.out.list[out] {
		frames := s.framesOf(a)
		e.Add(lo, hi, frames[:a.n]...)
	}
}

func (s *source) framesOf(a alt) (frames [2]decoder.Frame) {
	for i := range a.n {
		frames[i] = s.state(a.states[i])
	}
	return frames
}

// ExpandByte implements [decoder.Source]; the source never uses
// [decoder.Edges.Later].
func (s *source) ExpandByte(decoder.Frame, byte, *decoder.Edges) {}

// Resolve implements [decoder.Source].
func (s *source) Resolve(f decoder.Frame, b byte, text []byte, e *decoder.Edges) {
	r, ok := s.auto.(resolver)
	if !ok {
		return
	}
	for _, a := range r.resolve(s.frames[f].at, b, text) {
		frames := s.framesOf(a)
		e.Add(b, b, frames[:a.n]...)
	}
}

// Finish implements [decoder.Source].
func (s *source) Finish(f decoder.Frame) []byte {
	x := s.frames[f]
	switch x.kind {
	case frameState:
		return s.auto.finish(x.at)
	case frameTail:
		// All characters of a whole block are allowed: any bytes complete it.
		return append(bytes.Repeat([]byte{0x80}, int(x.left)), s.finishOutcome(x.at)...)
	}
	var best []byte
	hi := x.low + blockSize(x.left) - 1
	for _, e := range s.auto.edges(x.at) {
		r := max(e.lo, x.low, leastAfter(x.left-1))
		if r > min(e.hi, hi) {
			continue
		}
		spelt := utf8.AppendRune(nil, r)
		text := append(spelt[len(spelt)-int(x.left):], s.finishOutcome(e.out)...)
		if best == nil || len(text) < len(best) {
			best = text
		}
	}
	return best
}

// finishOutcome returns the shortest text that completes one of the
// alternatives.
func (s *source) finishOutcome(out int32) (best []byte) {
	for i, a := range s.out.list[out] {
		var text []byte
		for k := a.n; k > 0; k-- {
			text = append(text, s.auto.finish(a.states[k-1])...)
		}
		if i == 0 || len(text) < len(best) {
			best = text
		}
	}
	return best
}

// Describe implements [decoder.Source].
func (s *source) Describe(f decoder.Frame) string {
	x := s.frames[f]
	if x.kind != frameState {
		return "the rest of a character"
	}
	w, ok := s.words[x.at]
	if !ok {
		w = s.auto.describe(x.at)
		s.words[x.at] = w
	}
	return w
}
