package schema

import "github.com/stencil-json/stencil/schema/logic"

// counts counts the values of goals.
type counts struct {
	*base
	views   *views
	numbers *numbers
	texts   *texts
	keys    *keyAutomaton
	objects *objects
	arrays  *arrays

	known    logic.Memo[logic.Goal, valueCount]
	counting logic.Memo[logic.Goal, bool]
}

func newCounts(b *base, vs *views, nums *numbers, ts *texts, keys *keyAutomaton, obj *objects, arr *arrays) *counts {
	return &counts{base: b, views: vs, numbers: nums, texts: ts, keys: keys, objects: obj, arrays: arr}
}

// values returns the number of different values that fulfil g, or limit if
// there are at least as many. If counting takes too long, it returns limit too.
func (cn *counts) values(g logic.Goal, limit int) int {
	if g == logic.Always || cn.counting[g] {
		// The value can contain another one for the same goal: there are
		// infinitely many.
		return limit
	}
	if n, ok := cn.known[g]; ok && (n.n < n.limit || n.limit >= limit) {
		return min(n.n, limit)
	}
	cn.counting.Put(g, true)
	n := 0
	for sc := cn.views.of(g, jScalar); sc != 0; sc &= sc - 1 {
		n++
	}
	if m := cn.texts.of(g); m >= 0 && n < limit {
		n += cn.texts.machines[m].Count(cn.texts.machines[m].Start(), limit-n)
	}
	if n < limit {
		for _, a := range cn.numbers.automataOf(logic.Form(cn.views.of(g, jNumber))) {
			n += a.Count(limit - n)
			if n >= limit {
				break
			}
		}
	}
	if n < limit {
		if st := cn.arrays.start(g); st >= 0 {
			n += cn.array(st, limit-n)
		}
	}
	if n < limit {
		if st := cn.objects.start(g); st >= 0 {
			n += cn.object(st, limit-n)
		}
	}
	delete(cn.counting, g)
	n = min(n, limit)
	cn.known.Put(g, valueCount{n, limit})
	return n
}

// valueCount is a number of values, at most limit.
type valueCount struct{ n, limit int }

// maxCounted is the number of states after which counting the values of an
// array or object stops with limit.
const maxCounted = 500

// counter counts the ways to complete an array or an object.
type counter struct {
	counts *counts
	steps  int
	known  map[countKey]int
}

// countKey is a state, and the index of the next item or of the first name that
// may still come.
type countKey struct{ state, from int32 }

func (cn *counts) array(state int32, limit int) int {
	c := &counter{counts: cn, steps: maxCounted, known: map[countKey]int{}}
	return c.array(state, 0, limit)
}

func (cn *counts) object(state int32, limit int) int {
	c := &counter{counts: cn, steps: maxCounted, known: map[countKey]int{}}
	return c.object(state, 0, limit)
}

// visit returns what is known about at; begin reports whether it has to be
// counted. A state that leads back to itself counts as limit.
func (c *counter) visit(at countKey, limit int) (n int, begin bool) {
	if n, ok := c.known[at]; ok {
		if n < 0 {
			n = limit
		}
		return min(n, limit), false
	}
	c.counts.goals.Meter.Step(4)
	if c.steps--; c.steps < 0 {
		return limit, false
	}
	c.known[at] = -1
	return 0, true
}

// array counts the ways to complete an array of which n items have been read.
func (c *counter) array(state, n int32, limit int) int {
	s := c.counts
	unique := s.forms.AllDiffer(s.arrays.states[state].f)
	at := countKey{state: state}
	if unique {
		at.from = n
	}
	total, begin := c.visit(at, limit)
	if !begin {
		return total
	}
	if s.forms.Final(s.arrays.states[state].f) {
		total++
	}
	if s.forms.Mentions(s.arrays.states[state].f, logic.NotUnique) {
		total = limit
	}
	for _, m := range s.arrays.itemMoves(state) {
		values := s.values(m.g, limit)
		if unique && values < limit {
			values = max(0, values-int(n))
		}
		if values > 0 && total < limit {
			total += product(values, c.array(m.next, n+1, limit), limit)
		}
	}
	total = min(total, limit)
	c.known[at] = total
	return total
}

// object counts the sets of members that complete an object, with names from
// the given index on.
func (c *counter) object(state, from int32, limit int) int {
	s := c.counts
	at := countKey{state, from}
	total, begin := c.visit(at, limit)
	if !begin {
		return total
	}
	x := s.objects.states.Keys[state]
	uni := s.keys.universes[x.uni]
	if s.objects.canClose(&x) {
		total++
	}
	for _, matching := range s.keys.freeClasses(uni) {
		if s.objects.allowedFree(state, matching) {
			total = limit
		}
	}
	for i := from; int(i) < len(uni.names) && total < limit; i++ {
		if !s.objects.allowedName(state, i) {
			continue
		}
		for _, m := range s.objects.enter(state, i, 0) {
			if values := s.values(m.g, limit); values > 0 && total < limit {
				total += product(values, c.object(m.next, i+1, limit), limit)
			}
		}
	}
	total = min(total, limit)
	c.known[at] = total
	return total
}

func product(a, b, limit int) int {
	if b > 0 && a > limit/b {
		return limit
	}
	return min(a*b, limit)
}
