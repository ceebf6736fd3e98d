package asking

import (
	"strings"
	"testing"
)

// TestExample checks what examples look like; that they fit is checked by the server's tests, with its validator.
func TestExample(t *testing.T) {
	fine := func([]byte) bool { return true }
	for schema, want := range map[string]string{
		`{"type": "object", "properties": {"full_name": {"type": "string"}, "age": {"type": "integer", "minimum": 18, "maximum": 120}}, "required": ["full_name"]}`: `{"full_name": "some full name", "age": 69}`,
		`{"properties": {"when": {"type": "string", "format": "date"}, "kind": {"enum": ["a", "b"]}, "v": {"const": 2}, "ok": {"type": "boolean"}}}`:                `{"when": "2025-03-14", "kind": "a", "v": 2, "ok": true}`,
		`{"type": "array", "items": {"$ref": "#/$defs/x"}, "minItems": 2, "$defs": {"x": {"type": "object", "properties": {"n": {"type": ["null", "number"]}}}}}`:   `[{"n": 12.5}, {"n": 12.5}]`,
		`{"type": "object", "properties": {"zip": {"type": "string", "pattern": "^\\d{5}$"}, "tag": {"type": "string", "minLength": 3, "maxLength": 4}}}`:           `{"zip": "00000", "tag": "aaa"}`,
		`{"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}, {"type": "string", "examples": ["so"]}]}, "b": false}}`:                                `{"a": "so"}`,
		`{"type": "object", "properties": {"p": {"type": "number", "minimum": 0, "maximum": 1}, "q": {"type": "integer", "multipleOf": 5}}}`:                        `{"p": 0.5, "q": 10}`,
		`{"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "null"}}, "required": ["c"]}], "type": "object"}`:                      `{"a": "some a", "b": null, "c": "some c"}`,
		`{"$defs": {"t": {"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/t"}}, "required": ["v"]}}, "$ref": "#/$defs/t"}`:     ``,
		`{}`: ``, `true`: ``, `{"$ref": "https://example.com/a"}`: ``, `{"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}, "required": ["a"]}`: ``,
	} {
		f := &Format{JSON: true, Schema: []byte(schema)}
		document := f.Example(fine)
		if strings.Contains(schema, `"next"`) { // to some depth
			if !strings.HasPrefix(document, `{"v": 12, "next": {"v": 12`) || strings.Count(document, "next") > exampleDepth {
				t.Errorf("%s: %s", schema, document)
			}
			continue
		}
		if document != want {
			t.Errorf("%s: %s, want %s", schema, document, want)
		}
	}
	f := &Format{JSON: true, Schema: []byte(`{"type": "object", "properties": {"a": {"type": "string"}}}`)}
	if got := f.Example(func([]byte) bool { return false }); got != "" {
		t.Errorf("one that doesn't fit: %s", got)
	}
	if got := f.Example(func(d []byte) bool { return string(d) == "{}" }); got != "{}" {
		t.Errorf("without what isn't required: %s", got)
	}
	if f.Shown = []byte(`{"a": "b"}`); f.Example(fine) != `{"a": "b"}` {
		t.Error("the given one is not shown")
	}
	if f = (&Format{Regex: "a"}); f.Example(fine) != "" {
		t.Error("of a text that is not JSON")
	}
	long := strings.Repeat(`{"type": "array", "minItems": 9, "items": `, 9) + `{}` + strings.Repeat("}", 9)
	if got := (&Format{JSON: true, Schema: []byte(long)}).Example(fine); len(got) > exampleBytes {
		t.Errorf("%d bytes", len(got))
	}
}
