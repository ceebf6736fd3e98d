package gbnf

// A counter holds the number of complete rounds of a loop, without the current
// one; up is the counter of the enclosing loop. Counters are interned: equal
// ones have equal numbers. Number 0 means none.
//
// One counter stands for all counts from lo to hi, so that (a|aa){1,1000} is
// one interval after any number of characters.
type counter struct {
	loop   int32
	lo, hi int32
	up     int32
	// fresh means that the current round has read nothing yet. A round that may
	// be empty must not be counted repeatedly without reading.
	fresh bool
}

// Counts that stand for any number too far from the bounds to matter, see
// counters.loosen.
const (
	farBelow   = -1 // the loop can be continued, but not left
	farBetween = -2 // both
)

// counters is the table of counters of a machine.
type counters struct {
	p     *program
	list  []counter
	index map[counter]int32
}

func newCounters(p *program) counters {
	return counters{p: p, list: []counter{{}}, index: map[counter]int32{}}
}

func (t *counters) intern(c counter) int32 {
	if id, ok := t.index[c]; ok {
		return id
	}
	id := int32(len(t.list))
	t.list = append(t.list, c)
	t.index[c] = id
	return id
}

// enter returns the counter at the start of a loop's first round.
func (t *counters) enter(loop, up int32) int32 {
	return t.intern(counter{loop: loop, up: up, fresh: t.p.cost[t.p.loops[loop].body] == 0})
}

// again returns what may follow a round: with more, another round with counter
// next; with leave, the end of the loop.
func (t *counters) again(id int32) (next int32, more, leave bool) {
	c := t.list[id]
	l := &t.p.loops[c.loop]
	if c.fresh {
		// An empty round changes nothing: the loop could have been left before
		// it.
		return 0, false, false
	}
	c.fresh = t.p.cost[l.body] == 0
	if c.lo < 0 {
		return t.intern(c), true, c.lo == farBetween
	}
	least := t.p.least(l)
	c.lo++
	c.hi++
	leave = c.hi >= least
	if l.max == unbounded {
		c.lo, c.hi = min(c.lo, least), min(c.hi, least)
	} else if c.hi = min(c.hi, l.max-1); c.lo > c.hi {
		return 0, false, leave
	}
	return t.intern(c), true, leave
}

// settle returns the counter after a character has been read.
func (t *counters) settle(id int32) int32 {
	c := t.list[id]
	if id == 0 || !t.anyFresh(id) {
		return id
	}
	c.fresh = false
	c.up = t.settle(c.up)
	return t.intern(c)
}

func (t *counters) anyFresh(id int32) bool {
	for ; id != 0; id = t.list[id].up {
		if t.list[id].fresh {
			return true
		}
	}
	return false
}

// merge returns a counter for the counts of both, if these leave no gap and the
// counters are otherwise equal.
func (t *counters) merge(a, b int32) (int32, bool) {
	if a == b {
		return a, true
	}
	if a == 0 || b == 0 {
		return 0, false
	}
	x, y := t.list[a], t.list[b]
	if x.loop != y.loop || x.up != y.up || x.fresh != y.fresh || x.lo < 0 || y.lo < 0 ||
		x.lo > y.hi+1 || y.lo > x.hi+1 {
		return 0, false
	}
	x.lo, x.hi = min(x.lo, y.lo), max(x.hi, y.hi)
	return t.intern(x), true
}

// loosen returns a counter equivalent to id for texts of at most n characters.
// It is the same for all counts further than that from where the loop may or
// must be left.
func (t *counters) loosen(id int32, n int32) int32 {
	if id == 0 {
		return 0
	}
	c := t.list[id]
	l := &t.p.loops[c.loop]
	c.up = t.loosen(c.up, n)
	if c.lo >= 0 {
		least := t.p.least(l)
		switch {
		case c.hi < least-n:
			c.lo, c.hi = farBelow, farBelow
		case c.lo >= least && l.max != unbounded && c.hi < l.max-n:
			c.lo, c.hi = farBetween, farBetween
		}
	}
	return t.intern(c)
}

// missing returns the number of rounds required after the current one.
func (t *counters) missing(id int32) int64 {
	c := t.list[id]
	return max(0, int64(t.p.least(&t.p.loops[c.loop]))-int64(c.hi)-1)
}
