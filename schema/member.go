package schema

import (
	"math/bits"

	"stencil/regular"
	"stencil/schema/syntax"
)

// enter returns the ways to go on after a key of the given class, which must
// not have been read before.
func (s *source) enter(state, name int32, matching uint64) []move {
	key := moveKey{state, int64(name)}
	if name < 0 {
		key.class = -1 - int64(matching)
		if i := s.objects.freeMoves[state]; i != 0 && matching == 0 {
			return s.objects.moves[i-1]
		}
	}
	h := mix(uint64(state), uint64(key.class), 0)
	if i, _ := s.objects.moveKeys.find(&key, h); i >= 0 {
		return s.objects.moves[i]
	}
	x := s.objects.states.keys[state]
	fam, st := s.objects.families[x.fam], s.objects.statics[x.static]
	var out []move
	base := s.memberGoal(st, name, matching)
	if base != never && s.inOrder(&x, name) {
		if name >= 0 {
			matching = s.nameBits(fam, name)
		}
		ways := []progressed{{always, x.dyn}}
		untouched := s.untouched(&x, name)
		if !untouched {
			ways = s.progress(x.dyn, fam, name, matching)
		}
		for _, p := range ways {
			g := s.goals.and(base, p.g)
			if !s.isProductive(g) {
				continue
			}
			y := x
			if name >= 0 {
				s.use(&y, name)
			} else if s.opt.Order == OrderSchema {
				y.last = int32(len(fam.names))
			}
			y.dyn = p.f
			if p.f != x.dyn {
				plain, dyn := s.split(p.f)
				y.dyn = dyn
				if s.passedOver(&y, plain) {
					continue
				}
				if len(plain) > 0 {
					all := s.forms.and(append(plain, st.f)...)
					if all == no {
						continue
					}
					y.static = s.static(x.fam, all)
				}
			}
			if untouched || s.sound(&y) {
				out = append(out, move{g, s.intern(y)})
			}
		}
	}
	// Not before: what was looked at meanwhile may have moved the index.
	i, at := s.objects.moveKeys.find(&key, h)
	if i < 0 {
		i = s.objects.moveKeys.add(&key, h, at)
		s.objects.moves = append(s.objects.moves, out)
	}
	s.objects.moves[i] = out
	if key.class == -1 {
		s.objects.freeMoves[state] = i + 1
	}
	return out
}

// passedOver reports whether one of the demands is for a name that a fixed
// order doesn't let come any more.
func (s *source) passedOver(x *objState, demands []form) bool {
	if s.opt.Order == OrderAny {
		return false
	}
	fam := s.objects.families[x.fam]
	for _, f := range demands {
		l := s.forms.info[f].lit
		if name, _ := s.sets[l.a].single(); l.kind == litSomeKey && fam.index[name] <= x.last {
			return true
		}
	}
	return false
}

// inOrder reports whether a name may come now as far as order goes: with a
// fixed order no required name may be passed over.
func (s *source) inOrder(x *objState, name int32) bool {
	if s.opt.Order == OrderAny {
		return true
	}
	n := int32(len(s.objects.families[x.fam].names))
	to := name
	if name < 0 {
		to = n
	} else if name <= x.last {
		return false
	}
	req := s.objects.statics[x.static].required
	for i := x.last + 1; i < to; i++ {
		if req[i>>6]>>(i&63)&1 != 0 {
			return false
		}
	}
	return true
}

// relevance says which members a formula can change.
type relevance struct {
	names  []uint64
	free   bool
	counts bool // the formula is a conjunction of bounds on the number of members
	other  bool // it holds such a bound and more
	most   int
}

// relevant returns the relevance of dyn for the names of a family.
func (s *source) relevant(fam int32, dyn form) *relevance {
	key := [2]int32{fam, int32(dyn)}
	if r, ok := s.objects.relevance[key]; ok {
		return r
	}
	fm := s.objects.families[fam]
	r := &relevance{names: make([]uint64, fm.words), counts: true, most: syntax.MaxCount}
	seen := map[form]bool{}
	var visit func(f form)
	visit = func(f form) {
		if seen[f] {
			return
		}
		seen[f] = true
		info := &s.forms.info[f]
		for _, k := range info.kids {
			visit(k)
		}
		if info.op != opLit {
			return
		}
		switch l := info.lit; l.kind {
		case litMinProps, litMaxProps:
			r.other = true
		case litAllKeys, litSomeKey:
			r.counts = false
			set := &s.sets[l.a]
			if name, one := set.single(); one {
				i := fm.index[name]
				r.names[i>>6] |= 1 << (i & 63)
				return
			}
			for i := range fm.names {
				if s.member(set, fm, int32(i), s.nameBits(fm, int32(i))) {
					r.names[i>>6] |= 1 << (i & 63)
				}
			}
			r.free = r.free || set.others || len(set.patterns) > 0
		}
	}
	visit(dyn)
	for _, k := range s.forms.conjuncts(dyn) {
		if info := &s.forms.info[k]; info.op != opLit {
			r.counts = false
		} else if info.lit.kind == litMaxProps {
			r.most = min(r.most, int(info.lit.a))
		}
	}
	s.objects.relevance[key] = r
	return r
}

// untouched reports whether dyn says nothing about a member, so that what
// the static part says decides.
func (s *source) untouched(x *objState, name int32) bool {
	if x.dyn == yes {
		return true
	}
	r := s.relevant(x.fam, x.dyn)
	if r.other {
		return false
	}
	if name < 0 {
		if r.free {
			return false
		}
		name = int32(len(s.objects.families[x.fam].names))
	} else if r.names[name>>6]>>(name&63)&1 != 0 {
		return false
	}
	if s.opt.Order == OrderSchema {
		// Names that are passed over can't come any more.
		for i := x.last + 1; i < name; i++ {
			if r.names[i>>6]>>(i&63)&1 != 0 {
				return false
			}
		}
	}
	return true
}

// allowance is which names have been found to be allowed in a state.
type allowance struct{ known, allowed []uint64 }

// allowedName reports whether a name may come next.
func (s *source) allowedName(state, name int32) bool {
	a := s.objects.allowed[state]
	if a.known == nil {
		words := s.objects.families[s.objects.states.keys[state].fam].words
		both := make([]uint64, 2*words)
		a = allowance{both[:words:words], both[words:]}
		s.objects.allowed[state] = a
	}
	w, bit := name>>6, uint64(1)<<(name&63)
	if a.known[w]&bit == 0 {
		a.known[w] |= bit
		if s.decideName(state, name) {
			a.allowed[w] |= bit
		}
	}
	return a.allowed[w]&bit != 0
}

func (s *source) decideName(state, name int32) bool {
	x := s.objects.states.keys[state]
	if s.isUsed(&x, name) || !s.inOrder(&x, name) {
		return false
	}
	if s.untouched(&x, name) {
		return s.isProductive(s.memberGoal(s.objects.statics[x.static], name, 0))
	}
	if r := s.relevant(x.fam, x.dyn); r.counts && s.opt.Order == OrderAny {
		left := r.most
		own := 1
		for i, w := range s.missing(&x) {
			left -= bits.OnesCount64(w)
			if int(name>>6) == i && w>>(name&63)&1 != 0 {
				own = 0
			}
		}
		return left >= own && s.isProductive(s.memberGoal(s.objects.statics[x.static], name, 0))
	}
	return len(s.enter(state, name, 0)) > 0
}

// allowedNames returns the names that may come next, as a set.
func (s *source) allowedNames(state int32) []uint64 {
	n := len(s.objects.families[s.objects.states.keys[state].fam].names)
	for i := range n {
		s.allowedName(state, int32(i))
	}
	if n == 0 {
		return nil
	}
	return s.objects.allowed[state].allowed
}

// allowedFree reports whether a key that isn't a name and matches the given
// patterns may come next.
func (s *source) allowedFree(state int32, matching uint64) bool {
	return len(s.enter(state, -1, matching)) > 0
}

// canContinue reports whether another member may follow.
func (s *source) canContinue(state int32) bool {
	if c := s.objects.more[state]; c != 0 {
		return c > 0
	}
	ok := s.someMember(state)
	s.objects.more[state] = -1
	if ok {
		s.objects.more[state] = 1
	}
	return ok
}

func (s *source) someMember(state int32) bool {
	x := s.objects.states.keys[state]
	fam := s.objects.families[x.fam]
	// What is cheap to decide first.
	first := s.firstKey(state)
	if s.untouched(&x, -1) && s.freeFrom(state, first) {
		return true
	}
	for pass := range 2 {
		for i := range int32(len(fam.names)) {
			if s.untouched(&x, i) == (pass == 0) && s.allowedName(state, i) {
				return true
			}
		}
	}
	return s.freeFrom(state, first)
}

// freeFrom reports whether a key that isn't a name can be completed from a
// key state.
func (s *source) freeFrom(state, key int32) bool {
	k := s.objects.keyStates.keys[key]
	if k.free != 0 {
		return k.at != regular.Dead && (k.taken == 0 || s.othersLeft(key))
	}
	return len(s.objects.families[k.fam].pats) > 0 || s.allowedFree(state, 0)
}

// othersLeft reports whether a key can be completed to one that isn't taken.
func (s *source) othersLeft(key int32) bool {
	if left, ok := s.objects.othersLeft[key]; ok {
		return left
	}
	k := s.objects.keyStates.keys[key]
	m := s.machines[k.free-1]
	n := 0
	for _, id := range s.objects.takenLists[k.taken] {
		q := k.at
		for _, r := range s.names[id][k.depth:] {
			if q = m.Step(q, r); q == regular.Dead {
				break
			}
		}
		if q != regular.Dead && m.Accepting(q) {
			n++
		}
	}
	left := m.Count(k.at, n+1) > n
	s.objects.othersLeft[key] = left
	return left
}
