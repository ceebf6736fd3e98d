package schema

import (
	"math/bits"
	"slices"

	"github.com/stencil-json/stencil/schema/logic"
)

// A static is the part of an object's form that derivatives leave unchanged,
// compiled for look-up by name.
type static struct {
	uni      int32
	f        logic.Form
	every    [][]logic.Goal // by name: goals for the member, if it exists
	some     [][]logic.Goal // by name: goals for the member, which must exist
	required []uint64
	general  []logic.Lit // AllKeys over sets other than one name
	goals    []logic.Goal
	known    []bool // goals[i] is valid
	free     logic.Memo[uint64, logic.Goal]
	sound    int8 // whether all required members can exist: 0 unknown, 1, -1
}

// objState is the state of an object between two members.
type objState struct {
	uni, static int32
	dyn         logic.Form // the part that members change
	used        int32      // set of names read; unused when the order is fixed
	free        int32      // list of other keys read
	last        int32      // with a fixed order: names up to here are past
	pending     bool       // a key was read that is unknown; used for masks only
}

func (x *objState) hash() uint32 {
	last := logic.Pair(x.free, x.last) << 1
	if x.pending {
		last++
	}
	return logic.Mix(logic.Pair(x.uni, x.static), logic.Pair(int32(x.dyn), x.used), last)
}

// A move is a transition over a member or item: the goal of its value, and the
// state after it.
type move struct {
	g    logic.Goal
	next int32
}

type moveKey struct {
	state int32
	class int64 // name index, or -1 - the bits of matching patterns
}

// usedStep adds a name to a set of names that has the given number of words.
type usedStep struct {
	used, name int32
	words      int
}

// freeKey is a list of keys other than names.
type freeKey struct{ parent, name int32 }

// objects computes the states and transitions of objects.
type objects struct {
	*base
	sets   *keySets
	views  *views
	keys   *keyAutomaton
	derive *deriver
	sat    *solver

	statics     []*static
	staticIndex logic.Memo[[2]int32, int32]
	states      logic.Interned[objState]
	initial     logic.Memo[logic.Goal, int32]
	usedSets    [][]uint64
	usedIndex   logic.Memo[string, int32]
	usedNext    logic.Memo[usedStep, int32]
	freeLists   []freeKey
	freeIndex   logic.Memo[freeKey, int32]
	moveKeys    logic.Interned[moveKey]
	moves       [][]move // by number of the key
	freeMoves   []int32  // by state: 1 + the moves after a key other than a name, or 0
	soundness   logic.Memo[objState, bool]
	allowed     []allowance // by state
	relevance   logic.Memo[[2]int32, *relevance]
}

func newObjects(b *base, sets *keySets, vs *views, keys *keyAutomaton, dv *deriver, sv *solver) *objects {
	return &objects{base: b, sets: sets, views: vs, keys: keys, derive: dv, sat: sv,
		usedSets: [][]uint64{nil}, freeLists: []freeKey{{-1, -1}}}
}

// plain reports whether a form can be part of a static.
func (ob *objects) plain(f logic.Form) bool {
	info := &ob.forms.Info[f]
	if info.Op != logic.OpLit {
		return false
	}
	if info.Lit.Kind == logic.AllKeys {
		return true
	}
	if info.Lit.Kind == logic.SomeKey {
		_, ok := ob.sets.list[info.Lit.A].single()
		return ok
	}
	return false
}

// split divides a form into its static part and the rest.
func (ob *objects) split(f logic.Form) (plain []logic.Form, dyn logic.Form) {
	var rest []logic.Form
	for _, x := range ob.forms.Conjuncts(f) {
		if ob.plain(x) {
			plain = append(plain, x)
		} else {
			rest = append(rest, x)
		}
	}
	return plain, ob.forms.And(rest...)
}

func (ob *objects) static(in int32, f logic.Form) int32 {
	key := [2]int32{in, int32(f)}
	if i, ok := ob.staticIndex[key]; ok {
		return i
	}
	uni := ob.keys.universes[in]
	n := len(uni.names)
	st := &static{
		uni: in, f: f, every: make([][]logic.Goal, n), some: make([][]logic.Goal, n),
		required: make([]uint64, uni.words), goals: make([]logic.Goal, n), known: make([]bool, n),
	}
	for _, x := range ob.forms.Conjuncts(f) {
		l := ob.forms.Info[x].Lit
		name, one := ob.sets.list[l.A].single()
		switch {
		case !one:
			st.general = append(st.general, l)
		case l.Kind == logic.AllKeys:
			i := uni.at(name)
			st.every[i] = append(st.every[i], l.Goal)
		default:
			i := uni.at(name)
			st.some[i] = append(st.some[i], l.Goal)
			st.required[i>>6] |= 1 << (i & 63)
		}
	}
	i := int32(len(ob.statics))
	ob.statics = append(ob.statics, st)
	ob.staticIndex.Put(key, i)
	return i
}

// memberGoal returns the goal that the static part demands of a member.
func (ob *objects) memberGoal(st *static, name int32, matching uint64) logic.Goal {
	if name >= 0 {
		if st.known[name] {
			return st.goals[name]
		}
	} else if g, ok := st.free[matching]; ok {
		return g
	}
	uni := ob.keys.universes[st.uni]
	var list []logic.Goal
	if name >= 0 {
		matching = ob.keys.nameBits(uni, name)
		list = append(append(list, st.every[name]...), st.some[name]...)
	}
	for _, l := range st.general {
		if ob.keys.member(&ob.sets.list[l.A], uni, name, matching) {
			list = append(list, l.Goal)
		}
	}
	g := ob.goals.And(list...)
	if name >= 0 {
		st.goals[name], st.known[name] = g, true
	} else {
		st.free.Put(matching, g)
	}
	return g
}

// start returns the initial state of an object that has to fulfil g, or -1.
func (ob *objects) start(g logic.Goal) int32 {
	if st, ok := ob.initial[g]; ok {
		return st
	}
	f := logic.Form(ob.views.of(g, jObject))
	st := int32(-1)
	since := ob.guesses
	if f != logic.No && ob.opt.Closed {
		f = ob.closed(g, f)
	}
	if f != logic.No {
		uni := ob.keys.universe(g, f)
		st = ob.state(uni, f)
	}
	if ob.guesses.views == since.views && (!ob.opt.Closed || ob.guesses.goals == since.goals) {
		ob.initial.Put(g, st)
	}
	return st
}

func (ob *objects) state(uni int32, f logic.Form) int32 {
	plain, dyn := ob.split(f)
	all := ob.forms.And(plain...)
	if dyn == logic.No || all == logic.No {
		return -1
	}
	x := objState{uni: uni, static: ob.static(uni, all), dyn: dyn, last: -1}
	if !ob.sound(&x) {
		return -1
	}
	return ob.intern(x)
}

// satisfiable reports whether an object can fulfil f.
func (ob *objects) satisfiable(f logic.Form) bool {
	if f == logic.No {
		return false
	}
	if f == logic.Yes {
		return true
	}
	return ob.state(ob.keys.universe(logic.Never, f), f) >= 0
}

func (ob *objects) intern(x objState) int32 {
	h := x.hash()
	i, at := ob.states.Find(&x, h)
	if i >= 0 {
		return i
	}
	ob.freeMoves = append(ob.freeMoves, 0)
	ob.allowed = append(ob.allowed, allowance{})
	return ob.states.Add(&x, h, at)
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

	words := ob.keys.universes[x.uni].words
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
		ob.usedIndex.Put(string(b), i)
	}
	ob.usedNext.Put(step, i)
	x.used = i
}

// missing returns the required names that have not been read.
func (ob *objects) missing(x *objState) []uint64 {
	st := ob.statics[x.static]
	out := slices.Clone(st.required)
	if ob.opt.Order == OrderSchema {
		return logic.Drop(out, x.last+1)
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
		return int(logic.Next(st.required, x.last+1)) < len(st.every)
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
	if x.dyn == logic.No {
		return false
	}
	if st.sound == 0 {
		since := ob.guesses
		possible := ob.requiredPossible(st)
		if ob.firm(since, possible) {
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
	if x.dyn == logic.Yes {
		return true
	}
	key := *x
	key.free, key.pending = 0, false
	if ok, known := ob.soundness[key]; known {
		return ok
	}
	since := ob.guesses
	ok := ob.completable(x)
	if ob.firm(since, ok) {
		ob.soundness.Put(key, ok)
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

// withFree returns the state with a further key that isn't a name; ok is false if
// the key has been read already.
func (ob *objects) withFree(state int32, key string) (next int32, ok bool) {
	x := ob.states.Keys[state]
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
		ob.freeIndex.Put(fk, i)
	}
	x.free = i
	return ob.intern(x), true
}

// canClose reports whether the object may end here.
func (ob *objects) canClose(x *objState) bool { return !ob.lacking(x) && ob.forms.Final(x.dyn) }
