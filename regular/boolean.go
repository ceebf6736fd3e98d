package regular

import "slices"

// Or returns the strings of any of the expressions.
func (s *Store) Or(list ...Expr) Expr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.orFactored(list)
}

// And returns the strings that are in all of the expressions.
func (s *Store) And(list ...Expr) Expr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.and(list)
}

// Not returns the strings that are not in e.
func (s *Store) Not(e Expr) Expr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.not(e)
}

// pairwise is how many operands are compared each with each; with more, only
// the simplifications that sorting finds are made.
const pairwise = 24

// sortSet sorts and removes duplicates, in place.
func sortSet(list []Expr) []Expr {
	if len(list) > 12 {
		slices.Sort(list)
	} else {
		for i := 1; i < len(list); i++ {
			for j := i; j > 0 && list[j] < list[j-1]; j-- {
				list[j], list[j-1] = list[j-1], list[j]
			}
		}
	}
	return slices.Compact(list)
}

// apart makes sure that appending to a slice of the scratch stack copies it.
func apart(list []Expr) []Expr { return list[:len(list):len(list)] }

// or2 is or for two expressions.
func (s *Store) or2(a, b Expr) Expr {
	if a == b || b == exprEmpty {
		return a
	}
	if a == exprEmpty {
		return b
	}
	pair := [2]Expr{a, b}
	return s.or(pair[:])
}

// or returns the union. It leaves list alone.
func (s *Store) or(list []Expr) Expr {
	base := len(s.scratch.exprs)
	defer func() { s.scratch.exprs = s.scratch.exprs[:base] }()

	var f orFlat
	if s.flattenOr(list, &f); f.any {
		return exprAny
	}
	if f.class != exprEmpty {
		s.scratch.exprs = append(s.scratch.exprs, f.class)
	}
	if f.not != exprEmpty {
		// The union of complements is the complement of the intersection.
		s.scratch.exprs = append(s.scratch.exprs, f.not)
		inner := Expr(s.node(f.not).a)
		if slices.Contains(s.scratch.exprs[base:], inner) {
			return exprAny
		}
	}
	set := apart(sortSet(s.scratch.exprs[base:]))
	if len(set) > 1 {
		set = s.mergeOr(set)
	}
	var e Expr
	switch len(set) {
	case 0:
		if f.epsilon {
			return exprEpsilon
		}
		return exprEmpty
	case 1:
		e = set[0]
	default:
		if slices.Contains(set, exprAny) {
			return exprAny
		}
		e = s.internList(opOr, set)
	}
	if f.epsilon {
		e = s.maybe(e)
	}
	return e
}

type orFlat struct {
	any, epsilon bool
	class        Expr // union of the classes
	not          Expr // union of the complements
}

// flattenOr pushes the operands of nested unions to the scratch stack.
func (s *Store) flattenOr(list []Expr, f *orFlat) {
	for _, e := range list {
		n := s.node(e)
		switch {
		case e == exprEmpty:
		case e == exprEpsilon:
			f.epsilon = true
		case e == exprAny:
			f.any = true
			return
		case n.op == opOr:
			s.flattenOr(s.operands(e), f)
		case n.op == opRepeat && n.least == 0 && n.most == 1:
			f.epsilon = true
			one := [1]Expr{Expr(n.a)}
			s.flattenOr(one[:], f)
		case n.op == opClass:
			if f.class == exprEmpty {
				f.class = e
			} else if f.class != e {
				base := len(s.scratch.ranges)
				s.scratch.ranges = appendUnion(s.scratch.ranges, s.set(f.class), s.set(e))
				f.class = s.class(s.scratch.ranges[base:])
				s.scratch.ranges = s.scratch.ranges[:base]
			}
		case n.op == opNot:
			if f.not == exprEmpty {
				f.not = e
			} else {
				f.not = s.not(s.and2(Expr(s.node(f.not).a), Expr(n.a)))
			}
			if f.not == exprAny {
				f.any = true
				return
			}
			if f.not != exprEmpty && s.op(f.not) != opNot {
				one := [1]Expr{f.not}
				f.not = exprEmpty
				s.flattenOr(one[:], f)
			}
		default:
			s.scratch.exprs = append(s.scratch.exprs, e)
		}
		if f.any {
			return
		}
	}
}

// term is an operand of a union read as of{least,most} tail.
type term struct {
	of, tail    Expr
	least, most int32
}

func (s *Store) term(e Expr) term {
	t := term{tail: exprEpsilon}
	if n := s.node(e); n.op == opConcat {
		e, t.tail = Expr(n.a), Expr(n.b)
	}
	t.of, t.least, t.most = s.counted(e)
	return t
}

func (s *Store) untermed(t term) Expr {
	return s.concat(s.repeat(t.of, t.least, t.most), t.tail)
}

// mergeOr simplifies the operands of a union: what one contains by its shape
// goes, and overlapping counts of the same loop join. Its argument and its
// result are sorted sets.
func (s *Store) mergeOr(set []Expr) []Expr {
	if len(set) > pairwise {
		return set
	}
	for again := true; again && len(set) > 1; {
		again = false
	search:
		for i := range set {
			for j := range set {
				if i == j {
					continue
				}
				if e, ok := s.mergePair(set[i], set[j]); ok {
					set[min(i, j)] = e
					set = slices.Delete(set, max(i, j), max(i, j)+1)
					again = true
					break search
				}
			}
		}
		if again {
			set = s.flat(set)
		}
	}
	return set
}

// flat restores the form of a set of operands of a union after some of them
// were replaced.
func (s *Store) flat(set []Expr) []Expr {
	for i := 0; i < len(set); i++ {
		for s.op(set[i]) == opOr {
			ops := s.operands(set[i])
			set[i] = ops[0]
			set = append(set, ops[1:]...)
		}
	}
	return sortSet(set)
}

// mergePair returns one expression for the union of two, if it knows one.
func (s *Store) mergePair(a, b Expr) (Expr, bool) {
	na, nb := s.node(a), s.node(b)
	if s.isLength(a) && nb.lengths.lo >= na.least && nb.lengths.hi <= na.most {
		return a, true
	}
	if na.op == opAnd && s.within(a, b) {
		return b, true
	}
	if na.op == opConcat {
		head, tail := Expr(na.a), Expr(na.b)
		if b == tail || s.op(tail) == opOr && slices.Contains(s.operands(tail), b) {
			if s.is(head, nullable) {
				return a, true
			}
			if b == tail {
				return s.concat(s.maybe(head), tail), true
			}
		}
	}
	if na.op != opConcat && na.op != opRepeat && nb.op != opConcat && nb.op != opRepeat {
		return 0, false
	}
	ta, tb := s.term(a), s.term(b)
	if ta.of == tb.of && ta.tail == tb.tail {
		if ta.least <= tb.least && int64(tb.least) <= int64(ta.most)+1 {
			ta.most = max(ta.most, tb.most)
			return s.untermed(ta), true
		}
		return 0, false
	}
	return 0, false
}

// within tells whether the shape of an intersection shows that it is contained
// in b: each operand of b contains one of a.
func (s *Store) within(a, b Expr) bool {
	one := [1]Expr{b}
	list := one[:]
	if s.op(b) == opAnd {
		list = s.operands(b)
	}
	ops := s.operands(a)
	return !slices.ContainsFunc(list, func(x Expr) bool {
		return !slices.ContainsFunc(ops, func(y Expr) bool { return x == y || s.excludesMore(y, x) })
	})
}

// excludesMore tells whether a and b are complements and that a excludes all
// that b does is plain to see.
func (s *Store) excludesMore(a, b Expr) bool {
	if s.op(a) != opNot || s.op(b) != opNot {
		return false
	}
	more, less := Expr(s.node(a).a), Expr(s.node(b).a)
	if s.op(more) != opOr {
		return false
	}
	one := [1]Expr{less}
	list := one[:]
	if s.op(less) == opOr {
		list = s.operands(less)
	}
	ops := s.operands(more)
	return !slices.ContainsFunc(list, func(x Expr) bool { return !slices.Contains(ops, x) })
}

// orFactored is or for alternatives as they are written: it takes common heads
// out, which makes a trie of a list of words. Successors are united without
// that, because it looks far ahead: tails that are shared in memory would be
// united over and over.
func (s *Store) orFactored(list []Expr) Expr {
	budget := factorBudget
	return s.factor(list, &budget)
}

// factorBudget bounds the alternatives looked at for common heads.
const factorBudget = 1 << 14

func (s *Store) factor(list []Expr, budget *int) Expr {
	if *budget -= len(list); *budget < 0 || len(list) < 2 {
		return s.or(list)
	}
	var f orFlat
	base := len(s.scratch.exprs)
	defer func() { s.scratch.exprs = s.scratch.exprs[:base] }()
	if s.flattenOr(list, &f); f.any {
		return exprAny
	}
	set := apart(s.scratch.exprs[base:])
	head := func(e Expr) Expr {
		if n := s.node(e); n.op == opConcat {
			return Expr(n.a)
		}
		return e
	}
	slices.SortFunc(set, func(a, b Expr) int {
		if c := int(head(a) - head(b)); c != 0 {
			return c
		}
		return int(a - b)
	})
	set = slices.Compact(set)
	out := make([]Expr, 0, len(set)+3)
	for len(set) > 0 {
		h, n := head(set[0]), 1
		for n < len(set) && head(set[n]) == h {
			n++
		}
		if n == 1 {
			out = append(out, set[0])
		} else {
			tails := make([]Expr, n)
			for i, e := range set[:n] {
				if tails[i] = exprEpsilon; e != h {
					tails[i] = Expr(s.node(e).b)
				}
			}
			out = append(out, s.concat(h, s.factor(tails, budget)))
		}
		set = set[n:]
	}
	if f.epsilon {
		out = append(out, exprEpsilon)
	}
	return s.or(append(out, f.class, f.not))
}

// and2 is and for two expressions.
func (s *Store) and2(a, b Expr) Expr {
	if a == b || b == exprAny {
		return a
	}
	if a == exprAny {
		return b
	}
	pair := [2]Expr{a, b}
	return s.and(pair[:])
}

// andFlat gathers the operands of an intersection that combine among each
// other; the rest is pushed to the scratch stack.
type andFlat struct {
	empty, epsilon bool
	class          Expr // intersection of the classes, if any
	loop           Expr // intersection of the repetitions of a class, if any
	not            Expr // union of what is complemented
}

// and returns the intersection. It leaves list alone.
func (s *Store) and(list []Expr) Expr {
	base := len(s.scratch.exprs)
	defer func() { s.scratch.exprs = s.scratch.exprs[:base] }()

	f := andFlat{loop: exprAny}
	if s.flattenAnd(list, &f); f.empty {
		return exprEmpty
	}
	for f.not != exprEmpty {
		not := [1]Expr{s.not(f.not)}
		if s.op(not[0]) == opNot {
			s.scratch.exprs = append(s.scratch.exprs, not[0])
			break
		}
		f.not = exprEmpty
		if s.flattenAnd(not[:], &f); f.empty {
			return exprEmpty
		}
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
	if f.not != exprEmpty && s.coveredBy(set, f.not) {
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

// distribute returns an intersection, one of whose operands is a union, as a
// union of intersections. Where an equation is unfolded again and again, this
// is what keeps unions and intersections from being nested ever deeper.
func (s *Store) distribute(set []Expr, i int) Expr {
	base := len(s.scratch.exprs)
	rest := slices.Delete(slices.Clone(set), i, i+1)
	for j := range s.operands(set[i]) {
		s.scratch.exprs = append(s.scratch.exprs, s.and(append(apart(rest), s.operands(set[i])[j])))
	}
	e := s.or(s.scratch.exprs[base:])
	s.scratch.exprs = s.scratch.exprs[:base]
	return e
}

// coveredBy tells whether some operand of an intersection is, by its shape,
// among the strings of negated.
func (s *Store) coveredBy(set []Expr, negated Expr) bool {
	for _, e := range set {
		if e == negated || s.op(negated) == opOr && slices.Contains(s.operands(negated), e) {
			return true
		}
	}
	return false
}

// absorb removes unions that contain another operand of the intersection.
func (s *Store) absorb(set []Expr) []Expr {
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

// flattenAnd pushes the operands of nested intersections to the scratch stack.
func (s *Store) flattenAnd(list []Expr, f *andFlat) {
	for _, e := range list {
		if f.empty {
			return
		}
		n := s.node(e)
		switch {
		case e == exprEmpty:
			f.empty = true
		case e == exprAny:
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
		case n.op == opRepeat && s.node(Expr(n.a)).op == opClass:
			loop := s.node(f.loop)
			least, most := max(n.least, loop.least), min(n.most, loop.most)
			met := [1]Expr{s.repeat(s.meet(Expr(n.a), Expr(loop.a)), least, most)}
			if f.loop = met[0]; s.op(f.loop) != opRepeat {
				// It came down to one character, to nothing or to none.
				f.loop = exprAny
				s.flattenAnd(met[:], f)
			}
		case n.op == opNot:
			f.not = s.or2(f.not, Expr(n.a))
			f.empty = f.not == exprAny
		default:
			s.scratch.exprs = append(s.scratch.exprs, e)
		}
	}
}

// meet is the intersection of two classes.
func (s *Store) meet(a, b Expr) Expr {
	if a == b || b == exprAll {
		return a
	}
	if a == exprAll {
		return b
	}
	base := len(s.scratch.ranges)
	s.scratch.ranges = appendIntersection(s.scratch.ranges, s.set(a), s.set(b))
	e := s.class(s.scratch.ranges[base:])
	s.scratch.ranges = s.scratch.ranges[:base]
	return e
}

// and2Class is the intersection of a class with any expression: the characters
// of the class that are strings of the expression.
func (s *Store) and2Class(class, e Expr) Expr {
	if e == exprAny || class == exprEmpty {
		return class
	}
	return s.meet2(class, s.singles(e))
}

func (s *Store) meet2(a, b Expr) Expr {
	if b == exprEmpty {
		return b
	}
	return s.meet(a, b)
}

// singles returns the class of the one-character strings of e.
func (s *Store) singles(e Expr) Expr {
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
			s.scratch.ranges = append(s.scratch.ranges, Range{d.lo, d.hi})
		}
	}
	found := join(s.scratch.ranges[base:])
	c := s.class(found)
	s.scratch.ranges = s.scratch.ranges[:base]
	return c
}

// andLoop adds loop, a repetition of a class, to the operands of an
// intersection. A bound on the length is moved to where it disappears; if that
// settles the matter, the result is the second one, which is Any otherwise.
func (s *Store) andLoop(set []Expr, loop Expr) ([]Expr, Expr) {
	if len(set) == 0 {
		return nil, loop
	}
	if n := s.node(loop); Expr(n.a) == exprAll {
		for _, e := range set {
			if l := s.node(e).lengths; l.lo >= n.least && l.hi <= n.most {
				return set, exprAny
			}
		}
		if len(set) == 1 {
			if e, ok := s.lengthInto(set[0], n.least, n.most); ok {
				return nil, e
			}
		}
	}
	return sortSet(append(set, loop)), exprAny
}

// lengthInto intersects a concatenation with a length by bounding the part
// that varies, where that is plain to see.
func (s *Store) lengthInto(e Expr, least, most int32) (Expr, bool) {
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
func (s *Store) not(e Expr) Expr {
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
