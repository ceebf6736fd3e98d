package embedding

import "math"

// Shorten returns the first n elements of a row; models trained for it have the
// most important ones there. The row is shared.
func Shorten(row []float32, n int) []float32 { return row[:min(n, len(row))] }

// Normalize brings a row to Euclidean length 1, in place. One of nothing but
// zeros stays as it is.
func Normalize(row []float32) {
	var sum float64
	for _, x := range row {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range row {
		row[i] = float32(float64(x) * scale)
	}
}
