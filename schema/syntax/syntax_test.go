package syntax

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/schema/language"
	"github.com/stencil-json/stencil/schema/number"
)

func parse(t *testing.T, src string) *Document {
	t.Helper()
	d, err := ParseDocument(src, 100, false)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	d.CheckTexts(language.Shared())
	d.CheckSizes()
	return d
}

// All problems of a document are listed with their places.
func TestIssues(t *testing.T) {
	for _, c := range []struct{ src, invalid, unsupported, warning string }{
		{src: `{"type": "string"}`},
		{src: "{\n \"properties\": {\"a/b\": {\"type\": \"strin\"}}}", invalid: `2:33: "/properties/a~1b/type": type "strin": must be one of null, boolean, number, integer, string, array, object (did you mean string?)`},
		{src: `{"$ref": "#/nope"}`, invalid: `"/$ref": $ref "#/nope": nothing is there`},
		{src: `{"allOf": []}`, invalid: `"/allOf": allOf: must not be empty`},
		{src: `{"$ref": "#"}`, invalid: `"": $ref: the schema refers to itself without an end`},
		{src: `{"$ref": "http://other"}`, unsupported: `"/$ref": $ref "http://other": references outside of the document are not followed`},
		{src: `{"minItems": 100000}`, unsupported: `"/minItems": minItems 100000: more than 65536 items can't be made sure of`},
		{src: `{"fromat": "date"}`, warning: `"/fromat": fromat "date": unknown keyword (did you mean format?)`},
		{src: `{"format": "dates"}`, warning: `"/format": format "dates": unknown format, taken as an annotation (did you mean date?)`},
		{src: `{"items": [true]}`, warning: `"/items": items: a list of schemas is read as prefixItems, as draft 7 meant it`},
	} {
		d := parse(t, c.src)
		for _, x := range []struct {
			name string
			got  []Issue
			want string
		}{{"invalid", d.Invalid, c.invalid}, {"unsupported", d.Unsupported, c.unsupported}, {"warnings", d.Warnings, c.warning}} {
			if text := joinIssues(x.got); (x.want == "") != (text == "") || !strings.Contains(text, x.want) {
				t.Errorf("%s: %s: got %q, want %q", c.src, x.name, text, x.want)
			}
		}
	}
}

// A keyword has the meaning of the document's draft.
func TestDrafts(t *testing.T) {
	for _, c := range []struct {
		src   string
		draft Draft
		has   bool // the keyword const counts
	}{
		{`{"const": 1}`, Draft2020, true},
		{`{"$schema": "http://json-schema.org/draft-04/schema#", "const": 1}`, Draft4, false},
		{`{"$schema": "http://json-schema.org/draft-06/schema#", "const": 1}`, Draft6, true},
		{`{"$schema": "https://json-schema.org/draft/2019-09/schema", "const": 1}`, Draft2019, true},
		{`{"$schema": "http://json-schema.org/draft-07/schema", "$ref": "#/definitions/a", "const": 1, "definitions": {"a": {}}}`, Draft7, false},
	} {
		d := parse(t, c.src)
		if d.Draft != c.draft || (d.Root.Const != nil) != c.has {
			t.Errorf("%s: %s, const %v", c.src, d.Draft, d.Root.Const)
		}
	}
}

// Equal schemas have one EqualID, regardless of their annotations.
func TestEqualIDs(t *testing.T) {
	p := parse(t, `{"properties": {
		"a": {"type": "object", "properties": {"x": {"enum": [1.0]}}},
		"b": {"title": "other", "properties": {"x": {"enum": [1]}}, "type": "object"},
		"c": {"type": "object", "properties": {"x": {"enum": [2]}}}}}`).Root.Object.Properties
	if a, b, c := p[0].Node.EqualID, p[1].Node.EqualID, p[2].Node.EqualID; a != b || a == c {
		t.Errorf("%d %d %d", a, b, c)
	}
}

// What a schema says by any of its keywords is in the key by which equal schemas are found.
func TestContentHasAll(t *testing.T) {
	child := &Node{Boolean: 1}
	values := []any{7, "x", true, child, []*Node{child}, []string{"x"}, []Property{{"x", child}}, []Dependency{{"x", []string{"y"}}},
		&number.Decimal{}, []number.Decimal{{}}, &Reference{Target: child}}
	content := func(keywords any) (string, bool) {
		n := &Node{}
		at := reflect.ValueOf(n).Elem()
		for i := range at.NumField() {
			if at.Type().Field(i).Type == reflect.TypeOf(keywords) {
				at.Field(i).Set(reflect.ValueOf(keywords))
			}
		}
		var k contentKey
		ok := n.content(&k)
		return string(k), ok
	}
	for _, empty := range []any{ObjectKeywords{}, ArrayKeywords{}, StringKeywords{}, NumberKeywords{}, Applicators{}} {
		of := reflect.TypeOf(empty)
		without, _ := content(reflect.New(of).Interface())
		for i := range of.NumField() {
			if !of.Field(i).IsExported() {
				continue
			}
			keywords := reflect.New(of)
			set := false
			for _, v := range values {
				if field := keywords.Elem().Field(i); reflect.TypeOf(v) == field.Type() {
					field.Set(reflect.ValueOf(v))
					set = true
				}
			}
			if with, ok := content(keywords.Interface()); !set || ok && with == without {
				t.Errorf("%s.%s is not in the content of a schema (a value for it was found: %v)", of.Name(), of.Field(i).Name, set)
			}
		}
	}
}

// A reference within the document finds its target, however the target is
// identified.
func TestReferences(t *testing.T) {
	for _, c := range []struct{ ref, defs, target string }{
		{"#/$defs/a~1b", `"a/b": {"const": 1}`, "/$defs/a~1b"},
		{"#x", `"a": {"$anchor": "x"}`, "/$defs/a"},
		{"http://h/d/e", `"a": {"$id": "http://h/d/e"}`, "/$defs/a"},
		{"#/$defs/a/example", `"a": {"example": {"type": "null"}}`, "/$defs/a/example"},
	} {
		d := parse(t, `{"$ref": "`+c.ref+`", "$defs": {`+c.defs+`}}`)
		if len(d.Invalid)+len(d.Unsupported) > 0 {
			t.Errorf("%s: %v %v", c.ref, d.Invalid, d.Unsupported)
		} else if got := d.Root.Apply.Ref.Target.Pointer(); got != c.target {
			t.Errorf("%s: %s", c.ref, got)
		}
	}
}

func TestReduced(t *testing.T) {
	d := parse(t, `{"minimum": 3, "maximum": 2, "title": "x"}`)
	n := d.Reduced(d.Root, []bool{false, true, true})
	if n.Number.Min != nil || n.Number.Max == nil {
		t.Errorf("%+v", n.Number)
	}
}
