package regular

import (
	"slices"

	"github.com/stencil-json/stencil/regular/runes"
)

// derive returns the successors of e: sorted, disjoint, and none of them empty by its
// shape. They are computed once; the result is shared and must not be modified.
func (s *algebra) derive(e Expr) []edge {
	if n := s.node(e); n.derived {
		return s.successorsOf(n)
	}
	base := len(s.scratch.edges)
	s.successors(e)
	kept := s.keep(s.scratch.edges[base:])
	s.scratch.edges = s.scratch.edges[:base]
	n := s.node(e)
	n.derived, n.edges = true, kept
	return s.successorsOf(n)
}

// keep copies a list of edges into the Store's memory.
func (s *exprs) keep(list []edge) span {
	if len(list) == 0 {
		return span{}
	}
	last := len(s.edges) - 1
	if last < 0 || len(s.edges[last])+len(list) > cap(s.edges[last]) {
		last++
		s.edges = append(s.edges, make([]edge, 0, max(len(list), min(64<<last, 4096))))
	}
	from := len(s.edges[last])
	s.edges[last] = append(s.edges[last], list...)
	return span{int32(last), int32(from), int32(from + len(list))}
}

// emit pushes an edge, joined to the previous one if it continues it. base is where
// this list starts.
func (s *algebra) emit(base int, lo, hi rune, to Expr) {
	if lo, hi = runes.Clip(lo, hi); lo > hi || to == exprEmpty {
		return
	}
	if n := len(s.scratch.edges); n > base {
		if last := &s.scratch.edges[n-1]; last.to == to && runes.Follows(last.hi, lo) {
			last.hi = hi
			return
		}
	}
	s.scratch.edges = append(s.scratch.edges, edge{lo, hi, to})
}

// successors pushes the successors of e to the scratch stack.
func (s *algebra) successors(e Expr) {
	base := len(s.scratch.edges)
	n := s.node(e)
	switch n.op {
	case opClass:
		for _, r := range s.set(e) {
			s.scratch.edges = append(s.scratch.edges, edge{r.Lo, r.Hi, exprEpsilon})
		}
	case opConcat:
		s.after(base, Expr(n.a), Expr(n.b))
	case opRepeat:
		less := s.repeat(Expr(n.a), max(n.least-1, 0), lessOne(n.most))
		s.after(base, Expr(n.a), less)
	case opRec:
		s.scratch.edges = append(s.scratch.edges, s.derive(Expr(n.a))...)
	case opState:
		s.automata[n.a].successors(n.b, func(lo, hi rune, q int32) {
			s.scratch.edges = append(s.scratch.edges, edge{lo, hi, s.intern(node{op: opState, a: n.a, b: q})})
		})
	case opNot:
		next := rune(0)
		for _, d := range s.derive(Expr(n.a)) {
			s.emit(base, next, d.lo-1, exprAny)
			s.emit(base, d.lo, d.hi, s.not(d.to))
			next = d.hi + 1
		}
		s.emit(base, next, runes.Max, exprAny)
	case opOr, opAnd:
		s.merge(base, n.op, e)
	}
}

func lessOne(count int32) int32 {
	if count == infinite {
		return count
	}
	return count - 1
}

// after pushes the successors of head followed by tail. If tail is a repetition of
// head, a nullable head needs no edges of the tail: fewer repetitions are among those
// already covered.
func (s *algebra) after(base int, head, tail Expr) {
	from, to := exprEmpty, exprEmpty
	first := s.derive(head)
	through := s.is(head, nullable) && !s.loopOf(head, tail)
	if !through {
		for _, d := range first {
			if d.to != from {
				from, to = d.to, s.append(d.to, tail)
			}
			s.emit(base, d.lo, d.hi, to)
		}
		return
	}
	// Both lists, merged: where they overlap, the union.
	second := s.derive(tail)
	mapped := len(s.scratch.edges)
	for _, d := range first {
		if d.to != from {
			from, to = d.to, s.append(d.to, tail)
		}
		s.emit(mapped, d.lo, d.hi, to)
	}
	count := len(s.scratch.edges) - mapped
	s.union2(mapped, count, second)
	rest := s.scratch.edges[mapped+count:]
	s.scratch.edges = s.scratch.edges[:mapped+copy(s.scratch.edges[mapped:], rest)]
}

// loopOf reports whether tail is a repetition of head.
func (s *exprs) loopOf(head, tail Expr) bool {
	n := s.node(tail)
	return tail == head || n.op == opRepeat && Expr(n.a) == head
}

// union2 pushes the union of two lists of edges: one on the scratch stack, from
// at on, count long, and b.
func (s *algebra) union2(at, count int, b []edge) {
	base := at + count
	i, j := 0, 0
	next := rune(0)
	var x, y, either Expr
	for i < count || j < len(b) {
		a := edge{runes.Max + 1, runes.Max + 1, exprEmpty}
		c := a
		if i < count {
			a = s.scratch.edges[at+i]
		}
		if j < len(b) {
			c = b[j]
		}
		a.lo, c.lo = max(a.lo, next), max(c.lo, next)
		switch {
		case a.lo < c.lo:
			hi := min(a.hi, c.lo-1)
			s.emit(base, a.lo, hi, a.to)
			next = hi + 1
		case c.lo < a.lo:
			hi := min(c.hi, a.lo-1)
			s.emit(base, c.lo, hi, c.to)
			next = hi + 1
		default:
			hi := min(a.hi, c.hi)
			if a.to != x || c.to != y {
				x, y, either = a.to, c.to, s.or2(a.to, c.to)
			}
			s.emit(base, a.lo, hi, either)
			next = hi + 1
		}
		if i < count && a.hi < next {
			i++
		}
		if j < len(b) && c.hi < next {
			j++
		}
	}
}

// append is concat for the successors of a head: it distributes over a union, so that
// states are flat sets and equal sets are always the same state.
func (s *algebra) append(head, tail Expr) Expr {
	if tail == exprEpsilon {
		return head
	}
	n := s.node(head)
	maybe := n.op == opRepeat && n.least == 0 && n.most == 1 && s.op(Expr(n.a)) == opOr
	if maybe {
		head = Expr(n.a)
	} else if n.op != opOr {
		return s.concat(head, tail)
	}
	base := len(s.scratch.exprs)
	for i := range s.operands(head) {
		e := s.concat(s.operands(head)[i], tail)
		s.scratch.exprs = append(s.scratch.exprs, e)
	}
	if maybe {
		s.scratch.exprs = append(s.scratch.exprs, tail)
	}
	e := s.or(s.scratch.exprs[base:])
	s.scratch.exprs = s.scratch.exprs[:base]
	return e
}

// merge pushes the successors of a union or an intersection: a sweep over the
// edges of all operands.
func (s *algebra) merge(base int, o op, e Expr) {
	at := len(s.scratch.lists)
	for i := range s.operands(e) {
		list := s.derive(s.operands(e)[i])
		if len(list) > 0 {
			s.scratch.lists = append(s.scratch.lists, list)
		} else if o == opAnd {
			s.scratch.lists = s.scratch.lists[:at]
			return
		}
	}
	lists := s.scratch.lists[at:]
	if o == opAnd {
		s.sweepAnd(base, lists)
	} else {
		s.sweepOr(base, lists)
	}
	clear(s.scratch.lists[at:])
	s.scratch.lists = s.scratch.lists[:at]
}

func (s *algebra) sweepAnd(base int, lists [][]edge) {
	known := len(s.scratch.exprs)
	defer func() { s.scratch.exprs = s.scratch.exprs[:known] }()
	last := exprEmpty
	for {
		lo, hi := rune(0), rune(runes.Max)
		for _, l := range lists {
			lo, hi = max(lo, l[0].lo), min(hi, l[0].hi)
		}
		if lo <= hi {
			targets := len(s.scratch.exprs)
			for _, l := range lists {
				s.scratch.exprs = append(s.scratch.exprs, l[0].to)
			}
			// The previous targets are still on the stack: most often they are equal.
			if prev := s.scratch.exprs[known:targets]; len(prev) > 0 && slices.Equal(prev, s.scratch.exprs[targets:]) {
				s.scratch.exprs = s.scratch.exprs[:targets]
			} else {
				last = s.and(s.scratch.exprs[targets:])
				n := copy(s.scratch.exprs[known:], s.scratch.exprs[targets:])
				s.scratch.exprs = s.scratch.exprs[:known+n]
			}
			s.emit(base, lo, hi, last)
		}
		for i, l := range lists {
			for len(l) > 0 && l[0].hi <= hi {
				l = l[1:]
			}
			if len(l) == 0 {
				return
			}
			lists[i] = l
		}
	}
}

func (s *algebra) sweepOr(base int, lists [][]edge) {
	known := len(s.scratch.exprs)
	defer func() { s.scratch.exprs = s.scratch.exprs[:known] }()
	last := exprEmpty
	for next := rune(0); len(lists) > 0; {
		lo := rune(runes.Max)
		for _, l := range lists {
			lo = min(lo, l[0].lo)
		}
		lo = max(lo, next)
		hi := rune(runes.Max)
		targets := len(s.scratch.exprs)
		for _, l := range lists {
			if l[0].lo <= lo {
				hi = min(hi, l[0].hi)
				s.scratch.exprs = append(s.scratch.exprs, l[0].to)
			} else {
				hi = min(hi, l[0].lo-1)
			}
		}
		if prev := s.scratch.exprs[known:targets]; len(prev) > 0 && slices.Equal(prev, s.scratch.exprs[targets:]) {
			s.scratch.exprs = s.scratch.exprs[:targets]
		} else {
			last = s.or(s.scratch.exprs[targets:])
			n := copy(s.scratch.exprs[known:], s.scratch.exprs[targets:])
			s.scratch.exprs = s.scratch.exprs[:known+n]
		}
		s.emit(base, lo, hi, last)
		next = hi + 1
		for i := 0; i < len(lists); {
			if lists[i][0].hi < next {
				lists[i] = lists[i][1:]
			}
			if len(lists[i]) > 0 {
				i++
				continue
			}
			lists[i] = lists[len(lists)-1]
			lists = lists[:len(lists)-1]
		}
	}
}
