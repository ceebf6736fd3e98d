package schema

import (
	"slices"
	"sync"

	"stencil/regular"
	"stencil/schema/number"
	"stencil/vocab"
)

// vocabTables is what the schema engine derives from a vocabulary and keeps
// for all schemas: which tokens stay inside a language, stay inside a
// number, and so on. Safe for concurrent use.
type vocabTables struct {
	v       *vocab.Vocab
	strings *vocab.StringSlices
	blanks  *vocab.BlankSlices

	closers *closerTable
	below   map[belowKey]*belowText

	// Tokens of more than reach characters are few, and in long. Zero: they
	// are not few.
	reach     int
	longest   int     // characters of the longest token
	long      []int32 // ascending
	longTrie  *vocab.Trie
	longBelow []vocab.Subtree

	strict map[*uint64]vocab.Bitset // by the set they were made from
	bare   map[bareKey]vocab.Bitset

	// The same where characters are spelt in one way only: in keys, and in
	// all that is generated.
	keyStay    vocab.Bitset
	keyClosers *closerTable

	digitTokens []int32 // tokens made of characters of numbers
	mixed       *vocab.Trie

	mu      sync.Mutex
	stores  []*storeTables // used last first
	sets    map[setKey]vocab.Bitset
	digits  map[digitKey]digitTokens
	runs    map[int16]blankLocal
	bytes   int
	scratch []walkState
	found   []int32
	infos   infoTable
}

type vocabTablesKey struct{}

// storeTables is what is known about the states of one store of languages.
type storeTables struct {
	store    *regular.Store
	texts    map[textKey]*textLocal
	common   map[regular.Place]*textLocal
	whole    map[regular.Place]bool
	accepted map[acceptedKey]vocab.Bitset
}

// acceptedKey is a state and closers of strings that began within a token.
type acceptedKey struct {
	closers *closerTable
	at      regular.Place
}

// maxStores is the number of stores that something is kept for: the one in use
// and some that schemas made earlier still use.
const maxStores = 4

// of returns the tables of the store of m. Called with the lock held.
func (t *vocabTables) of(m *regular.Machine) *storeTables {
	store := m.Store()
	for i, x := range t.stores {
		if x.store == store {
			copy(t.stores[1:], t.stores[:i])
			t.stores[0] = x
			return x
		}
	}
	x := &storeTables{store, map[textKey]*textLocal{}, map[regular.Place]*textLocal{}, map[regular.Place]bool{}, map[acceptedKey]vocab.Bitset{}}
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

// bareKey is a set and closers that are put into it.
type bareKey struct {
	base    *uint64
	closers *closerTable
}

// withBare returns a set with those of the closers that end with the quote.
// The sets it is called with are few.
func (t *vocabTables) withBare(base vocab.Bitset, closers *closerTable) vocab.Bitset {
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

// digitTokens is the tokens that stay inside a number. Where they are many
// they are there as a set, too.
type digitTokens struct {
	list []int32
	base vocab.Bitset
}

// manyDigits is the number of tokens from which a set is worth its memory.
const manyDigits = 128

type digitKey struct {
	a *number.Automaton
	q number.State
}

type blankLocal struct {
	tokens []int32
	only   vocab.Bitset
}

// vocabTablesLimit is the size in bytes at which the shared tables are
// emptied.
const vocabTablesLimit = 256 << 20

func tablesFor(v *vocab.Vocab) *vocabTables {
	return v.Attach(vocabTablesKey{}, func() any { return newVocabTables(v) }).(*vocabTables)
}

const numberBytes = "+-.0123456789Ee"

var numberByte, blankByte, blankSet, blankNumberSet = func() (n, b [256]bool, bs, bns [4]uint64) {
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

func newVocabTables(v *vocab.Vocab) *vocabTables {
	t := &vocabTables{v: v, strings: v.StringSlices(), blanks: v.BlankSlices(), below: map[belowKey]*belowText{},
		sets: map[setKey]vocab.Bitset{}, digits: map[digitKey]digitTokens{}, runs: map[int16]blankLocal{}}
	s := t.strings
	texts := make([][]byte, len(s.Closers))
	var keyTokens []int32
	var keyTexts [][]byte
	for i, tok := range s.Closers {
		texts[i] = v.Bytes(tok)
		if quote, _ := vocab.StringEnd(texts[i]); !needlessEscape(texts[i][:quote]) {
			keyTokens, keyTexts = append(keyTokens, tok), append(keyTexts, texts[i])
		}
	}
	t.closers, t.keyClosers = newCloserTable(s.Closers, texts), newCloserTable(keyTokens, keyTexts)
	t.keyStay = slices.Clone(s.Stay)
	for _, tok := range s.Irregular.Tokens {
		if needlessEscape(v.Bytes(tok)) {
			t.keyStay.Clear(tok)
		}
	}
	t.strict, t.bare = map[*uint64]vocab.Bitset{}, map[bareKey]vocab.Bitset{}
	t.longest = max(len(s.StayChars)-1, t.closers.longest, t.keyClosers.longest)
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
	t.mixed = vocab.NewTrie(mixed)
	return t
}

// findLong chooses reach: low, but so that few tokens are longer and all of
// those are plain.
func (t *vocabTables) findLong() {
	const fewest, most, tokens = 16, 64, 1500
	s := t.strings
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
		entries = append(entries, vocab.TrieEntry{Text: t.v.Bytes(tok), Value: tok})
	}
	t.longTrie = vocab.NewTrie(entries)
	t.longBelow = t.longTrie.Subtrees()
}

// grow notes that the tables have become larger, and empties them when they
// are too large. Called with the lock held.
func (t *vocabTables) grow(n int) {
	if t.bytes += n; t.bytes > vocabTablesLimit {
		t.stores = nil
		clear(t.strict)
		clear(t.bare)
		clear(t.sets)
		clear(t.digits)
		clear(t.below)
		t.bytes = 0
	}
}

// blank returns the tokens that are runs of at most n bytes of whitespace,
// and the set of values in BlankSlices.After with such a run before them,
// nil if that is all of them.
func (t *vocabTables) blank(n int16) blankLocal {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r, ok := t.runs[n]; ok {
		return r
	}
	var r blankLocal
	for k := 1; k <= int(n) && k < len(t.blanks.Runs); k++ {
		r.tokens = append(r.tokens, t.blanks.Runs[k]...)
	}
	if int32(n) < t.blanks.MaxRun {
		r.only = vocab.NewBitset(len(t.blanks.Run))
		for i, run := range t.blanks.Run {
			if run <= int32(n) {
				r.only.Set(int32(i))
			}
		}
	}
	t.runs[n] = r
	return r
}

// maxDigits bounds what is kept about numbers.
const maxDigits = 4096

// number returns the tokens that stay inside a number.
func (t *vocabTables) number(a *number.Automaton, q number.State) digitTokens {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d, ok := t.digits[digitKey{a, q}]; ok {
		return d
	}
	var d digitTokens
	for _, tok := range t.digitTokens {
		at := q
		for _, b := range t.v.Bytes(tok) {
			if at = a.Step(at, b); at == number.Dead {
				break
			}
		}
		if at != number.Dead {
			d.list = append(d.list, tok)
		}
	}
	if len(d.list) > manyDigits {
		d.base = vocab.NewBitset(t.v.Len())
		for _, tok := range d.list {
			d.base.Set(tok)
		}
	}
	if len(t.digits) >= maxDigits {
		clear(t.digits)
	}
	t.digits[digitKey{a, q}] = d
	t.grow(64 + 4*len(d.list) + 8*len(d.base))
	return d
}
