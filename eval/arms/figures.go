package arms

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A figure is a ratio of sums over cases.
type figure struct {
	name  string
	label string
	share bool // between 0 and 1
	// once means that the divisor is the number of cases: the figure is a
	// proportion, whose interval doesn't shrink to zero width if all cases agree.
	once  bool
	parts func(*Result) (part, of float64)
}

func count(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// answered excludes cases without an answer from means.
func answered(r *Result, v float64) (float64, float64) {
	if r.Failure != "" {
		return 0, 0
	}
	return v, 1
}

// figures are the figures of a report, in its order.
var figures = []figure{
	{"fields", "fields right", true, false, func(r *Result) (float64, float64) { return float64(r.Right), float64(r.Fields) }},
	{"f1", "F1", true, false, func(r *Result) (float64, float64) { return 2 * float64(r.Hits), float64(r.Given + r.Wanted) }},
	{"standing", "in the text", true, false, func(r *Result) (float64, float64) { return float64(r.Standing), float64(r.Checked) }},
	{"exact", "all right", true, true, func(r *Result) (float64, float64) { return count(r.Exact()), 1 }},
	{"valid", "valid", true, true, func(r *Result) (float64, float64) { return count(r.Valid), 1 }},
	{"prompt_tokens", "prompt", false, false, func(r *Result) (float64, float64) { return answered(r, float64(r.Prompt)) }},
	{"completion_tokens", "completion", false, false, func(r *Result) (float64, float64) { return answered(r, float64(r.Completion)) }},
	{"forced", "forced", true, false, func(r *Result) (float64, float64) {
		if r.Forced == nil {
			return 0, 0
		}
		return float64(*r.Forced), float64(r.Completion)
	}},
	{"seconds", "seconds", false, false, func(r *Result) (float64, float64) { return answered(r, r.Seconds) }},
}

// An Interval is a figure with its 95% bounds, which are missing if there are too
// few cases for resampling.
type Interval struct {
	Value  float64     `json:"value"`
	Bounds *[2]float64 `json:"bounds,omitempty"`
}

// fewest is the minimum number of cases for which there are bounds.
const fewest = 6

// Resamples is the number of resamples for an interval.
const Resamples = 4000

// ratio is the contribution of one case to a figure.
type ratio struct{ part, of float64 }

func sum(list []ratio) float64 {
	var s ratio
	for _, r := range list {
		s.part, s.of = s.part+r.part, s.of+r.of
	}
	return s.part / s.of
}

// bootstrap returns the ratio of sums, or, if b is not nil, the difference of two
// such ratios over the same cases, with percentiles over resamples of the cases with
// replacement. It returns nil if the divisor is 0. Infinite values can't occur: a
// sum of divisors is 0 only if the sum of dividends is.
func bootstrap(a, b []ratio, resamples int, seed uint64) *Interval {
	value := sum(a)
	if b != nil {
		value -= sum(b)
	}
	if math.IsNaN(value) {
		return nil
	}
	if len(a) < fewest {
		return &Interval{Value: value}
	}
	random := rand.New(rand.NewPCG(seed, uint64(len(a))))
	drawn := make([]float64, 0, resamples)
	for range resamples {
		var x, y ratio
		for range a {
			i := random.IntN(len(a))
			x.part, x.of = x.part+a[i].part, x.of+a[i].of
			if b != nil {
				y.part, y.of = y.part+b[i].part, y.of+b[i].of
			}
		}
		v := x.part / x.of
		if b != nil {
			v -= y.part / y.of
		}
		if !math.IsNaN(v) { // NaN if the draw contains no case that counts
			drawn = append(drawn, v)
		}
	}
	slices.Sort(drawn)
	return &Interval{value, &[2]float64{quantile(drawn, 0.025), quantile(drawn, 0.975)}}
}

// quantile returns a quantile of sorted values, interpolated linearly.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// wilson returns Wilson's score interval for a proportion.
func wilson(list []ratio) *Interval {
	const z = 1.959964
	n, p := float64(len(list)), sum(list)
	if n == 0 {
		return nil
	}
	middle, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	if n < fewest {
		return &Interval{Value: p}
	}
	scale := 1 + z*z/n
	return &Interval{p, &[2]float64{max(0, (middle-half)/scale), min(1, (middle+half)/scale)}}
}
