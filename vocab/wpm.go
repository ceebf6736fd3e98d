package vocab

import (
	"strings"
	"unicode"
)

// wpm tokenizes words, depending on the file in lower case and without accents, by repeatedly
// taking the longest matching token. A word that can't be tokenized like this is one unknown
// token.
type wpm struct {
	v    *Vocab
	trie byteTrie // all tokens
}

func newWPM(v *Vocab) *wpm {
	w := &wpm{v: v}
	for id := range int32(v.Len()) {
		w.trie.insert(v.Text(id), id)
	}
	return w
}

func (w *wpm) tokenize(dst []int32, text string, _ tokenizeMode) []int32 {
	for _, word := range w.words(text) {
		dst = w.word(dst, spaceMark+word)
	}
	return dst
}

func (w *wpm) word(dst []int32, word string) []int32 {
	before := len(dst)
	for pos := 0; pos < len(word); {
		id, n := w.trie.longest(word[pos:])
		if n == 0 {
			dst = dst[:before]
			break
		}
		dst = append(dst, id)
		pos += n
	}
	if len(dst) == before && w.v.special.unk >= 0 {
		dst = append(dst, w.v.special.unk)
	}
	return dst
}

// words splits a text at whitespace and treats punctuation and Chinese characters as words of
// their own. Control characters and U+FFFD are dropped.
func (w *wpm) words(text string) []string {
	var words []string
	var word strings.Builder
	finish := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	classes := runeClasses()
	for i := 0; i < len(text); {
		r, n := decodeLoose(text[i:])
		i += n
		if w.v.stripMarks {
			r = baseRune(r)
		}
		class := classes[r]
		kind := class & clsCategory
		if class.space() {
			finish()
			continue
		}
		if r == 0 || r == unicode.ReplacementChar || kind == clsControl || w.v.stripMarks && kind == clsMark {
			continue
		}
		alone := kind == clsPunctuation || r < 0x7f && kind == clsSymbol || wpmChinese(r)
		if alone {
			finish()
		}
		if w.v.lowercase {
			r = toLower(r)
		}
		word.Write(appendRune(nil, r))
		if alone {
			finish()
		}
	}
	finish()
	return words
}

// wpmChinese reports whether WordPiece vocabularies treat r as a word of its own. The gap after
// U+2B81F is in the original, too.
func wpmChinese(r rune) bool {
	switch {
	case r >= 0x4e00 && r <= 0x9fff, r >= 0x3400 && r <= 0x4dbf, r >= 0x20000 && r <= 0x2a6df:
	case r >= 0x2a700 && r <= 0x2b73f, r >= 0x2b740 && r <= 0x2b81f, r >= 0x2b920 && r <= 0x2ceaf:
	case r >= 0xf900 && r <= 0xfaff, r >= 0x2f800 && r <= 0x2fa1f:
	default:
		return false
	}
	return true
}
