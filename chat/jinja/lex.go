package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stencil-json/stencil/chat/jinja/python"
)

type tokenKind uint8

const (
	tokEnd    tokenKind = iota // of the template
	tokText                    // between tags
	tokOpen                    // "{{" or "{%"
	tokClose                   // "}}" or "%}"
	tokName                    //
	tokString                  // text holds the value
	tokInt                     //
	tokFloat                   //
	tokOp                      // operator or bracket
)

type token struct {
	kind tokenKind
	text string
	place
}

// operators, longest first.
var operators = []string{"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".", ":", "|", ",", ";"}

type lexer struct {
	src    string
	pos    int
	at     place // of pos
	tokens []token
}

// lex splits a template into tokens. It applies the rules for whitespace
// around tags: the line end after a statement or comment is removed
// (trim_blocks), and so are the blanks before one that is first in its line
// (lstrip_blocks); "-" removes all whitespace on its side.
func lex(src string) ([]token, error) {
	src = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(src)
	src = strings.TrimSuffix(src, "\n")
	l := &lexer{src: src, at: place{1, 1}}
	lineStart := true // whether only blanks precede pos in its line
	for {
		text, tag := l.src[l.pos:], ""
		if i := nextTag(text); i >= 0 {
			text, tag = text[:i], text[i:i+2]
		}
		if tag == "" {
			l.emitText(text, len(text))
			l.tokens = append(l.tokens, token{kind: tokEnd, place: l.at})
			return l.tokens, nil
		}
		sign := byte(0)
		if after := l.src[l.pos+len(text)+2:]; after != "" && (after[0] == '-' || after[0] == '+') {
			sign = after[0]
		}
		kept := text
		switch {
		case sign == '-':
			kept = strings.TrimRightFunc(text, unicode.IsSpace)
		case sign == 0 && tag != "{{":
			if i := strings.LastIndexByte(text, '\n') + 1; (i > 0 || lineStart) && strings.TrimSpace(text[i:]) == "" {
				kept = text[:i]
			}
		}
		l.emitText(kept, len(text))
		open := l.at
		l.advance(2)
		if sign != 0 {
			l.advance(1)
		}
		var err error
		switch tag {
		case "{#":
			err = l.comment(open)
		case "{%":
			if raw, ok := l.rawBegin(); ok {
				err = l.raw(open, raw)
				break
			}
			err = l.tag(open, "{%", "%}")
		default:
			err = l.tag(open, "{{", "}}")
		}
		if err != nil {
			return nil, err
		}
		lineStart = l.pos > 0 && l.src[l.pos-1] == '\n'
	}
}

// nextTag returns the position of the first tag in s, -1 if there is none.
func nextTag(s string) int {
	for i := 0; ; {
		k := strings.IndexByte(s[i:], '{')
		if k < 0 || i+k+1 >= len(s) {
			return -1
		}
		i += k
		if c := s[i+1]; c == '{' || c == '%' || c == '#' {
			return i
		}
		i++
	}
}

// advance moves n bytes forward, counting lines and columns.
func (l *lexer) advance(n int) {
	for _, r := range l.src[l.pos : l.pos+n] {
		if r == '\n' {
			l.at = place{l.at.line + 1, 1}
		} else {
			l.at.col++
		}
	}
	l.pos += n
}

// emitText emits text and moves n bytes forward.
func (l *lexer) emitText(text string, n int) {
	if text != "" {
		l.tokens = append(l.tokens, token{tokText, text, l.at})
	}
	l.advance(n)
}

// skipSpace moves past whitespace.
func (l *lexer) skipSpace() {
	rest := l.src[l.pos:]
	l.advance(len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsSpace)))
}

// closing consumes the end of a tag at pos, with its sign and the whitespace
// that is removed with it.
func (l *lexer) closing(end string) bool {
	rest := l.src[l.pos:]
	switch {
	case strings.HasPrefix(rest, "-"+end):
		l.advance(1 + len(end))
		l.skipSpace()
	case end != "}}" && strings.HasPrefix(rest, "+"+end):
		l.advance(1 + len(end))
	case strings.HasPrefix(rest, end):
		l.advance(len(end))
		if end != "}}" && strings.HasPrefix(l.src[l.pos:], "\n") {
			l.advance(1)
		}
	default:
		return false
	}
	return true
}

func (l *lexer) comment(open place) error {
	for {
		i := strings.Index(l.src[l.pos:], "#}")
		if i < 0 {
			return open.fail(Syntax, "comment is not closed")
		}
		if i > 0 && (l.src[l.pos+i-1] == '-' || l.src[l.pos+i-1] == '+') {
			i--
		}
		l.advance(i)
		if l.closing("#}") {
			return nil
		}
		l.advance(1)
	}
}

// rawBegin matches the rest of "{% raw %}" and returns its length.
func (l *lexer) rawBegin() (length int, ok bool) {
	rest := l.src[l.pos:]
	s, ok := strings.CutPrefix(strings.TrimLeftFunc(rest, unicode.IsSpace), "raw")
	if !ok {
		return 0, false
	}
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	if after, ok := strings.CutPrefix(s, "-%}"); ok {
		return len(rest) - len(strings.TrimLeftFunc(after, unicode.IsSpace)), true
	}
	after, ok := strings.CutPrefix(s, "%}")
	return len(rest) - len(after), ok
}

// raw emits everything up to "{% endraw %}" as text.
func (l *lexer) raw(open place, begin int) error {
	l.advance(begin)
	for i := l.pos; ; {
		k := strings.Index(l.src[i:], "{%")
		if k < 0 {
			return open.fail(Syntax, "raw is not closed")
		}
		i += k + 2
		rest := l.src[i:]
		strip := strings.HasPrefix(rest, "-")
		if strip || strings.HasPrefix(rest, "+") {
			rest = rest[1:]
		}
		rest, ok := strings.CutPrefix(strings.TrimLeftFunc(rest, unicode.IsSpace), "endraw")
		if !ok {
			continue
		}
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		text := l.src[l.pos : i-2]
		if strip {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		} else if n := strings.LastIndexByte(text, '\n') + 1; n > 0 && l.src[i] != '+' && strings.TrimSpace(text[n:]) == "" {
			text = text[:n]
		}
		l.emitText(text, len(l.src)-len(rest)-l.pos)
		if !l.closing("%}") {
			return l.at.fail(Syntax, "expected %%} after endraw")
		}
		return nil
	}
}

// tag lexes the tokens of a tag up to its end.
func (l *lexer) tag(open place, begin, end string) error {
	l.tokens = append(l.tokens, token{tokOpen, begin, open})
	var brackets []byte // closing brackets that are expected
	for {
		l.skipSpace()
		if l.pos == len(l.src) {
			return open.fail(Syntax, "%s is not closed by %s", begin, end)
		}
		at := l.at
		if len(brackets) == 0 && l.closing(end) {
			l.tokens = append(l.tokens, token{tokClose, end, at})
			return nil
		}
		t, n, err := l.next(l.src[l.pos:])
		if err != nil {
			return err
		}
		t.place = at
		l.advance(n)
		l.tokens = append(l.tokens, t)
		if t.kind != tokOp {
			continue
		}
		switch t.text {
		case "(":
			brackets = append(brackets, ')')
		case "[":
			brackets = append(brackets, ']')
		case "{":
			brackets = append(brackets, '}')
		case ")", "]", "}":
			if len(brackets) == 0 || brackets[len(brackets)-1] != t.text[0] {
				return at.fail(Syntax, "unexpected %q", t.text)
			}
			brackets = brackets[:len(brackets)-1]
		}
	}
}

// next lexes one token at the start of s, which is not empty.
func (l *lexer) next(s string) (token, int, error) {
	r, _ := utf8.DecodeRuneInString(s)
	switch {
	case r == '_' || unicode.IsLetter(r):
		n := strings.IndexFunc(s, func(r rune) bool {
			return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
		})
		if n < 0 {
			n = len(s)
		}
		return token{kind: tokName, text: s[:n]}, n, nil
	case r >= '0' && r <= '9':
		return l.number(s)
	case r == '"' || r == '\'':
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case byte(r):
				text, err := python.Unescape(s[1:i])
				if err != nil {
					return token{}, 0, l.at.fail(Syntax, "%v", err)
				}
				return token{kind: tokString, text: text}, i + 1, nil
			}
		}
		return token{}, 0, l.at.fail(Syntax, "string is not closed")
	}
	for _, op := range operators {
		if strings.HasPrefix(s, op) {
			return token{kind: tokOp, text: op}, len(op), nil
		}
	}
	return token{}, 0, l.at.fail(Syntax, "unexpected character %q", r)
}

// number lexes an integer or a floating point number. A "." belongs to it only
// before a digit.
func (l *lexer) number(s string) (token, int, error) {
	if len(s) > 2 && s[0] == '0' && strings.IndexByte("xXoObB", s[1]) >= 0 {
		n := 2
		for n < len(s) && (s[n] == '_' || python.HexValue(s[n]) >= 0) {
			n++
		}
		return token{kind: tokInt, text: s[:n]}, n, nil
	}
	digits := func(i int) int {
		for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '_' && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9') {
			i++
		}
		return i
	}
	n, kind := digits(0), tokInt
	if n+1 < len(s) && s[n] == '.' && s[n+1] >= '0' && s[n+1] <= '9' {
		n, kind = digits(n+1), tokFloat
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		k := n + 1
		if k < len(s) && (s[k] == '+' || s[k] == '-') {
			k++
		}
		if end := digits(k); end > k {
			n, kind = end, tokFloat
		}
	}
	return token{kind: kind, text: strings.ReplaceAll(s[:n], "_", "")}, n, nil
}
