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

// numbers numbers decimals, sets of them, and the automata of forms about numbers.
type numbers struct {
	*base
	decimals     []number.Decimal
	decimalIndex map[string]int32
	sets         [][]int32
	setIndex     map[string]int32
	automata     map[form][]*number.Automaton
	list         []*number.Automaton
	index        map[*number.Automaton]int32
}

func newNumbers(b *base) *numbers {
	return &numbers{base: b, decimalIndex: map[string]int32{}, setIndex: map[string]int32{},
		automata: map[form][]*number.Automaton{}, index: map[*number.Automaton]int32{}}
}

// texts numbers the automata of languages of strings.
type texts struct {
	*base
	views    *views
	machines []*regular.Machine
	index    map[*regular.Machine]int32
	byGoal   map[goal]int32 // machine of a goal's strings, -1: none
}

func newTexts(b *base, vs *views) *texts {
	return &texts{base: b, views: vs, index: map[*regular.Machine]int32{}, byGoal: map[goal]int32{}}
}

func (ns *numbers) decimal(x number.Decimal) int32 {
	key := x.Key()
	if i, ok := ns.decimalIndex[key]; ok {
		return i
	}
	i := int32(len(ns.decimals))
	ns.decimals = append(ns.decimals, x)
	ns.decimalIndex[key] = i
	return i
}

func (ns *numbers) set(list []int32) int32 {
	slices.Sort(list)
	list = slices.Compact(list)
	key := keyOf(list...)
	if i, ok := ns.setIndex[key]; ok {
		return i
	}
	i := int32(len(ns.sets))
	ns.sets = append(ns.sets, list)
	ns.setIndex[key] = i
	return i
}

// automataOf returns automata that together accept the numbers of a form.
func (ns *numbers) automataOf(f form) []*number.Automaton {
	if list, ok := ns.automata[f]; ok {
		return list
	}
	var list []*number.Automaton
	steps := ns.opt.Limits.Steps
	ok := ns.forms.branches(f, &steps, func(lits []lit) bool {
		a, err := number.Compile(ns.spec(lits), ns.spelling(), number.Limits{})
		if err != nil {
			if _, empty := err.(*number.EmptyError); !empty {
				ns.fail(err)
			}
			return true
		}
		if a = language.SharedAutomaton(a); !slices.Contains(list, a) {
			list = append(list, a)
		}
		return true
	})
	if !ok {
		ns.limit("steps", ns.opt.Limits.Steps)
	}
	ns.automata[f] = list
	return list
}

func (ns *numbers) spelling() number.Spelling {
	if ns.opt.AnyNumberSpelling {
		return number.AnySpelling
	}
	return number.Canonical
}

func (ns *numbers) spec(lits []lit) number.Spec {
	var spec number.Spec
	for _, l := range lits {
		switch l.kind {
		case litInteger:
			spec.Integer = true
		case litNotInteger:
			spec.NotInteger = true
		case litMin:
			x := &ns.decimals[l.a]
			if c := -1; spec.Min == nil || func() bool { c = x.Cmp(*spec.Min); return c > 0 }() {
				spec.Min, spec.MinExclusive = x, l.b == 1
			} else if c == 0 && l.b == 1 {
				spec.MinExclusive = true
			}
		case litMax:
			x := &ns.decimals[l.a]
			if c := 1; spec.Max == nil || func() bool { c = x.Cmp(*spec.Max); return c < 0 }() {
				spec.Max, spec.MaxExclusive = x, l.b == 1
			} else if c == 0 && l.b == 1 {
				spec.MaxExclusive = true
			}
		case litMultiple:
			spec.MultipleOf = append(spec.MultipleOf, ns.decimals[l.a])
		case litNotMultiple:
			spec.NotMultipleOf = append(spec.NotMultipleOf, ns.decimals[l.a])
		case litIn:
			set := ns.setDecimals(l.a)
			if spec.HasIn {
				set = slices.DeleteFunc(set, func(x number.Decimal) bool {
					return !slices.ContainsFunc(spec.In, func(y number.Decimal) bool { return x.Cmp(y) == 0 })
				})
			}
			spec.In, spec.HasIn = set, true
		case litNotIn:
			spec.NotIn = append(spec.NotIn, ns.setDecimals(l.a)...)
		}
	}
	return spec
}

func (ns *numbers) setDecimals(set int32) []number.Decimal {
	out := make([]number.Decimal, len(ns.sets[set]))
	for i, x := range ns.sets[set] {
		out[i] = ns.decimals[x]
	}
	return out
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

func (ns *numbers) id(a *number.Automaton) int32 {
	if i, ok := ns.index[a]; ok {
		return i
	}
	i := int32(len(ns.list))
	ns.list = append(ns.list, a)
	ns.index[a] = i
	return i
}

// of returns the machine of the strings that fulfil g, or -1.
func (ts *texts) of(g goal) int32 {
	if i, ok := ts.byGoal[g]; ok {
		return i
	}
	i := int32(-1)
	if e := regular.Expr(ts.views.of(g, jString)); e != ts.lang.Empty {
		m := ts.machine(e)
		if m.Start() != regular.Dead {
			i = ts.id(m)
		}
	}
	ts.byGoal[g] = i
	return i
}

func (ts *texts) id(m *regular.Machine) int32 {
	if i, ok := ts.index[m]; ok {
		return i
	}
	i := int32(len(ts.machines))
	ts.machines = append(ts.machines, m)
	ts.index[m] = i
	return i
}
