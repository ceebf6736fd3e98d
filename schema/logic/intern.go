package logic

import "slices"

// Interned numbers different keys from 0, in order of arrival. It replaces a
// map from K to int32 and a list of its keys at half the cost: the hash is
// specific to the type, and nothing is ever removed.
type Interned[K comparable] struct {
	Keys   []K
	hashes []uint32
	index  []int32 // open-addressing hash table of 1 + number; nil while there are no keys
}

// firstKeys is the number of keys for which there is room at first.
const firstKeys = 8

// Find returns the number of k, whose hash is h. If k has none, it returns -1
// and the index position for it.
func (t *Interned[K]) Find(k *K, h uint32) (id int32, at uint32) {
	if t.index == nil {
		return -1, h & (2*firstKeys - 1)
	}
	mask := uint32(len(t.index) - 1)
	at = h & mask
	for {
		id = t.index[at] - 1
		if id < 0 || t.hashes[id] == h && t.Keys[id] == *k {
			return id, at
		}
		at = (at + 1) & mask
	}
}

// Add numbers a new key, for which Find has returned at.
func (t *Interned[K]) Add(k *K, h, at uint32) int32 {
	if t.index == nil {
		t.Keys, t.hashes, t.index = make([]K, 0, firstKeys), make([]uint32, 0, firstKeys), make([]int32, 2*firstKeys)
	}
	id := int32(len(t.Keys))
	t.Keys, t.hashes = append(t.Keys, *k), append(t.hashes, h)
	t.index[at] = id + 1
	if 2*len(t.Keys) > len(t.index) {
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

// Mix returns a hash of three words.
func Mix(a, b, c uint64) uint32 {
	h := a*0x9E3779B97F4A7C15 ^ b*0xC2B2AE3D27D4EB4F ^ c*0x165667B19E3779F9
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	return uint32(h >> 32)
}

// Pair packs two numbers into a word.
func Pair(a, b int32) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }

// Lists numbers different lists of numbers, in order of arrival; 0 is the empty one. All
// has one entry for each; other packages must not modify it.
type Lists struct {
	All    [][]int32
	hashes []uint32
	index  []int32 // open-addressing hash table of the numbers; nil while there is only the empty list
}

// onlyEmpty is the list of lists before there are others; its length is its capacity.
var onlyEmpty = [][]int32{nil}

// NewLists returns a table that holds the empty list.
func NewLists() Lists { return Lists{All: onlyEmpty} }

// Number returns the number of a list, which Number copies if it is new.
func (t *Lists) Number(list []int32) int32 {
	if len(list) == 0 {
		return 0
	}
	h := uint32(len(list))
	for _, x := range list {
		h = (h ^ uint32(x)) * 0x9E3779B1
		h ^= h >> 15
	}
	if t.index == nil {
		t.hashes, t.index = []uint32{0}, make([]int32, 16)
	}
	mask := uint32(len(t.index) - 1)
	at := h & mask
	for ; t.index[at] != 0; at = (at + 1) & mask {
		if id := t.index[at]; t.hashes[id] == h && slices.Equal(t.All[id], list) {
			return id
		}
	}
	id := int32(len(t.All))
	t.All, t.hashes = append(t.All, slices.Clone(list)), append(t.hashes, h)
	t.index[at] = id
	if 2*len(t.All) > len(t.index) {
		t.index = make([]int32, 4*len(t.index))
		mask = uint32(len(t.index) - 1)
		for i, h := range t.hashes[1:] {
			for h &= mask; t.index[h] != 0; h = (h + 1) & mask {
			}
			t.index[h] = int32(i + 1)
		}
	}
	return id
}

// A Memo is a map that is made with its first entry: most schemas need few of their maps, and
// making all of them would take a good part of the time to compile a small one.
type Memo[K comparable, V any] map[K]V

// Put sets an entry.
func (m *Memo[K, V]) Put(key K, value V) {
	if *m == nil {
		*m = Memo[K, V]{}
	}
	(*m)[key] = value
}

// Marks is a set of small numbers that is emptied at once. It has to be before it is used.
type Marks struct {
	in  []int32 // the turn in which a number was added
	now int32
}

// Reset empties the set.
func (m *Marks) Reset() { m.now++ }

// Has reports whether x is in the set.
func (m *Marks) Has(x int32) bool { return int(x) < len(m.in) && m.in[x] == m.now }

// Add adds x and reports whether it is new.
func (m *Marks) Add(x int32) bool {
	if n := int(x) + 1 - len(m.in); n > 0 {
		m.in = append(m.in, make([]int32, n)...)
	}
	if m.in[x] == m.now {
		return false
	}
	m.in[x] = m.now
	return true
}
