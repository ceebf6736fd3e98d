package schema

import (
	"math/bits"
	"slices"

	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/syntax"
)

// completable reports whether some members complete an object in state x whose
// demands leave a choice.
func (ob *objects) completable(x *objState) bool {
	if ob.likely(x, x.dyn, ob.missing(x)) {
		return true
	}
	return ob.choose(x, choice{}, x.dyn)
}

// choose reports whether some members of an object in state x make f and the choice
// made before true.
func (ob *objects) choose(x *objState, chosen choice, f logic.Form) bool {
	c := &chooser{objects: ob, x: x, can: ob.sat.satisfiable, steps: ob.opt.Limits.Steps >> 6}
	first, ok := c.reduce(chosen, []logic.Form{f})
	if ok {
		_, ok = c.solve(first)
	}
	if c.steps < 0 && !ok {
		ob.limit("steps", ob.opt.Limits.Steps)
	}
	return ok
}

// likely reports whether f surely holds for the object that gets the required
// members and no others. It may report false for an object that fulfils f.
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
	// For a demand for some member, a required member serves if the goal is trivial.
	name, one := ob.sets.list[info.Lit.A].single()
	if !one || info.Lit.Goal != logic.Always {
		return false
	}
	i, known := uni.find(name)
	return known && must[i>>6]>>(i&63)&1 != 0
}

// chooser searches for literals that make a formula true and that the members of an
// object can fulfil. It is a small DPLL solver: literals that must hold are
// propagated; if the members that they demand don't make a disjunction true, the
// disjunction with the fewest remaining alternatives is decided. Disjunctions that
// these members make true are left alone: if one of many objects has to fit, those
// not begun need no decision. In place of clause learning, it relies on the cached
// satisfiability of goals.
type chooser struct {
	objects *objects
	x       *objState
	can     func(logic.Goal) bool // whether a goal has values for members
	steps   int
}

// A choice is a set of literals, and the formulas that have to be true besides.
type choice struct {
	lits    []logic.Lit
	rest    []logic.Form
	open    []logic.Form // the alternatives of the disjunction to decide next; nil: the members make all of rest true
	members *placer
}

// solve decides what a choice leaves open, so that all of it can be true.
func (c *chooser) solve(x choice) (choice, bool) {
	if x.open == nil {
		return x, true
	}
	for _, k := range x.open {
		y, ok := c.reduce(x, []logic.Form{k})
		if ok {
			y, ok = c.solve(y)
		}
		if ok || c.steps < 0 {
			return y, ok
		}
	}
	return choice{}, false
}

// reduce adds todo to the formulas that have to be true, and propagates those that
// leave no choice.
func (c *chooser) reduce(x choice, todo []logic.Form) (choice, bool) {
	s := c.objects
	for {
		for len(todo) > 0 {
			if c.steps--; c.steps < 0 || s.err != nil {
				return x, false
			}
			f := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			switch info := &s.forms.Info[f]; info.Op {
			case logic.OpNo:
				return x, false
			case logic.OpLit:
				if !slices.Contains(x.lits, info.Lit) {
					x.lits = append(x.lits[:len(x.lits):len(x.lits)], info.Lit)
				}
			case logic.OpAnd:
				todo = append(todo[:len(todo):len(todo)], info.Kids...)
			case logic.OpOr:
				x.rest = append(x.rest[:len(x.rest):len(x.rest)], f)
			}
		}
		var ok bool
		if x.members, ok = s.fulfil(c.x, x.lits, c.can); !ok {
			return x, false
		}
		x.open = nil
		at := -1
		for i, f := range x.rest {
			if x.members.holds(f) {
				continue
			}
			left := c.alternatives(f, x)
			if c.steps < 0 || len(left) == 0 {
				return x, false
			}
			if at < 0 || len(left) < len(x.open) {
				if x.open, at = left, i; len(left) == 1 {
					break
				}
			}
		}
		if len(x.open) != 1 {
			if at >= 0 {
				x.rest = slices.Delete(slices.Clone(x.rest), at, at+1)
			}
			return x, true
		}
		x.rest = slices.Delete(slices.Clone(x.rest), at, at+1)
		todo = x.open
	}
}

// alternatives returns the alternatives of a disjunction that may still become true.
func (c *chooser) alternatives(f logic.Form, x choice) []logic.Form {
	s := c.objects
	var left []logic.Form
	for _, k := range s.forms.Info[f].Kids {
		if c.steps--; c.steps < 0 {
			return nil
		}
		if info := &s.forms.Info[k]; info.Op == logic.OpLit {
			ok, sure := x.members.admits(info.Lit)
			if !sure {
				ok = s.possible(c.x, append(x.lits[:len(x.lits):len(x.lits)], info.Lit))
			}
			if !ok {
				continue
			}
		}
		left = append(left, k)
	}
	return left
}

// possible reports whether an object in state x can get members that
// fulfil all of lits.
func (ob *objects) possible(x *objState, lits []logic.Lit) bool {
	_, ok := ob.fulfil(x, lits, ob.sat.satisfiable)
	return ok
}

// fulfil finds members for an object in state x that fulfil all of lits. can reports
// which goals have values.
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
			i := uni.at(name)
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
	p.most, p.filled = most-count, least > count
	return p, p.fill(least - count)
}

// admits reports whether members fulfil one more literal too. It is sure if these members,
// apart from one that the literal may add, are the only ones to consider.
func (p *placer) admits(l logic.Lit) (ok, sure bool) {
	s := p.objects
	if len(p.other) > 0 || p.filled || l.Kind != logic.SomeKey && l.Kind != logic.AllKeys {
		return false, false
	}
	name, one := s.sets.list[l.A].single()
	if !one {
		return false, false
	}
	i := p.uni.at(name)
	switch has := p.must[i>>6]>>(i&63)&1 != 0; {
	case has:
	case l.Kind == logic.AllKeys:
		return true, true
	case p.most == 0 || s.isUsed(p.x, i):
		return false, true
	}
	return s.sat.satisfiable(s.goals.And(p.demand(i, 0), l.Goal)), true
}

// placer finds members for literals that demand some member, with a key in a set and
// a value for a goal. One member can fulfil several. It backtracks over the members
// that are required anyway, other names, and keys that aren't names.
type placer struct {
	objects *objects
	x       *objState
	uni     *universe
	st      *static
	can     func(logic.Goal) bool // whether a goal has values
	every   []logic.Lit
	must    []uint64 // the names of the members
	some    map[int32]logic.Goal
	other   []logic.Lit
	room    int  // members that may still be added for other
	most    int  // members that may be added once all are found
	filled  bool // extra or others serve only to reach the minimum
	added   int  // names added
	slots   []slot
	extra   int // additional members with any keys that aren't names, to reach the minimum
	tries   int
}

// demand returns the goal that a member has to fulfil.
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

// each calls yield with the names of the members.
func (p *placer) each(yield func(name int32)) {
	for i, w := range p.must {
		for ; w != 0; w &= w - 1 {
			yield(int32(i<<6 + bits.TrailingZeros64(w)))
		}
	}
}

// holds reports whether f surely holds for an object that gets the members found and
// no others, regardless of their values. It may report false although f holds.
func (p *placer) holds(f logic.Form) bool {
	s := p.objects
	s.goals.Meter.Step(1)
	info := &s.forms.Info[f]
	switch info.Op {
	case logic.OpAnd:
		return !slices.ContainsFunc(info.Kids, func(k logic.Form) bool { return !p.holds(k) })
	case logic.OpOr:
		return slices.ContainsFunc(info.Kids, p.holds)
	case logic.OpLit:
		return p.holdsLit(info.Lit)
	}
	return info.Op == logic.OpYes
}

func (p *placer) holdsLit(l logic.Lit) bool {
	count := len(p.slots) + p.extra
	switch l.Kind {
	case logic.MinProps, logic.MaxProps:
		for _, w := range p.must {
			count += bits.OnesCount64(w)
		}
		if l.Kind == logic.MinProps {
			return count >= int(l.A)
		}
		return count <= int(l.A)
	}
	set := &p.objects.sets.list[l.A]
	if name, one := set.single(); one {
		i := p.uni.at(name)
		if p.must[i>>6]>>(i&63)&1 == 0 {
			return l.Kind == logic.AllKeys
		}
		return p.fulfils(i, l.Goal)
	}
	if l.Kind == logic.AllKeys && count > 0 && (set.others || len(set.patterns) > 0) {
		return false
	}
	for i, w := range p.must {
		for ; w != 0; w &= w - 1 {
			n := int32(i<<6 + bits.TrailingZeros64(w))
			if p.objects.keys.member(set, p.uni, n, p.objects.keys.nameBits(p.uni, n)) && p.fulfils(n, l.Goal) != (l.Kind == logic.AllKeys) {
				return l.Kind == logic.SomeKey
			}
		}
	}
	return l.Kind == logic.AllKeys
}

// fulfils reports whether the demands on a member include g.
func (p *placer) fulfils(name int32, g logic.Goal) bool {
	if g == logic.Always {
		return true
	}
	return p.objects.goals.Includes(p.demand(name, 0), g)
}

// fill adds n members with any keys, if possible.
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

// maxPlacements bounds the number of steps of the search.
const maxPlacements = 4000

// possible reports whether some key is in all the sets of a slot and has a value
// that fulfils its goal.
func (p *placer) possible(x slot) bool {
	return slices.ContainsFunc(p.objects.keys.freeClasses(p.uni), func(matching uint64) bool { return p.fits(x, matching) })
}

// fits reports whether a slot may have a key of a class.
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
	// Members that are required anyway come first, then others.
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
