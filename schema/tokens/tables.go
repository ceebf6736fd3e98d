package tokens

import (
	"slices"
	"sync"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/number"
	"github.com/stencil-json/stencil/vocab"
)

// Tables describes the tokens of one vocabulary, for all schemas. It is safe for
// concurrent use; the sets and lists that its methods return are shared and must
// not be modified.
type Tables struct {
	Vocab   *vocab.Vocab
	Strings *vocab.StringSlices
	Blanks  *vocab.BlankSlices

	classes classTrie
	Closers *Closers
	below   map[belowKey]*BelowTokens

	// Few tokens have more than reach characters; these are in long. Zero: there
	// are too many.
	reach     int
	longest   int     // characters of the longest token
	long      []int32 // ascending
	longTrie  *vocab.Trie
	longBelow []vocab.Subtree

	strict map[*uint64]vocab.Bitset // by the set it was computed from
	bare   map[bareKey]vocab.Bitset

	// The same where every character has one spelling only: in keys, and in
	// everything that is generated.
	StrictStay    vocab.Bitset
	StrictClosers *Closers

	digitTokens []int32     // tokens that consist of characters of numbers
	Mixed       *vocab.Trie // tokens that continue after such characters with text that may follow a number

	mu      sync.Mutex
	stores  []*storeTables // the most recently used first
	sets    map[setKey]vocab.Bitset
	digits  map[digitKey]NumberTokens
	runs    map[int16]BlankTokens
	bytes   int
	scratch []trieState
	found   []int32
	infos   infoTable
}

type attachKey struct{}

// storeTables holds the results for the states of one store of languages.
type storeTables struct {
	store    *regular.Store
	texts    map[textKey]*StringTokens
	common   map[regular.Place]*StringTokens
	whole    map[regular.Place]bool
	accepted map[acceptedKey]vocab.Bitset
}

// acceptedKey is a state and closers of strings that began within a token.
type acceptedKey struct {
	closers *Closers
	at      regular.Place
}

// maxStores is the number of stores for which results are kept: the one in use
// and some that schemas compiled earlier still use.
const maxStores = 4

// storeTables returns the tables of the store of m. The lock must be held.
func (t *Tables) storeTables(m *regular.Machine) *storeTables {
	store := m.Store()
	for i, x := range t.stores {
		if x.store == store {
			copy(t.stores[1:], t.stores[:i])
			t.stores[0] = x
			return x
		}
	}
	x := &storeTables{store, map[textKey]*StringTokens{}, map[regular.Place]*StringTokens{}, map[regular.Place]bool{}, map[acceptedKey]vocab.Bitset{}}
	t.stores = slices.Insert(t.stores, 0, x)
	if len(t.stores) > maxStores {
		clear(t.stores[maxStores:])
		t.stores = t.stores[:maxStores]
	}
	return x
}

type textKey struct {
	at     regular.Place
	strict bool // no needless escapes
}

type setKey struct {
	low, high uint64
	beyond    bool
	max       int
}

// bareKey is a set, and closers to be added to it.
type bareKey struct {
	base    *uint64
	closers *Closers
}

// WithBare returns a set with those of the closers added that end with the
// quote. It is called for few different sets.
func (t *Tables) WithBare(base vocab.Bitset, closers *Closers) vocab.Bitset {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := bareKey{&base[0], closers}
	out, ok := t.bare[key]
	if !ok {
		out = slices.Clone(base)
		for _, i := range closers.bare {
			out.Set(closers.tokens[i])
		}
		t.bare[key] = out
		t.grow(8 * len(out))
	}
	return out
}

// NumberTokens is the tokens that stay inside a number. If there are many, Base
// holds them as well.
type NumberTokens struct {
	List []int32
	Base vocab.Bitset
}

// manyDigits is the number of tokens from which a set is worth its memory.
const manyDigits = 128

type digitKey struct {
	a *number.Automaton
	q number.State
}

// BlankTokens describes the tokens in runs of whitespace.
type BlankTokens struct {
	Tokens []int32
	Only   vocab.Bitset
}

// maxBytes is the size in bytes at which the shared tables are discarded.
const maxBytes = 256 << 20

// For returns the tables of a vocabulary, which are built once.
func For(v *vocab.Vocab) *Tables {
	return v.Attach(attachKey{}, func() any { return newTables(v) }).(*Tables)
}

const numberBytes = "+-.0123456789Ee"

// BlankSet is the set of the bytes of whitespace, BlankNumberSet of those and
// the bytes of numbers.
var numberByte, blankByte, BlankSet, BlankNumberSet = func() (n, b [256]bool, bs, bns [4]uint64) {
	for i := range numberBytes {
		c := numberBytes[i]
		n[c] = true
		bns[c>>6] |= 1 << (c & 63)
	}
	for _, c := range []byte(" \t\n\r") {
		b[c] = true
		bs[c>>6] |= 1 << (c & 63)
		bns[c>>6] |= 1 << (c & 63)
	}
	return
}()

func newTables(v *vocab.Vocab) *Tables {
	t := &Tables{Vocab: v, Strings: v.StringSlices(), Blanks: v.BlankSlices(), below: map[belowKey]*BelowTokens{},
		sets: map[setKey]vocab.Bitset{}, digits: map[digitKey]NumberTokens{}, runs: map[int16]BlankTokens{}}
	s := t.Strings
	texts := make([][]byte, len(s.Closers))
	var keyTokens []int32
	var keyTexts [][]byte
	for i, tok := range s.Closers {
		texts[i] = v.Bytes(tok)
		if quote, _ := vocab.StringEnd(texts[i]); !needlessEscape(texts[i][:quote]) {
			keyTokens, keyTexts = append(keyTokens, tok), append(keyTexts, texts[i])
		}
	}
	t.Closers, t.StrictClosers = newClosers(s.Closers, texts), newClosers(keyTokens, keyTexts)
	t.StrictStay = slices.Clone(s.Stay)
	for _, tok := range s.Irregular.Tokens {
		if needlessEscape(v.Bytes(tok)) {
			t.StrictStay.Clear(tok)
		}
	}
	t.classes = newClassTrie(s.PlainTrie, v)
	t.strict, t.bare = map[*uint64]vocab.Bitset{}, map[bareKey]vocab.Bitset{}
	t.longest = max(len(s.StayChars)-1, t.Closers.Longest, t.StrictClosers.Longest)
	t.findLong()
	var mixed []vocab.TrieEntry
	for id := int32(0); id < int32(v.Len()); id++ {
		b := v.Bytes(id)
		n := 0
		for n < len(b) && numberByte[b[n]] {
			n++
		}
		switch {
		case n == 0:
		case n == len(b):
			t.digitTokens = append(t.digitTokens, id)
		case blankByte[b[n]] || b[n] == ',' || b[n] == ']' || b[n] == '}':
			mixed = append(mixed, vocab.TrieEntry{Text: b, Value: id})
		}
	}
	t.Mixed = vocab.NewTrie(mixed)
	return t
}

// findLong chooses reach: as low as possible, such that few tokens are longer
// and all of those are plain.
func (t *Tables) findLong() {
	const fewest, most, tokens = 16, 64, 1500
	s := t.Strings
	for k := fewest; k < most && k < len(s.StayChars); k++ {
		rest := slices.Clone(s.Stay)
		rest.AndNot(s.StayChars[k])
		if n := rest.Count(); n > tokens {
			continue
		}
		odd := slices.Clone(rest)
		if odd.AndNot(s.Plain); odd.Count() > 0 {
			continue
		}
		t.reach, t.long = k, rest.AppendTo(nil)
		break
	}
	if t.reach == 0 && len(s.StayChars) <= most {
		t.reach = max(fewest, len(s.StayChars)-1)
	}
	var entries []vocab.TrieEntry
	for _, tok := range t.long {
		entries = append(entries, vocab.TrieEntry{Text: t.Vocab.Bytes(tok), Value: tok})
	}
	t.longTrie = vocab.NewTrie(entries)
	t.longBelow = t.longTrie.Subtrees()
}

// grow records that the tables have grown, and discards them if they are too
// large. The lock must be held.
func (t *Tables) grow(n int) {
	if t.bytes += n; t.bytes > maxBytes {
		t.stores = nil
		clear(t.strict)
		clear(t.bare)
		clear(t.sets)
		clear(t.digits)
		clear(t.below)
		t.bytes = 0
	}
}

// InBlanks returns the tokens that are runs of at most n bytes of whitespace,
// and the set of the values in BlankSlices.After that follow such a run, or nil
// if that is all of them.
func (t *Tables) InBlanks(n int16) BlankTokens {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r, ok := t.runs[n]; ok {
		return r
	}
	var r BlankTokens
	for k := 1; k <= int(n) && k < len(t.Blanks.Runs); k++ {
		r.Tokens = append(r.Tokens, t.Blanks.Runs[k]...)
	}
	if int32(n) < t.Blanks.MaxRun {
		r.Only = vocab.NewBitset(len(t.Blanks.Run))
		for i, run := range t.Blanks.Run {
			if run <= int32(n) {
				r.Only.Set(int32(i))
			}
		}
	}
	t.runs[n] = r
	return r
}

// maxDigits bounds the number of cached results about numbers.
const maxDigits = 4096

// InNumber returns the tokens that stay inside a number.
func (t *Tables) InNumber(a *number.Automaton, q number.State) NumberTokens {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d, ok := t.digits[digitKey{a, q}]; ok {
		return d
	}
	var d NumberTokens
	for _, tok := range t.digitTokens {
		at := q
		for _, b := range t.Vocab.Bytes(tok) {
			if at = a.Step(at, b); at == number.Dead {
				break
			}
		}
		if at != number.Dead {
			d.List = append(d.List, tok)
		}
	}
	if len(d.List) > manyDigits {
		d.Base = vocab.NewBitset(t.Vocab.Len())
		for _, tok := range d.List {
			d.Base.Set(tok)
		}
	}
	if len(t.digits) >= maxDigits {
		clear(t.digits)
	}
	t.digits[digitKey{a, q}] = d
	t.grow(64 + 4*len(d.List) + 8*len(d.Base))
	return d
}
