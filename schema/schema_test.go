package schema

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/language"
	"github.com/stencil-json/stencil/schema/syntax"
	"github.com/stencil-json/stencil/vocab"
)

// byteVocab is a vocabulary of single bytes and some longer tokens that
// cross the borders between strings, keys and values.
func byteVocab(t testing.TB) *vocab.Vocab {
	t.Helper()
	var tokens []vocab.Token
	for b := range 256 {
		tokens = append(tokens, vocab.Token{Text: fmt.Sprintf("<0x%02X>", b), Kind: vocab.Byte})
	}
	for _, text := range []string{
		`","`, `":"`, `":`, `"}`, `"},{"`, `{"`, `["`, `"]`, `, "`, `: "`, `  `, `    `, "\n", "\n  ", `true`, `null`,
		`12`, `123`, `00`, `.5`, `ab`, `abc`, `a"`, `\"`, `\u00`, `é`, `日本`, `}}`, `]}`, `name`, `na`,
	} {
		tokens = append(tokens, vocab.Token{Text: text, Kind: vocab.Normal})
	}
	v, err := vocab.FromTokens(tokens, vocab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var lenient = Options{Order: OrderAny, Whitespace: Flexible(0), AnyNumberSpelling: true}

func grammar(t testing.TB, v *vocab.Vocab, src string, opt Options) *decoder.Grammar {
	t.Helper()
	s, err := Compile([]byte(src), opt)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return s.Grammar(v)
}

func accepts(g *decoder.Grammar, text string) bool {
	m := g.NewMatcher()
	_, err := m.AcceptBytes([]byte(text))
	return err == nil && m.Accepting()
}

// draft4 returns a schema of draft 4 with the given members.
func draft4(members string) string {
	return `{"$schema": "http://json-schema.org/draft-04/schema#", ` + members + `}`
}

func TestAccepts(t *testing.T) {
	v := byteVocab(t)
	for _, c := range []struct {
		schema  string
		yes, no []string
	}{
		{`true`, []string{`{}`, `[1, "a", null, {"b": -0.5e3}]`, `"\u00e9\ud83d\ude00"`}, []string{``, `{`, `"\ud800"`, `01`, `nul`}},
		{`{"type": "integer", "minimum": 3, "maximum": 12}`, []string{`3`, `12`, `7.0`}, []string{`2`, `13`, `3.5`, `"3"`}},
		{draft4(`"type": "integer"`), []string{`0`, `-0`, `-12`, `12345`, `123456789012345678901234567890`}, []string{`12345.0`, `12.`, `1e2`, `0.0`, `0e0`, `1E0`}},
		{draft4(`"type": "integer", "minimum": 0.5, "maximum": 120, "multipleOf": 2.5`), []string{`5`, `120`}, []string{`0`, `5.0`, `2.5`, `7`, `125`}},
		{draft4(`"not": {"type": "integer"}`), []string{`1.0`, `0.0`, `-0e5`, `1.5`, `1e2`, `"1"`}, []string{`1`, `0`, `-7`}},
		{draft4(`"enum": [1, 2.5, 100], "not": {"type": "integer"}`), []string{`1.0`, `10e-1`, `2.5`, `1E2`, `0.1e3`}, []string{`1`, `100`, `3.0`}},
		{draft4(`"type": "integer", "enum": [1.0, 2.5, 1e2]`), []string{`1`, `100`}, []string{`1.0`, `1e2`, `2.5`, `10`}},
		{draft4(`"type": "number", "multipleOf": 1`), []string{`1.0`, `1`, `1e3`}, []string{`1.5`}},
		{draft4(`"type": "array", "uniqueItems": true, "items": {"type": "integer"}, "additionalItems": false`), []string{`[1, 2]`}, []string{`[1, 1]`, `[1.0]`}},
		{`{"$schema": "http://json-schema.org/draft-06/schema#", "type": "integer"}`, []string{`12345.0`, `1e2`}, []string{`1.5`}},
		{`{"type": "string", "minLength": 2, "maxLength": 3}`, []string{`"ab"`, `"é日x"`, `"\n\""`}, []string{`"a"`, `"abcd"`}},
		{`{"not": {"pattern": "b^(?:a)"}}`, []string{`"ba"`, `""`}, []string{`1`}},
		{`{"patternProperties": {"^(?!.)[a-z]$": false}}`, []string{`"ba"`, `{"a": 1}`}, nil},
		{`{"pattern": "^(?!ab)[a-c]+$"}`, []string{`"ba"`, `5`}, []string{`"abc"`, `"d"`}},
		{`{"type": "array", "uniqueItems": true}`, []string{`[1, 2, "1"]`, `[36e8156862, 1]`, `[[3e999999], {}]`}, []string{`[1, 1.0]`, `["a", "\u0061"]`}},
		{`{"type": "array", "not": {"uniqueItems": true}}`, []string{`[1, 1]`, `["a", "b", "a"]`, `[{"x": 1}, 2, {"x": 1.0}]`}, []string{`[]`, `[1]`, `[1, 2]`, `["a", "b"]`}},
		{`{"type": "array", "oneOf": [{"uniqueItems": true}, {"minItems": 3}]}`, []string{`[]`, `[1, 2]`, `[1, 1, 1]`, `[1, 2, 1]`}, []string{`[1, 1]`, `[1, 2, 3]`}},
		{`{"type": "array", "anyOf": [{"uniqueItems": true}, {"minItems": 3}]}`, []string{`[1, 2, 3]`, `["a", "a", "a"]`}, []string{`["a", "a"]`}},
		{`{"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2, "not": {"uniqueItems": true}}`, []string{`["a", "a"]`, `["b","b"]`}, []string{`["a"]`, `["a", "b"]`, `["a", "a", "a"]`}},
		{`{"type": "array", "prefixItems": [{"enum": ["a", "c"]}, {"enum": ["a", "b"]}], "items": false, "not": {"uniqueItems": true}}`, []string{`["a", "a"]`}, []string{`["c"`, `["c", "b"]`}},
		{`{"enum": [1, "x", {"a": [true]}, null]}`, []string{`1`, `1.0`, `"x"`, `{"a": [true]}`, `null`}, []string{`2`, `{"a": [true], "b": 1}`, `{}`}},
		{`{"properties": {"a": {"type": "number"}}, "required": ["a"], "additionalProperties": false}`, []string{`{"a": 1}`, `3`}, []string{`{}`, `{"a": "x"}`, `{"a": 1, "b": 2}`, `{"a": 1, "a": 2}`}},
		{`{"type": "object"}`, []string{`{"x": 1, "y": {"x": 1}}`}, []string{`{"x": 1, "x": 2}`}},
		{`{"patternProperties": {"^x": {"type": "null"}}, "propertyNames": {"maxLength": 2}}`, []string{`{"x": null, "y": 1}`}, []string{`{"x": 1}`, `{"abc": 1}`}},
		{`{"type": "object", "minProperties": 2, "maxProperties": 3}`, []string{`{"a": 1, "b": 2}`}, []string{`{"a": 1}`, `{"a": 1, "b": 2, "c": 3, "d": 4}`}},
		{`{"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"}`, []string{`{"a": 1}`, `{"b": 1, "c": 1}`}, []string{`{}`, `{"a": 1, "b": 2}`}},
		{`{"type": "object", "not": {"required": ["a"]}}`, []string{`{}`, `{"b": 1}`}, []string{`{"a": 1}`}},
		{`{"if": {"properties": {"k": {"const": 1}}, "required": ["k"]}, "then": {"required": ["x"]}, "else": {"required": ["y"]}, "type": "object"}`,
			[]string{`{"k": 1, "x": 0}`, `{"x": 0, "k": 1}`, `{"k": 2, "y": 0}`, `{"y": 1}`}, []string{`{"k": 1}`, `{"k": 1, "y": 0}`, `{"k": 2, "x": 0}`}},
		{`{"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"minProperties": 2}}, "type": "object"}`, []string{`{"a": 1, "b": 1}`, `{"b": 1, "a": 1}`, `{"c": 1, "d": 1}`}, []string{`{"a": 1}`, `{"c": 1}`}},
		{`{"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": true, "minItems": 2}`, []string{`["a", "c"]`, `["c", "b", "a"]`}, []string{`["a"]`, `["a", "a"]`, `["a", "b", "a"]`}},
		{`{"prefixItems": [{"type": "string"}], "items": {"type": "integer"}, "contains": {"type": "integer", "minimum": 5}, "maxContains": 1, "type": "array"}`, []string{`["a", 5]`, `["a", 1, 9]`}, []string{`["a"]`, `["a", 5, 6]`, `[1, 5]`}},
		{`{"allOf": [{"properties": {"a": {"minimum": 2}}}, {"properties": {"a": {"maximum": 3}}}], "unevaluatedProperties": false, "type": "object"}`, []string{`{"a": 2}`, `{}`}, []string{`{"a": 4}`, `{"b": 1}`}},
		{`{"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}, "required": ["kids"], "additionalProperties": false}}}`,
			[]string{`{"kids": [{"kids": []}]}`}, []string{`{"kids": [{}]}`, `{"kids": [1]}`}},
		{`{"multipleOf": 0.01, "exclusiveMinimum": 0}`, []string{`0.01`, `12.34`, `1e2`}, []string{`0`, `0.001`, `-1`}},
		{`{"format": "date"}`, []string{`"2024-02-29"`, `7`}, []string{`"2023-02-29"`, `"today"`}},
	} {
		g := grammar(t, v, c.schema, lenient)
		for _, text := range c.yes {
			if !accepts(g, text) {
				t.Errorf("%s refuses %s", c.schema, text)
			}
		}
		for _, text := range c.no {
			if accepts(g, text) {
				t.Errorf("%s accepts %s", c.schema, text)
			}
		}
	}
}

func TestLayouts(t *testing.T) {
	v := byteVocab(t)
	const src = `{"type": "object", "properties": {"b": {"type": "array", "items": {"type": "integer"}}, "a": {"type": "object"}}, "required": ["b"]}`
	for _, c := range []struct {
		opt     Options
		yes, no []string
	}{
		{Options{}, []string{`{"b":[1,2],"a":{}}`, `{"b":[],"z":1}`}, []string{`{"a":{},"b":[]}`, `{"b": []}`, `{"z":1,"b":[]}`, "{\"b\":[]}\n"}},
		{Options{Whitespace: Natural},
			[]string{`{"b":[1,2],"a":{}}`, `{"b": [1, 2], "a": {}}`, `{"b": [1, 2],"a": {}}`, `{ "b":[ 1,2 ] }`, `{"b":[]}`, "{\n\"b\":[1,2]\n}",
				"{\n\t\"b\": [\n\t\t1,\n\t\t2\n\t],\n\t\"a\": {}\n}", "{\n   \"b\": [1, 2],\n   \"a\": {}\n}", "{\"b\": [\n  1,\n  2\n], \"a\": {\n \"x\": 1\n}}"},
			[]string{` {"b":[]}`, "{\"b\":[]}\n", `{"b" :[]}`, `{"b":  []}`, "{\n" + strings.Repeat(" ", 9) + `"b":[]}`, "{\r\n\"b\":[]\r\n}",
				`{"b": [],"a":{}}`, `{"b": [1, 2,3]}`, `{ "b":[]}`, `{"b":[ 1]}`, "{\n \"b\": [],\n  \"a\": {}\n}", "{\n \"b\": [\n1\n ]\n}", "{\n \"b\": []}", "{\n \"b\": [], \"a\": {}\n}"}},
		{Options{Whitespace: Spaced}, []string{`{"b": [1, 2], "a": {}}`, `{"b": []}`}, []string{`{"b":[1, 2], "a": {}}`, `{"b": [1,2]}`, `{"b": [ 1]}`, `{ "b": []}`}},
		{Options{Whitespace: Pretty}, []string{"{\n  \"b\": [\n    1,\n    2\n  ],\n  \"a\": {}\n}", "{\n  \"b\": []\n}"}, []string{`{"b":[]}`, "{\n\"b\": []\n}"}},
		{Options{Order: OrderAny, Whitespace: Flexible(2)}, []string{"{\"a\" : {} ,\n\n\"b\":[]}", ` {"b":[ ]} `}, []string{`{   "b":[]}`}},
	} {
		g := grammar(t, v, src, c.opt)
		for _, text := range c.yes {
			if !accepts(g, text) {
				t.Errorf("%+v refuses %q", c.opt, text)
			}
		}
		for _, text := range c.no {
			if accepts(g, text) {
				t.Errorf("%+v accepts %q", c.opt, text)
			}
		}
	}
}

// Every mask must contain exactly the tokens whose bytes are accepted.
func TestMasksEqualBytes(t *testing.T) {
	v := byteVocab(t)
	for _, src := range []string{
		`true`,
		`{"type": "object", "properties": {"name": {"type": "string", "maxLength": 3}, "na": {"type": "integer"}, "é": {"enum": ["ab", "abc", 12]}}, "required": ["na"]}`,
		`{"type": "object", "properties": {"a": true, "ab": true}, "additionalProperties": false, "minProperties": 1}`,
		`{"type": "object", "patternProperties": {"^[a-b]{1,2}$": {"type": "boolean"}}, "additionalProperties": false}`,
		`{"type": "array", "items": {"type": "string"}, "uniqueItems": true}`,
		`{"const": ""}`,
		draft4(`"type": "integer", "minimum": 3, "multipleOf": 6`),
		draft4(`"type": ["number", "null"], "not": {"type": "integer"}`),
		`{"maxLength": 1}`,
		`{"type": "array", "items": {"enum": ["a", "ab", null]}, "uniqueItems": true}`,
		`{"type": "string", "pattern": "^[a-c]+(\\s[a-z]+){0,2}$"}`,
	} {
		for _, opt := range []Options{{}, lenient, {Whitespace: Pretty}, {Whitespace: Natural}, {Whitespace: Spaced}} {
			g := grammar(t, v, src, opt)
			m := g.NewMatcher()
			for step := range 60 {
				mask, err := m.Mask()
				if err != nil {
					t.Fatal(err)
				}
				var allowed []int32
				for tok := range int32(v.Len()) {
					_, err := m.Clone().AcceptBytes(v.Bytes(tok))
					if ok := err == nil && len(v.Bytes(tok)) > 0; ok != mask.Has(tok) {
						t.Fatalf("%s %+v after %q: token %q: mask %v, bytes %v", src, opt, m.Text(), v.Bytes(tok), mask.Has(tok), ok)
					} else if ok {
						allowed = append(allowed, tok)
					}
				}
				if mask.Len() != len(mask.AppendTokens(nil)) || mask.Len() != len(allowed) {
					t.Fatalf("%s after %q: Len %d, tokens %d, allowed %d", src, m.Text(), mask.Len(), len(mask.AppendTokens(nil)), len(allowed))
				}
				if rest := m.ShortestCompletion(); !completes(m, rest) {
					t.Fatalf("%s %+v after %q: %q doesn't complete", src, opt, m.Text(), rest)
				}
				if len(allowed) == 0 {
					if !m.Accepting() {
						t.Fatalf("%s after %q: dead end", src, m.Text())
					}
					break
				}
				if err := m.Accept(allowed[(step*7919+3)%len(allowed)]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func completes(m *decoder.Matcher, rest []byte) bool {
	c := m.Clone()
	_, err := c.AcceptBytes(rest)
	return err == nil && c.Accepting()
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`{"type": "strin"}`, `1:10: "/type": type "strin": must be one of null, boolean, number, integer, string, array, object (did you mean string?)`},
		{`{"type": }`, `1:10: unexpected '}', a value expected`},
		{`{"properties": {"a": 3}}`, `"/properties/a"`},
		{`{"$ref": "#/nope"}`, `"/$ref": $ref "#/nope": nothing is there`},
		{`{"$ref": "other.json"}`, `"/$ref": $ref "other.json": references outside of the document are not followed`},
		{`{"pattern": "(a)\\1"}`, `"/pattern": pattern`},
		{`{"pattern": "("}`, `"/pattern": pattern`},
		{`{"allOf": [{"type": "string"}, {"type": "integer"}]}`, `"/allOf"`},
		{`{"type": "integer", "minimum": 3, "maximum": 2}`, `"/minimum": minimum 3: contradicts`},
		{`{"$ref": "#"}`, `without an end`},
		{`{"minLength": -1}`, `"/minLength": minLength -1: must be a non-negative integer`},
		{`{"a": 1, "a": 2}`, `duplicate key "a"`},
		{`{"minLength": 99999999}`, `"/minLength": minLength 99999999: more than 65536 characters`},
		{`{"pattern": "^((a{1000}){1000}){1000}$"}`, `"/pattern": pattern`},
		{`{"minItems": 99999999}`, `"/minItems": minItems 99999999: more than 65536 items`},
		{`{"minItems": 300, "uniqueItems": true}`, `"/minItems": minItems 300: more than 256 different items`},
		{`{"minProperties": 300}`, `"/minProperties": minProperties 300: more than 256 properties`},
	} {
		_, err := Compile([]byte(c.src), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.src, err, c.want)
		}
	}
	var unsupported *UnsupportedError
	_, err := Compile([]byte(`{"properties": {"a": {"$ref": "x"}, "b": {"pattern": "(a)\\1"}}}`), Options{})
	if !errors.As(err, &unsupported) || len(unsupported.Issues) != 2 {
		t.Errorf("not all unsupported keywords are listed: %v", err)
	}
	s, err := Compile([]byte(`{"requird": ["a"], "x-b": 1}`), Options{})
	if err != nil || len(s.Report().Warnings) != 1 || !strings.Contains(s.Report().Warnings[0].Hint, "required") {
		t.Errorf("no hint for a misspelt keyword: %v %+v", err, s)
	}
	if _, err := Compile([]byte(`{"requird": ["a"]}`), Options{Strict: true}); err == nil {
		t.Error("a misspelt keyword is accepted under Strict")
	}
}

// When one schema exceeds a limit of the shared pool, it goes on in one of its own, and the others stay.
func TestSpoiltLanguages(t *testing.T) {
	v := byteVocab(t)
	small := language.NewCommon(regular.Limits{States: 60})
	compile := func(src string) *decoder.Matcher {
		opt := lenient
		opt.Limits = opt.Limits.OrDefaults()
		s, err := analyse(t.Context(), []byte(src), opt, small)
		if err != nil {
			t.Fatal(err)
		}
		return s.Grammar(v).NewMatcher()
	}
	innocent := compile(`{"type": "string", "pattern": "^a*b$"}`)
	culprit := compile(`{"type": "string", "pattern": "^(a{3}|b{5})*$", "maxLength": 100}`)
	read := func(m *decoder.Matcher, text string) {
		t.Helper()
		if _, err := m.AcceptBytes([]byte(text)); err != nil {
			t.Error(err)
		}
		if _, err := m.Mask(); err != nil {
			t.Error(err)
		}
	}
	read(innocent, `"aa`)
	read(culprit, `"`+strings.Repeat("aaabbbbb", 10))
	if e, err := small.Pattern("^(a{3}|b{5})*$"); err != nil {
		t.Error(err)
	} else if m, err := small.Machine(e); err != nil || m.States() > 60 || m.Err() != nil {
		t.Errorf("the shared pool has %d states: %v", m.States(), err)
	}
	read(innocent, `ab"`)
	if !innocent.Accepting() {
		t.Error("not accepted")
	}
	read(culprit.Clone(), "")
}

// A schema whose languages need too much of the shared pool does not have others compile theirs anew.
func TestGreedyLanguages(t *testing.T) {
	before := language.Shared()
	for _, pattern := range []string{
		"^(?=.*a.{14}$)(?=.*b.{15}$)(?=.*c.{16}$)(?=.*d.{17}$)(?!.*e.{19}$).*x",
		"^(?=.*a.{30}$)(?=.*b.{31}$)(?=.*c.{32}$)(?=.*d.{33}$).*x$",
	} {
		s, err := Compile([]byte(`{"type": "string", "pattern": "`+pattern+`", "not": {"const": "abc"}}`), Options{})
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		m := s.Grammar(byteVocab(t)).NewMatcher()
		m.ShortestCompletion()
		var limit *regular.LimitError
		if err := m.Err(); !errors.As(err, &limit) {
			t.Errorf("%s: the limit is too high for the test: %v", pattern, err)
		}
		if now := language.Shared(); now != before {
			t.Errorf("%s: the shared pool was replaced", pattern)
			before = now
		}
	}
}

// The shortest documents of large demands are found quickly.
func TestLargeDemands(t *testing.T) {
	v := byteVocab(t)
	for _, src := range []string{
		`{"type": "array", "minItems": 65536}`,
		`{"type": "object", "minProperties": 256}`,
		`{"type": "array", "minItems": 256, "uniqueItems": true}`,
		`{"type": "array", "minContains": 256, "contains": {"const": 1}}`,
		`{"type": "string", "minLength": 65536}`,
	} {
		g := grammar(t, v, src, Options{})
		if text := g.NewMatcher().ShortestCompletion(); !accepts(g, string(text)) {
			t.Errorf("%s: the shortest document, of %d bytes, is refused", src, len(text))
		}
	}
	// Together they would be enormous.
	m := grammar(t, v, `{"type": "array", "minItems": 65536, "items": {"type": "array", "minItems": 65536}}`, Options{}).NewMatcher()
	m.ShortestCompletion()
	if _, err := m.Mask(); err == nil {
		t.Error("a shortest document of gigabytes is no error")
	}
}

// The table in doc.go lists the keywords that are read, and no others.
func TestKeywordTable(t *testing.T) {
	src, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(src), "# Keywords")
	listed := map[string]bool{}
	for line := range strings.Lines(table) {
		if rest, ok := strings.CutPrefix(line, "//\t"); ok {
			listed[strings.Fields(rest)[0]] = true
		}
	}
	for _, k := range syntax.Assertions {
		if !listed[k] {
			t.Errorf("doc.go doesn't list %s", k)
		}
		delete(listed, k)
	}
	for k := range listed {
		t.Errorf("doc.go lists %s, which is not read", k)
	}
}

// Matchers of one grammar may be used by many goroutines.
func TestConcurrentMatchers(t *testing.T) {
	v := byteVocab(t)
	g := grammar(t, v, `{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}, "uniqueItems": true}}}`, lenient)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			m := g.NewMatcher()
			for _, b := range []byte(`{"a": ["x", "yz"], "b": {"c": [1, 2]}}`) {
				if _, err := m.Mask(); err != nil {
					t.Error(err)
				}
				if _, err := m.AcceptBytes([]byte{b}); err != nil {
					t.Error(err)
				}
			}
			if !m.Accepting() {
				t.Error("not accepted")
			}
		})
	}
	wg.Wait()
}

func FuzzCompile(f *testing.F) {
	f.Add(`{"type": "object", "properties": {"a": {"$ref": "#"}}, "not": {"required": ["b"]}}`, `{"a": {}}`)
	f.Add(`{"oneOf": [{"enum": [1, [2]]}, {"items": {"multipleOf": 3}}]}`, `[3]`)
	v := byteVocab(f)
	f.Fuzz(func(t *testing.T, src, text string) {
		if len(src) > 1000 || len(text) > 200 {
			return
		}
		s, err := Compile([]byte(src), Options{Limits: Limits{Steps: 1 << 14, States: 1 << 16}})
		if err != nil {
			return
		}
		m := s.Grammar(v).NewMatcher()
		if _, err := m.AcceptBytes([]byte(text)); err == nil {
			_, _ = m.Mask()
		}
	})
}

// The shortest completion after any prefix completes it.
func TestShortestCompletion(t *testing.T) {
	v := byteVocab(t)
	for _, c := range []struct {
		schema   string
		prefixes []string
	}{
		{`{"type": "object", "not": {"propertyNames": {"not": {"const": "0"}}}, "patternProperties": {"\\d": {"type": "boolean"}}}`,
			[]string{``, `{`, `{"`, `{"0`, `{"a":1`, `{"a":1,"`, `{"0":true,`, `{"0":true,"`, `{"0":true,"1`, `{"a":1,"00":true,"`}},
		{`{"type": "object", "properties": {"a": true, "b": true}, "required": ["b"], "not": {"patternProperties": {"x": {"type": "array"}}}}`,
			[]string{``, `{`, `{"a":1`, `{"a":1,`, `{"b":1`, `{"b":1,"c":2,"`}},
		{`{"type": "array", "items": {"enum": ["a", "b"]}, "not": {"uniqueItems": true}}`, []string{``, `[`, `["a"`, `["a",`, `["a","b"`}},
		{`{"type": "object", "propertyNames": {"pattern": "\\n|\""}, "minProperties": 1}`, []string{``, `{`, `{"`, `{"a`, `{"\`}},
		{`{"type": "object", "minProperties": 3, "maxProperties": 3, "properties": {"a": {"type": "object", "required": ["x"]}}, "required": ["a"]}`,
			[]string{``, `{"`, `{"a":{`, `{"a":{"x":1},"aa":[`}},
		{`{"allOf": [{"if": {"properties": {"k": {"const": 1}}}, "then": {"required": ["one"]}}, {"if": {"properties": {"k": {"const": 2}}}, "then": {"required": ["two"]}},
			{"if": {"properties": {"k": {"const": 3}}}, "then": {"properties": {"v": {"type": "string", "minLength": 3}}}}], "required": ["k", "v"], "type": "object"}`,
			[]string{``, `{`, `{"k":1`, `{"k":2,"v`, `{"k":3`, `{"v":"`, `{"v":1,`}},
	} {
		for _, opt := range []Options{{}, lenient, {Whitespace: Pretty}, {Whitespace: Natural}, {Whitespace: Spaced}} {
			for _, prefix := range c.prefixes {
				m := grammar(t, v, c.schema, opt).NewMatcher()
				if _, err := m.AcceptBytes([]byte(prefix)); err != nil {
					continue // another order or layout
				}
				rest := m.ShortestCompletion()
				if _, err := m.AcceptBytes(rest); err != nil || !m.Accepting() {
					t.Errorf("%s: %q is completed by %q: %v", c.schema, prefix, rest, err)
				}
			}
		}
	}
}

// If an array can be read in two ways that both continue, its items must be remembered,
// whether or not masks were computed before.
func TestUniqueItemsReadTwoWays(t *testing.T) {
	v := byteVocab(t)
	g := grammar(t, v, `{"type": "array", "uniqueItems": true, "anyOf": [
		{"items": {"properties": {"p": {"type": "string"}}}},
		{"items": {"properties": {"q": {"type": "string"}}}}]}`, Options{})
	for _, text := range []string{`[{"b":"1"},{"a":"1"},{"b":"3"}]`, `[{"a":"1"},{"a":"2"},{"a":"3"}]`} {
		m := g.NewMatcher()
		for _, b := range []byte(text) {
			if _, err := m.Mask(); err != nil {
				t.Fatal(err)
			}
			if _, err := m.AcceptBytes([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
	}
	const same = `[{"a":"1"},{"a":"1"}`
	if n, err := g.NewMatcher().AcceptBytes([]byte(same)); err == nil || n != len(same)-1 {
		t.Errorf("%s: %d bytes accepted, %v", same, n, err)
	}
}

// TestUniqueNumbersAreCounted checks that what is remembered of the numbers that an array may still contain, another set after each
// item, counts as memory: the tables are discarded in time.
func TestUniqueNumbersAreCounted(t *testing.T) {
	numbers := make([]string, 150)
	for i := range numbers {
		numbers[i] = strconv.Itoa(i)
	}
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	g := grammar(t, byteVocab(t), `{"type": "array", "uniqueItems": true, "minItems": 100, "items": {"enum": [`+strings.Join(numbers, ",")+`]}}`, Options{Limits: Limits{Memory: 64 << 20}})
	m, before := g.NewMatcher(), held()
	for i := range 40 {
		if _, err := m.AcceptBytes([]byte(map[bool]string{true: "[", false: ","}[i == 0] + numbers[i*37%150])); err != nil {
			t.Fatal(err)
		}
		if m.Remaining() == nil {
			t.Fatal(m.Err())
		}
		if _, err := m.Mask(); err != nil { // before which the tables may be discarded
			t.Fatal(err)
		}
	}
	if grown := held() - before; grown > 96<<20 || g.Stats().Resets == 0 {
		t.Errorf("%d MiB more are held, %d counted, after %d resets", grown>>20, g.Stats().Bytes>>20, g.Stats().Resets)
	}
	runtime.KeepAlive(m)
}

// TestManyPatterns checks a value that selects among alternatives by a pattern each,
// before the member that names the alternative. The automata of all patterns together
// would have too many states; each alternative is followed separately.
func TestManyPatterns(t *testing.T) {
	patterns := []string{`(\w+\.)+\d+`, `\d{7,9}`, `(\w|-){12}`, `\w+_(\w_)?\d+`, `[A-Z]{2}\d{6}`, `10\.\d{4,9}/\S+`, `\d{4}-\d{3}[\dX]`, `(\d-?){13}`,
		`ark:/\d+/\w+`, `urn:\w+:\S+`, `[a-z]+/\d{7}`, `PMC\d+`, `\w{8}-\w{4}`, `https?://\S+`, `(\d+\.){3}\d+`}
	values := []string{"", "a.b.1", "12345678", "ab-cd-ef-gh-", "a_b_12", "XY123456", "10.1234/ab", "1234-567X", "978-0-12345678-9", "ark:/12/ab", "urn:isbn:1", "math/1234567",
		"PMC77", "abcdefgh-abcd", "https://a.b", "1.2.3.4", "a_1.2 1234567", "none"}
	v := byteVocab(t)
	for _, keyword := range []string{"anyOf", "oneOf"} {
		var list []string
		for i, p := range patterns {
			list = append(list, fmt.Sprintf(`{"type": "object", "properties": {"value": {"type": "string", "pattern": %q}, "type": {"enum": ["t%d"]}}, "required": ["value", "type"], "additionalProperties": false}`, p, i))
		}
		g := grammar(t, v, fmt.Sprintf(`{%q: [%s]}`, keyword, strings.Join(list, ",")), Options{})
		for _, value := range values {
			for i, p := range patterns {
				text := fmt.Sprintf(`{"value":%q,"type":"t%d"}`, value, i)
				if got, want := accepts(g, text), regexp.MustCompile(p).MatchString(value); got != want {
					t.Errorf("%s: %s: accepted %v; %s matches %v", keyword, text, got, p, want)
				}
			}
		}
		m := g.NewMatcher()
		if _, err := m.AcceptBytes([]byte(`{"value":"a1.`)); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Mask(); err != nil {
			t.Error(err)
		}
		if n := g.Stats().Bytes; n > 8<<20 {
			t.Errorf("%s: %d bytes", keyword, n)
		}
	}
}

// Limits of numbers are reported as limits of the schema, with the place that exceeds
// them.
func TestNumberLimits(t *testing.T) {
	many := make([]string, 200_000)
	for i := range many {
		many[i] = strconv.Itoa(i)
	}
	primes := []string{}
	for _, p := range []int{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47} {
		primes = append(primes, fmt.Sprintf(`{"multipleOf":%d}`, p))
	}
	for _, bad := range []string{
		`{"enum":[` + strings.Join(many, ",") + `]}`,
		`{"const":1e999999999}`,
		`{"multipleOf":0.` + strings.Repeat("0", 5000) + `7}`,
		`{"multipleOf":` + strings.Repeat("7", 600) + `}`,
		`{"type":"integer","not":{"anyOf":[` + strings.Join(primes, ",") + `]}}`,
	} {
		_, err := Compile([]byte(`{"type":"object","properties":{"a":{"type":"string"},"b":`+bad+`},"required":["b"]}`), Options{})
		var limit *LimitError
		if !errors.As(err, &limit) || limit.Pointer != "/properties/b" {
			t.Errorf("%.60s: %v", bad, err)
		}
	}
}

// An ordinary union of open objects is followed without trying all combinations of its
// parts, and its shortest document is that of one part.
func TestWideUnions(t *testing.T) {
	v := byteVocab(t)
	for _, n := range []int{3, 10, 120} {
		var alts []string
		for i := range n {
			alts = append(alts, fmt.Sprintf(`{"type": "object", "required": ["f%d"], "properties": {"f%d": {"type": %q}}}`, i, i, []string{"string", "integer"}[i%2]))
		}
		for _, keyword := range []string{"oneOf", "anyOf"} {
			for _, order := range []Order{OrderSchema, OrderAny} {
				m := grammar(t, v, fmt.Sprintf(`{%q: [%s]}`, keyword, strings.Join(alts, ",")), Options{Order: order}).NewMatcher()
				for _, c := range []struct{ prefix, want string }{
					{``, `{"f1":0}`}, {`{"`, `f1":0}`}, {`{"f`, `1":0}`}, {`{"f2`, `":""}`}, {`{"f0":1,`, `"f1":0}`}, {`{"f0":""`, `}`},
				} {
					if n == 3 && strings.HasPrefix(c.prefix, `{"f2`) {
						continue // a fourth is shorter
					}
					next := m.Clone()
					_, err := next.AcceptBytes([]byte(c.prefix))
					if rest := string(next.ShortestCompletion()); err != nil || len(rest) != len(c.want) {
						t.Errorf("%s of %d: %q is completed by %q, not as %q: %v, %v", keyword, n, c.prefix, rest, c.want, err, next.Err())
					}
				}
				if _, err := m.AcceptBytes([]byte(`{"f0":"","f1":0,"f2":""}`)); (err == nil) != (keyword == "anyOf") {
					t.Errorf("%s of %d: three that fit: %v", keyword, n, err)
				}
			}
		}
	}
}

// Demands on some items of an array are counted, in any order of the items.
func TestCountedItems(t *testing.T) {
	v := byteVocab(t)
	consts := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"contains": {"const": %d}}`, i))
		}
		return `{"type": "array", "allOf": [` + strings.Join(list, ",") + `]`
	}
	for _, c := range []struct{ schema, want string }{
		{`{"type": "array", "items": {"type": "integer"}, "maxItems": 20, "allOf": [{"contains": {"multipleOf": 2}, "minContains": 3, "maxContains": 5},
			{"contains": {"multipleOf": 3}, "minContains": 3, "maxContains": 5}, {"contains": {"multipleOf": 4}, "minContains": 3, "maxContains": 5}]}`, `[0,0,0]`},
		{`{"type": "array", "uniqueItems": true, "allOf": [{"contains": {"multipleOf": 7}}, {"contains": {"type": "string", "minLength": 3}, "minContains": 5},
			{"contains": {"multipleOf": 5}}]}`, `["aaa","aaa","aaa","aaa","aaa"]`},
		{consts(20) + `}`, `[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]`},
		{consts(9) + `, "maxItems": 8}`, ``},
		{`{"type": "array", "items": {"type": "integer"}, "minItems": 4, "allOf": [{"contains": {"minimum": 0}, "maxContains": 2}, {"contains": {"multipleOf": 2}, "maxContains": 1}]}`, `[0,1,-1,-1]`},
		{`{"type": "array", "prefixItems": [{"const": "long"}, {"enum": [1, 2]}], "items": {"type": "integer"}, "contains": {"type": "integer"}, "minContains": 3, "maxContains": 3}`, `["long",1,0,0]`},
	} {
		s, err := Compile([]byte(c.schema), Options{})
		if c.want == "" {
			if err == nil {
				t.Errorf("%s has a value", c.schema)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", c.schema, err)
		}
		g := s.Grammar(v)
		if text := string(g.NewMatcher().ShortestCompletion()); len(text) != len(c.want) || !accepts(g, text) {
			t.Errorf("%s: %s instead of %s", c.schema, text, c.want)
		}
	}
}

// Formulas of few literals have few branches, regardless of their nesting.
func TestNestedNumbers(t *testing.T) {
	src := `{"type": "number", "minimum": 1}`
	for i := range 12 {
		src = fmt.Sprintf(`{"oneOf": [{"multipleOf": %d}, %s]}`, 2+i%5, src)
	}
	g := grammar(t, byteVocab(t), src, lenient)
	for n := range 30 {
		fits := n >= 1
		for i := range 12 {
			fits = fits != (n%(2+i%5) == 0)
		}
		if accepts(g, strconv.Itoa(n)) != fits {
			t.Errorf("%d fits: %v", n, !fits)
		}
	}
}

// Long lists of items take memory and time in proportion to their length, however they
// are demanded: the rest after an item is part of the list, not a copy. The bounds are
// a tenth of what copies would take.
func TestLongLists(t *testing.T) {
	const n = 1000
	list := func(one string) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf(one, i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	v := byteVocab(t)
	all := strings.ReplaceAll(list("%d"), " ", "")
	least := list(`{"type": "integer", "minimum": %[1]d, "maximum": %[1]d}`)
	for name, c := range map[string]struct{ schema, want string }{
		"prefixItems":         {fmt.Sprintf(`{"type": "array", "minItems": %d, "prefixItems": %s}`, n, least), all},
		"with items":          {fmt.Sprintf(`{"type": "array", "minItems": %d, "prefixItems": %s, "items": {"type": "null"}}`, n+1, least), all[:len(all)-1] + ",null]"},
		"constant":            {`{"const": ` + list("%d") + `}`, all},
		"one of two":          {fmt.Sprintf(`{"type": "array", "oneOf": [{"minItems": %d, "prefixItems": %s}, {"minItems": 1, "items": {"type": "string"}, "maxItems": 0}]}`, n, least), all},
		"two together":        {fmt.Sprintf(`{"type": "array", "minItems": %d, "allOf": [{"prefixItems": %s}, {"prefixItems": %s}]}`, n, least, list(`{"maximum": %d}`)), all},
		"neither of two ends": {fmt.Sprintf(`{"type": "array", "minItems": %d, "maxItems": %d, "prefixItems": %s, "not": {"const": [1]}}`, n, n, least), all},
	} {
		s, err := Compile([]byte(c.schema), Options{Limits: Limits{Memory: 24 << 20, Steps: 1 << 16}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m := s.Grammar(v).NewMatcher()
		if got := string(m.ShortestCompletion()); got != c.want {
			t.Errorf("%s: the shortest is %.60s…, %d bytes: %v", name, got, len(got), m.Err())
		}
		for at := 0; at < len(c.want); {
			if _, err := m.Mask(); err != nil {
				t.Errorf("%s: after %d bytes: %v", name, at, err)
				break
			}
			k, err := m.AcceptBytes([]byte(c.want[at : at+1]))
			if err != nil || k != 1 {
				t.Errorf("%s: %q after %d bytes: %v", name, c.want[at], at, err)
				break
			}
			at++
			if at%97 == 0 {
				if rest := string(m.ShortestCompletion()); len(rest) != len(c.want)-at {
					t.Errorf("%s: %d bytes end what %d do", name, len(rest), len(c.want)-at)
				}
			}
		}
		if err := m.Err(); err != nil || !m.Accepting() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A demand that some item differs from its entry in a list.
func TestNotLeading(t *testing.T) {
	v := byteVocab(t)
	for _, c := range []struct {
		schema  string
		yes, no []string
	}{
		{`{"type": "array", "not": {"prefixItems": [{"const": 1}, {"const": 2}, {"const": 3}]}}`,
			[]string{`[2]`, `[1,3]`, `[1,2,4]`, `[0,2,3,9]`}, []string{`[]`, `[1]`, `[1,2]`, `[1,2,3]`, `[1,2,3,4]`}},
		{`{"type": "array", "not": {"prefixItems": [true, {"const": 2}, true]}}`, []string{`[2,1]`, `[2,1,7]`}, []string{`[]`, `[1]`, `[7,2,1]`}},
		{`{"type": "array", "oneOf": [{"prefixItems": [{"const": 1}, {"const": 2}]}, {"prefixItems": [{"const": 1}, {"const": 3}]}]}`,
			[]string{`[1,2]`, `[1,3,9]`}, []string{`[]`, `[1]`, `[1,4]`, `[2]`}},
		{`{"type": "array", "not": {"const": [1, [2, 3]]}}`, []string{`[]`, `[1]`, `[1,[2]]`, `[1,[2,3],4]`, `[1,[2,4]]`}, []string{`[1,[2,3]]`}},
		{`{"type": "array", "uniqueItems": true, "prefixItems": [{"enum": [1, 2]}, {"enum": [1, 2]}, {"enum": [1, 2, 3]}], "minItems": 3}`,
			[]string{`[1,2,3]`, `[2,1,3,4]`}, []string{`[1,1`, `[1,2,1`}},
		{`{"type": "array", "prefixItems": [true, true, {"const": 3}], "contains": {"const": 3}, "maxContains": 1, "minItems": 3}`, []string{`[1,2,3]`}, []string{`[3,`, `[1,2,4`, `[1,2,3,3`}},
		{`{"type": "array", "prefixItems": [true, false], "items": {"const": 1}}`, []string{`[]`, `[5]`}, []string{`[5,`}},
	} {
		g := grammar(t, v, c.schema, Options{Whitespace: Compact})
		for _, text := range c.yes {
			if !accepts(g, text) {
				t.Errorf("%s refuses %s", c.schema, text)
			}
		}
		for _, text := range c.no {
			if accepts(g, text) {
				t.Errorf("%s accepts %s", c.schema, text)
			}
		}
	}
}

// TestNested: a document that may be a part of an indented one closes its brackets where that one's lines begin.
func TestNested(t *testing.T) {
	v := byteVocab(t)
	s, err := Compile([]byte(`{"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "integer"}}}, "c": {"type": "array", "items": {"type": "integer"}}}}`), Options{Whitespace: NaturalNested})
	if err != nil {
		t.Fatal(err)
	}
	for text, fits := range map[string]bool{
		"{\n  \"c\": []\n}":                                     true,
		"{\n    \"c\": []\n  }":                                 true,
		"{\n    \"c\": []\n}":                                   true,
		"{\n      \"c\": []\n    }":                             true, // in a list
		"{\n  \"c\": []\n    }":                                 false,
		"{\n   \"c\": []\n }":                                   false, // 3 is no even number, and 2 of it are not a third
		"{\n    \"a\": {\n      \"b\": 1\n    }\n  }":           true,
		"{\n    \"a\": {\n        \"b\": 1\n    }\n}":           true,
		"{\n    \"a\": {\n        \"b\": 1\n    }\n  }":         false,
		"{\"c\": [\n      1,\n      2\n    ]}":                  true,
		"{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}":                   true,
		"{\"a\": {\"b\": 1}, \"c\": [1, 2]}":                    true,
		"{\n    \"a\": {\n      \"b\": 1\n    },\n    \"c\": 1": false,
	} {
		m := s.Grammar(v).NewMatcher()
		_, err := m.AcceptBytes([]byte(text))
		if got := err == nil && m.Accepting(); got != fits {
			t.Errorf("%q: %v, want %v (%v)", text, got, fits, err)
		}
	}
}
