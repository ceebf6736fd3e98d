package validator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
)

// A kind is one of JSON's types.
type kind uint8

const (
	null kind = iota
	boolean
	numeric
	text
	array
	object
)

var kindNames = [...]string{"null", "boolean", "number", "string", "array", "object"}

func (k kind) String() string { return kindNames[k] }

// A value is a part of a JSON document. Equality of values compares their contents;
// pointers identify their places.
type value struct {
	kind    kind
	truth   bool
	text    string
	num     number
	items   []*value
	names   []string // of members, without duplicates, in the order of the text
	members map[string]*value

	parent *value
	key    string // in the parent
	isKey  bool   // the value is the name of a member of parent
}

// get returns a member, nil if there is none.
func (v *value) get(name string) *value {
	if v.kind != object {
		return nil
	}
	return v.members[name]
}

// maxDepth is the maximum nesting depth of documents.
const maxDepth = 10000

// parse reads a whole JSON document.
func parse(r *run, src []byte) (*value, error) {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	v, err := read(r, d, 0)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something after the value")
	}
	return v, nil
}

func read(r *run, d *json.Decoder, depth int) (*value, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	return readFrom(r, d, t, depth)
}

func readFrom(r *run, d *json.Decoder, t json.Token, depth int) (*value, error) {
	r.step(1)
	switch t := t.(type) {
	case nil:
		return &value{kind: null}, nil
	case bool:
		return &value{kind: boolean, truth: t}, nil
	case json.Number:
		n, err := parseNumber(t.String())
		return &value{kind: numeric, num: n}, err
	case string:
		return &value{kind: text, text: t}, nil
	}
	if depth >= maxDepth {
		return nil, fmt.Errorf("it nests deeper than %d", maxDepth)
	}
	if t == json.Delim('[') {
		v := &value{kind: array}
		for d.More() {
			item, err := read(r, d, depth+1)
			if err != nil {
				return nil, err
			}
			item.parent, item.key = v, strconv.Itoa(len(v.items))
			v.items = append(v.items, item)
		}
		_, err := d.Token()
		return v, err
	}
	v := &value{kind: object, members: map[string]*value{}}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := name.(string)
		member, err := read(r, d, depth+1)
		if err != nil {
			return nil, err
		}
		if v.members[key] == nil {
			v.names = append(v.names, key)
		}
		member.parent, member.key = v, key
		v.members[key] = member
	}
	_, err := d.Token()
	return v, err
}

// canonical appends a text that is the same for equal values, and different for
// others.
func (v *value) canonical(r *run, dst []byte) []byte {
	r.step(1 + (len(v.text)+len(v.num.digits))/64)
	switch v.kind {
	case boolean:
		if v.truth {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case numeric:
		return v.num.canonical(dst)
	case text:
		dst = append(strconv.AppendInt(append(dst, 's'), int64(len(v.text)), 10), ':')
		return append(dst, v.text...)
	case array:
		dst = append(dst, '[')
		for _, item := range v.items {
			dst = item.canonical(r, dst)
		}
		return append(dst, ']')
	case object:
		names := append([]string(nil), v.names...)
		sort.Strings(names)
		dst = append(dst, '{')
		for _, name := range names {
			r.step(len(name) / 64)
			dst = append(strconv.AppendInt(dst, int64(len(name)), 10), ':')
			dst = v.members[name].canonical(r, append(dst, name...))
		}
		return append(dst, '}')
	}
	return append(dst, 'n')
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// pointer returns the place of the value as a JSON Pointer. For the name of a
// member, it is the place of the object.
func (v *value) pointer() string {
	var keys []string
	for x := v; x.parent != nil; x = x.parent {
		if !x.isKey {
			keys = append(keys, x.key)
		}
	}
	var b strings.Builder
	for i := len(keys) - 1; i >= 0; i-- {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(keys[i]))
	}
	return b.String()
}

// show returns the value for a message. It shortens long texts.
func (v *value) show() string {
	switch v.kind {
	case boolean:
		return strconv.FormatBool(v.truth)
	case numeric:
		return v.num.String()
	case text:
		return quote(v.text)
	case array:
		return "an array"
	case object:
		return "an object"
	}
	return "null"
}

// longest is the number of bytes of a text that a message shows.
const longest = 200

// quote returns a text in single quotes.
func quote(s string) string {
	if len(s) > longest {
		cut := longest
		for cut > 0 && s[cut]&0xc0 == 0x80 {
			cut--
		}
		s = s[:cut] + "…"
	}
	s = strconv.Quote(s)
	s = strings.ReplaceAll(s[1:len(s)-1], `\"`, `"`)
	return "'" + strings.ReplaceAll(s, "'", `\'`) + "'"
}

// list joins the first few elements for a message.
func list[T any](all []T, show func(T) string) string {
	const most = 20
	var parts []string
	for i, x := range all {
		if i == most {
			return strings.Join(parts, ", ") + fmt.Sprintf(" and %d more", len(all)-most)
		}
		parts = append(parts, show(x))
	}
	return strings.Join(parts, ", ")
}
