package schema

import (
	"slices"

	"stencil/schema/jsondoc"
	"stencil/schema/syntax"
)

// arrState is where an array stands between two items.
type arrState struct {
	f       form  // demands on the items to come, counted from here
	seen    int32 // with unique items: list of the items read
	pending bool  // an item was read that is not in seen; only while masks are computed
}

// seenItem is a list of values.
type seenItem struct {
	parent int32
	g      goal // the value as a goal
}

type arrayTable struct {
	states    []arrState
	index     map[arrState]int32
	seen      []seenItem
	seenIndex map[seenItem]int32
	moves     map[int32][]move
	sound     map[form]bool
	unique    map[form]bool
}

func (t *arrayTable) init() {
	*t = arrayTable{index: map[arrState]int32{}, seen: []seenItem{{-1, never}}, seenIndex: map[seenItem]int32{},
		moves: map[int32][]move{}, sound: map[form]bool{}, unique: map[form]bool{}}
}

// arrayKeywords adds the demands of the array keywords of n.
func (s *source) arrayKeywords(n *syntax.Node, scope int32, list []int32) []int32 {
	k := n.Array
	add := func(l lit) { list = append(list, int32(s.forms.lit(l))) }
	for i, x := range k.Prefix {
		add(lit{kind: litAllItems, a: int32(i), b: int32(i), g: s.sub(x, scope)})
	}
	if k.Items != nil {
		add(lit{kind: litAllItems, a: int32(len(k.Prefix)), b: -1, g: s.sub(k.Items, scope)})
	}
	add(lit{kind: litMinItems, a: int32(k.Min)})
	if k.Max != syntax.NoMax {
		add(lit{kind: litMaxItems, a: int32(k.Max)})
	}
	if k.Contains != nil {
		g := s.sub(k.Contains, scope)
		add(lit{kind: litAtLeast, a: int32(k.MinContains), g: g})
		if k.MaxContains != syntax.NoMax {
			add(lit{kind: litAtMost, a: int32(k.MaxContains), g: g})
		}
	}
	if k.Unique {
		add(lit{kind: litUnique})
	}
	return list
}

// isUnique reports whether f may depend on items being equal.
func (s *source) isUnique(f form) bool {
	u, ok := s.arrays.unique[f]
	if !ok {
		u = s.mentions(f, litUnique) || s.mentions(f, litNotUnique)
		s.arrays.unique[f] = u
	}
	return u
}

// mentions reports whether a literal of a kind is in f.
func (s *source) mentions(f form, kind litKind) bool {
	info := &s.forms.info[f]
	return info.op == opLit && info.lit.kind == kind ||
		slices.ContainsFunc(info.kids, func(k form) bool { return s.mentions(k, kind) })
}

// allDiffer reports whether f demands that all items are different.
func (s *source) allDiffer(f form) bool {
	return slices.ContainsFunc(s.forms.conjuncts(f), func(k form) bool {
		info := &s.forms.info[k]
		return info.op == opLit && info.lit.kind == litUnique
	})
}

// arrayStart returns the state of an array that has to fulfil g, or -1.
func (s *source) arrayStart(g goal) int32 {
	f := form(s.view(g, jArray))
	if !s.arraySound(f, 0) {
		return -1
	}
	return s.internArray(arrState{f: f})
}

func (s *source) arrayProductive(f form) bool { return s.arraySound(f, 0) }

func (s *source) internArray(x arrState) int32 {
	t := &s.arrays
	if i, ok := t.index[x]; ok {
		return i
	}
	i := int32(len(t.states))
	t.states = append(t.states, x)
	t.index[x] = i
	return i
}

// itemProgress returns what f becomes by one more item.
func (s *source) itemProgress(f form, distinct goal) []progressed {
	info := &s.forms.info[f]
	switch info.op {
	case opNo:
		return nil
	case opYes:
		return []progressed{{always, yes}}
	case opLit:
		l := info.lit
		shift := func() form {
			if l.a > 0 {
				l.a--
			}
			if l.b > 0 {
				l.b--
			}
			return s.forms.lit(l)
		}
		switch l.kind {
		case litAllItems:
			if l.a > 0 {
				return []progressed{{always, shift()}}
			}
			g := l.g
			if l.b == 0 {
				return []progressed{{g, yes}}
			}
			return []progressed{{g, shift()}}
		case litSomeItem:
			if l.a > 0 {
				return []progressed{{always, shift()}}
			}
			g := l.g
			if l.b == 0 {
				return []progressed{{g, yes}}
			}
			return s.merge([]progressed{{g, yes}, {always, shift()}})
		case litUnique:
			return []progressed{{distinct, f}}
		case litNotUnique:
			return s.merge([]progressed{{s.goals.negate(distinct), yes}, {distinct, f}})
		case litMinItems, litMaxItems:
			l.a--
			if next := s.forms.lit(l); next != no {
				return []progressed{{always, next}}
			}
			return nil
		case litAtLeast:
			one := l
			one.a--
			return s.merge([]progressed{{l.g, s.forms.lit(one)}, {always, f}})
		case litAtMost:
			one := l
			one.a--
			out := []progressed{{s.goals.negate(l.g), f}}
			if next := s.forms.lit(one); next != no {
				out = append(out, progressed{l.g, next})
			}
			return s.merge(out)
		}
		return []progressed{{always, f}}
	case opAnd:
		out := []progressed{{always, yes}}
		for _, k := range info.kids {
			if out = s.both(out, s.itemProgress(k, distinct)); len(out) == 0 {
				return nil
			}
		}
		return out
	}
	var out []progressed
	for _, k := range info.kids {
		out = append(out, s.itemProgress(k, distinct)...)
	}
	return s.partition(s.merge(out))
}

// notSeen returns the goal of differing from all items of a list.
func (s *source) notSeen(seen int32) goal {
	var list []goal
	for ; seen != 0; seen = s.arrays.seen[seen].parent {
		list = append(list, s.goals.negate(s.arrays.seen[seen].g))
	}
	return s.goals.and(list...)
}

// itemMoves returns the ways to go on with one more item.
func (s *source) itemMoves(state int32) []move {
	if m, ok := s.arrays.moves[state]; ok {
		return m
	}
	x := s.arrays.states[state]
	distinct := always
	if s.isUnique(x.f) {
		distinct = s.notSeen(x.seen)
	}
	var out []move
	for _, p := range s.itemProgress(x.f, distinct) {
		if !s.isProductive(p.g) {
			continue
		}
		if !s.arraySound(p.f, x.seen) {
			// An item to come may have to equal this one.
			if p.g = s.goals.and(p.g, s.repeatable(p.f, x.seen)); !s.isProductive(p.g) {
				continue
			}
		}
		y := arrState{f: p.f}
		if s.isUnique(p.f) {
			y.seen, y.pending = x.seen, x.pending
		}
		out = append(out, move{p.g, s.internArray(y)})
	}
	s.arrays.moves[state] = out
	return out
}

// manyItems is a number of items that no document uses up.
const manyItems = 1000

// What there are so many of, whatever they begin with, that one of them being
// taken makes no beginning impossible. Zero: of nothing.
const (
	manyStrings = 1 << iota
	manyArrays
	manyObjects
)

// plenty says what there is plenty of among the items that may come next.
func (s *source) plenty(state int32) int32 {
	if len(s.itemMoves(state)) == 0 || s.mentions(s.arrays.states[state].f, litNotUnique) {
		return 0
	}
	var out int32
	for _, p := range s.itemProgress(s.arrays.states[state].f, always) {
		if s.view(p.g, jString) == int32(s.lang.Any) {
			out |= manyStrings
		}
		if st := s.arrayStart(p.g); st >= 0 && s.countArray(st, manyItems) == manyItems {
			out |= manyArrays
		}
		if st := s.objectStart(p.g); st >= 0 && s.countObject(st, manyItems) == manyItems {
			out |= manyObjects
		}
	}
	return out
}

// doubtful reports whether values that begin with byte b, of an item that may
// come where there is plenty, may all be taken.
func doubtful(b byte, plenty int32) bool {
	switch b {
	case '"':
		return plenty&manyStrings == 0
	case '[':
		return plenty&manyArrays == 0
	case '{':
		return plenty&manyObjects == 0
	}
	return true
}

// withItem returns the state with a further value read; ok is false when
// the rest can't be fulfilled any more.
func (s *source) withItem(state int32, v *jsondoc.Value) (next int32, ok bool) {
	t := &s.arrays
	x := t.states[state]
	item := seenItem{x.seen, s.goals.constant(v)}
	i, known := t.seenIndex[item]
	if !known {
		i = int32(len(t.seen))
		t.seen = append(t.seen, item)
		t.seenIndex[item] = i
	}
	x.seen = i
	if !s.arraySound(x.f, x.seen) {
		return 0, false
	}
	return s.internArray(x), true
}

// maxLookahead bounds how far an array is played through to see whether it
// can be completed. Beyond it demands don't differ from item to item.
const maxLookahead = 4096

// arraySound reports whether items can complete an array that has to fulfil
// f, given the items read when they have to be different.
func (s *source) arraySound(f form, seen int32) bool {
	if f == no {
		return false
	}
	if s.final(f) {
		return true
	}
	unique := s.isUnique(f)
	if !unique {
		if ok, known := s.arrays.sound[f]; known {
			return ok
		}
	}
	before, reentries := s.assumed, s.reentries
	steps := s.opt.Limits.Steps
	ok := false
	if !s.forms.branches(f, &steps, func(lits []lit) bool {
		ok = s.itemsPossible(lits, seen, nil)
		return !ok && s.err == nil
	}) && !ok {
		s.limit("steps", s.opt.Limits.Steps)
	}
	if !unique && s.reentries == reentries && (ok || s.assumed == before) {
		s.arrays.sound[f] = ok
	}
	return ok
}

// itemsPossible reports whether an array can get items that fulfil all of
// lits. It chooses a length and, for each demand for some item, a place. If into
// isn't nil and two items have to be equal, it only adds there what an item read
// before would have to equal.
func (s *source) itemsPossible(lits []lit, seen int32, into *goal) bool {
	least, most := 0, syntax.MaxCount
	var every, some, atLeast, atMost []lit
	unique, repeated := false, false
	last := 0 // items from here on are treated alike
	for _, l := range lits {
		switch l.kind {
		case litMinItems:
			least = max(least, int(l.a))
		case litMaxItems:
			most = min(most, int(l.a))
		case litAllItems:
			every = append(every, l)
			last = max(last, int(l.a), int(l.b)+1)
		case litSomeItem:
			some = append(some, l)
			least = max(least, int(l.a)+1)
			last = max(last, int(l.a), int(l.b)+1)
		case litAtLeast:
			atLeast = append(atLeast, l)
			least = max(least, int(l.a))
		case litAtMost:
			atMost = append(atMost, l)
		case litUnique:
			unique = true
		case litNotUnique:
			repeated = true
		}
	}
	if least > most || unique && repeated {
		return false
	}
	distinct := always
	if unique {
		distinct = s.notSeen(seen)
	}
	demand := func(i int) goal {
		list := []goal{distinct}
		for _, l := range every {
			if int(l.a) <= i && (l.b < 0 || i <= int(l.b)) {
				list = append(list, l.g)
			}
		}
		return s.goals.and(list...)
	}
	// Demands for some items: place each, trying positions in turn.
	type want struct {
		lo, hi  int // positions
		g       goal
		counted bool // one item counts once
	}
	var wants []want
	for _, l := range some {
		hi := int(l.b)
		if hi < 0 {
			hi = syntax.MaxCount
		}
		if w := (want{int(l.a), hi, l.g, false}); !slices.Contains(wants, w) {
			wants = append(wants, w)
		}
	}
	for _, l := range atLeast {
		n := int(l.a)
		if n > maxLookahead {
			n = 1 // they are all alike: one decides
		}
		for range n {
			wants = append(wants, want{0, syntax.MaxCount, l.g, true})
		}
	}
	placed := map[int]goal{}
	taken := map[[2]int]bool{} // position and goal of counted demands
	tries := 0
	possible := func() bool {
		n, filled := least, 0
		for i := range placed {
			filled = max(filled, i+1)
		}
		n = max(n, filled)
		if n > most {
			return false
		}
		counts := make([]int, len(atMost))
		check := min(n, max(last+len(wants)+1, filled))
		used := map[goal]int{}
		items := make([]goal, 0, check)
		for i := range check {
			g := demand(i)
			if p, ok := placed[i]; ok {
				g = s.goals.and(g, p)
			}
			for j, l := range atMost {
				if avoid := s.goals.and(g, s.goals.negate(l.g)); s.isProductive(avoid) {
					g = avoid
				} else if counts[j]++; counts[j] > int(l.a) {
					return false
				}
			}
			if unique {
				used[g]++
				if used[g] > 1 && s.countValues(g, used[g]) < used[g] {
					return false
				}
			}
			if !s.isProductive(g) {
				return false
			}
			items = append(items, g)
		}
		if repeated {
			for i := check; i < check+2 && i < most; i++ {
				items = append(items, demand(i))
			}
			return s.repeats(items, seen, into)
		}
		if unique && n > check {
			g := demand(check)
			if need := n - check + used[g]; s.countValues(g, need) < need {
				return false
			}
		}
		return true
	}
	var place func(k int) bool
	place = func(k int) bool {
		if tries++; tries > 10000 || s.err != nil {
			return false
		}
		if k == len(wants) {
			return possible()
		}
		w := wants[k]
		hi := min(w.hi, most-1, max(last, least, w.lo)+len(wants))
		for i := w.lo; i <= hi; i++ {
			old, had := placed[i]
			g := w.g
			if had {
				if w.counted && taken[[2]int{i, int(w.g)}] {
					continue
				}
				g = s.goals.and(old, w.g)
			}
			if !s.isProductive(s.goals.and(g, demand(i))) {
				continue
			}
			placed[i], taken[[2]int{i, int(w.g)}] = g, true
			if place(k + 1) {
				return true
			}
			delete(taken, [2]int{i, int(w.g)})
			if had {
				placed[i] = old
			} else {
				delete(placed, i)
			}
		}
		return false
	}
	return place(0)
}

// repeats reports whether one of the items can equal another, or one that has
// been read.
func (s *source) repeats(items []goal, seen int32, into *goal) bool {
	if into != nil {
		for _, g := range items {
			if !s.isProductive(g) {
				break
			}
			*into = s.goals.or(*into, g)
		}
		return false
	}
	taken := s.goals.negate(s.notSeen(seen))
	for j, g := range items {
		if !s.isProductive(g) {
			return false
		}
		if s.isProductive(s.goals.and(g, taken)) {
			return true
		}
		for _, other := range items[:j] {
			if s.isProductive(s.goals.and(g, other)) {
				return true
			}
		}
	}
	return false
}

// repeatable returns what one of the items that fulfil f can equal, where f
// demands that two are equal.
func (s *source) repeatable(f form, seen int32) goal {
	out := never
	if s.mentions(f, litNotUnique) {
		steps := s.opt.Limits.Steps
		s.forms.branches(f, &steps, func(lits []lit) bool {
			s.itemsPossible(lits, seen, &out)
			return s.err == nil
		})
	}
	return out
}
