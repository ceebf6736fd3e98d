package schema

import (
	"math/bits"
	"slices"

	"stencil/schema/syntax"
)

// completable reports whether some members complete an object in state x
// whose demands leave a choice.
func (ob *objects) completable(x *objState) bool {
	if ob.likely(x, x.dyn, ob.missing(x)) {
		return true
	}
	c := &chooser{objects: ob, x: x, steps: ob.opt.Limits.Steps >> 6}
	ok := c.solve(nil, []form{x.dyn})
	if c.steps < 0 && !ok {
		ob.limit("steps", ob.opt.Limits.Steps)
	}
	return ok
}

// likely reports whether f surely holds for the object that gets the members
// it has to have and no others. It may say no where the answer is yes.
func (ob *objects) likely(x *objState, f form, must []uint64) bool {
	info := &ob.forms.info[f]
	fam := ob.keys.families[x.fam]
	switch info.op {
	case opNo:
		return false
	case opYes:
		return true
	case opAnd:
		for _, k := range info.kids {
			if !ob.likely(x, k, must) {
				return false
			}
		}
		return true
	case opOr:
		for _, k := range info.kids {
			if ob.likely(x, k, must) {
				return true
			}
		}
		return false
	}
	switch l := info.lit; l.kind {
	case litAllKeys:
		set := &ob.sets.list[l.a]
		for i, w := range must {
			for ; w != 0; w &= w - 1 {
				n := int32(i<<6 + bits.TrailingZeros64(w))
				if ob.keys.member(set, fam, n, ob.keys.nameBits(fam, n)) {
					return false
				}
			}
		}
		return true
	case litMaxProps:
		n := int32(0)
		for _, w := range must {
			n += int32(bits.OnesCount64(w))
		}
		return n <= l.a
	case litMinProps:
		return false
	}
	// Some member: one that has to be there, fulfilling nothing special.
	name, one := ob.sets.list[info.lit.a].single()
	if !one || info.lit.g != always {
		return false
	}
	i, known := fam.index[name]
	return known && must[i>>6]>>(i&63)&1 != 0
}

// chooser looks for a choice of literals that makes a formula true and can
// be fulfilled by an object: a search with propagation, in which a
// disjunction is decided only when nothing follows without deciding it.
type chooser struct {
	objects *objects
	x       *objState
	steps   int
	// accept, if it isn't nil, is given the literals of each choice that
	// was found and says whether to stop there.
	accept func(lits []lit) bool
}

// solve reports whether all of todo can be made true together with lits.
func (c *chooser) solve(lits []lit, todo []form) bool {
	s := c.objects
	var choices []form
	for len(todo) > 0 {
		if c.steps--; c.steps < 0 || s.err != nil {
			return false
		}
		f := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch info := &s.forms.info[f]; info.op {
		case opNo:
			return false
		case opLit:
			if !containsLit(lits, info.lit) {
				lits = append(lits[:len(lits):len(lits)], info.lit)
			}
		case opAnd:
			todo = append(todo[:len(todo):len(todo)], info.kids...)
		case opOr:
			choices = append(choices, f)
		}
	}
	if !s.possible(c.x, lits) {
		return false
	}
	// Drop what is true already and alternatives that can't be; take the
	// disjunction with the fewest left.
	var best []form
	var rest []form
	for _, f := range choices {
		var left []form
		satisfied := false
		for _, k := range s.forms.info[f].kids {
			if c.steps--; c.steps < 0 {
				return false
			}
			l := s.forms.info[k]
			if l.op == opLit {
				if containsLit(lits, l.lit) {
					satisfied = true
					break
				}
				if !s.possible(c.x, append(lits[:len(lits):len(lits)], l.lit)) {
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
				rest = append(rest, s.forms.or(best...))
			}
			best = left
		} else {
			rest = append(rest, s.forms.or(left...))
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

func containsLit(list []lit, l lit) bool {
	for _, x := range list {
		if x == l {
			return true
		}
	}
	return false
}

// possible reports whether an object in state x can get members that
// fulfil all of lits.
func (ob *objects) possible(x *objState, lits []lit) bool {
	_, ok := ob.fulfil(x, lits, ob.sat.satisfiable)
	return ok
}

// fulfil finds members for an object in state x that fulfil all of lits. can
// says which goals have values.
func (ob *objects) fulfil(x *objState, lits []lit, can func(goal) bool) (*placer, bool) {
	fam := ob.keys.families[x.fam]
	p := &placer{objects: ob, x: x, fam: fam, st: ob.statics[x.static], can: can, must: ob.missing(x), some: map[int32]goal{}}
	least, most := 0, syntax.MaxCount
	for _, l := range lits {
		switch l.kind {
		case litMinProps:
			least = max(least, int(l.a))
		case litMaxProps:
			most = min(most, int(l.a))
		case litAllKeys:
			p.every = append(p.every, l)
		case litSomeKey:
			name, one := ob.sets.list[l.a].single()
			if !one {
				p.other = append(p.other, l)
				continue
			}
			i := fam.index[name]
			if ob.isUsed(x, i) {
				return nil, false
			}
			p.must[i>>6] |= 1 << (i & 63)
			ob.goals.addTo(p.some, i, l.g)
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

// placer finds members for demands that some key of a set has a value for a
// goal: one member can fulfil several of them.
type placer struct {
	objects *objects
	x       *objState
	fam     *family
	st      *static
	can     func(goal) bool // whether a goal has values
	every   []lit
	must    []uint64 // names that there will be
	some    map[int32]goal
	other   []lit
	room    int // members that may still be added
	added   int // names added
	slots   []slot
	extra   int // members with any keys that aren't names, to have enough
	tries   int
}

// demand returns what a member has to fulfil.
func (p *placer) demand(name int32, matching uint64) goal {
	s := p.objects
	g := s.memberGoal(p.st, name, matching)
	if name >= 0 {
		matching = s.keys.nameBits(p.fam, name)
		if more, ok := p.some[name]; ok {
			g = s.goals.and(g, more)
		}
	}
	for _, l := range p.every {
		if s.keys.member(&s.sets.list[l.a], p.fam, name, matching) {
			g = s.goals.and(g, l.g)
		}
	}
	return g
}

// fill adds n members with any keys, if it can.
func (p *placer) fill(n int) bool {
	if n <= 0 {
		return true
	}
	if p.possible(slot{g: always}) {
		p.extra = n
		return true
	}
	for i := int32(0); int(i) < len(p.fam.names) && n > 0; i++ {
		bit := uint64(1) << (i & 63)
		if p.must[i>>6]&bit == 0 && !p.objects.isUsed(p.x, i) && p.can(p.demand(i, 0)) {
			p.must[i>>6] |= bit
			n--
		}
	}
	return n == 0
}

// slot is a member whose key is none of the family's names.
type slot struct {
	g    goal
	sets []int32
}

// maxPlacements bounds the search.
const maxPlacements = 4000

// possible reports whether there is a key in all the sets of a slot whose
// value can fulfil its goal.
func (p *placer) possible(x slot) bool {
	return slices.ContainsFunc(p.objects.keys.freeClasses(p.fam), func(matching uint64) bool { return p.fits(x, matching) })
}

// fits reports whether a key of a class may take a slot.
func (p *placer) fits(x slot, matching uint64) bool {
	for _, set := range x.sets {
		if !p.objects.keys.member(&p.objects.sets.list[set], p.fam, -1, matching) {
			return false
		}
	}
	return p.can(p.objects.goals.and(p.demand(-1, matching), x.g))
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
	set := &p.objects.sets.list[l.a]
	fresh := func() bool {
		x := slot{l.g, []int32{l.a}}
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
		x := slot{p.objects.goals.and(old.g, l.g), append(old.sets[:len(old.sets):len(old.sets)], l.a)}
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
		for n := range int32(len(p.fam.names)) {
			bit := uint64(1) << (n & 63)
			has := p.must[n>>6]&bit != 0
			if has != (pass == 0) || !has && (p.objects.isUsed(p.x, n) || p.added+len(p.slots) >= p.room) {
				continue
			}
			if !p.objects.keys.member(set, p.fam, n, p.objects.keys.nameBits(p.fam, n)) || !p.can(p.objects.goals.and(p.demand(n, 0), l.g)) {
				continue
			}
			old, had := p.some[n]
			p.objects.goals.addTo(p.some, n, l.g)
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
