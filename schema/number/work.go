package number

// The cost of a question about numbers does not show in its size: of 2^12 consecutive
// numbers, only one may not be a multiple of any of 12 divisors, and each listed
// exception requires as many more. So every call counts its work, in units of about a
// division of machine words, and stops beyond a limit.

// A work is the remaining work of a call. Calls that share it hold the automaton's
// lock.
type work struct {
	left int
	step func(n int) // called with the units spent, and may panic; nil: none
}

// exhausted is the value that spend panics with.
type exhausted struct{}

// spend counts units of work.
func (w *work) spend(n int) {
	if w.left -= n; w.left < 0 {
		panic(exhausted{})
	}
	if w.step != nil {
		w.step(n)
	}
}

// begin resets the work of a call.
func (a *Automaton) begin() { a.work.left = a.limits.Work }

// tooMuch is deferred by calls. If the work is exhausted, it calls do with the error;
// other panics pass.
func (a *Automaton) tooMuch(do func(err *LimitError)) {
	switch r := recover().(type) {
	case nil:
	case exhausted:
		do(&LimitError{Limit: "steps to decide about numbers", Max: a.limits.Work})
	default:
		panic(r)
	}
}

// long is the cost of a division of numbers longer than a machine word, with its
// overhead.
const long = 64

// weight returns the cost of testing a value against all divisors.
func (s *Spec) weight(d Decimal) int {
	n := 4
	if len(d.digits) > smallDigits {
		n = long
	}
	for _, list := range [][]Decimal{s.MultipleOf, s.NotMultipleOf} {
		if len(d.digits) > smallDigits {
			n += long * len(list)
			continue
		}
		for _, m := range list {
			if n++; len(m.digits) > smallDigits {
				n += long
			}
		}
	}
	return n
}

// weight returns the cost of a test against all divisors of a grid.
func (g *grid) weight() int {
	if g.large != nil {
		return long * (1 + len(g.large.nots))
	}
	return 1 + len(g.nots)
}
