package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stencil-json/stencil/vocab"
)

// swapper replaces parts of words, both in a lesson's text and in its answer,
// by parts of any other words. The model then has to go by the position of a
// value rather than its content, and tokens that no list uses are copied too.
type swapper struct {
	user  uint16     // the token before a user's message
	class []int      // of each token: 0 is not replaced
	of    [][]uint16 // tokens of each class
	rng   *rand.Rand
}

const (
	lowerWord = 1 + iota
	titleWord
	classes
)

func newSwapper(v *vocab.Vocab, seed uint64) *swapper {
	s := &swapper{class: make([]int, v.Len()), of: make([][]uint16, classes), rng: rand.New(rand.NewPCG(seed, 0x5057))}
	for id := range v.Len() {
		text := v.Text(int32(id))
		if text == "<|user|>" {
			s.user = uint16(id)
		}
		word := text != "null" && text != "true" && text != "false"
		for _, r := range text {
			word = word && r < unicode.MaxLatin1 && unicode.IsLetter(r)
		}
		if !word || v.Kind(int32(id)) != vocab.Normal {
			continue
		}
		c := lowerWord
		if r, _ := utf8.DecodeRuneInString(text); unicode.IsUpper(r) {
			c = titleWord
		}
		if c == titleWord && strings.ToUpper(text) == text && len(text) > 1 {
			continue
		}
		s.class[id] = c
		s.of[c] = append(s.of[c], uint16(id))
	}
	return s
}

// swap replaces some of the tokens of a lesson's values, if they occur in the
// text and neither in the schema nor in a name. The first asked tokens are the
// prompt.
func (s *swapper) swap(ids []uint16, asked int) {
	from := slices.Index(ids[:asked], s.user) + 1
	fixed, inText := map[uint16]bool{}, map[uint16]bool{}
	for i, id := range ids {
		switch t := id & token; {
		case t == another:
		case i < from || i >= asked && (id&learnt == 0 || id&key != 0):
			fixed[t] = true
		case i < asked:
			inText[t] = true
		default:
			fixed[t] = fixed[t] || s.class[t] == 0 || !inText[t]
		}
	}
	to := map[uint16]uint16{}
	for _, id := range ids[asked:] {
		t := id & token
		if _, done := to[t]; done || fixed[t] || !inText[t] {
			continue
		}
		to[t] = t
		other := s.of[s.class[t]]
		if new := other[s.rng.IntN(len(other))]; s.rng.IntN(3) > 0 && !fixed[new] && !inText[new] {
			to[t], inText[new] = new, true
		}
	}
	for i := from; i < len(ids); i++ {
		if new, ok := to[ids[i]&token]; ok {
			ids[i] = ids[i]&^token | new
		}
	}
}
