package schema

import "math/bits"

// completable reports whether some members complete an object in state x
// whose demands leave a choice.
func (s *source) completable(x *objState) bool {
	if s.likely(x, x.dyn, s.missing(x)) {
		return true
	}
	c := &chooser{s: s, x: x, steps: s.opt.Limits.Steps >> 6}
	ok := c.solve(nil, []form{x.dyn})
	if c.steps < 0 && !ok {
		s.limit("steps", s.opt.Limits.Steps)
	}
	return ok
}

// likely reports whether f surely holds for the object that gets the members
// it has to have and no others. It may say no where the answer is yes.
func (s *source) likely(x *objState, f form, must []uint64) bool {
	info := &s.forms.info[f]
	fam := s.objects.families[x.fam]
	switch info.op {
	case opNo:
		return false
	case opYes:
		return true
	case opAnd:
		for _, k := range info.kids {
			if !s.likely(x, k, must) {
				return false
			}
		}
		return true
	case opOr:
		for _, k := range info.kids {
			if s.likely(x, k, must) {
				return true
			}
		}
		return false
	}
	switch l := info.lit; l.kind {
	case litAllKeys:
		set := &s.sets[l.a]
		for i, w := range must {
			for ; w != 0; w &= w - 1 {
				n := int32(i<<6 + bits.TrailingZeros64(w))
				if s.member(set, fam, n, s.nameBits(fam, n)) {
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
	name, one := s.sets[info.lit.a].single()
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
	s     *source
	x     *objState
	steps int
}

// solve reports whether all of todo can be made true together with lits.
func (c *chooser) solve(lits []lit, todo []form) bool {
	s := c.s
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
	if !s.branchPossible(c.x, lits) {
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
				if !s.branchPossible(c.x, append(lits[:len(lits):len(lits)], l.lit)) {
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
		return true
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

// branchPossible reports whether an object in state x can get members that
// fulfil all of lits.
func (s *source) branchPossible(x *objState, lits []lit) bool {
	fam, st := s.objects.families[x.fam], s.objects.statics[x.static]
	must := s.missing(x)
	var every, other []lit
	least, most := 0, maxCount
	some := map[int32]goal{}
	for _, l := range lits {
		switch l.kind {
		case litMinProps:
			least = max(least, int(l.a))
		case litMaxProps:
			most = min(most, int(l.a))
		case litAllKeys:
			every = append(every, l)
		case litSomeKey:
			name, one := s.sets[l.a].single()
			if !one {
				other = append(other, l)
				continue
			}
			i := fam.index[name]
			if s.isUsed(x, i) {
				return false
			}
			must[i>>6] |= 1 << (i & 63)
			s.addGoal(some, i, l.g)
		}
	}
	demand := func(name int32, matching uint64) goal {
		g := s.memberGoal(st, name, matching)
		if name >= 0 {
			matching = s.nameBits(fam, name)
			if more, ok := some[name]; ok {
				g = s.goals.and(g, more)
			}
		}
		for _, l := range every {
			if s.member(&s.sets[l.a], fam, name, matching) {
				g = s.goals.and(g, l.g)
			}
		}
		return g
	}
	count := 0
	for i, w := range must {
		for ; w != 0; w &= w - 1 {
			count++
			if !s.isProductive(demand(int32(i<<6+bits.TrailingZeros64(w)), 0)) {
				return false
			}
		}
	}
	p := &placer{s: s, x: x, fam: fam, demand: demand, must: must, some: some, other: other, room: most - count}
	if !p.place(0) {
		return false
	}
	count = p.named(count)
	fresh := len(p.slots)
	count += fresh
	if count > most {
		return false
	}
	if count >= least {
		return true
	}
	for _, matching := range s.freeClasses(fam) {
		if s.isProductive(demand(-1, matching)) {
			return most >= least
		}
	}
	for i := int32(0); int(i) < len(fam.names) && count < least; i++ {
		if must[i>>6]>>(i&63)&1 == 0 && !s.isUsed(x, i) && s.isProductive(demand(i, 0)) {
			count++
		}
	}
	return count >= least && most >= least
}

// placer finds members for demands that some key of a set has a value for a
// goal: one member can fulfil several of them.
type placer struct {
	s      *source
	x      *objState
	fam    *family
	demand func(name int32, matching uint64) goal
	must   []uint64 // names that there will be
	some   map[int32]goal
	other  []lit
	room   int // members that may still be added
	added  int // names added
	slots  []slot
	tries  int
}

// slot is a member whose key is none of the family's names.
type slot struct {
	g    goal
	sets []int32
}

// maxPlacements bounds the search.
const maxPlacements = 4000

func (p *placer) named(count int) int { return count + p.added }

// possible reports whether there is a key in all the sets of a slot whose
// value can fulfil its goal.
func (p *placer) possible(x slot) bool {
	for _, matching := range p.s.freeClasses(p.fam) {
		in := true
		for _, set := range x.sets {
			in = in && p.s.member(&p.s.sets[set], p.fam, -1, matching)
		}
		if in && p.s.isProductive(p.s.goals.and(p.demand(-1, matching), x.g)) {
			return true
		}
	}
	return false
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
	set := &p.s.sets[l.a]
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
		x := slot{p.s.goals.and(old.g, l.g), append(old.sets[:len(old.sets):len(old.sets)], l.a)}
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
			if has != (pass == 0) || !has && (p.s.isUsed(p.x, n) || p.added+len(p.slots) >= p.room) {
				continue
			}
			if !p.s.member(set, p.fam, n, p.s.nameBits(p.fam, n)) || !p.s.isProductive(p.s.goals.and(p.demand(n, 0), l.g)) {
				continue
			}
			old, had := p.some[n]
			p.s.addGoal(p.some, n, l.g)
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

func (s *source) addGoal(m map[int32]goal, i int32, g goal) {
	if old, ok := m[i]; ok {
		g = s.goals.and(old, g)
	}
	m[i] = g
}

// freeClasses returns the classes of keys that the family doesn't name.
func (s *source) freeClasses(fam *family) []uint64 {
	return s.reachable(fam, s.objects.keyStates[fam.start].vec)
}
