package schema

import (
	"slices"

	"stencil/regular"
	"stencil/schema/jsondoc"
	"stencil/schema/language"
	"stencil/schema/number"
	"stencil/schema/syntax"
)

// stringKeywords returns the strings that the string keywords of n allow.
func (s *source) stringKeywords(n *syntax.Node) regular.Expr {
	k := n.String
	e := s.lang.Any
	if k.HasPattern {
		if p, err := s.lang.Pattern(k.Pattern); err == nil {
			e = s.lang.And(e, p)
		}
	}
	if k.Format != "" {
		if f, ok := s.lang.Format(k.Format); ok {
			e = s.lang.And(e, f)
		}
	}
	if k.Min > 0 || k.Max != syntax.NoMax {
		e = s.lang.And(e, s.lang.Length(k.Min, k.Max))
	}
	return e
}

// numberKeywords adds the literals of the number keywords of n.
func (s *source) numberKeywords(n *syntax.Node, list []int32) []int32 {
	add := func(l lit) { list = append(list, int32(s.forms.lit(l))) }
	if n.Types&syntax.TypeInteger != 0 && n.Types&syntax.TypeNumber == 0 {
		add(lit{kind: litInteger})
	}
	k := n.Number
	if k == nil {
		return list
	}
	if k.Min != nil {
		add(lit{kind: litMin, a: s.decimal(*k.Min)})
	}
	if k.ExclusiveMin != nil {
		add(lit{kind: litMin, a: s.decimal(*k.ExclusiveMin), b: 1})
	}
	if k.Max != nil {
		add(lit{kind: litMax, a: s.decimal(*k.Max)})
	}
	if k.ExclusiveMax != nil {
		add(lit{kind: litMax, a: s.decimal(*k.ExclusiveMax), b: 1})
	}
	for _, m := range k.MultipleOf {
		add(lit{kind: litMultiple, a: s.decimal(m)})
	}
	return list
}

func (s *source) decimal(x number.Decimal) int32 {
	key := x.Key()
	if i, ok := s.decimalIndex[key]; ok {
		return i
	}
	i := int32(len(s.decimals))
	s.decimals = append(s.decimals, x)
	s.decimalIndex[key] = i
	return i
}

func (s *source) numberSet(list []int32) int32 {
	slices.Sort(list)
	list = slices.Compact(list)
	key := keyOf(list...)
	if i, ok := s.numSetIndex[key]; ok {
		return i
	}
	i := int32(len(s.numberSets))
	s.numberSets = append(s.numberSets, list)
	s.numSetIndex[key] = i
	return i
}

// numbers returns automata that together accept the numbers of a form.
func (s *source) numbers(f form) []*number.Automaton {
	if list, ok := s.automata[f]; ok {
		return list
	}
	var list []*number.Automaton
	steps := s.opt.Limits.Steps
	ok := s.forms.branches(f, &steps, func(lits []lit) bool {
		a, err := number.Compile(s.numberSpec(lits), s.spelling(), number.Limits{})
		if err != nil {
			if _, empty := err.(*number.EmptyError); !empty {
				s.fail(err)
			}
			return true
		}
		if a = language.SharedAutomaton(a); !slices.Contains(list, a) {
			list = append(list, a)
		}
		return true
	})
	if !ok {
		s.limit("steps", s.opt.Limits.Steps)
	}
	s.automata[f] = list
	return list
}

func (s *source) spelling() number.Spelling {
	if s.opt.AnyNumberSpelling {
		return number.AnySpelling
	}
	return number.Canonical
}

func (s *source) numberSpec(lits []lit) number.Spec {
	var spec number.Spec
	for _, l := range lits {
		switch l.kind {
		case litInteger:
			spec.Integer = true
		case litNotInteger:
			spec.NotInteger = true
		case litMin:
			x := &s.decimals[l.a]
			if c := -1; spec.Min == nil || func() bool { c = x.Cmp(*spec.Min); return c > 0 }() {
				spec.Min, spec.MinExclusive = x, l.b == 1
			} else if c == 0 && l.b == 1 {
				spec.MinExclusive = true
			}
		case litMax:
			x := &s.decimals[l.a]
			if c := 1; spec.Max == nil || func() bool { c = x.Cmp(*spec.Max); return c < 0 }() {
				spec.Max, spec.MaxExclusive = x, l.b == 1
			} else if c == 0 && l.b == 1 {
				spec.MaxExclusive = true
			}
		case litMultiple:
			spec.MultipleOf = append(spec.MultipleOf, s.decimals[l.a])
		case litNotMultiple:
			spec.NotMultipleOf = append(spec.NotMultipleOf, s.decimals[l.a])
		case litIn:
			set := s.setDecimals(l.a)
			if spec.HasIn {
				set = slices.DeleteFunc(set, func(x number.Decimal) bool {
					return !slices.ContainsFunc(spec.In, func(y number.Decimal) bool { return x.Cmp(y) == 0 })
				})
			}
			spec.In, spec.HasIn = set, true
		case litNotIn:
			spec.NotIn = append(spec.NotIn, s.setDecimals(l.a)...)
		}
	}
	return spec
}

func (s *source) setDecimals(set int32) []number.Decimal {
	out := make([]number.Decimal, len(s.numberSets[set]))
	for i, x := range s.numberSets[set] {
		out[i] = s.decimals[x]
	}
	return out
}

// constView returns the view of being equal to v.
func (s *source) constView(v *jsondoc.Value, t jtype) int32 {
	return s.enumView([]*jsondoc.Value{v}, t)
}

// enumView returns the view of being equal to one of list.
func (s *source) enumView(list []*jsondoc.Value, t jtype) int32 {
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
					set = append(set, s.decimal(x))
				} else {
					s.fail(err)
				}
			}
		}
		if len(set) == 0 {
			return int32(no)
		}
		return int32(s.forms.lit(lit{kind: litIn, a: s.numberSet(set)}))
	case jString:
		var set []string
		for _, v := range list {
			if v.Kind == jsondoc.String {
				set = append(set, v.Text)
			}
		}
		if len(set) == 0 {
			return int32(s.lang.Empty)
		}
		return int32(s.lang.Strings(set))
	}
	var alts []form
	for _, v := range list {
		switch {
		case t == jArray && v.Kind == jsondoc.Array:
			n := int32(len(v.Items))
			parts := []form{s.forms.lit(lit{kind: litMinItems, a: n}), s.forms.lit(lit{kind: litMaxItems, a: n})}
			for i, x := range v.Items {
				parts = append(parts, s.forms.lit(lit{kind: litAllItems, a: int32(i), b: int32(i), g: s.goals.constant(x)}))
			}
			alts = append(alts, s.forms.and(parts...))
		case t == jObject && v.Kind == jsondoc.Object:
			var parts []form
			var names []int32
			for _, m := range v.Members {
				id := s.nameID(m.Key)
				names = append(names, id)
				parts = append(parts, s.forms.lit(lit{kind: litSomeKey, a: s.oneName(id), g: s.goals.constant(m.Value)}))
			}
			parts = append(parts, s.forms.lit(lit{kind: litAllKeys, a: s.keySet(true, names, nil), g: never}))
			alts = append(alts, s.forms.and(parts...))
		}
	}
	return int32(s.forms.or(alts...))
}

func (s *source) numberID(a *number.Automaton) int32 {
	if i, ok := s.numberIndex[a]; ok {
		return i
	}
	i := int32(len(s.numberIDs))
	s.numberIDs = append(s.numberIDs, a)
	s.numberIndex[a] = i
	return i
}

// text returns the machine of the strings that fulfil g, or -1.
func (s *source) text(g goal) int32 {
	if i, ok := s.textOf[g]; ok {
		return i
	}
	i := int32(-1)
	if e := regular.Expr(s.view(g, jString)); e != s.lang.Empty {
		m := s.machine(e)
		if m.Start() != regular.Dead {
			i = s.machineID(m)
		}
	}
	s.textOf[g] = i
	return i
}

func (s *source) machineID(m *regular.Machine) int32 {
	if i, ok := s.machineIndex[m]; ok {
		return i
	}
	i := int32(len(s.machines))
	s.machines = append(s.machines, m)
	s.machineIndex[m] = i
	return i
}
