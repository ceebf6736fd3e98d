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
func (dv *deriver) cases(f form) form {
	if out, ok := dv.caseForms[f]; ok {
		return out
	}
	kids := dv.forms.info[f].kids
	byName := map[int32][]int{} // clauses that look at the name
	var best int32 = -1
	for i, k := range kids {
		for _, name := range dv.conditionNames(k) {
			byName[name] = append(byName[name], i)
			if n := len(byName[name]); best < 0 || n > len(byName[best]) || n == len(byName[best]) && name < best {
				best = name
			}
		}
	}
	out := f
	if best >= 0 && len(byName[best]) >= minCases {
		out = dv.splitCases(f, best, byName[best])
	}
	dv.caseForms[f] = out
	return out
}

// conditionNames returns the names that a clause has a condition on.
func (dv *deriver) conditionNames(f form) []int32 {
	info := &dv.forms.info[f]
	if info.op != opOr {
		return nil
	}
	var out []int32
	for _, k := range info.kids {
		if name, _, ok := dv.ownLit(k); ok && (len(out) == 0 || out[len(out)-1] != name) {
			out = append(out, name)
		}
	}
	return out
}

// ownLit returns a literal about the member of one name.
func (dv *deriver) ownLit(f form) (name int32, l lit, ok bool) {
	info := &dv.forms.info[f]
	if info.op != opLit || info.lit.kind != litAllKeys && info.lit.kind != litSomeKey {
		return 0, lit{}, false
	}
	name, ok = dv.sets.list[info.lit.a].single()
	return name, info.lit, ok && dv.simple(info.lit.g)
}

// splitCases rewrites the listed clauses of f by cases of the value of name.
func (dv *deriver) splitCases(f form, name int32, clauses []int) form {
	kids := dv.forms.info[f].kids
	var rest []form
	var list []conditional
	next := 0
	for i, k := range kids {
		if next == len(clauses) || clauses[next] != i {
			rest = append(rest, k)
			continue
		}
		next++
		c, ok := dv.conditional(k, name)
		if ok {
			for j := range list {
				if list[j].g == c.g && list[j].absent == c.absent {
					list[j].then = dv.forms.and(list[j].then, c.then)
					c.g = never
					break
				}
				if dv.sat.satisfiable(dv.goals.and(list[j].g, c.g)) {
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
	set := dv.sets.oneName(name)
	none := always
	absent := yes
	var alts []form
	for _, c := range list {
		alts = append(alts, dv.forms.and(dv.forms.lit(lit{kind: litSomeKey, a: set, g: c.g}), c.then))
		none = dv.goals.and(none, dv.goals.negate(c.g))
		if c.absent {
			absent = dv.forms.and(absent, c.then)
		}
	}
	if absent == yes {
		alts = append(alts, dv.forms.lit(lit{kind: litAllKeys, a: set, g: none}))
	} else {
		alts = append(alts, dv.forms.lit(lit{kind: litSomeKey, a: set, g: none}),
			dv.forms.and(dv.forms.lit(lit{kind: litAllKeys, a: set, g: never}), absent))
	}
	return dv.forms.and(append(rest, dv.forms.or(alts...))...)
}

// conditional reads a clause as a condition on the member of one name.
func (dv *deriver) conditional(f form, name int32) (conditional, bool) {
	unless := never // values of the member that fulfil the clause
	missing, value := false, false
	var then []form
	for _, k := range dv.forms.info[f].kids {
		n, l, ok := dv.ownLit(k)
		if !ok || n != name {
			then = append(then, k)
			continue
		}
		// All members of that name fulfil it when there is none.
		missing = missing || l.kind == litAllKeys
		value = true
		unless = dv.goals.or(unless, l.g)
	}
	if !value {
		return conditional{}, false
	}
	return conditional{g: dv.goals.negate(unless), then: dv.forms.or(then...), absent: !missing}, true
}
