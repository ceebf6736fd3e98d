package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/decoder/walk"
)

// Objects that name members and do not mention others get no others when they
// are generated closed. Without the option all of these documents fit.
func TestClosed(t *testing.T) {
	v := byteVocab(t)
	for _, c := range []struct {
		schema  string
		closed  bool     // expected in the report
		yes     []string // fits when closed
		no      []string // fits only the schema as written
		warning string
	}{
		{schema: `{"type":"object"}`, yes: []string{`{}`, `{"x":1}`}},
		{schema: `{}`, yes: []string{`{"x":{"y":1}}`, `3`}},
		{schema: `{"properties":{"a":{}}}`, closed: true, yes: []string{`{}`, `{"a":{"b":1}}`, `[{"b":1}]`}, no: []string{`{"b":1}`, `{"a":1,"b":1}`}},
		{schema: `{"required":["a"]}`, closed: true, yes: []string{`{"a":1}`}, no: []string{`{"a":1,"b":1}`}},
		{schema: `{"properties":{"a":{}},"required":["b"]}`, closed: true, yes: []string{`{"a":1,"b":1}`}, no: []string{`{"b":1,"c":1}`}},
		{schema: `{"properties":{"a":{}},"additionalProperties":true}`, yes: []string{`{"a":1,"b":1}`}},
		{schema: `{"properties":{"a":{}},"additionalProperties":false}`, yes: []string{`{"a":1}`}},
		{schema: `{"properties":{"a":{}},"additionalProperties":{"type":"string"}}`, yes: []string{`{"b":"x"}`}},
		{schema: `{"properties":{"a":{}},"patternProperties":{"^x":{}}}`, yes: []string{`{"x1":1,"b":2}`}},
		{schema: `{"properties":{"a":{}},"propertyNames":{"maxLength":2}}`, yes: []string{`{"b":2}`}},
		{schema: `{"properties":{"a":{}},"unevaluatedProperties":true}`, yes: []string{`{"b":2}`}},
		// Inside everything that contains values.
		{schema: `{"items":{"properties":{"a":{}}}}`, closed: true, yes: []string{`[{"a":1}]`, `[3]`}, no: []string{`[{"b":1}]`}},
		{schema: `{"prefixItems":[{"properties":{"a":{}}}]}`, closed: true, no: []string{`[{"b":1}]`}},
		{schema: `{"additionalProperties":{"properties":{"a":{}}}}`, closed: true, yes: []string{`{"x":{"a":1}}`}, no: []string{`{"x":{"b":1}}`}},
		{schema: `{"patternProperties":{"^x":{"properties":{"a":{}}}}}`, closed: true, yes: []string{`{"x":{"a":1},"y":{"b":1}}`}, no: []string{`{"x":{"b":1}}`}},
		{schema: `{"properties":{"p":{"properties":{"a":{}}}},"additionalProperties":false}`, closed: true, yes: []string{`{"p":{"a":1}}`}, no: []string{`{"p":{"b":1}}`}},
		{schema: `{"$ref":"#/$defs/t","$defs":{"t":{"properties":{"kids":{"items":{"$ref":"#/$defs/t"}}}}}}`, closed: true,
			yes: []string{`{"kids":[{"kids":[]}]}`}, no: []string{`{"kids":[{"x":1}]}`, `{"x":1}`}},
		// The names of all schemas that hold for the object count.
		{schema: `{"$ref":"#/$defs/a","properties":{"b":{}},"$defs":{"a":{"properties":{"a":{}}}}}`, closed: true, yes: []string{`{"b":1,"a":1}`}, no: []string{`{"a":1,"c":1}`}},
		{schema: `{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}},{"type":"object"}]}`, closed: true, yes: []string{`{"a":1,"b":2}`}, no: []string{`{"c":1}`}},
		{schema: `{"allOf":[{"properties":{"a":{}}},{"additionalProperties":{}}]}`, yes: []string{`{"a":1,"c":2}`}},
		{schema: `{"allOf":[{"properties":{"p":{"properties":{"a":{}}}}},{"properties":{"p":{"properties":{"b":{}}}}}]}`, closed: true,
			yes: []string{`{"p":{"a":1,"b":2}}`}, no: []string{`{"p":{"a":1,"c":2}}`}},
		{schema: `{"anyOf":[{"properties":{"k":{"const":1},"a":{}},"required":["k"]},{"properties":{"k":{"const":2},"b":{}},"required":["k"]},{"type":"null"}]}`, closed: true,
			yes: []string{`{"k":1,"a":1}`, `{"k":2,"b":1}`, `null`}, no: []string{`{"k":1,"b":1}`, `{"k":2,"c":1}`}},
		{schema: `{"oneOf":[{"properties":{"k":{"const":1},"a":{}},"required":["k"]},{"properties":{"k":{"const":2},"b":{}},"required":["k"]}]}`, closed: true,
			yes: []string{`{"k":1,"a":1}`, `{"k":2,"b":1}`}, no: []string{`{"k":1,"b":1}`}},
		{schema: `{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}}}]}`, closed: true,
			yes: []string{`{"a":"","b":""}`, `{"a":""}`, `{"b":""}`, `{}`}, no: []string{`{"a":"","b":1}`, `{"c":1}`}},
		{schema: `{"properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, closed: true, yes: []string{`{"a":1}`, `{"a":1,"b":1}`}, no: []string{`{"a":1,"c":1}`}},
		{schema: `{"anyOf":[{"properties":{"a":{}},"required":["a"]},{"type":"object","additionalProperties":{"type":"integer"}}]}`, closed: true, yes: []string{`{"x":1}`, `{"a":"s"}`}, no: []string{`{"a":"s","x":1}`}},
		{schema: `{"properties":{"k":{}},"if":{"properties":{"k":{"const":1}},"required":["k"]},"then":{"properties":{"a":{}}},"else":{"properties":{"b":{}}}}`, closed: true,
			yes: []string{`{"k":1,"a":1}`, `{"k":2,"b":1}`, `{"b":1}`}, no: []string{`{"k":1,"b":1}`, `{"k":2,"a":1}`, `{"k":1,"c":1}`}},
		{schema: `{"properties":{"k":{}},"dependentSchemas":{"k":{"properties":{"a":{}}}},"dependentRequired":{"k":["z"]}}`, closed: true,
			yes: []string{`{"k":1,"z":1,"a":1}`}, no: []string{`{"a":1}`, `{"k":1,"z":1,"c":1}`}},
		// Schemas that list whole objects name their members.
		{schema: `{"properties":{"a":{}},"enum":[{"b":1},{"a":1}]}`, yes: []string{`{"b":1}`, `{"a":1}`}},
		{schema: `{"properties":{"p":{"const":{"z":1}}},"required":["p"]}`, closed: true, yes: []string{`{"p":{"z":1}}`}},
		// Objects that would have no value left stay open.
		{schema: `{"properties":{"a":{}},"minProperties":2}`, yes: []string{`{"a":1,"b":1}`, `{"b":1,"c":1}`}, warning: "asks for 2 members where 1 are named"},
		{schema: `{"properties":{"a":{},"b":{}},"minProperties":2}`, closed: true, yes: []string{`{"a":1,"b":1}`}, no: []string{`{"a":1,"c":1}`}},
		{schema: `{"properties":{"a":false},"minProperties":1}`, closed: true, yes: []string{`{"b":1}`}},
		{schema: `{"type":"array","items":{"type":"object","properties":{"a":{"type":"boolean"}}},"uniqueItems":true,"minItems":4}`,
			yes: []string{`[{},{"a":true},{"a":false},{"b":1}]`}, warning: "nothing fits without members"},
		{schema: `{"type":"array","items":{"type":"object","properties":{"a":{"type":"boolean"}}},"uniqueItems":true,"minItems":3}`, closed: true,
			yes: []string{`[{},{"a":true},{"a":false}]`}, no: []string{`[{},{"a":true},{"b":false}]`}},
	} {
		t.Run(c.schema, func(t *testing.T) {
			opt := lenient
			open := grammar(t, v, c.schema, opt)
			opt.Closed = true
			s, err := Compile([]byte(c.schema), opt)
			if err != nil {
				t.Fatal(err)
			}
			if s.Report().Closed != c.closed {
				t.Errorf("the report says closed: %v", s.Report().Closed)
			}
			var warnings strings.Builder
			for _, w := range s.Report().Warnings {
				warnings.WriteString(w.Reason)
			}
			if !strings.Contains(warnings.String(), c.warning) || c.warning == "" && warnings.Len() > 0 {
				t.Errorf("warnings: %s", warnings.String())
			}
			g := s.Grammar(v)
			for _, text := range c.yes {
				if !accepts(open, text) || !accepts(g, text) {
					t.Errorf("%s: open %v, closed %v", text, accepts(open, text), accepts(g, text))
				}
			}
			for _, text := range c.no {
				if !accepts(open, text) || accepts(g, text) {
					t.Errorf("%s: open %v, closed %v", text, accepts(open, text), accepts(g, text))
				}
			}
			// Random texts come to an end and fit the original schema.
			c, err := Compile([]byte(c.schema), Options{Closed: true})
			if err != nil {
				t.Fatal(err)
			}
			p, err := walk.Look(t.Context(), c.Grammar(v), walk.NewTokens(v), 20, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range append(p.Samples, p.Shortest) {
				if !json.Valid([]byte(text)) || !accepts(open, text) || !accepts(g, text) {
					t.Errorf("sample %s", text)
				}
			}
		})
	}
}
