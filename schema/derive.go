package schema

import (
	"slices"
	"sort"

	"stencil/schema/logic"
)

// deriver takes derivatives of forms: what is left to fulfil after one more
// member or item.
type deriver struct {
	*base
	sets *keySets
	keys *keyAutomaton
	sat  *solver

	simpleGoals []int8 // by goal, as far as looked at: 1 or -1, or 0
	caseForms   map[logic.Form]logic.Form
}

func newDeriver(b *base, sets *keySets, keys *keyAutomaton, sv *solver) *deriver {
	return &deriver{base: b, sets: sets, keys: keys, sat: sv, caseForms: map[logic.Form]logic.Form{}}
}

// byMember returns the derivative of f by a member whose key is of the given
// class, as a sum of terms.
func (dv *deriver) byMember(f logic.Form, uni *universe, name int32, matching uint64) []term {
	info := &dv.forms.Info[f]
	switch info.Op {
	case logic.OpNo:
		return nil
	case logic.OpYes:
		return []term{{logic.Always, logic.Yes}}
	case logic.OpLit:
		l := info.Lit
		switch l.Kind {
		case logic.AllKeys, logic.SomeKey:
			set := &dv.sets.list[l.A]
			in := dv.keys.member(set, uni, name, matching)
			id, one := set.single()
			if one = one && name >= 0 && uni.names[name] == id; one {
				// The name can't come again.
				return []term{{l.Goal, logic.Yes}}
			}
			switch {
			case !in:
				return []term{{logic.Always, f}}
			case l.Kind == logic.AllKeys:
				return []term{{l.Goal, f}}
			}
			return []term{{l.Goal, logic.Yes}, {logic.Always, f}}
		case logic.MinProps:
			l.A--
			return []term{{logic.Always, dv.forms.Lit(l)}}
		case logic.MaxProps:
			l.A--
			if next := dv.forms.Lit(l); next != logic.No {
				return []term{{logic.Always, next}}
			}
			return nil
		}
		return []term{{logic.Always, f}}
	case logic.OpAnd:
		out := []term{{logic.Always, logic.Yes}}
		for _, k := range info.Kids {
			next := dv.byMember(k, uni, name, matching)
			if len(out)*len(next) > manyWays {
				if g := dv.cases(f); g != f {
					return dv.byMember(g, uni, name, matching)
				}
			}
			if len(out)*len(next) > maxWays {
				dv.limit("ways to go on after a property", maxWays)
				return nil
			}
			out = dv.both(out, next)
			if len(out) == 0 {
				return nil
			}
		}
		return out
	}
	var out []term
	for _, k := range info.Kids {
		out = append(out, dv.byMember(k, uni, name, matching)...)
	}
	return dv.partition(dv.merge(out))
}

// manyWays is the number of terms from which conditions are rewritten as cases,
// maxWays that at which a derivative is given up.
const (
	manyWays = 32
	maxWays  = 1 << 15
)

// A term of a derivative: if the value fulfils g, f is left to fulfil. The terms of
// a derivative are alternatives and may overlap. Antimirov's name for their sum
// is a linear form.
type term struct {
	g logic.Goal
	f logic.Form
}

// both returns the product of two sums: the terms of a conjunction.
func (dv *deriver) both(a, b []term) []term {
	if len(a) == 1 && len(b) == 1 {
		g, f := dv.goals.And(a[0].g, b[0].g), dv.forms.And(a[0].f, b[0].f)
		if g == logic.Never || f == logic.No {
			return nil
		}
		a[0] = term{g, f}
		return a
	}
	out := make([]term, 0, len(a)*len(b))
	for _, x := range a {
		dv.goals.Meter.Step(len(b))
		for _, y := range b {
			g := dv.goals.And(x.g, y.g)
			if g == logic.Never || x.g != g && y.g != g && dv.simple(g) && !dv.sat.satisfiable(g) {
				continue
			}
			if f := dv.forms.And(x.f, y.f); f != logic.No {
				out = append(out, term{g, f})
			}
		}
	}
	return dv.merge(out)
}

// merge joins terms with the same goal and drops those that another covers.
func (dv *deriver) merge(list []term) []term {
	if len(list) < 2 {
		return list
	}
	sort.Slice(list, func(i, j int) bool { return list[i].g < list[j].g })
	out := list[:0]
	for _, x := range list {
		if n := len(out); n > 0 && out[n-1].g == x.g {
			out[n-1].f = dv.forms.Or(out[n-1].f, x.f)
			continue
		}
		out = append(out, x)
	}
	// always is the widest goal: what leads to the same under a narrower
	// one adds nothing.
	for _, x := range out {
		if x.g != logic.Always {
			continue
		}
		keep := out[:0]
		for _, y := range out {
			if y.g == logic.Always || y.f != x.f {
				keep = append(keep, y)
			}
		}
		return keep
	}
	return out
}

// maxParts bounds how many disjoint terms a sum is divided into, maxPatternParts how
// many of its goals may have patterns: n languages have up to 2ⁿ parts, each with
// an automaton that may be the product of all n. The terms of a sum with more are
// followed side by side, each with an automaton of its own.
const (
	maxParts        = 256
	maxPatternParts = 2
)

// partition makes terms exclude each other as far as their goals are simple:
// otherwise conditions on one member, such as a list of if and then about the
// same property, would multiply.
func (dv *deriver) partition(list []term) []term {
	if len(list) < 2 {
		return list
	}
	patterns := 0
	for _, x := range list {
		if dv.patterned(x.g) {
			patterns++
		}
	}
	base := logic.No
	var parts, others []term
	// Hundreds of alternatives that a tag tells apart are not tried in pairs.
	tags := map[int32]bool{} // the values that parts list
	tagged := true           // parts list values and nothing else
	for _, x := range list {
		switch {
		case x.g == logic.Always:
			base = dv.forms.Or(base, x.f)
		case tagged && dv.newTags(x.g, tags):
			parts = append(parts, x)
		case !dv.simple(x.g) || len(parts) > maxParts || patterns > maxPatternParts && dv.patterned(x.g):
			others = append(others, x)
		default:
			tagged = false
			rest := x.g
			next := parts[:0:0]
			for _, p := range parts {
				dv.goals.Meter.Step(2)
				both := dv.goals.And(p.g, x.g)
				if !dv.sat.satisfiable(both) {
					next = append(next, p)
					continue
				}
				next = append(next, term{both, dv.forms.Or(p.f, x.f)})
				if g := dv.goals.And(p.g, dv.goals.Not(x.g)); dv.sat.satisfiable(g) {
					next = append(next, term{g, p.f})
				}
				rest = dv.goals.And(rest, dv.goals.Not(p.g))
			}
			if dv.sat.satisfiable(rest) {
				next = append(next, term{rest, x.f})
			}
			parts = next
		}
	}
	if base != logic.No {
		none := make([]logic.Goal, len(parts))
		for i := range parts {
			none[i] = dv.goals.Not(parts[i].g)
			parts[i].f = dv.forms.Or(parts[i].f, base)
		}
		rest := dv.goals.And(none...)
		if dv.sat.satisfiable(rest) {
			parts = append(parts, term{rest, base})
		}
	}
	return dv.merge(append(parts, others...))
}

// newTags reports whether a goal lists values none of which is among tags, and
// adds them.
func (dv *deriver) newTags(g logic.Goal, tags map[int32]bool) bool {
	values, ok := dv.sat.listed(g)
	if !ok || slices.ContainsFunc(values, func(v int32) bool { return tags[v] }) {
		return false
	}
	for _, v := range values {
		tags[v] = true
	}
	return len(values) > 0
}

// simple reports whether a goal and its negation say nothing about the
// members of objects or the items of arrays, but for constants.
func (dv *deriver) simple(g logic.Goal) bool {
	if int(g) >= len(dv.simpleGoals) {
		dv.simpleGoals = append(dv.simpleGoals, make([]int8, len(dv.goals.Info)-len(dv.simpleGoals))...)
	}
	if known := dv.simpleGoals[g]; known != 0 {
		return known > 0
	}
	info := &dv.goals.Info[g]
	ok := true
	switch info.Kind {
	case logic.OfNode, logic.NotNode:
		n := info.Node
		ok = n.Object == nil && n.Array == nil && n.Apply == nil
	case logic.AllOf, logic.AnyOf:
		for _, x := range info.List {
			ok = ok && dv.simple(x)
		}
	}
	dv.simpleGoals[g] = -1
	if ok {
		dv.simpleGoals[g] = 1
	}
	return ok
}

// patterned reports whether a goal demands something of strings that a list of
// values doesn't say.
func (dv *deriver) patterned(g logic.Goal) bool {
	switch info := &dv.goals.Info[g]; info.Kind {
	case logic.OfNode, logic.NotNode:
		n := info.Node
		return n.String != nil && !n.HasEnum && n.Const == nil
	case logic.AllOf, logic.AnyOf:
		return slices.ContainsFunc(info.List, dv.patterned)
	}
	return false
}

// byItem returns the derivative of f by one more item. distinct is the goal of
// differing from the items read before.
func (dv *deriver) byItem(f logic.Form, distinct logic.Goal) []term {
	info := &dv.forms.Info[f]
	switch info.Op {
	case logic.OpNo:
		return nil
	case logic.OpYes:
		return []term{{logic.Always, logic.Yes}}
	case logic.OpLit:
		l := info.Lit
		shift := func() logic.Form {
			if l.A > 0 {
				l.A--
			}
			if l.B > 0 {
				l.B--
			}
			return dv.forms.Lit(l)
		}
		switch l.Kind {
		case logic.AllItems:
			if l.A > 0 {
				return []term{{logic.Always, shift()}}
			}
			g := l.Goal
			if l.B == 0 {
				return []term{{g, logic.Yes}}
			}
			return []term{{g, shift()}}
		case logic.SomeItem:
			if l.A > 0 {
				return []term{{logic.Always, shift()}}
			}
			g := l.Goal
			if l.B == 0 {
				return []term{{g, logic.Yes}}
			}
			return dv.merge([]term{{g, logic.Yes}, {logic.Always, shift()}})
		case logic.Unique:
			return []term{{distinct, f}}
		case logic.NotUnique:
			return dv.merge([]term{{dv.goals.Not(distinct), logic.Yes}, {distinct, f}})
		case logic.MinItems, logic.MaxItems:
			l.A--
			if next := dv.forms.Lit(l); next != logic.No {
				return []term{{logic.Always, next}}
			}
			return nil
		case logic.AtLeast:
			one := l
			one.A--
			return dv.merge([]term{{l.Goal, dv.forms.Lit(one)}, {logic.Always, f}})
		case logic.AtMost:
			one := l
			one.A--
			out := []term{{dv.goals.Not(l.Goal), f}}
			if next := dv.forms.Lit(one); next != logic.No {
				out = append(out, term{l.Goal, next})
			}
			return dv.merge(out)
		}
		return []term{{logic.Always, f}}
	case logic.OpAnd:
		out := []term{{logic.Always, logic.Yes}}
		for _, k := range info.Kids {
			if out = dv.both(out, dv.byItem(k, distinct)); len(out) == 0 {
				return nil
			}
		}
		return out
	}
	var out []term
	for _, k := range info.Kids {
		out = append(out, dv.byItem(k, distinct)...)
	}
	return dv.partition(dv.merge(out))
}
