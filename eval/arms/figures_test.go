package arms

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestBootstrapCovers draws data sets with a known true difference, and counts how
// often the interval contains it. Pairs are correlated, like answers of two arms to
// the same question, and cases have different numbers of fields.
func TestBootstrapCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	const (
		rounds = 400
		n      = 80
		pa, pb = 0.75, 0.6
	)
	covered, narrow, unpaired := 0, 0.0, 0.0
	for round := range rounds {
		a, b := make([]ratio, n), make([]ratio, n)
		for i := range a {
			fields := 1 + random.IntN(4)
			a[i].of, b[i].of = float64(fields), float64(fields)
			u := random.Float64() // difficulty of this case, for both arms
			for range fields {
				v := u
				if random.Float64() < 0.2 {
					v = random.Float64()
				}
				a[i].part += count(v < pa)
				b[i].part += count(v < pb)
			}
		}
		got := bootstrap(a, b, 500, uint64(round))
		if got.Bounds[0] <= pa-pb && pa-pb <= got.Bounds[1] {
			covered++
		}
		narrow += got.Bounds[1] - got.Bounds[0]
		x, y := bootstrap(a, nil, 500, 1), bootstrap(b, nil, 500, 2)
		unpaired += math.Hypot(x.Bounds[1]-x.Bounds[0], y.Bounds[1]-y.Bounds[0])
	}
	if share := float64(covered) / rounds; share < 0.92 || share > 0.975 {
		t.Errorf("intervals of 95%% hold the truth in %.1f%% of %d", 100*share, rounds)
	}
	if narrow > 0.8*unpaired {
		t.Errorf("pairing gains too little: widths of %.3f and %.3f", narrow/rounds, unpaired/rounds)
	}
}

func TestBootstrap(t *testing.T) {
	ones := make([]ratio, 20)
	for i := range ones {
		ones[i] = ratio{float64(i % 2), 1}
	}
	a, again, other := bootstrap(ones, nil, 500, 1), bootstrap(ones, nil, 500, 1), bootstrap(ones, nil, 500, 2)
	if *a.Bounds != *again.Bounds || *a.Bounds == *other.Bounds || a.Value != 0.5 {
		t.Errorf("%v %v %v", a.Bounds, again.Bounds, other.Bounds)
	}
	if got := bootstrap(ones, ones, 500, 1); got.Value != 0 || *got.Bounds != [2]float64{} {
		t.Errorf("an arm differs from itself: %+v", got)
	}
	if got := bootstrap(make([]ratio, 20), nil, 500, 1); got != nil {
		t.Errorf("nothing to divide by: %+v", got)
	}
	if got := bootstrap(ones[:5], nil, 500, 1); got.Bounds != nil || got.Value != 0.4 {
		t.Errorf("bounds of five cases: %+v", got)
	}
	// The figure is a ratio of sums, not a mean of ratios, and a case without fields
	// has no weight.
	sums := append([]ratio{{1, 1}, {0, 9}, {0, 0}}, make([]ratio, 7)...)
	if got := bootstrap(sums, nil, 500, 1); got.Value != 0.1 || math.IsNaN(got.Bounds[0]) || math.IsNaN(got.Bounds[1]) {
		t.Errorf("%+v", got)
	}
}

func TestWilson(t *testing.T) {
	list := make([]ratio, 10)
	for i := range list {
		list[i] = ratio{1, 1}
	}
	// For 10 of 10, textbooks give 0.722 to 1.
	if got := wilson(list); math.Abs(got.Bounds[0]-0.7225) > 0.001 || 1-got.Bounds[1] > 1e-9 {
		t.Errorf("%v", got.Bounds)
	}
	for i := range 8 {
		list[i].part = 0
	}
	// For 2 of 10: 0.057 to 0.510.
	if got := wilson(list); math.Abs(got.Bounds[0]-0.0567) > 0.001 || math.Abs(got.Bounds[1]-0.5098) > 0.001 {
		t.Errorf("%v", got.Bounds)
	}
}

func TestFormats(t *testing.T) {
	share, seconds := figures[0], figures[len(figures)-1]
	for _, c := range []struct{ got, want string }{
		{share.interval(&Interval{0.5, &[2]float64{0.25, 0.755}}), "50.0 (25.0–75.5)"},
		{share.interval(nil), "-"},
		{share.difference(&Interval{0.1, &[2]float64{0.02, 0.2}}), "+10.0 (+2.0 … +20.0)*"},
		{share.difference(&Interval{-0.1, &[2]float64{-0.2, 0}}), "-10.0 (-20.0 … 0.0)"},
		{share.difference(&Interval{Value: -0.1}), "-10.0"},
		{seconds.interval(&Interval{Value: 1.234}), "1.23"},
		{counts(map[string]int{"400": 1, "timeout": 3}), "timeout: 3, 400: 1"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if !strings.HasSuffix(share.title(), "%") {
		t.Error(share.title())
	}
}
