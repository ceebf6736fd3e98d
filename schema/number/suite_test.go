package number

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	testdata "github.com/stencil-json/stencil/internal/shared"
)

// suiteFiles are the files of the official JSON Schema test suite that concern
// numbers.
var suiteFiles = []string{
	"minimum.json", "maximum.json", "exclusiveMinimum.json", "exclusiveMaximum.json", "multipleOf.json",
	"divisibleBy.json", "const.json", "enum.json", "optional/bignum.json", "optional/float-overflow.json",
}

// TestSuite runs the cases of the official suite whose schema concerns numbers
// only, and whose data is a number.
func TestSuite(t *testing.T) {
	cases := 0
	for name, data := range readSuite(t) {
		var groups []struct {
			Description string
			Schema      json.RawMessage
			Tests       []struct {
				Description string
				Data        json.RawMessage
				Valid       bool
			}
		}
		if err := json.Unmarshal(data, &groups); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, g := range groups {
			spec, ok := specOf(g.Schema)
			if !ok {
				continue
			}
			for _, c := range g.Tests {
				text := string(c.Data)
				if is, _ := isNumber(text); !is {
					continue
				}
				cases++
				if accepted := acceptsText(t, spec, AnySpelling, text); accepted != c.Valid {
					t.Errorf("%s: %s: %s: %s: accepted = %v", name, g.Description, c.Description, text, accepted)
				}
			}
			if a, err := Compile(spec, Canonical, Limits{}); err == nil {
				if text := a.Shortest(a.Start()); !acceptsText(t, spec, AnySpelling, string(text)) {
					t.Errorf("%s: %s: canonical %q is not suitable", name, g.Description, text)
				}
			}
		}
	}
	t.Logf("%d cases", cases)
	if cases < 300 {
		t.Errorf("only %d cases found", cases)
	}
}

// acceptsText compiles the spec and reads a text.
func acceptsText(t *testing.T, s Spec, sp Spelling, text string) bool {
	t.Helper()
	a, err := Compile(s, sp, Limits{})
	if empty := (*EmptyError)(nil); errors.As(err, &empty) {
		return false
	} else if err != nil {
		t.Fatal(err)
	}
	q := a.Start()
	for i := range len(text) {
		q = a.Step(q, text[i])
	}
	if err := a.Err(); err != nil {
		t.Fatal(err)
	}
	accepted := a.Accepting(q)
	if d := mustParse(text); sp == AnySpelling && a.Contains(d) != accepted {
		t.Errorf("%s: Contains(%s) = %v, accepted = %v", describe(s, sp), text, !accepted, accepted)
	}
	return accepted
}

// specOf converts a schema to a Spec, if it concerns numbers only.
func specOf(schema json.RawMessage) (s Spec, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(schema, &fields) != nil {
		return s, false
	}
	exclusive := map[string]bool{} // in draft 4, these were flags
	number := func(raw json.RawMessage) *Decimal {
		d, err := Parse(string(raw))
		if err != nil {
			return nil
		}
		return &d
	}
	for name, raw := range fields {
		switch d := number(raw); name {
		case "$schema", "$comment":
		case "type":
			if s.Integer = string(raw) == `"integer"`; !s.Integer && string(raw) != `"number"` {
				return s, false
			}
		case "minimum":
			s.Min = d
		case "maximum":
			s.Max = d
		case "exclusiveMinimum":
			if exclusive["min"] = true; d != nil {
				s.Min = d
			} else if string(raw) == "false" {
				exclusive["min"] = false
			}
		case "exclusiveMaximum":
			if exclusive["max"] = true; d != nil {
				s.Max = d
			} else if string(raw) == "false" {
				exclusive["max"] = false
			}
		case "multipleOf", "divisibleBy":
			s.MultipleOf = append(s.MultipleOf, *d)
		case "const":
			if s.HasIn = true; d == nil {
				return s, false
			}
			s.In = append(s.In, *d)
		case "enum":
			var list []json.RawMessage
			if json.Unmarshal(raw, &list) != nil {
				return s, false
			}
			s.HasIn = true
			for _, v := range list {
				if d := number(v); d != nil {
					s.In = append(s.In, *d)
				}
			}
		default:
			return s, false
		}
	}
	s.MinExclusive, s.MaxExclusive = exclusive["min"], exclusive["max"]
	return s, true
}

// readSuite returns the relevant files by name.
func readSuite(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	testdata.Members(t, "json-schema-test-suite/json-schema-test-suite.tar.xz", func(name string, data []byte) {
		_, rest, _ := strings.Cut(name, "tests/draft")
		if _, rest, _ = strings.Cut(rest, "/"); slices.Contains(suiteFiles, rest) {
			files[name] = data
		}
	})
	return files
}
