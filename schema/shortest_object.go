package schema

import (
	"slices"

	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/logic"
)

// An objectEnd is the rest of an object: members that fulfil what is still
// demanded, and the length of the rest in the compact layout with the
// closing brace, each member with a comma.
type objectEnd struct {
	members []shortMember
	size    int
}

// object returns members that complete an object in a state, and the size of the rest
// with the closing brace. first reports whether the first of them needs no comma.
func (sh *shortest) object(state int32, first bool) ([]shortMember, int) {
	w, ok := sh.ends[state]
	if !ok {
		cuts := sh.cuts
		x := sh.objects.states.Keys[state]
		w = sh.objectEnd(state, []*partialEnd{{x: &x, first: -1, todo: []logic.Form{x.dyn}}})
		if sh.cuts == cuts {
			sh.ends.Put(state, w)
		}
	}
	if first && len(w.members) > 0 && w.size != noValue {
		return w.members, w.size - 1
	}
	return w.members, w.size
}

// objectFrom is like object, for an end whose first member has one of the given names.
func (sh *shortest) objectFrom(state int32, names []int32) ([]shortMember, int) {
	x := &sh.objects.states.Keys[state]
	uni, st := sh.keys.universes[x.uni], sh.objects.statics[x.static]
	from, to := sh.objects.window(x)
	var roots []*partialEnd
	for _, n := range names {
		if from <= n && n <= to {
			size := 1 + memberSize(sh.sets.names[uni.names[n]], sh.value(sh.objects.memberGoal(st, n, 0)).size)
			roots = append(roots, &partialEnd{first: n, size: min(size, noValue)})
		}
	}
	w := sh.objectEnd(state, roots)
	return w.members, w.size
}

// begin sets what is left out of the root of the ends that begin with a name.
func (sh *shortest) begin(p *partialEnd, state int32) {
	x := sh.objects.before(&sh.objects.states.Keys[state], p.first)
	has := logic.Lit{Kind: logic.SomeKey, A: sh.sets.oneName(sh.keys.universes[x.uni].names[p.first]), Goal: logic.Always}
	p.lits, p.x, p.todo = []logic.Lit{has}, x, []logic.Form{x.dyn}
}

// A partialEnd is a set of possible ends of an object. Its size is a lower bound of
// their sizes.
type partialEnd struct {
	choice
	x     *objState
	first int32 // the name that comes first, or -1
	size  int
	depth int
	todo  []logic.Form // forms not considered yet
	end   *objectEnd   // the only end in the set, once everything is decided
}

// maxPartialEnds is the number of sets visited before the search returns the first end
// that it finds.
const maxPartialEnds = 1 << 13

// objectEnd completes an object by choosing the literals that are to be true, as
// [objects.completable] does, and not member by member: the number of states in between
// doesn't matter. It is a best-first search: further literals never demand less.
func (sh *shortest) objectEnd(state int32, roots []*partialEnd) *objectEnd {
	c := &chooser{objects: sh.objects, can: sh.finite, steps: sh.opt.Limits.Steps >> 3}
	queue := logic.NewQueue((*partialEnd).before)
	for _, r := range roots {
		queue.Push(r)
	}
	for n := 0; queue.Len() > 0 && sh.err == nil; n++ {
		p := queue.Pop()
		switch {
		case p.end != nil:
			return p.end
		case p.members == nil:
			if p.x == nil {
				sh.begin(p, state)
			}
			c.x = p.x
			var ok bool
			p.choice, ok = c.reduce(p.choice, p.todo)
			if ok && n > maxPartialEnds {
				p.choice, ok = c.solve(p.choice)
			}
			if !ok {
				break
			}
			if p.size = sh.leastSize(p); p.size == noValue {
				break
			}
			if p.open == nil {
				if p.end = sh.endWith(state, p); p.end == nil {
					break
				}
				p.size = p.end.size
			}
			queue.Push(p)
		default:
			for _, k := range p.open {
				queue.Push(&partialEnd{choice: choice{lits: p.lits, rest: p.rest}, x: p.x, first: p.first, size: p.size, depth: p.depth + 1, todo: []logic.Form{k}})
			}
		}
		if c.steps < 0 {
			sh.limit("steps", sh.opt.Limits.Steps)
		}
	}
	return &objectEnd{size: noValue}
}

// finite reports whether g has a value that doesn't contain a value being computed.
func (sh *shortest) finite(g logic.Goal) bool { return sh.value(g).size != noValue }

// leastSize returns a lower bound of the sizes of the ends in p.
func (sh *shortest) leastSize(p *partialEnd) int {
	m := p.members
	size := 1 + (len(m.slots)+m.extra)*len(`,"":0`)
	m.each(func(n int32) {
		size = min(size+memberSize(sh.sets.names[m.uni.names[n]], sh.value(m.demand(n, 0)).size), noValue)
	})
	return size
}

// memberSize returns the size of a member with the comma before it.
func memberSize(key string, value int) int {
	return min(len(jsondoc.AppendQuoted(nil, key))+2+value, noValue)
}

// endWith returns the end with the members that p has found, or nil if there is none.
func (sh *shortest) endWith(state int32, p *partialEnd) *objectEnd {
	w := &objectEnd{size: 1}
	add := func(key string, g logic.Goal) {
		sh.goals.Meter.Step(1)
		w.members = append(w.members, shortMember{key, g})
		w.size = min(w.size+memberSize(key, sh.value(g).size), noValue)
		if w.size > maxShortest {
			sh.limit("bytes in the shortest document", maxShortest)
		}
	}
	m := p.members
	if p.first >= 0 {
		add(sh.sets.names[m.uni.names[p.first]], m.demand(p.first, 0))
	}
	m.each(func(n int32) {
		if n != p.first {
			add(sh.sets.names[m.uni.names[n]], m.demand(n, 0))
		}
	})
	slots := m.slots
	for range m.extra {
		slots = append(slots, slot{g: logic.Always})
	}
	for _, x := range slots {
		fits := func(matching uint64) bool { return m.fits(x, matching) }
		key, matching, ok := sh.freshKey(sh.next.beforeAny(state), false, fits, func(key int32) bool {
			return slices.ContainsFunc(sh.keys.reachable(m.uni, sh.keys.states.Keys[key].vec), fits)
		})
		if !ok {
			return nil
		}
		if state, ok = sh.objects.withFree(state, key); !ok {
			return nil
		}
		add(key, sh.goals.And(m.demand(-1, matching), x.g))
	}
	return w
}

// before reports whether p is visited before q. Of sets of the same size, the one with
// more decisions comes first.
func (p *partialEnd) before(q *partialEnd) bool {
	return p.size < q.size || p.size == q.size && (p.end != nil && q.end == nil || p.depth > q.depth)
}

// freshKey returns a short end for a key that isn't a name, has not been read and is of
// a class that fits, from a key state. begun reports whether part of the key was read,
// alive whether such a key may continue from a state.
func (sh *shortest) freshKey(key int32, begun bool, fits func(matching uint64) bool, alive func(key int32) bool) (text string, matching uint64, ok bool) {
	type place struct {
		key  int32
		text string
	}
	const most = 20_000 // key states of a search
	queue := []place{{key: key}}
	seen := map[int32]bool{}
	for steps := 0; len(queue) > 0 && steps < most; steps++ {
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
	// The empty key may be the only one left.
	if name, m := sh.keys.end(key); name == -1 && fits(m) {
		return "", m, true
	}
	return "", 0, false
}
