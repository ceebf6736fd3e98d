package schema

import (
	"math/bits"
	"slices"
	"sync"
	"unicode/utf8"

	"stencil/decoder"
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
	reach  int
	long   []int32 // ascending
	common map[textKey]*textLocal

	// The same for keys, where characters are spelt in one way only.
	keyStay    vocab.Bitset
	keyClosers *closerTable

	digitTokens []int32 // tokens made of characters of numbers
	mixed       *vocab.Trie

	mu      sync.Mutex
	texts   map[textKey]*textLocal
	whole   map[textKey]bool
	sets    map[setKey]vocab.Bitset
	digits  map[digitKey][]int32
	runs    map[int16]blankLocal
	bytes   int
	scratch []walkState
	found   []int32
	infos   map[regular.State]*walkInfo
}

type vocabTablesKey struct{}

// closerTable is the tokens that close a string, or the values of a trie
// that do.
type closerTable struct {
	tokens   []int32
	after    *vocab.Trie // what follows the quote; its values index tokens
	bare     []int32     // those where nothing follows
	prefix   [][]rune    // the decoded characters before the quote
	byPrefix map[string][]int32
	longest  int // characters in the longest prefix
}

// belowKey is a node of a trie after which a string begins.
type belowKey struct {
	trie *vocab.Trie
	node int32
}

// belowText sorts the values below such a node.
type belowText struct {
	stay     []int32 // the string is still open
	closers  *closerTable
	keyStay  []int32 // the same two for keys
	keyClose *closerTable
	accepted map[textKey]vocab.Bitset // closers by the state of the language before them; nil: all
}

func newCloserTable(tokens []int32, texts [][]byte) *closerTable {
	t := &closerTable{tokens: tokens, prefix: make([][]rune, len(tokens)), byPrefix: map[string][]int32{}}
	var after []vocab.TrieEntry
	for i, b := range texts {
		p := jsonParser{src: `"` + string(b)}
		str, err := p.string()
		if err != nil {
			continue
		}
		t.prefix[i] = []rune(str)
		t.byPrefix[str] = append(t.byPrefix[str], int32(i))
		t.longest = max(t.longest, len(t.prefix[i]))
		if rest := b[p.pos-1:]; len(rest) > 0 {
			after = append(after, vocab.TrieEntry{Text: rest, Value: int32(i)})
		} else {
			t.bare = append(t.bare, int32(i))
		}
	}
	t.after = vocab.NewTrie(after)
	return t
}

// needlessEscape reports whether the inside of a string spells a character as
// an escape that doesn't need one.
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
			for j, c := range b[i+1 : min(i+5, len(b))] {
				if j < 2 && c != '0' || j == 2 && c != '0' && c != '1' {
					return true
				}
			}
			i += 4
		}
	}
	return false
}

// exit returns the exit of the given closers.
func (t *closerTable) exit(only vocab.Bitset) decoder.Exit {
	return decoder.Exit{Trie: t.after, Tokens: t.tokens, Bare: t.bare, Only: only}
}

// textBelow sorts the values below a node by what they do to a string that
// begins there.
func (t *vocabTables) textBelow(trie *vocab.Trie, node int32) *belowText {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := belowKey{trie, node}
	if b, ok := t.below[key]; ok {
		return b
	}
	out := &belowText{accepted: map[textKey]vocab.Bitset{}}
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
			out.stay = append(out.stay, values...)
			if !needlessEscape(text) {
				out.keyStay = append(out.keyStay, values...)
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
	out.closers, out.keyClose = newCloserTable(closers, texts), newCloserTable(keyClosers, keyTexts)
	t.below[key] = out
	return out
}

// acceptedBelow returns the closers after which the string is in a language.
func (t *vocabTables) acceptedBelow(b *belowText, m *regular.Machine, q regular.State) vocab.Bitset {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := textKey{m, q}
	only, ok := b.accepted[key]
	if !ok {
		only, _ = b.closers.accepted(m, q)
		b.accepted[key] = only
		t.grow(64 + 8*len(only))
	}
	return only
}

type textKey struct {
	m *regular.Machine
	q regular.State
}

type setKey struct {
	low, high uint64
	beyond    bool
	max       int
}

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
		texts: map[textKey]*textLocal{}, whole: map[textKey]bool{}, sets: map[setKey]vocab.Bitset{}, digits: map[digitKey][]int32{}, infos: map[regular.State]*walkInfo{}, runs: map[int16]blankLocal{}}
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
	t.common = map[textKey]*textLocal{}
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
		return
	}
	if len(s.StayChars) <= most {
		t.reach = max(fewest, len(s.StayChars)-1)
	}
}

// grow notes that the tables have become larger, and empties them when they
// are too large. Called with the lock held.
func (t *vocabTables) grow(n int) {
	if t.bytes += n; t.bytes > vocabTablesLimit {
		clear(t.texts)
		clear(t.whole)
		clear(t.common)
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

// number returns the tokens that stay inside a number.
func (t *vocabTables) number(a *number.Automaton, q number.State) []int32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if list, ok := t.digits[digitKey{a, q}]; ok {
		return list
	}
	var list []int32
	for _, tok := range t.digitTokens {
		at := q
		for _, b := range t.v.Bytes(tok) {
			if at = a.Step(at, b); at == number.Dead {
				break
			}
		}
		if at != number.Dead {
			list = append(list, tok)
		}
	}
	t.digits[digitKey{a, q}] = list
	t.grow(64 + 4*len(list))
	return list
}

// textLocal is what is known about the tokens inside a language of strings.
type textLocal struct {
	base      vocab.Bitset
	extra     []int32
	irregular bool         // the irregular tokens are still to be walked
	only      vocab.Bitset // closers after which the string is in the language; nil: all
	none      bool         // no closer
}

// loose finds the tokens after which the string is still open, for all states
// together that differ only in counts beyond the reach of most tokens. The few
// longer tokens are tried one by one.
func (t *vocabTables) loose(m *regular.Machine, q regular.State) *textLocal {
	if t.reach == 0 {
		return t.stay(m, q)
	}
	to, at := m.Loosen(q, t.reach)
	if to == m && at == q {
		return t.stay(m, q)
	}
	key := textKey{to, at}
	common, ok := t.common[key]
	if !ok {
		common = t.stay(to, at)
		if common.base != nil {
			base := slices.Clone(common.base)
			for _, tok := range t.long {
				base.Clear(tok)
			}
			common.base = base
		}
		common.extra = slices.DeleteFunc(slices.Clone(common.extra), func(tok int32) bool {
			_, long := slices.BinarySearch(t.long, tok)
			return long
		})
		t.common[key] = common
		t.grow(96 + 8*len(common.base) + 4*len(common.extra))
	}
	l := &textLocal{base: common.base, extra: common.extra, irregular: common.irregular}
	for _, tok := range t.long {
		if alive(m, q, t.v.Bytes(tok)) {
			if len(l.extra) == len(common.extra) {
				l.extra = slices.Clone(l.extra)
			}
			l.extra = append(l.extra, tok)
		}
	}
	return l
}

// anything reports whether any token's text may follow state q.
func (t *vocabTables) anything(m *regular.Machine, q regular.State) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := textKey{m, q}
	yes, ok := t.whole[key]
	if !ok {
		if wholeEdgeSet(m.Ranges(q)) {
			if _, most := t.head(m, q); most == len(t.strings.StayChars)-1 {
				yes = true
			}
		}
		t.whole[key] = yes
		t.grow(32)
	}
	return yes
}

// text returns the tokens after state q of machine m.
func (t *vocabTables) text(m *regular.Machine, q regular.State) *textLocal {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := textKey{m, q}
	if l, ok := t.texts[key]; ok {
		return l
	}
	l := t.loose(m, q)
	l.only, l.none = t.closers.accepted(m, q)
	t.texts[key] = l
	t.grow(96 + 4*len(l.extra) + 8*len(l.only))
	return l
}

// fewCharacters is the size of a set of characters up to which walking the
// trie is cheaper than combining sets of tokens.
const fewCharacters = 16

// stay finds the tokens after which the string is still open.
func (t *vocabTables) stay(m *regular.Machine, q regular.State) *textLocal {
	s := t.strings
	longest := len(s.StayChars) - 1
	set, most := t.head(m, q)
	key, whole := classKey(set)
	if !key.beyond && bits.OnesCount64(key.low)+bits.OnesCount64(key.high) <= fewCharacters {
		return t.walk(m, q)
	}
	if whole && (most == longest || !t.goesOn(m, q, set, most)) {
		return &textLocal{base: s.StayChars[most]}
	}
	leavers, ok := t.leavers(m, q, &key, set, most, longest)
	if !ok {
		return t.walk(m, q)
	}
	l := &textLocal{irregular: true}
	key.max = most
	base, known := t.sets[key]
	if !known {
		base = t.loop(key, longest)
		t.sets[key] = base
		t.grow(8 * len(base))
	}
	l.base = base
	for _, tok := range leavers {
		if !base.Has(tok) && alive(m, q, t.v.Bytes(tok)) {
			l.extra = append(l.extra, tok)
		}
	}
	return l
}

// maxHeadWork bounds the states that head looks at.
const maxHeadWork = 160

// maxTogether is the number of states followed at once by head.
const maxTogether = 24

// head returns a set of characters such that every text of at most so many
// characters of it may follow state q.
func (t *vocabTables) head(m *regular.Machine, q regular.State) (set []regular.Range, most int) {
	longest := len(t.strings.StayChars) - 1
	// All that may come first, for as long as all of it may come again.
	var first []regular.Range
	for _, e := range m.Ranges(q) {
		if n := len(first); n > 0 && first[n-1].Hi+1 == e.Lo {
			first[n-1].Hi = e.Hi
		} else {
			first = append(first, regular.Range{Lo: e.Lo, Hi: e.Hi})
		}
	}
	states := []regular.State{q}
	depth := 0
	for work := 0; depth < longest && work < maxHeadWork; depth++ {
		work += len(states)
		var next []regular.State
		covered := true
		for _, q := range states {
			if covered = covers(m.Ranges(q), first); !covered {
				break
			}
			for _, e := range m.Ranges(q) {
				if overlaps(first, e.Lo, e.Hi) && !slices.Contains(next, e.To) {
					next = append(next, e.To)
				}
			}
		}
		if !covered || len(next) > maxTogether {
			break
		}
		slices.Sort(next)
		if slices.Equal(next, states) {
			depth = longest
			break
		}
		states = next
	}
	if depth >= min(longest, 8) {
		return first, depth
	}
	set, most = m.Head(q)
	if set == nil || most >= 0 && most <= depth {
		return first, depth
	}
	if most < 0 || most > longest {
		most = longest
	}
	return set, most
}

// covers reports whether edges lead on with every character of set.
func covers(edges []regular.Edge, set []regular.Range) bool {
	i := 0
	for _, r := range set {
		at := r.Lo
		for at <= r.Hi {
			for i < len(edges) && edges[i].Hi < at {
				i++
			}
			if i == len(edges) || edges[i].Lo > at {
				return false
			}
			at = edges[i].Hi + 1
		}
	}
	return true
}

// classKey packs a set of characters: ASCII as bits, and whether all
// characters beyond are in it. whole means every character is.
func classKey(set []regular.Range) (key setKey, whole bool) {
	at := rune(utf8.RuneSelf)
	for _, r := range set {
		for c := r.Lo; c <= r.Hi && c < utf8.RuneSelf; c++ {
			if c < 64 {
				key.low |= 1 << c
			} else {
				key.high |= 1 << (c - 64)
			}
		}
		if r.Lo <= at && r.Hi >= at {
			if at = r.Hi + 1; at == lowestHigh {
				at = endOfLow
			}
		}
	}
	key.beyond = at == utf8.MaxRune+1
	return key, key.beyond && key.low == ^uint64(0) && key.high == ^uint64(0)
}

func (k *setKey) has(c rune) bool {
	switch {
	case c < 64:
		return k.low>>c&1 != 0
	case c < utf8.RuneSelf:
		return k.high>>(c-64)&1 != 0
	}
	return k.beyond
}

// loop returns the plain tokens made of characters of a set.
func (t *vocabTables) loop(key setKey, longest int) vocab.Bitset {
	s := t.strings
	out := vocab.NewBitset(t.v.Len())
	copy(out, s.Plain)
	for c := rune(0x20); c < utf8.RuneSelf; c++ {
		if s.With[c] != nil && !key.has(c) {
			out.AndNot(s.With[c])
		}
	}
	if !key.beyond {
		out.AndNot(s.WithHigh)
	}
	if key.max < longest {
		out.And(s.StayChars[key.max])
	}
	return out
}

// goesOn reports whether a string may go on after n characters of set.
func (t *vocabTables) goesOn(m *regular.Machine, q regular.State, set []regular.Range, n int) bool {
	states := []regular.State{q}
	for range n {
		var next []regular.State
		seen := map[regular.State]bool{}
		for _, q := range states {
			for _, e := range m.Ranges(q) {
				if !seen[e.To] && overlaps(set, e.Lo, e.Hi) {
					seen[e.To] = true
					next = append(next, e.To)
				}
			}
		}
		if states = next; len(states) == 0 || len(states) > 16 {
			break
		}
	}
	for _, q := range states {
		if len(m.Ranges(q)) > 0 {
			return true
		}
	}
	return false
}

func overlaps(set []regular.Range, lo, hi rune) bool {
	for _, r := range set {
		if r.Lo <= hi && r.Hi >= lo {
			return true
		}
	}
	return false
}

// maxLeavers is the number of tokens up to which those that might leave a
// loop are tried one by one.
const maxLeavers = 6000

// leavers lists plain tokens that may stay in the language without being
// made of the characters of set alone. ok is false when they are too many.
func (t *vocabTables) leavers(m *regular.Machine, q regular.State, key *setKey, set []regular.Range, most, longest int) (list []int32, ok bool) {
	// The states that characters of the set lead to, and what else may
	// come there.
	states := []regular.State{q}
	seen := map[regular.State]bool{q: true}
	var out [2]uint64
	for depth := 0; depth <= most && len(states) > 0; depth++ {
		if depth == most && most < longest {
			for _, q := range states {
				if len(m.Ranges(q)) > 0 {
					return nil, false
				}
			}
		}
		var next []regular.State
		for _, q := range states {
			for _, e := range m.Ranges(q) {
				if e.Hi >= utf8.RuneSelf && !key.beyond {
					return nil, false
				}
				for c := e.Lo; c <= e.Hi && c < utf8.RuneSelf; c++ {
					if !key.has(c) {
						out[c>>6] |= 1 << (c & 63)
					}
				}
				if !seen[e.To] && overlaps(set, e.Lo, e.Hi) {
					seen[e.To] = true
					next = append(next, e.To)
				}
			}
		}
		if states = next; len(seen) > 400 {
			return nil, false
		}
	}
	if out == [2]uint64{} {
		return nil, true
	}
	union := vocab.NewBitset(t.v.Len())
	for c := range rune(utf8.RuneSelf) {
		if out[c>>6]>>(c&63)&1 != 0 && t.strings.With[c] != nil {
			union.Or(t.strings.With[c])
		}
	}
	if union.Count() > maxLeavers {
		return nil, false
	}
	return union.AppendTo(nil), true
}

// alive reports whether a plain token may follow state q.
func alive(m *regular.Machine, q regular.State, b []byte) bool {
	for len(b) > 0 {
		r, n := rune(b[0]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(b)
		}
		if q = m.Step(q, r); q == regular.Dead {
			return false
		}
		b = b[n:]
	}
	return true
}

// walkState is a place on the way through the trie of plain tokens.
type walkState struct {
	q    regular.State
	rune rune
	more int8      // bytes missing to a whole character
	at   *walkInfo // about q; nil until needed
}

// walkInfo is what a walk wants to know about a state.
type walkInfo struct {
	table     *[128]regular.State
	low, high uint64 // characters that may come as often as most says
	most      uint16
}

// walk goes through the plain tokens. It doesn't go down where everything
// below a node is made of characters that keep the language going.
func (t *vocabTables) walk(m *regular.Machine, q regular.State) *textLocal {
	trie := t.strings.PlainTrie
	if t.scratch == nil {
		t.scratch = make([]walkState, trie.Depth+1)
		t.found = make([]int32, 0, t.v.Len())
	}
	clear(t.infos)
	states := t.scratch
	states[0] = walkState{q: q}
	list := t.found[:0]
	nodes, below := trie.Nodes, t.strings.Below
	for i := 0; i < trie.Len(); {
		n := &nodes[i]
		above := &states[n.Depth-1]
		at := *above
		switch b := n.Byte; {
		case at.more > 0:
			at.rune = at.rune<<6 | rune(b&0x3F)
			if at.more--; at.more == 0 {
				at.q, at.at = m.Step(at.q, at.rune), nil
			}
		case b < utf8.RuneSelf:
			if at.at == nil {
				above.at = t.info(m, at.q)
				at.at = above.at
			}
			if next := at.at.table[b]; next != at.q {
				at.q, at.at = next, nil
			}
		default:
			n, bits := leadByte(b)
			at.rune, at.more = rune(bits), int8(n)
		}
		if at.q == regular.Dead {
			i = int(n.End)
			continue
		}
		if n.End > int32(i)+1 && at.more == 0 {
			if at.at == nil {
				at.at = t.info(m, at.q)
			}
			if s := &below[i]; s.Low&^at.at.low == 0 && s.High&^at.at.high == 0 && s.Height <= at.at.most {
				list = append(list, trie.Tokens[n.First:nodes[n.End].First]...)
				i = int(n.End)
				continue
			}
		}
		states[n.Depth] = at
		if first, last := n.First, nodes[i+1].First; first != last {
			list = append(list, trie.Tokens[first:last]...)
		}
		i++
	}
	t.found = list
	l := &textLocal{irregular: true}
	if len(list) > t.v.Len()/64 {
		l.base = vocab.NewBitset(t.v.Len())
		for _, tok := range list {
			l.base.Set(tok)
		}
		t.grow(8 * len(l.base))
	} else {
		l.extra = slices.Clone(list)
	}
	return l
}

// info returns what the walk under way knows about a state.
func (t *vocabTables) info(m *regular.Machine, q regular.State) *walkInfo {
	if i, ok := t.infos[q]; ok {
		return i
	}
	i := &walkInfo{table: m.ASCII(q)}
	if set, most := m.Head(q); set != nil {
		key, _ := classKey(set)
		i.low, i.high, i.most = key.low&^1, key.high, 1<<16-1
		if key.beyond {
			i.low |= 1
		}
		if most >= 0 {
			i.most = uint16(min(most, 1<<16-1))
		}
	}
	t.infos[q] = i
	return i
}

// accepted finds the closers after which the string is in a language. A nil
// set means all; none that there isn't any.
func (t *closerTable) accepted(m *regular.Machine, q regular.State) (only vocab.Bitset, none bool) {
	// If any text of the lengths that matter is in the language, so is any
	// prefix.
	every := true
	at := q
	for i := 0; i <= t.longest && every; i++ {
		edges := m.Ranges(at)
		if every = m.Accepting(at); i < t.longest && every {
			if every = wholeEdge(edges); every {
				at = edges[0].To
			}
		}
	}
	if every {
		return nil, false
	}
	only, none = vocab.NewBitset(len(t.prefix)), true
	for i, prefix := range t.prefix {
		at := q
		for _, r := range prefix {
			if at = m.Step(at, r); at == regular.Dead {
				break
			}
		}
		if at != regular.Dead && m.Accepting(at) {
			only.Set(int32(i))
			none = false
		}
	}
	return only, none
}

// wholeEdgeSet reports whether every character may come.
func wholeEdgeSet(edges []regular.Edge) bool {
	at := rune(0)
	for _, e := range edges {
		if e.Lo > at {
			return false
		}
		if at = e.Hi + 1; at == lowestHigh {
			at = endOfLow
		}
	}
	return at == utf8.MaxRune+1
}

// wholeEdge reports whether every character leads to the same state.
func wholeEdge(edges []regular.Edge) bool {
	at := rune(0)
	for _, e := range edges {
		if e.Lo > at || e.To != edges[0].To {
			return false
		}
		if at = e.Hi + 1; at == lowestHigh {
			at = endOfLow
		}
	}
	return at == utf8.MaxRune+1
}

// Prepare implements [decoder.Source].
func (s *source) Prepare(f decoder.Frame, v *vocab.Vocab) *decoder.Prepared {
	k := s.frames.keys[f]
	t := s.tablesOf(v)
	switch k.kind {
	case frameString:
		if k.c != 0 {
			return nil
		}
		return s.prepareString(f, k, t)
	case frameNumber:
		p := &decoder.Prepared{Extra: t.number(s.numberIDs[k.a], k.b), Parent: s.numberIDs[k.a].Accepting(k.b)}
		if t.mixed.Len() > 0 {
			p.Exits = []decoder.Exit{{Frames: []decoder.Frame{f}, Trie: t.mixed}}
		}
		return p
	case frameObjKey:
		if k.c != 0 {
			return nil
		}
		return s.prepareKey(f, k, t)
	}
	if k.kind != frameValue && k.blank == 0 {
		return nil
	}
	p := &decoder.Prepared{WalkRest: true, Skip: &blankSet}
	if k.blank > 0 {
		b := t.blank(k.blank)
		p.Extra = b.tokens
		p.Exits = append(p.Exits, decoder.Exit{Frames: []decoder.Frame{f}, Trie: t.blanks.After, Tokens: t.blanks.Token, Only: b.only})
	}
	if k.kind == frameValue {
		if list := s.numbers(form(s.view(goal(k.a), jNumber))); len(list) > 0 {
			p.Skip = &blankNumberSet
			p.Overlap = len(list) > 1
			p.Extra = slices.Clone(p.Extra)
			for _, a := range list {
				p.Extra = append(p.Extra, t.number(a, a.Start())...)
			}
			if t.mixed.Len() > 0 {
				p.Exits = append(p.Exits, decoder.Exit{Frames: []decoder.Frame{f}, Trie: t.mixed})
			}
		}
	}
	return p
}

func (s *source) tablesOf(v *vocab.Vocab) *vocabTables {
	if s.tables == nil || s.tables.v != v {
		s.tables = tablesFor(v)
	}
	return s.tables
}

// PrepareAt implements [decoder.Source].
func (s *source) PrepareAt(f decoder.Frame, v *vocab.Vocab, trie *vocab.Trie, node int32) *decoder.Prepared {
	k := s.frames.keys[f]
	if k.c != 0 || k.kind != frameString && k.kind != frameObjKey {
		return nil
	}
	t := s.tablesOf(v)
	if k.kind == frameString {
		m := s.machines[k.a]
		if !t.anything(m, k.b) {
			return nil
		}
		b := t.textBelow(trie, node)
		return &decoder.Prepared{Extra: b.stay, Exits: []decoder.Exit{b.closers.exit(t.acceptedBelow(b, m, k.b))}}
	}
	ks := s.objects.keyStates[k.b]
	p := &decoder.Prepared{}
	switch {
	case ks.free == 0 && s.freeFrom(k.a, k.b):
		b := t.textBelow(trie, node)
		p.Extra = b.keyStay
		s.keyExits(k, b.keyClose, p)
	case ks.free == 0:
		list, ok := s.namesAlong(k, trie, node, nil)
		if !ok {
			return nil
		}
		p.Extra = list
		s.keyExits(k, t.textBelow(trie, node).keyClose, p)
	default:
		return nil
	}
	return p
}

func (s *source) prepareString(f decoder.Frame, k frameKey, t *vocabTables) *decoder.Prepared {
	l := t.text(s.machines[k.a], k.b)
	p := &decoder.Prepared{Base: l.base, Extra: l.extra}
	if l.irregular {
		p.Exits = append(p.Exits, decoder.Exit{Frames: []decoder.Frame{f}, Trie: t.strings.Irregular})
	}
	if !l.none {
		p.Exits = append(p.Exits, t.closers.exit(l.only))
	}
	return p
}

// manyKeys is a number of keys that no document uses up.
const manyKeys = 10000

// prepareKey does the same for the inside of a key, whose end can mean
// different things.
func (s *source) prepareKey(f decoder.Frame, k frameKey, t *vocabTables) *decoder.Prepared {
	ks := s.objects.keyStates[k.b]
	p := &decoder.Prepared{}
	switch {
	case ks.free == 0 && s.freeFrom(k.a, k.b):
		p.Base = t.keyStay
	case ks.free == 0 || ks.at == regular.Dead:
		list, ok := s.namesAlong(k, t.v.Trie(), -1, nil)
		if !ok {
			return nil
		}
		p.Extra = list
	default:
		// The tokens inside the language of the keys that aren't names, and
		// those that go on with a name which isn't in it.
		m := s.machines[ks.free-1]
		if ks.taken != 0 && m.Count(ks.at, manyKeys) < manyKeys {
			return nil // keys that are taken may be all that is left of some beginnings
		}
		l := t.text(m, ks.at)
		p.Base, p.Extra = l.base, l.extra
		if !l.irregular {
			// All of Stay, or those of it with few characters.
			p.Base = slices.Clone(l.base)
			p.Base.And(t.keyStay)
		}
		if l.irregular {
			p.Exits = append(p.Exits, decoder.Exit{Frames: []decoder.Frame{f}, Trie: t.strings.Irregular})
		}
		if ks.lo < ks.hi {
			list, ok := s.namesAlong(k, t.strings.PlainTrie, -1, nil)
			if !ok {
				return nil
			}
			p.Extra = slices.Clone(p.Extra)
			for _, tok := range list {
				if !(l.base != nil && l.base.Has(tok)) && !contains(l.extra, tok) {
					p.Extra = append(p.Extra, tok)
				}
			}
		}
	}
	s.keyExits(k, t.keyClosers, p)
	return p
}

// namesAlong appends the values below a node of a trie (-1: the root) whose
// text is the beginning of what is left of a name that may come. ok is false
// when a name can be spelt in more than one way.
func (s *source) namesAlong(k frameKey, trie *vocab.Trie, node int32, list []int32) (out []int32, ok bool) {
	ks := s.objects.keyStates[k.b]
	fam := s.objects.families[ks.fam]
	var along func(ks keyState, node int32)
	ok = true
	along = func(ks keyState, node int32) {
		for i := ks.lo; i < ks.hi && ok; {
			name := s.nameAt(fam, i)
			if len(name) == int(ks.depth) || !s.allowedName(k.a, fam.sorted[i]) {
				i++
				continue
			}
			b := name[ks.depth]
			if b < 0x20 || b == '"' || b == '\\' {
				ok = false
				return
			}
			// All names that go on with b are neighbours.
			next := ks
			next.lo, next.depth = i, ks.depth+1
			for i++; i < ks.hi && s.nameAt(fam, i)[ks.depth] == b; i++ {
			}
			next.hi = i
			child := int32(-1)
			if node < 0 {
				child = trie.Child[b]
			} else {
				end := trie.Nodes[node].End
				for c := node + 1; c < end; c = trie.Nodes[c].End {
					if trie.Nodes[c].Byte >= b {
						if trie.Nodes[c].Byte == b {
							child = c
						}
						break
					}
				}
			}
			if child >= 0 {
				list = append(list, trie.At(child)...)
				along(next, child)
			}
		}
	}
	along(ks, node)
	return list, ok
}

func contains(list []int32, x int32) bool {
	for _, y := range list {
		if y == x {
			return true
		}
	}
	return false
}

// closerGroup is the closers that end a key in the same way.
type closerGroup struct {
	name     int32
	matching uint64
	only     vocab.Bitset // nil: all closers
}

// groupKey is a place in a key and a table of closers.
type groupKey struct {
	key   int32
	table *closerTable
}

// keyExits adds an exit for each thing that the end of a key can mean.
func (s *source) keyExits(k frameKey, t *closerTable, p *decoder.Prepared) {
	at := groupKey{k.b, t}
	groups, ok := s.closerGroups[at]
	if !ok {
		groups = s.groupClosers(k.b, t)
		s.closerGroups[at] = groups
	}
	pending := s.objects.states[k.a].pending
	for _, g := range groups {
		if g.name == taken || g.name >= 0 && !s.allowedName(k.a, g.name) {
			continue
		}
		moves := s.enter(k.a, g.name, g.matching)
		p.Overlap = p.Overlap || len(moves) > 1
		for _, m := range moves {
			next := m.next
			if g.name < 0 {
				x := s.objects.states[m.next]
				x.pending = true
				next = s.intern(x)
			}
			exit := t.exit(g.only)
			exit.Doubt = g.name < 0 && pending
			exit.Frames = []decoder.Frame{s.at(frameColon, k.depth, int32(m.g), next)}
			p.Exits = append(p.Exits, exit)
		}
	}
}

func (s *source) groupClosers(key int32, t *closerTable) []closerGroup {
	ks := s.objects.keyStates[key]
	fam := s.objects.families[ks.fam]
	n := len(t.prefix)
	if len(fam.pats) == 0 {
		// All closers end a key that isn't a name, but for those that spell
		// the rest of one.
		groups := []closerGroup{{name: -1}}
		add := func(name int32, rest string) {
			list := t.byPrefix[rest]
			if len(list) == 0 {
				return
			}
			g := closerGroup{name: name, only: vocab.NewBitset(n)}
			if groups[0].only == nil {
				all := vocab.NewBitset(n)
				for j := range n {
					all.Set(int32(j))
				}
				groups[0].only = all
			}
			for _, c := range list {
				g.only.Set(c)
				groups[0].only.Clear(c)
			}
			groups = append(groups, g)
		}
		for i := ks.lo; i < ks.hi; i++ {
			if rest := s.nameAt(fam, i)[ks.depth:]; len(rest) <= 4*t.longest {
				add(fam.sorted[i], rest)
			}
		}
		for _, id := range s.objects.takenLists[ks.taken] {
			if rest := s.names[id]; len(rest) >= int(ks.depth) {
				add(taken, rest[ks.depth:])
			}
		}
		return groups
	}
	type class struct {
		name     int32
		matching uint64
	}
	index := map[class]int{}
	var groups []closerGroup
	for i, prefix := range t.prefix {
		at := key
		for _, r := range prefix {
			at = s.keyStep(at, r)
		}
		var c class
		c.name, c.matching = s.keyEnd(at)
		j, ok := index[c]
		if !ok {
			j = len(groups)
			index[c] = j
			groups = append(groups, closerGroup{c.name, c.matching, vocab.NewBitset(n)})
		}
		groups[j].only.Set(int32(i))
	}
	return groups
}
