package sampling

import (
	"math"
	"math/bits"

	"github.com/stencil-json/stencil/vocab"
)

// The passes over the whole vocabulary. Each reads the allowed set word by
// word and touches only the logits of its members; within a word the members
// come in ascending order, so every pass sees tokens in the order of ids.

// blockWords is the number of bitset words whose weight is summed up
// separately, so that a draw rescans 1,024 tokens and not the vocabulary.
const blockWords = 16

// argmax returns the member of set with the largest logit, the lowest id among
// equals, and that logit; -1 when the set is empty. A NaN is never larger, so
// that a set of NaNs yields its first member.
func argmax(set vocab.Bitset, logits []float32) (int32, float32) {
	id, best := int32(-1), float32(math.Inf(-1))
	for i, hits := large(set, logits, 0, above(best)); hits != 0; i, hits = large(set, logits, i+1, above(best)) {
		for ; hits != 0; hits &= hits - 1 {
			t := i<<6 + bits.TrailingZeros64(hits)
			if l := logits[t]; l > best {
				best, id = l, int32(t)
			}
		}
	}
	if id < 0 {
		for i, w := range set {
			if w != 0 {
				return int32(i<<6 + bits.TrailingZeros64(w)), best
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
			if set[i] != 0 {
				sum += float64(weighWord(set[i], logits, i<<6, top, scale))
			}
		}
		if blocks != nil {
			blocks[first/blockWords] = sum
		}
		total += sum
	}
	return total
}

// pick returns the member of set at which the running sum of weights, added up
// as in weigh, exceeds target.
func pick(set vocab.Bitset, logits []float32, top, scale float32, blocks []float64, target float64) int32 {
	block := 0
	for block < len(blocks)-1 && target >= blocks[block] {
		target -= blocks[block]
		block++
	}
	// Rounding can leave target at the very end of the last block; then pick
	// returns the last token with any weight.
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
	for i, hits := large(set, logits, 0, low); hits != 0; i, hits = large(set, logits, i+1, low) {
		for ; hits != 0; hits &= hits - 1 {
			t := i<<6 + bits.TrailingZeros64(hits)
			if l := logits[t]; l <= high {
				dst = append(dst, candidate{l, int32(t)})
			}
		}
	}
	return dst
}

// offerAll offers every member of set to the heap.
func offerAll(h *topHeap, set vocab.Bitset, logits []float32) {
	floor := h.floor()
	for i, hits := large(set, logits, 0, floor); hits != 0; i, hits = large(set, logits, i+1, floor) {
		for ; hits != 0; hits &= hits - 1 {
			t := i<<6 + bits.TrailingZeros64(hits)
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
