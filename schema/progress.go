package schema

import (
	"slices"
	"sort"
)

// progress returns what f becomes by a member of the given class: ways to
// choose what the value has to fulfil, and what is then left.
func (s *source) progress(f form, fam *family, name int32, matching uint64) []progressed {
	info := &s.forms.info[f]
	switch info.op {
	case opNo:
		return nil
	case opYes:
		return []progressed{{always, yes}}
	case opLit:
		l := info.lit
		switch l.kind {
		case litAllKeys, litSomeKey:
			set := &s.sets[l.a]
			in := s.member(set, fam, name, matching)
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
			return []progressed{{always, s.forms.lit(l)}}
		case litMaxProps:
			l.a--
			if next := s.forms.lit(l); next != no {
				return []progressed{{always, next}}
			}
			return nil
		}
		return []progressed{{always, f}}
	case opAnd:
		out := []progressed{{always, yes}}
		for _, k := range info.kids {
			next := s.progress(k, fam, name, matching)
			if len(out)*len(next) > manyWays {
				if g := s.cases(f); g != f {
					return s.progress(g, fam, name, matching)
				}
			}
			if len(out)*len(next) > maxWays {
				s.limit("ways to go on after a property", maxWays)
				return nil
			}
			out = s.both(out, next)
			if len(out) == 0 {
				return nil
			}
		}
		return out
	}
	var out []progressed
	for _, k := range info.kids {
		out = append(out, s.progress(k, fam, name, matching)...)
	}
	return s.partition(s.merge(out))
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
func (s *source) both(a, b []progressed) []progressed {
	if len(a) == 1 && len(b) == 1 {
		g, f := s.goals.and(a[0].g, b[0].g), s.forms.and(a[0].f, b[0].f)
		if g == never || f == no {
			return nil
		}
		a[0] = progressed{g, f}
		return a
	}
	out := make([]progressed, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			g := s.goals.and(x.g, y.g)
			if g == never || x.g != g && y.g != g && s.simple(g) && !s.isProductive(g) {
				continue
			}
			if f := s.forms.and(x.f, y.f); f != no {
				out = append(out, progressed{g, f})
			}
		}
	}
	return s.merge(out)
}

// merge joins ways with the same goal and drops those that another covers.
func (s *source) merge(list []progressed) []progressed {
	if len(list) < 2 {
		return list
	}
	sort.Slice(list, func(i, j int) bool { return list[i].g < list[j].g })
	out := list[:0]
	for _, x := range list {
		if n := len(out); n > 0 && out[n-1].g == x.g {
			out[n-1].f = s.forms.or(out[n-1].f, x.f)
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
func (s *source) partition(list []progressed) []progressed {
	if len(list) < 2 {
		return list
	}
	base := no
	var parts, others []progressed
	for _, x := range list {
		switch {
		case x.g == always:
			base = s.forms.or(base, x.f)
		case !s.simple(x.g) || len(parts) > maxParts:
			others = append(others, x)
		default:
			rest := x.g
			next := parts[:0:0]
			for _, p := range parts {
				both := s.goals.and(p.g, x.g)
				if !s.isProductive(both) {
					next = append(next, p)
					continue
				}
				next = append(next, progressed{both, s.forms.or(p.f, x.f)})
				if g := s.goals.and(p.g, s.goals.negate(x.g)); s.isProductive(g) {
					next = append(next, progressed{g, p.f})
				}
				rest = s.goals.and(rest, s.goals.negate(p.g))
			}
			if s.isProductive(rest) {
				next = append(next, progressed{rest, x.f})
			}
			parts = next
		}
	}
	if base != no {
		rest := always
		for i := range parts {
			rest = s.goals.and(rest, s.goals.negate(parts[i].g))
			parts[i].f = s.forms.or(parts[i].f, base)
		}
		if s.isProductive(rest) {
			parts = append(parts, progressed{rest, base})
		}
	}
	return s.merge(append(parts, others...))
}

// simple reports whether a goal and its negation say nothing about the
// members of objects or the items of arrays, but for constants.
func (s *source) simple(g goal) bool {
	if int(g) >= len(s.simpleGoals) {
		s.simpleGoals = append(s.simpleGoals, make([]int8, len(s.goals.info)-len(s.simpleGoals))...)
	}
	if known := s.simpleGoals[g]; known != 0 {
		return known > 0
	}
	info := &s.goals.info[g]
	ok := true
	switch info.kind {
	case goalNode, goalNotNode:
		n := info.node
		ok = n.Object == nil && n.Array == nil && n.Apply == nil
	case goalAnd, goalOr:
		for _, x := range info.list {
			ok = ok && s.simple(x)
		}
	}
	s.simpleGoals[g] = -1
	if ok {
		s.simpleGoals[g] = 1
	}
	return ok
}

// final reports whether f holds for an object that gets no more members, or an
// array that gets no more items.
func (s *source) final(f form) bool {
	info := &s.forms.info[f]
	switch info.op {
	case opNo:
		return false
	case opYes:
		return true
	case opLit:
		switch info.lit.kind {
		case litSomeKey, litMinProps, litSomeItem, litMinItems, litAtLeast, litNotUnique:
			return false
		}
		return true
	case opAnd:
		for _, k := range info.kids {
			if !s.final(k) {
				return false
			}
		}
		return true
	}
	return slices.ContainsFunc(info.kids, s.final)
}

// canClose reports whether the object may end here.
func (s *source) canClose(x *objState) bool { return !s.lacking(x) && s.final(x.dyn) }
