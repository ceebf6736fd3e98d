package schema

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"stencil/decoder"
	"stencil/regular"
	"stencil/schema/jsondoc"
	"stencil/vocab"
)

// closerTable is the tokens that close a string, or the values of a trie
// that do.
type closerTable struct {
	tokens   []int32
	after    *vocab.Trie // what follows the quote; its values index tokens
	bare     []int32     // those where nothing follows
	rests    [][]byte    // what follows
	before   *vocab.Trie // the decoded characters before the quote
	first    []int32     // those where nothing precedes
	all      vocab.Bitset
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
	keyStay  []int32 // the same two without needless escapes
	keyClose *closerTable
}

func newCloserTable(tokens []int32, texts [][]byte) *closerTable {
	t := &closerTable{tokens: tokens, rests: make([][]byte, len(tokens)), byPrefix: map[string][]int32{}}
	var before, after []vocab.TrieEntry
	for i, b := range texts {
		str, end, err := jsondoc.ReadString(`"` + string(b))
		if err != nil {
			continue
		}
		t.byPrefix[str] = append(t.byPrefix[str], int32(i))
		t.longest = max(t.longest, utf8.RuneCountInString(str))
		if str == "" {
			t.first = append(t.first, int32(i))
		} else {
			before = append(before, vocab.TrieEntry{Text: []byte(str), Value: int32(i)})
		}
		if rest := b[end-1:]; len(rest) > 0 {
			t.rests[i] = rest
			after = append(after, vocab.TrieEntry{Text: rest, Value: int32(i)})
		} else {
			t.bare = append(t.bare, int32(i))
		}
	}
	t.before, t.after = vocab.NewTrie(before), vocab.NewTrie(after)
	t.all = vocab.NewBitset(len(tokens))
	for i := range tokens {
		t.all.Set(int32(i))
	}
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
	out := &belowText{}
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
func (t *vocabTables) acceptedBelow(b *belowText, m *regular.Machine, q regular.State, strict bool) vocab.Bitset {
	t.mu.Lock()
	defer t.mu.Unlock()
	closers := b.closers
	if strict {
		closers = b.keyClose
	}
	accepted := t.of(m).accepted
	key := acceptedKey{closers, m.Place(q)}
	only, ok := accepted[key]
	if !ok {
		only, _ = closers.accepted(m, q)
		accepted[key] = only
		t.grow(64 + 8*len(only))
	}
	return only
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
	only, none = vocab.NewBitset(len(t.rests)), true
	add := func(q regular.State, list []int32) {
		if len(list) > 0 && m.Accepting(q) {
			for _, i := range list {
				only.Set(i)
			}
			none = false
		}
	}
	add(q, t.first)
	states := make([]walkState, t.before.Depth+1)
	states[0].q = q
	for i := int32(0); int(i) < t.before.Len(); {
		n := &t.before.Nodes[i]
		at := states[n.Depth-1].step(m, n.Byte)
		if at.q == regular.Dead {
			i = n.End
			continue
		}
		states[n.Depth] = at
		add(at.q, t.before.At(i))
		i++
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

// closerGroup is the closers that end a key in the same way.
type closerGroup struct {
	name     int32
	matching uint64
	only     vocab.Bitset // nil: all closers
	few      []int32      // if not nil: the closers, instead of only
}

// fewClosers is the number of closers up to which a group is a list.
const fewClosers = 6

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
	pending := s.objects.states.keys[k.a].pending
	for _, g := range groups {
		if g.name == taken || g.name >= 0 && !s.allowedName(k.a, g.name) {
			continue
		}
		moves := s.enter(k.a, g.name, g.matching)
		p.Overlap = p.Overlap || len(moves) > 1
		for _, m := range moves {
			next := m.next
			if g.name < 0 {
				x := s.objects.states.keys[m.next]
				x.pending = true
				next = s.intern(x)
			}
			exit := t.exit(g.only)
			exit.Few, exit.Rests = g.few, t.rests
			exit.Doubt = g.name < 0 && pending
			exit.Frames = s.memberFrames(k.depth, m.g, next)
			p.Exits = append(p.Exits, exit)
		}
	}
}

func (s *source) groupClosers(key int32, t *closerTable) []closerGroup {
	ks := s.objects.keyStates.keys[key]
	fam := s.objects.families[ks.fam]
	n := len(t.rests)
	if len(fam.pats) == 0 {
		// All closers end a key that isn't a name, but for those that spell
		// the rest of one.
		groups := []closerGroup{{name: -1}}
		add := func(name int32, rest string) {
			list := t.byPrefix[rest]
			if len(list) == 0 {
				return
			}
			if groups[0].only == nil {
				groups[0].only = slices.Clone(t.all)
			}
			g := closerGroup{name: name}
			if len(list) <= fewClosers {
				g.few = list
			} else {
				g.only = vocab.NewBitset(n)
			}
			for _, c := range list {
				groups[0].only.Clear(c)
				if g.only != nil {
					g.only.Set(c)
				}
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
	add := func(key int32, list []int32) {
		if len(list) == 0 {
			return
		}
		var c class
		c.name, c.matching = s.keyEnd(key)
		j, ok := index[c]
		if !ok {
			j = len(groups)
			index[c] = j
			groups = append(groups, closerGroup{name: c.name, matching: c.matching, only: vocab.NewBitset(n)})
		}
		for _, i := range list {
			groups[j].only.Set(i)
		}
	}
	add(key, t.first)
	s.alongKeys(t.before, key, add)
	for i := range groups {
		if g := &groups[i]; g.only.Count() <= fewClosers {
			g.few = g.only.AppendTo(nil)
		}
	}
	return groups
}

// alongKeys calls yield with the values of a trie and the key state that
// their text leads to.
func (s *source) alongKeys(trie *vocab.Trie, key int32, yield func(key int32, values []int32)) {
	type place struct {
		key  int32
		rune rune
		more int8 // bytes missing to a whole character
	}
	states := make([]place, trie.Depth+1)
	states[0].key = key
	for i := int32(0); int(i) < trie.Len(); {
		n := &trie.Nodes[i]
		at := states[n.Depth-1]
		switch b := n.Byte; {
		case at.more > 0:
			at.rune = at.rune<<6 | rune(b&0x3F)
			if at.more--; at.more == 0 {
				at.key = s.keyStep(at.key, at.rune)
			}
		case b < utf8.RuneSelf:
			at.key = s.keyStep(at.key, rune(b))
		default:
			more, bits := leadByte(b)
			at.rune, at.more = rune(bits), int8(more)
		}
		if at.more == 0 && s.settled(at.key) {
			yield(at.key, trie.Tokens[n.First:trie.Nodes[n.End].First])
			i = n.End
			continue
		}
		states[n.Depth] = at
		if at.more == 0 {
			yield(at.key, trie.At(i))
		}
		i++
	}
}

// settled reports whether a key is of the same class however it goes on.
func (s *source) settled(key int32) bool {
	k := s.objects.keyStates.keys[key]
	if k.lo < k.hi || k.taken != 0 {
		return false
	}
	if k.free != 0 && k.at == regular.Dead {
		return true
	}
	ok, known := s.objects.settled[k.vec]
	if !known {
		ok = true
		fam := s.objects.families[k.fam]
		for i, q := range s.objects.vectors[k.vec] {
			if q != regular.Dead {
				m := s.patterns[fam.pats[i]].machine
				n, any := m.Room(q)
				ok = ok && any && n < 0 && m.Accepting(q)
			}
		}
		s.objects.settled[k.vec] = ok
	}
	return ok
}
