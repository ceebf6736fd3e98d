package schema

import (
	"math/bits"
	"slices"
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

// usedStep is a name added to a set of names that is words long.
type usedStep struct {
	used, name int32
	words      int
}

// freeKey is a list of keys that the schema doesn't name.
type freeKey struct{ parent, name int32 }

// objects follows objects from member to member.
type objects struct {
	*base
	sets   *keySets
	views  *views
	keys   *keyAutomaton
	derive *deriver
	sat    *solver

	statics     []*static
	staticIndex map[[2]int32]int32
	states      interned[objState]
	initial     map[goal]int32
	usedSets    [][]uint64
	usedIndex   map[string]int32
	usedNext    map[usedStep]int32
	freeLists   []freeKey
	freeIndex   map[freeKey]int32
	moveKeys    interned[moveKey]
	moves       [][]move // by number of the key
	freeMoves   []int32  // by state: 1 + the moves after a key that isn't a name, or 0
	soundness   map[objState]bool
	allowed     []allowance // by state
	relevance   map[[2]int32]*relevance
}

func newObjects(b *base, sets *keySets, vs *views, keys *keyAutomaton, dv *deriver, sv *solver) *objects {
	return &objects{base: b, sets: sets, views: vs, keys: keys, derive: dv, sat: sv,
		staticIndex: map[[2]int32]int32{}, states: newInterned[objState](64), initial: map[goal]int32{},
		usedSets: [][]uint64{nil}, usedIndex: map[string]int32{"": 0}, usedNext: map[usedStep]int32{},
		freeLists: []freeKey{{-1, -1}}, freeIndex: map[freeKey]int32{}, moveKeys: newInterned[moveKey](128),
		soundness: map[objState]bool{}, relevance: map[[2]int32]*relevance{}}
}

// plain reports whether a demand can be part of a static.
func (ob *objects) plain(f form) bool {
	info := &ob.forms.info[f]
	if info.op != opLit {
		return false
	}
	if info.lit.kind == litAllKeys {
		return true
	}
	if info.lit.kind == litSomeKey {
		_, ok := ob.sets.list[info.lit.a].single()
		return ok
	}
	return false
}

// split divides a formula into what is static and the rest.
func (ob *objects) split(f form) (plain []form, dyn form) {
	var rest []form
	for _, x := range ob.forms.conjuncts(f) {
		if ob.plain(x) {
			plain = append(plain, x)
		} else {
			rest = append(rest, x)
		}
	}
	return plain, ob.forms.and(rest...)
}

func (ob *objects) static(fam int32, f form) int32 {

	key := [2]int32{fam, int32(f)}
	if i, ok := ob.staticIndex[key]; ok {
		return i
	}
	fm := ob.keys.families[fam]
	n := len(fm.names)
	st := &static{
		fam: fam, f: f, every: make([][]goal, n), some: make([][]goal, n),
		required: make([]uint64, fm.words), goals: make([]goal, n), known: make([]bool, n), free: map[uint64]goal{},
	}
	for _, x := range ob.forms.conjuncts(f) {
		l := ob.forms.info[x].lit
		name, one := ob.sets.list[l.a].single()
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
	i := int32(len(ob.statics))
	ob.statics = append(ob.statics, st)
	ob.staticIndex[key] = i
	return i
}

// memberGoal returns what the static part demands of a member.
func (ob *objects) memberGoal(st *static, name int32, matching uint64) goal {
	if name >= 0 {
		if st.known[name] {
			return st.goals[name]
		}
	} else if g, ok := st.free[matching]; ok {
		return g
	}
	fam := ob.keys.families[st.fam]
	var list []goal
	if name >= 0 {
		matching = ob.keys.nameBits(fam, name)
		list = append(append(list, st.every[name]...), st.some[name]...)
	}
	for _, l := range st.general {
		if ob.keys.member(&ob.sets.list[l.a], fam, name, matching) {
			list = append(list, l.g)
		}
	}
	g := ob.goals.and(list...)
	if name >= 0 {
		st.goals[name], st.known[name] = g, true
	} else {
		st.free[matching] = g
	}
	return g
}

// start returns the state of an object that has to fulfil g, or -1.
func (ob *objects) start(g goal) int32 {
	if st, ok := ob.initial[g]; ok {
		return st
	}
	f := form(ob.views.of(g, jObject))
	st := int32(-1)
	before := ob.reentries
	if f != no {
		fam := ob.keys.family(g, f)
		st = ob.state(fam, f)
	}
	if ob.reentries == before {
		ob.initial[g] = st
	}
	return st
}

func (ob *objects) state(fam int32, f form) int32 {
	plain, dyn := ob.split(f)
	all := ob.forms.and(plain...)
	if dyn == no || all == no {
		return -1
	}
	x := objState{fam: fam, static: ob.static(fam, all), dyn: dyn, last: -1}
	if !ob.sound(&x) {
		return -1
	}
	return ob.intern(x)
}

// satisfiable reports whether an object can fulfil f.
func (ob *objects) satisfiable(f form) bool {
	if f == no {
		return false
	}
	if f == yes {
		return true
	}
	return ob.state(ob.keys.family(never, f), f) >= 0
}

func (ob *objects) intern(x objState) int32 {

	h := x.hash()
	i, at := ob.states.find(&x, h)
	if i >= 0 {
		return i
	}
	ob.freeMoves = append(ob.freeMoves, 0)
	ob.allowed = append(ob.allowed, allowance{})
	return ob.states.add(&x, h, at)
}

func (ob *objects) isUsed(x *objState, name int32) bool {
	if ob.opt.Order == OrderSchema {
		return name <= x.last
	}
	set := ob.usedSets[x.used]
	return set != nil && set[name>>6]>>(name&63)&1 != 0
}

func (ob *objects) use(x *objState, name int32) {
	if ob.opt.Order == OrderSchema {
		x.last = name
		return
	}

	words := ob.keys.families[x.fam].words
	step := usedStep{x.used, name, words}
	if i, ok := ob.usedNext[step]; ok {
		x.used = i
		return
	}
	set := make([]uint64, words)
	copy(set, ob.usedSets[x.used])
	set[name>>6] |= 1 << (name & 63)
	b := make([]byte, 0, 8*words)
	for _, w := range set {
		for k := 0; k < 64; k += 8 {
			b = append(b, byte(w>>k))
		}
	}
	i, ok := ob.usedIndex[string(b)]
	if !ok {
		i = int32(len(ob.usedSets))
		ob.usedSets = append(ob.usedSets, set)
		ob.usedIndex[string(b)] = i
	}
	ob.usedNext[step] = i
	x.used = i
}

// missing returns the required names that have not been read.
func (ob *objects) missing(x *objState) []uint64 {
	st := ob.statics[x.static]
	out := slices.Clone(st.required)
	if ob.opt.Order == OrderSchema {
		for i := int32(0); i <= x.last && int(i) < len(st.every); i++ {
			out[i>>6] &^= 1 << (i & 63)
		}
		return out
	}
	for i, w := range ob.usedSets[x.used] {
		out[i] &^= w
	}
	return out
}

// lacking reports whether a required name has not been read.
func (ob *objects) lacking(x *objState) bool {
	st := ob.statics[x.static]
	if ob.opt.Order == OrderSchema {
		for _, w := range ob.missing(x) {
			if w != 0 {
				return true
			}
		}
		return false
	}
	used := ob.usedSets[x.used]
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
func (ob *objects) sound(x *objState) bool {
	st := ob.statics[x.static]
	if x.dyn == no {
		return false
	}
	if st.sound == 0 {
		assumed, reentries := ob.assumed, ob.reentries
		possible := ob.requiredPossible(st)
		if ob.reentries == reentries && (possible || ob.assumed == assumed) {
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
	if ok, known := ob.soundness[key]; known {
		return ok
	}
	before, reentries := ob.assumed, ob.reentries
	ok := ob.completable(x)
	if ob.reentries == reentries && (ok || ob.assumed == before) {
		ob.soundness[key] = ok
	}
	return ok
}

func (ob *objects) requiredPossible(st *static) bool {
	for i, w := range st.required {
		for ; w != 0; w &= w - 1 {
			if !ob.sat.satisfiable(ob.memberGoal(st, int32(i<<6+bits.TrailingZeros64(w)), 0)) {
				return false
			}
		}
	}
	return true
}

// withFree returns the state with a further key that isn't a name; ok is
// false when the key has been read before.
func (ob *objects) withFree(state int32, key string) (next int32, ok bool) {

	x := ob.states.keys[state]
	id := ob.sets.name(key)
	for l := x.free; l != 0; l = ob.freeLists[l].parent {
		if ob.freeLists[l].name == id {
			return 0, false
		}
	}
	fk := freeKey{x.free, id}
	i, known := ob.freeIndex[fk]
	if !known {
		i = int32(len(ob.freeLists))
		ob.freeLists = append(ob.freeLists, fk)
		ob.freeIndex[fk] = i
	}
	x.free = i
	return ob.intern(x), true
}

// canClose reports whether the object may end here.
func (ob *objects) canClose(x *objState) bool { return !ob.lacking(x) && ob.forms.final(x.dyn) }
