// Package example derives a JSON Schema from example documents.
//
// The schema has the types of the examples and only their properties, in the same
// order:
//
//	{"id": 7, "tags": ["a"]}    object with id and tags, both required, and nothing else
//	7, 7.0, 1.5e3               integer, integer, integer; 1.5 is a number
//	["a", 1]                    array of strings and integers
//	[]                          array of anything
//	null                        anything; beside other examples, those or null
//
// If there are several examples of one value (several documents, or the items of an
// array), a property is required if all of them have it. Values do not become keywords:
// from "Ann", the schema takes that the name is a string, not which strings are names.
package example

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/stencil-json/stencil/schema/jsondoc"
)

// maxDepth is the maximum nesting of examples.
const maxDepth = 200

// Schema returns the schema of the given example documents.
func Schema(documents ...[]byte) ([]byte, error) {
	if len(documents) == 0 {
		return nil, errors.New("example: there is no document")
	}
	var s shape
	for i, d := range documents {
		v, err := jsondoc.Parse(string(d), maxDepth)
		if err != nil {
			if len(documents) > 1 {
				return nil, fmt.Errorf("example: document %d: %w", i+1, err)
			}
			return nil, fmt.Errorf("example: %w", err)
		}
		s.add(v)
	}
	var b bytes.Buffer
	s.write(&b)
	return b.Bytes(), nil
}

// A shape is what examples of one value have in common.
type shape struct {
	seen    int // number of examples
	null    bool
	boolean bool
	text    bool
	integer bool
	number  bool

	object  int // number of examples that are objects
	names   []string
	members map[string]*shape

	array bool
	items *shape // items of all arrays; nil: none
}

func (s *shape) add(v *jsondoc.Value) {
	s.seen++
	switch v.Kind {
	case jsondoc.Null:
		s.null = true
	case jsondoc.False, jsondoc.True:
		s.boolean = true
	case jsondoc.String:
		s.text = true
	case jsondoc.Number:
		if whole(v.Text) {
			s.integer = true
		} else {
			s.number = true
		}
	case jsondoc.Array:
		s.array = true
		for _, item := range v.Items {
			if s.items == nil {
				s.items = new(shape)
			}
			s.items.add(item)
		}
	case jsondoc.Object:
		s.object++
		if s.members == nil {
			s.members = map[string]*shape{}
		}
		for _, m := range v.Members {
			one := s.members[m.Key]
			if one == nil {
				one = new(shape)
				s.members[m.Key] = one
				s.names = append(s.names, m.Key)
			}
			one.add(m.Value)
		}
	}
}

// whole reports whether a number is an integer. Numbers that are too long to compute,
// or with very large exponents, count as non-integers.
func whole(text string) bool {
	if !strings.ContainsAny(text, ".eE") {
		return true
	}
	if len(text) > 40 {
		return false
	}
	if _, exponent, _ := strings.Cut(strings.ToLower(text), "e"); len(exponent) > 4 {
		return false
	}
	r, ok := new(big.Rat).SetString(text)
	return ok && r.IsInt()
}

func (s *shape) write(b *bytes.Buffer) {
	types := s.types()
	if len(types) == 0 { // unknown, except that it may be null
		b.WriteString("{}")
		return
	}
	b.WriteString(`{"type":`)
	if len(types) == 1 {
		writeText(b, types[0])
	} else {
		b.WriteByte('[')
		for i, t := range types {
			if i > 0 {
				b.WriteByte(',')
			}
			writeText(b, t)
		}
		b.WriteByte(']')
	}
	if s.object > 0 {
		s.writeMembers(b)
	}
	if s.array && s.items != nil {
		b.WriteString(`,"items":`)
		s.items.write(b)
	}
	b.WriteByte('}')
}

func (s *shape) types() (list []string) {
	for _, t := range []struct {
		name string
		is   bool
	}{
		{"object", s.object > 0}, {"array", s.array}, {"string", s.text}, {"integer", s.integer && !s.number}, {"number", s.number}, {"boolean", s.boolean},
	} {
		if t.is {
			list = append(list, t.name)
		}
	}
	if s.null && len(list) > 0 {
		list = append(list, "null")
	}
	return list
}

func (s *shape) writeMembers(b *bytes.Buffer) {
	b.WriteString(`,"properties":{`)
	var required []string
	for i, name := range s.names {
		if i > 0 {
			b.WriteByte(',')
		}
		writeText(b, name)
		b.WriteByte(':')
		s.members[name].write(b)
		if s.members[name].seen == s.object {
			required = append(required, name)
		}
	}
	b.WriteByte('}')
	for i, name := range required {
		if i == 0 {
			b.WriteString(`,"required":[`)
		} else {
			b.WriteByte(',')
		}
		writeText(b, name)
	}
	if required != nil {
		b.WriteByte(']')
	}
	b.WriteString(`,"additionalProperties":false`)
}

func writeText(b *bytes.Buffer, text string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err == nil { // strings always encode
		b.Truncate(b.Len() - 1) // the newline
	}
}
