package number

import (
	"encoding/binary"
	"slices"
	"sort"
)

// A set of exponents, as disjoint intervals in ascending order. For one N, the
// exponents that give a suitable value form few intervals: a bound limits one
// end; a multiple requires a minimum exponent, or allows any or none; a listed
// value is one exponent.
type set []interval

// An interval of integers, both ends included.
type interval struct{ from, to int64 }

// forever stands for an interval without an end. Relevant exponents are sums of
// a few positions in texts and schemas, far smaller than beyond.
const (
	forever = 1 << 60
	beyond  = 1 << 40
)

var everything = set{{-forever, forever}}

func (s set) has(x int64) bool {
	i := sort.Search(len(s), func(i int) bool { return s[i].to >= x })
	return i < len(s) && s[i].from <= x
}

// meets reports whether s has a member from lo to hi.
func (s set) meets(lo, hi int64) bool {
	i := sort.Search(len(s), func(i int) bool { return s[i].to >= lo })
	return i < len(s) && s[i].from <= hi
}

// within returns the members of s from lo to hi.
func (s set) within(lo, hi int64) set {
	var t set
	for _, v := range s {
		if v = (interval{max(v.from, lo), min(v.to, hi)}); v.from <= v.to {
			t = append(t, v)
		}
	}
	return t
}

// withoutNext returns s without x, a member of its last interval, if it is in
// s. It may modify s.
func (s set) withoutNext(x int64) set {
	if len(s) == 0 {
		return s
	}
	last := s[len(s)-1]
	if x < last.from || x > last.to {
		return s
	}
	s = s[:len(s)-1]
	if last.from < x {
		s = append(s, interval{last.from, x - 1})
	}
	if x < last.to {
		s = append(s, interval{x + 1, last.to})
	}
	return s
}

// side returns the magnitudes of the members of s that are not negative or,
// with minus, not positive.
func (s set) side(minus bool) set {
	if !minus {
		return s.within(0, forever)
	}
	t := s.within(-forever, 0)
	slices.Reverse(t)
	for i, v := range t {
		t[i] = interval{-v.to, -v.from}
	}
	return t
}

// setOf returns the number of s in a.sets.
func (a *Automaton) setOf(s set) int32 {
	b := make([]byte, 0, 64)
	for _, v := range s {
		b = binary.AppendVarint(b, v.from)
		b = binary.AppendVarint(b, v.to)
	}
	i, ok := a.setIndex[string(b)]
	if !ok {
		i = int32(len(a.sets))
		a.sets = append(a.sets, s)
		if a.setIndex == nil {
			a.setIndex = make(map[string]int32)
		}
		a.setIndex[string(b)] = i
	}
	return i
}

// exponents returns the exponents with which N is a suitable number.
func (a *problem) exponents(n *node) set {
	s := &a.sides[n.side]
	all := everything
	if !a.any {
		least, most := a.exponentRange(n)
		all = set{{int64(least), int64(most)}}
	}
	if n.digits == 0 {
		if s.zero {
			return all
		}
		return nil
	}
	place := n.place()
	a.work.spend(1 + int(n.to-n.from))
	if a.listed {
		var t set
		for _, v := range s.values[n.from:n.to] {
			if len(v.digits) > int(n.digits) {
				break
			}
			x := int64(v.pos - place)
			t = append(t, interval{x, x}) // in ascending order, as values are
		}
		return t
	}

	from, to := all[0].from, all[0].to
	if b := s.low; b != nil {
		x := int64(b.place - place)
		if n.low < 0 || n.low == 0 && (int(n.digits) < len(b.digits) || b.open) {
			x++
		}
		from = max(from, x)
	}
	if b := s.high; b != nil {
		x := int64(b.place - place)
		if n.high > 0 || n.high == 0 && int(n.digits) >= len(b.digits) && b.open {
			x--
		}
		to = min(to, x)
	}
	if a.grid != nil {
		lo, hi := a.grid.exponents(n)
		from, to = max(from, lo), min(to, hi)
	}
	if from > to {
		return nil
	}
	t := set{{from, to}}
	for _, v := range s.values[n.from:n.to] {
		if len(v.digits) > int(n.digits) {
			break
		}
		t = t.withoutNext(int64(v.pos - place))
	}
	return t
}

// exponentDigits is the number of digits of an exponent in a canonical
// spelling; some writers pad it with zeros, as in 1e-05.
const exponentDigits = 3

// nextExponent returns the node after one more symbol of an exponent. In
// kindSign and kindPower, the set holds magnitudes only.
func (a *Automaton) nextExponent(n *node, sym uint8) (node, bool) {
	m := *n
	switch {
	case n.kind == kindExponent && (sym == symPlus || sym == symMinus):
		m.kind = kindSign
		m.set = a.setOf(a.sets[n.set].side(sym == symMinus))
		return m, true
	case sym > 9:
		return m, false
	case n.kind != kindPower:
		if n.kind == kindExponent {
			m.set = a.setOf(a.sets[n.set].side(false))
		}
		m.kind = kindPower
		m.left = exponentDigits
	}
	m.power = m.power*10 + int64(sym)
	m.left-- // not used under AnySpelling
	if a.any {
		// Within an endless interval, all further digits are accepted.
		if s := a.sets[m.set]; len(s) > 0 && m.power >= s[len(s)-1].from && s[len(s)-1].to == forever {
			m.power, m.left = 0, 0
			m.set = a.setOf(everything)
		}
		return m, true
	}
	return m, m.left >= 0
}

// appendPower appends the relevant part of an exponent's digits: for each
// number of further digits, which of them are accepted.
func (a *Automaton) appendPower(b []byte, n *node) []byte {
	s := a.sets[n.set]
	lo, hi := n.power, n.power
	end := len(b) // excludes trailing empty parts
	for i := 0; a.any || i <= int(n.left); i++ {
		for _, v := range s {
			if from, to := max(v.from, lo), min(v.to, hi); from <= to {
				b = binary.AppendVarint(b, from-lo)
				b = binary.AppendVarint(b, to-lo)
				end = len(b)
			}
		}
		if len(s) > 0 && s[len(s)-1].to == forever && lo >= s[len(s)-1].from {
			return append(b, 0xff) // so from here on; no varint ends with this byte
		}
		if lo > beyond || hi > forever/100 {
			break
		}
		b = binary.AppendVarint(b, -1) // a separator; no interval starts with it
		lo, hi = lo*10, hi*10+9
	}
	return b[:end]
}

// exponentLive reports whether the exponent can be completed.
func (a *Automaton) exponentLive(n *node) bool {
	s := a.sets[n.set]
	if n.kind != kindPower {
		// Every prefix has enough room: exponents have as many digits as the
		// largest member.
		return len(s) > 0
	}
	lo, hi := n.power, n.power
	for i := 0; lo <= beyond; i++ {
		if s.meets(lo, hi) {
			return true
		}
		if !a.any && i >= int(n.left) {
			return false
		}
		if hi > forever/100 {
			break
		}
		lo, hi = lo*10, hi*10+9
	}
	return false
}
