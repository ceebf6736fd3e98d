package interval

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in                []float64
		median, low, high float64
	}{
		{[]float64{3}, 3, 3, 3},
		{[]float64{4, 1}, 2.5, 1, 4},
		{[]float64{5, 1, 3, 2, 4}, 3, 1, 5},
		// one head or none in nine tosses: 10/512, just below 2.5%
		{[]float64{9, 8, 7, 6, 5, 4, 3, 2, 1}, 5, 2, 8},
	} {
		if m, l, h := Median(c.in); m != c.median || l != c.low || h != c.high {
			t.Errorf("%v: %g from %g to %g, want %g from %g to %g", c.in, m, l, h, c.median, c.low, c.high)
		}
	}
	if m, _, _ := Median(nil); !math.IsNaN(m) {
		t.Errorf("median of nothing: %g", m)
	}
}

// TestCoverage checks that the bounds have the stated coverage, for a skewed
// distribution too.
func TestCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{6, 9, 15, 40} {
		const runs = 4000
		inside := 0
		for range runs {
			x := make([]float64, n)
			for i := range x {
				x[i] = rng.ExpFloat64()
			}
			if _, l, h := Median(x); l <= math.Ln2 && math.Ln2 <= h {
				inside++
			}
		}
		if share := float64(inside) / runs; share < 0.94 {
			t.Errorf("%d figures: the true median is within the bounds in %.3f of all cases", n, share)
		}
	}
}
