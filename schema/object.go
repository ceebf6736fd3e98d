package schema

import (
	"math/bits"
	"slices"

	"stencil/schema/syntax"
)

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

func (x *objState) hash() uint32 {
	last := pair(x.free, x.last) << 1
	if x.pending {
		last++
	}
	return mix(pair(x.fam, x.static), pair(int32(x.dyn), x.used), last)
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
	states     interned[objState]
	usedSets   [][]uint64
	usedIndex  map[string]int32
	usedNext   map[usedStep]int32
	freeLists  []freeKey
	freeIndex  map[freeKey]int32
	moveKeys   interned[moveKey]
	moves      [][]move // by number of the key
	freeMoves  []int32  // by state: 1 + the moves after a key that isn't a name, or 0
	soundness  map[objState]bool
	allowed    []allowance // by state
	more       []int8      // by state: whether another member may follow, 1 or -1
	relevance  map[[2]int32]*relevance
	freeOK     map[moveKey]bool
	initial    map[goal]int32
	keyStates  interned[keyState]
	keyRows    []keyRow
	vectors    [][]int32
	vecIndex   map[string]int32
	firstKeys  []int32        // by state: 1 + the key state, or 0
	othersLeft map[int32]bool // by key state
	settled    map[int32]bool // by vector

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
		states: newInterned[objState](64), usedSets: [][]uint64{nil}, usedIndex: map[string]int32{"": 0},
		usedNext: map[usedStep]int32{}, freeLists: []freeKey{{-1, -1}}, freeIndex: map[freeKey]int32{},
		moveKeys: newInterned[moveKey](128), soundness: map[objState]bool{}, relevance: map[[2]int32]*relevance{},
		freeOK: map[moveKey]bool{}, initial: map[goal]int32{}, keyStates: newInterned[keyState](128),
		vectors: [][]int32{nil}, vecIndex: map[string]int32{"": 0}, othersLeft: map[int32]bool{}, settled: map[int32]bool{},
		takenLists: [][]int32{nil}, takenIndex: map[string]int32{}, takenOf: map[int32]int32{},
	}
}

// objectKeywords adds the demands of the object keywords of n.
func (s *source) objectKeywords(n *syntax.Node, scope int32, list []int32) []int32 {
	k := n.Object
	add := func(f form) { list = append(list, int32(f)) }
	all := func(set int32, g goal) { add(s.forms.lit(lit{kind: litAllKeys, a: set, g: g})) }
	var names, pats []int32
	for _, p := range k.Properties {
		id := s.nameID(p.Name)
		names = append(names, id)
		all(s.oneName(id), s.sub(p.Node, scope))
	}
	for _, p := range k.Patterns {
		e, err := s.lang.Pattern(p.Name)
		if err != nil {
			continue
		}
		id := s.patternID(e)
		pats = append(pats, id)
		all(s.keySet(false, nil, []int32{id}), s.sub(p.Node, scope))
	}
	if k.Additional != nil {
		all(s.keySet(true, names, pats), s.sub(k.Additional, scope))
	}
	if k.Names != nil {
		e := s.view(s.sub(k.Names, scope), jString)
		if e == int32(s.lang.Empty) {
			add(s.forms.lit(lit{kind: litMaxProps}))
		} else if e != int32(s.lang.Any) {
			all(s.keySet(true, nil, []int32{s.patternID(exprOf(e))}), never)
		}
	}
	for _, r := range k.Required {
		add(s.hasKey(r))
	}
	add(s.forms.lit(lit{kind: litMinProps, a: int32(k.Min)}))
	if k.Max != syntax.NoMax {
		add(s.forms.lit(lit{kind: litMaxProps, a: int32(k.Max)}))
	}
	for _, d := range k.DependentRequired {
		parts := []form{}
		for _, r := range d.Required {
			parts = append(parts, s.hasKey(r))
		}
		add(s.forms.or(s.lacksKey(d.Name), s.forms.and(parts...)))
	}
	for _, d := range k.DependentSchemas {
		add(s.forms.or(s.lacksKey(d.Name), form(s.view(s.sub(d.Node, scope), jObject))))
	}
	return list
}

func (s *source) hasKey(name string) form {
	return s.forms.lit(lit{kind: litSomeKey, a: s.oneName(s.nameID(name)), g: always})
}

func (s *source) lacksKey(name string) form {
	return s.forms.lit(lit{kind: litAllKeys, a: s.oneName(s.nameID(name)), g: never})
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
	h := x.hash()
	i, at := t.states.find(&x, h)
	if i >= 0 {
		return i
	}
	t.freeMoves = append(t.freeMoves, 0)
	t.allowed, t.more, t.firstKeys = append(t.allowed, allowance{}), append(t.more, 0), append(t.firstKeys, 0)
	return t.states.add(&x, h, at)
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
