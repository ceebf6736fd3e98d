package engine

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// textTail holds back the end of a text that can't be sent yet: an incomplete
// character, or what may become a stop string.
type textTail struct {
	stops []string
	held  []byte
}

// add appends the bytes of a token and returns the text that can be sent. If
// a stop string is complete, it returns the text before it and the stop
// string; the tail is then empty.
func (t *textTail) add(b []byte) (text, stop string) {
	t.held = append(t.held, b...)
	first := len(t.held)
	for _, s := range t.stops {
		if i := bytes.Index(t.held, []byte(s)); i >= 0 && i < first {
			first, stop = i, s
		}
	}
	if stop != "" {
		text = valid(t.held[:first])
		t.held = t.held[:0]
		return text, stop
	}
	n := len(t.held) - max(incomplete(t.held), t.stopPrefix())
	text = valid(t.held[:n])
	t.held = append(t.held[:0], t.held[n:]...)
	return text, ""
}

// flush returns the text held back, at the end of the text, without the bytes of a character that it cuts off.
func (t *textTail) flush() string {
	text := valid(t.held[:len(t.held)-incomplete(t.held)])
	t.held = t.held[:0]
	return text
}

// stopPrefix returns how many bytes at the end may be the start of a stop
// string.
func (t *textTail) stopPrefix() int {
	most := 0
	for _, s := range t.stops {
		for n := min(len(s)-1, len(t.held)); n > most; n-- {
			if string(t.held[len(t.held)-n:]) == s[:n] {
				most = n
			}
		}
	}
	return most
}

// incomplete returns how many bytes at the end are an incomplete character.
func incomplete(b []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(b)); n++ {
		c := b[len(b)-n]
		if utf8.RuneStart(c) {
			if utf8.FullRune(b[len(b)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// valid returns b as text. Invalid UTF-8, which only free text can contain,
// becomes U+FFFD.
func valid(b []byte) string {
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
