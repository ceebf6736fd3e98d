package vocab

import (
	"fmt"
	"math/bits"
	"strings"
	"sync"
	"unicode/utf8"
)

// Byte-level BPE represents each byte as one printable character: itself if it is printable in
// Latin-1, otherwise the next character from U+0100.
var (
	byteToRune [256]rune
	runeToByte [0x100 + 68]int16 // -1: no byte
	byteText   [256]string
)

func init() {
	for i := range runeToByte {
		runeToByte[i] = -1
	}
	next := rune(0x100)
	for b := range 256 {
		r := rune(b)
		if !(b >= 0x21 && b <= 0x7e || b >= 0xa1 && b <= 0xac || b >= 0xae) {
			r = next
			next++
		}
		byteToRune[b] = r
		runeToByte[r] = int16(b)
		byteText[b] = string(r)
	}
}

// appendByteLevel appends the bytes that a byte-level text represents. A character that
// represents no byte is written out as in llama.cpp, followed by the whole text; limit bounds
// the length of dst in that case.
func appendByteLevel(dst []byte, text string, limit int) ([]byte, error) {
	const hex = "0123456789abcdef"
	for i := 0; i < len(text); {
		r, n := decodeLoose(text[i:])
		i += n
		if int(r) < len(runeToByte) && runeToByte[r] >= 0 {
			dst = append(dst, byte(runeToByte[r]))
			continue
		}
		if len(dst)+len(text) > limit {
			return dst, fmt.Errorf("byte-level texts hold characters that stand for no byte, and spell out to more than %d bytes", limit)
		}
		dst = append(dst, "[UNK_BYTE_0x"...)
		for _, c := range appendRune(nil, r) {
			dst = append(dst, hex[c>>4], hex[c&15])
		}
		dst = append(dst, text...)
		dst = append(dst, ']')
	}
	return dst, nil
}

// bpe tokenizes by repeatedly merging the adjacent pair with the best rank.
//
// A word starts as the byte-level characters of its bytes, or as characters if token texts are
// plain. Symbols are numbered: a token's ID if the symbol's text is a token, numbers from
// vocab.Len() for the few texts that occur only in merges, and -1 for other characters.
type bpe struct {
	v     *Vocab
	start [256]int32 // symbol of each byte
	pairs pairTable
	extra map[string]int32 // symbols that are not tokens
	parts [][]int32        // the tokens that each of them is output as
	bytes [256]int32       // plain texts: the token of each byte, -1: none
	pool  sync.Pool        // of *bpeState
}

type pair struct{ left, right int32 }

type merged struct {
	rank   int32 // -1: no such pair
	symbol int32
}

// pairTable maps pairs of symbols to merges, by open addressing, a quarter to half full. It is
// read several times for each byte of text; a Go map would cost twice as much.
type pairTable struct {
	entries []pairEntry
	shift   uint8
}

type pairEntry struct {
	pair
	merged
	used bool
}

func newPairTable(n int) pairTable {
	size := bits.Len(uint(n * 2))
	return pairTable{entries: make([]pairEntry, 1<<size), shift: uint8(64 - size)}
}

func (t *pairTable) slot(p pair) uint64 {
	const golden = 0x9e3779b97f4a7c15 // 2^64 / golden ratio, to spread adjacent IDs
	key := uint64(uint32(p.left))<<32 | uint64(uint32(p.right))
	key ^= key >> 29
	return key * golden >> t.shift
}

func (t *pairTable) find(p pair) merged {
	mask := uint64(len(t.entries) - 1)
	for h := t.slot(p); t.entries[h].used; h = (h + 1) & mask {
		if t.entries[h].pair == p {
			return t.entries[h].merged
		}
	}
	return merged{rank: -1}
}

// add adds a merge unless the pair already has one.
func (t *pairTable) add(p pair, m merged) {
	mask := uint64(len(t.entries) - 1)
	h := t.slot(p)
	for ; t.entries[h].used; h = (h + 1) & mask {
		if t.entries[h].pair == p {
			return
		}
	}
	t.entries[h] = pairEntry{p, m, true}
}

func newBPE(v *Vocab) *bpe {
	b := &bpe{v: v, pairs: newPairTable(v.merges.Len()), extra: map[string]int32{}}
	b.pool.New = func() any { return new(bpeState) }
	symbol := func(text []byte) int32 {
		if id := v.index.findBytes(v.texts, text); id >= 0 {
			return id
		}
		s, ok := b.extra[string(text)]
		if !ok {
			s = int32(v.Len() + len(b.parts))
			b.extra[string(text)] = s
			var tokens []int32
			for i := range text {
				if id := v.index.findBytes(v.texts, text[i:i+1]); id >= 0 {
					tokens = append(tokens, id)
				}
			}
			b.parts = append(b.parts, tokens)
		}
		return s
	}
	var buf []byte
	for c := range b.start {
		b.bytes[c] = v.index.find(v.texts, fmt.Sprintf("<0x%02X>", c))
		if !v.spec.plainText {
			buf = append(buf[:0], byteText[c]...)
			b.start[c] = symbol(buf)
		}
	}
	for rank := range v.merges.Len() {
		line := v.merges.At(rank)
		if line == "" {
			continue
		}
		cut := strings.IndexByte(line[1:], ' ') + 1
		if cut == 0 {
			continue // not a pair
		}
		buf = append(buf[:0], line[:cut]...)
		left := symbol(buf)
		buf = append(buf, line[cut+1:]...)
		right := symbol(buf[cut:])
		b.pairs.add(pair{left, right}, merged{int32(rank), symbol(buf)})
	}
	return b
}

// bpeState is the scratch memory of one call.
type bpeState struct {
	text runeText
	ends []int32
	swap []int32
	word []byte
	merger
}

func (b *bpe) tokenize(dst []int32, text string, mode tokenizeMode) []int32 {
	s := b.pool.Get().(*bpeState)
	defer b.pool.Put(s)
	if b.v.spec.markSpaces {
		text = strings.ReplaceAll(text, " ", spaceMark)
	}
	s.text.set(text, mode.exact)
	s.ends = append(s.ends[:0], int32(s.text.len()))
	for _, split := range b.v.spec.stages {
		s.swap = s.swap[:0]
		from := 0
		for _, end := range s.ends {
			s.swap = split(&s.text, from, int(end), s.swap)
			from = int(end)
		}
		s.ends, s.swap = s.swap, s.ends
	}
	from := 0
	for i, end := range s.ends {
		if mode.stops(i) {
			break
		}
		if int(end) > from {
			dst = b.word(dst, s, s.text.bytes(from, int(end)), mode)
		}
		from = int(end)
	}
	return dst
}

// word appends the tokens of one pre-tokenized word.
func (b *bpe) word(dst []int32, s *bpeState, word string, mode tokenizeMode) []int32 {
	if b.v.ignoreMerges || b.v.spec.wholeLines && strings.Trim(word, "\n") == "" {
		if id := b.whole(s, word); id >= 0 {
			return append(dst, id)
		}
	}
	s.begin(mode)
	b.spell(s, word, mode)
	s.merge(func(left, right *mergeSymbol) (uint32, int32, bool) {
		m := b.pairs.find(pair{left.id, right.id})
		return uint32(m.rank), m.symbol, m.rank >= 0
	})
	for at := int32(0); at >= 0; at = s.symbols[at].next {
		sym := &s.symbols[at]
		switch {
		case sym.id >= 0 && int(sym.id) < b.v.Len():
			dst = append(dst, sym.id)
		case b.v.spec.plainText:
			for i := sym.start; i < sym.start+sym.width; i++ {
				if id := b.bytes[word[i]]; id >= 0 {
					dst = append(dst, id)
				}
			}
		default:
			dst = append(dst, b.parts[int(sym.id)-b.v.Len()]...)
		}
	}
	return dst
}

// whole returns the token with the text of a word, -1 if there is none.
func (b *bpe) whole(s *bpeState, word string) int32 {
	if b.v.spec.plainText {
		return b.v.index.find(b.v.texts, word)
	}
	s.word = s.word[:0]
	for i := range len(word) {
		s.word = append(s.word, byteText[word[i]]...)
	}
	return b.v.index.findBytes(b.v.texts, s.word)
}

// spell appends the initial symbols of a word.
func (b *bpe) spell(s *bpeState, word string, mode tokenizeMode) {
	if !b.v.spec.plainText {
		for i := range len(word) {
			s.append(b.start[word[i]], 1)
		}
		return
	}
	for at := 0; at < len(word); {
		width := min(utf8Width(word[at]), len(word)-at)
		if mode.exact { // an invalid UTF-8 byte is a symbol of its own
			_, width = utf8.DecodeRuneInString(word[at:])
		}
		char := word[at : at+width]
		id := b.v.index.find(b.v.texts, char)
		if id < 0 {
			if extra, ok := b.extra[char]; ok {
				id = extra
			}
		}
		s.append(id, int32(width))
		at += width
	}
}

// appendRune appends r as UTF-8; unlike utf8.AppendRune it also encodes surrogates.
func appendRune(dst []byte, r rune) []byte {
	if r >= 0xd800 && r < 0xe000 {
		return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf)
	}
	return utf8.AppendRune(dst, r)
}
