package regular

// isLive tells whether e has any string. It is exact; where only a search can
// tell, the search is bounded by Limits.Steps and its findings are kept.
func (s *Store) isLive(e Expr) bool {
	switch s.quick(e) {
	case live:
		return true
	case dead:
		return false
	}
	n := s.nodes[e]
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
	}
	found, _ := s.search(e, s.limits.Steps)
	return found
}

func (s *Store) settle(e Expr, isLive bool) bool {
	if isLive {
		s.nodes[e].live = live
	} else {
		s.nodes[e].live = dead
	}
	return isLive
}

// quick answers from what is known or plain to see.
func (s *Store) quick(e Expr) liveness {
	n := &s.nodes[e]
	if n.live != unknown {
		return n.live
	}
	switch {
	case n.flags&(plain|nullable) != 0:
		n.live = live
	case n.op == opNot && s.nodes[n.a].lengths.hi < infinite:
		n.live = live
	case n.op == opAnd && n.b == 2 && s.promised(e):
		n.live = live
	}
	return n.live
}

// promised tells whether an intersection of a length with one expression is
// live because the expression is known to have strings of such a length.
func (s *Store) promised(e Expr) bool {
	ops := s.operands(e)
	for i, x := range ops {
		n := &s.nodes[x]
		if n.op != opRepeat || Expr(n.a) != exprAll {
			continue
		}
		l := s.nodes[ops[1-i]].lengths
		if l.exact() && l.inLo <= n.most && l.inHi >= n.least {
			return true
		}
	}
	return false
}

// splitLength takes the bound on the length out of an intersection. The bound
// is Any if there is none.
func (s *Store) splitLength(e Expr) (loop, core Expr) {
	ops := s.operands(e)
	for i, x := range ops {
		if n := &s.nodes[x]; n.op == opRepeat && Expr(n.a) == exprAll {
			base := len(s.scratch.exprs)
			s.scratch.exprs = append(append(s.scratch.exprs, ops[:i]...), ops[i+1:]...)
			core = s.and(s.scratch.exprs[base:])
			s.scratch.exprs = s.scratch.exprs[:base]
			return x, core
		}
	}
	return exprAny, e
}

// lengthMeets tells whether core has a string of a length in loop. A search
// over both would have to count its way through every length, so the core is
// looked at alone first.
func (s *Store) lengthMeets(core, loop Expr) bool {
	if !s.isLive(core) {
		return false
	}
	n := s.nodes[loop]
	shortest := s.shortestLen(core)
	if shortest >= n.least {
		return shortest <= n.most
	}
	// The walk over lengths is exact, so that a budget is only for the search.
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

// lengthSearchSteps is what a search along one long string is allowed before
// the lengths are walked over instead. Searches that succeed mostly go straight
// and need about one step a character.
const lengthSearchSteps = 4096

// lengthWalk tells whether core has a string of least to most characters. It
// follows the set of expressions reachable in a number of steps, which comes
// back to a set it has been in before long.
func (s *Store) lengthWalk(core Expr, least, most int32) bool {
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

// visit is an expression met by a search.
type visit struct {
	e     Expr
	from  int32 // index of the visit it was reached from, -1 for the first
	by    rune  // character that led here
	depth int32
}

// frontier is a priority queue of visits: least total length first, then the
// deepest, so that among equals the search goes straight on.
type frontier struct {
	items []frontierItem
}

type frontierItem struct {
	total, depth int32
	visit        int32
}

func (f *frontier) before(i, j int) bool {
	a, b := f.items[i], f.items[j]
	return a.total < b.total || a.total == b.total && a.depth > b.depth
}

func (f *frontier) push(it frontierItem) {
	f.items = append(f.items, it)
	for i := len(f.items) - 1; i > 0; {
		up := (i - 1) / 2
		if !f.before(i, up) {
			break
		}
		f.items[i], f.items[up] = f.items[up], f.items[i]
		i = up
	}
}

func (f *frontier) pop() frontierItem {
	top := f.items[0]
	n := len(f.items) - 1
	f.items[0] = f.items[n]
	f.items = f.items[:n]
	for i := 0; ; {
		c := 2*i + 1
		if c >= n {
			return top
		}
		if c+1 < n && f.before(c+1, c) {
			c++
		}
		if !f.before(c, i) {
			return top
		}
		f.items[i], f.items[c] = f.items[c], f.items[i]
		i = c
	}
}

// search looks for a string of e. If it finds an expression that is known to
// be live, all on the way to it are; if it runs out of expressions, all it met
// are dead; if it runs out of steps, the Store fails and, to be safe, done is
// false.
func (s *Store) search(e Expr, steps int) (found, done bool) {
	w := walk{s: s, met: map[Expr]int32{}}
	w.meet(e, -1, 0)
	for len(w.queue.items) > 0 {
		at := w.queue.pop().visit
		v := w.visits[at]
		if s.quick(v.e) == live {
			for i := at; i >= 0; i = w.visits[i].from {
				s.nodes[w.visits[i].e].live = live
			}
			return true, true
		}
		for _, d := range s.derive(v.e) {
			if s.quick(d.to) != dead {
				w.meet(d.to, at, d.lo)
			}
		}
		if len(w.visits) > steps || s.err != nil {
			if steps == s.limits.Steps {
				s.fail("Steps", s.limits.Steps)
			}
			return false, false
		}
	}
	for _, v := range w.visits {
		s.nodes[v.e].live = dead
	}
	return false, true
}

// walk is the state of a best-first search over successors.
type walk struct {
	s      *Store
	visits []visit
	met    map[Expr]int32 // shortest depth each was met at
	queue  frontier
}

func (w *walk) meet(e Expr, from int32, by rune) {
	depth := int32(0)
	if from >= 0 {
		depth = w.visits[from].depth + 1
	}
	if before, ok := w.met[e]; ok && before <= depth {
		return
	}
	w.met[e] = depth
	w.visits = append(w.visits, visit{e, from, by, depth})
	w.queue.push(frontierItem{satAdd(depth, w.s.nodes[e].lengths.lo), depth, int32(len(w.visits) - 1)})
}
