package typescript

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is an error in the source with its position.
type Error struct {
	Line, Column int // from 1; columns count characters
	Reason       string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("typescript: %d:%d: %s", e.Line, e.Column, e.Reason)
}

// place is a position in the source.
type place struct{ line, column int }

func (p place) errorf(format string, args ...any) error {
	return &Error{p.line, p.column, fmt.Sprintf(format, args...)}
}

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokString
	tokNumber
	tokTemplate // `…` without holes, or a part of a template; see templatePart
	tokPunct
)

// token is a token of the source.
type token struct {
	place
	kind tokenKind
	text string // name, punctuation, decoded string, or number as JSON writes it
	doc  *comment
	// newline means that the token is the first one on its line.
	newline bool
	// tail means that a hole of the template follows this part.
	tail bool
}

func (t token) is(punct string) bool { return t.kind == tokPunct && t.text == punct }
func (t token) word(name string) bool {
	return t.kind == tokName && t.text == name
}

// String returns the token for error messages.
func (t token) String() string {
	switch t.kind {
	case tokEnd:
		return "the end of the file"
	case tokString:
		return strconv.Quote(t.text)
	default:
		return t.text
	}
}

// comment is the text of a /** … */ comment.
type comment struct {
	place
	text string
}

// lexer splits the source into tokens on demand, because only the parser knows
// whether "}" ends a hole of a template.
type lexer struct {
	src    string
	pos    int
	line   int
	column int
}

func (l *lexer) rest() string { return l.src[l.pos:] }

// advance advances by n bytes.
func (l *lexer) advance(n int) {
	for _, r := range l.src[l.pos : l.pos+n] {
		if r == '\n' {
			l.line++
			l.column = 1
		} else {
			l.column++
		}
	}
	l.pos += n
}

func (l *lexer) here() place { return place{l.line, l.column} }

// blank skips whitespace and comments and returns the last doc comment.
func (l *lexer) blank() (doc *comment, newline bool, err error) {
	line := l.line
	for l.pos < len(l.src) {
		rest := l.rest()
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r) || r == '\uFEFF':
			l.advance(size)
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			l.advance(end)
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return nil, false, l.here().errorf("comment without an end")
			}
			if text := rest[2 : 2+end]; strings.HasPrefix(text, "*") {
				doc = &comment{l.here(), text[1:]}
			}
			l.advance(end + 4)
		default:
			return doc, l.line > line || l.pos == 0, nil
		}
	}
	return doc, true, nil
}

// next reads a token.
func (l *lexer) next() (token, error) {
	doc, newline, err := l.blank()
	if err != nil {
		return token{}, err
	}
	t := token{place: l.here(), doc: doc, newline: newline}
	if l.pos == len(l.src) {
		return t, nil
	}
	rest := l.rest()
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case r == '_' || r == '$' || unicode.IsLetter(r):
		end := strings.IndexFunc(rest, func(r rune) bool {
			return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r)
		})
		if end < 0 {
			end = len(rest)
		}
		t.kind, t.text = tokName, rest[:end]
		l.advance(end)
		return t, nil
	case r == '"' || r == '\'':
		t.kind = tokString
		t.text, err = l.quoted(byte(r))
		return t, err
	case r == '`':
		l.advance(1)
		return l.templatePart(t)
	case '0' <= r && r <= '9' || r == '.' && len(rest) > 1 && '0' <= rest[1] && rest[1] <= '9':
		return l.number(t)
	}
	t.kind, t.text = tokPunct, rest[:size]
	for _, long := range []string{"...", "=>"} {
		if strings.HasPrefix(rest, long) {
			t.text = long
		}
	}
	l.advance(len(t.text))
	return t, nil
}

// quoted reads a string literal.
func (l *lexer) quoted(quote byte) (string, error) {
	start := l.here()
	l.advance(1)
	var out strings.Builder
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == quote:
			l.advance(1)
			return out.String(), nil
		case c == '\n':
			return "", start.errorf("string without an end")
		default:
			if err := l.character(&out); err != nil {
				return "", err
			}
		}
	}
	return "", start.errorf("string without an end")
}

// character reads one character of a string or template, escaped or not.
func (l *lexer) character(out *strings.Builder) error {
	at := l.here()
	r, size := utf8.DecodeRuneInString(l.rest())
	if r == utf8.RuneError && size == 1 {
		return at.errorf("not UTF-8")
	}
	l.advance(size)
	if r != '\\' {
		out.WriteRune(r)
		return nil
	}
	r, size = utf8.DecodeRuneInString(l.rest())
	if size == 0 {
		return at.errorf("escape without an end")
	}
	l.advance(size)
	if i := strings.IndexRune("bfnrtv0", r); i >= 0 {
		out.WriteByte("\b\f\n\r\t\v\x00"[i])
		return nil
	}
	digits := 0
	switch r {
	case '\n':
		return nil
	case 'x':
		digits = 2
	case 'u':
		digits = 4
		if strings.HasPrefix(l.rest(), "{") {
			if digits = strings.IndexByte(l.rest(), '}') - 1; digits < 1 {
				return at.errorf("escape without an end")
			}
			l.advance(1)
			defer l.advance(1)
		}
	default:
		out.WriteRune(r)
		return nil
	}
	if len(l.rest()) < digits {
		return at.errorf("escape without an end")
	}
	n, err := strconv.ParseUint(l.rest()[:digits], 16, 32)
	if err != nil || n > unicode.MaxRune {
		return at.errorf("%q is not the number of a character", l.rest()[:digits])
	}
	l.advance(digits)
	if 0xD800 <= n && n < 0xE000 {
		return at.errorf("surrogate escape; write the character itself or \\u{…}")
	}
	out.WriteRune(rune(n))
	return nil
}

// templatePart reads up to the next hole or the end of the template.
func (l *lexer) templatePart(t token) (token, error) {
	t.kind = tokTemplate
	var out strings.Builder
	for l.pos < len(l.src) {
		rest := l.rest()
		if rest[0] == '`' {
			l.advance(1)
			t.text = out.String()
			return t, nil
		}
		if strings.HasPrefix(rest, "${") {
			l.advance(2)
			t.text, t.tail = out.String(), true
			return t, nil
		}
		if err := l.character(&out); err != nil {
			return t, err
		}
	}
	return t, t.errorf("template without an end")
}

// number reads a numeric literal and converts it to JSON.
func (l *lexer) number(t token) (token, error) {
	rest := l.rest()
	end := 0
	for end < len(rest) {
		c := rest[end]
		sign := (c == '+' || c == '-') && (rest[end-1] == 'e' || rest[end-1] == 'E') && !strings.HasPrefix(rest, "0x")
		if c != '.' && c != '_' && !sign && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			break
		}
		end++
	}
	text := strings.ReplaceAll(rest[:end], "_", "")
	l.advance(end)
	t.kind = tokNumber
	if n, err := strconv.ParseInt(text, 0, 64); err == nil && len(text) > 1 && text[0] == '0' {
		t.text = strconv.FormatInt(n, 10)
		return t, nil
	}
	text = strings.TrimSuffix(text, "n") // a bigint
	if strings.HasPrefix(text, ".") {
		text = "0" + text
	}
	whole, exponent, scientific := strings.Cut(strings.ToLower(text), "e")
	whole = strings.TrimSuffix(whole, ".")
	if scientific {
		whole += "e" + exponent
	}
	if _, err := strconv.ParseFloat(whole, 64); err != nil || strings.HasPrefix(whole, "0") && len(whole) > 1 && whole[1] != '.' && whole[1] != 'e' {
		return t, t.errorf("%q is not a number", rest[:end])
	}
	t.text = whole
	return t, nil
}
