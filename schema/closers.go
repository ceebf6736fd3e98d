package schema

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"stencil/decoder"
	"stencil/regular"
	"stencil/vocab"
)

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
	keyStay  []int32 // the same two without needless escapes
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
func (t *vocabTables) acceptedBelow(b *belowText, m *regular.Machine, q regular.State, strict bool) vocab.Bitset {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := textKey{m, q, strict}
	only, ok := b.accepted[key]
	if !ok {
		closers := b.closers
		if strict {
			closers = b.keyClose
		}
		only, _ = closers.accepted(m, q)
		b.accepted[key] = only
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
