package spelling

import (
	"unicode/utf8"

	"github.com/stencil-json/stencil/decoder"
)

// FinishCharacter completes the spelling of a partially read character and
// returns the place after it.
func FinishCharacter(t Text, place, sub int32) (string, int32) {
	var lead []byte
	for sub != 0 {
		r := &Recorder{Text: t}
		Edges(r, place, sub, &r.edges)
		b, i, ok := r.edges.First()
		if !ok {
			return string(lead), place
		}
		lead = append(lead, b)
		place, sub = r.places[i].State, r.places[i].Sub
		t = t.At(place)
	}
	return string(lead), place
}

// Inside strings and keys, a frame also has a position within the spelling of
// one character. sub encodes it: a kind, a count and a value.
const (
	subUTF8         = 1 << 28 // count: bytes to come; value: the bits so far
	subTail         = 2 << 28 // count: bytes to come, of a character whose transition is already made
	AfterBackslash  = 3 << 28 // after a backslash
	subHex          = 4 << 28 // count: digits read; value: the digits
	subHighEsc      = 5 << 28 // after a high surrogate, before the backslash; value: the surrogate's bits
	subHighU        = 6 << 28 // after that backslash
	subLow          = 7 << 28 // count: digits read; value: the high half and the digits
	subKind         = 7 << 28
	subCount        = 1 << 24
	subValue        = subCount - 1
	FirstSurrogate  = 0xD800
	firstLow        = 0xDC00
	AfterSurrogates = 0xE000
	afterBMP        = 0x10000
	surrogateOf     = 10 // bits in half a surrogate pair
)

// Text is the common interface of strings and keys: places between the
// characters of a text, and the frames for them.
type Text interface {
	// Next returns the place after character r; ok is false if no text
	// continues with r.
	Next(r rune) (place int32, ok bool)
	// Alive reports whether some character from lo to hi may come.
	Alive(lo, hi rune) bool
	// FreeEscapes reports whether characters may be written as escapes where
	// that isn't necessary.
	FreeEscapes() bool
	// Uniform returns the place after any character beyond ASCII, if it is
	// the same for all of them.
	Uniform() (place int32, ok bool)
	// At returns the same text at another place.
	At(place int32) Text
	// Frame returns the frame for a place and a sub.
	Frame(place, sub int32) decoder.Frame
}

// run collects ranges of adjacent bytes that lead to the same frame.
type run struct {
	e      *decoder.Edges
	lo, hi int
	frame  decoder.Frame
	open   bool
}

func (r *run) add(b int, f decoder.Frame) {
	if r.open && r.frame == f && b == r.hi+1 {
		r.hi = b
		return
	}
	r.flush()
	r.lo, r.hi, r.frame, r.open = b, b, f, true
}

func (r *run) flush() {
	if r.open {
		r.e.Add(byte(r.lo), byte(r.hi), r.frame)
		r.open = false
	}
}

// someAlive reports whether any of the characters in [lo,hi] may come. The
// range may include the surrogates.
func someAlive(t Text, lo, hi rune) bool {
	if lo < FirstSurrogate && t.Alive(lo, min(hi, FirstSurrogate-1)) {
		return true
	}
	return hi >= AfterSurrogates && t.Alive(max(lo, AfterSurrogates), hi)
}

// HighBytes records the bytes beyond ASCII that may come between characters.
func HighBytes(t Text, e *decoder.Edges) {
	if _, ok := t.Uniform(); ok {
		e.Later(0xC2, 0xF4)
		return
	}
	if !t.Alive(utf8.RuneSelf, utf8.MaxRune) {
		return
	}
	for b := 0xC2; b <= 0xF4; b++ {
		n, bits := LeadByte(byte(b))
		if lo, hi := UTF8Range(n, bits, n); lo <= hi && someAlive(t, lo, hi) {
			e.Later(byte(b), byte(b))
		}
	}
}

// LeadByte returns the number of bytes that follow the first byte of a
// character, and the bits of the character in that byte.
func LeadByte(b byte) (n, bits int) {
	switch {
	case b >= 0xF0:
		return 3, int(b & 0x07)
	case b >= 0xE0:
		return 2, int(b & 0x0F)
	}
	return 1, int(b & 0x1F)
}

// HighEdge records the edge of a byte that HighBytes has recorded.
func HighEdge(t Text, place int32, b byte, e *decoder.Edges) {
	n, bits := LeadByte(b)
	if after, ok := t.Uniform(); ok {
		sub := int32(subTail | n*subCount)
		switch b {
		case 0xE0, 0xED, 0xF0, 0xF4:
			// The second byte is restricted after these.
			sub |= int32(b)
		}
		e.Add(b, b, t.Frame(after, sub))
		return
	}
	e.Add(b, b, t.Frame(place, int32(subUTF8|n*subCount|bits)))
}

// UTF8Range returns the range of characters that are possible after bits have
// been read with n bytes to come, in a sequence of total continuation bytes.
func UTF8Range(n, bits, total int) (lo, hi rune) {
	lo, hi = rune(bits<<(6*n)), rune((bits+1)<<(6*n)-1)
	least := [...]rune{0, utf8.RuneSelf, 0x800, afterBMP}[total]
	return max(lo, least), min(hi, utf8.MaxRune)
}

// Edges records the edges in the middle of a character's spelling.
func Edges(t Text, place, sub int32, e *decoder.Edges) {
	n, value := int(sub&subKind^sub)>>24, int(sub&subValue)
	r := run{e: e}
	defer r.flush()
	switch sub & subKind {
	case subTail:
		lo, hi := 0x80, 0xBF
		switch value {
		case 0xE0:
			lo = 0xA0
		case 0xED:
			hi = 0x9F
		case 0xF0:
			lo = 0x90
		case 0xF4:
			hi = 0x8F
		}
		next := int32(0)
		if n > 1 {
			next = int32(subTail | (n-1)*subCount)
		}
		e.Add(byte(lo), byte(hi), t.Frame(place, next))
	case subUTF8:
		for b := 0x80; b <= 0xBF; b++ {
			if p, next, ok := utf8Next(t, place, sub, byte(b)); ok {
				r.add(b, t.Frame(p, next))
			}
		}
	case AfterBackslash:
		const from, to = `"/\bfnrt`, "\"/\\\b\f\n\r\t"
		for i := range from {
			if from[i] == '/' && !t.FreeEscapes() {
				continue
			}
			if p, ok := t.Next(rune(to[i])); ok {
				e.Add(from[i], from[i], t.Frame(p, 0))
			}
		}
		if t.FreeEscapes() || controlAlive(t, 0, 0x1F) {
			e.Add('u', 'u', t.Frame(place, subHex))
		}
	case subHex, subLow:
		hexEdges(t, place, sub&subKind, n, value, e)
	case subHighEsc:
		e.Add('\\', '\\', t.Frame(place, int32(subHighU|value)))
	case subHighU:
		e.Add('u', 'u', t.Frame(place, int32(subLow|value<<12)))
	}
}

// utf8Next returns the place and sub after another byte of a character.
func utf8Next(t Text, place, sub int32, b byte) (p, next int32, ok bool) {
	n, value := int(sub&subKind^sub)>>24, int(sub&subValue)
	// The total is stored above the bits: a sequence of three bytes has at most
	// 16 of them, one of four bytes 21.
	total := value >> 22 & 3
	if total == 0 {
		total = n
	}
	more := value&(1<<22-1)<<6 | int(b&0x3F)
	lo, hi := UTF8Range(n-1, more, total)
	switch {
	case lo > hi || b < 0x80 || b > 0xBF:
		return 0, 0, false
	case n > 1:
		return place, int32(subUTF8 | (n-1)*subCount | total<<22 | more), someAlive(t, lo, hi)
	case lo >= FirstSurrogate && lo < AfterSurrogates:
		return 0, 0, false
	}
	p, ok = t.Next(lo)
	return p, 0, ok
}

// controlAlive reports whether a control character from lo to hi may come that
// has no escape other than its number.
func controlAlive(t Text, lo, hi rune) bool {
	for r := lo; r <= hi; r++ {
		switch r {
		case '\b', '\t', '\n', '\f', '\r':
			continue
		}
		if _, ok := t.Next(r); ok {
			return true
		}
	}
	return false
}

// hexEdges records the digits that may follow in \uXXXX.
func hexEdges(t Text, place, kind int32, n, value int, e *decoder.Edges) {
	r := run{e: e}
	digit := func(c, d int) {
		high, digits := 0, value
		if kind == subLow {
			high, digits = value>>12, value&0xFFF
		}
		digits = digits<<4 | d
		shift := 4 * (3 - n)
		lo, hi := rune(digits<<shift), rune((digits+1)<<shift-1)
		if kind == subLow {
			lo, hi = max(lo, firstLow), min(hi, AfterSurrogates-1)
			if lo > hi {
				return
			}
			char := func(low rune) rune { return afterBMP + rune(high)<<surrogateOf + low - firstLow }
			if n < 3 {
				if t.Alive(char(lo), char(hi)) {
					r.add(c, t.Frame(place, int32(subLow|(n+1)*subCount|high<<12|digits)))
				}
			} else if p, ok := t.Next(char(lo)); ok {
				r.add(c, t.Frame(p, 0))
			}
			return
		}
		if !t.FreeEscapes() {
			switch {
			case !controlAlive(t, lo, min(hi, 0x1F)) || 'A' <= c && c <= 'F':
			case n < 3:
				r.add(c, t.Frame(place, int32(subHex|(n+1)*subCount|digits)))
			default:
				p, _ := t.Next(lo)
				r.add(c, t.Frame(p, 0))
			}
			return
		}
		// As the first half of a pair, the digits represent 1,024 characters
		// each.
		first, last := max(lo, FirstSurrogate), min(hi, firstLow-1)
		pair := func() bool {
			return t.Alive(afterBMP+(first-FirstSurrogate)<<surrogateOf, afterBMP+(last-FirstSurrogate+1)<<surrogateOf-1)
		}
		switch {
		case n < 3:
			if someAlive(t, lo, hi) || first <= last && pair() {
				r.add(c, t.Frame(place, int32(subHex|(n+1)*subCount|digits)))
			}
		case first <= last:
			if pair() {
				r.add(c, t.Frame(place, int32(subHighEsc|(digits-FirstSurrogate))))
			}
		case lo >= firstLow && lo < AfterSurrogates:
		default:
			if p, ok := t.Next(lo); ok {
				r.add(c, t.Frame(p, 0))
			}
		}
	}
	for d := range 10 {
		digit('0'+d, d)
	}
	for d := range 6 {
		digit('A'+d, 10+d)
	}
	for d := range 6 {
		digit('a'+d, 10+d)
	}
	r.flush()
}
