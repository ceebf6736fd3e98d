package regular

// isLive reports whether e has any string. The answer is exact. If it needs a
// search, the search is bounded by Limits.Steps and its results are kept.
func (s *searches) isLive(e Expr) bool {
	switch s.quick(e) {
	case live:
		return true
	case dead:
		return false
	}
	n := s.node(e)
	switch n.op {
	case opConcat:
		return s.settle(e, s.isLive(Expr(n.a)) && s.isLive(Expr(n.b)))
	case opRepeat:
		return s.settle(e, s.isLive(Expr(n.a)))
	case opOr:
		for i := range s.operands(e) {
			if s.isLive(s.operands(e)[i]) {
				return s.settle(e, true)
			}
		}
		return s.settle(e, false)
	case opAnd:
		if loop, core := s.splitLength(e); loop != exprAny {
			return s.settle(e, s.lengthMeets(core, loop))
		}
		if s.clash(e) {
			return s.settle(e, false)
		}
	}
	found, _ := s.search(e, s.limits.Steps)
	return found
}

func (s *searches) settle(e Expr, isLive bool) bool {
	if isLive {
		s.node(e).live = live
	} else {
		s.node(e).live = dead
	}
	return isLive
}

// quick answers without a search, from known results and the structure.
func (s *searches) quick(e Expr) liveness {
	n := s.node(e)
	if n.live != unknown {
		return n.live
	}
	switch {
	case n.flags&(plain|nullable) != 0:
		n.live = live
	case n.lengths.exact():
		n.live = live
	case n.op == opNot && s.node(Expr(n.a)).lengths.hi < infinite:
		n.live = live
	}
	return n.live
}

// splitLength separates the bound on the length from an intersection. The bound
// is Any if there is none.
func (s *searches) splitLength(e Expr) (loop, core Expr) {
	ops := s.operands(e)
	for i, x := range ops {
		if s.isLength(x) {
			base := len(s.scratch.exprs)
			s.scratch.exprs = append(append(s.scratch.exprs, ops[:i]...), ops[i+1:]...)
			core = s.and(s.scratch.exprs[base:])
			s.scratch.exprs = s.scratch.exprs[:base]
			return x, core
		}
	}
	return exprAny, e
}

// lengthMeets reports whether core has a string of a length in loop. A search
// over both would have to count through every length, so the core is checked
// alone first.
func (s *searches) lengthMeets(core, loop Expr) bool {
	if !s.isLive(core) {
		return false
	}
	n := s.node(loop)
	shortest := s.shortestLen(core)
	if shortest >= n.least {
		return shortest <= n.most
	}
	// The walk over lengths is exact, so only the search has a budget.
	whole := s.and2(core, loop)
	if s.op(whole) == opAnd {
		if found, done := s.search(whole, lengthSearchSteps); done {
			return found
		}
	} else {
		return s.isLive(whole)
	}
	return s.lengthWalk(core, n.least, n.most)
}

// lengthSearchSteps is the number of steps of a search along one long string
// before the lengths are walked over instead. Successful searches mostly go
// straight and take about one step per character.
const lengthSearchSteps = 4096

// lengthWalk reports whether core has a string of least to most characters. It
// follows the set of expressions reachable in a number of steps, which soon
// repeats.
func (s *searches) lengthWalk(core Expr, least, most int32) bool {
	seen := map[string]int32{}
	at := []Expr{core}
	steps := 0
	var key []byte
	for n := int32(0); n <= most; n++ {
		if n >= least {
			for _, e := range at {
				if s.is(e, nullable) {
					return true
				}
			}
		}
		key = key[:0]
		for _, e := range at {
			key = append(key, byte(e), byte(e>>8), byte(e>>16), byte(e>>24))
		}
		if before, ok := seen[string(key)]; ok {
			if n >= least && before >= least {
				return false // a whole period without an accepted length
			}
			if period := n - before; n < least && least-n >= period {
				n += (least - n) / period * period
				clear(seen)
				n--
				continue
			}
		}
		seen[string(key)] = n
		var next []Expr
		for _, e := range at {
			for _, d := range s.derive(e) {
				next = append(next, d.to)
			}
		}
		s.spend(visitWork * len(next))
		if steps += len(next); steps > s.limits.Steps {
			s.fail("Steps", s.limits.Steps)
			return true
		}
		if at = sortSet(next); len(at) == 0 {
			return false
		}
	}
	return false
}

// search looks for a string of e. If it finds an expression known to be live,
// all expressions on the way to it are live; if it exhausts all expressions,
// those that it visited are dead. If it runs out of steps, done is false; if
// these were all that Limits.Steps allows, the Store fails.
func (s *searches) search(e Expr, steps int) (found, done bool) {
	// Mostly one character leads to an expression that is known to be live.
	for _, d := range s.derive(e) {
		if s.err == nil && s.quick(d.to) == live {
			return s.settle(e, true), true
		}
	}
	w := walk{s: s, steps: steps}
	at, done := w.run(e, func(x Expr) bool { return s.quick(x) == live })
	switch {
	case !done:
		if steps == s.limits.Steps {
			s.fail("Steps", s.limits.Steps)
		}
		return false, false
	case at < 0:
		for _, v := range w.visits {
			s.node(v.e).live = dead
		}
		return false, true
	}
	for i := at; i >= 0; i = w.visits[i].from {
		s.node(w.visits[i].e).live = live
	}
	return true, true
}
