package schema

// interned numbers different keys from 0, in the order in which they come. It
// is what a map from K to int32 and a list of its keys would be, at half the
// cost: the hash is made for the type, and nothing is ever removed.
type interned[K comparable] struct {
	keys   []K
	hashes []uint32
	index  []int32 // open-addressing hash table of 1 + number
}

// newInterned returns a table with room for n keys.
func newInterned[K comparable](n int) interned[K] {
	size := 16
	for size < 2*n {
		size *= 2
	}
	return interned[K]{keys: make([]K, 0, n), hashes: make([]uint32, 0, n), index: make([]int32, size)}
}

// find returns the number of k, whose hash is h; without one, -1 and the place
// in the index where it would be.
func (t *interned[K]) find(k *K, h uint32) (id int32, at uint32) {
	mask := uint32(len(t.index) - 1)
	at = h & mask
	for {
		id = t.index[at] - 1
		if id < 0 || t.hashes[id] == h && t.keys[id] == *k {
			return id, at
		}
		at = (at + 1) & mask
	}
}

// add numbers a new key, for which find has returned at.
func (t *interned[K]) add(k *K, h, at uint32) int32 {
	id := int32(len(t.keys))
	t.keys, t.hashes = append(t.keys, *k), append(t.hashes, h)
	t.index[at] = id + 1
	if 2*len(t.keys) > len(t.index) {
		t.index = make([]int32, 4*len(t.index))
		mask := uint32(len(t.index) - 1)
		for i, h := range t.hashes {
			for h &= mask; t.index[h] != 0; h = (h + 1) & mask {
			}
			t.index[h] = int32(i + 1)
		}
	}
	return id
}

// mix returns a hash of three words.
func mix(a, b, c uint64) uint32 {
	h := a*0x9E3779B97F4A7C15 ^ b*0xC2B2AE3D27D4EB4F ^ c*0x165667B19E3779F9
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	return uint32(h >> 32)
}

// pair packs two numbers into a word.
func pair(a, b int32) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }
