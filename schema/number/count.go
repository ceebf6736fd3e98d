package number

// Count returns the number of different values that the automaton accepts, or
// limit if there are at least that many or counting takes too much work.
func (a *Automaton) Count(limit int) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin()
	defer a.tooMuch(func(*LimitError) { n = limit })
	if a.sides[0].zero || a.sides[1].zero {
		n = 1
	}
	for i := range a.sides {
		if s := &a.sides[i]; n >= limit {
			break
		} else if a.listed {
			n += len(s.values)
		} else if s.some {
			n += a.countSide(s, i == 1, limit-n)
		}
	}
	return min(n, limit)
}

// countSide counts the values of a side, up to limit.
func (a *Automaton) countSide(s *side, negative bool, limit int) int {
	stepping := a.grid != nil && a.grid.stepping
	if !a.any {
		return a.countCanonical(s, negative, limit)
	}
	switch {
	case s.high == nil:
		return limit
	case stepping:
		low := newBound(a.grid.unit, false)
		if s.low != nil {
			low = s.low
		}
		return a.countBetween(low, s.high, a.grid, s, negative, limit)
	case s.low != nil && s.low.decimal().Cmp(s.high.decimal()) == 0:
		return 1 // s.some implies that it exists
	}
	return limit
}

// countCanonical counts the values of a side that have a canonical spelling:
// those of one decade are multiples of the last place that can be written.
func (a *Automaton) countCanonical(s *side, negative bool, limit int) int {
	from, to := 1, s.whole
	if a.fractions {
		from = -s.zeros
	}
	if a.scientific {
		from, to = min(from, s.expMin+1), max(to, s.expMax+1)
	}
	if s.high != nil {
		to = min(to, s.high.place)
	}
	if s.low != nil {
		from = max(from, s.low.place)
	}
	n := 0
	for place := to; place >= from && n < limit; place-- {
		low := &bound{digits: "1", place: place}
		high := &bound{digits: "1", place: place + 1, open: true}
		if s.low != nil && s.low.place == place {
			low = s.low
		}
		if s.high != nil && s.high.place == place {
			high = s.high
		}
		last := Decimal{digits: "1", pos: place - a.digits + 1}
		if !a.fractions {
			last.pos = max(last.pos, 1)
		}
		steps := []Decimal{last}
		if a.grid != nil && a.grid.stepping {
			steps = append(steps, a.grid.unit)
		}
		g, err := newGrid(&Spec{MultipleOf: steps}, a.limits, &a.work)
		if err != nil {
			return n // no number of this decade can be written
		}
		n += a.countBetween(low, high, g, s, negative, limit-n)
	}
	return n
}

// countBetween counts the suitable values among the multiples of g's step
// within bounds, up to limit.
func (a *Automaton) countBetween(low, high *bound, g *grid, s *side, negative bool, limit int) int {
	first := g.round(low.decimal(), true, low.open)
	last := g.round(high.decimal(), false, high.open)
	if first.Cmp(last) > 0 {
		return 0
	}
	k, end := g.multiple(first), g.multiple(last)
	if a.grid == nil || len(a.grid.divisorList()) == 1 {
		// All are suitable except the listed ones.
		end.Sub(end, k)
		end.Add(end, bigOne)
		if !end.IsInt64() || end.Int64() > int64(limit)+int64(len(s.values)) {
			return limit
		}
		n := int(end.Int64())
		a.work.spend(len(s.values))
		for _, v := range s.values {
			if v.Cmp(first) >= 0 && v.Cmp(last) <= 0 && v.IsMultipleOf(g.unit) {
				n--
			}
		}
		return min(n, limit)
	}
	n := 0
	for ; k.Cmp(end) <= 0 && n < limit; k.Add(k, bigOne) {
		v := g.times(k)
		if a.work.spend(a.spec.weight(v)); a.contains(signed(v, negative)) {
			n++
		}
	}
	return n
}
