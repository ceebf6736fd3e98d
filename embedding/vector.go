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

// NormalizeBy scales a row in place so that the p-norm of its values is 1, or for p = 0 so that
// the largest absolute value is 32760, for vectors stored as 16-bit numbers. A row of zeros is
// left unchanged.
func NormalizeBy(row []float32, p int) {
	var sum float64
	for _, x := range row {
		a := math.Abs(float64(x))
		if p == 0 {
			sum = max(sum, a)
		} else {
			sum += math.Pow(a, float64(p))
		}
	}
	if sum == 0 {
		return
	}
	scale := 32760 / sum
	if p > 0 {
		scale = math.Pow(sum, -1/float64(p))
	}
	for i, x := range row {
		row[i] = float32(float64(x) * scale)
	}
}
