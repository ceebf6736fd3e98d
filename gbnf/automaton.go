package gbnf

import (
	"encoding/binary"
	"strings"

	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/regular"
)

// An automaton reads characters, not bytes. Its states are numbered from 0 and
// created as they are reached; each has a completion. It is used under the lock
// of its grammar.
type automaton interface {
	start() int32
	// edges returns the edges that leave a state: sorted and disjoint.
	edges(q int32) []edge
	// mayEnd reports whether the state may end before the next character.
	mayEnd(q int32) bool
	// follow returns a set that contains all characters that may be read after
	// the end of a state that may end.
	follow(q int32) charSet
	// followed announces that any text may follow the whole text.
	followed()
	// finish returns a shortest text that ends a state.
	finish(q int32) []byte
	// describe returns a description of what may follow.
	describe(q int32) string
	// loosen returns a state equivalent to q for every text of at most n
	// characters, if possible the same for many such states.
	loosen(q int32, n int32) int32
	err() error
	bytes() int
	// reset discards all states.
	reset()
}

// An edge leads from a state to an outcome over a range of characters.
type edge struct {
	lo, hi  rune
	out     int32 // index into outcomes
	capture captureKind
}

// captureKind describes how an edge depends on the text before it. Only edges
// over ASCII characters do, and only in automata that are resolvers.
type captureKind uint8

const (
	captureNone    captureKind = iota
	capturePending             // the outcome allows the same tokens as the real one, up to the next such edge
	captureOnly                // the outcome is unknown without the text
)

// A metered automaton reports its work.
type metered interface{ setMeter(m *meter.Meter) }

// A resolver is an automaton whose edges may depend on the text before them.
type resolver interface {
	// resolve returns the alternatives after a state over a character; text is
	// all text before the character.
	resolve(q int32, c byte, text []byte) []alt
}

// An alt is one alternative: n states that replace the current one, top state
// last. If n is 0, the state ends.
type alt struct {
	n      int8
	states [2]int32
}

// outcomes numbers lists of alternatives.
type outcomes struct {
	list  [][]alt
	index map[string]int32
	key   []byte
}

func newOutcomes() *outcomes { return &outcomes{index: map[string]int32{}} }

// intern returns the number of a list, which it may modify.
func (o *outcomes) intern(alts []alt) int32 {
	distinct := alts[:0]
	for _, a := range alts {
		if a.n < 2 {
			a.states[1] = 0
		}
		known := false
		for _, d := range distinct {
			known = known || d == a
		}
		if !known {
			distinct = append(distinct, a)
		}
	}
	key := o.key[:0]
	for _, a := range distinct {
		key = append(key, byte(a.n))
		key = binary.LittleEndian.AppendUint32(key, uint32(a.states[0]))
		key = binary.LittleEndian.AppendUint32(key, uint32(a.states[1]))
	}
	o.key = key
	if id, ok := o.index[string(key)]; ok {
		return id
	}
	id := int32(len(o.list))
	o.list = append(o.list, append([]alt(nil), distinct...))
	o.index[string(key)] = id
	return id
}

func (o *outcomes) bytes() int { return 120 * len(o.list) }

func (o *outcomes) reset() { *o = *newOutcomes() }

// joinWords joins descriptions of alternatives.
func joinWords(words []string) string { return strings.Join(words, " or ") }

// classText returns a class as text: the shorter one of the class and its
// complement.
func classText(ranges []regular.Range) string {
	var plain, negated strings.Builder
	if len(ranges) == len(anyChar) && ranges[0] == anyChar[0] && ranges[1] == anyChar[1] {
		return "any character"
	}
	printClass(&plain, ranges, false)
	printClass(&negated, normal(ranges, true), true)
	if negated.Len() < plain.Len() {
		return negated.String()
	}
	return plain.String()
}
