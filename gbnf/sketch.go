package gbnf

import (
	"slices"
	"unicode/utf8"
)

// A sketch is a small automaton over ASCII that tells for most tokens, without
// the decoder's stacks, whether they may follow a state: words inside of
// identifiers and keywords, the insides of texts and comments, and what leads
// into them. Two places of two grammars with the same sketch share what it says
// about a vocabulary.
type sketch struct {
	states []sketchState
}

// sketchState stands for what takes the place of the first state.
type sketchState struct {
	path []int32 // states of the automaton, the last one to go on with
	// move says where a character leads: to a state of the sketch, out of
	// it, or nowhere. move[high] is for all characters beyond ASCII.
	move [high + 1]int8
}

const (
	high    = utf8.RuneSelf
	outside = -1 // the decoder has to find out
	nowhere = -2
)

const (
	// fewChars is how many characters may follow a state that is not worth
	// being sketched.
	fewChars = 16
	// maxSketch and maxPath keep sketches small. Where they end, the
	// decoder goes on.
	maxSketch = 64
	maxPath   = 3
)

// sketch draws the surroundings of a state.
func (s *source) sketch(q int32) *sketch {
	k := &sketch{states: []sketchState{{path: []int32{q}}}}
	for i := 0; i < len(k.states); i++ {
		path := k.states[i].path
		top := path[len(path)-1]
		var move [high + 1]int8
		for c := range move {
			move[c] = nowhere
		}
		whole := int8(nowhere) // where the characters beyond ASCII lead that were looked at
		covered := rune(utf8.RuneSelf)
		for _, e := range s.auto.edges(top) {
			to := s.sketchTarget(k, path, e.out)
			for c := e.lo; c <= e.hi && c < utf8.RuneSelf; c++ {
				move[c] = to
			}
			if e.hi < utf8.RuneSelf {
				continue
			}
			if lo := max(e.lo, utf8.RuneSelf); lo != covered || whole != nowhere && whole != to {
				to = outside
			}
			whole = to
			if covered = e.hi + 1; covered == lowestSurrogate {
				covered = highestSurrogate + 1
			}
		}
		if whole >= 0 && covered <= utf8.MaxRune {
			whole = outside
		}
		move[high] = whole
		if s.auto.mayEnd(top) {
			// What may be read after the end as well is read in two ways.
			follow := s.auto.follow(top)
			for c := range utf8.RuneSelf {
				if follow.has(byte(c)) {
					move[c] = outside
				}
			}
			if follow.high {
				move[high] = outside
			}
		}
		k.states[i].move = move
	}
	return k
}

// sketchTarget returns where an outcome leads from the state with a path.
func (s *source) sketchTarget(k *sketch, path []int32, out int32) int8 {
	alts := s.out.list[out]
	if len(alts) != 1 || alts[0].n == 0 {
		return outside
	}
	a := alts[0]
	if len(path)-1+int(a.n) > maxPath || !s.isBusy(a.states[a.n-1]) {
		return outside
	}
	to := append(slices.Clone(path[:len(path)-1]), a.states[:a.n]...)
	for i := range k.states {
		if slices.Equal(k.states[i].path, to) {
			return int8(i)
		}
	}
	if len(k.states) == maxSketch {
		return outside
	}
	k.states = append(k.states, sketchState{path: to})
	return int8(len(k.states) - 1)
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

// key returns the sketch's moves as text.
func (k *sketch) key() string {
	b := make([]byte, 0, len(k.states)*(high+1))
	for i := range k.states {
		for _, to := range k.states[i].move {
			b = append(b, byte(to))
		}
	}
	return string(b)
}

// stays returns the characters that leave a sketch in a state.
func (k *sketch) stays(i int8) (set charSet) {
	for c, to := range k.states[i].move {
		if to == i {
			set.addRange(rune(c), rune(c))
		}
	}
	return set
}
