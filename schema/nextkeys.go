package schema

import (
	"slices"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/logic"
)

// nextRow caches what is known about the keys that may follow an object state.
type nextRow struct {
	first int32 // 1 + the key state at the start of a key, or 0
	more  int8  // whether another member may follow, 1 or -1, or 0
}

// nextKeys decides which keys may come next in a state of an object, for which
// both the key automaton and the state have to allow a key.
type nextKeys struct {
	*base
	sets    *keySets
	texts   *texts
	keys    *keyAutomaton
	objects *objects

	rows    []nextRow                // by object state, as far as computed
	others  logic.Memo[int32, bool]  // by key state
	takenOf logic.Memo[int32, int32] // by list of free keys
}

func newNextKeys(b *base, sets *keySets, ts *texts, keys *keyAutomaton, obj *objects) *nextKeys {
	return &nextKeys{base: b, sets: sets, texts: ts, keys: keys, objects: obj}
}

// before returns the key state at the start of a key in an object state.
func (nk *nextKeys) before(state int32) int32 {
	if k := nk.row(state).first; k != 0 {
		return k - 1
	}
	k := nk.keys.state(nk.keyState(state))
	nk.row(state).first = k + 1
	return k
}

// row returns the row of a state; it is valid until the next call.
func (nk *nextKeys) row(state int32) *nextRow {
	if n := int(state) + 1 - len(nk.rows); n > 0 {
		nk.rows = append(nk.rows, make([]nextRow, n)...)
	}
	return &nk.rows[state]
}

// beforeAny returns the key state at the start of a key that has not been read,
// regardless of whether such a key may come now.
func (nk *nextKeys) beforeAny(state int32) int32 {
	x := nk.objects.states.Keys[state]
	k := nk.keys.states.Keys[nk.keys.universes[x.uni].start]
	k.taken = nk.takenBy(&x)
	return nk.keys.state(k)
}

func (nk *nextKeys) keyState(state int32) keyState {
	x := nk.objects.states.Keys[state]
	uni := nk.keys.universes[x.uni]
	k := nk.keys.states.Keys[uni.start]
	if len(uni.pats) > 0 {
		nk.restrict(state, uni, &k)
	}
	k.taken = nk.takenBy(&x)
	return k
}

// takenBy returns the list of the keys that aren't names and have been read.
func (nk *nextKeys) takenBy(x *objState) int32 {
	if x.free == 0 {
		return 0
	}
	id, ok := nk.takenOf[x.free]
	if !ok {
		var list []int32
		for l := x.free; l != 0; l = nk.objects.freeLists[l].parent {
			list = append(list, nk.objects.freeLists[l].name)
		}
		slices.Sort(list)
		id = nk.keys.takenLists.Number(list)
		nk.takenOf.Put(x.free, id)
	}
	return id
}

// restrict gives a key state the machine of the keys that can come, unless all
// can.
func (nk *nextKeys) restrict(state int32, uni *universe, k *keyState) {
	classes := nk.keys.reachable(uni, k.vec)
	var allowed []regular.Expr
	for _, matching := range classes {
		if !nk.objects.allowedFree(state, matching) {
			continue
		}
		var parts []regular.Expr
		for i, p := range uni.pats {
			e := nk.sets.patterns[p].expr
			if matching>>i&1 == 0 {
				e = nk.lang.Not(e)
			}
			parts = append(parts, e)
		}
		allowed = append(allowed, nk.lang.And(parts...))
	}
	if len(allowed) == len(classes) {
		return
	}
	e := nk.lang.Or(allowed...)
	if len(allowed) > 0 && len(uni.names) > 0 && len(uni.names) <= maxSubtracted {
		names := make([]string, len(uni.names))
		for i, id := range uni.names {
			names[i] = nk.sets.names[id]
		}
		e = nk.lang.And(e, nk.lang.Not(nk.lang.Strings(names)))
	}
	m := nk.machine(e)
	k.free, k.at = 1+nk.texts.id(m), m.Start()
}

// maxSubtracted is the number of names up to which they are excluded from the
// language of other keys. This matters only if few other keys are left.
const maxSubtracted = 64

// alive reports whether a key that is allowed in an object state can be
// completed from a key state.
func (nk *nextKeys) alive(state, key int32) bool {
	k := nk.keys.states.Keys[key]
	if k.lo < k.hi {
		x := nk.objects.states.Keys[state]
		if nk.objects.untouched(&x, -1) && nk.free(state, key) {
			return true
		}
		for _, name := range nk.objects.mayCome(state, k) {
			if nk.objects.allowedName(state, name) {
				return true
			}
		}
	}
	return nk.free(state, key)
}

// moves returns the transitions if the key ends here; free reports that the key
// is not a name. It ignores whether the key has been read already.
func (nk *nextKeys) moves(state, key int32) (moves []move, free bool) {
	name, matching := nk.keys.end(key)
	if name == takenKey {
		return nil, true
	}
	if name >= 0 {
		if !nk.objects.allowedName(state, name) {
			return nil, false
		}
		return nk.objects.enter(state, name, 0), false
	}
	return nk.objects.enter(state, -1, matching), true
}

// canContinue reports whether another member may follow.
func (nk *nextKeys) canContinue(state int32) bool {
	if c := nk.row(state).more; c != 0 {
		return c > 0
	}
	ok := nk.someMember(state)
	more := int8(-1)
	if ok {
		more = 1
	}
	nk.row(state).more = more
	return ok
}

func (nk *nextKeys) someMember(state int32) bool {
	x := nk.objects.states.Keys[state]
	uni := nk.keys.universes[x.uni]
	// The conditions that are cheap to decide come first.
	first := nk.before(state)
	if nk.objects.untouched(&x, -1) && nk.free(state, first) {
		return true
	}
	from, to := nk.objects.window(&x)
	for pass := range 2 {
		for i := from; i <= to && int(i) < len(uni.names); i++ {
			if nk.objects.untouched(&x, i) == (pass == 0) && nk.objects.allowedName(state, i) {
				return true
			}
		}
	}
	return nk.free(state, first)
}

// free reports whether a key that isn't a name can be completed from a
// key state.
func (nk *nextKeys) free(state, key int32) bool {
	k := nk.keys.states.Keys[key]
	if k.free != 0 {
		return k.at != regular.Dead && (k.taken == 0 || nk.othersLeft(key))
	}
	return len(nk.keys.universes[k.uni].pats) > 0 || nk.objects.allowedFree(state, 0)
}

// othersLeft reports whether a key can be completed to one that has not been
// taken.
func (nk *nextKeys) othersLeft(key int32) bool {
	if left, ok := nk.others[key]; ok {
		return left
	}
	k := nk.keys.states.Keys[key]
	m := nk.texts.machines[k.free-1]
	n := 0
	for _, id := range nk.keys.takenLists.All[k.taken] {
		q := k.at
		for _, r := range nk.sets.names[id][k.depth:] {
			if q = m.Step(q, r); q == regular.Dead {
				break
			}
		}
		if q != regular.Dead && m.Accepting(q) {
			n++
		}
	}
	left := m.Count(k.at, n+1) > n
	nk.others.Put(key, left)
	return left
}
