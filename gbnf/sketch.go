package gbnf

import (
	"slices"
	"unicode/utf8"

	"github.com/stencil-json/stencil/regular"
)

// A sketch is a small automaton over ASCII that decides for most tokens,
// without the decoder's stacks, whether they may follow a state: words inside
// identifiers and keywords, the insides of texts and comments, and what leads
// into them. Two states with the same sketch, even of different grammars, share
// its results for a vocabulary.
type sketch struct {
	states []sketchState
	key    string // its moves as text
}

// sketchState stands for the states that replace the first one: one of the
// paths, without knowing which.
type sketchState struct {
	paths []path
	// move holds the target of each character: a state of the sketch, outside
	// or nowhere. move[high] is the target of the characters beyond ASCII,
	// except for those in except, which lead outside.
	move   [high + 1]int8
	except []regular.Range
}

// A path is a list of states of the automaton, top state last.
type path []int32

func (p path) top() int32 { return p[len(p)-1] }

const (
	high    = utf8.RuneSelf
	outside = -1 // the decoder has to decide
	nowhere = -2
)

const (
	// fewChars is the number of possible next characters up to which a state is
	// not worth a sketch.
	fewChars = 16
	// maxSketch, maxPath, maxPaths and maxExcept bound sketches. Beyond them,
	// the decoder takes over.
	maxSketch = 32
	maxPath   = 3
	maxPaths  = 6
	maxExcept = 12
)

// sketch computes the sketch of a state.
func (s *source) sketch(q int32) *sketch {
	k := &sketch{states: []sketchState{{paths: []path{{q}}}}}
	for i := 0; i < len(k.states); i++ {
		s.drawState(k, i)
	}
	k.key = k.text()
	return k
}

// drawState computes the moves of a state.
func (s *source) drawState(k *sketch, i int) {
	x := sketchState{paths: k.states[i].paths}
	for c := range x.move {
		x.move[c] = nowhere
	}
	open, more := s.withEnds(x.paths)
	var beyond []leap
	s.sweepPaths(open, func(lo, hi rune, outs []pathEdge) {
		to := s.target(k, outs)
		for c := lo; c <= hi && c < utf8.RuneSelf; c++ {
			x.move[c] = to
		}
		if hi >= utf8.RuneSelf {
			beyond = append(beyond, leap{max(lo, utf8.RuneSelf), hi, to})
		}
	})
	x.move[high], x.except = mostly(beyond)
	// Characters that may also be read after the end have further readings.
	for c := range utf8.RuneSelf {
		if more.has(byte(c)) {
			x.move[c] = outside
		}
	}
	if more.high {
		x.move[high], x.except = outside, nil
	}
	k.states[i] = x
}

// withEnds adds to the paths those that remain if their top states end, and
// returns the characters that may be read after the end of a whole path.
func (s *source) withEnds(paths []path) (all []path, more charSet) {
	all = slices.Clone(paths)
	for i := 0; i < len(all); i++ {
		p := all[i]
		if !s.auto.mayEnd(p.top()) {
			continue
		}
		if len(p) > 1 {
			all = addPath(all, p[:len(p)-1])
		} else {
			follow := s.auto.follow(p.top())
			more.add(&follow)
		}
	}
	return all, more
}

func addPath(list []path, p path) []path {
	for _, x := range list {
		if slices.Equal(x, p) {
			return list
		}
	}
	return append(list, p)
}

// A pathEdge is an edge of the top state of a path.
type pathEdge struct {
	path path
	edge edge
}

// sweepPaths calls yield for each range of characters over which all paths have
// the same outcomes.
func (s *source) sweepPaths(paths []path, yield func(lo, hi rune, outs []pathEdge)) {
	edges := make([][]edge, len(paths))
	for i, p := range paths {
		edges[i] = s.auto.edges(p.top())
	}
	var outs []pathEdge
	for at := rune(0); at <= utf8.MaxRune; {
		end := rune(utf8.MaxRune)
		outs = outs[:0]
		for i := range edges {
			for len(edges[i]) > 0 && edges[i][0].hi < at {
				edges[i] = edges[i][1:]
			}
			if len(edges[i]) == 0 {
				continue
			}
			if e := edges[i][0]; e.lo > at {
				end = min(end, e.lo-1)
			} else {
				end = min(end, e.hi)
				outs = append(outs, pathEdge{paths[i], e})
			}
		}
		if len(outs) > 0 {
			yield(at, end, outs)
		}
		at = end + 1
	}
}

// target returns the common target of outcomes.
func (s *source) target(k *sketch, outs []pathEdge) int8 {
	var to []path
	busy := false
	for _, o := range outs {
		if o.edge.capture != captureNone {
			return outside
		}
		below := o.path[:len(o.path)-1]
		for _, a := range s.out.list[o.edge.out] {
			p := append(slices.Clone(below), a.states[:a.n]...)
			if len(p) == 0 || len(p) > maxPath {
				return outside
			}
			busy = busy || s.isBusy(p.top())
			to = addPath(to, p)
		}
	}
	if !busy || len(to) > maxPaths {
		return outside
	}
	slices.SortFunc(to, func(a, b path) int { return slices.Compare(a, b) })
	for i := range k.states {
		if slices.EqualFunc(k.states[i].paths, to, func(a, b path) bool { return slices.Equal(a, b) }) {
			return int8(i)
		}
	}
	if len(k.states) == maxSketch {
		return outside
	}
	k.states = append(k.states, sketchState{paths: to})
	return int8(len(k.states) - 1)
}

// A leap is a move over characters beyond ASCII.
type leap struct {
	lo, hi rune
	to     int8
}

// mostly returns the target of most characters beyond ASCII, and the other
// characters.
func mostly(leaps []leap) (to int8, except []regular.Range) {
	if len(leaps) == 0 {
		return nowhere, nil
	}
	var count [maxSketch]rune
	to = outside
	for _, l := range leaps {
		if l.to < 0 {
			continue
		}
		if count[l.to] += l.hi - l.lo + 1; to < 0 || count[l.to] > count[to] {
			to = l.to
		}
	}
	if to < 0 {
		return outside, nil
	}
	at := rune(utf8.RuneSelf)
	for _, l := range leaps {
		if l.to == to {
			except = appendRange(except, at, l.lo-1)
			at = l.hi + 1
		}
	}
	if except = appendRange(except, at, utf8.MaxRune); len(except) > maxExcept {
		return outside, nil
	}
	return to, except
}

// appendRange appends a range, unless it contains no characters.
func appendRange(list []regular.Range, lo, hi rune) []regular.Range {
	if lo > hi || lo >= lowestSurrogate && hi <= highestSurrogate {
		return list
	}
	return append(list, regular.Range{Lo: lo, Hi: hi})
}

// isBusy reports whether many characters may follow a state.
func (s *source) isBusy(q int32) bool {
	busy, ok := s.busy[q]
	if !ok {
		var set charSet
		for _, e := range s.auto.edges(q) {
			set.addRange(e.lo, e.hi)
		}
		busy = set.high || set.size() > fewChars
		s.busy[q] = busy
	}
	return busy
}

// text returns the sketch's moves as text.
func (k *sketch) text() string {
	b := make([]byte, 0, len(k.states)*(high+2))
	for i := range k.states {
		x := &k.states[i]
		for _, to := range x.move {
			b = append(b, byte(to))
		}
		b = append(b, byte(len(x.except)))
		for _, r := range x.except {
			b = utf8.AppendRune(utf8.AppendRune(b, r.Lo), r.Hi)
		}
	}
	return string(b)
}

// stays returns the characters over which a sketch stays in state i.
func (k *sketch) stays(i int8) (set charSet) {
	x := &k.states[i]
	for c, to := range x.move {
		if to == i && (c < high || len(x.except) == 0) {
			set.addRange(rune(c), rune(c))
		}
	}
	return set
}

// excepts reports whether a character beyond ASCII leads out of the sketch.
func (x *sketchState) excepts(r rune) bool {
	for _, e := range x.except {
		if e.Lo <= r && r <= e.Hi {
			return true
		}
	}
	return false
}
