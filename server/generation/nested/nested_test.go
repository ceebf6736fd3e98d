package nested

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/gbnf"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/schema/jsondoc"
)

// notations returns the notations of the bundled templates that have one.
func notations(t testing.TB) map[string]*chat.Notation {
	t.Helper()
	out := map[string]*chat.Notation{}
	templates := shared.Templates(t)
	for family, name := range map[string]string{"gemma": "google-gemma-4-31B-it", "minimax": "MiniMax-M3", "python": "ByteDance-Seed-OSS"} {
		tmpl, err := chat.New(templates[name], chat.Options{})
		if err != nil {
			t.Fatal(err)
		}
		form, _ := tmpl.CallForm()
		if out[family] = form.Arguments.Values[chat.ArrayValue].Nested; out[family] == nil {
			t.Fatalf("%s has no notation of its own", name)
		}
	}
	return out
}

// compiled compiles a schema in a notation.
func compiled(t testing.TB, n *chat.Notation, schema string) (Value, *decoder.Grammar) {
	t.Helper()
	root, err := jsondoc.Parse(schema, maxDepth)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Compile(n, root, root, All, true)
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	g, err := gbnf.Compile(v.Grammar, gbnf.Options{})
	if err != nil {
		t.Fatalf("%s: %v\n%s", schema, err, v.Grammar[:min(len(v.Grammar), 3000)])
	}
	tokens, err := walk.ByteTokens()
	if err != nil {
		t.Fatal(err)
	}
	bound, err := g.Bind(tokens)
	if err != nil {
		t.Fatal(err)
	}
	return v, bound
}

// accepted reports whether a grammar accepts a text, and where it leaves it.
func accepted(g *decoder.Grammar, text string) (bool, int) {
	m := g.NewMatcher()
	n, err := m.AcceptBytes([]byte(text))
	return err == nil && m.Accepting(), n
}

const (
	treeSchema = `{"$defs": {"node": {"type": "object", "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
		"required": ["name"]}}, "$ref": "#/$defs/node"}`
	placeSchema = `{"type": "object", "properties": {"at": {"type": "object", "properties": {"exact": {"type": "boolean"}, "lat": {"type": "number", "minimum": -90, "maximum": 90}}, "required": ["lat"]},
		"city": {"type": "string", "maxLength": 12}, "tags": {"type": "array", "items": {"enum": ["a", "it's", "b\"c"]}, "maxItems": 3}}, "required": ["city"]}`
)

// Documents that a schema allows are accepted as the notation writes them, and read as they were, however the text arrives; others are
// refused.
func TestNotations(t *testing.T) {
	all := notations(t)
	for _, c := range []struct {
		schema, document string
		ok               bool
		unless           string // families that can't write it
	}{
		{placeSchema, `{"city": "Zürich"}`, true, ""},
		{placeSchema, `{"at": {"exact": true, "lat": 47.4}, "city": "It's \"so\"", "tags": ["a", "it's", "b\"c"]}`, true, ""},
		{placeSchema, `{"at": {"lat": -90}, "city": "", "tags": []}`, true, ""},
		{placeSchema, `{"at": {"lat": 91}, "city": ""}`, false, ""},
		{placeSchema, `{"at": {}, "city": ""}`, false, ""},
		{placeSchema, `{"city": "x", "tags": ["a", "a", "a", "a"]}`, false, ""},
		{placeSchema, `{"city": "x", "tags": ["d"]}`, false, ""},
		{placeSchema, `{"city": "x", "unknown": 1}`, false, ""},
		{placeSchema, `{"city": "a text that is too long"}`, false, ""},
		{placeSchema, `{}`, false, ""},
		{treeSchema, `{"children": [{"name": "b"}, {"children": [{"children": [], "name": "d\n\t'"}], "name": "c"}], "name": "a"}`, true, "minimax python"},
		{treeSchema, `{"name": "a", "children": [{"name": "b"}, {"name": "c", "children": [{"name": "d\n\t'", "children": []}]}]}`, true, "gemma"},
		{treeSchema, `{"children": [{"children": []}], "name": "a"}`, false, ""},
		{`{"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}}`, `[{"a": 1, "b": "x"}, {}, {"b": ""}]`, true, ""},
		{`{"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}`, `[[1, 2], [], [3]]`, true, ""},
		{`{"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}`, `[[1.5]]`, false, ""},
		{`{"type": "array"}`, `["a\tb", true, null, [1.5], "日本 😀", false, -3, "x <b> & ]< y"]`, true, "minimax"},
		{`{"type": "array"}`, `["a\tb", true, [1.5], "日本 😀", false, -3, "x <b> & ]< y"]`, true, ""},
		{`{"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3}`, `[1]`, false, ""},
		{`{"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3}`, `[1, 2, 3]`, true, ""},
		{`{"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3}`, `[1, 2, 3, 4]`, false, ""},
		{`{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": {"type": "boolean"}}`, `[1, "x", true, false]`, true, ""},
		{`{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false, "minItems": 2}`, `[1]`, false, ""},
		{`{"type": "array", "items": {"type": "string", "pattern": "^[a-z]{2,3}'?$"}}`, `["ab", "abc'"]`, true, ""},
		{`{"type": "array", "items": {"type": "string", "pattern": "^[a-z]{2,3}'?$"}}`, `["abcd"]`, false, ""},
		{`{"type": "array", "items": {"type": "string", "format": "date"}}`, `["2024-02-30"]`, false, ""},
		{`{"type": "array", "items": {"type": "integer", "multipleOf": 5, "exclusiveMaximum": 20}}`, `[0, 5, -10, 15]`, true, ""},
		{`{"type": "array", "items": {"type": "integer", "multipleOf": 5, "exclusiveMaximum": 20}}`, `[20]`, false, ""},
		{`{"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "object", "properties": {"k": {"const": "v"}}, "required": ["k"]}]}}`, `[3, {"k": "v"}]`, true, ""},
		{`{"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "object", "properties": {"k": {"const": "v"}}, "required": ["k"]}]}}`, `[{"k": "w"}]`, false, ""},
		{`{"type": "array", "items": {"allOf": [{"minimum": 3}, {"maximum": 5}], "type": "integer"}}`, `[3, 6]`, false, ""},
		{`{"type": "array", "items": {"type": ["string", "null"]}}`, `["None", "true", "5"]`, true, ""},
		{`{"type": "array", "items": {"type": ["integer", "string"]}}`, `[12, "twelve", "1.5"]`, true, ""},
		{`{"type": "object"}`, `{"any": [1, {"x": "y"}], "k e y": null}`, true, "minimax"},
		{`{"type": "object"}`, `{}`, true, ""},
		{`{"type": "object", "additionalProperties": {"type": "integer"}}`, `{"a": 1, "b": 2}`, true, "minimax"},
		{`{"type": "object", "additionalProperties": {"type": "integer"}}`, `{"a": "x"}`, false, ""},
		{`{"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}`, `{"a": 1, "b": "x"}`, true, "minimax"},
		{`{"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}`, `{"a": "x"}`, false, ""},
		{`{"type": "object", "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false}`, `{"x1": 1}`, true, "minimax"},
		{`{"type": "object", "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false}`, `{"y1": 1}`, false, ""},
		{`{"type": "object", "properties": {"b": {"type": "integer"}, "A": {"type": "integer"}}}`, `{"A": 1, "b": 2}`, true, "minimax python"},
		{`{"type": "object", "properties": {"b": {"type": "integer"}, "A": {"type": "integer"}}}`, `{"b": 1, "A": 2}`, true, "gemma"},
		{`{"type": "object", "properties": {"a": {"type": "array", "items": {}}, "b": {"enum": [{"x": [1]}, [], "s", null, ""]}}}`, `{"a": [], "b": {"x": [1]}}`, true, "minimax"},
		{`{"type": "array", "items": {"type": "string"}}`, `["'", "\"", "'\"", "\\", "\n\r\t", "\u00a0\u200d\u0001", "é"]`, true, ""},
	} {
		for family, n := range all {
			if strings.Contains(c.unless, family) {
				continue
			}
			v, g := compiled(t, n, c.schema)
			text, err := n.Write(json.RawMessage(c.document))
			if err != nil {
				t.Fatal(err)
			}
			if ok, at := accepted(g, text); ok != c.ok {
				t.Errorf("%s: %s: %s is accepted: %t, up to %q", family, c.schema, text, ok, text[:at])
			}
			if !c.ok {
				continue
			}
			for size := 1; size < 6; size++ {
				r := NewReader(n, v.Shape)
				out := ""
				for rest := text; rest != ""; {
					k := min(size, len(rest))
					out += r.Add(rest[:k])
					rest = rest[k:]
				}
				out += r.End()
				var got, want any
				if err := json.Unmarshal([]byte(out), &got); err != nil {
					t.Errorf("%s: %s in pieces of %d: %s: %v", family, text, size, out, err)
					continue
				}
				if json.Unmarshal([]byte(c.document), &want) != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %s in pieces of %d: %s, want %s", family, text, size, out, c.document)
				}
			}
		}
	}
}

// What a grammar can't enforce is reported.
func TestUnchecked(t *testing.T) {
	for family, n := range notations(t) {
		for schema, want := range map[string]string{
			`{"type": "array", "items": {"type": "string"}, "uniqueItems": true}`: "[uniqueItems]",
			`{"type": "object", "properties": {"a": {"type": "integer", "not": {"const": 1}}, "b": {"type": "object", "properties": {"x": {"type": "null"}}, "dependentRequired": {"x": ["y"]}}}}`: "[dependentRequired not]",
			`{"type": "array", "items": {"oneOf": [{"type": "integer"}, {"type": "string"}]}}`:                                                                                                     "[]",
			`{"type": "array", "items": {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 3}]}}`:                                                                                       "[oneOf]",
			`{"type": "array", "items": {"$ref": "other.json", "type": "string"}}`:                                                                                                                 "[$ref]",
			placeSchema: "[]", treeSchema: "[]",
		} {
			if v, _ := compiled(t, n, schema); fmt.Sprint(v.Unchecked) != want {
				t.Errorf("%s: %s: %v", family, schema, v.Unchecked)
			}
		}
	}
}
