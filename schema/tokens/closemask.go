package tokens

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/spelling"
	"github.com/stencil-json/stencil/vocab"
)

// Closers is a set of closing tokens: tokens that begin inside a string and
// contain the quote that ends it. For a subtree of a trie, it is a set of values
// instead. A Closers is immutable; its entries are numbered from 0.
type Closers struct {
	tokens   []int32
	after    *vocab.Trie // the text after the quote; its values index tokens
	bare     []int32     // entries that end with the quote
	Rests    [][]byte    // by entry: the text after the quote
	Before   *vocab.Trie // the decoded characters before the quote
	First    []int32     // entries that begin with the quote
	All      vocab.Bitset
	ByPrefix map[string][]int32 // entries by the decoded characters before the quote
	Longest  int                // characters in the longest prefix
}

// belowKey is a node of a trie below which a string begins.
type belowKey struct {
	trie *vocab.Trie
	node int32
}

// BelowTokens is the values below a node of a trie at which a string begins, by
// their effect on the string.
type BelowTokens struct {
	Stay          []int32 // the string is still open
	Closers       *Closers
	StrictStay    []int32 // Stay and Closers without needless escapes
	StrictClosers *Closers
}

func newClosers(tokens []int32, texts [][]byte) *Closers {
	t := &Closers{tokens: tokens, Rests: make([][]byte, len(tokens)), ByPrefix: map[string][]int32{}}
	var before, after []vocab.TrieEntry
	for i, b := range texts {
		str, end, err := jsondoc.ReadString(`"` + string(b))
		if err != nil {
			continue
		}
		t.ByPrefix[str] = append(t.ByPrefix[str], int32(i))
		t.Longest = max(t.Longest, utf8.RuneCountInString(str))
		if str == "" {
			t.First = append(t.First, int32(i))
		} else {
			before = append(before, vocab.TrieEntry{Text: []byte(str), Value: int32(i)})
		}
		if rest := b[end-1:]; len(rest) > 0 {
			t.Rests[i] = rest
			after = append(after, vocab.TrieEntry{Text: rest, Value: int32(i)})
		} else {
			t.bare = append(t.bare, int32(i))
		}
	}
	t.Before, t.after = vocab.NewTrie(before), vocab.NewTrie(after)
	t.All = vocab.NewBitset(len(tokens))
	for i := range tokens {
		t.All.Set(int32(i))
	}
	return t
}

// needlessEscape reports whether the inside of a string contains an escape of a
// character that doesn't need it.
func needlessEscape(b []byte) bool {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		if i++; i == len(b) {
			return false
		}
		switch b[i] {
		case '/':
			return true
		case 'u':
			digits := b[i+1 : min(i+5, len(b))]
			for j, c := range digits {
				if j < 2 && c != '0' || j == 2 && c != '0' && c != '1' || 'A' <= c && c <= 'F' {
					return true
				}
			}
			if len(digits) == 4 && digits[2] == '0' && bytes.IndexByte([]byte("89acd"), digits[3]) >= 0 {
				return true // these have a shorter escape
			}
			i += 4
		}
	}
	return false
}

// Exit returns the exit of the given closers.
func (t *Closers) Exit(only vocab.Bitset) decoder.Exit {
	return decoder.Exit{Trie: t.after, Tokens: t.tokens, Bare: t.bare, Only: only}
}

// Below groups the values below a node by their effect on a string that begins
// there.
func (t *Tables) Below(trie *vocab.Trie, node int32) *BelowTokens {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := belowKey{trie, node}
	if b, ok := t.below[key]; ok {
		return b
	}
	out := &BelowTokens{}
	var closers, keyClosers []int32
	var texts, keyTexts [][]byte
	base := int(trie.Nodes[node].Depth)
	path := make([]byte, trie.Depth)
	for i := node + 1; i < trie.Nodes[node].End; i++ {
		n := &trie.Nodes[i]
		path[n.Depth-1] = n.Byte
		values := trie.At(i)
		if len(values) == 0 {
			continue
		}
		text := path[base:n.Depth]
		switch quote, ok := vocab.StringEnd(text); {
		case !ok:
		case quote < 0:
			out.Stay = append(out.Stay, values...)
			if !needlessEscape(text) {
				out.StrictStay = append(out.StrictStay, values...)
			}
		default:
			text = slices.Clone(text)
			for _, v := range values {
				closers, texts = append(closers, v), append(texts, text)
				if !needlessEscape(text[:quote]) {
					keyClosers, keyTexts = append(keyClosers, v), append(keyTexts, text)
				}
			}
		}
	}
	out.Closers, out.StrictClosers = newClosers(closers, texts), newClosers(keyClosers, keyTexts)
	t.below[key] = out
	return out
}

// ClosersBelow returns the closers after which the string is in a language.
func (t *Tables) ClosersBelow(b *BelowTokens, m *regular.Machine, q regular.State, strict bool) vocab.Bitset {
	t.mu.Lock()
	defer t.mu.Unlock()
	closers := b.Closers
	if strict {
		closers = b.StrictClosers
	}
	accepted := t.storeTables(m).accepted
	key := acceptedKey{closers, m.Place(q)}
	only, ok := accepted[key]
	if !ok {
		only, _ = closers.accepted(m, q)
		accepted[key] = only
		t.grow(64 + 8*len(only))
	}
	return only
}

// accepted returns the closers after which the string is in a language. A nil set
// means all; none reports that there are none.
func (t *Closers) accepted(m *regular.Machine, q regular.State) (only vocab.Bitset, none bool) {
	// If all texts of the relevant lengths are in the language, so are all
	// prefixes.
	every := true
	at := q
	for i := 0; i <= t.Longest && every; i++ {
		edges := m.Ranges(at)
		if every = m.Accepting(at); i < t.Longest && every {
			if every = spelling.EveryRuneAlike(edges); every {
				at = edges[0].To
			}
		}
	}
	if every {
		return nil, false
	}
	only, none = vocab.NewBitset(len(t.Rests)), true
	add := func(q regular.State, list []int32) {
		if len(list) > 0 && m.Accepting(q) {
			for _, i := range list {
				only.Set(i)
			}
			none = false
		}
	}
	add(q, t.First)
	states := make([]walkState, t.Before.Depth+1)
	states[0].q = q
	for i := int32(0); int(i) < t.Before.Len(); {
		n := &t.Before.Nodes[i]
		at := states[n.Depth-1].step(m, n.Byte)
		if at.q == regular.Dead {
			i = n.End
			continue
		}
		states[n.Depth] = at
		add(at.q, t.Before.At(i))
		i++
	}
	return only, none
}
