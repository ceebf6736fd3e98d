package schema

import "math/bits"

// completable reports whether some members complete an object in state x
// whose demands leave a choice: it tries the conjunctions of the demands'
// disjunctive normal form until one is possible.
func (s *source) completable(x *objState) bool {
	ok := false
	steps := s.opt.Limits.Steps
	if !s.forms.branches(x.dyn, &steps, func(lits []lit) bool {
		ok = s.branchPossible(x, lits)
		return !ok && s.err == nil
	}) && !ok {
		s.limit("steps", s.opt.Limits.Steps)
	}
	return ok
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
