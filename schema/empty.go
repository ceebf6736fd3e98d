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
	fresh := 0 // keys that the schema doesn't name
	for _, l := range other {
		set := &s.sets[l.a]
		found := false
		if count+fresh < most {
			for _, matching := range s.freeClasses(fam) {
				if s.member(set, fam, -1, matching) && s.isProductive(s.goals.and(demand(-1, matching), l.g)) {
					found = true
					fresh++
					break
				}
			}
		}
		for pass := 0; pass < 2 && !found; pass++ {
			// First members that there have to be anyway, then others.
			for i := int32(0); int(i) < len(fam.names) && !found; i++ {
				has := must[i>>6]>>(i&63)&1 != 0
				if has != (pass == 0) || !has && (s.isUsed(x, i) || count+fresh >= most) {
					continue
				}
				if s.member(set, fam, i, s.nameBits(fam, i)) && s.isProductive(s.goals.and(demand(i, 0), l.g)) {
					found = true
					s.addGoal(some, i, l.g)
					if !has {
						must[i>>6] |= 1 << (i & 63)
						count++
					}
				}
			}
		}
		if !found {
			return false
		}
	}
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
