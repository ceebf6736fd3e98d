package schema

import (
	"errors"
	"slices"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/language"
	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/number"
)

// numbers numbers decimals, sets of them, and the automata of forms about numbers.
type numbers struct {
	*base
	decimals     []number.Decimal
	decimalIndex logic.Memo[string, int32]
	sets         logic.Lists
	automata     logic.Memo[logic.Form, []*number.Automaton]
	held         language.Held // those in automata
	list         []*number.Automaton
	index        logic.Memo[*number.Automaton, int32]
}

func newNumbers(b *base) *numbers {
	return &numbers{base: b, sets: logic.NewLists()}
}

func (ns *numbers) decimal(x number.Decimal) int32 {
	key := x.Key()
	if i, ok := ns.decimalIndex[key]; ok {
		return i
	}
	i := int32(len(ns.decimals))
	ns.decimals = append(ns.decimals, x)
	ns.decimalIndex.Put(key, i)
	return i
}

func (ns *numbers) set(list []int32) int32 {
	slices.Sort(list)
	return ns.sets.Number(slices.Compact(list))
}

// automataOf returns automata that together accept the numbers of a form.
func (ns *numbers) automataOf(f logic.Form) []*number.Automaton {
	if list, ok := ns.automata[f]; ok {
		return list
	}
	var list []*number.Automaton
	steps := ns.opt.Limits.Steps
	ok := ns.forms.Branches(f, &steps, func(lits []logic.Lit) bool {
		a, err := number.Compile(ns.spec(lits), ns.spelling(), number.Limits{Step: ns.goals.Meter.Step})
		ns.goals.Meter.Look()
		if err != nil {
			if _, empty := err.(*number.EmptyError); !empty {
				ns.fail(err)
			}
			return true
		}
		if a = ns.held.Shared(a); !slices.Contains(list, a) {
			list = append(list, a)
		}
		return true
	})
	if !ok {
		ns.limit("steps", ns.opt.Limits.Steps)
	}
	ns.automata.Put(f, list)
	return list
}

// check fails if the automaton exceeded a limit, in which case it wrongly appears to have no further steps.
func (ns *numbers) check(a *number.Automaton) {
	var limit *number.LimitError
	if err := a.Err(); errors.As(err, &limit) {
		ns.limit(limit.Limit, limit.Max)
	}
}

func (ns *numbers) spelling() number.Spelling {
	if ns.opt.AnyNumberSpelling {
		return number.AnySpelling
	}
	return number.Canonical
}

func (ns *numbers) spec(lits []logic.Lit) number.Spec {
	var spec number.Spec
	for _, l := range lits {
		switch l.Kind {
		case logic.Integer:
			spec.Integer = true
		case logic.NotInteger:
			spec.NotInteger = true
		case logic.Plain:
			spec.Plain = true
		case logic.NotPlain:
			spec.NotPlain = true
		case logic.Min:
			x := &ns.decimals[l.A]
			if c := -1; spec.Min == nil || func() bool { c = x.Cmp(*spec.Min); return c > 0 }() {
				spec.Min, spec.MinExclusive = x, l.B == 1
			} else if c == 0 && l.B == 1 {
				spec.MinExclusive = true
			}
		case logic.Max:
			x := &ns.decimals[l.A]
			if c := 1; spec.Max == nil || func() bool { c = x.Cmp(*spec.Max); return c < 0 }() {
				spec.Max, spec.MaxExclusive = x, l.B == 1
			} else if c == 0 && l.B == 1 {
				spec.MaxExclusive = true
			}
		case logic.Multiple:
			spec.MultipleOf = append(spec.MultipleOf, ns.decimals[l.A])
		case logic.NotMultiple:
			spec.NotMultipleOf = append(spec.NotMultipleOf, ns.decimals[l.A])
		case logic.In:
			set := ns.setDecimals(l.A)
			if spec.HasIn {
				set = slices.DeleteFunc(set, func(x number.Decimal) bool {
					return !slices.ContainsFunc(spec.In, func(y number.Decimal) bool { return x.Cmp(y) == 0 })
				})
			}
			spec.In, spec.HasIn = set, true
		case logic.NotIn:
			spec.NotIn = append(spec.NotIn, ns.setDecimals(l.A)...)
		}
	}
	return spec
}

func (ns *numbers) setDecimals(set int32) []number.Decimal {
	out := make([]number.Decimal, len(ns.sets.All[set]))
	for i, x := range ns.sets.All[set] {
		out[i] = ns.decimals[x]
	}
	return out
}

func (ns *numbers) id(a *number.Automaton) int32 {
	if i, ok := ns.index[a]; ok {
		return i
	}
	i := int32(len(ns.list))
	ns.list = append(ns.list, a)
	ns.index.Put(a, i)
	return i
}

// texts numbers the automata of languages of strings.
type texts struct {
	*base
	views    *views
	machines []*regular.Machine
	index    logic.Memo[*regular.Machine, int32]
	byGoal   logic.Memo[logic.Goal, int32] // machine of a goal's strings, -1: none
}

func newTexts(b *base, vs *views) *texts {
	return &texts{base: b, views: vs}
}

// of returns the machine of the strings that fulfil g, or -1.
func (ts *texts) of(g logic.Goal) int32 {
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
	ts.byGoal.Put(g, i)
	return i
}

func (ts *texts) id(m *regular.Machine) int32 {
	if i, ok := ts.index[m]; ok {
		return i
	}
	i := int32(len(ts.machines))
	ts.machines = append(ts.machines, m)
	ts.index.Put(m, i)
	return i
}
