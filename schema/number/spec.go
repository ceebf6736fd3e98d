package number

import (
	"fmt"
	"slices"
)

// A Spec is a set of numbers: those that satisfy every field. The zero value
// is all numbers.
type Spec struct {
	Integer    bool // only whole numbers; 1.0 and 1e2 are whole
	NotInteger bool // no whole numbers

	// Whether a number is an integer in draft 4 of JSON Schema depends on its
	// spelling.
	Plain    bool // only whole numbers without a fraction and an exponent: not 1.0
	NotPlain bool // only numbers that have a fraction or an exponent, 1.0 among them

	Min, Max                   *Decimal // nil: no bound
	MinExclusive, MaxExclusive bool     // the bound itself is excluded

	MultipleOf    []Decimal // whole multiples of each of these, all positive
	NotMultipleOf []Decimal // not a whole multiple of any of these, all positive

	In    []Decimal // with HasIn, only these
	HasIn bool
	NotIn []Decimal // none of these
}

// A Spelling determines which texts of a suitable value an [Automaton] accepts.
type Spelling int

const (
	// AnySpelling accepts every JSON spelling of every suitable value: 1,
	// 1.0, 10e-1, 1E+0 and so on, and -0 for 0.
	AnySpelling Spelling = iota
	// Canonical accepts the spellings meant for generation; see the package
	// comment for what it guarantees.
	Canonical
)

// String returns the name of the spelling.
func (s Spelling) String() string {
	switch s {
	case AnySpelling:
		return "any"
	case Canonical:
		return "canonical"
	}
	return fmt.Sprintf("Spelling(%d)", int(s))
}

// Limits bounds the work and the memory of an Automaton. A field that is not
// positive means its default.
type Limits struct {
	// States is the maximum number of states of an automaton, of roughly 300
	// bytes each. Texts reach it, not schemas: under AnySpelling with bounds or
	// multiples the language is not regular, so a hostile text can require a
	// new state for each byte. Default 1<<17.
	States int
	// Digits is the maximum number of digits of the integers that bounds and
	// multiples are converted to; a third of it is the maximum for the common
	// multiple of all divisors. Default 1200: from the smallest to the largest
	// float64, with room to spare.
	Digits int
	// Values is the maximum number of values in In, NotIn, MultipleOf and
	// NotMultipleOf together. Default 1<<17.
	Values int
	// Work is the maximum number of elementary steps of one call: to compile,
	// to take a step that was not taken before, to count or to complete. A step
	// costs about a division of machine words. Default 1<<21.
	Work int
	// Step, if set, is called with the number of steps of Compile. It may panic
	// to stop it.
	Step func(n int)
}

func (l Limits) orDefault() Limits {
	if l.States <= 0 {
		l.States = 1 << 17
	}
	if l.Digits <= 0 {
		l.Digits = 1200
	}
	if l.Values <= 0 {
		l.Values = 1 << 17
	}
	if l.Work <= 0 {
		l.Work = 1 << 21
	}
	return l
}

// A LimitError reports which limit was exceeded.
type LimitError struct {
	Limit string // what is limited, as a noun phrase
	Max   int    // the limit
}

// Error names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("number: %s: more than the limit of %d", e.Limit, e.Max)
}

// An EmptyError reports that no value satisfies a Spec, or that no such value
// has a Canonical spelling.
type EmptyError struct {
	Reason string
}

// Error gives the reason.
func (e *EmptyError) Error() string { return "number: no value is allowed: " + e.Reason }

// Contains reports whether d satisfies s in some spelling.
func (s *Spec) Contains(d Decimal) bool {
	if s.HasIn && !containsValue(s.In, d) {
		return false
	}
	return s.containsButIn(d) && !containsValue(s.NotIn, d)
}

// containsButIn checks all fields except In and NotIn.
func (s *Spec) containsButIn(d Decimal) bool {
	if s.Integer || s.Plain || s.NotInteger {
		whole := d.IsInteger()
		if (s.Integer || s.Plain) && !whole || s.NotInteger && whole {
			return false
		}
	}
	if s.Min != nil {
		if c := d.Cmp(*s.Min); c < 0 || c == 0 && s.MinExclusive {
			return false
		}
	}
	if s.Max != nil {
		if c := d.Cmp(*s.Max); c > 0 || c == 0 && s.MaxExclusive {
			return false
		}
	}
	for _, m := range s.MultipleOf {
		if !d.IsMultipleOf(m) {
			return false
		}
	}
	for _, m := range s.NotMultipleOf {
		if d.IsMultipleOf(m) {
			return false
		}
	}
	return true
}

func containsValue(list []Decimal, d Decimal) bool {
	return slices.ContainsFunc(list, func(e Decimal) bool { return e.Cmp(d) == 0 })
}

// isFree reports whether s allows every number, or every whole number.
func (s *Spec) isFree() bool {
	return !s.NotInteger && !s.NotPlain && s.Min == nil && s.Max == nil && !s.HasIn &&
		len(s.MultipleOf)+len(s.NotMultipleOf)+len(s.NotIn) == 0
}

// clone returns a copy of s that shares no memory that the caller may modify.
func (s *Spec) clone() Spec {
	c := *s
	if s.Min != nil {
		m := *s.Min
		c.Min = &m
	}
	if s.Max != nil {
		m := *s.Max
		c.Max = &m
	}
	c.MultipleOf = slices.Clone(s.MultipleOf)
	c.NotMultipleOf = slices.Clone(s.NotMultipleOf)
	c.In = slices.Clone(s.In)
	c.NotIn = slices.Clone(s.NotIn)
	return c
}
