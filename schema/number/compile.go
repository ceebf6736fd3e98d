package number

import (
	"errors"
	"strings"
	"sync"
)

// The automata of all numbers, and of all whole numbers without a fraction and
// an exponent, by spelling. They are finite, small and shared.
var (
	allNumbers = [2]func() *Automaton{shared(Spec{}, AnySpelling), shared(Spec{}, Canonical)}
	allPlain   = [2]func() *Automaton{shared(Spec{Plain: true}, AnySpelling), shared(Spec{Plain: true}, Canonical)}
)

func shared(s Spec, sp Spelling) func() *Automaton {
	return sync.OnceValue(func() *Automaton {
		a, err := compile(&s, sp, Limits{}.orDefault())
		if err != nil {
			panic("number: " + err.Error()) // a constant Spec
		}
		return a
	})
}

// Compile returns an automaton for the numbers of a Spec. The error is an
// *EmptyError if there are none, or a *LimitError. The automaton may be shared
// with other callers.
func Compile(spec Spec, sp Spelling, limits Limits) (*Automaton, error) {
	if sp != AnySpelling && sp != Canonical {
		return nil, errors.New("number: " + sp.String() + ": unknown spelling")
	}
	if sp == Canonical {
		// Whole numbers have no fraction in this spelling, so the drafts agree.
		spec.NotInteger, spec.NotPlain = spec.NotInteger || spec.NotPlain, false
	}
	if spec.isFree() {
		switch {
		case spec.Plain, spec.Integer && sp == Canonical:
			return allPlain[sp](), nil
		case !spec.Integer:
			return allNumbers[sp](), nil
		}
	}
	return compile(&spec, sp, limits.orDefault())
}

func compile(spec *Spec, sp Spelling, limits Limits) (_ *Automaton, err error) {
	if n := len(spec.In) + len(spec.NotIn) + len(spec.MultipleOf) + len(spec.NotMultipleOf); n > limits.Values {
		return nil, &LimitError{Limit: "listed values and divisors", Max: limits.Values}
	}
	for _, list := range [][]Decimal{spec.MultipleOf, spec.NotMultipleOf} {
		for _, m := range list {
			if m.Sign() <= 0 {
				return nil, errors.New("number: multiple of " + m.brief() + ": the divisor must be positive")
			}
			if len(m.digits) > limits.Digits {
				return nil, &LimitError{Limit: "digits of a divisor", Max: limits.Digits}
			}
		}
	}
	a := &Automaton{limits: limits}
	a.begin()
	a.work.step, a.limits.Step = limits.Step, nil
	defer func() { a.work.step = nil }()
	defer a.tooMuch(func(limit *LimitError) { err = limit })
	if spec.Plain && spec.NotPlain {
		return nil, &EmptyError{Reason: "none has a fraction and has none"}
	}
	a.spec = spec.clone()
	a.spec.Integer = a.spec.Integer || a.spec.Plain
	a.spelling = sp
	a.any = sp == AnySpelling
	a.fractions, a.digits = !a.spec.Plain, unbounded
	a.scientific = a.any && !a.spec.Plain

	list, listed := a.spec.In, a.spec.HasIn
	if m := a.spec.Min; !listed && m != nil && a.spec.Max != nil && m.Cmp(*a.spec.Max) == 0 {
		list, listed = []Decimal{*m}, true
	}
	if listed {
		if err := a.setValues(list, a.limits); err != nil {
			return nil, err
		}
		if !a.any {
			return a, a.addTexts()
		}
	} else if err := a.setGridAndRanges(); err != nil {
		return nil, err
	}
	a.setSymmetry()
	if a.any {
		for i := range a.sides {
			a.sides[i].whole, a.sides[i].zeros = unbounded, unbounded
		}
		a.addStart()
		return a, nil
	}
	return a, a.addCanonicalStart()
}

func (a *Automaton) setGridAndRanges() (err error) {
	if a.grid, err = newGrid(&a.spec, a.limits, &a.work); err != nil {
		return err
	}
	if a.grid != nil && a.grid.contradictory() {
		return &EmptyError{Reason: a.emptyReason()}
	}
	if err = a.setRanges(a.limits); err != nil {
		return err
	}
	if !a.any {
		a.setCanonical()
	}
	return nil
}

// addStart adds the start state and reports whether it is live.
func (a *Automaton) addStart() bool { return a.intern(&node{}) == 0 }

// addCanonicalStart adds the start state, with as many significant digits as are
// needed for any value to exist.
func (a *Automaton) addCanonicalStart() error {
	for ; a.digits <= a.limits.Digits; a.digits *= 2 {
		if a.addStart() {
			return nil
		}
		a.states = nil
		for i := range a.sides {
			s := &a.sides[i]
			if s.whole = max(s.whole, 2*a.digits); s.low == nil || s.low.place <= 308 {
				s.whole = min(s.whole, 308)
			}
		}
	}
	return &EmptyError{Reason: a.emptyReason() + ", among numbers that float64 can hold"}
}

// Key returns a text that is the same for automata of the same values and
// spellings, so that they can be shared. Specs of the same values that are
// written differently may have different keys.
func (a *Automaton) Key() string {
	if a.trie {
		return a.spelling.String() + "; " + strings.Join(a.texts(), " ")
	}
	return a.key()
}
