package sampling

import (
	"math"
	"math/bits"

	"github.com/stencil-json/stencil/vocab"
)

// The two passes over the vocabulary that take all the time: looking for the
// few large logits, and adding up the weights of all. Both exist in plain Go,
// which defines what they compute, and in assembly for some CPUs, which
// computes the same to the last bit: a comparison has one answer, and sums are
// added up in the same order by the same unfused operations. So a text depends
// on its seed and not on the CPU.

// A word is 64 consecutive tokens, as many as a word of a bitset has bits.
const word = 64

// path is the code that this CPU runs.
var path = bestPath()

// Path names the code that runs the passes over the vocabulary on this CPU:
// "avx2", or "go" where there is no assembly for it.
func Path() string {
	if path == pathAVX2 {
		return "avx2"
	}
	return "go"
}

type codePath uint8

const (
	pathGo codePath = iota
	pathAVX2
)

// large returns the index of the first word of set, from index from, with a
// member whose logit is floor or more, and those members; len(set) and 0 if
// there is none. NaN is below any floor.
func large(set vocab.Bitset, logits []float32, from int, floor float32) (int, uint64) {
	if full := len(logits) / word; path == pathAVX2 && from < full {
		n, hits := largeAVX2(&set[from], &logits[from*word], full-from, floor)
		if hits != 0 {
			return from + n, hits
		}
		from = full
	}
	return largeGo(set, logits, from, floor)
}

// crowded is the number of members from which a word is scanned as a row of 64
// logits: one comparison dismisses nearly all of them before membership
// matters. Other words are read member by member. Four comparisons per
// iteration sustain one logit per cycle.
const crowded = 24

func largeGo(set vocab.Bitset, logits []float32, from int, floor float32) (int, uint64) {
	for i := from; i < len(set); i++ {
		w, base := set[i], i*word
		var hits uint64
		if bits.OnesCount64(w) > crowded && base+word <= len(logits) {
			row := (*[word]float32)(logits[base:])
			for j := 0; j < word; j += 4 {
				if row[j] >= floor || row[j+1] >= floor || row[j+2] >= floor || row[j+3] >= floor {
					for k := j; k < j+4; k++ {
						if row[k&(word-1)] >= floor {
							hits |= 1 << k
						}
					}
				}
			}
			hits &= w
		} else {
			for ; w != 0; w &= w - 1 {
				if k := bits.TrailingZeros64(w); logits[base+k] >= floor {
					hits |= 1 << k
				}
			}
		}
		if hits != 0 {
			return i, hits
		}
	}
	return len(set), 0
}

// lanes is the number of partial sums of a word's weights: token k of the word
// is added to sum k modulo lanes, in the order of k, and the sums are added
// pairwise by halves at the end.
const lanes = 16

// weighWord adds up e^((logit-top)·scale) over those of the 64 tokens from base
// that are in w. It adds in float32: with so few terms the error is at most
// 1e-6 of their sum.
func weighWord(w uint64, logits []float32, base int, top, scale float32) float32 {
	if path == pathAVX2 && base+word <= len(logits) {
		return weighAVX2(w, &logits[base], top, scale)
	}
	return weighGo(w, logits, base, top, scale)
}

func weighGo(w uint64, logits []float32, base int, top, scale float32) float32 {
	var sums [lanes]float32
	if bits.OnesCount64(w) > crowded && base+word <= len(logits) {
		for j, l := range logits[base : base+word] {
			if d := (top - l) * scale; d < farAway && w>>j&1 != 0 {
				sums[j%lanes] += exp32(-d)
			}
		}
	} else {
		for ; w != 0; w &= w - 1 {
			j := bits.TrailingZeros64(w)
			sums[j%lanes] += weight((top - logits[base+j]) * scale)
		}
	}
	for half := lanes / 2; half > 0; half /= 2 {
		for j := range half {
			sums[j] += sums[j+half]
		}
	}
	return sums[0]
}

// above returns the smallest number that is larger than x: as a floor, it
// selects everything larger than x.
func above(x float32) float32 { return math.Nextafter32(x, float32(math.Inf(1))) }
