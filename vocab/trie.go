package vocab

import (
	"bytes"
	"cmp"
	"slices"
)

// A TrieNode is one byte on the path from the root to one or more tokens. Its
// children follow it directly; End is the node after its last descendant.
type TrieNode struct {
	End   int32  // index of the first node after this one and its descendants
	First int32  // index into Trie.Tokens of the first token at or below this node
	Byte  byte   // the byte of the edge to this node
	Depth uint16 // number of bytes from the root, 1 for the root's children
}

// A Trie maps byte strings to integers (token IDs, or positions in another
// table). The nodes are in one array in depth-first order, children by
// ascending byte, so that skipping a subtree in a walk is one assignment:
//
//	for i := 0; i < t.Len(); {
//		if dead(t.Nodes[i].Byte) { i = t.Nodes[i].End } else { i++ }
//	}
//
// The tokens of node i itself are Tokens[Nodes[i].First : Nodes[i+1].First];
// those of its whole subtree are Tokens[Nodes[i].First :
// Nodes[Nodes[i].End].First]. A sentinel node ends the array. A Trie is
// immutable and safe for concurrent use.
type Trie struct {
	Nodes  []TrieNode // in depth-first order, with a sentinel at the end
	Tokens []int32    // grouped by node, in the nodes' order
	Child  [256]int32 // root child by byte, or -1
	Depth  int        // length in bytes of the longest string
}

// Len returns the number of nodes, without the sentinel.
func (t *Trie) Len() int { return len(t.Nodes) - 1 }

// At returns the integers for exactly the string of node i.
func (t *Trie) At(i int32) []int32 {
	return t.Tokens[t.Nodes[i].First:t.Nodes[i+1].First]
}

// Follow returns the child of node i over a byte, or -1.
func (t *Trie) Follow(i int32, b byte) int32 {
	end := t.Nodes[i].End
	for c := i + 1; c < end; c = t.Nodes[c].End {
		if t.Nodes[c].Byte == b {
			return c
		}
	}
	return -1
}

// TrieEntry is a string to be added to a trie.
type TrieEntry struct {
	Text  []byte
	Value int32
}

// NewTrie builds a trie. It ignores entries with an empty text and sorts
// entries in place.
func NewTrie(entries []TrieEntry) *Trie {
	slices.SortFunc(entries, func(a, b TrieEntry) int {
		if c := bytes.Compare(a.Text, b.Text); c != 0 {
			return c
		}
		return cmp.Compare(a.Value, b.Value)
	})
	for len(entries) > 0 && len(entries[0].Text) == 0 {
		entries = entries[1:]
	}
	t := &Trie{Tokens: make([]int32, 0, len(entries)), Nodes: make([]TrieNode, 0, 2*len(entries)+1)}
	for i := range t.Child {
		t.Child[i] = -1
	}
	var path []int32 // open nodes, by depth
	var last []byte
	for _, e := range entries {
		common := 0
		for common < len(last) && common < len(e.Text) && last[common] == e.Text[common] {
			common++
		}
		for len(path) > common {
			t.Nodes[path[len(path)-1]].End = int32(len(t.Nodes))
			path = path[:len(path)-1]
		}
		for d := common; d < len(e.Text); d++ {
			id := int32(len(t.Nodes))
			if d == 0 {
				t.Child[e.Text[0]] = id
			}
			t.Nodes = append(t.Nodes, TrieNode{Byte: e.Text[d], Depth: uint16(d + 1), First: int32(len(t.Tokens))})
			path = append(path, id)
		}
		t.Depth = max(t.Depth, len(e.Text))
		t.Tokens = append(t.Tokens, e.Value)
		last = e.Text
	}
	for _, id := range path {
		t.Nodes[id].End = int32(len(t.Nodes))
	}
	t.Nodes = append(t.Nodes, TrieNode{First: int32(len(t.Tokens)), End: int32(len(t.Nodes)) + 1})
	return t
}

// buildTrie returns a trie of the bytes of every token that adds text.
func buildTrie(v *Vocab) *Trie {
	entries := make([]TrieEntry, 0, v.Len())
	for id := int32(0); id < int32(v.Len()); id++ {
		if b := v.Bytes(id); len(b) > 0 && len(b) <= maxTokenBytes {
			entries = append(entries, TrieEntry{b, id})
		}
	}
	return NewTrie(entries)
}

// maxTokenBytes limits a token's length to what a node's depth can represent.
// A longer token is never in a mask.
const maxTokenBytes = 1<<16 - 1
