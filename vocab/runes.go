package vocab

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// runeText is a text decoded to code points, with the position and class of each.
type runeText struct {
	src    string   // the text, repaired
	runes  []rune   //
	starts []int32  // start of each in src, and the end
	class  []rclass // class of each
	codes  []uint8  // code of each, for patterns
}

// rclass is a code point's general category, with a flag for whitespace.
type rclass uint8

const (
	clsUnassigned rclass = iota
	clsNumber
	clsLetter
	clsSeparator
	clsMark
	clsPunctuation
	clsSymbol
	clsControl
	clsCategory rclass = 7  // mask
	clsSpace    rclass = 8  // flag
	clsNone     rclass = 16 // outside of the text
)

func (c rclass) letter() bool { return c&clsCategory == clsLetter }
func (c rclass) number() bool { return c&clsCategory == clsNumber }
func (c rclass) mark() bool   { return c&clsCategory == clsMark }
func (c rclass) space() bool  { return c&clsSpace != 0 }

// other reports whether c is neither a letter nor a number nor whitespace.
func (c rclass) other() bool { return c&(clsSpace|clsNone) == 0 && !c.letter() && !c.number() }

// runeClasses has the class of every code point in Unicode 15.1, the version of llama.cpp's
// tables. Go's tables are of 15.0; the characters added since are listed.
var runeClasses = sync.OnceValue(func() *[unicode.MaxRune + 1]rclass {
	t := new([unicode.MaxRune + 1]rclass)
	set := func(c rclass, table *unicode.RangeTable) {
		for _, r := range table.R16 {
			for x := rune(r.Lo); x <= rune(r.Hi); x += rune(r.Stride) {
				t[x] |= c
			}
		}
		for _, r := range table.R32 {
			for x := rune(r.Lo); x <= rune(r.Hi); x += rune(r.Stride) {
				t[x] |= c
			}
		}
	}
	set(clsNumber, unicode.N)
	set(clsLetter, unicode.L)
	set(clsSeparator, unicode.Z)
	set(clsMark, unicode.M)
	set(clsPunctuation, unicode.P)
	set(clsSymbol, unicode.S)
	for _, control := range []*unicode.RangeTable{unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs} {
		set(clsControl, control)
	}
	set(clsSpace, unicode.White_Space)
	added := func(c rclass, lo, hi rune) {
		for x := lo; x <= hi; x++ {
			t[x] = c
		}
	}
	added(clsSymbol, 0x2ffc, 0x2fff)
	added(clsSymbol, 0x31ef, 0x31ef)
	added(clsLetter, 0x2ebf0, 0x2ee5d)
	return t
})

// decodeLoose decodes the first character of s as llama.cpp does: surrogates and overlong forms
// count as characters; each invalid byte becomes U+FFFD.
func decodeLoose(s string) (r rune, size int) {
	r, size = utf8.DecodeRuneInString(s)
	if r != utf8.RuneError || size != 1 {
		return r, size
	}
	n := utf8Width(s[0])
	if n == 1 || s[0] >= 0xf8 || len(s) < n {
		return utf8.RuneError, 1
	}
	r = rune(s[0] & (0x7f >> n))
	for i := 1; i < n; i++ {
		if s[i]&0xc0 != 0x80 {
			return utf8.RuneError, 1
		}
		r = r<<6 | rune(s[i]&0x3f)
	}
	if r > unicode.MaxRune {
		return utf8.RuneError, 1 // llama.cpp fails here
	}
	return r, n
}

// set decodes s. With exact, every byte is kept and each invalid one counts as U+FFFD;
// otherwise it is replaced by U+FFFD.
func (t *runeText) set(s string, exact bool) {
	classes := runeClasses()
	t.src = s
	t.runes, t.starts, t.class, t.codes = t.runes[:0], t.starts[:0], t.class[:0], t.codes[:0]
	if !exact && !utf8.ValidString(s) {
		var repaired []byte
		for i := 0; i < len(s); {
			r, n := decodeLoose(s[i:])
			i += n
			t.add(int32(len(repaired)), r, classes[r])
			repaired = appendRune(repaired, r)
		}
		t.starts = append(t.starts, int32(len(repaired)))
		t.src = string(repaired)
		return
	}
	for i, r := range s {
		t.add(int32(i), r, classes[r])
	}
	t.starts = append(t.starts, int32(len(s)))
}

func (t *runeText) add(start int32, r rune, c rclass) {
	t.starts = append(t.starts, start)
	t.runes = append(t.runes, r)
	t.class = append(t.class, c)
	t.codes = append(t.codes, runeCode(r, c))
}

func (t *runeText) len() int { return len(t.runes) }

// bytes returns the text from code point from to code point to.
func (t *runeText) bytes(from, to int) string { return t.src[t.starts[from]:t.starts[to]] }

// toLower returns the lower case of a code point.
func toLower(r rune) rune { return unicode.ToLower(r) }
