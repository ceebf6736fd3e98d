// Package interval computes confidence intervals for repeated measurements on a
// machine with other load.
package interval

import (
	"math"
	"slices"
)

// Fewest is the minimum number of figures for which there are bounds.
const Fewest = 6

// Median returns the median of figures, and bounds that contain the true median with
// a probability of at least 95%, regardless of the distribution of the figures. The
// bounds are order statistics, chosen by the binomial distribution. For fewer than
// Fewest figures, for which such bounds don't exist, they are the minimum and
// maximum. The median of no figures is NaN.
func Median(figures []float64) (median, low, high float64) {
	n := len(figures)
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	all := slices.Sorted(slices.Values(figures))
	// cut is the largest k such that n tosses of a fair coin show k or fewer heads
	// with a probability of at most 2.5%.
	cut, chance, sum := 0, math.Pow(0.5, float64(n)), 0.0
	for k := range n {
		if sum += chance; sum > 0.025 {
			break
		}
		cut = k
		chance *= float64(n-k) / float64(k+1)
	}
	return (all[(n-1)/2] + all[n/2]) / 2, all[cut], all[n-1-cut]
}
