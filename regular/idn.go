package regular

import (
	"slices"
	"sync"
	"unicode"
)

// International host names follow IDNA2008: which characters a label may hold
// (RFC 5892), the rules for characters that need a certain neighbour (its
// appendix A), and the rule for labels written from right to left (RFC 5893).
// Within a label all of them are regular. Of the characters, only those of the
// basic plane and the Han characters beyond it are taken.

// unstable lists letters, marks and digits of the basic plane that, though not
// in upper case, change under normalisation form KC with case folding, which
// RFC 5892 disallows (Unicode 15). Small gaps are filled.
var unstable = []Range{
	{0xAA, 0xAA}, {0xB5, 0xB5}, {0xBA, 0xBA}, {0x133, 0x133}, {0x140, 0x140}, {0x149, 0x149}, {0x17F, 0x17F},
	{0x1C6, 0x1C6}, {0x1C9, 0x1C9}, {0x1CC, 0x1CC}, {0x1F3, 0x1F3}, {0x2B0, 0x2B8}, {0x2E0, 0x2E4},
	{0x340, 0x341}, {0x343, 0x345}, {0x374, 0x374}, {0x37A, 0x37A}, {0x3D0, 0x3D1}, {0x3D5, 0x3D6},
	{0x3F0, 0x3F2}, {0x3F5, 0x3F5}, {0x587, 0x587}, {0x675, 0x678}, {0x958, 0x95F}, {0x9DC, 0x9DF},
	{0xA33, 0xA33}, {0xA36, 0xA36}, {0xA59, 0xA5B}, {0xA5E, 0xA5E}, {0xB5C, 0xB5D}, {0xE33, 0xE33},
	{0xEB3, 0xEB3}, {0xEDC, 0xEDD}, {0xF43, 0xF43}, {0xF4D, 0xF4D}, {0xF52, 0xF52}, {0xF57, 0xF57},
	{0xF5C, 0xF5C}, {0xF69, 0xF69}, {0xF73, 0xF79}, {0xF81, 0xF81}, {0xF93, 0xF93}, {0xF9D, 0xF9D},
	{0xFA2, 0xFA2}, {0xFA7, 0xFA7}, {0xFAC, 0xFAC}, {0xFB9, 0xFB9}, {0x10FC, 0x10FC}, {0x13F8, 0x13FD},
	{0x1C80, 0x1C88}, {0x1D2C, 0x1D6A}, {0x1D78, 0x1D78}, {0x1D9B, 0x1DBF}, {0x1E9A, 0x1E9B}, {0x1F71, 0x1F87},
	{0x1F90, 0x1F97}, {0x1FA0, 0x1FA7}, {0x1FB2, 0x1FB7}, {0x1FBE, 0x1FBE}, {0x1FC2, 0x1FC7}, {0x1FD3, 0x1FD3},
	{0x1FE3, 0x1FE3}, {0x1FF2, 0x1FF7}, {0x2071, 0x2071}, {0x207F, 0x207F}, {0x2090, 0x209C}, {0x210A, 0x2149},
	{0x2C7C, 0x2C7D}, {0x2D6F, 0x2D6F}, {0x309F, 0x309F}, {0x30FF, 0x30FF}, {0x3131, 0x318E}, {0xA69C, 0xA69D},
	{0xA770, 0xA770}, {0xA7F2, 0xA7F4}, {0xA7F8, 0xA7F9}, {0xAB5C, 0xAB5F}, {0xAB69, 0xAB69}, {0xAB70, 0xABBF},
	{0xF900, 0xFAD9}, {0xFB00, 0xFEFC}, {0xFF10, 0xFFDC},
}

// unfit lists what RFC 5892 disallows for other reasons: old Hangul, blocks of
// marks for symbols, what has no visible form, and exceptions by name.
var unfit = []Range{
	{0x34F, 0x34F}, {0x640, 0x640}, {0x7FA, 0x7FA}, {0x1100, 0x11FF}, {0x17B4, 0x17B5}, {0x180B, 0x180F},
	{0x20D0, 0x20FF}, {0x302E, 0x302F}, {0x3031, 0x3035}, {0x303B, 0x303B}, {0x3164, 0x3164},
	{0xA960, 0xA97F}, {0xD7B0, 0xD7FF}, {0xFE00, 0xFE0F}, {0xFFA0, 0xFFA0},
}

// viramas and the letters of Arabic script that join to their neighbours, for
// the rules of the zero width joiners.
var (
	viramas = normalise([]Range{{0x94D, 0x94D}, {0x9CD, 0x9CD}, {0xA4D, 0xA4D}, {0xACD, 0xACD}, {0xB4D, 0xB4D},
		{0xBCD, 0xBCD}, {0xC4D, 0xC4D}, {0xCCD, 0xCCD}, {0xD3B, 0xD3C}, {0xD4D, 0xD4D}, {0xDCA, 0xDCA},
		{0xE3A, 0xE3A}, {0xEBA, 0xEBA}, {0xF84, 0xF84}, {0x1039, 0x103A}, {0x1714, 0x1714}, {0x17D2, 0x17D2},
		{0x1A60, 0x1A60}, {0x1B44, 0x1B44}, {0x1BAA, 0x1BAB}, {0x1BF2, 0x1BF3}, {0xA806, 0xA806},
		{0xA8C4, 0xA8C4}, {0xA953, 0xA953}, {0xA9C0, 0xA9C0}, {0xAAF6, 0xAAF6}, {0xABED, 0xABED}})
	joinsBoth = []Range{{0x626, 0x626}, {0x628, 0x628}, {0x62A, 0x62E}, {0x633, 0x63F}, {0x641, 0x647},
		{0x649, 0x64A}, {0x66E, 0x66F}, {0x678, 0x687}, {0x69A, 0x6BF}, {0x6C1, 0x6C2}, {0x6CC, 0x6CC},
		{0x6CE, 0x6CE}, {0x6D0, 0x6D1}, {0x6FA, 0x6FC}}
	joinsRight = []Range{{0x622, 0x625}, {0x627, 0x627}, {0x629, 0x629}, {0x62F, 0x632}, {0x648, 0x648},
		{0x671, 0x673}, {0x675, 0x677}, {0x688, 0x699}, {0x6C0, 0x6C0}, {0x6C3, 0x6CB}, {0x6CD, 0x6CD},
		{0x6CF, 0x6CF}, {0x6D2, 0x6D3}, {0x6D5, 0x6D5}, {0x6EE, 0x6EF}}
)

const (
	zeroWidthNonJoiner = 0x200C
	zeroWidthJoiner    = 0x200D
)

// idnSets are the sets of characters the rules speak of.
type idnSets struct {
	label  []Range // all that a label may hold
	marks  []Range // combining marks, which can't be first
	spaced []Range // those of them that take no room
	rtl    []Range // letters written from right to left
	arabic []Range // Arabic-Indic digits
	digits []Range // digits that keep their direction: ASCII, extended Arabic-Indic
	ltr    []Range // the rest but what is neutral
}

// neutral characters of a label have no direction.
var neutral = []Range{{'-', '-'}, {zeroWidthNonJoiner, zeroWidthJoiner}}

func makeIDNSets() *idnSets {
	basic := []Range{{0, 0xFFFF}, {0x20000, 0x3134F}}
	letters := fromTables(unicode.Ll, unicode.Lo, unicode.Lm, unicode.Mn, unicode.Mc, unicode.Nd)
	var upper []Range
	for _, r := range cased() {
		if unicode.ToLower(r) != r {
			upper = append(upper, Range{r, r})
		}
	}
	not := appendUnion(nil, union(upper, unfit), unstable)
	set := appendIntersection(nil, letters, appendComplement(nil, not))
	set = appendIntersection(nil, set, basic)
	// Exceptions that are allowed, and characters that are where a rule says so.
	set = union(set, neutral, []Range{{0xB7, 0xB7}, {0xDF, 0xDF}, {0x375, 0x375}, {0x3C2, 0x3C2}, {0x5F3, 0x5F4},
		{0x6FD, 0x6FE}, {0xF0B, 0xF0B}, {0x3007, 0x3007}, {0x30FB, 0x30FB}})
	within := func(rs []Range) []Range { return appendIntersection(nil, set, rs) }
	x := &idnSets{label: set}
	x.marks = within(fromTables(unicode.M))
	x.spaced = within(fromTables(unicode.Mn))
	x.arabic = []Range{{0x660, 0x669}}
	x.digits = []Range{{'0', '9'}, {0x6F0, 0x6F9}}
	rightToLeft := within([]Range{{0x590, 0x8FF}, {0xFB1D, 0xFDFF}, {0xFE70, 0xFEFF}})
	others := union(neutral, x.spaced, x.arabic, x.digits)
	x.rtl = appendIntersection(nil, rightToLeft, appendComplement(nil, others))
	x.ltr = within(appendComplement(nil, union(others, x.rtl)))
	return x
}

func union(sets ...[]Range) []Range { return normalise(slices.Concat(sets...)) }

// idnAutomaton is shared by all Stores. Its sets have hundreds of ranges, so
// that it is derived over an alphabet with one letter for each class of
// characters that no rule tells apart.
var idnAutomaton = sync.OnceValue(func() *recoded {
	x := makeIDNSets()
	s := NewStore(Limits{})
	var sets [][]Range
	idnName(s, x, func(list ...[]Range) Expr {
		sets = append(sets, union(list...))
		return exprEpsilon
	})
	code := newRecoding(sets)
	return newRecoded(s, idnName(s, x, func(list ...[]Range) Expr { return s.class(code.letters(union(list...))) }), code)
})

// idnName is a host name of international labels. Classes are made by of.
func idnName(s *Store, x *idnSets, of func(...[]Range) Expr) Expr {
	one := func(r rune) []Range { return []Range{{r, r}} }
	seq := func(list ...Expr) Expr {
		e := exprEpsilon
		for _, x := range slices.Backward(list) {
			e = s.concat(x, e)
		}
		return e
	}
	any := exprAny
	endOrOther := func(sets ...[]Range) Expr {
		return s.maybe(seq(of(appendComplement(nil, union(sets...))), any))
	}
	startOrOther := func(sets ...[]Range) Expr {
		return s.maybe(seq(any, of(appendComplement(nil, union(sets...)))))
	}
	loop := func(sets ...[]Range) Expr { return s.repeat(of(sets...), 0, infinite) }
	dash, marks := of(one('-')), loop(x.spaced)
	kana := of(mustProperty("Hiragana"), mustProperty("Katakana"), mustProperty("Han"))
	extended, joiners := of([]Range{{0x6F0, 0x6F9}}), []Range{{zeroWidthNonJoiner, zeroWidthJoiner}}
	joined := seq(any, of(joinsBoth), marks, of(one(zeroWidthNonJoiner)), marks, of(joinsBoth, joinsRight), any)
	wrong := s.or([]Expr{
		seq(of(x.marks), any),
		seq(dash, any), seq(any, dash),
		seq(s.length(2, 2), dash, dash, any),
		seq(startOrOther(one('l')), of(one(0xB7)), any), seq(any, of(one(0xB7)), endOrOther(one('l'))),
		seq(any, of(one(0x375)), endOrOther(mustProperty("Greek"))),
		seq(startOrOther(mustProperty("Hebrew")), of([]Range{{0x5F3, 0x5F4}}), any),
		seq(any, of(x.arabic), any, extended, any), seq(any, extended, any, of(x.arabic), any),
		seq(startOrOther(viramas, joiners), of(one(zeroWidthJoiner)), any),
		s.and2(seq(startOrOther(viramas), of(one(zeroWidthNonJoiner)), any), s.not(joined)),
		s.and2(seq(any, of(one(0x30FB)), any), s.not(seq(any, kana, any))),
	})
	unicodeLabel := s.and([]Expr{s.repeat(of(x.label), 1, 56), s.not(wrong)})
	alphanumeric := []Range{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}
	inner, edge := of(alphanumeric, one('-')), of(alphanumeric)
	labelOf := func(most int32) Expr { return seq(edge, s.maybe(seq(s.repeat(inner, 0, most-2), edge))) }
	ascii := s.or2(s.and2(labelOf(63), s.not(seq(s.length(2, 2), dash, dash, any))),
		seq(of([]Range{{'X', 'X'}, {'x', 'x'}}), of([]Range{{'N', 'N'}, {'n', 'n'}}), dash, dash, s.repeat(inner, 0, 58), edge))

	// A name with a label from right to left binds all its labels to RFC 5893.
	inLeft, inRight := loop(x.ltr, x.digits, x.spaced, neutral), loop(x.rtl, x.arabic, x.digits, x.spaced, neutral)
	mixed := s.or2(seq(any, of(x.arabic), any, of(x.digits), any), seq(any, of(x.digits), any, of(x.arabic), any))
	leftLabel := s.or2(ascii, s.and2(unicodeLabel, inLeft))
	rightLabel := s.and([]Expr{unicodeLabel, s.not(mixed), seq(of(x.rtl), inRight),
		seq(any, of(x.rtl, x.arabic, x.digits), marks)})
	strictLeft := s.and([]Expr{leftLabel, seq(of(x.ltr), inLeft), seq(any, of(x.ltr, x.digits), marks)})
	dot := of(one('.'), one(0x3002), one(0xFF0E), one(0xFF61))
	list := func(label Expr) Expr { return s.concat(label, s.repeat(seq(dot, label), 0, infinite)) }
	return s.or2(list(leftLabel), list(s.or2(strictLeft, rightLabel)))
}

func mustProperty(name string) []Range {
	set, _ := propertySet(name)
	return set
}
