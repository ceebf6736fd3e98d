package schema

import (
	"math/bits"
	"slices"
	"sort"

	"stencil/regular"
)

// A family is what all states of one object have in common: the property
// names and patterns that any of them can ask about.
type family struct {
	names  []int32 // name ids, in the order in which they are to be written
	index  map[int32]int32
	sorted []int32 // indices into names, by the bytes of the name
	pats   []int32
	finite uint64   // patterns whose strings are all in names
	bits   []uint64 // by name: the patterns that match it; nil until needed
	words  int      // length of a set of names
	start  int32    // key state before the first character
	reach  map[int32][]uint64
}

// A static is the part of an object's demands that no member discharges or
// changes, compiled for look-up by name.
type static struct {
	fam      int32
	f        form
	every    [][]goal // by name: goals for the member, if there is one
	some     [][]goal // by name: goals for the member, which there has to be
	required []uint64
	general  []lit // litAllKeys over other sets than one name
	goals    []goal
	known    []bool // goals[i] is valid
	free     map[uint64]goal
	sound    int8 // whether all required members can exist: 0 unknown, 1, -1
}

// objState is where an object stands between two members.
type objState struct {
	fam, static int32
	dyn         form  // demands that members discharge or change
	used        int32 // set of names read; unused when the order is fixed
	free        int32 // list of other keys read
	last        int32 // with a fixed order: names up to here are past
	pending     bool  // a key was read that is not known; only while masks are computed
}

// move is one way to go on after a key: what the value has to fulfil, and
// the state after it.
type move struct {
	g    goal
	next int32
}

type moveKey struct {
	state int32
	class int64 // name index, or -1-bits of matching patterns
}

type objectTable struct {
	families   []*family
	famIndex   map[string]int32
	famOf      map[goal]int32
	statics    []*static
	staticOf   map[[2]int32]int32
	states     []objState
	stateOf    map[objState]int32
	usedSets   [][]uint64
	usedIndex  map[string]int32
	usedNext   map[usedStep]int32
	freeLists  []freeKey
	freeIndex  map[freeKey]int32
	moves      map[moveKey][]move
	soundness  map[objState]bool
	allowed    map[int32]allowance // by state
	more       map[int32]int8      // by state: whether another member may follow, 1 or -1
	relevance  map[[2]int32]*relevance
	freeOK     map[moveKey]bool
	initial    map[goal]int32
	keyStates  []keyState
	keyIndex   map[keyState]int32
	keyRows    []*[128]int32
	vectors    [][]int32
	vecIndex   map[string]int32
	firstKeys  map[int32]int32
	othersLeft map[int32]bool // by key state

	takenLists [][]int32
	takenIndex map[string]int32
	takenOf    map[int32]int32 // by list of free keys
}

// usedStep is a name added to a set of names that is words long.
type usedStep struct {
	used, name int32
	words      int
}

// freeKey is a list of keys that the schema doesn't name.
type freeKey struct{ parent, name int32 }

func (t *objectTable) init() {
	*t = objectTable{
		famIndex: map[string]int32{}, famOf: map[goal]int32{}, staticOf: map[[2]int32]int32{},
		stateOf: map[objState]int32{}, usedSets: [][]uint64{nil}, usedIndex: map[string]int32{"": 0},
		usedNext: map[usedStep]int32{}, freeLists: []freeKey{{-1, -1}}, freeIndex: map[freeKey]int32{},
		moves: map[moveKey][]move{}, soundness: map[objState]bool{}, allowed: map[int32]allowance{}, more: map[int32]int8{}, relevance: map[[2]int32]*relevance{},
		freeOK: map[moveKey]bool{}, initial: map[goal]int32{}, keyIndex: map[keyState]int32{},
		vectors: [][]int32{nil}, vecIndex: map[string]int32{"": 0}, firstKeys: map[int32]int32{}, othersLeft: map[int32]bool{},
		takenLists: [][]int32{nil}, takenIndex: map[string]int32{}, takenOf: map[int32]int32{},
	}
}

// objectKeywords adds the demands of the object keywords of n.
func (s *source) objectKeywords(n *node, scope int32, list []int32) []int32 {
	k := n.obj
	add := func(f form) { list = append(list, int32(f)) }
	all := func(set int32, g goal) { add(s.forms.lit(lit{kind: litAllKeys, a: set, g: g})) }
	var names, pats []int32
	for _, p := range k.properties {
		id := s.nameID(p.name)
		names = append(names, id)
		all(s.oneName(id), s.sub(p.node, scope))
	}
	for _, p := range k.patterns {
		e, err := s.lang.pattern(p.name)
		if err != nil {
			continue
		}
		id := s.patternID(e)
		pats = append(pats, id)
		all(s.keySet(false, nil, []int32{id}), s.sub(p.node, scope))
	}
	if k.additional != nil {
		all(s.keySet(true, names, pats), s.sub(k.additional, scope))
	}
	if k.names != nil {
		e := s.view(s.sub(k.names, scope), jString)
		if e == int32(s.lang.empty) {
			add(s.forms.lit(lit{kind: litMaxProps}))
		} else if e != int32(s.lang.any) {
			all(s.keySet(true, nil, []int32{s.patternID(exprOf(e))}), never)
		}
	}
	for _, r := range k.required {
		add(s.hasKey(r))
	}
	add(s.forms.lit(lit{kind: litMinProps, a: int32(k.min)}))
	if k.max != noMax {
		add(s.forms.lit(lit{kind: litMaxProps, a: int32(k.max)}))
	}
	for _, d := range k.depRequired {
		parts := []form{}
		for _, r := range d.required {
			parts = append(parts, s.hasKey(r))
		}
		add(s.forms.or(s.lacksKey(d.name), s.forms.and(parts...)))
	}
	for _, d := range k.depSchemas {
		add(s.forms.or(s.lacksKey(d.name), form(s.view(s.sub(d.node, scope), jObject))))
	}
	return list
}

func (s *source) hasKey(name string) form {
	return s.forms.lit(lit{kind: litSomeKey, a: s.oneName(s.nameID(name)), g: always})
}

func (s *source) lacksKey(name string) form {
	return s.forms.lit(lit{kind: litAllKeys, a: s.oneName(s.nameID(name)), g: never})
}

// propertyOrder lists the names that g mentions in the order in which the
// document does.
func (s *source) propertyOrder(g goal) []int32 {
	if o, ok := s.orders[g]; ok {
		return o
	}
	s.orders[g] = nil // ends recursion
	var list []int32
	add := func(ids ...int32) {
		for _, id := range ids {
			if !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	switch info := s.goals.info[g]; info.kind {
	case goalAnd, goalOr:
		for _, x := range info.list {
			add(s.propertyOrder(x)...)
		}
	case goalConst, goalNotConst:
		for _, m := range info.val.members {
			add(s.nameID(m.key))
		}
	case goalNotNode:
		add(s.propertyOrder(s.goals.negate(g))...)
	case goalNode:
		n := info.node
		own := func() {
			if n.obj != nil {
				for _, p := range n.obj.properties {
					add(s.nameID(p.name))
				}
			}
		}
		if n.obj == nil || n.obj.orderedBefore {
			own()
		}
		sub := func(x *node) {
			if x != nil {
				add(s.propertyOrder(s.sub(x, info.scope))...)
			}
		}
		if a := n.apply; a != nil {
			if a.ref != nil {
				sub(a.ref.target)
			}
			if a.dynamic != nil {
				sub(a.dynamic.target)
			}
			for _, list := range [][]*node{a.allOf, a.anyOf, a.oneOf} {
				for _, x := range list {
					sub(x)
				}
			}
			sub(a.when)
			sub(a.then)
			sub(a.otherwise)
		}
		own()
		for _, v := range append([]*value{n.constant}, n.enum...) {
			if v != nil {
				for _, m := range v.members {
					add(s.nameID(m.key))
				}
			}
		}
		if n.obj != nil {
			for _, d := range n.obj.depSchemas {
				sub(d.node)
			}
		}
	}
	s.orders[g] = list
	return list
}

// mentioned collects the names and patterns in f.
func (s *source) mentioned(f form, seen map[form]bool, names map[int32]bool, pats map[int32]bool) {
	if seen[f] {
		return
	}
	seen[f] = true
	info := &s.forms.info[f]
	switch info.op {
	case opLit:
		if k := info.lit.kind; k == litAllKeys || k == litSomeKey {
			set := &s.sets[info.lit.a]
			for _, x := range set.names {
				names[x] = true
			}
			for _, p := range set.patterns {
				pats[p] = true
			}
		}
	case opAnd, opOr:
		for _, k := range info.kids {
			s.mentioned(k, seen, names, pats)
		}
	}
}

// maxPatterns is how many patterns for keys one object may have: a class of
// keys is a word of 64 bits.
const maxPatterns = 64

func (s *source) family(g goal, f form) int32 {
	t := &s.objects
	nameSet, patSet := map[int32]bool{}, map[int32]bool{}
	s.mentioned(f, map[form]bool{}, nameSet, patSet)
	fam := &family{index: map[int32]int32{}}
	for p := range patSet {
		fam.pats = append(fam.pats, p)
	}
	slices.Sort(fam.pats)
	if len(fam.pats) > maxPatterns {
		s.limit("patterns for keys in one object", maxPatterns)
		fam.pats = fam.pats[:maxPatterns]
	}
	for _, id := range s.propertyOrder(g) {
		if nameSet[id] {
			fam.names = append(fam.names, id)
			delete(nameSet, id)
		}
	}
	rest := make([]int32, 0, len(nameSet))
	for id := range nameSet {
		rest = append(rest, id)
	}
	slices.Sort(rest)
	fam.names = append(fam.names, rest...)
	for i, id := range fam.names {
		fam.index[id] = int32(i)
	}
	for i, p := range fam.pats {
		if list, ok := s.finite(p); ok {
			fam.finite |= 1 << i
			for _, text := range list {
				id := s.nameID(text)
				if _, ok := fam.index[id]; !ok {
					fam.index[id] = int32(len(fam.names))
					fam.names = append(fam.names, id)
				}
			}
		}
	}
	key := keyOf(append(append([]int32{int32(len(fam.names))}, fam.names...), fam.pats...)...)
	if i, ok := t.famIndex[key]; ok {
		return i
	}
	fam.words = (len(fam.names) + 63) / 64
	fam.sorted = make([]int32, len(fam.names))
	for i := range fam.sorted {
		fam.sorted[i] = int32(i)
	}
	sort.Slice(fam.sorted, func(i, j int) bool {
		return s.names[fam.names[fam.sorted[i]]] < s.names[fam.names[fam.sorted[j]]]
	})
	fam.reach = map[int32][]uint64{}
	id := int32(len(t.families))
	t.families = append(t.families, fam)
	t.famIndex[key] = id
	fam.start = s.keyStart(id)
	return id
}

// nameBits returns the patterns of the family that match name i.
func (s *source) nameBits(fam *family, i int32) uint64 {
	if len(fam.pats) == 0 {
		return 0
	}
	if fam.bits == nil {
		fam.bits = make([]uint64, len(fam.names))
		for j, id := range fam.names {
			for k, p := range fam.pats {
				if s.matches(p, s.names[id]) {
					fam.bits[j] |= 1 << k
				}
			}
		}
	}
	return fam.bits[i]
}

// member reports whether the key of a class is in set. A class is a name's
// index, or -1 and the patterns that match.
func (s *source) member(set *keySet, fam *family, name int32, matching uint64) bool {
	in := false
	if name >= 0 {
		_, in = slices.BinarySearch(set.names, fam.names[name])
	}
	for _, p := range set.patterns {
		if in {
			break
		}
		if i, ok := slices.BinarySearch(fam.pats, p); ok && matching>>i&1 != 0 {
			in = true
		}
	}
	return in != set.others
}

// plain reports whether a demand can be part of a static.
func (s *source) plain(f form) bool {
	info := &s.forms.info[f]
	if info.op != opLit {
		return false
	}
	if info.lit.kind == litAllKeys {
		return true
	}
	if info.lit.kind == litSomeKey {
		_, ok := s.sets[info.lit.a].single()
		return ok
	}
	return false
}

// split divides a formula into what is static and the rest.
func (s *source) split(f form) (plain []form, dyn form) {
	var rest []form
	for _, x := range s.forms.conjuncts(f) {
		if s.plain(x) {
			plain = append(plain, x)
		} else {
			rest = append(rest, x)
		}
	}
	return plain, s.forms.and(rest...)
}

func (s *source) static(fam int32, f form) int32 {
	t := &s.objects
	key := [2]int32{fam, int32(f)}
	if i, ok := t.staticOf[key]; ok {
		return i
	}
	fm := t.families[fam]
	n := len(fm.names)
	st := &static{
		fam: fam, f: f, every: make([][]goal, n), some: make([][]goal, n),
		required: make([]uint64, fm.words), goals: make([]goal, n), known: make([]bool, n), free: map[uint64]goal{},
	}
	for _, x := range s.forms.conjuncts(f) {
		l := s.forms.info[x].lit
		name, one := s.sets[l.a].single()
		switch {
		case !one:
			st.general = append(st.general, l)
		case l.kind == litAllKeys:
			i := fm.index[name]
			st.every[i] = append(st.every[i], l.g)
		default:
			i := fm.index[name]
			st.some[i] = append(st.some[i], l.g)
			st.required[i>>6] |= 1 << (i & 63)
		}
	}
	i := int32(len(t.statics))
	t.statics = append(t.statics, st)
	t.staticOf[key] = i
	return i
}

// memberGoal returns what the static part demands of a member.
func (s *source) memberGoal(st *static, name int32, matching uint64) goal {
	if name >= 0 {
		if st.known[name] {
			return st.goals[name]
		}
	} else if g, ok := st.free[matching]; ok {
		return g
	}
	fam := s.objects.families[st.fam]
	var list []goal
	if name >= 0 {
		matching = s.nameBits(fam, name)
		list = append(append(list, st.every[name]...), st.some[name]...)
	}
	for _, l := range st.general {
		if s.member(&s.sets[l.a], fam, name, matching) {
			list = append(list, l.g)
		}
	}
	g := s.goals.and(list...)
	if name >= 0 {
		st.goals[name], st.known[name] = g, true
	} else {
		st.free[matching] = g
	}
	return g
}

// objectStart returns the state of an object that has to fulfil g, or -1.
func (s *source) objectStart(g goal) int32 {
	if st, ok := s.objects.initial[g]; ok {
		return st
	}
	f := form(s.view(g, jObject))
	st := int32(-1)
	before := s.reentries
	if f != no {
		fam := s.family(g, f)
		st = s.objectState(fam, f)
	}
	if s.reentries == before {
		s.objects.initial[g] = st
	}
	return st
}

func (s *source) objectState(fam int32, f form) int32 {
	plain, dyn := s.split(f)
	all := s.forms.and(plain...)
	if dyn == no || all == no {
		return -1
	}
	x := objState{fam: fam, static: s.static(fam, all), dyn: dyn, last: -1}
	if !s.sound(&x) {
		return -1
	}
	return s.intern(x)
}

// objectProductive reports whether an object can fulfil f.
func (s *source) objectProductive(f form) bool {
	if f == no {
		return false
	}
	if f == yes {
		return true
	}
	return s.objectState(s.family(never, f), f) >= 0
}

func (s *source) intern(x objState) int32 {
	t := &s.objects
	if i, ok := t.stateOf[x]; ok {
		return i
	}
	i := int32(len(t.states))
	t.states = append(t.states, x)
	t.stateOf[x] = i
	return i
}

func (s *source) isUsed(x *objState, name int32) bool {
	if s.opt.Order == OrderSchema {
		return name <= x.last
	}
	set := s.objects.usedSets[x.used]
	return set != nil && set[name>>6]>>(name&63)&1 != 0
}

func (s *source) use(x *objState, name int32) {
	if s.opt.Order == OrderSchema {
		x.last = name
		return
	}
	t := &s.objects
	words := t.families[x.fam].words
	step := usedStep{x.used, name, words}
	if i, ok := t.usedNext[step]; ok {
		x.used = i
		return
	}
	set := make([]uint64, words)
	copy(set, t.usedSets[x.used])
	set[name>>6] |= 1 << (name & 63)
	b := make([]byte, 0, 8*words)
	for _, w := range set {
		for k := 0; k < 64; k += 8 {
			b = append(b, byte(w>>k))
		}
	}
	i, ok := t.usedIndex[string(b)]
	if !ok {
		i = int32(len(t.usedSets))
		t.usedSets = append(t.usedSets, set)
		t.usedIndex[string(b)] = i
	}
	t.usedNext[step] = i
	x.used = i
}

// missing returns the required names that have not been read.
func (s *source) missing(x *objState) []uint64 {
	st := s.objects.statics[x.static]
	out := slices.Clone(st.required)
	if s.opt.Order == OrderSchema {
		for i := int32(0); i <= x.last && int(i) < len(st.every); i++ {
			out[i>>6] &^= 1 << (i & 63)
		}
		return out
	}
	for i, w := range s.objects.usedSets[x.used] {
		out[i] &^= w
	}
	return out
}

// lacking reports whether a required name has not been read.
func (s *source) lacking(x *objState) bool {
	st := s.objects.statics[x.static]
	if s.opt.Order == OrderSchema {
		for _, w := range s.missing(x) {
			if w != 0 {
				return true
			}
		}
		return false
	}
	used := s.objects.usedSets[x.used]
	for i, w := range st.required {
		if used != nil {
			w &^= used[i]
		}
		if w != 0 {
			return true
		}
	}
	return false
}

// progress returns what f becomes by a member of the given class: ways to
// choose what the value has to fulfil, and what is then left.
func (s *source) progress(f form, fam *family, name int32, matching uint64) []progressed {
	info := &s.forms.info[f]
	switch info.op {
	case opNo:
		return nil
	case opYes:
		return []progressed{{always, yes}}
	case opLit:
		l := info.lit
		switch l.kind {
		case litAllKeys, litSomeKey:
			set := &s.sets[l.a]
			in := s.member(set, fam, name, matching)
			id, one := set.single()
			if one = one && name >= 0 && fam.names[name] == id; one {
				// The name can't come again.
				return []progressed{{l.g, yes}}
			}
			switch {
			case !in:
				return []progressed{{always, f}}
			case l.kind == litAllKeys:
				return []progressed{{l.g, f}}
			}
			return []progressed{{l.g, yes}, {always, f}}
		case litMinProps:
			l.a--
			return []progressed{{always, s.forms.lit(l)}}
		case litMaxProps:
			l.a--
			if next := s.forms.lit(l); next != no {
				return []progressed{{always, next}}
			}
			return nil
		}
		return []progressed{{always, f}}
	case opAnd:
		out := []progressed{{always, yes}}
		for _, k := range info.kids {
			out = s.both(out, s.progress(k, fam, name, matching))
			if len(out) == 0 {
				return nil
			}
		}
		return out
	}
	var out []progressed
	for _, k := range info.kids {
		out = append(out, s.progress(k, fam, name, matching)...)
	}
	return s.partition(s.merge(out))
}

type progressed struct {
	g goal
	f form
}

// both returns all pairs of ways.
func (s *source) both(a, b []progressed) []progressed {
	if len(a) == 1 && len(b) == 1 {
		g, f := s.goals.and(a[0].g, b[0].g), s.forms.and(a[0].f, b[0].f)
		if g == never || f == no {
			return nil
		}
		a[0] = progressed{g, f}
		return a
	}
	out := make([]progressed, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			g := s.goals.and(x.g, y.g)
			if g == never || x.g != g && y.g != g && s.simple(g) && !s.isProductive(g) {
				continue
			}
			if f := s.forms.and(x.f, y.f); f != no {
				out = append(out, progressed{g, f})
			}
		}
	}
	if s.steps += len(out); s.steps > s.opt.Limits.Steps {
		s.limit("steps", s.opt.Limits.Steps)
		return nil
	}
	return s.merge(out)
}

// merge joins ways with the same goal and drops those that another covers.
func (s *source) merge(list []progressed) []progressed {
	if len(list) < 2 {
		return list
	}
	sort.Slice(list, func(i, j int) bool { return list[i].g < list[j].g })
	out := list[:0]
	for _, x := range list {
		if n := len(out); n > 0 && out[n-1].g == x.g {
			out[n-1].f = s.forms.or(out[n-1].f, x.f)
			continue
		}
		out = append(out, x)
	}
	// always is the widest goal: what leads to the same under a narrower
	// one adds nothing.
	for _, x := range out {
		if x.g != always {
			continue
		}
		keep := out[:0]
		for _, y := range out {
			if y.g == always || y.f != x.f {
				keep = append(keep, y)
			}
		}
		return keep
	}
	return out
}

// maxParts bounds how many disjoint ways a choice is divided into.
const maxParts = 256

// partition makes ways exclude each other as far as their goals are simple:
// otherwise conditions on one member, such as a list of if and then about the
// same property, would multiply.
func (s *source) partition(list []progressed) []progressed {
	if len(list) < 2 {
		return list
	}
	base := no
	var parts, others []progressed
	for _, x := range list {
		switch {
		case x.g == always:
			base = s.forms.or(base, x.f)
		case !s.simple(x.g) || len(parts) > maxParts:
			others = append(others, x)
		default:
			rest := x.g
			next := parts[:0:0]
			for _, p := range parts {
				both := s.goals.and(p.g, x.g)
				if !s.isProductive(both) {
					next = append(next, p)
					continue
				}
				next = append(next, progressed{both, s.forms.or(p.f, x.f)})
				if g := s.goals.and(p.g, s.goals.negate(x.g)); s.isProductive(g) {
					next = append(next, progressed{g, p.f})
				}
				rest = s.goals.and(rest, s.goals.negate(p.g))
			}
			if s.isProductive(rest) {
				next = append(next, progressed{rest, x.f})
			}
			parts = next
		}
	}
	if base != no {
		rest := always
		for i := range parts {
			rest = s.goals.and(rest, s.goals.negate(parts[i].g))
			parts[i].f = s.forms.or(parts[i].f, base)
		}
		if s.isProductive(rest) {
			parts = append(parts, progressed{rest, base})
		}
	}
	return s.merge(append(parts, others...))
}

// simple reports whether a goal and its negation say nothing about the
// members of objects or the items of arrays, but for constants.
func (s *source) simple(g goal) bool {
	if ok, known := s.simpleGoals[g]; known {
		return ok
	}
	info := &s.goals.info[g]
	ok := true
	switch info.kind {
	case goalNode, goalNotNode:
		n := info.node
		ok = n.obj == nil && n.arr == nil && n.apply == nil
	case goalAnd, goalOr:
		for _, x := range info.list {
			ok = ok && s.simple(x)
		}
	}
	s.simpleGoals[g] = ok
	return ok
}

// final reports whether f holds for an object that gets no more members.
func (s *source) final(f form) bool {
	info := &s.forms.info[f]
	switch info.op {
	case opNo:
		return false
	case opYes:
		return true
	case opLit:
		switch info.lit.kind {
		case litSomeKey, litMinProps:
			return false
		}
		return true
	case opAnd:
		for _, k := range info.kids {
			if !s.final(k) {
				return false
			}
		}
		return true
	}
	return slices.ContainsFunc(info.kids, s.final)
}

// canClose reports whether the object may end here.
func (s *source) canClose(x *objState) bool { return !s.lacking(x) && s.final(x.dyn) }

// enter returns the ways to go on after a key of the given class, which must
// not have been read before.
func (s *source) enter(state, name int32, matching uint64) []move {
	key := moveKey{state, int64(name)}
	if name < 0 {
		key.class = -1 - int64(matching)
	}
	if m, ok := s.objects.moves[key]; ok {
		return m
	}
	x := s.objects.states[state]
	fam, st := s.objects.families[x.fam], s.objects.statics[x.static]
	var out []move
	base := s.memberGoal(st, name, matching)
	if base != never && s.inOrder(&x, name) {
		if name >= 0 {
			matching = s.nameBits(fam, name)
		}
		s.steps = 0
		ways := []progressed{{always, x.dyn}}
		untouched := s.untouched(&x, name)
		if !untouched {
			ways = s.progress(x.dyn, fam, name, matching)
		}
		for _, p := range ways {
			g := s.goals.and(base, p.g)
			if !s.isProductive(g) {
				continue
			}
			y := x
			if name >= 0 {
				s.use(&y, name)
			} else if s.opt.Order == OrderSchema {
				y.last = int32(len(fam.names))
			}
			y.dyn = p.f
			if p.f != x.dyn {
				plain, dyn := s.split(p.f)
				y.dyn = dyn
				if s.passedOver(&y, plain) {
					continue
				}
				if len(plain) > 0 {
					all := s.forms.and(append(plain, st.f)...)
					if all == no {
						continue
					}
					y.static = s.static(x.fam, all)
				}
			}
			if untouched || s.sound(&y) {
				out = append(out, move{g, s.intern(y)})
			}
		}
	}
	s.objects.moves[key] = out
	return out
}

// passedOver reports whether one of the demands is for a name that a fixed
// order doesn't let come any more.
func (s *source) passedOver(x *objState, demands []form) bool {
	if s.opt.Order == OrderAny {
		return false
	}
	fam := s.objects.families[x.fam]
	for _, f := range demands {
		l := s.forms.info[f].lit
		if name, _ := s.sets[l.a].single(); l.kind == litSomeKey && fam.index[name] <= x.last {
			return true
		}
	}
	return false
}

// inOrder reports whether a name may come now as far as order goes: with a
// fixed order no required name may be passed over.
func (s *source) inOrder(x *objState, name int32) bool {
	if s.opt.Order == OrderAny {
		return true
	}
	n := int32(len(s.objects.families[x.fam].names))
	to := name
	if name < 0 {
		to = n
	} else if name <= x.last {
		return false
	}
	req := s.objects.statics[x.static].required
	for i := x.last + 1; i < to; i++ {
		if req[i>>6]>>(i&63)&1 != 0 {
			return false
		}
	}
	return true
}

// relevance says which members a formula can change.
type relevance struct {
	names  []uint64
	free   bool
	counts bool // the formula is a conjunction of bounds on the number of members
	other  bool // it holds such a bound and more
	most   int
}

// relevant returns the relevance of dyn for the names of a family.
func (s *source) relevant(fam int32, dyn form) *relevance {
	key := [2]int32{fam, int32(dyn)}
	if r, ok := s.objects.relevance[key]; ok {
		return r
	}
	fm := s.objects.families[fam]
	r := &relevance{names: make([]uint64, fm.words), counts: true, most: maxCount}
	seen := map[form]bool{}
	var visit func(f form)
	visit = func(f form) {
		if seen[f] {
			return
		}
		seen[f] = true
		info := &s.forms.info[f]
		for _, k := range info.kids {
			visit(k)
		}
		if info.op != opLit {
			return
		}
		switch l := info.lit; l.kind {
		case litMinProps, litMaxProps:
			r.other = true
		case litAllKeys, litSomeKey:
			r.counts = false
			set := &s.sets[l.a]
			if name, one := set.single(); one {
				i := fm.index[name]
				r.names[i>>6] |= 1 << (i & 63)
				return
			}
			for i := range fm.names {
				if s.member(set, fm, int32(i), s.nameBits(fm, int32(i))) {
					r.names[i>>6] |= 1 << (i & 63)
				}
			}
			r.free = r.free || set.others || len(set.patterns) > 0
		}
	}
	visit(dyn)
	for _, k := range s.forms.conjuncts(dyn) {
		if info := &s.forms.info[k]; info.op != opLit {
			r.counts = false
		} else if info.lit.kind == litMaxProps {
			r.most = min(r.most, int(info.lit.a))
		}
	}
	s.objects.relevance[key] = r
	return r
}

// untouched reports whether dyn says nothing about a member, so that what
// the static part says decides.
func (s *source) untouched(x *objState, name int32) bool {
	if x.dyn == yes {
		return true
	}
	r := s.relevant(x.fam, x.dyn)
	if r.other {
		return false
	}
	if name < 0 {
		if r.free {
			return false
		}
		name = int32(len(s.objects.families[x.fam].names))
	} else if r.names[name>>6]>>(name&63)&1 != 0 {
		return false
	}
	if s.opt.Order == OrderSchema {
		// Names that are passed over can't come any more.
		for i := x.last + 1; i < name; i++ {
			if r.names[i>>6]>>(i&63)&1 != 0 {
				return false
			}
		}
	}
	return true
}

// allowance is which names have been found to be allowed in a state.
type allowance struct{ known, allowed []uint64 }

// allowedName reports whether a name may come next.
func (s *source) allowedName(state, name int32) bool {
	a, ok := s.objects.allowed[state]
	if !ok {
		words := s.objects.families[s.objects.states[state].fam].words
		both := make([]uint64, 2*words)
		a = allowance{both[:words:words], both[words:]}
		s.objects.allowed[state] = a
	}
	w, bit := name>>6, uint64(1)<<(name&63)
	if a.known[w]&bit == 0 {
		a.known[w] |= bit
		if s.decideName(state, name) {
			a.allowed[w] |= bit
		}
	}
	return a.allowed[w]&bit != 0
}

func (s *source) decideName(state, name int32) bool {
	x := s.objects.states[state]
	if s.isUsed(&x, name) || !s.inOrder(&x, name) {
		return false
	}
	if s.untouched(&x, name) {
		return s.isProductive(s.memberGoal(s.objects.statics[x.static], name, 0))
	}
	if r := s.relevant(x.fam, x.dyn); r.counts && s.opt.Order == OrderAny {
		left := r.most
		own := 1
		for i, w := range s.missing(&x) {
			left -= bits.OnesCount64(w)
			if int(name>>6) == i && w>>(name&63)&1 != 0 {
				own = 0
			}
		}
		return left >= own && s.isProductive(s.memberGoal(s.objects.statics[x.static], name, 0))
	}
	return len(s.enter(state, name, 0)) > 0
}

// allowedNames returns the names that may come next, as a set.
func (s *source) allowedNames(state int32) []uint64 {
	n := len(s.objects.families[s.objects.states[state].fam].names)
	for i := range n {
		s.allowedName(state, int32(i))
	}
	if n == 0 {
		return nil
	}
	return s.objects.allowed[state].allowed
}

// allowedFree reports whether a key that isn't a name and matches the given
// patterns may come next.
func (s *source) allowedFree(state int32, matching uint64) bool {
	return len(s.enter(state, -1, matching)) > 0
}

// canContinue reports whether another member may follow.
func (s *source) canContinue(state int32) bool {
	if c := s.objects.more[state]; c != 0 {
		return c > 0
	}
	ok := s.someMember(state)
	s.objects.more[state] = -1
	if ok {
		s.objects.more[state] = 1
	}
	return ok
}

func (s *source) someMember(state int32) bool {
	x := s.objects.states[state]
	fam := s.objects.families[x.fam]
	// What is cheap to decide first.
	first := s.firstKey(state)
	if s.untouched(&x, -1) && s.freeFrom(state, first) {
		return true
	}
	for pass := range 2 {
		for i := range int32(len(fam.names)) {
			if s.untouched(&x, i) == (pass == 0) && s.allowedName(state, i) {
				return true
			}
		}
	}
	return s.freeFrom(state, first)
}

// freeFrom reports whether a key that isn't a name can be completed from a
// key state.
func (s *source) freeFrom(state, key int32) bool {
	k := s.objects.keyStates[key]
	if k.free != 0 {
		return k.at != regular.Dead && (k.taken == 0 || s.othersLeft(key))
	}
	return len(s.objects.families[k.fam].pats) > 0 || s.allowedFree(state, 0)
}

// othersLeft reports whether a key can be completed to one that isn't taken.
func (s *source) othersLeft(key int32) bool {
	if left, ok := s.objects.othersLeft[key]; ok {
		return left
	}
	k := s.objects.keyStates[key]
	m := s.machines[k.free-1]
	n := 0
	for _, id := range s.objects.takenLists[k.taken] {
		q := k.at
		for _, r := range s.names[id][k.depth:] {
			if q = m.Step(q, r); q == regular.Dead {
				break
			}
		}
		if q != regular.Dead && m.Accepting(q) {
			n++
		}
	}
	left := m.Count(k.at, n+1) > n
	s.objects.othersLeft[key] = left
	return left
}

// sound reports whether an object in state x can be completed.
func (s *source) sound(x *objState) bool {
	st := s.objects.statics[x.static]
	if x.dyn == no {
		return false
	}
	if st.sound == 0 {
		assumed, reentries := s.assumed, s.reentries
		possible := s.requiredPossible(st)
		if s.reentries == reentries && (possible || s.assumed == assumed) {
			st.sound = -1
			if possible {
				st.sound = 1
			}
		}
		if !possible {
			return false
		}
	}
	if st.sound < 0 {
		return false
	}
	if x.dyn == yes {
		return true
	}
	key := *x
	key.free, key.pending = 0, false
	if ok, known := s.objects.soundness[key]; known {
		return ok
	}
	before, reentries := s.assumed, s.reentries
	ok := s.completable(x)
	if s.reentries == reentries && (ok || s.assumed == before) {
		s.objects.soundness[key] = ok
	}
	return ok
}

func (s *source) requiredPossible(st *static) bool {
	for i, w := range st.required {
		for ; w != 0; w &= w - 1 {
			if !s.isProductive(s.memberGoal(st, int32(i<<6+bits.TrailingZeros64(w)), 0)) {
				return false
			}
		}
	}
	return true
}
