package vocab

import "math/bits"

// A Bitset is a set of small non-negative integers, such as token IDs, with
// one bit each. Bits beyond the logical length are zero.
type Bitset []uint64

// NewBitset returns an empty set with room for the integers 0 to n-1.
func NewBitset(n int) Bitset { return make(Bitset, (n+63)/64) }

// Has reports whether i is in the set.
func (b Bitset) Has(i int32) bool { return b[uint32(i)>>6]>>(uint32(i)&63)&1 != 0 }

// Set adds i.
func (b Bitset) Set(i int32) { b[uint32(i)>>6] |= 1 << (uint32(i) & 63) }

// Clear removes i.
func (b Bitset) Clear(i int32) { b[uint32(i)>>6] &^= 1 << (uint32(i) & 63) }

// Count returns the number of members.
func (b Bitset) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// Or adds all members of o, which must have the same length.
func (b Bitset) Or(o Bitset) {
	o = o[:len(b)]
	for i := range b {
		b[i] |= o[i]
	}
}

// And keeps only the members that are also in o; o must have the same
// length.
func (b Bitset) And(o Bitset) {
	o = o[:len(b)]
	for i := range b {
		b[i] &= o[i]
	}
}

// AndNot removes all members of o, which must have the same length.
func (b Bitset) AndNot(o Bitset) {
	o = o[:len(b)]
	for i := range b {
		b[i] &^= o[i]
	}
}

// Reset empties the set.
func (b Bitset) Reset() { clear(b) }

// Equal reports whether both sets have the same members and length.
func (b Bitset) Equal(o Bitset) bool {
	if len(b) != len(o) {
		return false
	}
	for i := range b {
		if b[i] != o[i] {
			return false
		}
	}
	return true
}

// AppendTo appends the members to dst in ascending order.
func (b Bitset) AppendTo(dst []int32) []int32 {
	for i, w := range b {
		for w != 0 {
			dst = append(dst, int32(i<<6+bits.TrailingZeros64(w)))
			w &= w - 1
		}
	}
	return dst
}
