package regular

import (
	"slices"

	"github.com/stencil-json/stencil/regular/runes"
)

// Or returns the strings of any of the expressions.
func (s *Store) Or(list ...Expr) Expr {
	s.lock()
	defer s.done()
	return s.orFactored(list)
}

// And returns the strings that are in all of the expressions.
func (s *Store) And(list ...Expr) Expr {
	s.lock()
	defer s.done()
	return s.and(list)
}

// Not returns the strings that are not in e.
func (s *Store) Not(e Expr) Expr {
	s.lock()
	defer s.done()
	return s.not(e)
}

// pairwise is the number of operands up to which each is compared with each;
// with more, only simplifications found by sorting are made.
const pairwise = 32

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

// apart ensures that appending to a slice of the scratch stack copies it.
func apart(list []Expr) []Expr { return list[:len(list):len(list)] }

// or2 is or for two expressions.
func (s *algebra) or2(a, b Expr) Expr {
	if a == b || b == exprEmpty {
		return a
	}
	if a == exprEmpty {
		return b
	}
	pair := [2]Expr{a, b}
	return s.or(pair[:])
}

// or returns the union. It does not modify list.
func (s *algebra) or(list []Expr) Expr {
	base := len(s.scratch.exprs)
	defer func() { s.scratch.exprs = s.scratch.exprs[:base] }()

	f := orFlat{classes: len(s.scratch.classes), nots: len(s.scratch.nots)}
	if s.flattenOr(list, &f); f.any {
		s.drop(&f)
		return exprAny
	}
	class, not := s.combined(&f)
	if not == exprAny {
		return exprAny
	}
	if class != exprEmpty {
		s.scratch.exprs = append(s.scratch.exprs, class)
	}
	if not != exprEmpty {
		if slices.Contains(s.scratch.exprs[base:], Expr(s.node(not).a)) {
			return exprAny
		}
		s.scratch.exprs = append(s.scratch.exprs, not)
	}
	if !s.spend(len(s.scratch.exprs) - base) {
		return exprEmpty
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

// orFlat collects the operands of a union. Classes and complements (without
// their opNot) are combined with each other and have their own stacks.
type orFlat struct {
	any, epsilon  bool
	classes, nots int // start of its own on the stacks of these names
}

// combined returns the union of the classes and that of the complements, which
// is empty, Any or an opNot. It pushes any further results.
func (s *algebra) combined(f *orFlat) (class, not Expr) {
	for len(s.scratch.nots) > f.nots {
		// The union of complements is the complement of the intersection.
		not = s.not(s.and(s.scratch.nots[f.nots:]))
		s.scratch.nots = s.scratch.nots[:f.nots]
		if not == exprAny {
			s.drop(f)
			return exprEmpty, exprAny
		}
		if not == exprEmpty || s.op(not) == opNot {
			break
		}
		other := not
		not = exprEmpty
		if s.gatherOr(other, f); f.any {
			s.drop(f)
			return exprEmpty, exprAny
		}
	}
	classes := s.scratch.classes[f.classes:]
	s.scratch.classes = s.scratch.classes[:f.classes]
	switch len(classes) {
	case 0:
		return exprEmpty, not
	case 1:
		return classes[0], not
	}
	base := len(s.scratch.ranges)
	for _, e := range classes {
		s.scratch.ranges = append(s.scratch.ranges, s.set(e)...)
	}
	class = s.class(runes.Normalise(s.scratch.ranges[base:]))
	s.scratch.ranges = s.scratch.ranges[:base]
	return class, not
}

// drop removes the collected operands from the stacks.
func (s *algebra) drop(f *orFlat) {
	s.scratch.classes, s.scratch.nots = s.scratch.classes[:f.classes], s.scratch.nots[:f.nots]
}

// flattenOr collects operands, including those of nested unions. It may stop
// once the union is known to be Any.
func (s *algebra) flattenOr(list []Expr, f *orFlat) {
	for _, e := range list {
		s.gatherOr(e, f)
	}
}

func (s *algebra) gatherOr(e Expr, f *orFlat) {
	n := s.node(e)
	switch {
	case f.any, e == exprEmpty:
	case e == exprEpsilon:
		f.epsilon = true
	case e == exprAny:
		f.any = true
	case n.op == opOr:
		s.flattenOr(s.operands(e), f)
	case n.op == opRepeat && n.least == 0 && n.most == 1:
		f.epsilon = true
		s.gatherOr(Expr(n.a), f)
	case n.op == opClass:
		s.scratch.classes = append(s.scratch.classes, e)
	case n.op == opNot:
		s.scratch.nots = append(s.scratch.nots, Expr(n.a))
	default:
		s.scratch.exprs = append(s.scratch.exprs, e)
	}
}

// term is an operand of a union in the form of{least,most} tail.
type term struct {
	of, tail    Expr
	least, most int32
}

func (s *shapes) term(e Expr) term {
	t := term{tail: exprEpsilon}
	if n := s.node(e); n.op == opConcat {
		e, t.tail = Expr(n.a), Expr(n.b)
	}
	t.of, t.least, t.most = s.counted(e)
	return t
}

func (s *shapes) untermed(t term) Expr {
	return s.concat(s.repeat(t.of, t.least, t.most), t.tail)
}

// mergeOr simplifies the operands of a union: it removes operands that another
// contains by its shape, and joins overlapping counts of the same loop. Its
// argument and its result are sorted sets.
func (s *algebra) mergeOr(set []Expr) []Expr {
	for len(set) > 1 && len(set) <= pairwise {
		i, j, e := s.mergeable(set)
		if i < 0 {
			break
		}
		set[min(i, j)] = e
		set = s.flat(slices.Delete(set, max(i, j), max(i, j)+1))
	}
	return set
}

// mergeable finds two operands of a union that one expression can replace. The
// first index is -1 if there are none.
func (s *algebra) mergeable(set []Expr) (i, j int, e Expr) {
	var buffer [pairwise]term
	terms := buffer[:len(set)]
	loops := false
	for i, a := range set {
		n := s.node(a)
		terms[i] = s.term(a)
		loops = loops || terms[i].least != 1 || terms[i].most != 1
		switch {
		case n.op == opConcat:
			if j, e := s.mergeTail(set, a, Expr(n.a), Expr(n.b)); j >= 0 {
				return i, j, e
			}
		case n.op == opAnd:
			for j, b := range set {
				if i != j && s.within(a, b) {
					return i, j, b
				}
			}
		case s.isLength(a):
			for j, b := range set {
				if l := s.node(b).lengths; i != j && l.lo >= n.least && l.hi <= n.most {
					return i, j, a
				}
			}
		}
	}
	if !loops {
		return -1, 0, 0
	}
	for i, x := range terms {
		if x.least == 1 && x.most == 1 {
			continue
		}
		for j, y := range terms {
			if i == j || x.of != y.of || x.tail != y.tail {
				continue
			}
			if int64(x.least) <= int64(y.most)+1 && int64(y.least) <= int64(x.most)+1 {
				x.least, x.most = min(x.least, y.least), max(x.most, y.most)
				return i, j, s.untermed(x)
			}
		}
	}
	return -1, 0, 0
}

// mergeTail finds an operand b of a union that, for the operand a = head·tail,
// equals tail or, if head is nullable, is contained in it.
func (s *algebra) mergeTail(set []Expr, a, head, tail Expr) (j int, e Expr) {
	through := s.is(head, nullable)
	if j, ok := slices.BinarySearch(set, tail); ok {
		if through {
			return j, a
		}
		return j, s.concat(s.maybe(head), tail)
	}
	if through && s.op(tail) == opOr {
		for _, x := range s.operands(tail) {
			if j, ok := slices.BinarySearch(set, x); ok {
				return j, a
			}
		}
	}
	return -1, 0
}

// flat restores the normal form of the operands of a union after some were
// replaced.
func (s *algebra) flat(set []Expr) []Expr {
	for i := 0; i < len(set); i++ {
		for s.op(set[i]) == opOr {
			ops := s.operands(set[i])
			set[i] = ops[0]
			set = append(set, ops[1:]...)
		}
	}
	return sortSet(set)
}

// within reports whether the shape of intersection a shows that it is contained
// in b: each operand of b contains one of a.
func (s *algebra) within(a, b Expr) bool {
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

// excludesMore reports whether a and b are complements whose shapes show that a
// excludes everything that b excludes.
func (s *algebra) excludesMore(a, b Expr) bool {
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

// orFactored is or for alternatives as written: it factors out common heads,
// which turns a list of words into a trie. Unions of successors are not
// factored, because that looks far ahead: tails that are shared in memory would
// be united repeatedly.
func (s *algebra) orFactored(list []Expr) Expr {
	budget := factorBudget
	return s.factor(list, &budget)
}

// factorBudget bounds the alternatives compared for common heads.
const factorBudget = 1 << 14

func (s *algebra) factor(list []Expr, budget *int) Expr {
	if *budget -= len(list); *budget < 0 || len(list) < 2 {
		return s.or(list)
	}
	f := orFlat{classes: len(s.scratch.classes), nots: len(s.scratch.nots)}
	base := len(s.scratch.exprs)
	defer func() { s.scratch.exprs = s.scratch.exprs[:base] }()
	if s.flattenOr(list, &f); f.any {
		s.drop(&f)
		return exprAny
	}
	set := apart(s.scratch.exprs[base:])
	whole := len(set)
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
	class, not := s.combined(&f)
	return s.or(append(append(out, class, not), s.scratch.exprs[base+whole:]...))
}
