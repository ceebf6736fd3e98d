package bench

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// valueKind is the JSON type of a value.
type valueKind uint8

const (
	kindNull valueKind = iota
	kindFalse
	kindTrue
	kindNumber
	kindString
	kindArray
	kindObject
)

// value is a JSON value that keeps what encoding/json drops: the order of keys, the
// original text of numbers, and its position in the source.
type value struct {
	kind    valueKind
	text    string   // kindNumber: the source text; kindString: the decoded text
	items   []*value // kindArray: the items; kindObject: the member values
	keys    []string // kindObject: the decoded names, parallel to items
	repeats int      // kindObject: members with a repeated name
	start   int      // offset of the first byte in the source
	end     int      // offset after the last byte
}

// member returns the value of the member called name, or nil.
func (v *value) member(name string) *value {
	if v == nil || v.kind != kindObject {
		return nil
	}
	for i, k := range v.keys {
		if k == name {
			return v.items[i]
		}
	}
	return nil
}

// maxNesting limits the recursion of the parser; the deepest file of the corpora has
// fewer than 100 levels.
const maxNesting = 10_000

// valueParser is a strict RFC 8259 parser.
type valueParser struct {
	src   []byte
	pos   int
	depth int
}

// parseValue parses a JSON text. As in Python's json.loads, a repeated name keeps
// its first position and its last value. The escape of a lone surrogate is decoded
// to the three bytes of its UTF-8 form, which are not valid UTF-8.
func parseValue(src []byte) (*value, error) {
	p := &valueParser{src: src}
	p.space()
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	p.space()
	if p.pos != len(p.src) {
		return nil, p.errorf("unexpected text after the value")
	}
	return v, nil
}

func (p *valueParser) errorf(format string, args ...any) error {
	return fmt.Errorf("bench: json offset %d: %s", p.pos, fmt.Sprintf(format, args...))
}

func (p *valueParser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *valueParser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *valueParser) value() (*value, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.errorf("nested deeper than %d", maxNesting)
	}
	defer func() { p.depth-- }()
	v := &value{start: p.pos}
	var err error
	switch c := p.peek(); {
	case c == '{':
		err = p.object(v)
	case c == '[':
		err = p.array(v)
	case c == '"':
		v.kind = kindString
		v.text, err = p.str()
	case c == '-' || '0' <= c && c <= '9':
		err = p.number(v)
	default:
		err = p.literal(v)
	}
	v.end = p.pos
	return v, err
}

func (p *valueParser) literal(v *value) error {
	word := "null"
	switch p.peek() {
	case 't':
		word, v.kind = "true", kindTrue
	case 'f':
		word, v.kind = "false", kindFalse
	}
	if !bytes.HasPrefix(p.src[p.pos:], []byte(word)) {
		return p.errorf("expected a value")
	}
	p.pos += len(word)
	return nil
}

func (p *valueParser) digits() bool {
	from := p.pos
	for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
		p.pos++
	}
	return p.pos > from
}

func (p *valueParser) number(v *value) error {
	v.kind = kindNumber
	from := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	if p.peek() == '0' {
		p.pos++
	} else if !p.digits() {
		return p.errorf("expected a digit")
	}
	if p.peek() == '.' {
		p.pos++
		if !p.digits() {
			return p.errorf("expected a digit after the point")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if !p.digits() {
			return p.errorf("expected a digit in the exponent")
		}
	}
	v.text = string(p.src[from:p.pos])
	return nil
}

func (p *valueParser) array(v *value) error {
	v.kind = kindArray
	p.pos++
	p.space()
	if p.peek() == ']' {
		p.pos++
		return nil
	}
	for {
		p.space()
		item, err := p.value()
		if err != nil {
			return err
		}
		v.items = append(v.items, item)
		p.space()
		switch p.peek() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return nil
		default:
			return p.errorf("expected a comma or the end of the array")
		}
	}
}

func (p *valueParser) object(v *value) error {
	v.kind = kindObject
	p.pos++
	p.space()
	if p.peek() == '}' {
		p.pos++
		return nil
	}
	places := map[string]int{}
	for {
		p.space()
		if p.peek() != '"' {
			return p.errorf("expected a member name")
		}
		name, err := p.str()
		if err != nil {
			return err
		}
		p.space()
		if p.peek() != ':' {
			return p.errorf("expected a colon")
		}
		p.pos++
		p.space()
		item, err := p.value()
		if err != nil {
			return err
		}
		if i, seen := places[name]; seen {
			v.items[i] = item
			v.repeats++
		} else {
			places[name] = len(v.keys)
			v.keys = append(v.keys, name)
			v.items = append(v.items, item)
		}
		p.space()
		switch p.peek() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			return nil
		default:
			return p.errorf("expected a comma or the end of the object")
		}
	}
}

func (p *valueParser) str() (string, error) {
	p.pos++ // the opening quote
	from := p.pos
	for p.pos < len(p.src) && p.src[p.pos] != '"' && p.src[p.pos] != '\\' && p.src[p.pos] >= 0x20 {
		p.pos++
	}
	out := append([]byte(nil), p.src[from:p.pos]...)
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		switch {
		case c == '"':
			p.pos++
			return string(out), nil
		case c < 0x20:
			return "", p.errorf("control character in a string")
		case c != '\\':
			out = append(out, c)
			p.pos++
		default:
			var err error
			if out, err = p.escape(out); err != nil {
				return "", err
			}
		}
	}
	return "", p.errorf("string without an end")
}

func (p *valueParser) escape(out []byte) ([]byte, error) {
	p.pos++ // the backslash
	c := p.peek()
	p.pos++
	switch c {
	case '"', '\\', '/':
		return append(out, c), nil
	case 'b':
		return append(out, '\b'), nil
	case 'f':
		return append(out, '\f'), nil
	case 'n':
		return append(out, '\n'), nil
	case 'r':
		return append(out, '\r'), nil
	case 't':
		return append(out, '\t'), nil
	case 'u':
	default:
		return nil, p.errorf("unknown escape")
	}
	r, ok := p.hex4()
	if !ok {
		return nil, p.errorf("expected four hexadecimal digits")
	}
	if utf16.IsSurrogate(r) {
		if r < 0xDC00 && p.peek() == '\\' && p.pos+1 < len(p.src) && p.src[p.pos+1] == 'u' {
			back := p.pos
			p.pos += 2
			if low, ok := p.hex4(); ok && 0xDC00 <= low && low < 0xE000 {
				return utf8.AppendRune(out, utf16.DecodeRune(r, low)), nil
			}
			p.pos = back
		}
		return append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F)), nil
	}
	return utf8.AppendRune(out, r), nil
}

func (p *valueParser) hex4() (rune, bool) {
	if p.pos+4 > len(p.src) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(p.src[p.pos:p.pos+4]), 16, 32)
	if err != nil {
		return 0, false
	}
	p.pos += 4
	return rune(n), true
}

// spacing is the white space that is written after commas and colons.
type spacing uint8

const (
	spacedJSON  spacing = iota // ", " and ": ", as Python's json.dumps
	compactJSON                // "," and ":"
)

// appendJSON writes v like Python's json.dumps(v, ensure_ascii=False), but keeps the
// source text of numbers.
func appendJSON(dst []byte, v *value, sp spacing) []byte {
	switch v.kind {
	case kindNull:
		return append(dst, "null"...)
	case kindFalse:
		return append(dst, "false"...)
	case kindTrue:
		return append(dst, "true"...)
	case kindNumber:
		return append(dst, v.text...)
	case kindString:
		return appendString(dst, v.text)
	case kindArray:
		dst = append(dst, '[')
		for i, item := range v.items {
			dst = appendSeparator(dst, ',', i > 0, sp)
			dst = appendJSON(dst, item, sp)
		}
		return append(dst, ']')
	default:
		dst = append(dst, '{')
		for i, item := range v.items {
			dst = appendSeparator(dst, ',', i > 0, sp)
			dst = appendString(dst, v.keys[i])
			dst = appendSeparator(dst, ':', true, sp)
			dst = appendJSON(dst, item, sp)
		}
		return append(dst, '}')
	}
}

func appendSeparator(dst []byte, c byte, wanted bool, sp spacing) []byte {
	if !wanted {
		return dst
	}
	dst = append(dst, c)
	if sp == spacedJSON {
		dst = append(dst, ' ')
	}
	return dst
}

// appendString quotes s with the escapes of Python's json module and no others.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c < 0x20:
			dst = append(dst, `\u00`...)
			dst = append(dst, hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
