package validator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/internal/shared"
)

// The official JSON Schema Test Suite.
func TestSuite(t *testing.T) {
	type group struct {
		Description string
		Schema      json.RawMessage
		Tests       []struct {
			Description string
			Data        json.RawMessage
			Valid       bool
		}
	}
	folders := map[string]string{"draft4": "draft-04", "draft6": "draft-06", "draft7": "draft-07", "draft2019-09": "2019-09", "draft2020-12": "2020-12"}
	// Formats are asserted (see TestFormatSuite), and other documents are never
	// fetched.
	elsewhere := map[string]bool{
		"refRemote.json": true, "vocabulary.json": true, "format.json": true, "default.json": false, "content.json": false,
	}
	checked, remote := 0, 0
	shared.Members(t, "json-schema-test-suite/json-schema-test-suite.tar.xz", func(name string, data []byte) {
		_, rest, found := strings.Cut(name, "tests/")
		folder, file := path.Split(rest)
		draft, known := folders[strings.TrimSuffix(folder, "/")]
		if !found || !known || elsewhere[file] || path.Ext(file) != ".json" {
			return
		}
		var groups []group
		if err := json.Unmarshal(data, &groups); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, g := range groups {
			s, err := Compile(t.Context(), g.Schema, draft)
			if err != nil {
				if strings.Contains(err.Error(), "not fetched") {
					remote++
					continue
				}
				t.Errorf("%s: %s: %v", rest, g.Description, err)
				continue
			}
			for _, test := range g.Tests {
				checked++
				err := s.Validate(t.Context(), test.Data)
				var invalid *Error
				if (err == nil) != test.Valid || err != nil && !errors.As(err, &invalid) {
					t.Errorf("%s: %s: %s: %v, want valid %v", rest, g.Description, test.Description, err, test.Valid)
				}
				if invalid != nil && len(invalid.Issues) == 0 {
					t.Errorf("%s: %s: %s: no issue", rest, g.Description, test.Description)
				}
			}
		}
	})
	if checked < 4000 {
		t.Errorf("only %d tests were found", checked)
	}
	t.Logf("%d tests, %d groups need other documents", checked, remote)
}

// doubling returns a schema in which 2^levels paths lead to one subschema.
func doubling(levels int) string {
	var b strings.Builder
	b.WriteString(`{"$defs": {"a0": {"type": "integer"}`)
	for i := 1; i < levels; i++ {
		fmt.Fprintf(&b, `, "a%d": {"allOf": [{"$ref": "#/$defs/a%d"}, {"$ref": "#/$defs/a%d"}]}`, i, i-1, i-1)
	}
	fmt.Fprintf(&b, `}, "$ref": "#/$defs/a%d"}`, levels-1)
	return b.String()
}

func TestManyWays(t *testing.T) {
	s, err := Compile(t.Context(), []byte(doubling(2000)), "2020-12")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(t.Context(), []byte("5")); err != nil {
		t.Error(err)
	}
	var invalid *Error
	if err := s.Validate(t.Context(), []byte("true")); !errors.As(err, &invalid) || len(invalid.Issues) != 1 {
		t.Error(err)
	}
}

func TestLargeSchemas(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$defs": {"d0": true`)
	for i := range 50000 {
		fmt.Fprintf(&b, `, "d%d": {"properties": {"x": {"$ref": "#/$defs/d%d"}}}`, i+1, i)
	}
	b.WriteString(`}, "properties": {"p": {"$ref": "#/$defs/d50000"}`)
	for i := range 100000 {
		fmt.Fprintf(&b, `, "p%d": {"type": "string"}`, i)
	}
	b.WriteString("}}")
	s, err := Compile(t.Context(), []byte(b.String()), "2020-12")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(t.Context(), []byte(`{"p77777": "x", "p": {"x": {"x": 1}}}`)); err != nil {
		t.Error(err)
	}
	if err := s.Validate(t.Context(), []byte(`{"p77777": 1}`)); err == nil {
		t.Error("a wrong member was let through")
	}
}

// A validation that would take too much work ends without a verdict.
func TestGivesUp(t *testing.T) {
	var deep strings.Builder
	deep.WriteString(`{"$ref": "#/$defs/d30000", "$defs": {"d0": true`)
	for i := range 30000 {
		fmt.Fprintf(&deep, `, "d%d": {"$ref": "#/$defs/d%d"}`, i+1, i)
	}
	deep.WriteString("}}")
	many := `{"items": {"anyOf": [` + strings.Repeat(`{"const": 1},`, 5000) + `false]}}`
	slow := `{"type": "array", "items": {"pattern": "^(?=a)(?:(a+)+b|a+c)$"}}`
	for _, test := range []struct{ schema, document string }{
		{deep.String(), `1`},
		{many, `[` + strings.Repeat("2,", 2000) + `2]`},
		{slow, `[` + strings.Repeat(`"`+strings.Repeat("a", 60)+`d",`, 20) + `"a"]`},
		{`{"$ref": "#"}`, `1`},
	} {
		s, err := Compile(t.Context(), []byte(test.schema), "2020-12")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(t.Context(), []byte(test.document)); !errors.Is(err, ErrUndecided) {
			t.Errorf("%.60s: %v", test.schema, err)
		}
	}
}

func TestContextEnds(t *testing.T) {
	gone := errors.New("the client is gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	s, err := Compile(ctx, []byte(`{"pattern": "^(?=a)(a+)+$"}`), "2020-12")
	if err != nil {
		t.Fatal(err)
	}
	cancel(gone)
	if err := s.Validate(ctx, []byte(`"`+strings.Repeat("a", 60)+`d"`)); !errors.Is(err, gone) {
		t.Error(err)
	}
	if _, err := Compile(ctx, []byte(doubling(100)), "2020-12"); !errors.Is(err, gone) {
		t.Error(err)
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		schema, document string
		valid            bool
	}{
		{`{"const": 1e999999999}`, `10e999999998`, true},
		{`{"const": 1e999999999}`, `1`, false},
		{`{"maximum": 1e99999999999999999999}`, `1e9999999`, true},
		{`{"minimum": -1.5}`, `-1.50`, true},
		{`{"minimum": -1.5}`, `-1.51`, false},
		{`{"exclusiveMinimum": 0.1}`, `0.10`, false},
		{`{"multipleOf": 0.01}`, `4.35`, true},
		{`{"multipleOf": 0.01}`, `4.355`, false},
		{`{"multipleOf": 0.3}`, `1e500000000`, false},
		{`{"multipleOf": 0.25}`, `1e500000000`, true},
		{`{"multipleOf": 7}`, `7e-1`, false},
		{`{"type": "integer"}`, `10e-1`, true},
		{`{"type": "integer"}`, `1e-1`, false},
		{`{"uniqueItems": true}`, `[1, 1.0]`, false},
		{`{"uniqueItems": true}`, `[{"a": 1, "b": [0]}, {"b": [0.0], "a": 10e-1}]`, false},
		{`{"uniqueItems": true}`, `[1, true, "1", [1], {"1": 1}]`, true},
		{`{"enum": [0, -0.0]}`, `0e7`, true},
		{`{"minLength": 1e400}`, `"x"`, false},
		{`{"maxItems": 1e400}`, `[1]`, true},
		{`{"minItems": 2.0}`, `[1]`, false},
	} {
		s, err := Compile(t.Context(), []byte(test.schema), "2020-12")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(t.Context(), []byte(test.document)); (err == nil) != test.valid {
			t.Errorf("%s, %s: %v", test.schema, test.document, err)
		}
	}
}

// In draft 4, an integer is written without a fraction and an exponent.
func TestIntegersOfDraft4(t *testing.T) {
	for _, document := range []string{"1.0", "1e2", "12345.0", "-0.0", "0e5", "10e-1"} {
		for draft, valid := range map[string]bool{"draft-04": false, "draft-06": true, "2020-12": true} {
			for schema, valid := range map[string]bool{`{"type": "integer"}`: valid, `{"not": {"type": "integer"}}`: !valid, `{"type": "number", "multipleOf": 1}`: true} {
				s, err := Compile(t.Context(), []byte(schema), draft)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Validate(t.Context(), []byte(document)); (err == nil) != valid {
					t.Errorf("%s, %s, %s: %v, want valid %v", draft, schema, document, err, valid)
				}
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, test := range []struct{ schema, draft string }{
		{`{"$ref": "https://example.com/other.json"}`, "2020-12"},
		{`{"type": "integer"}`, "draft-03"},
		{`{"type":`, "draft-07"},
		{`{"pattern": "("}`, "draft-07"},
		{`{"properties": {"a": 1}}`, "draft-07"},
		{`{"type": "strin"}`, "draft-07"},
		{`{"$ref": "#/$defs/none"}`, "2020-12"},
		{strings.Repeat(`{"not":`, 20000) + "1" + strings.Repeat("}", 20000), "2020-12"},
	} {
		if _, err := Compile(t.Context(), []byte(test.schema), test.draft); err == nil {
			t.Errorf("%.60s as draft %s was accepted", test.schema, test.draft)
		}
	}
}

// TestOldKeywords checks that keywords of older drafts mean under 2020-12 what they meant there, as the engine reads them.
func TestOldKeywords(t *testing.T) {
	for _, c := range []struct{ schema, fits, not string }{
		{`{"minimum": 3, "exclusiveMinimum": true}`, `3.5`, `3`},
		{`{"maximum": 3, "exclusiveMaximum": false}`, `3`, `4`},
		{`{"exclusiveMinimum": 3}`, `4`, `3`},
		{`{"items": [{"type": "integer"}, {"type": "null"}], "additionalItems": false}`, `[1, null]`, `[1, null, 2]`},
		{`{"items": [{"type": "integer"}]}`, `[1, "x"]`, `["x"]`},
		{`{"prefixItems": [{"type": "integer"}], "items": {"type": "null"}}`, `[1, null]`, `[1, 2]`},
		{`{"dependencies": {"a": "b"}}`, `{"a": 1, "b": 2}`, `{"a": 1}`},
	} {
		s, err := Compile(t.Context(), []byte(c.schema), "2020-12")
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		if err := s.Validate(t.Context(), []byte(c.fits)); err != nil {
			t.Errorf("%s: %s: %v", c.schema, c.fits, err)
		}
		var bad *Error
		if err := s.Validate(t.Context(), []byte(c.not)); !errors.As(err, &bad) {
			t.Errorf("%s: %s: %v", c.schema, c.not, err)
		}
	}
	if _, err := Compile(t.Context(), []byte(`{"type": []}`), "2020-12"); err == nil {
		t.Error("an empty list of types is accepted")
	}
}

// A countdown is a context that ends when it has been looked at a number of times.
type countdown struct {
	context.Context
	looks *int
}

func (c countdown) Err() error {
	if *c.looks--; *c.looks < 0 {
		return context.Canceled
	}
	return nil
}

// A context ends a match of a pattern, with whatever instructions, in the middle of a text.
func TestContextEndsMatch(t *testing.T) {
	text := strings.Repeat("x", 10<<20)
	for _, src := range []string{"^" + strings.Repeat("x*", 20_000) + "y", "^(?:" + strings.Repeat("x?", 500) + ")*y$", strings.Repeat("(?:x{500}y?)", 20)} {
		p, err := NewPattern(src)
		if err != nil || !p.Linear() {
			t.Fatal(err)
		}
		looks := 20
		if _, err := p.Match(countdown{t.Context(), &looks}, text); !errors.Is(err, context.Canceled) {
			t.Errorf("%.40s: %v", src, err)
		}
	}
}

// The time of matches is bounded, and so are their steps.
func TestMatchesAreBounded(t *testing.T) {
	p, err := NewPattern("^" + strings.Repeat("x*", 20_000) + "y")
	if err != nil {
		t.Fatal(err)
	}
	for name, spent := range map[string]run{"time": {linear: linearTime}, "steps": {steps: MaxSteps - 100}} {
		for _, size := range []int{10, 10 << 20} {
			r := spent
			r.ctx = t.Context()
			err := r.attempt(func() error {
				p.match(&r, strings.Repeat("x", size))
				return nil
			})
			if undecided := errors.Is(err, ErrUndecided); undecided != (name == "time" || size > 10) {
				t.Errorf("%s, %d bytes: %v", name, size, err)
			}
		}
	}
}

// A long text is matched as a short one is.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("ab ü\n", 80_000)
	for src, want := range map[string]bool{
		`^(?:ab ü\n)*$`: true, `^(?:ab ü\n)*x$`: false, `\bab ü\n(?:ab.*\n){0,20}c$`: false, `c$`: true, `^c`: false, `(?:ü\nab ){3}`: true, `bü`: false, `\Bb`: true,
	} {
		p, err := NewPattern(src)
		if err != nil || !p.Linear() {
			t.Fatal(src, err)
		}
		end := ""
		if strings.HasSuffix(src, "c$") {
			end = "c"
		}
		if src == `\bab ü\n(?:ab.*\n){0,20}c$` {
			want = true
		}
		if got, err := p.Match(t.Context(), long+end); got != want || err != nil {
			t.Errorf("%s: %v %v", src, got, err)
		}
	}
}

// Long numbers are divided in time linear in their length, or there is no verdict.
func TestLongNumbers(t *testing.T) {
	ones, nines := strings.Repeat("1", 3_000_000), strings.Repeat("9", 20_000)
	for _, test := range []struct {
		divisor, document string
		want              any
	}{
		{"3", ones, nil}, {"3", ones + "1", new(Error)}, {"3", ones + "e-2", new(Error)}, {"0.03", ones + "e-2", nil}, {"999999999999999999", nines, new(Error)},
		{"999999999999999999", nines[:18*1000] + "e5", nil}, {"999999999999999999", nines[:18*1000] + "e555", nil}, {"37", nines[:18*1000-1], new(Error)}, {"64", "1e6", nil}, {"64", "1e5", new(Error)},
		{nines[:100], nines[:9900], nil}, {nines[:100], nines[:9899], new(Error)}, {nines[:100], nines, ErrUndecided}, {nines, "1", ErrUndecided},
	} {
		s, err := Compile(t.Context(), []byte(`{"multipleOf": `+test.divisor+`}`), "2020-12")
		if err != nil {
			t.Fatal(err)
		}
		err = s.Validate(t.Context(), []byte(test.document))
		var invalid *Error
		switch test.want {
		case nil:
			if err != nil {
				t.Errorf("%.40s, %.40s: %v", test.divisor, test.document, err)
			}
		case ErrUndecided:
			if !errors.Is(err, ErrUndecided) {
				t.Errorf("%.40s, %.40s: %v", test.divisor, test.document, err)
			}
		default:
			if !errors.As(err, &invalid) {
				t.Errorf("%.40s, %.40s: %v", test.divisor, test.document, err)
			}
		}
	}
	looks := 5
	s, err := Compile(t.Context(), []byte(`{"multipleOf": 3}`), "2020-12")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(countdown{t.Context(), &looks}, []byte(ones)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Comparing long texts counts as work by their length, and is done once for many constants.
func TestLongConstants(t *testing.T) {
	document := `["` + strings.Repeat("x", 10<<20) + `"]`
	for schema, undecided := range map[string]bool{
		`{"items": {"allOf": [` + strings.Repeat(`{"not": {"const": "y"}},`, 30_000) + `true]}}`:                         false,
		`{"allOf": [` + strings.Repeat(`{"not": {"const": "y"}}, {"items": {"not": {"const": "y"}}},`, 1_000) + `true]}`: true,
	} {
		s, err := Compile(t.Context(), []byte(schema), "2020-12")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(t.Context(), []byte(document)); errors.Is(err, ErrUndecided) != undecided || !undecided && err != nil {
			t.Errorf("%.40s: %v", schema, err)
		}
	}
}

// Validations that a context joins have bounds together, and others none of them.
func TestTogether(t *testing.T) {
	s, err := Compile(t.Context(), []byte(`{"items": {"anyOf": [{"type": "string"}, {"multipleOf": 2}]}}`), "2020-12")
	if err != nil {
		t.Fatal(err)
	}
	document := []byte("[2" + strings.Repeat(",2", 50_000) + "]")
	ctx := Together(t.Context(), 2)
	n := 0
	for ; n < 1000; n++ {
		if err := s.Validate(ctx, document); errors.Is(err, ErrUndecided) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if n < 2 || n == 1000 {
		t.Errorf("%d validations", n)
	}
	if err := s.Validate(ctx, []byte(`[3]`)); !errors.Is(err, ErrUndecided) && err == nil {
		t.Error("a wrong verdict")
	}
	if err := s.Validate(t.Context(), document); err != nil {
		t.Error(err)
	}
}
