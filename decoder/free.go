package decoder

import (
	"fmt"
	"strings"
	"sync"

	"github.com/stencil-json/stencil/vocab"
)

// freeTokens partitions the vocabulary by the effect of each token in one state of
// the mark finder of free text: most tokens complete no mark. It is immutable.
type freeTokens struct {
	base  vocab.Bitset  // tokens that complete no mark
	after []*vocab.Trie // by mark: the rests of the tokens that complete it
	bare  [][]int32     // by mark: the tokens that end with it
}

// freeStore caches freeTokens for a vocabulary: many sequences have the same marks,
// and partitioning a large vocabulary takes milliseconds.
type freeStore struct {
	mu    sync.Mutex
	kept  map[freeKey]*freeTokens
	bytes int
}

type freeKey struct {
	marks string
	state int32
}

// maxFreeBytes is the size at which a store is emptied. It holds some hundred
// states of a vocabulary of 128k tokens.
const maxFreeBytes = 8 << 20

type freeStoreKey struct{}

// freeTokens returns the tokens of free text in a state of a finder.
func (f *markFinder) freeTokens(v *vocab.Vocab, state int32, atStart []bool) *freeTokens {
	store := v.Attach(freeStoreKey{}, func() any { return &freeStore{kept: map[freeKey]*freeTokens{}} }).(*freeStore)
	var marks strings.Builder
	for i, m := range f.marks {
		fmt.Fprintf(&marks, "%d %t %s", len(m), atStart[i], m)
	}
	marks.WriteString(f.openings)
	key := freeKey{marks.String(), state}
	store.mu.Lock()
	defer store.mu.Unlock()
	if x, ok := store.kept[key]; ok {
		return x
	}
	x := f.sortFree(v, state)
	if store.bytes += 8*len(x.base) + len(key.marks); store.bytes > maxFreeBytes {
		clear(store.kept)
		store.bytes = 8 * len(x.base)
	}
	store.kept[key] = x
	return x
}

// sortFree computes the freeTokens of a state, without the cache.
func (f *markFinder) sortFree(v *vocab.Vocab, state int32) *freeTokens {
	out := &freeTokens{base: vocab.NewBitset(v.Len()), after: make([]*vocab.Trie, len(f.marks)), bare: make([][]int32, len(f.marks))}
	rests := make([][]vocab.TrieEntry, len(f.marks))
	trie := v.Trie()
	states := make([]int32, trie.Depth+1)
	states[0] = state
	for i := int32(0); i < int32(trie.Len()); {
		n := &trie.Nodes[i]
		to := f.next[states[n.Depth-1]][min(n.Byte, spelledByte-1)]
		if to >= 0 {
			states[n.Depth] = to
			for _, tok := range trie.At(i) {
				out.base.Set(tok)
			}
			i++
			continue
		}
		stop := ^to
		out.bare[stop] = append(out.bare[stop], trie.At(i)...)
		for _, tok := range trie.Tokens[trie.Nodes[i+1].First:trie.Nodes[n.End].First] {
			rests[stop] = append(rests[stop], vocab.TrieEntry{Text: v.Bytes(tok)[n.Depth:], Value: tok})
		}
		i = n.End
	}
	for stop, list := range rests {
		if len(list) > 0 || len(out.bare[stop]) > 0 {
			out.after[stop] = vocab.NewTrie(list)
		}
	}
	return out
}
