// Package console has what commands need of terminals and files: texts that can't steer
// a terminal, locks of files, and the room on a disk.
package console

import (
	"io"
	"strconv"
	"strings"
	"unicode"
)

// Flat makes a line of any text, without what would move a cursor.
func Flat(text string) string {
	return strings.Join(strings.Fields(Printable(text)), " ")
}

// Writer writes texts without what could steer a terminal. A text isn't cut within
// a character from one call to the next.
type Writer struct{ io.Writer }

func (w Writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, Printable(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Printable replaces what could steer a terminal; lines and tabs stay.
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

// Thousands prints a number with commas.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
