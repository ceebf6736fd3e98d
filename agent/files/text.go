package files

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A result is the result of a tool: lines up to a number of bytes, then remarks.
type result struct {
	text    strings.Builder
	left    int // remaining bytes
	remarks []string
}

// line adds a line if it fits, and reports whether it did.
func (r *result) line(s string) bool {
	if len(s)+1 > r.left {
		return false
	}
	r.left -= len(s) + 1
	r.text.WriteString(s)
	r.text.WriteByte('\n')
	return true
}

// remark adds a remark on what the result omits.
func (r *result) remark(format string, a ...any) {
	r.remarks = append(r.remarks, "["+fmt.Sprintf(format, a...)+"]")
}

// String returns the lines and the remarks.
func (r *result) String() string {
	return strings.TrimSuffix(r.text.String()+strings.Join(r.remarks, "\n"), "\n")
}

// head returns the longest prefix of at most n bytes that doesn't split a character.
// Bytes that are not UTF-8 count as characters of one byte.
func head[T string | []byte](s T, n int) T {
	if len(s) <= n {
		return s
	}
	for i := n; i > 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:n]
}

// show returns a name as results show it: verbatim, or quoted if it would be
// ambiguous or unprintable.
func show(name string) string {
	plain := func(r rune) bool { return unicode.IsPrint(r) && r != utf8.RuneError }
	if name == "" || name[0] == '"' || strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) >= 0 {
		return strconv.Quote(name)
	}
	return name
}

// quote quotes text written by the model for use in a message, and shortens it.
func quote(s string) string {
	const most = 200
	if len(s) > most {
		return strconv.Quote(head(s, most)) + "…"
	}
	return strconv.Quote(s)
}

// sample is the number of bytes of a file that are examined to decide whether it is
// text.
const sample = 8 << 10

// binary reports whether a file that starts with start is not text: it contains a
// zero byte, or more than a quarter of it is not UTF-8.
func binary(start []byte) bool {
	if bytes.IndexByte(start, 0) >= 0 {
		return true
	}
	bad := 0
	for rest := start; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 && (len(rest) >= utf8.UTFMax || utf8.FullRune(rest)) {
			bad++
		}
		rest = rest[n:]
	}
	return bad > len(start)/4
}

// legible converts a part of a file to text: each invalid sequence becomes a
// question mark, which is never longer than the sequence.
func legible(b []byte) string { return strings.ToValidUTF8(string(b), "?") }
