package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestSchemaCheck(t *testing.T) {
	_, url := start(t, setup{})
	status, _, got := post(t, url+"/schema/check", `{"schema": `+personSchema+`}`)
	if status != 200 || got["ok"] != true || len(got["errors"].([]any)) != 0 || got["shortest"] != `{"name":"","age":0}` || len(got["samples"].([]any)) != 5 {
		t.Errorf("%d %v", status, got)
	}
	for _, sample := range got["samples"].([]any) {
		if !json.Valid([]byte(sample.(string))) {
			t.Errorf("sample %q", sample)
		}
	}
	if share := got["forced_share"].(float64); share <= 0 || share >= 1 || at(got, "cost", "bytes").(float64) <= 0 {
		t.Errorf("share %g, cost %v", share, got["cost"])
	}
	for _, test := range []struct{ body, pointer, keyword string }{
		{`{"schema": {"type": "strin"}}`, "/type", "type"},
		{`{"schema": {"properties": {"a": {"$ref": "https://example.com/x"}}}}`, "/properties/a/$ref", "$ref"},
		{`{"schema": {"allOf": [{"type": "string"}, {"type": "number"}]}}`, "", ""},
		{`{"schema": false}`, "", ""},
		{`{"schema": {"requird": ["a"]}, "strict": true}`, "/requird", "requird"},
	} {
		status, _, got := post(t, url+"/schema/check", test.body)
		if status != 200 || got["ok"] != false || at(got, "errors", 0, "reason") == nil || test.pointer != "" && (at(got, "errors", 0, "pointer") != test.pointer || at(got, "errors", 0, "keyword") != test.keyword) {
			t.Errorf("%s: %d %v", test.body, status, got)
		}
	}
	_, _, got = post(t, url+"/schema/check", `{"schema": {"requird": ["a"]}}`)
	if got["ok"] != true || at(got, "warnings", 0, "hint") == nil {
		t.Errorf("a misspelt keyword: %v", got)
	}
	_, _, got = post(t, url+"/schema/check", `{"typescript": "type A = 1 | 2"}`)
	if got["ok"] != true || got["shortest"] != "1" {
		t.Errorf("TypeScript: %v", got)
	}
	_, _, got = post(t, url+"/schema/check", `{"schema": {"type": "integer", "$ref": "https://example.com/x"}, "on_unsupported": "validate"}`)
	if got["ok"] != true || at(got, "checked", 0, "keyword") != "$ref" {
		t.Errorf("left to the validator: %v", got)
	}
	for _, body := range []string{`{}`, `{"schema": {}, "whitespace": "much"}`, `[]`, `{"schema": {}, "on_unsuported": "error"}`,
		`{"schema": {}, "typescript": {}}`, `{"schema": {}, "typescript": "interface A {a: string}"}`, `{"schema": null}`, `{"schema": {}, "model": 5}`} {
		if status, _, got := post(t, url+"/schema/check", body); status != 400 {
			t.Errorf("%s: %d %v", body, status, got)
		}
	}
}

func TestGrammarCheck(t *testing.T) {
	_, url := start(t, setup{})
	status, _, got := post(t, url+"/grammar/check", `{"grammar": "root ::= \"yes\" | \"no\""}`)
	if status != 200 || got["ok"] != true || got["shortest"] != "no" || len(got["samples"].([]any)) != 2 {
		t.Errorf("%d %v", status, got)
	}
	status, _, got = post(t, url+"/grammar/check", `{"grammar": "root ::= move\nmove ::= pwan"}`)
	if status != 200 || got["ok"] != false || at(got, "errors", 0, "line") != 2.0 || !strings.Contains(at(got, "errors", 0, "reason").(string), "pwan") {
		t.Errorf("%d %v", status, got)
	}
	if status, _, got := post(t, url+"/grammar/check", `{"grammar": 5}`); status != 400 {
		t.Errorf("%d %v", status, got)
	}
}

// TestCheckWithoutModel
// checks that checks
// need no model.
func TestCheckWithoutModel(t *testing.T) {
	h := httptest.NewServer(New(Config{Log: slog.New(slog.DiscardHandler)}).Handler())
	defer h.Close()
	if status, _, got := post(t, h.URL+"/schema/check", `{"schema": {"enum": ["a", "b"]}}`); status != 200 || got["ok"] != true || len(got["samples"].([]any)) != 2 {
		t.Errorf("%d %v", status, got)
	}
}

// TestPatternWithoutVerdict checks that a pattern of emoji has a verdict, and that one which the validator can't read
// brings a warning in its place.
func TestPatternWithoutVerdict(t *testing.T) {
	_, url := start(t, setup{})
	emoji := `{"type": "string", "pattern": "^\\p{Extended_Pictographic}{1,3}$"}`
	status, _, got := post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 20, "schema": `+emoji+`}`)
	if status != 200 || at(got, "constraint", "validated") != true {
		t.Errorf("%d: %v", status, got)
	}
	for text, want := range map[string]any{`"❤"`: true, `"a"`: false} {
		status, _, got := post(t, url+"/validate", fmt.Sprintf(`{"text": %q, "schema": %s}`, text, emoji))
		if status != 200 || at(got, "valid") != want {
			t.Errorf("%s: %d: %v", text, status, got)
		}
	}
	for _, path := range []string{"/validate", "/repair"} {
		status, _, got := post(t, url+path, `{"text": "\"a\"", "schema": {"type": "string", "pattern": "^\\p{RGI_Emoji}$"}}`)
		if status != 200 || at(got, "valid") != nil || !strings.Contains(fmt.Sprint(at(got, "warnings")), "no verdict") {
			t.Errorf("%s: %d: %v", path, status, got)
		}
	}
}

// TestSlightlyInvalid checks that what the specification forbids but is harmless is accepted with a verdict, or refused
// with its place, by every path alike.
func TestSlightlyInvalid(t *testing.T) {
	_, url := start(t, setup{})
	for schema, accepted := range map[string]bool{
		`{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a", "a"]}`: true,
		`{"type": "object", "required": []}`:                                                   true,
		`{"enum": [1, 1, 1.0]}`:                                                                true,
		`{"enum": []}`:                                                                         false,
		`{"enum": [{"a": 1, "b": 2}, {"b": 2, "a": 1}]}`:                                       true,
		`{"type": ["integer", "integer"]}`:                                                     true,
		`{"type": []}`:                                                                         false,
		`{"type": "string", "minLength": 1.0, "maxLength": 3.0}`:                               true,
		`{"type": "string", "minLength": 1e0, "maxLength": 0.3e1}`:                             true,
		`{"type": "string", "minLength": 1.5}`:                                                 false,
		`{"type": "string", "minLength": -1}`:                                                  false,
		`{"type": "array", "minItems": 2.0, "maxItems": 2.0, "items": {"type": "boolean"}}`:    true,
		`{"type": "object", "minProperties": 1.0, "maxProperties": 1.0, "additionalProperties": {"type": "null"}}`:                     true,
		`{"type": "string", "format": "no-such-format", "maxLength": 3}`:                                                               true,
		`{"type": "string", "format": "", "maxLength": 3}`:                                                                             true,
		`{"type": "integer", "minimum": 1, "minimum": 2}`:                                                                              false,
		`{"type": "object", "properties": {"a": {"const": 1}}, "dependentRequired": {"a": ["b", "b"]}, "additionalProperties": false}`: true,
		`{"type": "integer", "minimum": 3, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false}`:                         true,
		`{"type": "array", "items": [{"type": "integer"}, {"type": "null"}], "additionalItems": false}`:                                true,
		`{"type": "array", "items": [{"type": "integer"}], "additionalItems": {"type": "boolean"}, "maxItems": 2}`:                     true,
		`{"type": "object", "dependencies": {"a": "b"}, "maxProperties": 1}`:                                                           true,
		`{"type": "integer", "anyOf": []}`:                                                                                             false,
		`{"type": "integer", "$defs": {"unused": {"type": ["null", "null"], "required": ["x", "x"]}}, "maximum": 3, "minimum": 0}`:     true,
		`{"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "required": ["a", "a"], "maxProperties": 2}`:         true,
	} {
		refused := func(status int, got map[string]any) bool {
			code := at(got, "error", "code")
			return status == 400 && (code == "invalid_schema" || code == "unsatisfiable_schema")
		}
		status, _, got := post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 60, "schema": `+schema+`}`)
		if accepted && (status != 200 || at(got, "constraint", "validated") != true) || !accepted && !refused(status, got) {
			t.Errorf("/generate_json %s: %d %v", schema, status, got)
		}
		status, _, got = post(t, url+"/validate", `{"text": "\"too long\"", "schema": `+schema+`}`)
		if accepted && (status != 200 || at(got, "valid") != false) || !accepted && !refused(status, got) {
			t.Errorf("/validate %s: %d %v", schema, status, got)
		}
		if status, _, got = post(t, url+"/schema/check", `{"schema": `+schema+`}`); status != 200 || at(got, "ok") != accepted {
			t.Errorf("/schema/check %s: %d %v", schema, status, got)
		}
	}
}
