package nested

import (
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/chat/jinja/python"
	"github.com/stencil-json/stencil/schema/jsondoc"
)

// A Reader converts a value in a notation to JSON as it arrives. The text is one of the value's grammar.
type Reader struct {
	n     *chat.Notation
	mode  mode
	shape *Shape  // of the value being read or about to be read
	open  []level // the containers being read
	text  string  // not read yet
	quote string  // that ends the string being read
	leaf  string  // text of a scalar of undecided type
	out   strings.Builder
}

// A level is a container being read.
type level struct {
	array bool
	shape *Shape
	some  int    // parts so far
	key   string // of the current member
}

type mode uint8

const (
	readValue mode = iota // before a value
	readString
	readLeaf  // within a scalar whose type its text decides
	readWord  // within a number or a name
	readFirst // after the opening of a container
	readAfter // after a value in a container
	readKey
	readDone
)

// NewReader returns a reader of one value.
func NewReader(n *chat.Notation, shape *Shape) *Reader { return &Reader{n: n, shape: shape} }

// Add reads more text and returns the JSON that it determines.
func (r *Reader) Add(text string) string {
	r.text += text
	for r.step(false) {
	}
	return r.take()
}

// End ends the text and returns the rest of the JSON.
func (r *Reader) End() string {
	for r.mode != readDone && r.step(true) {
	}
	return r.take()
}

func (r *Reader) take() string {
	out := r.out.String()
	r.out.Reset()
	return out
}

// Parse returns the JSON of a whole text in the notation, if it is one.
func Parse(n *chat.Notation, text string) (string, bool) {
	r := NewReader(n, any1)
	out := r.Add(text) + r.End()
	if r.mode != readDone || r.text != "" || !json.Valid([]byte(out)) {
		return "", false
	}
	again, err := n.Write(json.RawMessage(out))
	return out, err == nil && again == text
}

// any1 is the shape of any value.
var any1 = &Shape{types: All}

// has reports whether the text begins with a mark. It is unsure if more text must come first.
func (r *Reader) has(mark string, final bool) (has, sure bool) {
	if strings.HasPrefix(r.text, mark) {
		return true, true
	}
	return false, final || !strings.HasPrefix(mark, r.text)
}

// skip removes a mark from the text.
func (r *Reader) skip(mark string) { r.text = strings.TrimPrefix(r.text, mark) }

// step reads a part of the text; it returns false if it needs more.
func (r *Reader) step(final bool) bool {
	switch r.mode {
	case readValue:
		if r.bare() {
			return r.bareValue(final)
		}
		return r.value(final)
	case readString:
		return r.string(final)
	case readLeaf:
		return r.inLeaf(final)
	case readWord:
		return r.word(final)
	case readFirst, readAfter:
		return r.part(final)
	case readKey:
		return r.key(final)
	}
	return false
}

// bare reports whether strings have no quotes, so that the schema tells what a text is.
func (r *Reader) bare() bool { return r.n.Quote == "" && !r.n.Python }

// value begins a value.
func (r *Reader) value(final bool) bool {
	if r.text == "" {
		return false
	}
	quotes := []string{r.n.Quote}
	if r.n.Python {
		quotes = []string{"'", `"`}
	}
	for i, mark := range append([]string{r.n.Open, r.n.ListOpen}, quotes...) {
		has, sure := r.has(mark, final)
		if !sure {
			return false
		}
		if !has {
			continue
		}
		r.skip(mark)
		switch i {
		case 0, 1:
			r.container(i == 1)
		default:
			r.begin(mark)
		}
		return true
	}
	r.mode, r.leaf = readWord, ""
	return true
}

// begin begins a string.
func (r *Reader) begin(quote string) {
	r.mode, r.quote = readString, quote
	r.out.WriteByte('"')
}

// container begins an object or array.
func (r *Reader) container(array bool) {
	r.open = append(r.open, level{array: array, shape: r.shape})
	r.mode = readFirst
	if array {
		r.out.WriteByte('[')
	} else {
		r.out.WriteByte('{')
	}
}

// bareValue begins a value where strings have no quotes.
func (r *Reader) bareValue(final bool) bool {
	marks := r.n.Marks()
	has, sure := r.has(marks, final)
	if !sure {
		return false
	}
	if !has && r.text != "" {
		if r.shape.types == String {
			r.begin("")
		} else {
			r.mode, r.leaf = readLeaf, ""
		}
		return true
	}
	inArray, sure := r.has(r.n.ItemOpen, final)
	if !sure {
		return false
	}
	ends := r.text == ""
	for _, mark := range r.ends() {
		end, sure := r.has(mark, final)
		if !sure {
			return false
		}
		ends = ends || end
	}
	types := r.shape.types
	switch {
	case ends:
		r.empty()
	case inArray && types&Array != 0 && (types&Object == 0 || r.shape.members["item"] == nil):
		r.container(true)
	case types&Object != 0:
		r.container(false)
	default:
		r.container(true)
	}
	return true
}

// ends returns what may end the innermost value.
func (r *Reader) ends() []string {
	if len(r.open) == 0 {
		return nil
	}
	if at := r.open[len(r.open)-1]; !at.array {
		return []string{r.n.End(at.key)}
	}
	return []string{r.n.ItemClose}
}

// empty writes a value without text.
func (r *Reader) empty() {
	text := `""`
	for _, x := range []struct {
		of   Types
		text string
	}{{Null, "null"}, {Array, "[]"}, {Object, "{}"}, {String, `""`}} { // the last one counts
		if r.shape.types&x.of != 0 {
			text = x.text
		}
	}
	r.out.WriteString(text)
	r.ended()
}

// ended goes on after a value.
func (r *Reader) ended() {
	r.mode = readAfter
	if len(r.open) == 0 {
		r.mode = readDone
	}
}

// string reads a string.
func (r *Reader) string(final bool) bool {
	if r.n.Python {
		return r.escaped(final)
	}
	quote := r.quote
	if quote == "" {
		quote = r.n.Marks()
	}
	at := strings.Index(r.text, quote)
	if at < 0 {
		text := r.text
		if !final {
			text = text[:len(text)-held(text, quote)]
		}
		r.write(text)
		r.text = r.text[len(text):]
		if final && r.quote == "" && len(r.open) == 0 {
			r.out.WriteByte('"')
			r.ended()
			return true
		}
		return false
	}
	r.write(r.text[:at])
	r.text = r.text[at:]
	r.skip(r.quote)
	r.out.WriteByte('"')
	r.ended()
	return true
}

// held returns the length of the end of a text that may be the beginning of a mark, or of a character.
func held(text, mark string) int {
	for n := min(len(text), len(mark)-1); n > 0; n-- {
		if strings.HasSuffix(text, mark[:n]) {
			return n
		}
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if b := text[len(text)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRuneInString(text[len(text)-n:]) {
				return n
			}
			break
		}
	}
	return 0
}

// write writes a part of a string.
func (r *Reader) write(text string) {
	quoted := jsondoc.AppendQuoted(nil, text)
	r.out.Write(quoted[1 : len(quoted)-1])
}

// escaped reads a string as Python writes it.
func (r *Reader) escaped(final bool) bool {
	at := strings.IndexAny(r.text, `\`+r.quote)
	if at < 0 {
		at = len(r.text) - held(r.text, "")
	}
	r.write(r.text[:at])
	if r.text = r.text[at:]; r.text == "" || r.text[0] != '\\' && r.text[0] != r.quote[0] {
		return false
	}
	if r.text[0] == r.quote[0] {
		r.text = r.text[1:]
		r.out.WriteByte('"')
		r.ended()
		return true
	}
	size := escapeSize(r.text)
	if size > len(r.text) {
		return false
	}
	text, err := python.Unescape(r.text[:size])
	if err != nil {
		text = r.text[:size]
	}
	r.write(text)
	r.text = r.text[size:]
	return true
}

// escapeSize returns the size of the escape at the beginning of a text.
func escapeSize(text string) int {
	if len(text) < 2 {
		return 2
	}
	switch text[1] {
	case 'x':
		return 4
	case 'u':
		return 6
	case 'U':
		return 10
	}
	return 2
}

// inLeaf reads a scalar without quotes up to the mark after it.
func (r *Reader) inLeaf(final bool) bool {
	marks := r.n.Marks()
	at := strings.Index(r.text, marks)
	if at < 0 && !final {
		n := len(r.text) - held(r.text, marks)
		r.leaf, r.text = r.leaf+r.text[:n], r.text[n:]
		return false
	}
	if at < 0 {
		at = len(r.text)
	}
	r.leaf, r.text = r.leaf+r.text[:at], r.text[at:]
	r.out.WriteString(r.scalar(r.leaf))
	r.ended()
	return true
}

// scalar returns the JSON of a scalar without quotes: a string only if it is none of the other types that may stand there.
func (r *Reader) scalar(text string) string {
	types := r.shape.types
	switch {
	case types&Boolean != 0 && text == r.n.True:
		return "true"
	case types&Boolean != 0 && text == r.n.False:
		return "false"
	case types&Null != 0 && text == nullWord && len(r.open) == 0:
		return "null"
	case types&(Integer|Number) != 0 && isNumber(text, types):
		return text
	}
	return string(jsondoc.AppendQuoted(nil, text))
}

// isNumber reports whether a text is a number of JSON of one of the types.
func isNumber(text string, types Types) bool {
	if text == "" || !strings.Contains("-0123456789", text[:1]) {
		return false
	}
	var n json.Number
	if json.Unmarshal([]byte(text), &n) != nil {
		return false
	}
	f, err := n.Float64()
	return types&Number != 0 || err == nil && f == math.Trunc(f)
}

// word reads a number or a name.
func (r *Reader) word(final bool) bool {
	n := 0
	for n < len(r.text) && strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", r.text[n]) >= 0 {
		n++
	}
	part := r.text[:n]
	r.text = r.text[n:]
	if r.leaf+part != "" && strings.Contains("-0123456789", (r.leaf + part)[:1]) {
		r.out.WriteString(part)
		r.leaf = "-" // a number
	} else {
		r.leaf += part
	}
	if r.text == "" && !final {
		return false
	}
	switch r.leaf {
	case r.n.True:
		r.out.WriteString("true")
	case r.n.False:
		r.out.WriteString("false")
	case r.n.Null:
		r.out.WriteString("null")
	}
	r.ended()
	return true
}

// part reads what comes before a part of a container or ends it.
func (r *Reader) part(final bool) bool {
	at := &r.open[len(r.open)-1]
	closing, comma, open := r.n.Close, r.n.Comma, r.n.KeyOpen
	if at.array {
		closing, comma, open = r.n.ListClose, r.n.ItemComma, r.n.ItemOpen
	}
	if r.mode == readAfter {
		end := r.n.ItemClose
		if !at.array {
			end = r.n.End(at.key)
		}
		if has, _ := r.has(end, final); !has {
			return false
		}
		r.skip(end)
		r.mode = readFirst
	}
	ended := false
	var sure bool
	if closing != "" {
		if ended, sure = r.has(closing, final); !sure {
			return false
		}
	} else {
		more, sure := r.has(open, final)
		if !sure {
			return false
		}
		ended = !more
		outer := r.outerEnds()
		for _, mark := range outer {
			end, sure := r.has(mark, final)
			if !sure {
				return false
			}
			ended = ended || end
		}
	}
	if ended {
		r.skip(closing)
		r.open = r.open[:len(r.open)-1]
		if at.array {
			r.out.WriteByte(']')
		} else {
			r.out.WriteByte('}')
		}
		r.ended()
		return true
	}
	lead := open
	if at.some > 0 {
		lead = comma + open
	}
	if has, _ := r.has(lead, final); !has || r.text == "" && !final {
		return false
	}
	if at.some > 0 {
		r.out.WriteString(", ")
	}
	at.some++
	r.skip(lead)
	if at.array {
		r.shape, r.mode = at.shape.at(at.some-1), readValue
	} else {
		r.mode = readKey
	}
	return true
}

// outerEnds returns what may end the container around the innermost one.
func (r *Reader) outerEnds() []string {
	if len(r.open) < 2 {
		return nil
	}
	if at := r.open[len(r.open)-2]; !at.array {
		return []string{r.n.End(at.key)}
	}
	return []string{r.n.ItemClose}
}

// at returns the shape of an item.
func (s *Shape) at(i int) *Shape {
	if i < len(s.first) {
		return s.first[i]
	}
	if s.item != nil {
		return s.item
	}
	return any1
}

// key reads the key of a member.
func (r *Reader) key(final bool) bool {
	at := &r.open[len(r.open)-1]
	key, size := "", 0
	for name := range at.shape.members {
		written := r.n.Key(name) + r.n.KeyClose
		has, sure := r.has(written, final)
		if !sure {
			return false
		}
		if has && len(written) > size {
			key, size = name, len(written)
		}
	}
	if size == 0 {
		end := r.keyEnd()
		if end < 0 {
			return false
		}
		size = end + len(r.n.KeyClose)
		if key = r.text[:end]; r.n.Python {
			if end < 2 {
				return false
			}
			if text, err := python.Unescape(key[1 : end-1]); err == nil {
				key = text
			}
		}
	}
	r.text = r.text[size:]
	r.out.Write(jsondoc.AppendQuoted(nil, key))
	r.out.WriteString(": ")
	at.key = key
	r.shape, r.mode = any1, readValue
	if s := at.shape.members[key]; s != nil {
		r.shape = s
	} else if at.shape.other != nil {
		r.shape = at.shape.other
	}
	return true
}

// keyEnd returns the offset of the end of a key, -1 if it isn't there.
func (r *Reader) keyEnd() int {
	from := 0
	if r.n.Python && r.text != "" {
		for from = 1; from < len(r.text) && r.text[from] != r.text[0]; from++ {
			if r.text[from] == '\\' {
				from++
			}
		}
		from++
		if from > len(r.text) {
			return -1
		}
	}
	at := strings.Index(r.text[from:], r.n.KeyClose)
	if at < 0 {
		return -1
	}
	return from + at
}
