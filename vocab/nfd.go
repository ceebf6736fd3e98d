package vocab

import (
	"sync"
	"unicode/utf8"
)

//go:generate go run ../internal/unicodegen nfd nfd_tables.go

// baseRune returns the first character of r's canonical decomposition: a letter without
// accents, or the first jamo of a Hangul syllable.
func baseRune(r rune) rune {
	const (
		hangulFirst, hangulLast = 0xac00, 0xd7a3
		jamoFirst, perJamo      = 0x1100, 588
	)
	switch {
	case r < 0xc0:
		return r
	case r >= hangulFirst && r <= hangulLast:
		return jamoFirst + (r-hangulFirst)/perJamo
	}
	if base, ok := baseRunes()[r]; ok {
		return base
	}
	return r
}

var baseRunes = sync.OnceValue(func() map[rune]rune {
	m := make(map[rune]rune, len(basePairs)/5)
	for s := basePairs; s != ""; {
		from, n := utf8.DecodeRuneInString(s)
		to, k := utf8.DecodeRuneInString(s[n:])
		m[from] = to
		s = s[n+k:]
	}
	return m
})
