package regular

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestReportAnywhere checks that interrupted operations leave no trace: after many of them, at random
// places, a store answers as one that was never interrupted.
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
	ended := 0
	for round := range 60 {
		shared := NewStore(Limits{})
		for range 40 {
			left := 1 << r.IntN(12)
			step := func(n int) {
				if left -= n; left < 0 {
					panic(stop)
				}
			}
			func() {
				defer func() {
					switch p := recover(); p {
					case nil:
					case stop:
						ended++
					default:
						panic(p)
					}
				}()
				shared.Report(step)
				defer shared.Report(nil)
				e, err := shared.Pattern(randomPattern(r))
				if err != nil {
					t.Fatal(err)
				}
				if r.IntN(2) == 0 {
					other, err := shared.Pattern(randomPattern(r))
					if err != nil {
						t.Fatal(err)
					}
					e = shared.And(e, shared.Not(other))
				}
				m, err := shared.Compile(e)
				if err != nil {
					t.Fatal(err)
				}
				ask(m.Reporting(step), randomText(r))
			}()
		}
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
	if ended < 200 {
		t.Errorf("only %d of 2400 were interrupted", ended)
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
