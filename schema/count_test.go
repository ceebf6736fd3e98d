package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

// An array of different items has at most as many items as there are values.
func TestCountValues(t *testing.T) {
	v := byteVocab(t)
	for _, c := range []struct {
		items string
		n     int // -1: infinite
	}{
		{`{"enum": [1, 2, "x", 1.0]}`, 3},
		{`{"type": ["boolean", "null"]}`, 3},
		{`{"type": "object", "properties": {"a": {"type": "boolean"}}, "additionalProperties": false}`, 3},
		{`{"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"const": null}}, "required": ["a"], "additionalProperties": false}`, 4},
		{`{"type": "object", "properties": {"a": {"enum": [1, 2]}, "b": {"const": 3}}, "maxProperties": 1, "additionalProperties": false}`, 4},
		{`{"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"type": "boolean"}}, "minProperties": 1, "additionalProperties": false, "not": {"required": ["a", "b"]}}`, 4},
		{`{"type": "array", "items": {"type": "boolean"}, "maxItems": 2}`, 7},
		{`{"type": "array", "items": {"type": "boolean"}, "uniqueItems": true}`, 5},
		{`{"type": "array", "prefixItems": [{"enum": [1, 2]}, {"type": "boolean"}], "items": false, "minItems": 1}`, 6},
		{`{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}`, -1},
		{`{"$id": "http://n", "type": "object", "properties": {"n": {"$ref": "http://n"}}, "additionalProperties": false}`, -1},
		{`{"type": "object", "patternProperties": {"^[a-c]$": {"const": 1}}, "additionalProperties": false}`, 8},
		{`{"type": "object"}`, -1},
	} {
		compile := func(n int) (*Schema, error) {
			return Compile(fmt.Appendf(nil, `{"type": "array", "uniqueItems": true, "items": %s, "minItems": %d}`, c.items, n), lenient)
		}
		n := c.n
		if n < 0 {
			n = 25
		}
		s, err := compile(n)
		if err != nil {
			t.Errorf("%d of %s: %v", n, c.items, err)
			continue
		}
		var list []json.RawMessage
		if err := json.Unmarshal(s.Grammar(v).NewMatcher().ShortestCompletion(), &list); err != nil || len(list) != n {
			t.Errorf("%s: %d items, want %d: %v", c.items, len(list), n, err)
		}
		if c.n < 0 {
			continue
		}
		var unsatisfiable *UnsatisfiableError
		if _, err := compile(n + 1); !errors.As(err, &unsatisfiable) {
			t.Errorf("%d of %s: %v", n+1, c.items, err)
		}
	}
}

// looks ends when it has been looked at so often.
type looks struct {
	context.Context
	left *int
}

func (l looks) Err() error {
	if *l.left--; *l.left < 0 {
		return context.Canceled
	}
	return nil
}

// What a pattern asks of languages is work like any other, during which its client may hang up.
func TestPatternsLookAtTheContext(t *testing.T) {
	s, err := Compile([]byte(`{"type": "string", "minLength": 120, "pattern": "^((([a-z ]{1,1000}){1,1000},?){1,1000}x?){1,1000}$"}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, left := s.Grammar(byteVocab(t)).NewMatcher(), 10
	m.Bind(looks{t.Context(), &left})
	if m.ShortestCompletion(); left >= 0 {
		t.Errorf("in a search with more than a million steps the context was looked at %d times", 10-left)
	}
}
