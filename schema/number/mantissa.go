package number

import (
	"math"
	"math/big"
	"slices"
	"sort"
)

// A kind is a position in the syntax of a JSON number.
type kind uint8

const (
	kindStart    kind = iota
	kindMinus         // after the sign
	kindZero          // after an integer part of 0
	kindWhole         // after the digits of an integer part, not 0
	kindPoint         // after the decimal point
	kindFraction      // after digits of the fraction
	kindExponent      // after e
	kindSign          // after the sign of the exponent
	kindPower         // after digits of the exponent
)

// A node is what an automaton knows about a text: of the digits, only what
// determines the possible continuations. In the comments, N is the number that
// the digits form without sign and point, so that the value is ±N·10^-fraction.
type node struct {
	kind kind
	side uint8 // 0: not negative, 1: negative

	// The digits of N compared with those of the side's bounds, as fractions
	// 0.d₁d₂…: -1 less, +1 greater, 0 equal so far.
	low, high int8

	digits   int32 // of N; 0: N = 0
	fraction int32 // digits after the point, leading zeros included
	zeros    int32 // trailing zeros of N

	// The listed values of the side that begin with the digits N (zeros added
	// as needed) are values[from:to].
	from, to int32

	// N without its trailing zeros, modulo the cycle of the grid: in rest, or
	// in large if the cycle is large.
	rest  uint64
	large *big.Int

	// For an exponent: the number of the set of allowed ones, the digits so far
	// as a number, and how many more may follow in a canonical spelling.
	set   int32
	power int64
	left  int32
}

// place returns the position of the decimal point relative to the first digit:
// the value is 0.d₁d₂…·10^place.
func (n *node) place() int { return int(n.digits - n.fraction) }

// next returns the node after one more symbol, if the syntax and the limits of
// the spelling allow it.
func (a *Automaton) next(n *node, sym uint8) (node, bool) {
	if n.kind >= kindExponent {
		return a.nextExponent(n, sym)
	}
	m := *n
	switch {
	case sym == symMinus:
		m.kind, m.side = kindMinus, 1
		return m, n.kind == kindStart
	case sym == symPoint:
		m.kind = kindPoint
		ok := n.kind == kindZero || n.kind == kindWhole
		return m, ok && a.fractions && int(n.digits) < a.digits
	case sym == symE || sym == symCapitalE:
		if n.kind != kindZero && n.kind != kindWhole && n.kind != kindFraction || !a.mayScale(n) {
			return m, false
		}
		m = node{kind: kindExponent, set: a.setOf(a.exponents(n))}
		return m, true
	case sym > 9:
		return m, false
	}
	s := &a.sides[n.side]
	switch n.kind {
	case kindStart, kindMinus:
		if sym == 0 {
			m.kind = kindZero
			return m, true
		}
		m = a.first(n.side, sym)
		return m, true
	case kindWhole:
		// After the significant digits only zeros may follow.
		ok := int(n.digits) < s.whole && (sym == 0 || int(n.digits) < a.digits)
		a.push(&m, sym)
		return m, ok
	case kindPoint, kindFraction:
		m.kind = kindFraction
		m.fraction++
		if n.digits == 0 && sym == 0 {
			return m, int(m.fraction) <= s.zeros
		}
		a.push(&m, sym)
		return m, int(n.digits) < a.digits
	}
	return m, false
}

// first returns the node after a first digit that is not 0.
func (a *problem) first(side, digit uint8) node {
	n := node{kind: kindWhole, side: side, to: int32(len(a.sides[side].values))}
	a.push(&n, digit)
	return n
}

// push appends a digit to N; the first one is not 0.
func (a *problem) push(n *node, digit uint8) {
	s := &a.sides[n.side]
	i := int(n.digits)
	if i == 0 {
		n.to = int32(len(s.values))
	}
	if s.low != nil && n.low == 0 {
		n.low = compareDigit(digit, s.low.digits, i)
	}
	if s.high != nil && n.high == 0 {
		n.high = compareDigit(digit, s.high.digits, i)
	}
	if n.from < n.to {
		n.narrow(s.values, i, digit+'0')
	}
	n.digits++
	if digit == 0 {
		n.zeros++
		return
	}
	if a.grid != nil {
		a.grid.push(n, digit)
	}
	n.zeros = 0
}

// compareDigit compares a digit with the one at i of others.
func compareDigit(digit uint8, others string, i int) int8 {
	other := digitAt(others, i) - '0'
	switch {
	case digit < other:
		return -1
	case digit > other:
		return 1
	}
	return 0
}

// digitAt returns the digit at i, which is 0 beyond the end.
func digitAt(digits string, i int) byte {
	if i < len(digits) {
		return digits[i]
	}
	return '0'
}

// narrow keeps those of values[from:to], which agree on their first i digits,
// that have the given digit at i. They are in the order of their digits.
func (n *node) narrow(values []Decimal, i int, digit byte) {
	list := values[n.from:n.to]
	lo := sort.Search(len(list), func(k int) bool { return digitAt(list[k].digits, i) >= digit })
	hi := lo + sort.Search(len(list)-lo, func(k int) bool { return digitAt(list[lo+k].digits, i) > digit })
	n.to = n.from + int32(hi)
	n.from += int32(lo)
}

// accepts reports whether the text so far is a suitable number.
func (a *Automaton) accepts(n *node) bool {
	switch n.kind {
	case kindZero, kindWhole, kindFraction:
		if a.spec.NotPlain && n.kind != kindFraction {
			return false
		}
		if n.digits == 0 {
			return a.sides[n.side].zero
		}
		return a.allows(n, 0)
	case kindPower:
		return a.sets[n.set].has(n.power)
	}
	return false
}

// allows reports whether N·10^(shift-fraction) is a suitable value.
func (a *problem) allows(n *node, shift int) bool {
	s := &a.sides[n.side]
	if a.listed {
		return s.listed(n, shift)
	}
	place := n.place() + shift
	if b := s.low; b != nil {
		switch {
		case place < b.place:
			return false
		case place > b.place || n.low > 0:
		case n.low < 0 || int(n.digits) < len(b.digits) || b.open:
			return false
		}
	}
	if b := s.high; b != nil {
		switch {
		case place > b.place:
			return false
		case place < b.place || n.high < 0:
		case n.high > 0 || int(n.digits) >= len(b.digits) && b.open:
			return false
		}
	}
	return (a.grid == nil || a.grid.allows(n, shift)) && !s.listed(n, shift)
}

// listed reports whether N·10^(shift-fraction) is one of the values of s.
func (s *side) listed(n *node, shift int) bool {
	place := n.place() + shift
	for _, v := range s.values[n.from:n.to] {
		if len(v.digits) > int(n.digits) {
			break // so do all later values
		}
		if v.pos == place {
			return true
		}
	}
	return false
}

// lists reports whether N, possibly with further digits, is one of the values
// of s, which are whole.
func (s *side) lists(n *node) bool {
	return slices.ContainsFunc(s.values[n.from:n.to], func(v Decimal) bool { return v.pos >= n.place() })
}

// live reports whether some continuation of n is accepted.
func (a *Automaton) live(n *node) bool {
	switch n.kind {
	case kindStart:
		return a.sideLive(0) || a.sideLive(1)
	case kindMinus:
		return a.sideLive(1)
	case kindExponent, kindSign, kindPower:
		return a.exponentLive(n)
	}
	s := &a.sides[n.side]
	if n.digits == 0 {
		if s.zero && (n.kind != kindPoint || s.zeros > 0) {
			return true
		}
		if !s.some || !a.fractions {
			return false
		}
		if a.any {
			return true
		}
		for d := uint8(1); d <= 9; d++ {
			m := a.first(n.side, d)
			if a.reach(&m, -1-s.zeros, -1-int(n.fraction), a.digits-1) {
				return true
			}
			m.fraction = n.fraction + 1
			if m.kind = kindFraction; a.mayScale(&m) && a.live(&m) {
				return true
			}
		}
		return false
	}
	if !s.some {
		return false
	}
	if a.any {
		if a.listed {
			return a.scientific && n.from < n.to || s.lists(n)
		}
		least := 0 // without a fraction and an exponent, only digits can follow
		if a.scientific {
			least = math.MinInt32
		}
		return a.reach(n, least, math.MaxInt32, unlimited)
	}
	left := max(0, a.digits-int(n.digits)) // zeros may go on beyond them
	if n.kind == kindWhole {
		if a.reach(n, 0, s.whole-int(n.digits), left) {
			return true
		}
	} else if a.reach(n, 0, 0, left) {
		return true
	}
	if !a.mayScale(n) {
		return false
	}
	least, most := a.scales(n)
	return a.reach(n, least, most, left)
}

// sideLive reports whether a number may begin with the sign of the side.
func (a *Automaton) sideLive(side uint8) bool {
	s := &a.sides[side]
	if s.zero {
		return true
	}
	if a.any || !s.some {
		return s.some
	}
	for d := uint8(1); d <= 9; d++ {
		n := a.first(side, d)
		if a.live(&n) || a.fractions && a.reach(&n, -1-s.zeros, -1, a.digits-1) {
			return true
		}
	}
	return false
}

// Exponents after more or fewer digits than one before the decimal point, in a canonical
// spelling: after up to mostScaled digits, or none but 0, at most scaledExponent in
// magnitude, so that no number of as many digits is beyond float64.
const (
	mostScaled     = canonicalDigits
	scaledExponent = 307 - mostScaled - 1
)

// mayScale reports whether an exponent may follow N now or after further
// symbols.
func (a *problem) mayScale(n *node) bool {
	if a.any || !a.scientific || n.digits == 0 {
		return a.any && a.scientific
	}
	p, s := n.place(), &a.sides[n.side]
	return p == 1 || s.low == nil && s.high == nil && p >= 0 && p <= mostScaled
}

// exponentRange returns the exponents that a canonical spelling allows right after N.
func (a *problem) exponentRange(n *node) (least, most int) {
	if n.place() == 1 {
		s := &a.sides[n.side]
		return s.expMin, s.expMax
	}
	return -scaledExponent, scaledExponent
}

// scales returns by how many places an exponent may shift the decimal point, now or after
// further digits of the integer part.
func (a *problem) scales(n *node) (least, most int) {
	least, most = a.exponentRange(n)
	if n.kind == kindWhole && n.place() > 1 {
		most += mostScaled - n.place()
	}
	return least, most
}
