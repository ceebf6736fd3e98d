package regular

import (
	"slices"

	"github.com/stencil-json/stencil/regular/runes"
)

// and2 is and for two expressions.
func (s *algebra) and2(a, b Expr) Expr {
	if a == b || b == exprAny {
		return a
	}
	if a == exprAny {
		return b
	}
	pair := [2]Expr{a, b}
	return s.and(pair[:])
}

// andFlat collects the operands of an intersection that can be combined; the
// others are pushed to the scratch stack.
type andFlat struct {
	empty, epsilon bool
	class          Expr // intersection of the classes, if any
	loop           Expr // intersection of the repetitions of a class, if any
	nots           int  // start of its complements on the stack nots
}

// and returns the intersection. It does not modify list.
func (s *algebra) and(list []Expr) Expr {
	base := len(s.scratch.exprs)
	defer func() { s.scratch.exprs = s.scratch.exprs[:base] }()

	f := andFlat{loop: exprAny, nots: len(s.scratch.nots)}
	defer func() { s.scratch.nots = s.scratch.nots[:f.nots] }()
	if s.flattenAnd(list, &f); f.empty {
		return exprEmpty
	}
	negated := exprEmpty
	for len(s.scratch.nots) > f.nots {
		// The intersection of complements is the complement of the union.
		union := s.or(s.scratch.nots[f.nots:])
		s.scratch.nots = s.scratch.nots[:f.nots]
		not := s.not(union)
		if s.op(not) == opNot {
			negated = union
			s.scratch.exprs = append(s.scratch.exprs, not)
			break
		}
		if s.gatherAnd(not, &f); f.empty {
			return exprEmpty
		}
	}
	if !s.spend(len(s.scratch.exprs) - base) {
		return exprEmpty
	}
	set := apart(sortSet(s.scratch.exprs[base:]))
	if f.epsilon {
		for _, e := range append(set, f.loop) {
			if !s.is(e, nullable) {
				return exprEmpty
			}
		}
		if f.class != exprEmpty {
			return exprEmpty
		}
		return exprEpsilon
	}
	if f.class != exprEmpty {
		f.class = s.and2Class(f.class, f.loop)
		for i, e := range set {
			if s.isOpen(e) {
				return s.internList(opAnd, sortSet(append(set[i:], f.class)))
			}
			if f.class = s.and2Class(f.class, e); f.class == exprEmpty {
				return exprEmpty
			}
		}
		return f.class
	}
	if negated != exprEmpty && s.coveredBy(set, negated) {
		return exprEmpty
	}
	set = s.absorb(set)
	within := s.node(f.loop).lengths
	for _, e := range set {
		l := s.node(e).lengths
		within.lo, within.hi = max(within.lo, l.lo), min(within.hi, l.hi)
	}
	if within.lo > within.hi {
		return exprEmpty
	}
	if f.loop != exprAny {
		var e Expr
		if set, e = s.andLoop(set, f.loop); e != exprAny {
			return e
		}
	}
	switch len(set) {
	case 0:
		return exprAny
	case 1:
		return set[0]
	}
	for i, e := range set {
		if s.op(e) == opOr && s.is(e, recursive) && len(s.operands(e)) <= pairwise {
			return s.distribute(set, i)
		}
	}
	return s.internList(opAnd, set)
}

// distribute returns an intersection that has a union as an operand as a union
// of intersections. When an equation is unfolded repeatedly, this keeps unions
// and intersections from nesting ever deeper.
func (s *algebra) distribute(set []Expr, i int) Expr {
	base := len(s.scratch.exprs)
	rest := slices.Delete(slices.Clone(set), i, i+1)
	for j := range s.operands(set[i]) {
		s.scratch.exprs = append(s.scratch.exprs, s.and(append(apart(rest), s.operands(set[i])[j])))
	}
	e := s.or(s.scratch.exprs[base:])
	s.scratch.exprs = s.scratch.exprs[:base]
	return e
}

// coveredBy reports whether the shape of some operand of an intersection shows
// that it is contained in negated.
func (s *algebra) coveredBy(set []Expr, negated Expr) bool {
	for _, e := range set {
		if e == negated || s.op(negated) == opOr && slices.Contains(s.operands(negated), e) {
			return true
		}
	}
	return false
}

// absorb removes unions that contain another operand of the intersection.
func (s *algebra) absorb(set []Expr) []Expr {
	if len(set) < 2 || len(set) > pairwise {
		return set
	}
	return slices.DeleteFunc(set, func(e Expr) bool {
		if s.op(e) != opOr {
			return false
		}
		ops := s.operands(e)
		return slices.ContainsFunc(set, func(x Expr) bool { return x != e && slices.Contains(ops, x) })
	})
}

// flattenAnd collects operands, including those of nested intersections. It may
// stop once the intersection is known to be empty.
func (s *algebra) flattenAnd(list []Expr, f *andFlat) {
	for _, e := range list {
		s.gatherAnd(e, f)
	}
}

func (s *algebra) gatherAnd(e Expr, f *andFlat) {
	n := s.node(e)
	switch {
	case f.empty, e == exprAny:
	case e == exprEmpty:
		f.empty = true
	case e == exprEpsilon:
		f.epsilon = true
	case n.op == opAnd:
		s.flattenAnd(s.operands(e), f)
	case n.op == opClass:
		if f.class == exprEmpty {
			f.class = e
		} else if f.class = s.meet(f.class, e); f.class == exprEmpty {
			f.empty = true
		}
	case n.op == opRepeat && s.op(Expr(n.a)) == opClass:
		loop := s.node(f.loop)
		both := s.repeat(s.meet(Expr(n.a), Expr(loop.a)), max(n.least, loop.least), min(n.most, loop.most))
		if f.loop = both; s.op(both) != opRepeat {
			// The result is one character, the empty string or nothing.
			f.loop = exprAny
			s.gatherAnd(both, f)
		}
	case n.op == opNot:
		s.scratch.nots = append(s.scratch.nots, Expr(n.a))
	default:
		s.scratch.exprs = append(s.scratch.exprs, e)
	}
}

// meet returns the intersection of two classes.
func (s *algebra) meet(a, b Expr) Expr {
	if a == b || b == exprAll {
		return a
	}
	if a == exprAll {
		return b
	}
	base := len(s.scratch.ranges)
	s.scratch.ranges = runes.AppendIntersection(s.scratch.ranges, s.set(a), s.set(b))
	e := s.class(s.scratch.ranges[base:])
	s.scratch.ranges = s.scratch.ranges[:base]
	return e
}

// and2Class returns the intersection of a class with any expression: the
// characters of the class that are strings of the expression.
func (s *algebra) and2Class(class, e Expr) Expr {
	if e == exprAny || class == exprEmpty {
		return class
	}
	return s.meet2(class, s.singles(e))
}

func (s *algebra) meet2(a, b Expr) Expr {
	if b == exprEmpty {
		return b
	}
	return s.meet(a, b)
}

// singles returns the class of the one-character strings of e.
func (s *algebra) singles(e Expr) Expr {
	switch n := s.node(e); {
	case n.op == opClass:
		return e
	case n.op == opRepeat && s.node(Expr(n.a)).op == opClass:
		if n.least > 1 {
			return exprEmpty
		}
		return Expr(n.a)
	}
	base := len(s.scratch.ranges)
	for _, d := range s.derive(e) {
		if s.is(d.to, nullable) {
			s.scratch.ranges = append(s.scratch.ranges, runes.Range{Lo: d.lo, Hi: d.hi})
		}
	}
	found := runes.Join(s.scratch.ranges[base:])
	c := s.class(found)
	s.scratch.ranges = s.scratch.ranges[:base]
	return c
}

// andLoop adds loop, a repetition of a class, to the operands of an
// intersection. A bound on the length is moved to where it disappears. If this
// completes the intersection, it is the second result; else that is Any.
func (s *algebra) andLoop(set []Expr, loop Expr) ([]Expr, Expr) {
	if len(set) == 0 {
		return nil, loop
	}
	if n := s.node(loop); Expr(n.a) == exprAll {
		// Bounds that an operand implies are redundant.
		least, most := n.least, n.most
		for _, e := range set {
			l := s.node(e).lengths
			if l.lo >= least {
				least = 0
			}
			if l.hi <= most {
				most = infinite
			}
		}
		if loop = s.length(least, most); loop == exprAny {
			return set, exprAny
		}
		if len(set) == 1 {
			if e, ok := s.lengthInto(set[0], least, most); ok {
				return nil, e
			}
		}
	}
	return sortSet(append(set, loop)), exprAny
}

// lengthInto intersects a concatenation with a length by bounding the part that
// varies, if the structure shows which that is.
func (s *algebra) lengthInto(e Expr, least, most int32) (Expr, bool) {
	n := s.node(e)
	if n.op != opConcat {
		return 0, false
	}
	head, tail := Expr(n.a), Expr(n.b)
	h, t := s.node(head), s.node(tail).lengths
	switch {
	case h.lengths.lo == h.lengths.hi:
		fixed := h.lengths.lo
		if most < fixed {
			return exprEmpty, true
		}
		rest := s.length(satSub(least, fixed), satSub(most, fixed))
		return s.concat(head, s.and2(rest, tail)), true
	case t.lo == t.hi && h.op == opRepeat && s.node(Expr(h.a)).op == opClass:
		if most < t.lo {
			return exprEmpty, true
		}
		lo, hi := max(h.least, satSub(least, t.lo)), min(h.most, satSub(most, t.lo))
		return s.concat(s.repeat(Expr(h.a), lo, hi), tail), true
	}
	return 0, false
}

// not returns the complement.
func (s *algebra) not(e Expr) Expr {
	n := s.node(e)
	switch {
	case e == exprEmpty:
		return exprAny
	case e == exprAny:
		return exprEmpty
	case e == exprEpsilon:
		return s.length(1, infinite)
	case n.op == opNot:
		return Expr(n.a)
	case n.op == opRepeat && Expr(n.a) == exprAll:
		low, high := exprEmpty, exprEmpty
		least, most := n.least, n.most
		if least > 0 {
			low = s.length(0, least-1)
		}
		if most < infinite {
			high = s.length(most+1, infinite)
		}
		return s.or2(low, high)
	}
	return s.intern(node{op: opNot, a: int32(e)})
}
