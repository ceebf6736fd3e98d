package schema

import (
	"stencil/regular"
	"stencil/schema/jsondoc"
	"stencil/schema/number"
	"stencil/schema/syntax"
)

// arrayKeywords adds the demands of the array keywords of n.
func (vs *views) arrayKeywords(n *syntax.Node, scope int32, list []int32) []int32 {
	k := n.Array
	add := func(l lit) { list = append(list, int32(vs.forms.lit(l))) }
	for i, x := range k.Prefix {
		add(lit{kind: litAllItems, a: int32(i), b: int32(i), g: vs.sub(x, scope)})
	}
	if k.Items != nil {
		add(lit{kind: litAllItems, a: int32(len(k.Prefix)), b: -1, g: vs.sub(k.Items, scope)})
	}
	add(lit{kind: litMinItems, a: int32(k.Min)})
	if k.Max != syntax.NoMax {
		add(lit{kind: litMaxItems, a: int32(k.Max)})
	}
	if k.Contains != nil {
		g := vs.sub(k.Contains, scope)
		add(lit{kind: litAtLeast, a: int32(k.MinContains), g: g})
		if k.MaxContains != syntax.NoMax {
			add(lit{kind: litAtMost, a: int32(k.MaxContains), g: g})
		}
	}
	if k.Unique {
		add(lit{kind: litUnique})
	}
	return list
}

// objectKeywords adds the demands of the object keywords of n.
func (vs *views) objectKeywords(n *syntax.Node, scope int32, list []int32) []int32 {
	k := n.Object
	add := func(f form) { list = append(list, int32(f)) }
	all := func(set int32, g goal) { add(vs.forms.lit(lit{kind: litAllKeys, a: set, g: g})) }
	var names, pats []int32
	for _, p := range k.Properties {
		id := vs.sets.name(p.Name)
		names = append(names, id)
		all(vs.sets.oneName(id), vs.sub(p.Node, scope))
	}
	for _, p := range k.Patterns {
		e, err := vs.lang.Pattern(p.Name)
		if err != nil {
			continue
		}
		id := vs.sets.pattern(e)
		pats = append(pats, id)
		all(vs.sets.set(false, nil, []int32{id}), vs.sub(p.Node, scope))
	}
	if k.Additional != nil {
		all(vs.sets.set(true, names, pats), vs.sub(k.Additional, scope))
	}
	if k.Names != nil {
		e := vs.of(vs.sub(k.Names, scope), jString)
		if e == int32(vs.lang.Empty) {
			add(vs.forms.lit(lit{kind: litMaxProps}))
		} else if e != int32(vs.lang.Any) {
			all(vs.sets.set(true, nil, []int32{vs.sets.pattern(regular.Expr(e))}), never)
		}
	}
	for _, r := range k.Required {
		add(vs.hasKey(r))
	}
	add(vs.forms.lit(lit{kind: litMinProps, a: int32(k.Min)}))
	if k.Max != syntax.NoMax {
		add(vs.forms.lit(lit{kind: litMaxProps, a: int32(k.Max)}))
	}
	for _, d := range k.DependentRequired {
		parts := []form{}
		for _, r := range d.Required {
			parts = append(parts, vs.hasKey(r))
		}
		add(vs.forms.or(vs.lacksKey(d.Name), vs.forms.and(parts...)))
	}
	for _, d := range k.DependentSchemas {
		add(vs.forms.or(vs.lacksKey(d.Name), form(vs.of(vs.sub(d.Node, scope), jObject))))
	}
	return list
}

func (vs *views) hasKey(name string) form {
	return vs.forms.lit(lit{kind: litSomeKey, a: vs.sets.oneName(vs.sets.name(name)), g: always})
}

func (vs *views) lacksKey(name string) form {
	return vs.forms.lit(lit{kind: litAllKeys, a: vs.sets.oneName(vs.sets.name(name)), g: never})
}

// stringKeywords returns the strings that the string keywords of n allow.
func (vs *views) stringKeywords(n *syntax.Node) regular.Expr {
	k := n.String
	e := vs.lang.Any
	if k.HasPattern {
		if p, err := vs.lang.Pattern(k.Pattern); err == nil {
			e = vs.lang.And(e, p)
		}
	}
	if k.Format != "" {
		if f, ok := vs.lang.Format(k.Format); ok {
			e = vs.lang.And(e, f)
		}
	}
	if k.Min > 0 || k.Max != syntax.NoMax {
		e = vs.lang.And(e, vs.lang.Length(k.Min, k.Max))
	}
	return e
}

// numberKeywords adds the literals of the number keywords of n.
func (vs *views) numberKeywords(n *syntax.Node, list []int32) []int32 {
	add := func(l lit) { list = append(list, int32(vs.forms.lit(l))) }
	if n.Types&syntax.TypeInteger != 0 && n.Types&syntax.TypeNumber == 0 {
		add(lit{kind: litInteger})
	}
	k := n.Number
	if k == nil {
		return list
	}
	if k.Min != nil {
		add(lit{kind: litMin, a: vs.numbers.decimal(*k.Min)})
	}
	if k.ExclusiveMin != nil {
		add(lit{kind: litMin, a: vs.numbers.decimal(*k.ExclusiveMin), b: 1})
	}
	if k.Max != nil {
		add(lit{kind: litMax, a: vs.numbers.decimal(*k.Max)})
	}
	if k.ExclusiveMax != nil {
		add(lit{kind: litMax, a: vs.numbers.decimal(*k.ExclusiveMax), b: 1})
	}
	for _, m := range k.MultipleOf {
		add(lit{kind: litMultiple, a: vs.numbers.decimal(m)})
	}
	return list
}

// constView returns the view of being equal to v.
func (vs *views) constView(v *jsondoc.Value, t jtype) int32 {
	return vs.enumView([]*jsondoc.Value{v}, t)
}

// enumView returns the view of being equal to one of list.
func (vs *views) enumView(list []*jsondoc.Value, t jtype) int32 {
	switch t {
	case jScalar:
		var set int32
		for _, v := range list {
			switch v.Kind {
			case jsondoc.Null:
				set |= scalarNull
			case jsondoc.False:
				set |= scalarFalse
			case jsondoc.True:
				set |= scalarTrue
			}
		}
		return set
	case jNumber:
		var set []int32
		for _, v := range list {
			if v.Kind == jsondoc.Number {
				if x, err := number.Parse(v.Text); err == nil {
					set = append(set, vs.numbers.decimal(x))
				} else {
					vs.fail(err)
				}
			}
		}
		if len(set) == 0 {
			return int32(no)
		}
		return int32(vs.forms.lit(lit{kind: litIn, a: vs.numbers.set(set)}))
	case jString:
		var set []string
		for _, v := range list {
			if v.Kind == jsondoc.String {
				set = append(set, v.Text)
			}
		}
		if len(set) == 0 {
			return int32(vs.lang.Empty)
		}
		return int32(vs.lang.Strings(set))
	}
	var alts []form
	for _, v := range list {
		switch {
		case t == jArray && v.Kind == jsondoc.Array:
			n := int32(len(v.Items))
			parts := []form{vs.forms.lit(lit{kind: litMinItems, a: n}), vs.forms.lit(lit{kind: litMaxItems, a: n})}
			for i, x := range v.Items {
				parts = append(parts, vs.forms.lit(lit{kind: litAllItems, a: int32(i), b: int32(i), g: vs.goals.constant(x)}))
			}
			alts = append(alts, vs.forms.and(parts...))
		case t == jObject && v.Kind == jsondoc.Object:
			var parts []form
			var names []int32
			for _, m := range v.Members {
				id := vs.sets.name(m.Key)
				names = append(names, id)
				parts = append(parts, vs.forms.lit(lit{kind: litSomeKey, a: vs.sets.oneName(id), g: vs.goals.constant(m.Value)}))
			}
			parts = append(parts, vs.forms.lit(lit{kind: litAllKeys, a: vs.sets.set(true, names, nil), g: never}))
			alts = append(alts, vs.forms.and(parts...))
		}
	}
	return int32(vs.forms.or(alts...))
}
