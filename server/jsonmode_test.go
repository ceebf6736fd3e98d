package server

import (
	"fmt"
	"strings"
	"testing"
)

// TestJSONModeMeansJSON checks that json_mode with any value gives JSON and is never ignored.
func TestJSONModeMeansJSON(t *testing.T) {
	_, url := start(t, setup{})
	for _, mode := range []string{`true`, `{}`, `{"strict": true}`, `{"strict": false}`, `{"whitespace": "compact"}`, `{"repair": true}`, `{"property_order": "any"}`, `{"on_unsupported": "ignore"}`} {
		for _, path := range []string{"/generate", "/generate_json"} {
			status, _, got := post(t, url+path, `{"prompt": "x", "max_tokens": 30, "seed": 3, "json_mode": `+mode+`}`)
			if status != 200 || at(got, "constraint", "type") != "json" || at(got, "constraint", "validated") != true {
				t.Errorf("%s, json_mode %s: %d %v", path, mode, status, got)
			}
		}
	}
	for _, mode := range []string{"false", "null"} {
		status, _, got := post(t, url+"/generate", `{"prompt": "x", "max_tokens": 5, "json_mode": `+mode+`}`)
		if status != 200 || got["constraint"] != nil {
			t.Errorf("json_mode %s: %d %v", mode, status, got)
		}
	}
}

// TestOptionsWithoutConstraint checks that an option of a constraint is refused by name if there is no constraint.
func TestOptionsWithoutConstraint(t *testing.T) {
	_, url := start(t, setup{reply: "hello"})
	for name, value := range map[string]string{
		"strict": "true", "repair": "true", "constrained_decoding": "false", "property_order": `"any"`, "whitespace": `"compact"`, "on_unsupported": `"validate"`,
	} {
		for path, prompt := range map[string]string{"/generate": `"prompt": "x"`, "/v1/completions": `"prompt": "x"`, "/v1/chat/completions": `"messages": [{"role": "user", "content": "x"}]`} {
			status, _, got := post(t, url+path, fmt.Sprintf(`{%s, "max_tokens": 20, %q: %s}`, prompt, name, value))
			if status != 400 || at(got, "error", "param") != name || at(got, "error", "code") != "option_without_constraint" {
				t.Errorf("%s with %s: %d %v", path, name, status, got)
			}
			if status, _, got = post(t, url+path, fmt.Sprintf(`{%s, "max_tokens": 20, %q: null}`, prompt, name)); status != 200 {
				t.Errorf("%s with %s: null: %d %v", path, name, status, got)
			}
		}
	}
	// Tool calls are always masked, and their layout is the template's.
	const function = `"name": "f", "parameters": {"type": "object"}`
	for path, c := range map[string][2]string{
		"/v1/responses":        {`"input": "x"`, `{"type": "function", ` + function + `}`},
		"/v1/chat/completions": {`"messages": [{"role": "user", "content": "x"}]`, `{"type": "function", "function": {` + function + `}}`},
	} {
		prompt, tool := c[0], c[1]
		for _, tools := range []string{"", `, "tools": []`, `, "tools": [` + tool + `]`} {
			status, _, got := post(t, url+path, fmt.Sprintf(`{%s%s, "constrained_decoding": false}`, prompt, tools))
			if status != 400 || at(got, "error", "param") != "constrained_decoding" || at(got, "error", "code") != "option_without_constraint" {
				t.Errorf("%s%s: %d %v", path, tools, status, got)
			}
		}
		if status, _, got := post(t, url+path, fmt.Sprintf(`{%s, "tools": [%s], "open_objects": true}`, prompt, tool)); status != 200 {
			t.Errorf("%s: open_objects: %d %v", path, status, got)
		}
	}
	if status, _, got := post(t, url+"/generate", `{"prompt": "x", "max_tokens": 20, "repair": false}`); status != 200 {
		t.Errorf("repair: false: %d %v", status, got)
	}
	if status, _, got := post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 20, "whitespace": "compact"}`); status != 200 {
		t.Errorf("/generate_json: %d %v", status, got)
	}
	if status, _, got := post(t, url+"/v1/responses", `{"input": "x", "max_output_tokens": 20, "whitespace": "compact", "text": {"format": {"type": "json_object"}}}`); status != 200 {
		t.Errorf("/v1/responses: %d %v", status, got)
	}
}

// TestGenerateJSONOfTexts checks that a text constrained by a regex, grammar or choice is a document if it is JSON,
// and an error otherwise.
func TestGenerateJSONOfTexts(t *testing.T) {
	_, url := start(t, setup{})
	for _, c := range []struct{ constraint, json string }{
		{`"regex": "\\[1, 2\\]"`, "[1 2]"}, {`"grammar": "root ::= \"{\\\"a\\\":\" [5] \"}\""`, "map[a:5]"}, {`"choice": ["\"yes\""]`, "yes"},
		{`"json_mode": {"choice": ["null"]}`, "<nil>"},
	} {
		status, _, got := post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 30, `+c.constraint+`}`)
		if value, there := got["json"]; status != 200 || !there || fmt.Sprint(value) != c.json {
			t.Errorf("%s: %d %v", c.constraint, status, got)
		}
	}
	for _, c := range []struct{ constraint, param string }{
		{`"regex": "\\[1,\\n ab\\]"`, "regex"}, {`"grammar": "root ::= \"[1,\\n a\""`, "grammar"}, {`"choice": ["[1,\n yes"]`, "choice"},
	} {
		body := `{"prompt": "x", "max_tokens": 30, ` + c.constraint + `}`
		status, _, got := post(t, url+"/generate_json", body)
		if status != 422 || at(got, "error", "code") != "validation_failed" || at(got, "error", "param") != c.param ||
			at(got, "error", "details", 0, "line") != 2.0 || at(got, "error", "details", 0, "column") != 2.0 {
			t.Errorf("%s: %d %v", c.constraint, status, got)
		}
		if status, _, got := post(t, url+"/generate", body); status != 200 {
			t.Errorf("/generate: %s: %d %v", c.constraint, status, got)
		}
		_, events := postStream(t, url+"/generate_json", strings.Replace(body, "{", `{"stream": true, `, 1))
		if last := events[len(events)-1]; last.name != "error" || !strings.Contains(fmt.Sprint(last), "line 2, column 2") {
			t.Errorf("stream of %s: %v", c.constraint, last)
		}
	}
}
