package gbnf

import (
	"bytes"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/stencil-json/stencil/vocab"
)

// tables holds what this package knows about a vocabulary.
type tables struct {
	v     *vocab.Vocab
	trie  *vocab.Trie
	below []below // of the trie's nodes

	mu     sync.Mutex
	splits map[splitKey]*split
	bytes  int
}

// below summarises the bytes that lead from a node of a trie to its
// descendants.
type below struct {
	chars  charSet
	broken bool // some descendant's token is not complete UTF-8
}

// A splitKey is the key of a sketch, and the node of the trie whose subtree is
// split, or -1.
type splitKey struct {
	sketch string
	node   int32
}

// A split is the result of a sketch for a vocabulary. It is immutable.
type split struct {
	inside vocab.Bitset // tokens that don't leave the sketch
	list   []int32      // the same for a subtree
	leave  []leavers    // by state of the sketch
}

// leavers are the tokens that leave a sketch from one state, in a trie of what
// remains of them there. Values of the trie index tokens.
type leavers struct {
	trie   *vocab.Trie // nil if there are none
	tokens []int32
}

// maxSplitBytes bounds the size of the splits cached for one vocabulary.
const maxSplitBytes = 64 << 20

type tablesKey struct{}

// Prepare builds what all grammars over a vocabulary share, so that the first
// mask need not wait for it.
func Prepare(v *vocab.Vocab) { tablesOf(v) }

func tablesOf(v *vocab.Vocab) *tables {
	return v.Attach(tablesKey{}, func() any { return newTables(v) }).(*tables)
}

func newTables(v *vocab.Vocab) *tables {
	t := &tables{v: v, trie: v.Trie(), splits: map[splitKey]*split{}}
	nodes := t.trie.Nodes
	t.below = make([]below, t.trie.Len())
	for i := int32(t.trie.Len()) - 1; i >= 0; i-- {
		sum := &t.below[i]
		for c := i + 1; c < nodes[i].End; c = nodes[c].End {
			sum.chars.add(&t.below[c].chars)
			sum.chars.addRange(rune(nodes[c].Byte), rune(nodes[c].Byte))
			sum.broken = sum.broken || t.below[c].broken
			if nodes[c].Byte >= utf8.RuneSelf {
				for _, tok := range t.trie.At(c) {
					sum.broken = sum.broken || !utf8.Valid(v.Bytes(tok))
				}
			}
		}
	}
	return t
}

// split returns the result of a sketch for the tokens that start with one of
// its first state's moves.
func (t *tables) split(k *sketch) *split { return t.splitAt(k, -1) }

// splitAt returns the result of a sketch for the tokens below a node of the
// trie, at which its first state is reached.
func (t *tables) splitAt(k *sketch, node int32) *split {
	key := splitKey{k.key, node}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.splits[key]; s != nil {
		return s
	}
	w := splitter{t: t, k: k, leave: make([][]vocab.TrieEntry, len(k.states)), stays: make([]charSet, len(k.states))}
	for i := range k.states {
		w.stays[i] = k.stays(int8(i))
	}
	if node >= 0 {
		w.arrive(node, 0)
	} else {
		for b := range 256 {
			if first := t.trie.Child[b]; first >= 0 && k.states[0].move[min(b, high)] >= 0 {
				w.visit(first, 0)
			}
		}
	}
	s := w.finish()
	if node >= 0 {
		// The node's own tokens are not below it.
		s.list = s.list[len(t.trie.At(node)):]
	} else {
		s.inside = vocab.NewBitset(t.v.Len())
		for _, tok := range s.list {
			s.inside.Set(tok)
		}
		s.list = nil
	}
	if t.bytes > maxSplitBytes {
		clear(t.splits)
		t.bytes = 0
	}
	t.splits[key] = s
	t.bytes += len(key.sketch) + s.bytes()
	return s
}

func (s *split) bytes() int {
	n := 8*len(s.inside) + 4*cap(s.list)
	for _, l := range s.leave {
		n += 64 + 8*len(l.tokens)
		if l.trie != nil {
			n += 1024 + 12*len(l.trie.Nodes)
		}
	}
	return n
}

// splitter walks a vocabulary with a sketch.
type splitter struct {
	t      *tables
	k      *sketch
	stays  []charSet // of the sketch's states
	inside []int32
	leave  [][]vocab.TrieEntry
}

// visit handles the subtree at a node that is reached in a state, between two
// characters.
func (w *splitter) visit(node int32, from int8) {
	n := &w.t.trie.Nodes[node]
	to := w.k.states[from].move[min(n.Byte, high)]
	switch {
	case to == nowhere:
	case to == outside:
		w.out(node, from, int(n.Depth)-1)
	case n.Byte >= utf8.RuneSelf:
		w.character(node, from, to, int(n.Depth)-1)
	default:
		w.arrive(node, to)
	}
}

// arrive handles the subtree at a node that has led to a state.
func (w *splitter) arrive(node int32, at int8) {
	nodes := w.t.trie.Nodes
	w.inside = append(w.inside, w.t.trie.At(node)...)
	if sum := &w.t.below[node]; !sum.broken && sum.chars.within(&w.stays[at]) {
		w.inside = append(w.inside, w.t.trie.Tokens[nodes[node+1].First:nodes[nodes[node].End].First]...)
		return
	}
	for c := node + 1; c < nodes[node].End; c = nodes[c].End {
		w.visit(c, at)
	}
}

// character handles the subtree at a node inside a character that started after
// start bytes and leads from one state to another. If it turns out to be
// incomplete or invalid, the token leaves the sketch before it.
func (w *splitter) character(node int32, from, to int8, start int) {
	nodes := w.t.trie.Nodes
	first := w.t.trie.Tokens[nodes[node].First]
	spelt := w.t.v.Bytes(first)[start:nodes[node].Depth]
	r, n := utf8.DecodeRune(spelt)
	switch {
	case n == len(spelt) && n > 1 && !w.k.states[from].excepts(r):
		w.arrive(node, to)
	case utf8.FullRune(spelt):
		w.out(node, from, start)
	default:
		for _, tok := range w.t.trie.At(node) {
			w.leaver(from, tok, start)
		}
		for c := node + 1; c < nodes[node].End; c = nodes[c].End {
			w.character(c, from, to, start)
		}
	}
}

// out records all tokens at and below a node, which have left the sketch after
// start bytes.
func (w *splitter) out(node int32, from int8, start int) {
	nodes := w.t.trie.Nodes
	for _, tok := range w.t.trie.Tokens[nodes[node].First:nodes[nodes[node].End].First] {
		w.leaver(from, tok, start)
	}
}

func (w *splitter) leaver(from int8, tok int32, start int) {
	w.leave[from] = append(w.leave[from], vocab.TrieEntry{Text: w.t.v.Bytes(tok)[start:], Value: tok})
}

func (w *splitter) finish() *split {
	s := &split{list: w.inside, leave: make([]leavers, len(w.leave))}
	for i, list := range w.leave {
		if len(list) == 0 {
			continue
		}
		slices.SortFunc(list, func(a, b vocab.TrieEntry) int { return bytes.Compare(a.Text, b.Text) })
		l := &s.leave[i]
		l.tokens = make([]int32, len(list))
		for k := range list {
			l.tokens[k] = list[k].Value
			list[k].Value = int32(k)
		}
		l.trie = vocab.NewTrie(list)
	}
	return s
}
