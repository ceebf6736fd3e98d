package regular

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestReportAnywhere checks that interrupted operations, and those that exceed a limit, leave no trace: after many of
// them, at random places, a store answers as one in which all was finished, and it is no larger than before.
func TestReportAnywhere(t *testing.T) {
	stop := errors.New("enough")
	ask := func(m *Machine, said string) string { // all that can be asked along a text
		q := m.Start()
		out := ""
		for _, c := range said {
			out += fmt.Sprint(m.Accepting(q), " ")
			out += fmt.Sprint(len([]rune(m.Shortest(q))), " ")
			to, at := m.Loosen(q, 6)
			out += fmt.Sprint(to.Accepting(at), "; ")
			m.Head(q) // its answer may depend on what the store has seen
			q = m.Step(q, c)
		}
		return out + fmt.Sprint(m.Accepting(q), m.Err())
	}
	r := rand.New(rand.NewPCG(1, 2))
	ended, exceeded, same := 0, 0, 0
	for round := range 60 {
		limits := Limits{}
		if round%2 == 0 {
			limits = Limits{Work: 1 << (4 + r.IntN(8)), Steps: 1 << (2 + r.IntN(6)), States: 1 << (4 + r.IntN(5))}
		}
		shared := NewStore(limits)
		for range 40 {
			left := 1 << r.IntN(12)
			user := NewUser(func(n int) {
				if left -= n; left < 0 {
					panic(stop)
				}
			}, func(err *LimitError) { panic(err) })
			if r.IntN(2) == 0 {
				user.step, user.Nodes = nil, 1<<r.IntN(10)
			}
			// do reports whether an operation was finished; if not, it must have left nothing.
			do := func(op func() error) (ok bool) {
				count := func() int32 {
					if shared.states == nil {
						return 0
					}
					return shared.states.count.Load()
				}
				size, states := shared.size, count()
				defer func() {
					p := recover()
					limit, isLimit := p.(*LimitError)
					switch {
					case p == nil && ok:
						return
					case p == stop:
						ended++
					case isLimit && limit != nil, p == nil:
						exceeded++
					default:
						panic(p)
					}
					if shared.size != size || count() != states {
						t.Errorf("%d expressions and %d states have become %d and %d", size, states, shared.size, count())
					}
					same++
				}()
				return op() == nil
			}
			shared.Report(user)
			var e, other Expr
			var m *Machine
			one, two, both := randomPattern(r), randomPattern(r), r.IntN(2) == 0
			ok := do(func() (err error) { e, err = shared.Pattern(one); return err })
			if ok && both {
				ok = do(func() (err error) { other, err = shared.Pattern(two); return err }) &&
					do(func() error { other = shared.Not(other); return nil }) &&
					do(func() error { e = shared.And(e, other); return nil })
			}
			if ok && do(func() (err error) { m, err = shared.Compile(e); return err }) {
				m = m.Reporting(user)
				q := m.Start()
				for _, c := range randomText(r) {
					if !do(func() error { m.Shortest(q); return nil }) || !do(func() error { m.Head(q); return nil }) ||
						!do(func() error { m.Count(q, 3); return nil }) || !do(func() error { q = m.Step(q, c); return nil }) {
						break
					}
				}
			}
		}
		shared.limits = Limits{}.orDefaults()
		shared.Report(nil)
		for range 8 {
			p, fresh := randomPattern(r), NewStore(Limits{})
			said := randomText(r)
			var got [2]string
			for i, s := range []*Store{shared, fresh} {
				e, err := s.Pattern(p)
				if err != nil {
					t.Fatal(err)
				}
				m, err := s.Compile(e)
				if err != nil {
					t.Fatal(err)
				}
				got[i] = ask(m, said)
			}
			if got[0] != got[1] {
				t.Fatalf("round %d: %q after %q:\n%s\n%s", round, p, said, got[0], got[1])
			}
		}
	}
	if ended < 100 || exceeded < 200 || same != ended+exceeded {
		t.Errorf("only %d were interrupted, %d exceeded a limit", ended, exceeded)
	}
}

// randomText returns a text over the letters that the patterns are about.
func randomText(r *rand.Rand) string {
	out := make([]byte, r.IntN(25))
	for i := range out {
		out[i] = "abcx"[r.IntN(4)]
	}
	return string(out)
}

// randomPattern returns a pattern that few texts take long to leave.
func randomPattern(r *rand.Rand) string {
	var part func(depth int) string
	part = func(depth int) string {
		if depth == 0 {
			return []string{"a", "b", "c", "x", "[a-c]", "[^x]", "ab", "."}[r.IntN(8)]
		}
		a, b := part(depth-1), part(depth-1)
		switch r.IntN(6) {
		case 0:
			return "(" + a + "|" + b + ")"
		case 1:
			return fmt.Sprintf("(%s){%d,%d}", a, r.IntN(4), 4+r.IntN(30))
		case 2:
			return "(" + a + ")*" + b
		case 3:
			return a + "(" + b + ")?"
		case 4:
			return "(?!" + a + ")" + b
		}
		return a + b
	}
	for {
		p := "^" + part(4) + "$"
		if _, err := NewStore(Limits{}).Pattern(p); err == nil { // else a look-around in a large repetition, say
			return p
		}
	}
}
