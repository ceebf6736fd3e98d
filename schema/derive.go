package schema

import "sort"

// deriver takes derivatives of forms: what is left to fulfil after one more
// member or item.
type deriver struct {
	*base
	sets *keySets
	keys *keyAutomaton
	sat  *solver

	simpleGoals []int8 // by goal, as far as looked at: 1 or -1, or 0
	caseForms   map[form]form
}

func newDeriver(b *base, sets *keySets, keys *keyAutomaton, sv *solver) *deriver {
	return &deriver{base: b, sets: sets, keys: keys, sat: sv, caseForms: map[form]form{}}
}

// byMember returns what f becomes by a member of the given class: ways to
// choose what the value has to fulfil, and what is then left.
func (dv *deriver) byMember(f form, fam *family, name int32, matching uint64) []progressed {
	info := &dv.forms.info[f]
	switch info.op {
	case opNo:
		return nil
	case opYes:
		return []progressed{{always, yes}}
	case opLit:
		l := info.lit
		switch l.kind {
		case litAllKeys, litSomeKey:
			set := &dv.sets.list[l.a]
			in := dv.keys.member(set, fam, name, matching)
			id, one := set.single()
			if one = one && name >= 0 && fam.names[name] == id; one {
				// The name can't come again.
				return []progressed{{l.g, yes}}
			}
			switch {
			case !in:
				return []progressed{{always, f}}
			case l.kind == litAllKeys:
				return []progressed{{l.g, f}}
			}
			return []progressed{{l.g, yes}, {always, f}}
		case litMinProps:
			l.a--
			return []progressed{{always, dv.forms.lit(l)}}
		case litMaxProps:
			l.a--
			if next := dv.forms.lit(l); next != no {
				return []progressed{{always, next}}
			}
			return nil
		}
		return []progressed{{always, f}}
	case opAnd:
		out := []progressed{{always, yes}}
		for _, k := range info.kids {
			next := dv.byMember(k, fam, name, matching)
			if len(out)*len(next) > manyWays {
				if g := dv.cases(f); g != f {
					return dv.byMember(g, fam, name, matching)
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
	var out []progressed
	for _, k := range info.kids {
		out = append(out, dv.byMember(k, fam, name, matching)...)
	}
	return dv.partition(dv.merge(out))
}

// manyWays is the number of ways from which conditions are looked at as
// cases, maxWays that at which entering a member is given up.
const (
	manyWays = 32
	maxWays  = 1 << 15
)

type progressed struct {
	g goal
	f form
}

// both returns all pairs of ways.
func (dv *deriver) both(a, b []progressed) []progressed {
	if len(a) == 1 && len(b) == 1 {
		g, f := dv.goals.and(a[0].g, b[0].g), dv.forms.and(a[0].f, b[0].f)
		if g == never || f == no {
			return nil
		}
		a[0] = progressed{g, f}
		return a
	}
	out := make([]progressed, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			g := dv.goals.and(x.g, y.g)
			if g == never || x.g != g && y.g != g && dv.simple(g) && !dv.sat.satisfiable(g) {
				continue
			}
			if f := dv.forms.and(x.f, y.f); f != no {
				out = append(out, progressed{g, f})
			}
		}
	}
	return dv.merge(out)
}

// merge joins ways with the same goal and drops those that another covers.
func (dv *deriver) merge(list []progressed) []progressed {
	if len(list) < 2 {
		return list
	}
	sort.Slice(list, func(i, j int) bool { return list[i].g < list[j].g })
	out := list[:0]
	for _, x := range list {
		if n := len(out); n > 0 && out[n-1].g == x.g {
			out[n-1].f = dv.forms.or(out[n-1].f, x.f)
			continue
		}
		out = append(out, x)
	}
	// always is the widest goal: what leads to the same under a narrower
	// one adds nothing.
	for _, x := range out {
		if x.g != always {
			continue
		}
		keep := out[:0]
		for _, y := range out {
			if y.g == always || y.f != x.f {
				keep = append(keep, y)
			}
		}
		return keep
	}
	return out
}

// maxParts bounds how many disjoint ways a choice is divided into.
const maxParts = 256

// partition makes ways exclude each other as far as their goals are simple:
// otherwise conditions on one member, such as a list of if and then about the
// same property, would multiply.
func (dv *deriver) partition(list []progressed) []progressed {
	if len(list) < 2 {
		return list
	}
	base := no
	var parts, others []progressed
	for _, x := range list {
		switch {
		case x.g == always:
			base = dv.forms.or(base, x.f)
		case !dv.simple(x.g) || len(parts) > maxParts:
			others = append(others, x)
		default:
			rest := x.g
			next := parts[:0:0]
			for _, p := range parts {
				both := dv.goals.and(p.g, x.g)
				if !dv.sat.satisfiable(both) {
					next = append(next, p)
					continue
				}
				next = append(next, progressed{both, dv.forms.or(p.f, x.f)})
				if g := dv.goals.and(p.g, dv.goals.negate(x.g)); dv.sat.satisfiable(g) {
					next = append(next, progressed{g, p.f})
				}
				rest = dv.goals.and(rest, dv.goals.negate(p.g))
			}
			if dv.sat.satisfiable(rest) {
				next = append(next, progressed{rest, x.f})
			}
			parts = next
		}
	}
	if base != no {
		rest := always
		for i := range parts {
			rest = dv.goals.and(rest, dv.goals.negate(parts[i].g))
			parts[i].f = dv.forms.or(parts[i].f, base)
		}
		if dv.sat.satisfiable(rest) {
			parts = append(parts, progressed{rest, base})
		}
	}
	return dv.merge(append(parts, others...))
}

// simple reports whether a goal and its negation say nothing about the
// members of objects or the items of arrays, but for constants.
func (dv *deriver) simple(g goal) bool {
	if int(g) >= len(dv.simpleGoals) {
		dv.simpleGoals = append(dv.simpleGoals, make([]int8, len(dv.goals.info)-len(dv.simpleGoals))...)
	}
	if known := dv.simpleGoals[g]; known != 0 {
		return known > 0
	}
	info := &dv.goals.info[g]
	ok := true
	switch info.kind {
	case goalNode, goalNotNode:
		n := info.node
		ok = n.Object == nil && n.Array == nil && n.Apply == nil
	case goalAnd, goalOr:
		for _, x := range info.list {
			ok = ok && dv.simple(x)
		}
	}
	dv.simpleGoals[g] = -1
	if ok {
		dv.simpleGoals[g] = 1
	}
	return ok
}

// byItem returns what f becomes by one more item.
func (dv *deriver) byItem(f form, distinct goal) []progressed {
	info := &dv.forms.info[f]
	switch info.op {
	case opNo:
		return nil
	case opYes:
		return []progressed{{always, yes}}
	case opLit:
		l := info.lit
		shift := func() form {
			if l.a > 0 {
				l.a--
			}
			if l.b > 0 {
				l.b--
			}
			return dv.forms.lit(l)
		}
		switch l.kind {
		case litAllItems:
			if l.a > 0 {
				return []progressed{{always, shift()}}
			}
			g := l.g
			if l.b == 0 {
				return []progressed{{g, yes}}
			}
			return []progressed{{g, shift()}}
		case litSomeItem:
			if l.a > 0 {
				return []progressed{{always, shift()}}
			}
			g := l.g
			if l.b == 0 {
				return []progressed{{g, yes}}
			}
			return dv.merge([]progressed{{g, yes}, {always, shift()}})
		case litUnique:
			return []progressed{{distinct, f}}
		case litNotUnique:
			return dv.merge([]progressed{{dv.goals.negate(distinct), yes}, {distinct, f}})
		case litMinItems, litMaxItems:
			l.a--
			if next := dv.forms.lit(l); next != no {
				return []progressed{{always, next}}
			}
			return nil
		case litAtLeast:
			one := l
			one.a--
			return dv.merge([]progressed{{l.g, dv.forms.lit(one)}, {always, f}})
		case litAtMost:
			one := l
			one.a--
			out := []progressed{{dv.goals.negate(l.g), f}}
			if next := dv.forms.lit(one); next != no {
				out = append(out, progressed{l.g, next})
			}
			return dv.merge(out)
		}
		return []progressed{{always, f}}
	case opAnd:
		out := []progressed{{always, yes}}
		for _, k := range info.kids {
			if out = dv.both(out, dv.byItem(k, distinct)); len(out) == 0 {
				return nil
			}
		}
		return out
	}
	var out []progressed
	for _, k := range info.kids {
		out = append(out, dv.byItem(k, distinct)...)
	}
	return dv.partition(dv.merge(out))
}
