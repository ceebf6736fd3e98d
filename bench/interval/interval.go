// Package interval says how sure a figure is that was measured several times
// on a machine that also does other things.
package interval

import (
	"math"
	"slices"
)

// Fewest is the number of figures below which there are no bounds.
const Fewest = 6

// Median returns the median of figures, and bounds between which the true
// median lies with a probability of 95% or more: order statistics, chosen by
// what a fair coin would do, whatever the distribution of the figures. Below
// Fewest there are no such bounds; then they are the extremes. The median of no
// figures is NaN.
func Median(figures []float64) (median, low, high float64) {
	n := len(figures)
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	all := slices.Sorted(slices.Values(figures))
	// cut is the largest number of heads such that n tosses show so many or
	// fewer with a chance of 2.5% at most.
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
