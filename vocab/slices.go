package vocab

import (
	"sync"
	"unicode/utf8"
)

// StringSlices groups a vocabulary by what its tokens do inside a JSON
// string, starting between two characters. It depends on the vocabulary
// alone, so it is computed once for all grammars: the mask inside an
// unconstrained string is Stay and the result of a short walk over
// AfterQuote.
//
// A character is a decoded code point: \n, \u00e9 and é are one each; an
// incomplete UTF-8 sequence or escape at the end of a token counts as one. It
// is immutable and safe for concurrent use.
type StringSlices struct {
	// Stay holds the tokens after which the string is still open.
	Stay Bitset
	// StayChars[k] holds the tokens of Stay with at most k characters; the
	// last one equals Stay.
	StayChars []Bitset
	// Plain holds the tokens of Stay that consist of complete characters without
	// escapes.
	Plain Bitset
	// With[c] holds the plain tokens that contain the ASCII character c,
	// WithHigh those that contain a character beyond ASCII.
	With     [utf8.RuneSelf]Bitset
	WithHigh Bitset
	// PlainTrie has the plain tokens, Irregular the other tokens of Stay.
	PlainTrie, Irregular *Trie
	// Below summarises, for each node of PlainTrie, its descendants.
	Below []Subtree

	// Closers are the tokens that close the string. Closer i is token
	// Closers[i].
	Closers []int32
	// AfterQuote maps what follows the quote to closers (their indices);
	// BareQuote are those with nothing after it.
	AfterQuote *Trie
	BareQuote  []int32
	// BeforeQuote maps what precedes the quote to closers (their indices);
	// QuoteFirst are those with nothing before it.
	BeforeQuote *Trie
	QuoteFirst  []int32
}

// Subtree summarises the characters on the paths from a node of a trie to its
// descendants.
type Subtree struct {
	// Low and High are the ASCII characters, one bit each; Wide are the first
	// bytes of characters beyond ASCII, one bit each from 0xC0 on.
	Low, High, Wide uint64
	// Height is the length in bytes of the longest path down.
	Height uint16
}

// Subtrees computes the summaries of all nodes, children before parents.
func (t *Trie) Subtrees() []Subtree {
	out := make([]Subtree, t.Len())
	for i := t.Len() - 1; i >= 0; i-- {
		s := &out[i]
		for c := int32(i) + 1; c < t.Nodes[i].End; c = t.Nodes[c].End {
			child := &out[c]
			s.Low |= child.Low
			s.High |= child.High
			s.Wide |= child.Wide
			s.Height = max(s.Height, child.Height+1)
			switch b := t.Nodes[c].Byte; {
			case b >= 0xC0:
				s.Wide |= 1 << (b - 0xC0)
			case b >= utf8.RuneSelf: // within a character
			case b >= 64:
				s.High |= 1 << (b - 64)
			default:
				s.Low |= 1 << b
			}
		}
	}
	return out
}

// BlankSlices groups a vocabulary by leading JSON whitespace (space, tab,
// line feed, carriage return). It is immutable and safe for concurrent use.
type BlankSlices struct {
	// Runs[k] holds the tokens that consist of k bytes of whitespace; Runs[0] is
	// empty.
	Runs [][]int32
	// After maps what follows leading whitespace to the tokens that begin with
	// whitespace and continue with something else. Its values index Token and
	// Run.
	After *Trie
	Token []int32
	// Run is the length in bytes of the leading whitespace.
	Run []int32
	// MaxRun is the largest value in Run.
	MaxRun int32
}

// derived holds data computed from a vocabulary on first use.
type derived struct {
	trieOnce, stringOnce, blankOnce sync.Once
	trie                            *Trie
	strings                         *StringSlices
	blanks                          *BlankSlices
	attached                        sync.Map
}

// Trie returns the trie of all tokens that add text.
func (v *Vocab) Trie() *Trie {
	v.trieOnce.Do(func() { v.trie = buildTrie(v) })
	return v.trie
}

// StringSlices returns the vocabulary grouped for the inside of JSON strings.
// The first call takes some tens of milliseconds for 128k tokens.
func (v *Vocab) StringSlices() *StringSlices {
	v.stringOnce.Do(func() { v.strings = buildStringSlices(v) })
	return v.strings
}

// BlankSlices returns the vocabulary grouped by leading whitespace.
func (v *Vocab) BlankSlices() *BlankSlices {
	v.blankOnce.Do(func() { v.blanks = buildBlankSlices(v) })
	return v.blanks
}

// Attach returns the value stored with the vocabulary under key, which
// newValue computes the first time. Packages store here what they derive from
// a vocabulary, so that it has the same lifetime.
func (v *Vocab) Attach(key any, newValue func() any) any {
	if x, ok := v.attached.Load(key); ok {
		return x
	}
	x, _ := v.attached.LoadOrStore(key, newValue())
	return x
}

// IsBlank reports whether b is JSON whitespace.
func IsBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

func buildBlankSlices(v *Vocab) *BlankSlices {
	s := &BlankSlices{Runs: make([][]int32, 1)}
	var entries []TrieEntry
	for id := int32(0); id < int32(v.Len()); id++ {
		b := v.Bytes(id)
		n := 0
		for n < len(b) && IsBlank(b[n]) {
			n++
		}
		switch {
		case n == 0 || len(b) > maxTokenBytes:
		case n == len(b):
			for len(s.Runs) <= n {
				s.Runs = append(s.Runs, nil)
			}
			s.Runs[n] = append(s.Runs[n], id)
		default:
			entries = append(entries, TrieEntry{b[n:], int32(len(s.Token))})
			s.Token = append(s.Token, id)
			s.Run = append(s.Run, int32(n))
			s.MaxRun = max(s.MaxRun, int32(n))
		}
	}
	s.After = NewTrie(entries)
	return s
}

// StringEnd parses b as the inside of a JSON string, starting between two
// characters. It returns the index of the closing quote, or -1 if the string
// stays open; ok is false if b is invalid there.
func StringEnd(b []byte) (quote int, ok bool) {
	quote, _, _, ok = scanString(b)
	return quote, ok
}

// scanString parses b as the inside of a JSON string. It returns the number
// of bytes before the closing quote, or -1 if the string stays open, the
// number of characters up to there, whether they are plain (complete and not
// escaped), and whether b is valid in a string at all.
func scanString(b []byte) (quote, chars int, plain, ok bool) {
	plain = true
	for i := 0; i < len(b); {
		c := b[i]
		switch {
		case c == '"':
			return i, chars, plain, true
		case c < 0x20:
			return 0, 0, false, false
		case c == '\\':
			plain = false
			n, open, valid := scanEscape(b[i:])
			if !valid {
				return 0, 0, false, false
			}
			chars++
			if open {
				return -1, chars, false, true
			}
			i += n
		case c < utf8.RuneSelf:
			chars++
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n <= 1 {
				if utf8.FullRune(b[i:]) {
					return 0, 0, false, false
				}
				return -1, chars + 1, false, true
			}
			chars++
			i += n
		}
	}
	return -1, chars, plain, true
}

// scanEscape parses one escape at the start of b, a surrogate pair as one.
// open means that b ends before the escape does.
func scanEscape(b []byte) (n int, open, ok bool) {
	if len(b) < 2 {
		return 0, true, true
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, false, true
	case 'u':
	default:
		return 0, false, false
	}
	u, n, ok := scanHex4(b[2:])
	if !ok || n == 4 && u>>10 == 0xDC00>>10 {
		return 0, false, false
	}
	if n < 4 {
		// \udc… is a lone low surrogate once its second digit is read.
		if n >= 2 && u>>(4*(n-2)) >= 0xDC && u>>(4*(n-2)) <= 0xDF {
			return 0, false, false
		}
		return 0, true, true
	}
	if u>>10 != 0xD800>>10 {
		return 6, false, true
	}
	rest := b[6:]
	for i, want := range []byte(`\u`) {
		if i == len(rest) {
			return 0, true, true
		}
		if rest[i] != want {
			return 0, false, false
		}
	}
	low, n, ok := scanHex4(rest[2:])
	if !ok {
		return 0, false, false
	}
	// The low half is dc00 to dfff; check the available digits.
	if n >= 1 && low>>(4*(n-1)) != 0xD || n >= 2 && low>>(4*(n-2))&0xF < 0xC {
		return 0, false, false
	}
	if n < 4 {
		return 0, true, true
	}
	return 12, false, true
}

// scanHex4 parses up to four hexadecimal digits; n is the number of digits
// before b ended.
func scanHex4(b []byte) (u uint32, n int, ok bool) {
	for n < 4 && n < len(b) {
		c := b[n]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, 0, false
		}
		u = u<<4 | uint32(c)
		n++
	}
	return u, n, true
}

func buildStringSlices(v *Vocab) *StringSlices {
	n := v.Len()
	s := &StringSlices{Stay: NewBitset(n), Plain: NewBitset(n), WithHigh: NewBitset(n)}
	for c := 0x20; c < utf8.RuneSelf; c++ {
		if c != '"' && c != '\\' {
			s.With[c] = NewBitset(n)
		}
	}
	var plainEntries, irregular, after, before []TrieEntry
	chars := make([]int, n)
	longest := 0
	for id := int32(0); id < int32(n); id++ {
		b := v.Bytes(id)
		if len(b) == 0 || len(b) > maxTokenBytes {
			continue
		}
		quote, count, plain, ok := scanString(b)
		if !ok {
			continue
		}
		if quote >= 0 {
			i := int32(len(s.Closers))
			s.Closers = append(s.Closers, id)
			if quote == 0 {
				s.QuoteFirst = append(s.QuoteFirst, i)
			} else {
				before = append(before, TrieEntry{b[:quote], i})
			}
			if quote+1 == len(b) {
				s.BareQuote = append(s.BareQuote, i)
			} else {
				after = append(after, TrieEntry{b[quote+1:], i})
			}
			continue
		}
		s.Stay.Set(id)
		chars[id] = count
		longest = max(longest, count)
		if !plain {
			irregular = append(irregular, TrieEntry{b, id})
			continue
		}
		s.Plain.Set(id)
		plainEntries = append(plainEntries, TrieEntry{b, id})
		for _, c := range b {
			if c >= utf8.RuneSelf {
				s.WithHigh.Set(id)
			} else {
				s.With[c].Set(id)
			}
		}
	}
	s.StayChars = make([]Bitset, longest+1)
	for k := range s.StayChars {
		if k == longest {
			s.StayChars[k] = s.Stay
			break
		}
		s.StayChars[k] = NewBitset(n)
	}
	for id := range chars {
		if s.Stay.Has(int32(id)) {
			for k := chars[id]; k < longest; k++ {
				s.StayChars[k].Set(int32(id))
			}
		}
	}
	s.PlainTrie, s.Irregular = NewTrie(plainEntries), NewTrie(irregular)
	s.Below = s.PlainTrie.Subtrees()
	s.AfterQuote, s.BeforeQuote = NewTrie(after), NewTrie(before)
	return s
}
