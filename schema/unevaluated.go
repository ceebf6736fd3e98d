package schema

import (
	"stencil/schema/logic"
	"stencil/schema/syntax"
)

// unevaluatedProperties returns the demand of n's unevaluatedProperties: it
// holds for members that no other keyword of the schema, or of the schemas
// applied in place that hold for the object, has looked at.
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

// unevaluatedItems is the same for items.
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

// evaluated says under which condition a schema has looked at which members
// or items.
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

// evaluate lists what n looks at. Where that depends on which of its
// subschemas hold there is one entry for each case; own is set for the
// schema that holds the unevaluated keyword, whose demand it isn't part of.
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
	// must: a schema that has to hold; may: one that is looked at if it
	// holds.
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

// maxEvaluated bounds the cases of which subschemas hold.
const maxEvaluated = 256
