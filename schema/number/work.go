package number

// What a question about numbers costs does not show in its size: of 2^12 numbers in a row one may be no multiple of any
// of 12 divisors, and each listed exception asks for as many more. So every call counts what it looks at, in units of
// about a division of machine words, and gives up beyond a limit.

// A work is what a call has left to do. Calls that share it hold the automaton's lock.
type work struct {
	left int
	step func(n int) // is told of the units, and may panic; nil: nobody
}

// exhausted is what spend panics with.
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

// begin gives a call its work.
func (a *Automaton) begin() { a.work.left = a.limits.Work }

// tooMuch is deferred by calls. It reports the end of the work through do, and lets other panics go on.
func (a *Automaton) tooMuch(do func(err *LimitError)) {
	switch r := recover().(type) {
	case nil:
	case exhausted:
		do(&LimitError{Limit: "steps to decide about numbers", Max: a.limits.Work})
	default:
		panic(r)
	}
}

// long is how many divisions of machine words one of numbers that are longer takes, with all about it.
const long = 64

// weight is what a test of a value against all divisors costs.
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

// weight is what a test against all divisors of a grid costs.
func (g *grid) weight() int {
	if g.large != nil {
		return long * (1 + len(g.large.nots))
	}
	return 1 + len(g.nots)
}
