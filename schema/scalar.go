package schema

import (
	"slices"
	"sync"

	"stencil/regular"
	"stencil/schema/number"
)

// stringKeywords returns the strings that the string keywords of n allow.
func (s *source) stringKeywords(n *node) regular.Expr {
	k := n.str
	e := s.lang.any
	if k.hasPattern {
		if p, err := s.lang.pattern(k.pattern); err == nil {
			e = s.lang.and(e, p)
		}
	}
	if k.format != "" {
		if f, ok := s.lang.format(k.format); ok {
			e = s.lang.and(e, f)
		}
	}
	if k.min > 0 || k.max != noMax {
		e = s.lang.and(e, s.lang.length(k.min, k.max))
	}
	return e
}

// numberKeywords adds the literals of the number keywords of n.
func (s *source) numberKeywords(n *node, list []int32) []int32 {
	add := func(l lit) { list = append(list, int32(s.forms.lit(l))) }
	if n.types&typeInteger != 0 && n.types&typeNumber == 0 {
		add(lit{kind: litInteger})
	}
	k := n.num
	if k == nil {
		return list
	}
	if k.min != nil {
		add(lit{kind: litMin, a: s.decimal(*k.min)})
	}
	if k.minExclusive != nil {
		add(lit{kind: litMin, a: s.decimal(*k.minExclusive), b: 1})
	}
	if k.max != nil {
		add(lit{kind: litMax, a: s.decimal(*k.max)})
	}
	if k.maxExclusive != nil {
		add(lit{kind: litMax, a: s.decimal(*k.maxExclusive), b: 1})
	}
	for _, m := range k.multiple {
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
		if a = sharedAutomaton(a); !slices.Contains(list, a) {
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

// automata are shared by all schemas, with what has been learnt about them.
var (
	automataMu sync.Mutex
	automata   = map[string]*number.Automaton{}
)

// maxAutomata is the number of automata at which the shared ones are
// forgotten.
const maxAutomata = 4096

// sharedAutomaton returns the automaton that stands for all equal to a.
func sharedAutomaton(a *number.Automaton) *number.Automaton {
	automataMu.Lock()
	defer automataMu.Unlock()
	key := a.Key()
	if b, ok := automata[key]; ok {
		return b
	}
	if len(automata) >= maxAutomata {
		clear(automata)
	}
	automata[key] = a
	return a
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
func (s *source) constView(v *value, t jtype) int32 {
	return s.enumView([]*value{v}, t)
}

// enumView returns the view of being equal to one of list.
func (s *source) enumView(list []*value, t jtype) int32 {
	switch t {
	case jScalar:
		var set int32
		for _, v := range list {
			switch v.kind {
			case kindNull:
				set |= scalarNull
			case kindFalse:
				set |= scalarFalse
			case kindTrue:
				set |= scalarTrue
			}
		}
		return set
	case jNumber:
		var set []int32
		for _, v := range list {
			if v.kind == kindNumber {
				if x, err := number.Parse(v.str); err == nil {
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
			if v.kind == kindString {
				set = append(set, v.str)
			}
		}
		if len(set) == 0 {
			return int32(s.lang.empty)
		}
		return int32(s.lang.strings(set))
	}
	var alts []form
	for _, v := range list {
		switch {
		case t == jArray && v.kind == kindArray:
			n := int32(len(v.items))
			parts := []form{s.forms.lit(lit{kind: litMinItems, a: n}), s.forms.lit(lit{kind: litMaxItems, a: n})}
			for i, x := range v.items {
				parts = append(parts, s.forms.lit(lit{kind: litAllItems, a: int32(i), b: int32(i), g: s.goals.constant(x)}))
			}
			alts = append(alts, s.forms.and(parts...))
		case t == jObject && v.kind == kindObject:
			var parts []form
			var names []int32
			for _, m := range v.members {
				id := s.nameID(m.key)
				names = append(names, id)
				parts = append(parts, s.forms.lit(lit{kind: litSomeKey, a: s.oneName(id), g: s.goals.constant(m.val)}))
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
	if e := regular.Expr(s.view(g, jString)); e != s.lang.empty {
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
