package embedding

import "math"

// Shorten returns the first n elements of a row, which models trained for it
// (Matryoshka embeddings) allow. The result shares memory with the row.
func Shorten(row []float32, n int) []float32 { return row[:min(n, len(row))] }

// Normalize scales a row to Euclidean length 1, in place. A row of zeros is left
// unchanged.
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
