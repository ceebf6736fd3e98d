package schema

import "github.com/stencil-json/stencil/schema/logic"

// minCases is the number of conditions on one member from which they are
// rewritten as cases.
const minCases = 3

// conditional is a clause "if the member fulfils g, then the form then".
type conditional struct {
	g    logic.Goal
	then logic.Form
	// absent reports whether the condition also holds if there is no such
	// member.
	absent bool
}

// cases rewrites a conjunction that contains many conditions on the value of
// one member, such as an if and then for each value of a discriminator, as a
// disjunction of cases. n conditions that exclude each other make n+1 cases,
// where combining them independently would make 2ⁿ. It returns f if there is
// nothing to rewrite.
func (dv *deriver) cases(f logic.Form) logic.Form {
	if out, ok := dv.caseForms[f]; ok {
		return out
	}
	kids := dv.forms.Info[f].Kids
	byName := map[int32][]int{} // clauses with a condition on the name
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
	dv.caseForms.Put(f, out)
	return out
}

// conditionNames returns the names that a clause has a condition on.
func (dv *deriver) conditionNames(f logic.Form) []int32 {
	info := &dv.forms.Info[f]
	if info.Op != logic.OpOr {
		return nil
	}
	var out []int32
	for _, k := range info.Kids {
		if name, _, ok := dv.ownLit(k); ok && (len(out) == 0 || out[len(out)-1] != name) {
			out = append(out, name)
		}
	}
	return out
}

// ownLit returns a literal about the member of one name.
func (dv *deriver) ownLit(f logic.Form) (name int32, l logic.Lit, ok bool) {
	info := &dv.forms.Info[f]
	if info.Op != logic.OpLit || info.Lit.Kind != logic.AllKeys && info.Lit.Kind != logic.SomeKey {
		return 0, logic.Lit{}, false
	}
	name, ok = dv.sets.list[info.Lit.A].single()
	return name, info.Lit, ok && dv.simple(info.Lit.Goal)
}

// splitCases rewrites the listed clauses of f by cases of the value of name.
func (dv *deriver) splitCases(f logic.Form, name int32, clauses []int) logic.Form {
	kids := dv.forms.Info[f].Kids
	var rest []logic.Form
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
					list[j].then = dv.forms.And(list[j].then, c.then)
					c.g = logic.Never
					break
				}
				if dv.sat.satisfiable(dv.goals.And(list[j].g, c.g)) {
					ok = false
					break
				}
			}
		}
		switch {
		case !ok:
			rest = append(rest, k)
		case c.g != logic.Never:
			list = append(list, c)
		}
	}
	if len(list) < minCases {
		return f
	}
	set := dv.sets.oneName(name)
	none := logic.Always
	absent := logic.Yes
	var alts []logic.Form
	for _, c := range list {
		alts = append(alts, dv.forms.And(dv.forms.Lit(logic.Lit{Kind: logic.SomeKey, A: set, Goal: c.g}), c.then))
		none = dv.goals.And(none, dv.goals.Not(c.g))
		if c.absent {
			absent = dv.forms.And(absent, c.then)
		}
	}
	if absent == logic.Yes {
		alts = append(alts, dv.forms.Lit(logic.Lit{Kind: logic.AllKeys, A: set, Goal: none}))
	} else {
		alts = append(alts, dv.forms.Lit(logic.Lit{Kind: logic.SomeKey, A: set, Goal: none}),
			dv.forms.And(dv.forms.Lit(logic.Lit{Kind: logic.AllKeys, A: set, Goal: logic.Never}), absent))
	}
	return dv.forms.And(append(rest, dv.forms.Or(alts...))...)
}

// conditional reads a clause as a condition on the member of one name.
func (dv *deriver) conditional(f logic.Form, name int32) (conditional, bool) {
	unless := logic.Never // values of the member that fulfil the clause
	missing, value := false, false
	var then []logic.Form
	for _, k := range dv.forms.Info[f].Kids {
		n, l, ok := dv.ownLit(k)
		if !ok || n != name {
			then = append(then, k)
			continue
		}
		// A literal about all members of that name holds if there is none.
		missing = missing || l.Kind == logic.AllKeys
		value = true
		unless = dv.goals.Or(unless, l.Goal)
	}
	if !value {
		return conditional{}, false
	}
	return conditional{g: dv.goals.Not(unless), then: dv.forms.Or(then...), absent: !missing}, true
}
