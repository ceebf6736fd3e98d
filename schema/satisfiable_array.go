package schema

import (
	"encoding/binary"
	"slices"

	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/syntax"
)

// An itemSearch searches for items that fulfil literals about one array: it chooses,
// with backtracking, a position for each demand that some item fulfils a goal, and a
// length.
type itemSearch struct {
	arrays      *arrays
	seen        int32 // the items already read, if items are compared
	least, most int   // number of items
	last        int   // items from this position on are treated alike
	every       []logic.Lit
	leading     []logic.Goal // goals of the first items, in addition
	list        int32        // the item list that leading was read from, if it is a single one
	atMost      []logic.Lit
	unique      bool
	repeated    bool       // two items have to be equal
	distinct    logic.Goal // what every item has to be for unique: different from the items read
	atLeast     []logic.Lit
	wants       []itemWant
	placed      map[int]logic.Goal
	counted     map[itemPlace]bool
	tries       int
	into        *logic.Goal // see arrays.possible
}

// An itemWant is the demand that some item at the positions lo to hi fulfils g.
type itemWant struct {
	lo, hi  int
	g       logic.Goal
	counted bool // one item may serve only one such want
}

// itemPlace is a position and the goal of a want placed there.
type itemPlace struct {
	i int
	g logic.Goal
}

// maxItemPlacements bounds the number of positions tried.
const maxItemPlacements = 10000

// possible reports whether some items fulfil all of lits. If into isn't nil and two
// items have to be equal, it only adds to into the goals that an item already read
// could fulfil to equal one of them.
func (ar *arrays) possible(lits []logic.Lit, seen int32, into *logic.Goal) bool {
	s, ok := ar.search(lits, seen)
	if !ok {
		return false
	}
	if _, size, known := s.arrange(nil); known {
		return size < noValue
	}
	s.into, s.placed, s.counted = into, map[int]logic.Goal{}, map[itemPlace]bool{}
	return s.place(0)
}

// search reads literals about one array. It reports false if obviously no items fulfil
// them.
func (ar *arrays) search(lits []logic.Lit, seen int32) (*itemSearch, bool) {
	s := &itemSearch{arrays: ar, seen: seen, most: syntax.MaxCount, distinct: logic.Always}
	s.read(lits)
	if s.unique {
		s.distinct = ar.notSeen(seen)
	}
	return s, s.least <= s.most && !(s.unique && s.repeated)
}

// read sorts the literals by kind.
func (s *itemSearch) read(lits []logic.Lit) {
	for _, l := range lits {
		switch l.Kind {
		case logic.MinItems:
			s.least = max(s.least, int(l.A))
		case logic.MaxItems:
			s.most = min(s.most, int(l.A))
		case logic.AllItems:
			s.every = append(s.every, l)
			s.last = max(s.last, int(l.A), int(l.B)+1)
		case logic.Leading:
			s.lead(l.A)
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
			s.atLeast = append(s.atLeast, l)
			s.least = max(s.least, int(l.A))
		case logic.AtMost:
			s.atMost = append(s.atMost, l)
		case logic.Unique:
			s.unique = true
		case logic.NotUnique:
			s.repeated = true
		}
	}
	for _, l := range s.atLeast {
		n := int(l.A)
		if n > maxLookahead {
			n = 1 // the wants are all alike: one decides
		}
		for range n {
			s.wants = append(s.wants, itemWant{hi: syntax.MaxCount, g: l.Goal, counted: true})
		}
	}
}

// lead adds an item list.
func (s *itemSearch) lead(list int32) {
	if s.list = list; len(s.leading) > 0 {
		s.list = 0 // leading combines several lists
	}
	for i := 0; list != 0; i++ {
		var g logic.Goal
		if g, list = s.arrays.forms.First(list); i < len(s.leading) {
			s.leading[i] = s.arrays.goals.And(s.leading[i], g)
		} else {
			s.leading = append(s.leading, g)
		}
	}
	s.last = max(s.last, len(s.leading))
}

// demand returns what the item at a position has to fulfil regardless of the wants
// placed there.
func (s *itemSearch) demand(i int) logic.Goal {
	s.arrays.goals.Meter.Step(1 + len(s.every))
	list := append(make([]logic.Goal, 0, 8), s.distinct)
	if i < len(s.leading) {
		list = append(list, s.leading[i])
	}
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

// fill reports whether the array of the least length has the values that it needs once
// all wants are placed, without exceeding the upper bounds of counted items.
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
	begin := 0
	if s.list != 0 && !s.unique && !s.repeated && len(s.placed) == 0 && len(s.atMost) == 0 && !slices.ContainsFunc(s.every, func(l logic.Lit) bool { return int(l.A) < len(s.leading) }) {
		begin = min(check, len(s.leading))
		if ar.attainable(s.list) < begin {
			return false
		}
	}
	for i := begin; i < check; i++ {
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

// attainable returns how many leading items can fulfil an item list.
func (ar *arrays) attainable(list int32) int {
	if n, ok := ar.attained[list]; ok {
		return n
	}
	var lists []int32 // the suffixes of list whose result is unknown
	n, since := 0, ar.guesses
	for at := list; at != 0; {
		if known, ok := ar.attained[at]; ok {
			n = known
			break
		}
		lists = append(lists, at)
		first, rest := ar.forms.First(at)
		ar.goals.Meter.Step(1)
		if !ar.sat.satisfiable(first) {
			n = -1
			break
		}
		at = rest
	}
	firm := ar.firm(since, n >= 0)
	for _, at := range slices.Backward(lists) {
		if n++; firm {
			ar.attained.Put(at, n)
		}
	}
	return n
}

// repeats reports whether one of the items can equal another, or an item already read.
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

// repeatable returns what an item could be that equals one of the items that fulfil f,
// if f demands that two items are equal.
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

// An itemCount is a demand on how many of the items at positions lo to hi fulfil g.
type itemCount struct {
	lo, hi     int
	g          logic.Goal
	need, most int
}

// An itemKind is a kind of item: its goal, the counts it adds to, and its size.
type itemKind struct {
	g    logic.Goal
	adds uint64
	size int
}

// arrangement finds the items of an array by the counts that they add to, not item by
// item: the positions of equal items don't matter.
type arrangement struct {
	search *itemSearch
	size   func(logic.Goal) int // of a value, without a comma; nil if sizes don't matter
	counts []itemCount
	tail   int          // position from which all items are alike, or none is needed
	kinds  [][]itemKind // by position up to tail
	least  []int        // by count: the size of the smallest kind that adds to it, with a comma
	shared []uint64     // by count: size of the smallest kind that adds to it, with a comma
	capped uint64       // by count: the counts that any kind adds to together with it
	any    int          // the size of the smallest kind, with a comma
}

// maxKinds bounds the kinds at one position, maxArranged the partial arrangements
// visited.
const (
	maxKinds    = 512
	maxArranged = 1 << 16
)

// arrange returns the goals of the items with the least total size or, without sizes,
// only whether items exist; known is false if there are too many possibilities.
func (s *itemSearch) arrange(size func(logic.Goal) int) (items []logic.Goal, total int, known bool) {
	a := &arrangement{search: s, size: size, any: syntax.MaxCount}
	for _, w := range s.wants {
		if !w.counted {
			a.count(itemCount{w.lo, w.hi, w.g, 1, syntax.MaxCount})
		}
	}
	for _, l := range s.atLeast {
		a.count(itemCount{0, syntax.MaxCount, l.Goal, int(l.A), syntax.MaxCount})
	}
	for _, l := range s.atMost {
		a.count(itemCount{0, syntax.MaxCount, l.Goal, 0, int(l.A)})
	}
	if len(a.counts) > 64 || s.last > 256 || s.repeated {
		return nil, 0, false
	}
	a.least, a.shared = make([]int, len(a.counts)), make([]uint64, len(a.counts))
	for j, c := range a.counts {
		a.least[j] = syntax.MaxCount
		if c.most < syntax.MaxCount {
			a.capped |= 1 << j
		}
	}
	a.tail = s.last
	if len(a.counts) == 0 {
		a.tail = min(s.last, s.least)
	}
	for n := range a.tail + 1 {
		if !a.kindsAt(n) {
			return nil, 0, false
		}
	}
	return a.cheapest()
}

// count adds a demand. It is merged with one for the same items, if any.
func (a *arrangement) count(c itemCount) {
	for j := range a.counts {
		if old := &a.counts[j]; old.lo == c.lo && old.hi == c.hi && old.g == c.g {
			old.need, old.most = max(old.need, c.need), min(old.most, c.most)
			return
		}
	}
	a.counts = append(a.counts, c)
}

// kindsAt lists the kinds of items at a position. It reports false if there are too
// many.
func (a *arrangement) kindsAt(n int) bool {
	s, ar := a.search, a.search.arrays
	var kinds []itemKind
	var split func(j int, k itemKind) bool
	split = func(j int, k itemKind) bool {
		if j == len(a.counts) {
			if a.size != nil {
				k.size = a.size(k.g)
			}
			if k.size < noValue {
				kinds = append(kinds, k)
			}
			return len(kinds) <= maxKinds
		}
		c := a.counts[j]
		if n < c.lo || n > c.hi {
			return split(j+1, k)
		}
		in, out := k, k
		in.adds |= 1 << j
		// Decisions that aren't needed are left open: an item counts as fulfilling c if
		// it may.
		if c.need > 0 || s.unique {
			in.g = ar.goals.And(k.g, c.g)
		}
		if c.most < syntax.MaxCount || s.unique {
			out.g = ar.goals.And(k.g, ar.goals.Not(c.g))
		}
		for _, x := range []itemKind{in, out} {
			if (x.g == k.g || ar.sat.satisfiable(x.g)) && !split(j+1, x) {
				return false
			}
		}
		return true
	}
	d := s.demand(n)
	if !ar.sat.satisfiable(d) {
		a.kinds = append(a.kinds, nil)
		return true
	}
	if !split(0, itemKind{g: d}) {
		return false
	}
	slices.SortStableFunc(kinds, func(x, y itemKind) int { return x.size - y.size })
	for _, k := range kinds {
		a.any = min(a.any, k.size+1)
		for j := range a.counts {
			if k.adds>>j&1 != 0 {
				a.least[j] = min(a.least[j], k.size+1)
				a.shared[j] |= k.adds
			}
		}
	}
	a.kinds = append(a.kinds, kinds)
	return true
}

// partialArray is an array of which a prefix of items is chosen.
type partialArray struct {
	n       int   // number of items
	kind    int   // index of the last kind at the tail; earlier kinds can't come any more
	run     int   // number of items of that kind
	counted []int // by count
	size    int
	bound   int // lower bound of the size of any array with this prefix
	last    logic.Goal
	up      *partialArray
}

// bounds sets p.bound. It reports false if p can't be completed.
func (a *arrangement) bounds(p *partialArray) bool {
	s := a.search
	rest, items := 0, 0
	var apart uint64 // counts of which no kind adds to two
	for j, c := range a.counts {
		if p.counted[j] > c.most {
			return false
		}
		need := c.need - p.counted[j]
		if need <= 0 {
			continue
		}
		if c.hi < p.n || a.least[j] >= noValue || need > c.hi-max(c.lo, p.n)+1 || need > s.most-p.n {
			return false
		}
		if a.shared[j]&apart == 0 {
			apart |= 1 << j
			rest, items = rest+need*a.least[j], items+need
		} else {
			rest, items = max(rest, need*a.least[j]), max(items, need)
		}
	}
	if missing := s.least - p.n; missing > items {
		rest, items = rest+(missing-items)*a.any, missing
	}
	if items > s.most-p.n || items > 0 && a.any >= noValue {
		return false
	}
	p.bound = min(p.size+rest, noValue)
	return true
}

// cheapest returns the smallest array, by best-first search.
func (a *arrangement) cheapest() (items []logic.Goal, total int, known bool) {
	s, m := a.search, a.search.arrays.goals.Meter
	start := &partialArray{counted: make([]int, len(a.counts))}
	if !a.bounds(start) {
		return nil, noValue, true
	}
	// Of arrays with the same bound, the longest comes first.
	queue := logic.NewQueue(func(x, y *partialArray) bool { return x.bound < y.bound || x.bound == y.bound && x.n > y.n })
	queue.Push(start)
	seen := map[string]bool{}
	for steps := 0; queue.Len() > 0; steps++ {
		if steps > maxArranged+s.least {
			return nil, 0, false
		}
		p := queue.Pop()
		m.Step(1 + len(a.counts))
		if !a.lacks(p) && (p.n >= s.least || a.fills(p)) {
			if a.size == nil {
				return nil, 0, true
			}
			for ; p.n < s.least; p = a.fill(p) {
			}
			for ; p.up != nil; p = p.up {
				items = append(items, p.last)
			}
			slices.Reverse(items)
			return items, a.sizeOf(items), true
		}
		key := a.key(p)
		if seen[key] {
			continue
		}
		seen[key] = true
		at := min(p.n, a.tail)
		for i, k := range a.kinds[at] {
			if at == a.tail && i < p.kind {
				continue
			}
			if p.n >= s.least && at == a.tail && !a.useful(p, k) {
				continue
			}
			next := &partialArray{n: p.n + 1, size: p.size + k.size + 1, last: k.g, up: p, counted: slices.Clone(p.counted)}
			if at == a.tail {
				next.kind, next.run = i, 1
				if i == p.kind {
					next.run = p.run + 1
				}
			}
			for j := range next.counted {
				if k.adds>>j&1 != 0 {
					next.counted[j]++
				}
			}
			if s.unique && !a.differs(next) {
				continue
			}
			m.Step(1 + len(a.counts))
			if a.bounds(next) {
				queue.Push(next)
			}
		}
	}
	return nil, noValue, true
}

func (a *arrangement) sizeOf(items []logic.Goal) int {
	total := 0
	for _, g := range items {
		total += a.size(g) + 1
	}
	return total
}

// lacks reports whether a demand is unfulfilled.
func (a *arrangement) lacks(p *partialArray) bool {
	for j, c := range a.counts {
		if p.counted[j] < c.need {
			return true
		}
	}
	return false
}

// fills reports whether items of the smallest kind can fill p to the least length.
func (a *arrangement) fills(p *partialArray) bool {
	if p.n < a.tail || len(a.kinds[a.tail]) == 0 || a.kinds[a.tail][0].adds&a.capped != 0 {
		return false
	}
	g, n := a.kinds[a.tail][0].g, a.search.least-p.n
	for x := p; x.up != nil; x = x.up {
		if x.last == g {
			n++
		}
	}
	return !a.search.unique || a.search.arrays.count.values(g, n) >= n
}

func (a *arrangement) fill(p *partialArray) *partialArray {
	return &partialArray{n: p.n + 1, last: a.kinds[a.tail][0].g, up: p}
}

// useful reports whether an item of a kind reduces an unfulfilled demand of p.
func (a *arrangement) useful(p *partialArray, k itemKind) bool {
	for j, c := range a.counts {
		if k.adds>>j&1 != 0 && p.counted[j] < c.need {
			return true
		}
	}
	return false
}

// differs reports whether there are at least as many values as p has items of its last
// kind.
func (a *arrangement) differs(p *partialArray) bool {
	n := 0
	for x := p; x.up != nil; x = x.up {
		if x.last == p.last {
			n++
		}
	}
	return n < 2 || a.search.arrays.count.values(p.last, n) >= n
}

// key identifies what determines the possible continuations of p.
func (a *arrangement) key(p *partialArray) string {
	b := make([]byte, 0, 8+2*len(p.counted))
	b = binary.AppendUvarint(b, uint64(p.n))
	b = binary.AppendUvarint(b, uint64(p.kind))
	if a.search.unique {
		b = binary.AppendUvarint(b, uint64(p.run))
	}
	for j, n := range p.counted {
		if c := a.counts[j]; c.most == syntax.MaxCount {
			n = min(n, c.need)
		}
		b = binary.AppendUvarint(b, uint64(n))
	}
	return string(b)
}
