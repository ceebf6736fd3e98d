package jsondoc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stencil-json/stencil/schema/number"
)

// Kind is the type of a JSON value.
type Kind uint8

// The types of values. A number keeps its spelling, so integers have no type of
// their own.
const (
	Null Kind = iota
	False
	True
	Number
	String
	Array
	Object
)

// A Value is a JSON value as it was written: object members keep their order,
// numbers their spelling, and every value its position.
type Value struct {
	Kind    Kind
	Text    string // string content, or a number's spelling
	Items   []*Value
	Members []Member
	Pos     int // byte offset in the document
}

// A Member is a member of an object.
type Member struct {
	Key   string
	Value *Value
}

// Get returns the value of the member named key, or nil.
func (v *Value) Get(key string) *Value {
	for i := range v.Members {
		if v.Members[i].Key == key {
			return v.Members[i].Value
		}
	}
	return nil
}

// A SyntaxError reports why a document is not JSON.
type SyntaxError struct {
	Line, Column int // from 1; columns count bytes
	Offset       int
	Reason       string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("schema: %d:%d: %s", e.Line, e.Column, e.Reason)
}

// A DepthError reports that a document is nested deeper than allowed.
type DepthError struct{ Max int }

// Error implements error.
func (e *DepthError) Error() string { return fmt.Sprintf("schema: nested deeper than %d", e.Max) }

// parser reads one JSON document. Duplicate keys are an error: readers disagree on
// which of them counts.
type parser struct {
	src   string
	pos   int
	depth int
	max   int // maximum nesting
	arena []Value
}

// Parse reads one JSON document, nested at most maxDepth deep, and skips a byte
// order mark before it. Strings of the result share memory with src. The error is a
// [*SyntaxError] or a [*DepthError].
func Parse(src string, maxDepth int) (*Value, error) {
	p := &parser{src: src, max: maxDepth}
	if strings.HasPrefix(src, "\ufeff") {
		p.pos = len("\ufeff")
	}
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(p.src) {
		return nil, p.fail("unexpected %s after the document", p.what())
	}
	return v, nil
}

// LineColumn returns the line and column of a byte offset, both from 1; columns
// count bytes.
func LineColumn(src string, pos int) (line, column int) {
	pos = min(pos, len(src))
	line = 1 + strings.Count(src[:pos], "\n")
	return line, pos - strings.LastIndexByte(src[:pos], '\n')
}

func (p *parser) fail(format string, args ...any) error {
	line, column := LineColumn(p.src, p.pos)
	return &SyntaxError{Line: line, Column: column, Offset: p.pos, Reason: fmt.Sprintf(format, args...)}
}

func (p *parser) what() string {
	if p.pos >= len(p.src) {
		return "end of document"
	}
	r, _ := utf8.DecodeRuneInString(p.src[p.pos:])
	return strconv.QuoteRune(r)
}

func (p *parser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) new(k Kind) *Value {
	if len(p.arena) == 0 {
		p.arena = make([]Value, 32)
	}
	v := &p.arena[0]
	p.arena = p.arena[1:]
	v.Kind, v.Pos = k, p.pos
	return v
}

func (p *parser) value() (*Value, error) {
	p.space()
	if p.pos >= len(p.src) {
		return nil, p.fail("unexpected end of document")
	}
	switch c := p.src[p.pos]; {
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '"':
		v := p.new(String)
		var err error
		v.Text, err = p.string()
		return v, err
	case c == '-' || '0' <= c && c <= '9':
		return p.number()
	case c == 'n':
		return p.literal("null", Null)
	case c == 't':
		return p.literal("true", True)
	case c == 'f':
		return p.literal("false", False)
	}
	return nil, p.fail("unexpected %s, a value expected", p.what())
}

func (p *parser) literal(text string, k Kind) (*Value, error) {
	if !strings.HasPrefix(p.src[p.pos:], text) {
		return nil, p.fail("unexpected %s, a value expected", p.what())
	}
	v := p.new(k)
	p.pos += len(text)
	return v, nil
}

func (p *parser) digits() bool {
	start := p.pos
	for p.pos < len(p.src) && p.src[p.pos]-'0' <= 9 {
		p.pos++
	}
	return p.pos > start
}

func (p *parser) number() (*Value, error) {
	v := p.new(Number)
	start := p.pos
	if p.src[p.pos] == '-' {
		p.pos++
	}
	if p.pos < len(p.src) && p.src[p.pos] == '0' {
		p.pos++
	} else if !p.digits() {
		return nil, p.fail("unexpected %s in a number", p.what())
	}
	if p.pos < len(p.src) && p.src[p.pos] == '.' {
		p.pos++
		if !p.digits() {
			return nil, p.fail("unexpected %s in a number", p.what())
		}
	}
	if p.pos < len(p.src) && p.src[p.pos]|0x20 == 'e' {
		p.pos++
		if p.pos < len(p.src) && (p.src[p.pos] == '+' || p.src[p.pos] == '-') {
			p.pos++
		}
		if !p.digits() {
			return nil, p.fail("unexpected %s in a number", p.what())
		}
	}
	v.Text = p.src[start:p.pos]
	return v, nil
}

// string reads a string literal. The result shares memory with the source unless the
// literal contains escapes.
func (p *parser) string() (string, error) {
	p.pos++
	start := p.pos
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		if c == '"' {
			s := p.src[start:p.pos]
			p.pos++
			return s, nil
		}
		if c == '\\' || c < 0x20 || c >= utf8.RuneSelf {
			break
		}
		p.pos++
	}
	buf := []byte(p.src[start:p.pos])
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == '"':
			p.pos++
			return string(buf), nil
		case c < 0x20:
			return "", p.fail("control character %#02x in a string", c)
		case c == '\\':
			var err error
			if buf, err = p.escape(buf); err != nil {
				return "", err
			}
		case c < utf8.RuneSelf:
			buf = append(buf, c)
			p.pos++
		default:
			r, n := utf8.DecodeRuneInString(p.src[p.pos:])
			if r == utf8.RuneError && n == 1 {
				return "", p.fail("malformed UTF-8")
			}
			buf = append(buf, p.src[p.pos:p.pos+n]...)
			p.pos += n
		}
	}
	return "", p.fail("unexpected end of document in a string")
}

func (p *parser) escape(buf []byte) ([]byte, error) {
	if p.pos+1 >= len(p.src) {
		return nil, p.fail("unexpected end of document in a string")
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	c := p.src[p.pos+1]
	if i := strings.IndexByte(from, c); i >= 0 {
		p.pos += 2
		return append(buf, to[i]), nil
	}
	if c != 'u' {
		return nil, p.fail("unknown escape \\%c", c)
	}
	r, ok := p.hex4(p.pos + 2)
	if !ok {
		return nil, p.fail("incomplete \\u escape")
	}
	if !utf16.IsSurrogate(r) {
		p.pos += 6
		return utf8.AppendRune(buf, r), nil
	}
	if strings.HasPrefix(p.src[p.pos+6:], `\u`) {
		if low, ok := p.hex4(p.pos + 8); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				p.pos += 12
				return utf8.AppendRune(buf, pair), nil
			}
		}
	}
	return nil, p.fail("lone surrogate \\u%04x", r)
}

func (p *parser) hex4(at int) (rune, bool) {
	if at+4 > len(p.src) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.src[at:at+4], 16, 32)
	return rune(n), err == nil && p.src[at] != '+' && p.src[at] != '-'
}

func (p *parser) enter() error {
	p.depth++
	if p.depth > p.max {
		return &DepthError{p.max}
	}
	return nil
}

func (p *parser) array() (*Value, error) {
	v := p.new(Array)
	if err := p.enter(); err != nil {
		return nil, err
	}
	p.pos++
	p.space()
	if p.pos < len(p.src) && p.src[p.pos] == ']' {
		p.pos++
		p.depth--
		return v, nil
	}
	for {
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		v.Items = append(v.Items, item)
		p.space()
		switch {
		case p.pos < len(p.src) && p.src[p.pos] == ',':
			p.pos++
		case p.pos < len(p.src) && p.src[p.pos] == ']':
			p.pos++
			p.depth--
			return v, nil
		default:
			return nil, p.fail("unexpected %s in an array", p.what())
		}
	}
}

// manyMembers is the number of members from which duplicate keys are found with a
// map instead of by comparison.
const manyMembers = 16

func (p *parser) object() (*Value, error) {
	v := p.new(Object)
	if err := p.enter(); err != nil {
		return nil, err
	}
	p.pos++
	var seen map[string]bool
	for {
		p.space()
		if p.pos < len(p.src) && p.src[p.pos] == '}' && len(v.Members) == 0 {
			break
		}
		if p.pos >= len(p.src) || p.src[p.pos] != '"' {
			return nil, p.fail("unexpected %s, a key expected", p.what())
		}
		at := p.pos
		key, err := p.string()
		if err != nil {
			return nil, err
		}
		duplicate := seen[key]
		if seen == nil {
			duplicate = v.Get(key) != nil
		}
		if duplicate {
			p.pos = at
			return nil, p.fail("duplicate key %q", key)
		}
		p.space()
		if p.pos >= len(p.src) || p.src[p.pos] != ':' {
			return nil, p.fail("unexpected %s, a colon expected", p.what())
		}
		p.pos++
		val, err := p.value()
		if err != nil {
			return nil, err
		}
		v.Members = append(v.Members, Member{key, val})
		if seen != nil {
			seen[key] = true
		} else if len(v.Members) == manyMembers {
			seen = make(map[string]bool, 2*manyMembers)
			for _, m := range v.Members {
				seen[m.Key] = true
			}
		}
		p.space()
		if p.pos < len(p.src) && p.src[p.pos] == ',' {
			p.pos++
			continue
		}
		if p.pos < len(p.src) && p.src[p.pos] == '}' {
			break
		}
		return nil, p.fail("unexpected %s in an object", p.what())
	}
	p.pos++
	p.depth--
	return v, nil
}

// AppendCanonical appends a text that is the same for equal values: members are
// sorted, numbers are in canonical form.
func (v *Value) AppendCanonical(dst []byte) []byte {
	switch v.Kind {
	case Null:
		return append(dst, "null"...)
	case False:
		return append(dst, "false"...)
	case True:
		return append(dst, "true"...)
	case Number:
		return append(dst, canonicalNumber(v.Text)...)
	case String:
		return AppendQuoted(dst, v.Text)
	case Array:
		dst = append(dst, '[')
		for i, x := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = x.AppendCanonical(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, m := range sortedMembers(v.Members) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendQuoted(dst, m.Key), ':')
		dst = m.Value.AppendCanonical(dst)
	}
	return append(dst, '}')
}

// AppendQuoted appends s as a JSON string with only those escapes that JSON
// requires.
func AppendQuoted(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// HoldsHugeNumber reports whether v contains a number beyond the limits of package
// number.
func (v *Value) HoldsHugeNumber() bool {
	if v.Kind == Number {
		_, err := number.Parse(v.Text)
		return err != nil
	}
	return slices.ContainsFunc(v.Items, (*Value).HoldsHugeNumber) ||
		slices.ContainsFunc(v.Members, func(m Member) bool { return m.Value.HoldsHugeNumber() })
}

// ReadString reads the string literal at the start of src; n is its length in src,
// including quotes.
func ReadString(src string) (text string, n int, err error) {
	p := parser{src: src}
	text, err = p.string()
	return text, p.pos, err
}

func canonicalNumber(text string) string {
	x, err := number.Parse(text)
	if err != nil {
		return text
	}
	return x.String()
}

func sortedMembers(list []Member) []Member {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// LastString returns the decoded contents of the unterminated string literal at the
// end of text.
func LastString(text []byte) (string, bool) {
	i := openQuote(text, len(text))
	if i < 0 {
		return "", false
	}
	str, _, err := ReadString(string(text[i:]) + `"`)
	return str, err == nil
}

// openQuote returns the index of the last unescaped quote before end, or -1.
func openQuote(text []byte, end int) int {
	for i := end - 1; i >= 0; i-- {
		if text[i] != '"' {
			continue
		}
		n := 0
		for i-n-1 >= 0 && text[i-n-1] == '\\' {
			n++
		}
		if n%2 == 0 {
			return i
		}
	}
	return -1
}

// LastValue returns the JSON value at the end of text.
func LastValue(text []byte) []byte {
	end := len(text)
	for end > 0 && strings.IndexByte(" \t\r\n", text[end-1]) >= 0 {
		end--
	}
	i, depth := end, 0
	for i > 0 {
		i--
		switch text[i] {
		case '"':
			if i = openQuote(text, i); i < 0 {
				return nil
			}
		case '}', ']':
			depth++
			continue
		case '{', '[':
			depth--
		default:
			if depth > 0 || i > 0 && strings.IndexByte(" \t\r\n,:[{", text[i-1]) < 0 {
				continue
			}
		}
		if depth == 0 {
			return text[i:end]
		}
	}
	return text[i:end]
}
