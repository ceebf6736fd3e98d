// Package console provides what commands need for terminals and files: safe output,
// file locks, progress bars, and free disk space.
package console

import (
	"io"
	"strconv"
	"strings"
	"unicode"
)

// Flat turns a text into one line that is safe to print on a terminal.
func Flat(text string) string {
	return strings.Join(strings.Fields(Printable(text)), " ")
}

// Writer writes texts without characters that could control a terminal. A call must not
// end within a character.
type Writer struct{ io.Writer }

func (w Writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, Printable(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Printable replaces characters that could control a terminal. Line feeds and tabs are
// kept.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029':
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// Thousands formats a number with thousands separators.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
