package regular

import (
	"slices"
	"unicode/utf8"

	"github.com/stencil-json/stencil/regular/runes"
)

// Strings returns the expression of a finite set of strings. The cost is
// proportional to the bytes of the list; common prefixes and suffixes are
// stored once.
func (s *Store) Strings(list []string) Expr {
	s.lock()
	defer s.done()
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return s.words(slices.Compact(sorted), 0)
}

// words returns the automaton of a sorted list without the first skip bytes of
// each string, which are the same in all.
func (s *Store) words(list []string, skip int) Expr {
	if len(list) == 0 {
		return exprEmpty
	}
	first := list[0][skip:]
	if len(list) == 1 {
		return s.literal(first, exprEpsilon)
	}
	last := list[len(list)-1][skip:]
	if n := commonPrefix(first, last); n > 0 {
		return s.literal(first[:n], s.words(list, skip+n))
	}
	final := first == ""
	if final {
		list = list[1:]
	}
	base := len(s.scratch.edges)
	for len(list) > 0 {
		r, width := utf8.DecodeRuneInString(list[0][skip:])
		n := 1
		for n < len(list) {
			if q, _ := utf8.DecodeRuneInString(list[n][skip:]); q != r {
				break
			}
			n++
		}
		to := s.words(list[:n], skip+width)
		s.scratch.edges = append(s.scratch.edges, edge{r, r, to})
		list = list[n:]
	}
	e := s.automaton(joinEdges(s.scratch.edges[base:]), final)
	s.scratch.edges = s.scratch.edges[:base]
	return e
}

// commonPrefix returns the length of the common prefix of a and b, in bytes,
// limited to whole characters.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) || n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}

// joinEdges merges adjacent edges with the same target, in place.
func joinEdges(list []edge) []edge {
	out := list[:0]
	for _, d := range list {
		if n := len(out); n > 0 && out[n-1].to == d.to && runes.Follows(out[n-1].hi, d.lo) {
			out[n-1].hi = d.hi
		} else {
			out = append(out, d)
		}
	}
	return out
}

// automaton returns the expression with the given successors, which must be
// sorted and disjoint, that accepts the empty string if final.
func (s *Store) automaton(list []edge, final bool) Expr {
	if len(list) == 1 {
		d := list[0]
		e := s.concat(s.class(runes.Of(d.lo, d.hi)), d.to)
		if final {
			e = s.maybe(e)
		}
		return e
	}
	hash := mix(hashSeed, uint32(opSwitch))
	n := node{op: opSwitch, derived: true, flags: plain}
	for i, d := range list {
		hash = mix(mix(hash, uint32(d.lo)<<11^uint32(d.hi)), uint32(d.to))
		m := s.node(d.to)
		l := concatLengths(lengths{1, 1, 1, 1}, m.lengths)
		if i == 0 {
			n.lengths = l
		} else {
			n.lengths = orLengths(n.lengths, l)
		}
		n.flags = n.flags&m.flags&plain | (n.flags|m.flags)&recursive
	}
	if final {
		hash = mix(hash, 1)
		n.flags |= nullable
		n.lengths = orLengths(n.lengths, lengths{})
	}
	mask := uint32(len(s.slots) - 1)
	for at := hash & mask; s.slots[at] != 0; at = (at + 1) & mask {
		e := Expr(s.slots[at] - 1)
		if m := s.node(e); m.hash == hash && m.op == opSwitch && m.flags&nullable == n.flags&nullable && slices.Equal(s.successorsOf(m), list) {
			return e
		}
	}
	n.edges = s.keep(list)
	e := s.add(n)
	if e != exprEmpty {
		s.enter(e, hash)
	}
	return e
}
