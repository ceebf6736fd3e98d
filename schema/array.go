package schema

import (
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/logic"
)

// arrState is the state of an array between two items.
type arrState struct {
	f       logic.Form // demands on the items to come, which are numbered from the next one
	seen    int32      // if items are compared: list of the items read
	pending bool       // an item was read that is not in seen; used for masks only
}

// seenItem is a list of values, linked from the last one.
type seenItem struct {
	parent int32
	g      logic.Goal // the value as a goal
}

// arrays computes the states and transitions of arrays.
type arrays struct {
	*base
	views   *views
	derive  *deriver
	sat     *solver
	objects *objects
	count   *counts

	states     []arrState
	index      logic.Memo[arrState, int32]
	seen       []seenItem
	seenIndex  logic.Memo[seenItem, int32]
	moves      logic.Memo[int32, []move]
	soundness  logic.Memo[logic.Form, bool]
	uniqueness logic.Memo[logic.Form, bool]
	attained   logic.Memo[int32, int] // by item list; see attainable
}

func newArrays(b *base, vs *views, dv *deriver, sv *solver, obj *objects) *arrays {
	return &arrays{base: b, views: vs, derive: dv, sat: sv, objects: obj,
		seen: []seenItem{{-1, logic.Never}}}
}

// isUnique reports whether f may depend on items being equal.
func (ar *arrays) isUnique(f logic.Form) bool {
	u, ok := ar.uniqueness[f]
	if !ok {
		u = ar.forms.Mentions(f, logic.Unique) || ar.forms.Mentions(f, logic.NotUnique)
		ar.uniqueness.Put(f, u)
	}
	return u
}

// start returns the initial state of an array that has to fulfil g, or -1.
func (ar *arrays) start(g logic.Goal) int32 {
	f := logic.Form(ar.views.of(g, jArray))
	if !ar.sound(f, 0) {
		return -1
	}
	return ar.intern(arrState{f: f})
}

func (ar *arrays) satisfiable(f logic.Form) bool { return ar.sound(f, 0) }

func (ar *arrays) intern(x arrState) int32 {
	if i, ok := ar.index[x]; ok {
		return i
	}
	i := int32(len(ar.states))
	ar.states = append(ar.states, x)
	ar.index.Put(x, i)
	return i
}

// notSeen returns the goal of differing from every item of a list.
func (ar *arrays) notSeen(seen int32) logic.Goal {
	var list []logic.Goal
	for ; seen != 0; seen = ar.seen[seen].parent {
		ar.goals.Meter.Step(1)
		list = append(list, ar.goals.Not(ar.seen[seen].g))
	}
	return ar.goals.And(list...)
}

// itemMoves returns the possible transitions over one more item: those of the
// derivative whose goal has values and whose state can be completed.
func (ar *arrays) itemMoves(state int32) []move {
	if m, ok := ar.moves[state]; ok {
		return m
	}
	x := ar.states[state]
	distinct := logic.Always
	if ar.isUnique(x.f) {
		distinct = ar.notSeen(x.seen)
	}
	var out []move
	for _, p := range ar.derive.byItem(x.f, distinct) {
		if !ar.sat.satisfiable(p.g) {
			continue
		}
		if !ar.sound(p.f, x.seen) {
			// The transition may be possible only if this item equals one to
			// come.
			if p.g = ar.goals.And(p.g, ar.repeatable(p.f, x.seen)); !ar.sat.satisfiable(p.g) {
				continue
			}
		}
		y := arrState{f: p.f}
		if ar.isUnique(p.f) {
			y.seen, y.pending = x.seen, x.pending
		}
		out = append(out, move{p.g, ar.intern(y)})
	}
	ar.moves.Put(state, out)
	return out
}

// manyItems is a number of items that no document exceeds.
const manyItems = 1000

// Kinds of values so numerous, for every first byte, that excluding some of them
// never excludes a possible first byte.
const (
	manyStrings = 1 << iota
	manyArrays
	manyObjects
)

// plenty returns the kinds of which the next item has so many possible values; 0
// if none.
func (ar *arrays) plenty(state int32) int32 {
	if len(ar.itemMoves(state)) == 0 || ar.forms.Mentions(ar.states[state].f, logic.NotUnique) {
		return 0
	}
	var out int32
	for _, p := range ar.derive.byItem(ar.states[state].f, logic.Always) {
		if ar.views.of(p.g, jString) == int32(ar.lang.Any) {
			out |= manyStrings
		}
		if st := ar.start(p.g); st >= 0 && ar.count.array(st, manyItems) == manyItems {
			out |= manyArrays
		}
		if st := ar.objects.start(p.g); st >= 0 && ar.count.object(st, manyItems) == manyItems {
			out |= manyObjects
		}
	}
	return out
}

// doubtful reports whether the items read may have used up all values that begin
// with byte b. Then tokens across such a value are checked one by one.
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

// withItem returns the state with a further value read; ok is false if the array
// can't be completed then.
func (ar *arrays) withItem(state int32, v *jsondoc.Value) (next int32, ok bool) {
	x := ar.states[state]
	item := seenItem{x.seen, ar.goals.Constant(v)}
	i, known := ar.seenIndex[item]
	if !known {
		i = int32(len(ar.seen))
		ar.seen = append(ar.seen, item)
		ar.seenIndex.Put(item, i)
	}
	x.seen = i
	if !ar.sound(x.f, x.seen) {
		return 0, false
	}
	return ar.intern(x), true
}

// maxLookahead bounds the number of items simulated to decide whether an array
// can be completed. Beyond it, demands don't differ from item to item.
const maxLookahead = 4096

// sound reports whether items can complete an array that has to fulfil f. If
// items are compared, seen lists those already read.
func (ar *arrays) sound(f logic.Form, seen int32) bool {
	if f == logic.No {
		return false
	}
	if ar.forms.Final(f) {
		return true
	}
	unique := ar.isUnique(f)
	if !unique {
		if ok, known := ar.soundness[f]; known {
			return ok
		}
	}
	since := ar.guesses
	steps := ar.opt.Limits.Steps
	ok := false
	if !ar.forms.Branches(f, &steps, func(lits []logic.Lit) bool {
		ok = ar.possible(lits, seen, nil)
		return !ok && ar.err == nil
	}) && !ok {
		ar.limit("steps", ar.opt.Limits.Steps)
	}
	if !unique && ar.firm(since, ok) {
		ar.soundness.Put(f, ok)
	}
	return ok
}
