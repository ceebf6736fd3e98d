package schema

import (
	"slices"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/number"
	"github.com/stencil-json/stencil/schema/syntax"
)

// arrayKeywords adds the demands of the array keywords of n.
func (vs *views) arrayKeywords(n *syntax.Node, scope int32, list []int32) []int32 {
	k := n.Array
	add := func(l logic.Lit) { list = append(list, int32(vs.forms.Lit(l))) }
	if len(k.Prefix) > 0 {
		add(vs.leading(len(k.Prefix), func(i int) logic.Goal { return vs.sub(k.Prefix[i], scope) }))
	}
	if k.Items != nil {
		add(logic.Lit{Kind: logic.AllItems, A: int32(len(k.Prefix)), B: -1, Goal: vs.sub(k.Items, scope)})
	}
	add(logic.Lit{Kind: logic.MinItems, A: int32(k.Min)})
	if k.Max != syntax.NoMax {
		add(logic.Lit{Kind: logic.MaxItems, A: int32(k.Max)})
	}
	if k.Contains != nil {
		g := vs.sub(k.Contains, scope)
		add(logic.Lit{Kind: logic.AtLeast, A: int32(k.MinContains), Goal: g})
		if k.MaxContains != syntax.NoMax {
			add(logic.Lit{Kind: logic.AtMost, A: int32(k.MaxContains), Goal: g})
		}
	}
	if k.Unique {
		add(logic.Lit{Kind: logic.Unique})
	}
	return list
}

// leading demands that each of the first n items fulfils a goal.
func (vs *views) leading(n int, of func(i int) logic.Goal) logic.Lit {
	goals := make([]logic.Goal, n)
	for i := range goals {
		goals[i] = of(i)
	}
	list := int32(0)
	for _, g := range slices.Backward(goals) {
		list = vs.forms.List(g, list)
	}
	return logic.Lit{Kind: logic.Leading, A: list}
}

// objectKeywords adds the demands of the object keywords of n.
func (vs *views) objectKeywords(n *syntax.Node, scope int32, list []int32) []int32 {
	k := n.Object
	add := func(f logic.Form) { list = append(list, int32(f)) }
	all := func(set int32, g logic.Goal) { add(vs.forms.Lit(logic.Lit{Kind: logic.AllKeys, A: set, Goal: g})) }
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
			add(vs.forms.Lit(logic.Lit{Kind: logic.MaxProps}))
		} else if e != int32(vs.lang.Any) {
			all(vs.sets.set(true, nil, []int32{vs.sets.pattern(regular.Expr(e))}), logic.Never)
		}
	}
	for _, r := range k.Required {
		add(vs.hasKey(r))
	}
	add(vs.forms.Lit(logic.Lit{Kind: logic.MinProps, A: int32(k.Min)}))
	if k.Max != syntax.NoMax {
		add(vs.forms.Lit(logic.Lit{Kind: logic.MaxProps, A: int32(k.Max)}))
	}
	for _, d := range k.DependentRequired {
		parts := []logic.Form{}
		for _, r := range d.Required {
			parts = append(parts, vs.hasKey(r))
		}
		add(vs.forms.Or(vs.lacksKey(d.Name), vs.forms.And(parts...)))
	}
	for _, d := range k.DependentSchemas {
		add(vs.forms.Or(vs.lacksKey(d.Name), logic.Form(vs.of(vs.sub(d.Node, scope), jObject))))
	}
	return list
}

func (vs *views) hasKey(name string) logic.Form {
	return vs.forms.Lit(logic.Lit{Kind: logic.SomeKey, A: vs.sets.oneName(vs.sets.name(name)), Goal: logic.Always})
}

func (vs *views) lacksKey(name string) logic.Form {
	return vs.forms.Lit(logic.Lit{Kind: logic.AllKeys, A: vs.sets.oneName(vs.sets.name(name)), Goal: logic.Never})
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
			e = vs.lang.And(e, f, vs.readable(k.Format))
		}
	}
	if k.Min > 0 || k.Max != syntax.NoMax {
		e = vs.lang.And(e, vs.lang.Length(k.Min, k.Max))
	}
	return e
}

// readable returns the strings of a format that every library can read, for
// generated strings: few libraries support the second 60, and durations have a
// maximum.
func (vs *views) readable(format string) regular.Expr {
	pattern := map[string]string{"time": `^[^:]*:[^:]*:[0-5]`, "date-time": `^[^:]*:[^:]*:[0-5]`, "duration": `^(?:[A-Z]|[0-9]{1,4}[A-Z])*$`}[format]
	if pattern == "" || vs.opt.AnyNumberSpelling {
		return vs.lang.Any
	}
	e, err := vs.lang.Pattern(pattern)
	if err != nil {
		return vs.lang.Any // can't happen: the patterns are constants
	}
	return e
}

// numberKeywords adds the literals of the number keywords of n.
func (vs *views) numberKeywords(n *syntax.Node, list []int32) []int32 {
	add := func(l logic.Lit) { list = append(list, int32(vs.forms.Lit(l))) }
	if n.Types&syntax.TypeInteger != 0 && n.Types&syntax.TypeNumber == 0 {
		if n.Draft == syntax.Draft4 {
			add(logic.Lit{Kind: logic.Plain}) // 1.0 is not an integer in draft 4
		} else {
			add(logic.Lit{Kind: logic.Integer})
		}
	}
	k := n.Number
	if k == nil {
		return list
	}
	if k.Min != nil {
		add(logic.Lit{Kind: logic.Min, A: vs.numbers.decimal(*k.Min)})
	}
	if k.ExclusiveMin != nil {
		add(logic.Lit{Kind: logic.Min, A: vs.numbers.decimal(*k.ExclusiveMin), B: 1})
	}
	if k.Max != nil {
		add(logic.Lit{Kind: logic.Max, A: vs.numbers.decimal(*k.Max)})
	}
	if k.ExclusiveMax != nil {
		add(logic.Lit{Kind: logic.Max, A: vs.numbers.decimal(*k.ExclusiveMax), B: 1})
	}
	for _, m := range k.MultipleOf {
		add(logic.Lit{Kind: logic.Multiple, A: vs.numbers.decimal(m)})
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
			return int32(logic.No)
		}
		return int32(vs.forms.Lit(logic.Lit{Kind: logic.In, A: vs.numbers.set(set)}))
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
	var alts []logic.Form
	for _, v := range list {
		switch {
		case t == jArray && v.Kind == jsondoc.Array:
			n := int32(len(v.Items))
			parts := []logic.Form{vs.forms.Lit(logic.Lit{Kind: logic.MinItems, A: n}), vs.forms.Lit(logic.Lit{Kind: logic.MaxItems, A: n})}
			parts = append(parts, vs.forms.Lit(vs.leading(len(v.Items), func(i int) logic.Goal { return vs.goals.Constant(v.Items[i]) })))
			alts = append(alts, vs.forms.And(parts...))
		case t == jObject && v.Kind == jsondoc.Object:
			var parts []logic.Form
			var names []int32
			for _, m := range v.Members {
				id := vs.sets.name(m.Key)
				names = append(names, id)
				parts = append(parts, vs.forms.Lit(logic.Lit{Kind: logic.SomeKey, A: vs.sets.oneName(id), Goal: vs.goals.Constant(m.Value)}))
			}
			parts = append(parts, vs.forms.Lit(logic.Lit{Kind: logic.AllKeys, A: vs.sets.set(true, names, nil), Goal: logic.Never}))
			alts = append(alts, vs.forms.And(parts...))
		}
	}
	return int32(vs.forms.Or(alts...))
}
