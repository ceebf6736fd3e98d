package gbnf

import (
	"sync"
	"unicode/utf8"

	"stencil/vocab"
)

// A charSet is a set of characters as far as splitting a vocabulary needs it:
// ASCII, and whether all others are in it.
type charSet struct {
	ascii [2]uint64
	high  bool
}

func (c *charSet) addRange(lo, hi rune) {
	for r := lo; r <= min(hi, utf8.RuneSelf-1); r++ {
		c.ascii[r>>6] |= 1 << (r & 63)
	}
}

// hasByte reports whether a byte belongs to a character of the set. All bytes
// beyond ASCII are alike.
func (c *charSet) hasByte(b byte) bool {
	if b >= utf8.RuneSelf {
		return c.high
	}
	return c.ascii[b>>6]>>(b&63)&1 != 0
}

// below sums up the bytes that lead from a node of a trie to its descendants.
type below struct {
	bytes  charSet
	broken bool // some descendant's token is no whole UTF-8
}

// within reports whether every descendant is made of characters of the set.
func (b *below) within(set *charSet) bool {
	return !b.broken && b.bytes.ascii[0]&^set.ascii[0] == 0 && b.bytes.ascii[1]&^set.ascii[1] == 0 &&
		(set.high || !b.bytes.high)
}

// A splitKey says how to split a vocabulary: tokens that are one character of
// first and then characters of loop, and the others that begin with a
// character of first. If only is set, those of the others are left out whose
// first character outside of loop is not in exit.
type splitKey struct {
	first, loop, exit charSet
	only              bool
}

// A split is the result. It is immutable.
type split struct {
	inside  vocab.Bitset
	leavers *vocab.Trie
}

// tables is what this package knows about a vocabulary.
type tables struct {
	trie   *vocab.Trie
	broken vocab.Bitset // tokens that are no whole UTF-8
	below  []below      // of the trie's nodes
	tokens int

	mu     sync.Mutex
	splits map[splitKey]*split
	bytes  int
}

// maxSplitBytes bounds what is kept of splits for one vocabulary.
const maxSplitBytes = 64 << 20

type tablesKey struct{}

// Prepare makes what the grammars over a vocabulary have in common, so that
// the first mask need not wait for it.
func Prepare(v *vocab.Vocab) { tablesOf(v) }

func tablesOf(v *vocab.Vocab) *tables {
	return v.Attach(tablesKey{}, func() any { return newTables(v) }).(*tables)
}

func newTables(v *vocab.Vocab) *tables {
	t := &tables{trie: v.Trie(), broken: vocab.NewBitset(v.Len()), tokens: v.Len(), splits: map[splitKey]*split{}}
	for id := range int32(v.Len()) {
		if !utf8.Valid(v.Bytes(id)) {
			t.broken.Set(id)
		}
	}
	nodes := t.trie.Nodes
	t.below = make([]below, t.trie.Len())
	for i := int32(t.trie.Len()) - 1; i >= 0; i-- {
		sum := &t.below[i]
		for c := i + 1; c < nodes[i].End; c = nodes[c].End {
			child := &t.below[c]
			sum.bytes.ascii[0] |= child.bytes.ascii[0]
			sum.bytes.ascii[1] |= child.bytes.ascii[1]
			sum.bytes.high = sum.bytes.high || child.bytes.high || nodes[c].Byte >= utf8.RuneSelf
			sum.bytes.addRange(rune(nodes[c].Byte), rune(nodes[c].Byte))
			sum.broken = sum.broken || child.broken
			for _, tok := range t.trie.At(c) {
				sum.broken = sum.broken || t.broken.Has(tok)
			}
		}
	}
	return t
}

// split splits the vocabulary.
func (t *tables) split(key splitKey) *split {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.splits[key]; s != nil {
		return s
	}
	w := splitter{t: t, key: key, s: &split{inside: vocab.NewBitset(t.tokens), leavers: &vocab.Trie{Depth: t.trie.Depth}}}
	for b := range w.s.leavers.Child {
		w.s.leavers.Child[b] = -1
		if node := t.trie.Child[b]; node >= 0 && key.first.hasByte(byte(b)) {
			at := int32(len(w.s.leavers.Nodes))
			if w.visit(node); int(at) < len(w.s.leavers.Nodes) {
				w.s.leavers.Child[b] = at
			}
		}
	}
	out := w.s.leavers
	out.Nodes = append(out.Nodes, vocab.TrieNode{First: int32(len(out.Tokens)), End: int32(len(out.Nodes)) + 1})
	if t.bytes > maxSplitBytes {
		clear(t.splits)
		t.bytes = 0
	}
	t.splits[key] = w.s
	t.bytes += 8*len(w.s.inside) + 12*len(out.Nodes) + 4*len(out.Tokens)
	return w.s
}

// splitter copies parts of a trie.
type splitter struct {
	t   *tables
	key splitKey
	s   *split
}

// visit takes the sub-tree at a node whose own byte is inside.
func (w *splitter) visit(node int32) {
	from := &w.t.trie.Nodes[node]
	at := w.open(from)
	for _, tok := range w.t.trie.At(node) {
		if w.t.broken.Has(tok) {
			w.s.leavers.Tokens = append(w.s.leavers.Tokens, tok)
		} else {
			w.s.inside.Set(tok)
		}
	}
	nodes := w.t.trie.Nodes
	if w.t.below[node].within(&w.key.loop) {
		for _, tok := range w.t.trie.Tokens[nodes[node+1].First:nodes[from.End].First] {
			w.s.inside.Set(tok)
		}
	} else {
		for c := node + 1; c < from.End; c = nodes[c].End {
			switch b := nodes[c].Byte; {
			case w.key.loop.hasByte(b):
				w.visit(c)
			case !w.key.only || w.key.exit.hasByte(b):
				w.copy(c)
			}
		}
	}
	w.close(at)
}

// copy takes a sub-tree as it is.
func (w *splitter) copy(node int32) {
	out, nodes := w.s.leavers, w.t.trie.Nodes
	end := nodes[node].End
	shift := int32(len(out.Nodes)) - node
	tokens := int32(len(out.Tokens)) - nodes[node].First
	for _, n := range nodes[node:end] {
		n.End += shift
		n.First += tokens
		out.Nodes = append(out.Nodes, n)
	}
	out.Tokens = append(out.Tokens, w.t.trie.Tokens[nodes[node].First:nodes[end].First]...)
}

// open begins a node like from; close ends it, or takes it back when there is
// no token in it.
func (w *splitter) open(from *vocab.TrieNode) (at int32) {
	out := w.s.leavers
	at = int32(len(out.Nodes))
	out.Nodes = append(out.Nodes, vocab.TrieNode{Byte: from.Byte, Depth: from.Depth, First: int32(len(out.Tokens))})
	return at
}

func (w *splitter) close(at int32) {
	out := w.s.leavers
	if int(out.Nodes[at].First) == len(out.Tokens) {
		out.Nodes = out.Nodes[:at]
		return
	}
	out.Nodes[at].End = int32(len(out.Nodes))
}
