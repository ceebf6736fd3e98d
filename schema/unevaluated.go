package schema

// unevaluatedProperties returns the demand of n's unevaluatedProperties: it
// holds for members that no other keyword of the schema, or of the schemas
// applied in place that hold for the object, has looked at.
func (s *source) unevaluatedProperties(n *node, scope int32) form {
	g := s.sub(n.obj.unevaluated, scope)
	var alts []form
	for _, e := range s.evaluate(n, scope, jObject, true) {
		if e.all {
			alts = append(alts, e.f)
			continue
		}
		rest := s.forms.lit(lit{kind: litAllKeys, a: s.keySet(true, e.names, e.pats), g: g})
		alts = append(alts, s.forms.and(e.f, rest))
	}
	return s.forms.or(alts...)
}

// unevaluatedItems is the same for items.
func (s *source) unevaluatedItems(n *node, scope int32) form {
	g := s.sub(n.arr.unevaluated, scope)
	var alts []form
	for _, e := range s.evaluate(n, scope, jArray, true) {
		if e.all {
			alts = append(alts, e.f)
			continue
		}
		want := s.goals.or(append([]goal{g}, e.some...)...)
		rest := s.forms.lit(lit{kind: litAllItems, a: int32(e.prefix), b: -1, g: want})
		alts = append(alts, s.forms.and(e.f, rest))
	}
	return s.forms.or(alts...)
}

// evaluated says under which condition a schema has looked at which members
// or items.
type evaluated struct {
	f      form // the condition
	all    bool
	names  []int32
	pats   []int32
	prefix int    // items before this index
	some   []goal // items that fulfil one of these
}

func (e evaluated) with(o evaluated) evaluated {
	e.all = e.all || o.all
	e.names = append(append([]int32(nil), e.names...), o.names...)
	e.pats = append(append([]int32(nil), e.pats...), o.pats...)
	e.prefix = max(e.prefix, o.prefix)
	e.some = append(append([]goal(nil), e.some...), o.some...)
	return e
}

// evaluate lists what n looks at. Where that depends on which of its
// subschemas hold there is one entry for each case; own is set for the
// schema that holds the unevaluated keyword, whose demand it isn't part of.
func (s *source) evaluate(n *node, scope int32, t jtype, own bool) []evaluated {
	if n.boolean != 0 {
		return []evaluated{{f: yes}}
	}
	self := evaluated{f: yes}
	if t == jObject && n.obj != nil {
		for _, p := range n.obj.properties {
			self.names = append(self.names, s.nameID(p.name))
		}
		for _, p := range n.obj.patterns {
			if e, err := s.lang.pattern(p.name); err == nil {
				self.pats = append(self.pats, s.patternID(e))
			}
		}
		self.all = n.obj.additional != nil || !own && n.obj.unevaluated != nil
	}
	if t == jArray && n.arr != nil {
		self.prefix = len(n.arr.prefix)
		self.all = n.arr.items != nil || !own && n.arr.unevaluated != nil
		if n.arr.contains != nil && n.draft >= draft2020 {
			self.some = append(self.some, s.sub(n.arr.contains, scope))
		}
	}
	out := []evaluated{self}
	// must: a schema that has to hold; may: one that is looked at if it
	// holds.
	cross := func(list []evaluated) {
		var next []evaluated
		for _, a := range out {
			for _, b := range list {
				if f := s.forms.and(a.f, b.f); f != no {
					c := a.with(b)
					c.f = f
					next = append(next, c)
				}
			}
		}
		out = next
		if len(out) > maxEvaluated {
			s.limit("cases for unevaluated members", maxEvaluated)
			out = out[:1]
		}
	}
	must := func(x *node) {
		cross(s.evaluate(x, s.scope(x, scope), t, false))
	}
	may := func(x *node) {
		v := form(s.view(s.sub(x, scope), t))
		var list []evaluated
		for _, e := range s.evaluate(x, s.scope(x, scope), t, false) {
			e.f = s.forms.and(e.f, v)
			list = append(list, e)
		}
		if not := s.forms.negate(v); not != no {
			list = append(list, evaluated{f: not})
		}
		cross(list)
	}
	a := n.apply
	if a != nil {
		for _, x := range a.allOf {
			must(x)
		}
		for _, x := range a.anyOf {
			may(x)
		}
		for _, x := range a.oneOf {
			may(x)
		}
		if a.when != nil {
			when := form(s.view(s.sub(a.when, scope), t))
			var list []evaluated
			for _, e := range s.evaluate(a.when, s.scope(a.when, scope), t, false) {
				e.f = s.forms.and(e.f, when)
				if a.then == nil {
					list = append(list, e)
					continue
				}
				for _, th := range s.evaluate(a.then, s.scope(a.then, scope), t, false) {
					both := e.with(th)
					both.f = s.forms.and(e.f, th.f)
					list = append(list, both)
				}
			}
			not := s.forms.negate(when)
			if a.otherwise == nil {
				list = append(list, evaluated{f: not})
			} else {
				for _, e := range s.evaluate(a.otherwise, s.scope(a.otherwise, scope), t, false) {
					e.f = s.forms.and(e.f, not)
					list = append(list, e)
				}
			}
			cross(list)
		}
		if a.ref != nil && a.ref.target != nil {
			must(a.ref.target)
		}
		if r := a.dynamic; r != nil && r.target != nil {
			target := r.target
			if r.anchor != "" {
				target = s.scopes.dynamicTarget(r, s.scope(n, scope))
			}
			must(target)
		}
	}
	if t == jObject && n.obj != nil {
		for _, d := range n.obj.depSchemas {
			var list []evaluated
			has := s.hasKey(d.name)
			for _, e := range s.evaluate(d.node, s.scope(d.node, scope), t, false) {
				e.f = s.forms.and(e.f, has)
				list = append(list, e)
			}
			list = append(list, evaluated{f: s.lacksKey(d.name)})
			cross(list)
		}
	}
	return out
}

// maxEvaluated bounds the cases of which subschemas hold.
const maxEvaluated = 256
