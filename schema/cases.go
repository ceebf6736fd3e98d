package schema

// minCases is the number of conditions on one member from which it pays to
// look at them as cases.
const minCases = 3

// conditional is a clause "if the member fulfils g, then that".
type conditional struct {
	g    goal
	then form
	// absent says that the condition holds too when there is no such member.
	absent bool
}

// cases rewrites a conjunction that holds many conditions on the value of one
// member, such as one if and then for each value of a discriminator, as a
// disjunction of cases. Conditions that exclude each other make n+1 cases,
// where trying each of them on its own would make 2ⁿ. It returns f when there
// is nothing to rewrite.
func (s *source) cases(f form) form {
	if out, ok := s.caseForms[f]; ok {
		return out
	}
	kids := s.forms.info[f].kids
	byName := map[int32][]int{} // clauses that look at the name
	var best int32 = -1
	for i, k := range kids {
		for _, name := range s.conditionNames(k) {
			byName[name] = append(byName[name], i)
			if n := len(byName[name]); best < 0 || n > len(byName[best]) || n == len(byName[best]) && name < best {
				best = name
			}
		}
	}
	out := f
	if best >= 0 && len(byName[best]) >= minCases {
		out = s.splitCases(f, best, byName[best])
	}
	s.caseForms[f] = out
	return out
}

// conditionNames returns the names that a clause has a condition on.
func (s *source) conditionNames(f form) []int32 {
	info := &s.forms.info[f]
	if info.op != opOr {
		return nil
	}
	var out []int32
	for _, k := range info.kids {
		if name, _, ok := s.ownLit(k); ok && (len(out) == 0 || out[len(out)-1] != name) {
			out = append(out, name)
		}
	}
	return out
}

// ownLit returns a literal about the member of one name.
func (s *source) ownLit(f form) (name int32, l lit, ok bool) {
	info := &s.forms.info[f]
	if info.op != opLit || info.lit.kind != litAllKeys && info.lit.kind != litSomeKey {
		return 0, lit{}, false
	}
	name, ok = s.sets[info.lit.a].single()
	return name, info.lit, ok && s.simple(info.lit.g)
}

// splitCases rewrites the listed clauses of f by cases of the value of name.
func (s *source) splitCases(f form, name int32, clauses []int) form {
	kids := s.forms.info[f].kids
	var rest []form
	var list []conditional
	next := 0
	for i, k := range kids {
		if next == len(clauses) || clauses[next] != i {
			rest = append(rest, k)
			continue
		}
		next++
		c, ok := s.conditional(k, name)
		if ok {
			for j := range list {
				if list[j].g == c.g && list[j].absent == c.absent {
					list[j].then = s.forms.and(list[j].then, c.then)
					c.g = never
					break
				}
				if s.isProductive(s.goals.and(list[j].g, c.g)) {
					ok = false
					break
				}
			}
		}
		switch {
		case !ok:
			rest = append(rest, k)
		case c.g != never:
			list = append(list, c)
		}
	}
	if len(list) < minCases {
		return f
	}
	set := s.oneName(name)
	none := always
	absent := yes
	var alts []form
	for _, c := range list {
		alts = append(alts, s.forms.and(s.forms.lit(lit{kind: litSomeKey, a: set, g: c.g}), c.then))
		none = s.goals.and(none, s.goals.negate(c.g))
		if c.absent {
			absent = s.forms.and(absent, c.then)
		}
	}
	if absent == yes {
		alts = append(alts, s.forms.lit(lit{kind: litAllKeys, a: set, g: none}))
	} else {
		alts = append(alts, s.forms.lit(lit{kind: litSomeKey, a: set, g: none}),
			s.forms.and(s.forms.lit(lit{kind: litAllKeys, a: set, g: never}), absent))
	}
	return s.forms.and(append(rest, s.forms.or(alts...))...)
}

// conditional reads a clause as a condition on the member of one name.
func (s *source) conditional(f form, name int32) (conditional, bool) {
	unless := never // values of the member that fulfil the clause
	missing, value := false, false
	var then []form
	for _, k := range s.forms.info[f].kids {
		n, l, ok := s.ownLit(k)
		if !ok || n != name {
			then = append(then, k)
			continue
		}
		// All members of that name fulfil it when there is none.
		missing = missing || l.kind == litAllKeys
		value = true
		unless = s.goals.or(unless, l.g)
	}
	if !value {
		return conditional{}, false
	}
	return conditional{g: s.goals.negate(unless), then: s.forms.or(then...), absent: !missing}, true
}
