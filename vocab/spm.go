package vocab

import (
	"math"
	"strings"
	"sync"
	"unicode/utf8"
)

// spm tokenizes as SentencePiece's BPE does: of all adjacent pairs that form a token, the one
// with the best score is merged first. Symbols that are not tokens become byte tokens.
type spm struct {
	v     *Vocab
	bytes [256]int32
	pool  sync.Pool // of *merger
}

func newSPM(v *Vocab) *spm {
	s := &spm{v: v, bytes: v.byteTokens()}
	s.pool.New = func() any { return new(merger) }
	return s
}

// byteTokens returns the token for each byte: "<0x0A>", or the byte itself, or the unknown token.
func (v *Vocab) byteTokens() (out [256]int32) {
	const hex = "0123456789ABCDEF"
	for b := range out {
		out[b] = v.special.unk
		if id, ok := v.Find("<0x" + string([]byte{hex[b>>4], hex[b&15]}) + ">"); ok {
			out[b] = id
		} else if id, ok := v.Find(string([]byte{byte(b)})); ok {
			out[b] = id
		}
	}
	return out
}

// utf8Width returns the length in bytes of a character that starts with b; a byte that starts
// none has length 1.
func utf8Width(b byte) int {
	switch {
	case b < 0xc0:
		return 1
	case b < 0xe0:
		return 2
	case b < 0xf0:
		return 3
	}
	return 4
}

func (s *spm) tokenize(dst []int32, text string, mode tokenizeMode) []int32 {
	if mode.prefix && s.v.addSpacePrefix {
		text = " " + text
	}
	text = strings.ReplaceAll(text, " ", spaceMark)
	m := s.pool.Get().(*merger)
	defer s.pool.Put(m)
	m.begin(mode)
	for at := 0; at < len(text); {
		width := min(utf8Width(text[at]), len(text)-at)
		if mode.exact { // an invalid byte must not include a space mark
			_, width = utf8.DecodeRuneInString(text[at:])
		}
		id, ok := s.v.Find(text[at : at+width])
		if !ok {
			id = -1
		}
		m.append(id, int32(width))
		at += width
	}
	m.merge(func(left, right *mergeSymbol) (uint32, int32, bool) {
		end := right.start + right.width
		if int(end-left.start) > s.v.maxText {
			return 0, 0, false
		}
		id, ok := s.v.Find(text[left.start:end])
		if !ok {
			return 0, 0, false
		}
		return descending(s.v.Score(id)), id, true
	})
	for at := int32(0); at >= 0; at = m.symbols[at].next {
		sym := m.symbols[at]
		if sym.id >= 0 {
			dst = append(dst, sym.id)
			continue
		}
		for _, b := range []byte(text[sym.start : sym.start+sym.width]) {
			if id := s.bytes[b]; id >= 0 {
				dst = append(dst, id)
			}
		}
	}
	return dst
}

// descending maps scores to numbers in reverse order.
func descending(score float32) uint32 {
	bits := math.Float32bits(score + 0) // adding 0 makes -0 and 0 equal
	if bits>>31 != 0 {
		return bits
	}
	return ^bits &^ (1 << 31)
}
