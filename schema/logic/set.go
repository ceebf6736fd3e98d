package logic

import (
	"math"
	"math/bits"
)

// Next returns the first member of a set of bits from the given one on, or a large number.
func Next(set []uint64, from int32) int32 {
	for w := from >> 6; int(w) < len(set); w++ {
		rest := set[w]
		if w == from>>6 {
			rest &^= 1<<(from&63) - 1
		}
		if rest != 0 {
			return w<<6 + int32(bits.TrailingZeros64(rest))
		}
	}
	return math.MaxInt32
}

// Drop removes the members below the given one from a set of bits, and returns it.
func Drop(set []uint64, below int32) []uint64 {
	w := min(int(below>>6), len(set))
	clear(set[:w])
	if w < len(set) {
		set[w] &^= 1<<(below&63) - 1
	}
	return set
}
