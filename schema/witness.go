package schema

import (
	"math/bits"
	"slices"

	"stencil/schema/jsondoc"
)

// A witness is the rest of an object: members that fulfil what is still
// demanded, and the length of the rest in the compact layout with the
// closing brace, each member with a comma.
type witness struct {
	members []finishMember
	size    int
}

// maxWitnesses is how many ways to complete an object are compared.
const maxWitnesses = 32

// finishObject returns members that complete an object in a state, and the
// size of the rest with the closing brace. first says that no comma is
// needed before the first of them.
func (s *source) finishObject(state int32, first bool) ([]finishMember, int) {
	w, ok := s.witnesses[state]
	if !ok {
		cuts := s.cuts
		w = s.witness(state)
		if s.cuts == cuts {
			s.witnesses[state] = w
		}
	}
	if first && len(w.members) > 0 && w.size != noFinish {
		return w.members, w.size - 1
	}
	return w.members, w.size
}

// witness completes an object by choosing what is to be true of it, as
// [source.completable] does, rather than member by member: the number of
// states on the way doesn't matter.
func (s *source) witness(state int32) *witness {
	x := s.objects.states.keys[state]
	best := &witness{size: noFinish}
	if s.likely(&x, x.dyn, s.missing(&x)) {
		s.tryWitness(state, &x, nil, best)
		return best
	}
	found := 0
	c := &chooser{s: s, x: &x, steps: s.opt.Limits.Steps >> 6, accept: func(lits []lit) bool {
		s.tryWitness(state, &x, lits, best)
		found++
		return found == maxWitnesses
	}}
	c.solve(nil, []form{x.dyn})
	if best.size == noFinish && c.steps < 0 {
		s.limit("steps", s.opt.Limits.Steps)
	}
	return best
}

// tryWitness puts members that fulfil lits into best if they are shorter.
func (s *source) tryWitness(state int32, x *objState, lits []lit, best *witness) {
	p, ok := s.fulfil(x, lits, func(g goal) bool { return s.shortestValue(g).size != noFinish })
	if !ok {
		return
	}
	w := witness{size: 1}
	add := func(key string, g goal) {
		w.members = append(w.members, finishMember{key, g})
		n := s.shortestValue(g).size
		w.size = min(w.size+len(jsondoc.AppendQuoted(nil, key))+2+n, noFinish)
		if w.size > maxShortest {
			s.limit("bytes in the shortest document", maxShortest)
		}
	}
	for i, word := range p.must {
		for ; word != 0; word &= word - 1 {
			n := int32(i<<6 + bits.TrailingZeros64(word))
			add(s.names[p.fam.names[n]], p.demand(n, 0))
		}
	}
	slots := p.slots
	for range p.extra {
		slots = append(slots, slot{g: always})
	}
	for _, x := range slots {
		if w.size >= best.size {
			return
		}
		fits := func(m uint64) bool { return p.fits(x, m) }
		key, matching, ok := s.freshKey(s.anyKey(state), false, fits, func(key int32) bool {
			return slices.ContainsFunc(s.reachable(p.fam, s.objects.keyStates.keys[key].vec), fits)
		})
		if !ok {
			return
		}
		if state, ok = s.withFree(state, key); !ok {
			return
		}
		add(key, s.goals.and(p.demand(-1, matching), x.g))
	}
	if w.size < best.size {
		*best = w
	}
}

// freshKey returns a short end for a key that isn't a name, wasn't read
// before and is of a class that fits, from a key state. begun says that
// something of the key was read, alive whether such a key may go on from a
// state.
func (s *source) freshKey(key int32, begun bool, fits func(matching uint64) bool, alive func(key int32) bool) (text string, matching uint64, ok bool) {
	type place struct {
		key  int32
		text string
	}
	queue := []place{{key: key}}
	seen := map[int32]bool{}
	for steps := 0; len(queue) > 0 && steps < 20000; steps++ {
		p := queue[0]
		queue = queue[1:]
		if name, m := s.keyEnd(p.key); name == -1 && fits(m) && (p.text != "" || begun) {
			return p.text, m, true
		}
		k := s.objects.keyStates.keys[p.key]
		chars := []rune{'a', 'b', '_', '0', '-'}
		chars = append(chars, s.keySamples(k)...)
		for _, r := range chars {
			next := s.keyStep(p.key, r)
			if seen[next] || !alive(next) {
				continue
			}
			seen[next] = true
			queue = append(queue, place{next, p.text + string(r)})
		}
	}
	// Nothing but the empty key may be left.
	if name, m := s.keyEnd(key); name == -1 && fits(m) {
		return "", m, true
	}
	return "", 0, false
}
