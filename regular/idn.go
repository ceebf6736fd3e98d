package regular

import (
	"slices"
	"sync"
	"unicode"

	"github.com/stencil-json/stencil/regular/runes"
)

//go:generate go run ../internal/unicodegen idn idn_tables.go

// International host names follow IDNA2008: which characters a label may hold
// (RFC 5892), the rules for characters that need a certain neighbour (its
// appendix A), and the rule for labels written from right to left (RFC 5893).
// Within a label all of them are regular. The tables are generated.

const (
	zeroWidthNonJoiner = 0x200C
	zeroWidthJoiner    = 0x200D
)

func union(sets ...[]runes.Range) []runes.Range { return runes.Normalise(slices.Concat(sets...)) }

// idnAutomaton is shared by all Stores. Its sets have hundreds of ranges, so
// its derivatives are over an alphabet with one letter for each class of
// characters that no rule distinguishes.
var idnAutomaton = sync.OnceValue(func() *recoded {
	s := NewStore(Limits{})
	var sets [][]runes.Range
	idnName(s, func(list ...[]runes.Range) Expr {
		sets = append(sets, union(list...))
		return exprEpsilon
	})
	code := newRecoding(sets)
	return newRecoded(s, idnName(s, func(list ...[]runes.Range) Expr { return s.class(code.letters(union(list...))) }), code)
})

// idnName returns a host name of international labels. of builds its classes.
func idnName(s *Store, of func(...[]runes.Range) Expr) Expr {
	one := func(r rune) []runes.Range { return runes.Of(r, r) }
	seq := func(list ...Expr) Expr {
		e := exprEpsilon
		for _, x := range slices.Backward(list) {
			e = s.concat(x, e)
		}
		return e
	}
	any := exprAny
	endOrOther := func(sets ...[]runes.Range) Expr {
		return s.maybe(seq(of(runes.AppendComplement(nil, union(sets...))), any))
	}
	startOrOther := func(sets ...[]runes.Range) Expr {
		return s.maybe(seq(any, of(runes.AppendComplement(nil, union(sets...)))))
	}
	loop := func(sets ...[]runes.Range) Expr { return s.repeat(of(sets...), 0, infinite) }
	dash, marks, through := of(one('-')), loop(idnNSM), loop(idnTransparent)
	kana := of(mustProperty("Hiragana"), mustProperty("Katakana"), mustProperty("Han"))
	arabic, extended, joiners := runes.Of(0x660, 0x669), of(runes.Of(0x6F0, 0x6F9)), runes.Of(zeroWidthNonJoiner, zeroWidthJoiner)
	joined := seq(any, of(idnJoinsLeft), through, of(one(zeroWidthNonJoiner)), through, of(idnJoinsRight), any)
	wrong := s.or([]Expr{
		seq(of(runes.FromTables(unicode.M)), any),
		seq(dash, any), seq(any, dash),
		seq(s.length(2, 2), dash, dash, any),
		seq(startOrOther(one('l')), of(one(0xB7)), any), seq(any, of(one(0xB7)), endOrOther(one('l'))),
		seq(any, of(one(0x375)), endOrOther(mustProperty("Greek"))),
		seq(startOrOther(mustProperty("Hebrew")), of(runes.Of(0x5F3, 0x5F4)), any),
		seq(any, of(arabic), any, extended, any), seq(any, extended, any, of(arabic), any),
		seq(startOrOther(idnVirama, joiners), of(one(zeroWidthJoiner)), any),
		s.and2(seq(startOrOther(idnVirama), of(one(zeroWidthNonJoiner)), any), s.not(joined)),
		s.and2(seq(any, of(one(0x30FB)), any), s.not(seq(any, kana, any))),
	})
	unicodeLabel := s.and([]Expr{s.repeat(of(idnLabel), 1, 56), s.not(wrong)})
	alphanumeric := runes.Of('0', '9', 'A', 'Z', 'a', 'z')
	inner, edge := of(alphanumeric, one('-')), of(alphanumeric)
	labelOf := func(most int32) Expr { return seq(edge, s.maybe(seq(s.repeat(inner, 0, most-2), edge))) }
	ascii := s.or2(s.and2(labelOf(63), s.not(seq(s.length(2, 2), dash, dash, any))),
		seq(of(runes.Of('X', 'X', 'x', 'x')), of(runes.Of('N', 'N', 'n', 'n')), dash, dash, s.repeat(inner, 0, 58), edge))

	// A name with any label from right to left subjects all its labels to RFC
	// 5893.
	inLeft, inRight := loop(idnL, idnEN, idnNSM, idnNeutral), loop(idnR, idnAN, idnEN, idnNSM, idnNeutral)
	mixed := s.or2(seq(any, of(idnAN), any, of(idnEN), any), seq(any, of(idnEN), any, of(idnAN), any))
	leftLabel := s.or2(ascii, s.and2(unicodeLabel, inLeft))
	rightLabel := s.and([]Expr{unicodeLabel, s.not(mixed), seq(of(idnR), inRight),
		seq(any, of(idnR, idnAN, idnEN), marks)})
	strictLeft := s.and([]Expr{leftLabel, seq(of(idnL), inLeft), seq(any, of(idnL, idnEN), marks)})
	dot := of(one('.'), one(0x3002), one(0xFF0E), one(0xFF61))
	list := func(label Expr) Expr { return s.concat(label, s.repeat(seq(dot, label), 0, infinite)) }
	return s.or2(list(leftLabel), list(s.or2(strictLeft, rightLabel)))
}

func mustProperty(name string) []runes.Range {
	set, _ := runes.Property(name)
	return set
}
