package regular

// walk is a best-first search over successors. It estimates the length of a
// shortest rest from below, so that the first result is also the nearest.
type walk struct {
	s      *searches
	steps  int // maximum number of expressions to visit
	visits []visit
	met    map[Expr]int32 // the shortest depth at which each was reached
	queue  []waiting      // a heap
}

// visitWork is the work of a visit.
const visitWork = 8

// visit is an expression that was reached.
type visit struct {
	e     Expr
	from  int32 // index of the visit it was reached from, -1 for the first
	depth int32
}

// waiting is a visit whose successors have not been visited yet.
type waiting struct{ total, depth, visit int32 }

// before orders by total length. Among equals the deepest comes first, so that
// the search goes straight on.
func (a waiting) before(b waiting) bool {
	return a.total < b.total || a.total == b.total && a.depth > b.depth
}

// run visits the expressions reachable from e until stop returns true, and
// returns the index of that visit, or -1 if there is none; done is false if the
// steps did not suffice to decide. Expressions known to be dead are skipped.
func (w *walk) run(e Expr, stop func(Expr) bool) (at int32, done bool) {
	w.met = map[Expr]int32{}
	w.meet(e, -1)
	for len(w.queue) > 0 {
		at := w.pop().visit
		e := w.visits[at].e
		if stop(e) {
			return at, true
		}
		last := exprEmpty
		for _, d := range w.s.derive(e) {
			if d.to != last && w.s.quick(d.to) != dead {
				w.meet(d.to, at)
			}
			last = d.to
		}
		if w.s.spend(visitWork); len(w.visits) > w.steps || w.s.err != nil {
			return -1, false
		}
	}
	return -1, true
}

func (w *walk) meet(e Expr, from int32) {
	depth := int32(0)
	if from >= 0 {
		depth = w.visits[from].depth + 1
	}
	if before, ok := w.met[e]; ok && before <= depth {
		return
	}
	w.met[e] = depth
	w.visits = append(w.visits, visit{e, from, depth})
	rest := w.s.node(e).lengths.lo
	if n := w.s.node(e).shortest; n > 0 {
		rest = n - 1
	}
	w.push(waiting{satAdd(depth, rest), depth, int32(len(w.visits) - 1)})
}

func (w *walk) push(x waiting) {
	w.queue = append(w.queue, x)
	q := w.queue
	for i := len(q) - 1; i > 0; {
		up := (i - 1) / 2
		if !q[i].before(q[up]) {
			break
		}
		q[i], q[up] = q[up], q[i]
		i = up
	}
}

func (w *walk) pop() waiting {
	q := w.queue
	top := q[0]
	n := len(q) - 1
	q[0] = q[n]
	q = q[:n]
	w.queue = q
	for i := 0; ; {
		c := 2*i + 1
		if c >= n {
			return top
		}
		if c+1 < n && q[c+1].before(q[c]) {
			c++
		}
		if !q[c].before(q[i]) {
			return top
		}
		q[i], q[c] = q[c], q[i]
		i = c
	}
}
