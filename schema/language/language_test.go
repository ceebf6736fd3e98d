package language

import (
	"errors"
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
	if next := Renew(); next == p || Shared() != next {
		t.Error("the pool was not replaced")
	}
}

// Exceeding a limit marks the pool as failed.
func TestFailed(t *testing.T) {
	p := NewWithin(regular.Limits{States: 20})
	e, err := p.Pattern("^(a{3}|b{5}){30}$")
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Machine(e)
	if err == nil {
		for q, i := m.Start(), 0; i < 60 && q != regular.Dead; i++ {
			q = m.Step(q, rune("aaabbbbb"[i%8]))
		}
		err = m.Err()
	}
	var limit *regular.LimitError
	if !errors.As(err, &limit) || !p.Failed() {
		t.Errorf("%v, failed %t", err, p.Failed())
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
