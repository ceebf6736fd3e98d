package number

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		spec           Spec
		any, canonical int
	}{
		{Spec{}, 1000, 1000},
		{Spec{Integer: true}, 1000, 1000},
		{Spec{Min: pointerTo("0"), Max: pointerTo("1")}, 1000, 1000},
		{Spec{Min: pointerTo("3"), Max: pointerTo("3")}, 1, 1},
		{Spec{Min: pointerTo("0"), Max: pointerTo("0")}, 1, 1},
		{Spec{Integer: true, Min: pointerTo("-2"), Max: pointerTo("2")}, 5, 5},
		{Spec{Integer: true, Min: pointerTo("-2"), Max: pointerTo("2"), NotIn: decimals("0", "1", "7")}, 3, 3},
		{Spec{Integer: true, Min: pointerTo("1"), Max: pointerTo("100")}, 100, 100},
		{Spec{Integer: true, Min: pointerTo("1"), Max: pointerTo("100"), NotMultipleOf: decimals("2", "3")}, 33, 33},
		{Spec{MultipleOf: decimals("0.5"), Min: pointerTo("0"), MinExclusive: true, Max: pointerTo("2")}, 4, 4},
		{Spec{HasIn: true, In: decimals("1", "1.0", "2", "0", "-0", "-1"), Min: pointerTo("0")}, 3, 3},
		{Spec{Integer: true, Max: pointerTo("-1"), Min: pointerTo("-1e9")}, 1000, 1000},
		{Spec{Min: pointerTo("0.10000000000000001"), Max: pointerTo("0.10000000000000003")}, 1000, 3},
	} {
		for sp, want := range []int{c.any, c.canonical} {
			a := mustCompile(t, c.spec, Spelling(sp))
			if got := a.Count(1000); got != want {
				t.Errorf("%s: Count = %d, want %d", describe(c.spec, Spelling(sp)), got, want)
			}
			if got := a.Count(2); got != min(want, 2) {
				t.Errorf("%s: Count(2) = %d", describe(c.spec, Spelling(sp)), got)
			}
		}
	}
}

// TestCountRandom counts by trying every multiple of a thousandth.
func TestCountRandom(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 9))
		low := r.IntN(4000) - 2000
		high := low + r.IntN(3000)
		thousandths := func(n int) *Decimal { return pointerTo(fmt.Sprintf("%de-3", n)) }
		s := Spec{Min: thousandths(low), MinExclusive: r.IntN(2) == 0, Max: thousandths(high), MaxExclusive: r.IntN(2) == 0}
		s.MultipleOf = decimals([]string{"0.001", "0.002", "0.07", "0.5", "1", "0.125"}[r.IntN(6)])
		for range r.IntN(3) {
			s.NotMultipleOf = append(s.NotMultipleOf, mustParse([]string{"0.003", "0.01", "0.25", "2"}[r.IntN(4)]))
		}
		for range r.IntN(3) {
			s.NotIn = append(s.NotIn, *thousandths(low + r.IntN(high-low+1)))
		}
		want := 0
		for n := low; n <= high; n++ {
			if s.Contains(*thousandths(n)) {
				want++
			}
		}
		for _, sp := range []Spelling{AnySpelling, Canonical} {
			got := 0
			if a, err := Compile(s, sp, Limits{}); err == nil {
				got = a.Count(1 << 20)
			}
			if got != want {
				t.Errorf("%s: Count = %d, want %d", describe(s, sp), got, want)
			}
		}
	}
}
