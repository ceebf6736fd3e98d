package schema

import (
	"slices"
	"sort"

	"github.com/stencil-json/stencil/schema/logic"
)

// deriver computes derivatives of forms: what remains to be fulfilled after one more
// member or item.
type deriver struct {
	*base
	sets *keySets
	keys *keyAutomaton
	sat  *solver

	simpleGoals []int8 // by goal, once computed: 1 or -1, else 0
	caseForms   logic.Memo[logic.Form, logic.Form]
	counts      int // demands for some items in the conjunction being derived
}

func newDeriver(b *base, sets *keySets, keys *keyAutomaton, sv *solver) *deriver {
	return &deriver{base: b, sets: sets, keys: keys, sat: sv}
}

// byMember returns the derivative of f by a member whose key is of the given
// class, as a sum of terms.
func (dv *deriver) byMember(f logic.Form, uni *universe, name int32, matching uint64) []term {
	d := memberDeriver{dv, uni, name, matching, nil}
	if dv.forms.Wide(f, manyKids) {
		d.known = map[logic.Form][]term{}
	}
	return d.derive(f)
}

// memberDeriver derives by one class of keys.
type memberDeriver struct {
	*deriver
	uni      *universe
	name     int32
	matching uint64
	known    map[logic.Form][]term // of parts that may occur again; nil if there are few parts
}

// part returns the derivative of a part of a form. The result must not be modified.
func (dv *memberDeriver) part(f logic.Form) []term {
	if out, ok := dv.known[f]; ok {
		return out
	}
	out := dv.derive(f)
	if dv.known != nil {
		dv.known[f] = out
	}
	return out
}

func (dv *memberDeriver) derive(f logic.Form) []term {
	uni, name, matching := dv.uni, dv.name, dv.matching
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
				// The name can't occur again.
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
		out, several := dv.singles(info.Kids, dv.part)
		for _, next := range several {
			if len(out)*len(next) > manyWays {
				if g := dv.cases(f); g != f {
					return dv.derive(g)
				}
			}
			if len(out)*len(next) > maxWays {
				dv.limit("ways to go on after a property", maxWays)
				return nil
			}
			if out = dv.both(out, next); len(out) == 0 {
				return nil
			}
		}
		return out
	}
	var out []term
	for _, k := range info.Kids {
		out = append(out, dv.part(k)...)
	}
	return dv.partition(dv.merge(out))
}

// singles returns the product of those derivatives that have one term, as most do,
// and the list of the others.
func (dv *deriver) singles(kids []logic.Form, derive func(logic.Form) []term) (out []term, several [][]term) {
	goals, forms := make([]logic.Goal, 0, len(kids)), make([]logic.Form, 0, len(kids))
	for _, k := range kids {
		next := derive(k)
		switch len(next) {
		case 0:
			return nil, nil
		case 1:
			goals, forms = append(goals, next[0].g), append(forms, next[0].f)
		default:
			several = append(several, next)
		}
	}
	x := term{dv.goals.And(goals...), dv.forms.And(forms...)}
	if x.g == logic.Never || x.f == logic.No {
		return nil, nil
	}
	return []term{x}, several
}

// manyWays is the number of terms from which conditions are rewritten as cases,
// maxWays the number at which a derivative is abandoned.
const (
	manyWays = 32
	maxWays  = 1 << 15
)

// A term of a derivative: if the value fulfils g, then f remains to be fulfilled. The
// terms of a derivative are alternatives and may overlap. Antimirov calls their sum a
// linear form.
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

// merge joins terms with the same goal and drops terms that another one covers.
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
	// Always is the widest goal: a term with a narrower goal and the same form adds
	// nothing.
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

// maxParts bounds the number of disjoint terms that a sum is divided into,
// maxPatternParts the number of its goals with patterns: n languages have up to 2ⁿ
// parts, each with an automaton that may be the product of all n. The terms of a
// larger sum are followed in parallel, each with its own automaton.
const (
	maxParts        = 256
	maxPatternParts = 2
)

// partition makes terms with simple goals exclude each other. Otherwise conditions on
// one member, such as a list of if and then about the same property, would multiply.
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
	// Hundreds of alternatives with different tags are not compared in pairs.
	tags := map[int32]bool{} // the values that parts list
	tagged := true           // all parts list values and nothing else
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

// newTags adds the values that a goal lists to tags. It reports whether the goal
// lists values, none of which was among tags.
func (dv *deriver) newTags(g logic.Goal, tags map[int32]bool) bool {
	values, ok := dv.sat.lists.Values(g)
	if !ok || slices.ContainsFunc(values, func(v int32) bool { return tags[v] }) {
		return false
	}
	for _, v := range values {
		tags[v] = true
	}
	return len(values) > 0
}

// simple reports whether a goal and its negation have no conditions on the members of
// objects or the items of arrays, except for constants.
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

// patterned reports whether a goal has a condition on strings other than a list of
// values.
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

// manyCounts is the number of demands for some items from which their alternatives
// are made disjoint.
const manyCounts = 3

// otherwise returns the goal of an item that is not used to fulfil a demand for g. An
// item that fulfils g does not have to be excluded, since a fulfilled demand is never
// worse. It is excluded only where there are many demands: otherwise all sets of
// fulfilled demands would be followed.
func (dv *deriver) otherwise(g logic.Goal) logic.Goal {
	if dv.counts >= manyCounts && dv.simple(g) && !dv.patterned(g) {
		return dv.goals.Not(g)
	}
	return logic.Always
}

// itemCounts returns the number of demands for some items in a conjunction.
func (dv *deriver) itemCounts(f logic.Form) (n int) {
	for _, k := range dv.forms.Conjuncts(f) {
		info := &dv.forms.Info[k]
		if info.Op == logic.OpLit && (info.Lit.Kind == logic.AtLeast || info.Lit.Kind == logic.SomeItem || info.Lit.Kind == logic.NotLeading) {
			n++
		}
	}
	return n
}

// byItem returns the derivative of f by one more item. distinct is the goal of
// differing from the items already read.
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
		case logic.Leading:
			g, rest := dv.forms.First(l.A)
			l.A = rest
			return []term{{g, dv.forms.Lit(l)}}
		case logic.NotLeading:
			g, rest := dv.forms.First(l.A)
			g, l.A = dv.goals.Not(g), rest
			out := []term{{g, logic.Yes}}
			if next := dv.forms.Lit(l); next != logic.No {
				out = append(out, term{dv.otherwise(g), next})
			}
			return dv.merge(out)
		case logic.SomeItem:
			if l.A > 0 {
				return []term{{logic.Always, shift()}}
			}
			g := l.Goal
			if l.B == 0 {
				return []term{{g, logic.Yes}}
			}
			return dv.merge([]term{{g, logic.Yes}, {dv.otherwise(g), shift()}})
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
			return dv.merge([]term{{l.Goal, dv.forms.Lit(one)}, {dv.otherwise(l.Goal), f}})
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
		defer func(old int) { dv.counts = old }(dv.counts)
		dv.counts = max(dv.counts, dv.itemCounts(f))
		out, several := dv.singles(info.Kids, func(k logic.Form) []term { return dv.byItem(k, distinct) })
		for _, next := range several {
			if out = dv.both(out, next); len(out) == 0 {
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
