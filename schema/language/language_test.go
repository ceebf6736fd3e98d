package language

import (
	"testing"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/number"
)

// Schemas share a pool until it is replaced, and equal languages within it.
func TestShared(t *testing.T) {
	p := Shared()
	if Shared() != p {
		t.Error("two shared pools")
	}
	a, err := p.Pattern("^a+$")
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Machine(p.And(a, p.Any))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := p.Machine(a); again != m || err != nil {
		t.Errorf("one language has two automata: %v", err)
	}
	if n := p.Least(p.And(a, p.Length(3, -1))); n != 3 {
		t.Errorf("the shortest of a+ with 3 characters or more has %d", n)
	}
	if !p.Common() || New().Common() {
		t.Error("a pool doesn't know whom it is for")
	}
}

// Somebody who exceeds a limit leaves the pool to the others as it was: with the same automata, and no larger.
func TestExceeded(t *testing.T) {
	p := Shared()
	innocent, err := p.Pattern("^[a-f]{3}x*$")
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Machine(innocent)
	if err != nil {
		t.Fatal(err)
	}
	at := m.Step(m.Start(), 'a')
	var told *regular.LimitError
	greedy := p.Reporting(nil, func(err *regular.LimitError) { told = err })
	e, err := greedy.Pattern("^(?=.*a.{14}$)(?=.*b.{15}$)(?=.*c.{16}$)(?=.*d.{17}$)(?!.*e.{19}$).*x")
	if err != nil {
		t.Fatal(err)
	}
	large, err := greedy.Machine(greedy.And(e, greedy.Not(innocent)))
	if err != nil {
		t.Fatal(err)
	}
	nodes, states := 0, 0
	for q, i := large.Start(), 0; told == nil && i < 50; i++ {
		nodes, states = p.store.Nodes(), m.States()
		if q = large.Step(q, rune("abc"[i%3])); told == nil {
			nodes, states = p.store.Nodes(), m.States()
			large.Shortest(q)
		}
	}
	if n := p.store.Nodes(); told == nil || n != nodes || m.States() != states {
		t.Errorf("%v, %d expressions and %d states have become %d and %d", told, nodes, states, n, m.States())
	}
	told = nil
	nodes, greedy.user.Nodes = p.store.Nodes(), 1
	if greedy.Strings([]string{"one", "two", "three"}); told == nil || p.store.Nodes() != nodes {
		t.Errorf("%v, %d expressions have become %d", told, nodes, p.store.Nodes())
	}
	if Shared() != p {
		t.Error("the pool was replaced")
	}
	if again, err := p.Machine(innocent); again != m || err != nil || m.Step(m.Start(), 'a') != at || m.Err() != nil {
		t.Errorf("the automaton has not survived: %v, %v", err, m.Err())
	}
}

func TestSharedAutomaton(t *testing.T) {
	least := func(text string) *number.Automaton {
		x, err := number.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		a, err := number.Compile(number.Spec{Min: &x}, number.Canonical, number.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return SharedAutomaton(a)
	}
	if least("3") != least("3.0") || least("3") == least("4") {
		t.Error("automata are not shared as they are equal")
	}
}
