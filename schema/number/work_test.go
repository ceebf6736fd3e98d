package number

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// hostileSpec returns divisors, bounds and exceptions that are far apart.
func hostileSpec(r *rand.Rand) Spec {
	number := func() Decimal {
		digit := 1 + r.IntN(9)
		return mustParse([]string{
			fmt.Sprint(1 + r.IntN(50)), fmt.Sprint(1 + r.IntN(1e6)), fmt.Sprintf("%d.%0*d", r.IntN(100), 1+r.IntN(20), 1+r.IntN(1000)),
			fmt.Sprintf("%de%d", 1+r.IntN(1000), r.IntN(600)-300), strings.Repeat(fmt.Sprint(digit), 1+r.IntN(390)),
			fmt.Sprintf("0.%s%d", strings.Repeat("0", r.IntN(300)), digit),
		}[r.IntN(6)])
	}
	list := func(n int) (out []Decimal) {
		for range n {
			out = append(out, number())
		}
		return out
	}
	s := Spec{Integer: r.IntN(3) == 0, MultipleOf: list(r.IntN(4)), NotMultipleOf: list(r.IntN(13)), NotIn: list(r.IntN(3) * r.IntN(200))}
	if r.IntN(2) == 0 {
		s.Min = &list(1)[0]
	}
	if r.IntN(2) == 0 {
		s.Max = &list(1)[0]
	}
	return s
}

// Every call ends for any Spec: some of these took minutes. If a call could not decide,
// it returns an error or counts to the limit.
func TestWork(t *testing.T) {
	compiled, refused, spoilt, told := 0, 0, 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := hostileSpec(r)
		sp := []Spelling{AnySpelling, Canonical}[seed%2]
		a, err := Compile(s, sp, Limits{Work: 1 << 14, Step: func(n int) { told += n }})
		var limit *LimitError
		var empty *EmptyError
		if errors.As(err, &limit) {
			refused++
		}
		if err != nil {
			if limit == nil && !errors.As(err, &empty) {
				t.Errorf("seed %d: %v", seed, err)
			}
			continue
		}
		compiled++
		if n := a.Count(1000); n < 0 || n > 1000 {
			t.Errorf("seed %d: %d values", seed, n)
		}
		q := a.Start()
		for range 60 {
			if next := a.Step(q, byteOf[r.IntN(len(byteOf))]); next != Dead {
				q = next
			}
		}
		text := a.Shortest(q)
		for _, b := range text {
			q = a.Step(q, b)
		}
		if a.Err() != nil {
			spoilt++
		} else if !a.Accepting(q) {
			t.Errorf("seed %d: %q ends in no number", seed, text)
		}
	}
	t.Logf("%d compiled, of which %d were given up; %d refused; %d steps", compiled, spoilt, refused, told)
	if compiled < 50 || refused < 5 || told < 1000 {
		t.Error("the test tests nothing")
	}
}

// Step can stop Compile.
func TestStepEnds(t *testing.T) {
	defer func() {
		if r := recover(); r != "enough" {
			t.Errorf("ended by %v", r)
		}
	}()
	var not []Decimal
	for i := range 2000 {
		not = append(not, FromInt(int64(1e6+i)))
	}
	steps := 0
	Compile(Spec{NotMultipleOf: not}, Canonical, Limits{Step: func(n int) {
		if steps += n; steps > 1000 {
			panic("enough")
		}
	}})
	t.Error("it was not ended")
}

// Divisors are at most as long as their multiples may be.
func TestLongDivisors(t *testing.T) {
	long := mustParse(strings.Repeat("7", 9_000))
	var limit *LimitError
	if _, err := Compile(Spec{HasIn: true, In: []Decimal{mustParse("7e9999")}, MultipleOf: []Decimal{long}}, Canonical, Limits{}); !errors.As(err, &limit) {
		t.Error(err)
	}
}
