package regular

import "github.com/stencil-json/stencil/regular/runes"

// Count returns the number of strings accepted from q, or limit if there are at
// least that many.
func (m *Machine) Count(q State, limit int) int {
	if q < 0 || limit <= 0 {
		return 0
	}
	s := m.store
	m.lock()
	defer s.done()
	n := s.count(m.at(q).expr, limit)
	if s.err != nil && s.asker == nil {
		m.fail(s.err)
	}
	return n
}

// count walks the automaton level by level. The strings read so far are all
// different and each has a completion, so the walk stops once there are enough.
func (s *searches) count(e Expr, limit int) int {
	if n := s.node(e); n.flags&plain != 0 && n.lengths.hi == infinite {
		return limit
	}
	level := map[Expr]int{e: 1}
	total, steps := 0, 0
	for len(level) > 0 {
		ahead := map[Expr]int{}
		pending := 0
		for x, n := range level {
			if s.is(x, nullable) {
				total += n
			}
			for _, d := range s.derive(x) {
				if !s.isLive(d.to) {
					continue
				}
				width := [1]runes.Range{{Lo: d.lo, Hi: d.hi}}
				more := min(limit, n*min(limit, runes.Size(width[:])))
				ahead[d.to] = min(limit, ahead[d.to]+more)
				pending = min(limit, pending+more)
			}
			s.spend(visitWork)
			if steps++; steps > s.limits.Steps || s.err != nil {
				s.fail("Steps", s.limits.Steps)
				return limit
			}
		}
		if total+pending >= limit {
			return limit
		}
		level = ahead
	}
	return total
}
