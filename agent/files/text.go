package files

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A result is what a tool answers: lines up to a number of bytes, then remarks.
type result struct {
	text    strings.Builder
	left    int // bytes
	remarks []string
}

// line adds a line if there is room for it.
func (r *result) line(s string) bool {
	if len(s)+1 > r.left {
		return false
	}
	r.left -= len(s) + 1
	r.text.WriteString(s)
	r.text.WriteByte('\n')
	return true
}

// remark adds a remark on what is missing.
func (r *result) remark(format string, a ...any) {
	r.remarks = append(r.remarks, "["+fmt.Sprintf(format, a...)+"]")
}

// String returns the whole.
func (r *result) String() string {
	return strings.TrimSuffix(r.text.String()+strings.Join(r.remarks, "\n"), "\n")
}

// head returns the longest beginning of at most n bytes that ends with a
// character. What is not UTF-8 counts as characters of one byte.
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

// show returns a name as results have it: as it is, or quoted if it could be
// taken for something else.
func show(name string) string {
	plain := func(r rune) bool { return unicode.IsPrint(r) && r != utf8.RuneError }
	if name == "" || name[0] == '"' || strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) >= 0 {
		return strconv.Quote(name)
	}
	return name
}

// quote returns what a model has written for use in a message.
func quote(s string) string {
	const most = 200
	if len(s) > most {
		return strconv.Quote(head(s, most)) + "…"
	}
	return strconv.Quote(s)
}

// sample is how much of a file tells whether it is text.
const sample = 8 << 10

// binary tells whether a file that begins with start is not text: it has a zero
// byte, or more than a quarter of it is not UTF-8.
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

// legible makes text of a piece of a file: what is not UTF-8 becomes a question
// mark, which is no longer than what it stands for.
func legible(b []byte) string { return strings.ToValidUTF8(string(b), "?") }
