package schema

import (
	"maps"
	"slices"

	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/syntax"
)

// unevaluatedProperties returns the demand of n's unevaluatedProperties: it
// applies to the members that are evaluated neither by other keywords of the
// schema nor by schemas that it applies in place and that hold for the object.
func (vs *views) unevaluatedProperties(n *syntax.Node, scope int32) logic.Form {
	g := vs.sub(n.Object.Unevaluated, scope)
	var alts []logic.Form
	for _, e := range vs.evaluate(n, scope, jObject, true) {
		if e.all {
			alts = append(alts, e.f)
			continue
		}
		rest := vs.forms.Lit(logic.Lit{Kind: logic.AllKeys, A: vs.sets.set(true, e.names, e.pats), Goal: g})
		alts = append(alts, vs.forms.And(e.f, rest))
	}
	return vs.forms.Or(alts...)
}

// unevaluatedItems is unevaluatedProperties for items.
func (vs *views) unevaluatedItems(n *syntax.Node, scope int32) logic.Form {
	g := vs.sub(n.Array.Unevaluated, scope)
	var alts []logic.Form
	for _, e := range vs.evaluate(n, scope, jArray, true) {
		if e.all {
			alts = append(alts, e.f)
			continue
		}
		want := vs.goals.Or(append([]logic.Goal{g}, e.some...)...)
		rest := vs.forms.Lit(logic.Lit{Kind: logic.AllItems, A: int32(e.prefix), B: -1, Goal: want})
		alts = append(alts, vs.forms.And(e.f, rest))
	}
	return vs.forms.Or(alts...)
}

// evaluated lists the members or items that a schema evaluates under a
// condition.
type evaluated struct {
	f      logic.Form // the condition
	all    bool
	names  []int32
	pats   []int32
	prefix int          // items before this index
	some   []logic.Goal // items that fulfil one of these
}

func (e evaluated) with(o evaluated) evaluated {
	e.all = e.all || o.all
	e.names = append(append([]int32(nil), e.names...), o.names...)
	e.pats = append(append([]int32(nil), e.pats...), o.pats...)
	e.prefix = max(e.prefix, o.prefix)
	e.some = append(append([]logic.Goal(nil), e.some...), o.some...)
	return e
}

// evaluate lists what n evaluates. If that depends on which of its subschemas
// hold, the result has one entry for each case. own is set for the schema that
// contains the unevaluated keyword, whose own demand doesn't count.
func (vs *views) evaluate(n *syntax.Node, scope int32, t jtype, own bool) []evaluated {
	if n.Boolean != 0 {
		return []evaluated{{f: logic.Yes}}
	}
	self := evaluated{f: logic.Yes}
	if t == jObject && n.Object != nil {
		for _, p := range n.Object.Properties {
			self.names = append(self.names, vs.sets.name(p.Name))
		}
		for _, p := range n.Object.Patterns {
			if e, err := vs.lang.Pattern(p.Name); err == nil {
				self.pats = append(self.pats, vs.sets.pattern(e))
			}
		}
		self.all = n.Object.Additional != nil || !own && n.Object.Unevaluated != nil
	}
	if t == jArray && n.Array != nil {
		self.prefix = len(n.Array.Prefix)
		self.all = n.Array.Items != nil || !own && n.Array.Unevaluated != nil
		if n.Array.Contains != nil && n.Draft >= syntax.Draft2020 {
			self.some = append(self.some, vs.sub(n.Array.Contains, scope))
		}
	}
	out := []evaluated{self}
	// must: a schema that has to hold; may: one that is evaluated if it holds.
	cross := func(list []evaluated) {
		var next []evaluated
		for _, a := range out {
			for _, b := range list {
				if f := vs.forms.And(a.f, b.f); f != logic.No {
					c := a.with(b)
					c.f = f
					next = append(next, c)
				}
			}
		}
		out = next
		if len(out) > maxEvaluated {
			vs.limit("cases for unevaluated members", maxEvaluated)
			out = out[:1]
		}
	}
	must := func(x *syntax.Node) {
		cross(vs.evaluate(x, vs.scope(x, scope), t, false))
	}
	may := func(x *syntax.Node) {
		v := logic.Form(vs.of(vs.sub(x, scope), t))
		var list []evaluated
		for _, e := range vs.evaluate(x, vs.scope(x, scope), t, false) {
			e.f = vs.forms.And(e.f, v)
			list = append(list, e)
		}
		if not := vs.forms.Not(v); not != logic.No {
			list = append(list, evaluated{f: not})
		}
		cross(list)
	}
	a := n.Apply
	if a != nil {
		for _, x := range a.AllOf {
			must(x)
		}
		for _, x := range a.AnyOf {
			may(x)
		}
		for _, x := range a.OneOf {
			may(x)
		}
		if a.If != nil {
			when := logic.Form(vs.of(vs.sub(a.If, scope), t))
			var list []evaluated
			for _, e := range vs.evaluate(a.If, vs.scope(a.If, scope), t, false) {
				e.f = vs.forms.And(e.f, when)
				if a.Then == nil {
					list = append(list, e)
					continue
				}
				for _, th := range vs.evaluate(a.Then, vs.scope(a.Then, scope), t, false) {
					both := e.with(th)
					both.f = vs.forms.And(e.f, th.f)
					list = append(list, both)
				}
			}
			not := vs.forms.Not(when)
			if a.Else == nil {
				list = append(list, evaluated{f: not})
			} else {
				for _, e := range vs.evaluate(a.Else, vs.scope(a.Else, scope), t, false) {
					e.f = vs.forms.And(e.f, not)
					list = append(list, e)
				}
			}
			cross(list)
		}
		if a.Ref != nil && a.Ref.Target != nil {
			must(a.Ref.Target)
		}
		if r := a.DynamicRef; r != nil && r.Target != nil {
			target := r.Target
			if r.Anchor != "" {
				target = vs.scopes.Target(r, vs.scope(n, scope))
			}
			must(target)
		}
	}
	if t == jObject && n.Object != nil {
		for _, d := range n.Object.DependentSchemas {
			var list []evaluated
			has := vs.hasKey(d.Name)
			for _, e := range vs.evaluate(d.Node, vs.scope(d.Node, scope), t, false) {
				e.f = vs.forms.And(e.f, has)
				list = append(list, e)
			}
			list = append(list, evaluated{f: vs.lacksKey(d.Name)})
			cross(list)
		}
	}
	return out
}

// maxEvaluated bounds the number of cases.
const maxEvaluated = 256

// A naming is one case of which alternatives hold for an object: the members
// that are named then, and whether others are mentioned.
type naming struct {
	f     logic.Form           // the case
	names map[int32]logic.Form // each with its condition
	open  logic.Form           // the condition under which other members are mentioned too
}

// maxNamings bounds the number of cases; beyond it, the members of all
// alternatives count as named in each. maxTogether is the number of alternatives
// of anyOf up to which all combinations are considered; of more alternatives,
// only one at a time names members.
const (
	maxNamings  = 128
	maxTogether = 4
)

// closed restricts f, the demand of g on objects, to the members that g names,
// as if unevaluatedProperties were false. A case that names no members stays
// open, and so does a case that would have no objects left.
func (ob *objects) closed(g logic.Goal, f logic.Form) logic.Form {
	cases := ob.views.goalNamings(g)
	var alts []logic.Form
	narrowed := false
	for _, c := range cases {
		own := f
		if len(cases) > 1 {
			own = ob.forms.And(f, c.f)
		}
		narrow := ob.forms.And(own, ob.views.onlyNamed(c))
		switch {
		case narrow == own:
		case ob.satisfiable(narrow):
			own, narrowed = narrow, true
		case len(cases) > 1 && !ob.satisfiable(own):
			continue
		}
		alts = append(alts, own)
	}
	if !narrowed {
		return f
	}
	return ob.forms.Or(alts...)
}

// onlyNamed is the demand that an object has only members named in c.
func (vs *views) onlyNamed(c naming) logic.Form {
	if len(c.names) == 0 || c.open == logic.Yes {
		return logic.Yes
	}
	names := slices.Sorted(maps.Keys(c.names))
	none := logic.Yes // no name's condition holds
	var parts []logic.Form
	for _, id := range names {
		when := c.names[id]
		none = vs.forms.And(none, vs.forms.Not(when))
		if when != logic.Yes {
			lacks := vs.forms.Lit(logic.Lit{Kind: logic.AllKeys, A: vs.sets.oneName(id), Goal: logic.Never})
			parts = append(parts, vs.forms.Or(lacks, when, c.open))
		}
	}
	others := vs.forms.Lit(logic.Lit{Kind: logic.AllKeys, A: vs.sets.set(true, names, nil), Goal: logic.Never})
	return vs.forms.Or(none, vs.forms.And(append(parts, vs.forms.Or(others, c.open))...))
}

// goalNamings returns the cases of a goal; one of them holds for every object
// that fulfils it.
func (vs *views) goalNamings(g logic.Goal) []naming {
	info := vs.goals.Info[g]
	switch info.Kind {
	case logic.OfNode:
		return vs.nodeNamings(info.Node, info.Scope)
	case logic.Equals:
		return []naming{{f: logic.Yes, open: logic.Yes}}
	case logic.AllOf:
		out := []naming{{f: logic.Yes}}
		for _, x := range info.List {
			out = vs.bothNamings(out, vs.goalNamings(x))
		}
		return out
	case logic.AnyOf:
		kids := make([]alternative, 0, len(info.List))
		for _, x := range info.List {
			kids = append(kids, alternative{logic.Form(vs.of(x, jObject)), vs.goalNamings(x)})
		}
		return vs.someNamings(kids, true)
	}
	return []naming{{f: logic.Yes}}
}

// nodeNamings returns the cases of a schema.
func (vs *views) nodeNamings(n *syntax.Node, scope int32) []naming {
	self := naming{f: logic.Yes, names: map[int32]logic.Form{}}
	if n.Const != nil || n.HasEnum {
		self.open = logic.Yes // enum and const list the members
	}
	if k := n.Object; k != nil {
		for _, name := range k.Named() {
			self.names[vs.sets.name(name)] = logic.Yes
		}
		if k.SpeaksOfOthers() {
			self.open = logic.Yes
		}
	}
	out := []naming{self}
	at := func(x *syntax.Node) []naming { return vs.nodeNamings(x, vs.scope(x, scope)) }
	form := func(x *syntax.Node) logic.Form { return logic.Form(vs.of(vs.sub(x, scope), jObject)) }
	if k := n.Object; k != nil {
		for _, d := range k.DependentSchemas {
			out = vs.whenNamings(out, vs.hasKey(d.Name), at(d.Node))
		}
	}
	a := n.Apply
	if a == nil {
		return out
	}
	for _, x := range a.AllOf {
		out = vs.bothNamings(out, at(x))
	}
	if a.Ref != nil && a.Ref.Target != nil {
		out = vs.bothNamings(out, at(a.Ref.Target))
	}
	if r := a.DynamicRef; r != nil && r.Target != nil {
		target := r.Target
		if r.Anchor != "" {
			target = vs.scopes.Target(r, vs.scope(n, scope))
		}
		out = vs.bothNamings(out, at(target))
	}
	if a.If != nil {
		when := form(a.If)
		out = vs.whenNamings(out, when, at(a.If))
		if a.Then != nil {
			out = vs.whenNamings(out, when, at(a.Then))
		}
		if a.Else != nil {
			out = vs.whenNamings(out, vs.forms.Not(when), at(a.Else))
		}
	}
	some := func(nodes []*syntax.Node, together bool) {
		if len(nodes) == 0 {
			return
		}
		kids := make([]alternative, 0, len(nodes))
		for _, x := range nodes {
			kids = append(kids, alternative{form(x), at(x)})
		}
		out = vs.bothNamings(out, vs.someNamings(kids, together))
	}
	some(a.AnyOf, true)
	some(a.OneOf, false)
	return out
}

// alternative is one of several schemas, with its cases.
type alternative struct {
	f     logic.Form
	cases []naming
}

// with returns the case in which both a and b hold.
func (vs *views) with(a, b naming) naming {
	out := naming{f: vs.forms.And(a.f, b.f), names: maps.Clone(a.names), open: vs.forms.Or(a.open, b.open)}
	if out.names == nil {
		out.names = map[int32]logic.Form{}
	}
	for id, when := range b.names {
		out.names[id] = vs.forms.Or(out.names[id], when)
	}
	return out
}

// bothNamings returns the cases of a conjunction.
func (vs *views) bothNamings(a, b []naming) []naming {
	if len(a)*len(b) > maxNamings {
		b = []naming{vs.anyOf(b)}
		b[0].f = logic.Yes
	}
	if len(a)*len(b) > maxNamings {
		return a
	}
	var out []naming
	for _, x := range a {
		for _, y := range b {
			if c := vs.with(x, y); c.f != logic.No {
				out = append(out, c)
			}
		}
	}
	return vs.distinct(out)
}

// distinct joins cases that name the same members.
func (vs *views) distinct(list []naming) []naming {
	var out []naming
	for _, c := range list {
		i := slices.IndexFunc(out, func(o naming) bool { return o.open == c.open && maps.Equal(o.names, c.names) })
		if i < 0 {
			out = append(out, c)
		} else {
			out[i].f = vs.forms.Or(out[i].f, c.f)
		}
	}
	return out
}

// anyOf returns the cases as one, in which each name has the condition of its
// case.
func (vs *views) anyOf(list []naming) naming {
	out := naming{names: map[int32]logic.Form{}}
	for _, c := range list {
		out.f = vs.forms.Or(out.f, c.f)
		out.open = vs.forms.Or(out.open, vs.forms.And(c.f, c.open))
		for id := range c.names {
			out.names[id] = logic.Yes
		}
	}
	return out
}

// whenNamings adds to each case what list names under the condition when.
func (vs *views) whenNamings(out []naming, when logic.Form, list []naming) []naming {
	if when == logic.No {
		return out
	}
	more := naming{f: logic.Yes, names: map[int32]logic.Form{}}
	for _, c := range list {
		f := vs.forms.And(when, c.f)
		more.open = vs.forms.Or(more.open, vs.forms.And(f, c.open))
		for id, own := range c.names {
			more.names[id] = vs.forms.Or(more.names[id], vs.forms.And(f, own))
		}
	}
	return vs.bothNamings(out, []naming{more})
}

// someNamings returns the cases of alternatives of which at least one holds or,
// unless together, exactly one.
func (vs *views) someNamings(kids []alternative, together bool) []naming {
	kids = slices.DeleteFunc(kids, func(k alternative) bool { return k.f == logic.No })
	if together && len(kids) > maxTogether || !together {
		var out []naming
		for _, k := range kids {
			out = append(out, vs.bothNamings([]naming{{f: k.f}}, k.cases)...)
		}
		if out = vs.distinct(out); len(out) > maxNamings {
			out = []naming{vs.anyOf(out)}
		}
		return out
	}
	// All combinations.
	var out []naming
	for _, k := range kids {
		own := vs.bothNamings([]naming{{f: k.f}}, k.cases)
		if len(own)*(len(out)+1) > maxNamings {
			own = []naming{vs.anyOf(own)}
		}
		for _, c := range out {
			out = append(out, vs.bothNamings([]naming{c}, own)...)
		}
		if out = vs.distinct(append(out, own...)); len(out) > maxNamings {
			out = []naming{vs.anyOf(out)}
		}
	}
	return out
}
