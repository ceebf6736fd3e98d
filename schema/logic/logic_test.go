package logic

import (
	"testing"

	"github.com/stencil-json/stencil/schema/jsondoc"
)

// constant returns the goal of being equal to a JSON text.
func constant(t *testing.T, goals *Goals, text string) Goal {
	t.Helper()
	v, err := jsondoc.Parse(text, 10)
	if err != nil {
		t.Fatal(err)
	}
	return goals.Constant(v)
}

func TestGoals(t *testing.T) {
	goals := NewGoals()
	one, two := constant(t, &goals, "1"), constant(t, &goals, "2")
	if constant(t, &goals, "1.0") != one {
		t.Error("1.0 and 1 are two goals")
	}
	for _, c := range []struct {
		g    Goal
		want string
	}{
		{goals.And(one, Always), "= 1"},
		{goals.And(one, Never), "nothing"},
		{goals.Or(one, two, one), "(= 1 or = 2)"},
		{goals.Not(goals.Or(one, two)), "(≠ 1 and ≠ 2)"},
		{goals.Not(goals.Not(goals.Or(one, two))), "(= 1 or = 2)"},
		{goals.And(one, two, goals.Not(one)), "nothing"},
		{goals.Or(goals.Not(one), one, two), "anything"},
	} {
		if got := goals.String(c.g); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestForms(t *testing.T) {
	goals := NewGoals()
	forms := NewForms(&goals)
	one := constant(t, &goals, "1")
	all := forms.Lit(Lit{Kind: AllKeys, A: 7, Goal: one})
	some := forms.Not(all)
	least, most := forms.Lit(Lit{Kind: MinItems, A: 2}), forms.Lit(Lit{Kind: MaxItems, A: 1})
	unique := forms.Lit(Lit{Kind: Unique})
	list := forms.Lit(Lit{Kind: Leading, A: forms.List(one, forms.List(Always, forms.List(one, forms.List(Always, 0))))})
	for _, c := range []struct {
		f    Form
		want string
	}{
		{all, "every 7: = 1"},
		{some, "some 7: ≠ 1"},
		{forms.Lit(Lit{Kind: AllKeys, A: 7, Goal: Always}), "⊤"},
		{forms.Lit(Lit{Kind: AtLeast, A: 3, Goal: Always}), "≥ 3 items"},
		{forms.Not(least), "≤ 1 items"},
		{list, "first items: = 1; anything; = 1"},
		{forms.Not(list), "first items not all: = 1; anything; = 1"},
		{forms.Not(forms.Not(list)), "first items: = 1; anything; = 1"},
		{forms.And(list, forms.Not(list)), "⊥"},
		{forms.Lit(Lit{Kind: Leading, A: forms.List(Always, forms.List(Always, 0))}), "⊤"},
		{forms.And(least, most), "⊥"},
		{forms.Or(all, some), "⊤"},
		{forms.And(all, forms.Or(all, unique)), "every 7: = 1"},
		{forms.And(all, forms.Or(some, unique)), "every 7: = 1 ∧ items differ"},
		{forms.Or(unique, forms.And(all, least)), "items differ ∨ (every 7: = 1 ∧ ≥ 2 items)"},
		{forms.Not(forms.And(all, unique)), "some 7: ≠ 1 ∨ two items equal"},
	} {
		if got := forms.String(c.f, Names{}); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// Branches are the conjunctions of the disjunctive normal form.
func TestBranches(t *testing.T) {
	goals := NewGoals()
	forms := NewForms(&goals)
	lit := func(k LitKind) Form { return forms.Lit(Lit{Kind: k}) }
	f := forms.And(lit(Unique), forms.Or(lit(Integer), lit(NotUnique), forms.And(lit(In), forms.Or(lit(Min), lit(Max)))))
	var sizes []int
	steps := 100
	if !forms.Branches(f, &steps, func(lits []Lit) bool { sizes = append(sizes, len(lits)); return true }) {
		t.Error("100 steps were too few")
	}
	if len(sizes) != 3 || sizes[0]+sizes[1]+sizes[2] != 8 {
		t.Errorf("branches of %v literals", sizes)
	}
	steps = 2
	if forms.Branches(f, &steps, func([]Lit) bool { return true }) {
		t.Error("2 steps were enough")
	}
}
