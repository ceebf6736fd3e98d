package vocab

import (
	"fmt"
	"hash/maphash"
	"math/bits"
)

// textIndex finds a token by its text. It uses open addressing over token IDs, which takes one
// allocation for the whole vocabulary. A slot holds ID+1; 0 is free.
type textIndex struct {
	slots []int32
	seed  maphash.Seed
}

func newTextIndex(texts Strings) (textIndex, error) {
	x := textIndex{
		slots: make([]int32, 1<<bits.Len(uint(texts.Len()*2))), // at most half full
		seed:  maphash.MakeSeed(),
	}
	mask := uint64(len(x.slots) - 1)
	for i := range texts.Len() {
		text := texts.At(i)
		h := maphash.String(x.seed, text) & mask
		for x.slots[h] != 0 {
			if other := x.slots[h] - 1; texts.At(int(other)) == text {
				return x, fmt.Errorf("vocab: tokens %d and %d have the same text %q", other, i, text)
			}
			h = (h + 1) & mask
		}
		x.slots[h] = int32(i) + 1
	}
	return x, nil
}

// find returns the ID of the token with that text, or -1.
func (x textIndex) find(texts Strings, text string) int32 {
	mask := uint64(len(x.slots) - 1)
	for h := maphash.String(x.seed, text) & mask; x.slots[h] != 0; h = (h + 1) & mask {
		if id := x.slots[h] - 1; texts.At(int(id)) == text {
			return id
		}
	}
	return -1
}

// findBytes is find for a text in a byte slice. It does not allocate.
func (x textIndex) findBytes(texts Strings, text []byte) int32 {
	mask := uint64(len(x.slots) - 1)
	for h := maphash.Bytes(x.seed, text) & mask; x.slots[h] != 0; h = (h + 1) & mask {
		if id := x.slots[h] - 1; texts.At(int(id)) == string(text) {
			return id
		}
	}
	return -1
}

// byteTrie is a map from byte strings to values, built once and walked byte by byte. The edges
// of a node are a linked list: in vocabularies almost all nodes have few children, and the
// root, which has many, has a table.
type byteTrie struct {
	root  [256]int32 // node by first byte, 0: none
	nodes []byteNode // nodes[0] is not used
}

type byteNode struct {
	value   int32 // -1: no string ends here
	child   int32 // first child, 0: none
	sibling int32 // next child of the same parent, 0: none
	b       byte
}

// insert adds key with value; an existing key gets the new value. Empty keys are ignored.
func (t *byteTrie) insert(key string, value int32) {
	if len(t.nodes) == 0 {
		t.nodes = append(t.nodes, byteNode{})
	}
	if key == "" {
		return
	}
	at := t.root[key[0]]
	if at == 0 {
		at = t.add(key[0])
		t.root[key[0]] = at
	}
	for i := 1; i < len(key); i++ {
		next := t.step(at, key[i])
		if next == 0 {
			next = t.add(key[i])
			t.nodes[next].sibling = t.nodes[at].child
			t.nodes[at].child = next
		}
		at = next
	}
	t.nodes[at].value = value
}

func (t *byteTrie) add(b byte) int32 {
	t.nodes = append(t.nodes, byteNode{value: -1, b: b})
	return int32(len(t.nodes) - 1)
}

// step returns the child of node at for b, 0 if there is none.
func (t *byteTrie) step(at int32, b byte) int32 {
	at = t.nodes[at].child
	for at != 0 && t.nodes[at].b != b {
		at = t.nodes[at].sibling
	}
	return at
}

// longest returns the value of the longest key that is a prefix of text, and that key's length,
// 0 if there is none.
func (t *byteTrie) longest(text string) (value int32, length int) {
	at := t.root[text[0]]
	for i := 1; at != 0; i++ {
		if v := t.nodes[at].value; v >= 0 {
			value, length = v, i
		}
		if i == len(text) {
			break
		}
		at = t.step(at, text[i])
	}
	return value, length
}
