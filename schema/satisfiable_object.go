package schema

import (
	"math/bits"
	"slices"

	"stencil/schema/logic"
	"stencil/schema/syntax"
)

// completable reports whether some members complete an object in state x
// whose demands leave a choice.
func (ob *objects) completable(x *objState) bool {
	if ob.likely(x, x.dyn, ob.missing(x)) {
		return true
	}
	c := &chooser{objects: ob, x: x, steps: ob.opt.Limits.Steps >> 6}
	ok := c.solve(nil, []logic.Form{x.dyn})
	if c.steps < 0 && !ok {
		ob.limit("steps", ob.opt.Limits.Steps)
	}
	return ok
}

// likely reports whether f surely holds for the object that gets the members
// it has to have and no others. It may say no where the answer is yes.
func (ob *objects) likely(x *objState, f logic.Form, must []uint64) bool {
	info := &ob.forms.Info[f]
	uni := ob.keys.universes[x.uni]
	switch info.Op {
	case logic.OpNo:
		return false
	case logic.OpYes:
		return true
	case logic.OpAnd:
		for _, k := range info.Kids {
			if !ob.likely(x, k, must) {
				return false
			}
		}
		return true
	case logic.OpOr:
		for _, k := range info.Kids {
			if ob.likely(x, k, must) {
				return true
			}
		}
		return false
	}
	switch l := info.Lit; l.Kind {
	case logic.AllKeys:
		set := &ob.sets.list[l.A]
		for i, w := range must {
			for ; w != 0; w &= w - 1 {
				n := int32(i<<6 + bits.TrailingZeros64(w))
				if ob.keys.member(set, uni, n, ob.keys.nameBits(uni, n)) {
					return false
				}
			}
		}
		return true
	case logic.MaxProps:
		n := int32(0)
		for _, w := range must {
			n += int32(bits.OnesCount64(w))
		}
		return n <= l.A
	case logic.MinProps:
		return false
	}
	// Some member: one that has to be there, fulfilling nothing special.
	name, one := ob.sets.list[info.Lit.A].single()
	if !one || info.Lit.Goal != logic.Always {
		return false
	}
	i, known := uni.index[name]
	return known && must[i>>6]>>(i&63)&1 != 0
}

// chooser looks for a choice of literals that makes a formula true and that the
// members of an object can fulfil. It is a small DPLL: literals that must hold are
// propagated through the disjunctions, and only when nothing follows any more is
// one of them decided, the one with the fewest alternatives left. Instead of
// clauses learnt it relies on the memory of what goals have values.
type chooser struct {
	objects *objects
	x       *objState
	steps   int
	// accept, if it isn't nil, is given the literals of each choice that
	// was found and says whether to stop there.
	accept func(lits []logic.Lit) bool
}

// solve reports whether all of todo can be made true together with lits.
func (c *chooser) solve(lits []logic.Lit, todo []logic.Form) bool {
	s := c.objects
	var choices []logic.Form
	for len(todo) > 0 {
		if c.steps--; c.steps < 0 || s.err != nil {
			return false
		}
		f := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch info := &s.forms.Info[f]; info.Op {
		case logic.OpNo:
			return false
		case logic.OpLit:
			if !containsLit(lits, info.Lit) {
				lits = append(lits[:len(lits):len(lits)], info.Lit)
			}
		case logic.OpAnd:
			todo = append(todo[:len(todo):len(todo)], info.Kids...)
		case logic.OpOr:
			choices = append(choices, f)
		}
	}
	if !s.possible(c.x, lits) {
		return false
	}
	// Drop what is true already and alternatives that can't be; take the
	// disjunction with the fewest left.
	var best []logic.Form
	var rest []logic.Form
	for _, f := range choices {
		s.goals.Meter.Step(1 + len(s.forms.Info[f].Kids))
		var left []logic.Form
		satisfied := false
		for _, k := range s.forms.Info[f].Kids {
			if c.steps--; c.steps < 0 {
				return false
			}
			l := s.forms.Info[k]
			if l.Op == logic.OpLit {
				if containsLit(lits, l.Lit) {
					satisfied = true
					break
				}
				if !s.possible(c.x, append(lits[:len(lits):len(lits)], l.Lit)) {
					continue
				}
			}
			left = append(left, k)
		}
		if satisfied {
			continue
		}
		if len(left) == 0 {
			return false
		}
		if best == nil || len(left) < len(best) {
			if best != nil {
				rest = append(rest, s.forms.Or(best...))
			}
			best = left
		} else {
			rest = append(rest, s.forms.Or(left...))
		}
	}
	if best == nil {
		return c.accept == nil || c.accept(lits)
	}
	for _, k := range best {
		if c.solve(lits, append(rest[:len(rest):len(rest)], k)) {
			return true
		}
		if c.steps < 0 {
			return false
		}
	}
	return false
}

func containsLit(list []logic.Lit, l logic.Lit) bool {
	for _, x := range list {
		if x == l {
			return true
		}
	}
	return false
}

// possible reports whether an object in state x can get members that
// fulfil all of lits.
func (ob *objects) possible(x *objState, lits []logic.Lit) bool {
	_, ok := ob.fulfil(x, lits, ob.sat.satisfiable)
	return ok
}

// fulfil finds members for an object in state x that fulfil all of lits. can
// says which goals have values.
func (ob *objects) fulfil(x *objState, lits []logic.Lit, can func(logic.Goal) bool) (*placer, bool) {
	uni := ob.keys.universes[x.uni]
	ob.goals.Meter.Step(1 + uni.words)
	p := &placer{objects: ob, x: x, uni: uni, st: ob.statics[x.static], can: can, must: ob.missing(x), some: map[int32]logic.Goal{}}
	least, most := 0, syntax.MaxCount
	for _, l := range lits {
		switch l.Kind {
		case logic.MinProps:
			least = max(least, int(l.A))
		case logic.MaxProps:
			most = min(most, int(l.A))
		case logic.AllKeys:
			p.every = append(p.every, l)
		case logic.SomeKey:
			name, one := ob.sets.list[l.A].single()
			if !one {
				p.other = append(p.other, l)
				continue
			}
			i := uni.index[name]
			if ob.isUsed(x, i) {
				return nil, false
			}
			p.must[i>>6] |= 1 << (i & 63)
			ob.goals.AddTo(p.some, i, l.Goal)
		}
	}
	count := 0
	for i, w := range p.must {
		for ; w != 0; w &= w - 1 {
			count++
			if !can(p.demand(int32(i<<6+bits.TrailingZeros64(w)), 0)) {
				return nil, false
			}
		}
	}
	p.room = most - count
	if !p.place(0) {
		return nil, false
	}
	count += p.added + len(p.slots)
	if count > most || least > most {
		return nil, false
	}
	return p, p.fill(least - count)
}

// placer finds members for literals that demand some member: with a key in a set
// and a value for a goal. One member can fulfil several. It backtracks over the
// members that have to be there anyway, other names, and keys that aren't names.
type placer struct {
	objects *objects
	x       *objState
	uni     *universe
	st      *static
	can     func(logic.Goal) bool // whether a goal has values
	every   []logic.Lit
	must    []uint64 // names that there will be
	some    map[int32]logic.Goal
	other   []logic.Lit
	room    int // members that may still be added
	added   int // names added
	slots   []slot
	extra   int // members with any keys that aren't names, to have enough
	tries   int
}

// demand returns what a member has to fulfil.
func (p *placer) demand(name int32, matching uint64) logic.Goal {
	s := p.objects
	s.goals.Meter.Step(1 + len(p.every))
	g := s.memberGoal(p.st, name, matching)
	if name >= 0 {
		matching = s.keys.nameBits(p.uni, name)
		if more, ok := p.some[name]; ok {
			g = s.goals.And(g, more)
		}
	}
	for _, l := range p.every {
		if s.keys.member(&s.sets.list[l.A], p.uni, name, matching) {
			g = s.goals.And(g, l.Goal)
		}
	}
	return g
}

// fill adds n members with any keys, if it can.
func (p *placer) fill(n int) bool {
	if n <= 0 {
		return true
	}
	if p.possible(slot{g: logic.Always}) {
		p.extra = n
		return true
	}
	for i := int32(0); int(i) < len(p.uni.names) && n > 0; i++ {
		bit := uint64(1) << (i & 63)
		if p.must[i>>6]&bit == 0 && !p.objects.isUsed(p.x, i) && p.can(p.demand(i, 0)) {
			p.must[i>>6] |= bit
			n--
		}
	}
	return n == 0
}

// A slot is a member whose key is none of the universe's names.
type slot struct {
	g    logic.Goal
	sets []int32
}

// maxPlacements bounds the search.
const maxPlacements = 4000

// possible reports whether there is a key in all the sets of a slot whose
// value can fulfil its goal.
func (p *placer) possible(x slot) bool {
	return slices.ContainsFunc(p.objects.keys.freeClasses(p.uni), func(matching uint64) bool { return p.fits(x, matching) })
}

// fits reports whether a key of a class may take a slot.
func (p *placer) fits(x slot, matching uint64) bool {
	for _, set := range x.sets {
		if !p.objects.keys.member(&p.objects.sets.list[set], p.uni, -1, matching) {
			return false
		}
	}
	return p.can(p.objects.goals.And(p.demand(-1, matching), x.g))
}

// place finds a member for each demand from the i-th on.
func (p *placer) place(i int) bool {
	if i == len(p.other) {
		return true
	}
	if p.tries++; p.tries > maxPlacements {
		return false
	}
	l := p.other[i]
	set := &p.objects.sets.list[l.A]
	fresh := func() bool {
		x := slot{l.Goal, []int32{l.A}}
		if p.added+len(p.slots) >= p.room || !p.possible(x) {
			return false
		}
		p.slots = append(p.slots, x)
		if p.place(i + 1) {
			return true
		}
		p.slots = p.slots[:len(p.slots)-1]
		return false
	}
	roomy := p.room-p.added-len(p.slots) >= len(p.other)-i
	if roomy && fresh() {
		return true
	}
	for j := range p.slots {
		old := p.slots[j]
		x := slot{p.objects.goals.And(old.g, l.Goal), append(old.sets[:len(old.sets):len(old.sets)], l.A)}
		if p.possible(x) {
			p.slots[j] = x
			if p.place(i + 1) {
				return true
			}
			p.slots[j] = old
		}
	}
	// First members that there have to be anyway, then others.
	for pass := range 2 {
		p.objects.goals.Meter.Step(len(p.uni.names) / 8)
		for n := range int32(len(p.uni.names)) {
			bit := uint64(1) << (n & 63)
			has := p.must[n>>6]&bit != 0
			if has != (pass == 0) || !has && (p.objects.isUsed(p.x, n) || p.added+len(p.slots) >= p.room) {
				continue
			}
			if !p.objects.keys.member(set, p.uni, n, p.objects.keys.nameBits(p.uni, n)) || !p.can(p.objects.goals.And(p.demand(n, 0), l.Goal)) {
				continue
			}
			old, had := p.some[n]
			p.objects.goals.AddTo(p.some, n, l.Goal)
			if !has {
				p.must[n>>6] |= bit
				p.added++
			}
			if p.place(i + 1) {
				return true
			}
			if !has {
				p.must[n>>6] &^= bit
				p.added--
			}
			if had {
				p.some[n] = old
			} else {
				delete(p.some, n)
			}
		}
	}
	return !roomy && fresh()
}
