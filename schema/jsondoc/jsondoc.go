package jsondoc

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"math/bits"
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
	Mark    int32  // for the reader of the document, who is alone with it; the parser leaves 0
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

	// Values and lists are cut out of large pieces. The lists of arrays and objects that
	// are still open lie one upon another in item and member.
	values, items, members int // length of the next piece
	arena                  []Value
	itemArena              []*Value
	memberArena            []Member
	item                   []*Value
	member                 []Member
	keys                   []*keyTable // unused
}

// piece returns the length of the next piece of memory to be cut up: the first ones are
// small because most documents are.
func piece(length *int) int {
	*length = min(max(16, 2*(*length)), 512)
	return *length
}

// Parse reads one JSON document, nested at most maxDepth deep, and skips a byte
// order mark before it. Strings of the result share memory with src. The error is a
// [*SyntaxError] or a [*DepthError].
func Parse(src string, maxDepth int) (*Value, error) {
	p := &parser{src: src, max: maxDepth, values: len(src) / 64}
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

// space skips whitespace.
func (p *parser) space() {
	if p.pos < len(p.src) && p.src[p.pos] <= ' ' {
		p.spaces()
	}
}

func (p *parser) spaces() {
	src, i := p.src, p.pos
	for i < len(src) {
		switch src[i] {
		case ' ':
			// Indentation has many.
			for i+8 <= len(src) && src[i:i+8] == "        " {
				i += 8
			}
			for i < len(src) && src[i] == ' ' {
				i++
			}
		case '\t', '\n', '\r':
			i++
		default:
			p.pos = i
			return
		}
	}
	p.pos = i
}

func (p *parser) new(k Kind) *Value {
	if len(p.arena) == 0 {
		p.arena = make([]Value, piece(&p.values))
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
	rest := p.src[start:]
	n := unusual(rest)
	if n < len(rest) && rest[n] >= utf8.RuneSelf {
		if end := strings.IndexByte(rest[n:], '"'); end >= 0 && !strings.ContainsFunc(rest[n:n+end], special) {
			n += end
		}
	}
	if n < len(rest) && rest[n] == '"' {
		p.pos += n + 1
		return rest[:n], nil
	}
	p.pos += n
	buf := []byte(rest[:n])
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

// special reports characters that can't stand for themselves in a string literal.
func special(r rune) bool { return r < 0x20 || r == '\\' || r == utf8.RuneError }

// unusual returns the index of the first byte of s that is a quote, a backslash, a
// control character or beyond ASCII, or its length.
func unusual(s string) int {
	const ones = 0x0101010101010101
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		// The lowest byte whose highest bit comes out set is the first one; a carry can set
		// those of bytes after it.
		quote, slash := w^ones*'"', w^ones*'\\'
		if odd := (w | (w - ones*0x20) | (quote - ones) | (slash - ones)) & (ones * 0x80); odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < 0x20 || c >= utf8.RuneSelf {
			break
		}
	}
	return i
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
	from := len(p.item)
	for {
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		p.item = append(p.item, item)
		p.space()
		switch {
		case p.pos < len(p.src) && p.src[p.pos] == ',':
			p.pos++
		case p.pos < len(p.src) && p.src[p.pos] == ']':
			p.pos++
			p.depth--
			v.Items = cut(&p.itemArena, p.item[from:], &p.items)
			p.item = p.item[:from]
			return v, nil
		default:
			return nil, p.fail("unexpected %s in an array", p.what())
		}
	}
}

// cut returns a copy of list in a piece of memory.
func cut[T any](arena *[]T, list []T, length *int) []T {
	n := len(list)
	if n > len(*arena) {
		if n >= 64 {
			return slices.Clone(list)
		}
		*arena = make([]T, max(n, piece(length)))
	}
	out := (*arena)[:n:n]
	*arena = (*arena)[n:]
	copy(out, list)
	return out
}

// manyMembers is the number of members from which duplicate keys are found with a
// table instead of by comparison.
const manyMembers = 16

func (p *parser) object() (*Value, error) {
	v := p.new(Object)
	if err := p.enter(); err != nil {
		return nil, err
	}
	p.pos++
	from := len(p.member)
	var seen *keyTable
	for {
		p.space()
		if p.pos < len(p.src) && p.src[p.pos] == '}' && len(p.member) == from {
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
		n := len(p.member) - from
		if n == manyMembers {
			seen = p.table(p.member[from:])
		}
		duplicate := false
		if seen != nil {
			duplicate = !seen.add(key, p.member[from:])
		} else {
			duplicate = slices.ContainsFunc(p.member[from:], func(m Member) bool { return m.Key == key })
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
		p.member = append(p.member, Member{key, val})
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
	if len(p.member) > from {
		v.Members = cut(&p.memberArena, p.member[from:], &p.members)
		p.member = p.member[:from]
	}
	if seen != nil {
		p.keys = append(p.keys, seen)
	}
	p.pos++
	p.depth--
	return v, nil
}

// keyTable is a hash table of the members of one object, by 1 + their index.
type keyTable struct{ slots []int32 }

// keySeed is that of the hashes of keys.
var keySeed = maphash.MakeSeed()

// table returns the table of the members read so far.
func (p *parser) table(members []Member) *keyTable {
	t := &keyTable{}
	if n := len(p.keys); n > 0 {
		t, p.keys = p.keys[n-1], p.keys[:n-1]
		clear(t.slots)
	} else {
		t.slots = make([]int32, 8*manyMembers)
	}
	for i, m := range members {
		t.add(m.Key, members[:i])
	}
	return t
}

// add adds the key of the next member, unless one of the members has it.
func (t *keyTable) add(key string, members []Member) bool {
	if 2*len(members) >= len(t.slots) {
		t.slots = make([]int32, 4*len(t.slots))
		for i := range members {
			at, _ := t.find(members[i].Key, members)
			t.slots[at] = int32(i) + 1
		}
	}
	at, found := t.find(key, members)
	if !found {
		t.slots[at] = int32(len(members)) + 1
	}
	return !found
}

// find returns the slot of a key.
func (t *keyTable) find(key string, members []Member) (at uint32, found bool) {
	mask := uint32(len(t.slots) - 1)
	for at = uint32(maphash.String(keySeed, key)) & mask; t.slots[at] != 0; at = (at + 1) & mask {
		if members[t.slots[at]-1].Key == key {
			return at, true
		}
	}
	return at, false
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

// Digest returns the SHA-256 of a document without whitespace between its tokens.
func Digest(src string) string {
	out := make([]byte, 0, len(src))
	inString := false
	from := 0
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			out = append(out, src[from:i]...)
			from = i + 1
		}
	}
	sum := sha256.Sum256(append(out, src[from:]...))
	return "sha256:" + hex.EncodeToString(sum[:])
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
