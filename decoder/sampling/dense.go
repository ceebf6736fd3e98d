package sampling

import (
	"math"
	"math/bits"

	"stencil/vocab"
)

// The passes over the whole vocabulary. Each reads the allowed set word by
// word and touches only the logits of its members; within a word the members
// come in ascending order, so every pass sees tokens in the order of ids.

// blockWords is the number of bitset words whose weight is summed up
// separately, so that a draw rescans 1,024 tokens and not the vocabulary.
const blockWords = 16

// A word with more members than crowded is passed over as a row of 64 logits,
// of which nearly all are dismissed by one comparison before it matters
// whether they are members; others member by member. Four comparisons to a
// step of the loop keep it at a logit a cycle.
const crowded = 24

// argmax returns the member of set with the largest logit, the lowest id among
// equals, and that logit; -1 when the set is empty. A NaN is never larger, so
// that a set of NaNs yields its first member.
func argmax(set vocab.Bitset, logits []float32) (int32, float32) {
	id, best := int32(-1), float32(math.Inf(-1))
	for i, w := range set {
		if w == 0 {
			continue
		}
		if id < 0 {
			id = int32(i<<6 + bits.TrailingZeros64(w))
		}
		if bits.OnesCount64(w) > crowded && i<<6+64 <= len(logits) {
			row := (*[64]float32)(logits[i<<6:])
			for j := 0; j < 64; j += 4 {
				if row[j] > best || row[j+1] > best || row[j+2] > best || row[j+3] > best {
					for k := j; k < j+4; k++ {
						if l := row[k&63]; l > best && w>>k&1 != 0 {
							best, id = l, int32(i<<6+k)
						}
					}
				}
			}
			continue
		}
		for ; w != 0; w &= w - 1 {
			t := i<<6 + bits.TrailingZeros64(w)
			if l := logits[t]; l > best {
				best, id = l, int32(t)
			}
		}
	}
	return id, best
}

// weigh adds up e^((logit-top)·scale) over the set. The partial sums, one for
// every blockWords words, go to blocks when it is not nil.
func weigh(set vocab.Bitset, logits []float32, top, scale float32, blocks []float64) float64 {
	var total float64
	for first := 0; first < len(set); first += blockWords {
		var sum float64
		for i := first; i < min(first+blockWords, len(set)); i++ {
			sum += weighWord(set[i], logits, i<<6, top, scale)
		}
		if blocks != nil {
			blocks[first/blockWords] = sum
		}
		total += sum
	}
	return total
}

// weighWord is weigh for the 64 tokens from base on of which w says which to
// count. It adds in float32: 64 terms lose no more than 4e-6 of their sum.
func weighWord(w uint64, logits []float32, base int, top, scale float32) float64 {
	var sum float32
	if bits.OnesCount64(w) > crowded && base+64 <= len(logits) {
		for j, l := range logits[base : base+64] {
			if d := (top - l) * scale; d < farAway && w>>j&1 != 0 {
				sum += exp32(-d)
			}
		}
		return float64(sum)
	}
	for ; w != 0; w &= w - 1 {
		sum += weight((top - logits[base+bits.TrailingZeros64(w)]) * scale)
	}
	return float64(sum)
}

// pick returns the member of set at which the running sum of weights, as weigh
// adds them, passes target.
func pick(set vocab.Bitset, logits []float32, top, scale float32, blocks []float64, target float64) int32 {
	block := 0
	for block < len(blocks)-1 && target >= blocks[block] {
		target -= blocks[block]
		block++
	}
	// Rounding can leave target at the very end of the last block; then the
	// last token with any weight is the one.
	last := int32(-1)
	for i := block * blockWords; i < len(set); i++ {
		for w := set[i]; w != 0; w &= w - 1 {
			t := int32(i<<6 + bits.TrailingZeros64(w))
			mass := float64(weight((top - logits[t]) * scale))
			if mass == 0 {
				continue
			}
			if last = t; target < mass {
				return t
			}
			target -= mass
		}
	}
	return last
}

// gather appends the members of set whose logit is from low to high, in the
// order of ids.
func gather(dst []candidate, set vocab.Bitset, logits []float32, low, high float32) []candidate {
	for i, w := range set {
		if bits.OnesCount64(w) > crowded && i<<6+64 <= len(logits) {
			row := (*[64]float32)(logits[i<<6:])
			for j := 0; j < 64; j += 4 {
				if row[j] >= low || row[j+1] >= low || row[j+2] >= low || row[j+3] >= low {
					for k := j; k < j+4; k++ {
						if l := row[k&63]; l >= low && l <= high && w>>k&1 != 0 {
							dst = append(dst, candidate{l, int32(i<<6 + k)})
						}
					}
				}
			}
			continue
		}
		for ; w != 0; w &= w - 1 {
			t := i<<6 + bits.TrailingZeros64(w)
			if l := logits[t]; l >= low && l <= high {
				dst = append(dst, candidate{l, int32(t)})
			}
		}
	}
	return dst
}

// offerAll offers every member of set to the heap.
func offerAll(h *topHeap, set vocab.Bitset, logits []float32) {
	floor := h.floor()
	for i, w := range set {
		if bits.OnesCount64(w) > crowded && i<<6+64 <= len(logits) {
			row := (*[64]float32)(logits[i<<6:])
			for j := 0; j < 64; j += 4 {
				if row[j] >= floor || row[j+1] >= floor || row[j+2] >= floor || row[j+3] >= floor {
					for k := j; k < j+4; k++ {
						if l := row[k&63]; l >= floor && w>>k&1 != 0 {
							h.offer(candidate{l, int32(i<<6 + k)})
							floor = h.floor()
						}
					}
				}
			}
			continue
		}
		for ; w != 0; w &= w - 1 {
			t := i<<6 + bits.TrailingZeros64(w)
			if l := logits[t]; l >= floor {
				h.offer(candidate{l, int32(t)})
				floor = h.floor()
			}
		}
	}
}

// moments returns the sum of weights and the weighted mean distance from top:
// the entropy of the set is that mean plus the logarithm of the sum.
func moments(set vocab.Bitset, logits []float32, top float32) (sum, mean float64) {
	for i, w := range set {
		var s, m float32
		for ; w != 0; w &= w - 1 {
			d := top - logits[i<<6+bits.TrailingZeros64(w)]
			if d < farAway {
				e := exp32(-d)
				s += e
				m += e * d
			}
		}
		sum += float64(s)
		mean += float64(m)
	}
	return sum, mean / sum
}

func abs(x float32) float32 {
	return math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
}
