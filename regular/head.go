package regular

import (
	"math/bits"

	"github.com/stencil-json/stencil/regular/runes"
)

// Head returns a set and a number such that every string of at most max characters
// of the set leads from q to a live state; max is -1 if there is no bound. The
// result is what the shape of the expression shows cheaply, not the largest such
// set. It is nil, 0 if the shape shows none.
func (m *Machine) Head(q State) (set []runes.Range, max int) {
	if q < 0 {
		return nil, 0
	}
	s := m.store
	m.lock()
	defer s.done()
	h := s.head(m.at(q).expr)
	if s.err != nil || h.class == exprEmpty || h.most <= 0 {
		return nil, 0
	}
	max = int(h.most)
	if h.most == infinite {
		max = -1
	}
	rs := s.set(h.class)
	return runes.AppendScalars(make([]runes.Range, 0, len(rs)+1), rs), max
}

// Room returns the number of characters up to which any text may follow q, and no
// longer one; -1 if there is no bound. ok is false if the text matters, as far as
// the shape of the expression shows.
func (m *Machine) Room(q State) (n int, ok bool) {
	if q < 0 {
		return 0, false
	}
	s := m.store
	m.lock()
	defer s.done()
	e := m.at(q).expr
	if e == exprAny {
		return -1, true
	}
	if !s.isLength(e) {
		return 0, false
	}
	most := s.node(e).most
	if most == infinite {
		return -1, true
	}
	return int(most), true
}

// head is a guarantee: every string of at most most characters of class has a
// continuation.
type head struct {
	class Expr
	most  int32
}

// better returns the more useful of two guarantees.
func (s *searches) better(a, b head) head {
	if s.worth(b) > s.worth(a) {
		return b
	}
	return a
}

// worth estimates how many tokens a guarantee covers: tokens are short, and their
// number grows far more slowly than the number of characters.
func (s *searches) worth(h head) int {
	if h.class == exprEmpty {
		return 0
	}
	return int(min(h.most, 12)) * bits.Len(uint(runes.Size(s.set(h.class))))
}

// head returns a guarantee for a live expression. Results are cached, because the
// tails of expressions are shared and would be visited repeatedly.
func (s *searches) head(e Expr) head {
	if s.op(e) == opClass {
		return head{e, 1}
	}
	h, ok := s.heads[e]
	if !ok {
		h = s.findHead(e)
		if s.heads == nil {
			s.heads = make(map[Expr]head)
		}
		s.heads[e] = h
	}
	return h
}

func (s *searches) findHead(e Expr) head {
	n := s.node(e)
	switch n.op {
	case opRepeat:
		inner := Expr(n.a)
		h := head{s.singles(inner), n.most}
		if s.op(inner) == opClass || !s.isLive(inner) {
			return h
		}
		return s.better(h, s.head(inner))
	case opConcat:
		return s.headConcat(Expr(n.a), Expr(n.b))
	case opOr:
		best := head{}
		for i := range s.operands(e) {
			if x := s.operands(e)[i]; s.isLive(x) {
				best = s.better(best, s.head(x))
			}
		}
		return best
	case opAnd:
		if loop, core := s.splitLength(e); loop != exprAny {
			return s.better(s.looping(e), s.headWithin(core, s.node(loop).most))
		}
	}
	return s.looping(e)
}

// headConcat is head for a concatenation, whose parts are live.
func (s *searches) headConcat(first, rest Expr) head {
	best := s.head(first)
	through := s.is(first, nullable)
	of, _, most := s.counted(first)
	if !through && s.op(of) != opClass {
		return best
	}
	next := s.head(rest)
	if through {
		best = s.better(best, next)
	}
	if next.class != exprEmpty {
		// Characters that both accept: first takes as many as it can, rest the
		// others.
		if both := s.meet2(next.class, s.singles(of)); both != exprEmpty {
			best = s.better(best, head{both, satAdd(most, next.most)})
		}
	}
	return best
}

// looping returns the characters that lead from e to itself or, if there are none,
// those that lead to any live expression.
func (s *searches) looping(e Expr) head {
	base := len(s.scratch.ranges)
	most := int32(infinite)
	for _, d := range s.derive(e) {
		if d.to == e {
			s.scratch.ranges = append(s.scratch.ranges, runes.Range{Lo: d.lo, Hi: d.hi})
		}
	}
	if len(s.scratch.ranges) == base {
		most = 1
		for _, d := range s.derive(e) {
			if s.isLive(d.to) {
				s.scratch.ranges = append(s.scratch.ranges, runes.Range{Lo: d.lo, Hi: d.hi})
			}
		}
	}
	class := s.class(runes.Join(s.scratch.ranges[base:]))
	s.scratch.ranges = s.scratch.ranges[:base]
	return head{class, most}
}

// headWithin is head for core under a bound on the length. It uses only loops
// without a bound of their own: they can be left at once, so that a shortest rest
// still has to fit, and they can be repeated to reach any least length.
func (s *searches) headWithin(core Expr, most int32) head {
	best := head{}
	room := func(e Expr) int32 { return satSub(most, s.shortestLen(e)) }
	if h := s.looping(core); h.most == infinite {
		best = head{h.class, room(core)}
	}
	one := [1]Expr{core}
	list := one[:]
	if s.op(core) == opOr {
		list = s.operands(core)
	}
	for _, e := range list {
		if t := s.term(e); t.most == infinite && s.isLive(e) && s.is(t.of, plain) {
			best = s.better(best, head{s.singles(t.of), room(e)})
		}
	}
	return best
}
