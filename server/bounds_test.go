package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestValidatorIsBounded checks that validation ends even for schemas whose
// evaluation explodes: with a verdict, or with a warning.
func TestValidatorIsBounded(t *testing.T) {
	doubling := map[string]any{"a0": map[string]any{"type": "integer"}}
	for i := range 40 {
		ref := map[string]any{"$ref": fmt.Sprintf("#/$defs/a%d", i)}
		doubling[fmt.Sprintf("a%d", i+1)] = map[string]any{"allOf": []any{ref, ref}}
	}
	const slow = `{"const":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaac","pattern":"^(?:(a+)+b|a+c)$"}`
	defs, err := json.Marshal(doubling)
	if err != nil {
		t.Fatal(err)
	}
	_, url := start(t, setup{})
	for _, test := range []struct {
		name, schema string
		tokens       int
		verdict      any
	}{
		{"many ways to one subschema", `{"$defs": ` + string(defs) + `, "$ref": "#/$defs/a40"}`, 20, true},
		{"a pattern that backtracks elsewhere", `{"type": "array", "minItems": 20, "maxItems": 20, "items": ` + slow + `}`, 1500, true},
		{"ten of them", `{"allOf": [` + strings.Repeat(slow+",", 9) + slow + `]}`, 100, true},
	} {
		body := fmt.Sprintf(`{"prompt": "x", "max_tokens": %d, "schema": %s}`, test.tokens, test.schema)
		status, _, got := post(t, url+"/generate_json", body)
		if status != 200 || at(got, "constraint", "validated") != test.verdict {
			t.Errorf("%s: %d, validated %v: %.500v", test.name, status, at(got, "constraint", "validated"), got)
		}
	}
}

// TestTimeoutOfTexts checks that the time limit of requests applies to those that generate nothing.
func TestTimeoutOfTexts(t *testing.T) {
	_, url := start(t, setup{cfg: Config{RequestTimeout: 1}})
	for path, body := range map[string]string{
		"/validate": `{"schema": {}, "text": "1"}`, "/repair": `{"text": "[1,]"}`, "/signals": `{"text": "a"}`, "/schema/check": `{"schema": {}}`, "/grammar/check": `{"grammar": "root ::= \"a\""}`,
		"/tokenize": `{"content": "a"}`, "/detokenize": `{"tokens": [5]}`, "/apply-template": `{"messages": [{"role": "user", "content": "a"}]}`,
		"/v1/messages/count_tokens": `{"model": "tiny", "messages": [{"role": "user", "content": "a"}]}`, "/chat/completions/input_tokens": `{"messages": [{"role": "user", "content": "a"}]}`,
		"/v1/responses/input_tokens": `{"input": "a"}`,
	} {
		if status, _, got := post(t, url+path, body); status != 504 || !strings.Contains(fmt.Sprint(got), "time limit of the request") {
			t.Errorf("%s: %d %v", path, status, got)
		}
	}
	// It ends work that would take minutes.
	_, url = start(t, setup{cfg: Config{RequestTimeout: 200 * time.Millisecond}})
	long := `"text": "\"` + strings.Repeat("x", 10<<20) + `\""`
	for path, body := range map[string]string{
		"/validate": `{"schema": {"pattern": "^` + strings.Repeat("x*", 20_000) + `y"}, ` + long + `}`,
		"/repair":   `{"schema": {"pattern": "^` + strings.Repeat("x*", 20_000) + `y"}, ` + long + `}`,
	} {
		if status, _, got := post(t, url+path, body); status != 504 || at(got, "error", "code") != "timeout" {
			t.Errorf("%s: %d %.300v", path, status, got)
		}
	}
}

// TestTextsAreBounded checks that texts which take too much memory or time are refused with the limit's name.
func TestTextsAreBounded(t *testing.T) {
	_, url := start(t, setup{})
	if status, _, got := post(t, url+"/tokenize", `{"content": ["`+strings.Repeat("a", 4<<20)+`", "a"]}`); status != 413 || at(got, "error", "reason") != "text_too_long" {
		t.Errorf("%d %v", status, got)
	}
	if testing.Short() {
		return
	}
	status, _, got := post(t, url+"/validate", `{"grammar": "root ::= \"(\" root \")\" | \"x\"", "text": "`+strings.Repeat("(", 10<<20)+`"}`)
	if status != 422 || at(got, "error", "code") != "constraint_limit" || at(got, "error", "param") != "grammar" {
		t.Errorf("%d %v", status, got)
	}
	if message := fmt.Sprint(at(got, "error", "message")); strings.Contains(message, "byte 0") {
		t.Errorf("the place is not known: %s", message)
	}
}

// TestLimitsOfLanguages checks that a choice, pattern or grammar that exceeds a limit is a mistake of the request by name, wherever it may
// be given.
func TestLimitsOfLanguages(t *testing.T) {
	_, url := start(t, setup{})
	large := `"` + strings.Repeat("x", 2_000_000) + `"`
	for path, bodies := range map[string][]string{
		"/generate": {`"prompt": "x", "choice": [` + large + `]`, `"prompt": "x", "choice": [` + strings.Repeat(`"a", `, 5) + large + `]`, `"prompt": "x", "grammar": {"builtin": "choice", "choices": [` + large + `]}`, `"prompt": "x", "regex": ` + large},
		"/v1/chat/completions": {`"messages": [{"role": "user", "content": "x"}], "guided_choice": [` + large + `]`, `"messages": [{"role": "user", "content": "x"}], "structured_outputs": {"choice": [` + large + `]}`,
			`"messages": [{"role": "user", "content": "x"}], "guided_regex": ` + large},
		"/validate": {`"text": "x", "choice": [` + large + `]`, `"text": "x", "regex": ` + large},
	} {
		for _, body := range bodies {
			status, _, got := post(t, url+path, `{`+body+`}`)
			if code, _ := at(got, "error", "code").(string); status != 400 || code == "internal_error" || code == "" {
				t.Errorf("%s %.80s…: %d %.300s", path, body, status, fmt.Sprint(got))
			}
			if size := len(fmt.Sprint(got)); size > 10_000 {
				t.Errorf("%s %.80s…: an answer of %d bytes", path, body, size)
			}
		}
	}
}
