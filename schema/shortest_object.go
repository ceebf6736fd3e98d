package schema

import (
	"math/bits"
	"slices"

	"stencil/schema/jsondoc"
	"stencil/schema/logic"
)

// An objectEnd is the rest of an object: members that fulfil what is still
// demanded, and the length of the rest in the compact layout with the
// closing brace, each member with a comma.
type objectEnd struct {
	members []shortMember
	size    int
}

// maxEnds is how many ways to complete an object are compared.
const maxEnds = 32

// object returns members that complete an object in a state, and the
// size of the rest with the closing brace. first says that no comma is
// needed before the first of them.
func (sh *shortest) object(state int32, first bool) ([]shortMember, int) {
	w, ok := sh.ends[state]
	if !ok {
		cuts := sh.cuts
		w = sh.objectEnd(state)
		if sh.cuts == cuts {
			sh.ends[state] = w
		}
	}
	if first && len(w.members) > 0 && w.size != noValue {
		return w.members, w.size - 1
	}
	return w.members, w.size
}

// objectEnd completes an object by choosing what is to be true of it, as
// [objects.completable] does, rather than member by member: the number of
// states on the way doesn't matter.
func (sh *shortest) objectEnd(state int32) *objectEnd {
	x := sh.objects.states.Keys[state]
	best := &objectEnd{size: noValue}
	if sh.objects.likely(&x, x.dyn, sh.objects.missing(&x)) {
		sh.tryEnd(state, &x, nil, best)
		return best
	}
	found := 0
	c := &chooser{objects: sh.objects, x: &x, steps: sh.opt.Limits.Steps >> 6, accept: func(lits []logic.Lit) bool {
		sh.tryEnd(state, &x, lits, best)
		found++
		return found == maxEnds
	}}
	c.solve(nil, []logic.Form{x.dyn})
	if best.size == noValue && c.steps < 0 {
		sh.limit("steps", sh.opt.Limits.Steps)
	}
	return best
}

// tryEnd puts members that fulfil lits into best if they are shorter.
func (sh *shortest) tryEnd(state int32, x *objState, lits []logic.Lit, best *objectEnd) {
	p, ok := sh.objects.fulfil(x, lits, func(g logic.Goal) bool { return sh.value(g).size != noValue })
	if !ok {
		return
	}
	w := objectEnd{size: 1}
	add := func(key string, g logic.Goal) {
		sh.goals.Meter.Step(1)
		w.members = append(w.members, shortMember{key, g})
		n := sh.value(g).size
		w.size = min(w.size+len(jsondoc.AppendQuoted(nil, key))+2+n, noValue)
		if w.size > maxShortest {
			sh.limit("bytes in the shortest document", maxShortest)
		}
	}
	for i, word := range p.must {
		for ; word != 0; word &= word - 1 {
			n := int32(i<<6 + bits.TrailingZeros64(word))
			add(sh.sets.names[p.uni.names[n]], p.demand(n, 0))
		}
	}
	slots := p.slots
	for range p.extra {
		slots = append(slots, slot{g: logic.Always})
	}
	for _, x := range slots {
		if w.size >= best.size {
			return
		}
		fits := func(m uint64) bool { return p.fits(x, m) }
		key, matching, ok := sh.freshKey(sh.next.beforeAny(state), false, fits, func(key int32) bool {
			return slices.ContainsFunc(sh.keys.reachable(p.uni, sh.keys.states.Keys[key].vec), fits)
		})
		if !ok {
			return
		}
		if state, ok = sh.objects.withFree(state, key); !ok {
			return
		}
		add(key, sh.goals.And(p.demand(-1, matching), x.g))
	}
	if w.size < best.size {
		*best = w
	}
}

// freshKey returns a short end for a key that isn't a name, wasn't read
// before and is of a class that fits, from a key state. begun says that
// something of the key was read, alive whether such a key may go on from a
// state.
func (sh *shortest) freshKey(key int32, begun bool, fits func(matching uint64) bool, alive func(key int32) bool) (text string, matching uint64, ok bool) {
	type place struct {
		key  int32
		text string
	}
	queue := []place{{key: key}}
	seen := map[int32]bool{}
	for steps := 0; len(queue) > 0 && steps < 20000; steps++ {
		p := queue[0]
		queue = queue[1:]
		if name, m := sh.keys.end(p.key); name == -1 && fits(m) && (p.text != "" || begun) {
			return p.text, m, true
		}
		k := sh.keys.states.Keys[p.key]
		chars := []rune{'a', 'b', '_', '0', '-'}
		chars = append(chars, sh.keys.stateSamples(k)...)
		sh.goals.Meter.Step(len(chars))
		for _, r := range chars {
			next := sh.keys.step(p.key, r)
			if seen[next] || !alive(next) {
				continue
			}
			seen[next] = true
			queue = append(queue, place{next, p.text + string(r)})
		}
	}
	// Nothing but the empty key may be left.
	if name, m := sh.keys.end(key); name == -1 && fits(m) {
		return "", m, true
	}
	return "", 0, false
}
