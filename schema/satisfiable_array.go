package schema

import (
	"slices"

	"stencil/schema/logic"
	"stencil/schema/syntax"
)

// An itemSearch looks for items that fulfil literals about one array: it chooses
// a position for each demand that some item fulfils a goal, with backtracking, and
// a length.
type itemSearch struct {
	arrays      *arrays
	seen        int32 // the items read, when items are compared
	least, most int   // items
	last        int   // items from here on are treated alike
	every       []logic.Lit
	atMost      []logic.Lit
	unique      bool
	repeated    bool       // two items have to be equal
	distinct    logic.Goal // what every item has to be for unique
	wants       []itemWant
	placed      map[int]logic.Goal
	counted     map[itemPlace]bool
	tries       int
	into        *logic.Goal // see arrays.possible
}

// An itemWant is a demand that some item at the positions lo to hi fulfils g.
type itemWant struct {
	lo, hi  int
	g       logic.Goal
	counted bool // one item counts once
}

// itemPlace is a position and the goal of a want that has it.
type itemPlace struct {
	i int
	g logic.Goal
}

// maxItemPlacements bounds the positions tried.
const maxItemPlacements = 10000

// possible reports whether some items fulfil all of lits. If into isn't nil and
// two items have to be equal, it only adds to into what an item that was read
// would have to equal.
func (ar *arrays) possible(lits []logic.Lit, seen int32, into *logic.Goal) bool {
	s := &itemSearch{arrays: ar, seen: seen, most: syntax.MaxCount, distinct: logic.Always, into: into,
		placed: map[int]logic.Goal{}, counted: map[itemPlace]bool{}}
	s.read(lits)
	if s.least > s.most || s.unique && s.repeated {
		return false
	}
	if s.unique {
		s.distinct = ar.notSeen(seen)
	}
	return s.place(0)
}

// read sorts the literals.
func (s *itemSearch) read(lits []logic.Lit) {
	var atLeast []logic.Lit
	for _, l := range lits {
		switch l.Kind {
		case logic.MinItems:
			s.least = max(s.least, int(l.A))
		case logic.MaxItems:
			s.most = min(s.most, int(l.A))
		case logic.AllItems:
			s.every = append(s.every, l)
			s.last = max(s.last, int(l.A), int(l.B)+1)
		case logic.SomeItem:
			s.least = max(s.least, int(l.A)+1)
			s.last = max(s.last, int(l.A), int(l.B)+1)
			w := itemWant{lo: int(l.A), hi: int(l.B), g: l.Goal}
			if l.B < 0 {
				w.hi = syntax.MaxCount
			}
			if !slices.Contains(s.wants, w) {
				s.wants = append(s.wants, w)
			}
		case logic.AtLeast:
			atLeast = append(atLeast, l)
			s.least = max(s.least, int(l.A))
		case logic.AtMost:
			s.atMost = append(s.atMost, l)
		case logic.Unique:
			s.unique = true
		case logic.NotUnique:
			s.repeated = true
		}
	}
	for _, l := range atLeast {
		n := int(l.A)
		if n > maxLookahead {
			n = 1 // they are all alike: one decides
		}
		for range n {
			s.wants = append(s.wants, itemWant{hi: syntax.MaxCount, g: l.Goal, counted: true})
		}
	}
}

// demand returns what the item at a position has to fulfil whatever is placed
// there.
func (s *itemSearch) demand(i int) logic.Goal {
	s.arrays.goals.Meter.Step(1 + len(s.every))
	list := []logic.Goal{s.distinct}
	for _, l := range s.every {
		if int(l.A) <= i && (l.B < 0 || i <= int(l.B)) {
			list = append(list, l.Goal)
		}
	}
	return s.arrays.goals.And(list...)
}

// place finds positions for the wants from the k-th on, and a length.
func (s *itemSearch) place(k int) bool {
	ar := s.arrays
	if s.tries++; s.tries > maxItemPlacements || ar.err != nil {
		return false
	}
	if k == len(s.wants) {
		return s.fill()
	}
	w := s.wants[k]
	hi := min(w.hi, s.most-1, max(s.last, s.least, w.lo)+len(s.wants))
	for i := w.lo; i <= hi; i++ {
		old, had := s.placed[i]
		at := itemPlace{i, w.g}
		g := w.g
		if had {
			if w.counted && s.counted[at] {
				continue
			}
			g = ar.goals.And(old, w.g)
		}
		if !ar.sat.satisfiable(ar.goals.And(g, s.demand(i))) {
			continue
		}
		s.placed[i], s.counted[at] = g, true
		if s.place(k + 1) {
			return true
		}
		delete(s.counted, at)
		if had {
			s.placed[i] = old
		} else {
			delete(s.placed, i)
		}
	}
	return false
}

// fill reports whether the array has the values it needs, with everything placed:
// of the least length, no more items that count against a bound than it allows.
func (s *itemSearch) fill() bool {
	ar := s.arrays
	n, filled := s.least, 0
	for i := range s.placed {
		filled = max(filled, i+1)
	}
	n = max(n, filled)
	if n > s.most {
		return false
	}
	counts := make([]int, len(s.atMost))
	check := min(n, max(s.last+len(s.wants)+1, filled))
	used := map[logic.Goal]int{}
	items := make([]logic.Goal, 0, check)
	for i := range check {
		ar.goals.Meter.Step(1)
		g := s.demand(i)
		if p, ok := s.placed[i]; ok {
			g = ar.goals.And(g, p)
		}
		for j, l := range s.atMost {
			if avoid := ar.goals.And(g, ar.goals.Not(l.Goal)); ar.sat.satisfiable(avoid) {
				g = avoid
			} else if counts[j]++; counts[j] > int(l.A) {
				return false
			}
		}
		if s.unique {
			used[g]++
			if used[g] > 1 && ar.count.values(g, used[g]) < used[g] {
				return false
			}
		}
		if !ar.sat.satisfiable(g) {
			return false
		}
		items = append(items, g)
	}
	if s.repeated {
		for i := check; i < check+2 && i < s.most; i++ {
			items = append(items, s.demand(i))
		}
		return ar.repeats(items, s.seen, s.into)
	}
	if s.unique && n > check {
		g := s.demand(check)
		if need := n - check + used[g]; ar.count.values(g, need) < need {
			return false
		}
	}
	return true
}

// repeats reports whether one of the items can equal another, or one that has
// been read.
func (ar *arrays) repeats(items []logic.Goal, seen int32, into *logic.Goal) bool {
	if into != nil {
		for _, g := range items {
			if !ar.sat.satisfiable(g) {
				break
			}
			*into = ar.goals.Or(*into, g)
		}
		return false
	}
	taken := ar.goals.Not(ar.notSeen(seen))
	for j, g := range items {
		if !ar.sat.satisfiable(g) {
			return false
		}
		if ar.sat.satisfiable(ar.goals.And(g, taken)) {
			return true
		}
		ar.goals.Meter.Step(j)
		for _, other := range items[:j] {
			if ar.sat.satisfiable(ar.goals.And(g, other)) {
				return true
			}
		}
	}
	return false
}

// repeatable returns what one of the items that fulfil f can equal, where f
// demands that two are equal.
func (ar *arrays) repeatable(f logic.Form, seen int32) logic.Goal {
	out := logic.Never
	if ar.forms.Mentions(f, logic.NotUnique) {
		steps := ar.opt.Limits.Steps
		ar.forms.Branches(f, &steps, func(lits []logic.Lit) bool {
			ar.possible(lits, seen, &out)
			return ar.err == nil
		})
	}
	return out
}
