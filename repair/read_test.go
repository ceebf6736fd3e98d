package repair

import (
	"context"
	"errors"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/schema"
)

// suite returns the files of the JSON parsing suite by name.
func suite(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	shared.Members(t, "json-parsing/json-test-suite.tar.xz", func(name string, data []byte) {
		if strings.Contains(name, "test_parsing/") {
			out[path.Base(name)] = data
		}
	})
	return out
}

// TestSuite checks that texts that parse are returned unchanged, in every mode,
// and that invalid ones are rejected unless repair is on.
func TestSuite(t *testing.T) {
	files := suite(t)
	yes, no := 0, 0
	for name, text := range files {
		for _, opt := range []Options{{}, {Repair: true}} {
			out := Read(string(text), opt)
			switch name[0] {
			case 'y':
				yes++
				if !out.Fine() || out.Text != string(text) || len(out.Edits) > 0 {
					t.Errorf("%s: %+v", name, out)
				}
			case 'n':
				no++
				if !opt.Repair && (out.JSON || out.Err == nil) {
					t.Errorf("%s: %q read as %q, %v", name, text, out.Text, out.Edits)
				}
				if out.JSON && !parses(out.Text) {
					t.Errorf("%s: not JSON: %q", name, out.Text)
				}
			}
		}
	}
	if yes < 2*90 || no < 2*180 {
		t.Errorf("%d files to accept, %d to refuse", yes/2, no/2)
	}
	t.Logf("%d files accepted, %d refused", yes/2, no/2)
}

func TestClean(t *testing.T) {
	for _, c := range []struct {
		text, want string
		steps      []string
	}{
		{` {"a":1} `, ` {"a":1} `, nil},
		{`5`, `5`, nil},
		{`"**x**"`, `"**x**"`, nil},
		{"```json\n{\"a\": 1}\n```", `{"a": 1}`, []string{StepFence}},
		{"```\n[1]\n``` done", `[1]`, []string{StepFence}},
		{"```json {\"a\": 1} ```", `{"a": 1}`, []string{StepFence}},
		{"```{\"a\": 1}```", `{"a": 1}`, []string{StepFence}},
		{"```json\n{\"a\": 1}", `{"a": 1}`, []string{StepFence}},
		{"```json\n{\"code\": \"```js\\nx\\n```\"}\n```", "{\"code\": \"```js\\nx\\n```\"}", []string{StepFence}},
		{"Run this:\n```sh\nls\n```\nand get\n```json\n{\"a\": 1}\n```", `{"a": 1}`, []string{StepFence}},
		{"So: {\"a\":[1]}, see?", "So: {\"a\":[1]}, see?", nil},
		{"So: {\"a\":[1]} is it.", `{"a":[1]}`, []string{StepSurround}},
		{"Sure! Here it is:\n\n[1, 2]\n\nAnything else?", `[1, 2]`, []string{StepSurround}},
		{`As [1] says: {"a": "}"}`, `{"a": "}"}`, []string{StepSurround}},
		{"It holds a brace {\"a\": \"{[\\\"\"} only", `{"a": "{[\""}`, []string{StepSurround}},
		{`{"a":1} {"b":2}`, `{"a":1} {"b":2}`, nil},
		{`First {"a":1} and then {"b":2}`, `First {"a":1} and then {"b":2}`, nil},
		{`Twice {"a":1} and then {"a":1}`, `{"a":1}`, []string{StepSurround}},
		{"\ufeff{\"a\": 1}", `{"a": 1}`, []string{StepMark}},
		{"\ufeff```json\n{\"a\": 1}\n```", `{"a": 1}`, []string{StepMark, StepFence}},
		{`{**"a"**: *1*, "b": __true__, "c": _"x_y"_}`, `{"a": 1, "b": true, "c": "x_y"}`, []string{StepMarkers, StepMarkers, StepMarkers, StepMarkers}},
		{"{\"a\": `5`}", `{"a": 5}`, []string{StepMarkers}},
		{`{"a": 2*3*4}`, `{"a": 2*3*4}`, nil},
		{`{“a”: “b”}`, `{"a": "b"}`, []string{StepTypographic}},
		{`{“a”: “say “b””}`, `{"a": "say “b”"}`, []string{StepTypographic}},
		{`{“a”: “say "b"”}`, `{"a": "say \"b\""}`, []string{StepTypographic}},
		{`{"a": "“b”"}`, `{"a": "“b”"}`, nil},
		{"Here:\n```json\n{\"a\":\n```", "{\"a\":", []string{StepFence}},
		{`[{}`, `[{}`, nil}, {`["x"]]`, `["x"]]`, nil}, {`{"a":"b"}#`, `{"a":"b"}#`, nil},
		{`nothing`, `nothing`, nil}, {``, ``, nil}, {`{`, `{`, nil},
		{`callback({"a":1});`, `{"a":1}`, []string{StepSurround}},
		{`Broken: {"a": [1, 2} and whole: {"b": 1}`, `Broken: {"a": [1, 2} and whole: {"b": 1}`, nil},
	} {
		got, edits := Clean(c.text, nil)
		var steps []string
		for _, e := range edits {
			steps = append(steps, e.Step)
		}
		if got != c.want || !slices.Equal(steps, c.steps) {
			t.Errorf("Clean(%q) = %q by %v, want %q by %v", c.text, got, steps, c.want, c.steps)
		}
	}
	// The schema decides which of two documents is meant.
	fits := func(d []byte) bool { return strings.Contains(string(d), "b") }
	if got, _ := Clean(`First {"a":1} and then {"b":2}`, fits); got != `{"b":2}` {
		t.Error(got)
	}
}

func checkOf(t testing.TB, src string) Check {
	v, err := constraint.NewValidator(context.Background(), []byte(src), "2020-12")
	if err != nil {
		t.Fatal(err)
	}
	return func(document []byte) ([]schema.Issue, error) {
		err := v.Validate(context.Background(), document)
		var bad *constraint.InvalidDocumentError
		if errors.As(err, &bad) {
			return bad.Issues, nil
		}
		return nil, err
	}
}

func TestCoerce(t *testing.T) {
	for _, c := range []struct{ schema, in, want string }{
		{`{"type": "integer"}`, `"42"`, `42`},
		{`{"type": "number"}`, `"-4.20"`, `-4.20`},
		{`{"type": "integer"}`, `"042"`, ``}, {`{"type": "integer"}`, `"4.5"`, ``}, {`{"type": "integer"}`, `" 42"`, ``},
		{`{"type": "integer"}`, `"1e3"`, ``}, {`{"type": "integer"}`, `"12345678901234567890"`, ``}, {`{"type": "integer"}`, `4.5`, ``},
		{`{"type": "integer", "maximum": 10}`, `"42"`, ``},
		{`{"type": "boolean"}`, `"true"`, `true`}, {`{"type": "boolean"}`, `"yes"`, ``}, {`{"type": "boolean"}`, `1`, ``}, {`{"type": "boolean"}`, `"True"`, ``},
		{`{"type": "null"}`, `"null"`, `null`},
		{`{"type": "string"}`, `42`, `"42"`}, {`{"type": "string"}`, `4.20`, `"4.20"`}, {`{"type": "string"}`, `false`, `"false"`}, {`{"type": "string"}`, `null`, ``},
		{`{"type": "array", "items": {"type": "string"}}`, `"x"`, `["x"]`},
		{`{"type": "array", "items": {"type": "integer"}}`, `"5"`, `[5]`},
		{`{"type": "array", "items": {"type": "integer"}}`, `5`, `[5]`},
		{`{"type": "array", "items": {"type": "integer"}, "minItems": 2}`, `5`, ``},
		{`{"type": "array", "items": {"type": "object", "required": ["a"]}}`, `{"a": 1}`, `[{"a": 1}]`},
		{`{"type": "array", "items": {"type": ["integer", "string"]}}`, `"5"`, ``},
		{`{"type": "object", "required": ["a"]}`, `"{\"a\": 1}"`, `{"a": 1}`},
		{`{"type": "string"}`, `["x"]`, ``},
		{`{"enum": ["1", "2"]}`, `1`, `"1"`}, {`{"enum": ["a", "b"]}`, `"A"`, ``}, {`{"const": 5}`, `"5"`, `5`},
		{`{"anyOf": [{"type": "integer"}, {"type": "null"}]}`, `"7"`, `7`},
		{`{"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]}`, `"7"`, ``},
		{`{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": {"type": "boolean"}}}}`, `{"a": "1", "b": ["true", false], "c": "1"}`, `{"a": 1, "b": [true, false], "c": "1"}`},
		{`{"type": "object", "properties": {"a/b~": {"type": "integer"}}}`, `{"a/b~": "1"}`, `{"a/b~": 1}`},
		{`{"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"v": {"type": "number"}, "next": {"$ref": "#/$defs/n"}}}}}`, `{"v": "1", "next": {"v": "2.5"}}`, `{"v": 1, "next": {"v": 2.5}}`},
	} {
		check := checkOf(t, c.schema)
		wrong, err := check([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		got, edits, issues := coerce([]byte(c.in), wrong, check)
		switch {
		case c.want == "" && len(issues) == 0:
			t.Errorf("%s for %s: coerced to %s", c.in, c.schema, got)
		case c.want != "" && (string(got) != c.want || len(issues) > 0 || len(edits) == 0):
			t.Errorf("%s for %s: %s %v %v, want %s", c.in, c.schema, got, edits, issues, c.want)
		}
	}
	edits := Read(`{"a": {"b": ["1"]}}`, Options{Check: checkOf(t, `{"properties": {"a": {"properties": {"b": {"items": {"type": "integer"}}}}}}`), Repair: true}).Edits
	if len(edits) != 1 || edits[0].Pointer != "/a/b/0" || edits[0].Note != "string to number" {
		t.Errorf("%v", edits)
	}
}

func TestReadErrors(t *testing.T) {
	for _, text := range []string{"", " \n", "\ufeff"} {
		if out := Read(text, Options{Repair: true}); !errors.Is(out.Err, ErrEmpty) {
			t.Errorf("%q: %v", text, out.Err)
		}
	}
	out := Read("{\"a\": 1,\n \"ü\" 2}", Options{})
	var bad *SyntaxError
	if !errors.As(out.Err, &bad) || bad.Line != 2 || bad.Column != 6 || bad.Repair != nil {
		t.Errorf("%+v", out.Err)
	}
	out = Read(`{"a": 2 * 3}`, Options{Repair: true})
	if !errors.As(out.Err, &bad) || bad.Repair == nil || out.Text != `{"a": 2 * 3}` {
		t.Errorf("%+v", out)
	}
	out = Read(`{"a": "5",}`, Options{Repair: true, Check: checkOf(t, `{"properties": {"a": {"type": "integer"}}}`)})
	if !out.Fine() || out.Text != `{"a":5}` || !out.Edited(StepComma) || !out.Edited(StepCoercion) || out.Edited(StepFence) {
		t.Errorf("%+v", out)
	}
	if out = Read(`{"a": 5`, Options{Repair: true, Hints: Hints{Ended: true}}); out.Text != `{"a":5}` || !out.Edited(StepTruncated) {
		t.Errorf("%+v", out)
	}
	if out = Read(`{"a": "5"`, Options{Repair: true, Hints: Hints{Cut: true}}); out.JSON {
		t.Errorf("%+v", out)
	}
}

// TestDamage damages documents at random, as models do, and repairs them: the
// result must be the original document or an error.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	right, refused := 0, 0
	for range 40000 {
		document := randomDocument(r, 3)
		if document[0] != '{' && document[0] != '[' {
			document = "[" + document + ", {}]"
		}
		broken := damage(r, document)
		if parses(broken) {
			continue
		}
		got, edits, err := Repair(broken, Hints{})
		switch {
		case err != nil:
			refused++
		case equalJSON(got, []byte(document)):
			right++
		default:
			t.Errorf("%s\nbroken  %s\nread as %s %v", document, broken, got, edits)
		}
	}
	t.Logf("%d right, %d refused", right, refused)
	if right < 2*refused {
		t.Errorf("only %d right, %d refused", right, refused)
	}
}

var wordsForDamage = []string{"alpha", "it is", "x", "", "a, b", "Ada's", "say \\\"hi\\\"", "two\\nlines", "né", "1", "a: b", "(c)", "#1", "//"}

func randomDocument(r *rand.Rand, depth int) string {
	if depth > 0 && r.IntN(3) > 0 {
		var parts []string
		object := r.IntN(2) == 0
		for i := range r.IntN(4) {
			value := randomDocument(r, depth-1)
			if object {
				value = `"` + []string{"id", "name", "first name", "tags"}[i] + `": ` + value
			}
			parts = append(parts, value)
		}
		if object {
			return "{" + strings.Join(parts, ", ") + "}"
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	switch r.IntN(4) {
	case 0:
		return []string{"0", "-1", "36", "2.5", "1e6"}[r.IntN(5)]
	case 1:
		return []string{"true", "false", "null"}[r.IntN(3)]
	}
	return `"` + wordsForDamage[r.IntN(len(wordsForDamage))] + `"`
}

// damage removes, doubles or replaces one structural character.
func damage(r *rand.Rand, document string) string {
	var places []int
	for i := range len(document) {
		if strings.IndexByte(`{}[],:"`, document[i]) >= 0 {
			places = append(places, i)
		}
	}
	i := places[r.IntN(len(places))]
	c := document[i : i+1]
	switch r.IntN(8) {
	case 0:
		if c == `"` || c == "," {
			break // "" and ,, have their own meaning
		}
		return document[:i+1] + c + document[i+1:]
	case 1:
		if strings.Contains(document, "\\") || strings.Contains(document, "'") {
			break
		}
		return strings.ReplaceAll(document, `"`, `'`)
	case 2:
		return strings.NewReplacer("true", "True", "null", "None", "}", ",}").Replace(document)
	case 3:
		if swap := map[string]string{"]": "}", "}": "]"}[c]; swap != "" {
			return document[:i] + swap + document[i+1:]
		}
	}
	return document[:i] + document[i+1:]
}

// FuzzRead reads arbitrary text: a result is JSON, a text that parses is
// unchanged, and reading a result again changes nothing.
func FuzzRead(f *testing.F) {
	for _, c := range brokenCases(f) {
		f.Add(c.broken)
		f.Add(c.intended)
	}
	check := checkOf(f, `{"properties": {"a": {"type": "integer"}, "b": {"type": "array"}, "name": {"type": "string"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, opt := range []Options{{}, {Repair: true}, {Repair: true, Check: check}} {
			out := Read(text, opt)
			if out.JSON != parses(out.Text) && out.JSON {
				t.Fatalf("%q read as %q", text, out.Text)
			}
			if !out.JSON && out.Text != text {
				t.Fatalf("%q refused and yet changed to %q", text, out.Text)
			}
			if opt.Check == nil && parses(text) && out.Text != text {
				t.Fatalf("%q changed to %q", text, out.Text)
			}
			if again := Read(out.Text, opt); out.Fine() && again.Text != out.Text {
				t.Fatalf("%q read as %q, that as %q", text, out.Text, again.Text)
			}
		}
	})
}
