package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	_, url := start(t, setup{})
	for _, c := range []struct{ body, want string }{
		{`{"schema": ` + personSchema + `, "document": {"name": "Ann", "age": 5}}`, `valid true`},
		{`{"schema": ` + personSchema + `, "document": {"name": "Ann", "age": 500}}`, `valid false /age maximum`},
		{`{"schema": ` + personSchema + `, "text": "{\"name\": 5,\n \"age\": \"x\"}"}`, `valid false /name type 1:10 /age type 2:9`},
		{`{"schema": ` + personSchema + `, "text": "{\"name\": \"A\","}`, `valid false incomplete json 1:14`},
		{`{"schema": {"const": null}, "document": null}`, `valid true`},
		{`{"schema": {"items": {"type": "integer"}}, "document": [1, 2, "a", 4, {}]}`, `/2 type 1:8 /4 type 1:16`},
		{`{"typescript": "interface P { a: number }", "document": {"a": "x"}}`, `valid false /a type`},
		{`{"regex": "a+b", "text": "aab"}`, `valid true`},
		{`{"regex": "a+b", "text": "aaa"}`, `valid false incomplete regex 1:4`},
		{`{"regex": "a+b", "text": "a\nb"}`, `valid false regex 1:2`},
		{`{"choice": ["yes", "no"], "text": "maybe"}`, `valid false choice 1:1`},
		{`{"grammar": "root ::= [a-c]+", "text": "abcd"}`, `valid false grammar 1:4`},
		{`{"grammar": {"builtin": "csv", "columns": 2}, "text": "a,b\n1\n"}`, `valid false grammar 2:2`},
		{`{"grammar": {"builtin": "xml"}, "text": "<a><b></b></a>"}`, `valid true`},
		{`{"schema": {"pattern": "(?=a)b"}, "document": "b"}`, `valid false pattern`},
	} {
		status, _, got := post(t, url+"/validate", c.body)
		summary := fmt.Sprint("valid ", got["valid"])
		if got["incomplete"] == true {
			summary += " incomplete"
		}
		list, _ := got["errors"].([]any)
		for _, e := range list {
			if p := at(e, "pointer").(string); p != "" {
				summary += " " + p
			}
			summary += fmt.Sprint(" ", at(e, "keyword"), " ", at(e, "line"), ":", at(e, "column"))
		}
		if status != 200 || !strings.Contains(summary, c.want) {
			t.Errorf("%s: %d %s, want %s (%v)", c.body, status, summary, c.want, got)
		}
	}
	for body, want := range map[string]string{
		`{"document": 5}`: "a constraint is required",
		`{"schema": {}}`:  "either text or document",
		`{"schema": {}, "text": "a", "document": "a"}`:            "either text or document",
		`{"regex": "a", "document": "a"}`:                         "use text instead of document",
		`{"schema": {"type": "strin"}, "document": 5}`:            "strin",
		`{"schema": {"$ref": "#/none"}, "document": 5}`:           "nothing is there",
		`{"regex": "(", "text": ""}`:                              "regex",
		`{"shcema": {}, "text": ""}`:                              "was schema meant?",
		`{"schema": {}, "grammar": "root ::= \"a\"", "text": ""}`: "exclude one another",
	} {
		status, _, got := post(t, url+"/validate", body)
		if message, _ := at(got, "error", "message").(string); status != 400 || !strings.Contains(message, want) {
			t.Errorf("%s: %d %v, want %q", body, status, got, want)
		}
	}
}

func TestRepairRequest(t *testing.T) {
	_, url := start(t, setup{})
	plan := `{"type":"object","properties":{"plan":{"enum":["free","team"]},"n":{"type":"integer"}},"required":["plan"],"additionalProperties":false}`
	for _, c := range []struct {
		text, more, json, strategies string
		ok                           bool
		verified                     any
	}{
		{"Sure:\n```json\n{\"plan\": \"team\"}\n```", `"schema": ` + plan, `{"plan":"team"}`, "[clean]", true, true},
		{`{'plan': 'team', n: "5",}`, `"schema": ` + plan, `{"n":5,"plan":"team"}`, "[repair coerce]", true, true},
		{`{"plan": "**team**"}`, `"schema": ` + plan, `{"plan":"team"}`, "[markdown]", true, true},
		{`{"plan": "gold"}`, `"schema": ` + plan, `{"plan":"gold"}`, "[]", false, false},
		{`{"plan": "gold"}`, `"verify": false, "schema": ` + plan, `{"plan":"gold"}`, "[]", true, nil},
		{`{"plan": "team", "n": "5"}`, `"strategies": ["clean"], "schema": ` + plan, `{"n":"5","plan":"team"}`, "[]", false, false},
		{`{"plan": "team", "n": "5"}`, `"strategies": ["coerce"], "schema": ` + plan, `{"n":5,"plan":"team"}`, "[coerce]", true, true},
		{`{'plan': "team", "n": "5"}`, `"strategies": ["coerce"], "schema": ` + plan, ``, "[]", false, nil},
		{`{'plan': "team", "n": "5"}`, `"strategies": ["repair"], "schema": ` + plan, `{"n":"5","plan":"team"}`, "[repair]", false, false},
		{`{"a": "**b**"}`, `"strategies": ["markdown"]`, `{"a":"b"}`, "[markdown]", true, nil},
		{`{"a": "**b**"}`, `"verify": true`, `{"a":"**b**"}`, "[]", true, nil},
		{`no document`, `"verify": true`, ``, "[]", false, nil},
		{``, `"verify": true`, ``, "[]", false, nil},
	} {
		quoted, err := json.Marshal(c.text)
		if err != nil {
			t.Fatal(err)
		}
		status, _, got := post(t, url+"/repair", `{"text": `+string(quoted)+`, `+c.more+`}`)
		document := ""
		if got["json"] != nil {
			raw, err := json.Marshal(got["json"])
			if err != nil {
				t.Fatal(err)
			}
			document = string(raw)
		}
		list, _ := got["errors"].([]any)
		if status != 200 || document != c.json || got["ok"] != c.ok || got["verified"] != c.verified || fmt.Sprint(got["strategies"]) != c.strategies || (len(list) == 0) != c.ok {
			t.Errorf("%s with %s: %d %v", c.text, c.more, status, got)
		}
		if edits, _ := got["edits"].([]any); (len(edits) > 0) != (c.strategies != "[]") {
			t.Errorf("%s: edits %v", c.text, edits)
		}
	}
	for body, want := range map[string]string{
		`{}`:                                        "text is missing",
		`{"text": "a", "strategies": ["guess"]}`:    `there is no strategy "guess"`,
		`{"text": "a", "schema": {"type": 5}}`:      "type",
		`{"text": "a", "verfy": true, "schma": {}}`: "was schema meant?",
	} {
		status, _, got := post(t, url+"/repair", body)
		if message, _ := at(got, "error", "message").(string); status != 400 || !strings.Contains(message, want) {
			t.Errorf("%s: %d %v, want %q", body, status, got, want)
		}
	}
}

func TestSignalsRequest(t *testing.T) {
	_, url := start(t, setup{})
	_, _, got := post(t, url+"/signals", `{"text": "Paris.\n\n`+"```cortex-signals\\n{\\\"confidence\\\": 0.9, \\\"difficulty\\\": \\\"easy\\\"}\\n```"+`", "samples": ["Paris.", "Paris!"]}`)
	if got["text"] != "Paris." || at(got, "signals", "source") != "block" || at(got, "signals", "confidence") != 0.9 || at(got, "assessment", "recommendation") != "proceed_confident" ||
		at(got, "assessment", "agreement") != 1.0 {
		t.Errorf("%v", got)
	}
	_, _, got = post(t, url+"/signals", `{"text": "I am not sure, but it may be Lyon."}`)
	if at(got, "signals", "source") != "keywords" || at(got, "assessment", "recommendation") == "proceed" {
		t.Errorf("%v", got)
	}
	_, _, got = post(t, url+"/signals", `{"text": "{\"confidence\": 0.1}", "document": true}`)
	if at(got, "signals", "source") != "defaults" || got["text"] != `{"confidence": 0.1}` {
		t.Errorf("%v", got)
	}
	for body, want := range map[string]string{
		`{}`: "text is missing", `{"text": "a", "surprise": 2}`: "between 0 and 1", `{"text": "a", "weights": {"own": -1}}`: "weights", `{"text": 5}`: "a string", `{"text": "a", "samples": [null]}`: "samples must be an array of strings", `{"text": "a", "model": {}}`: "model must be a string",
	} {
		status, _, got := post(t, url+"/signals", body)
		if message, _ := at(got, "error", "message").(string); status != 400 || !strings.Contains(message, want) {
			t.Errorf("%s: %d %v, want %q", body, status, got, want)
		}
	}
}

// TestMarkdownInDocuments checks the four ways in which models write Markdown into documents,
// with an unmasked model.
func TestMarkdownInDocuments(t *testing.T) {
	for _, c := range []struct{ reply, schema, more, json string }{
		{`{"answer": "**4**"}`, `{"type": "object", "properties": {"answer": {"type": "string"}}}`, `"repair": true`, `map[answer:**4**]`},
		{`{"answer": "**4**"}`, `{"type": "object", "properties": {"answer": {"type": "string"}}}`, `"repair": {"markdown": true}`, `map[answer:4]`},
		{`{"plan": "**team**"}`, `{"properties": {"plan": {"enum": ["free", "team"]}}}`, `"repair": false`, `map[plan:team]`},
		{`{"tool": "*weather*"}`, `{"properties": {"tool": {"const": "weather"}}}`, `"strict": true`, `map[tool:weather]`},
		{`{"**answer**": 4}`, `{"properties": {"answer": {"type": "integer"}}, "required": ["answer"]}`, `"strict": true`, `map[answer:4]`},
	} {
		_, url := start(t, setup{reply: c.reply})
		status, _, got := post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 60, "temperature": 0, "retry_max": 0, "constrained_decoding": false, `+c.more+`, "schema": `+c.schema+`}`)
		if status != 200 || fmt.Sprint(got["json"]) != c.json || at(got, "constraint", "validated") != true {
			t.Errorf("%s with %s: %d %v", c.reply, c.more, status, got)
		}
		if edits := fmt.Sprint(at(got, "constraint", "edits")); strings.Contains(edits, "emphasis") == strings.Contains(c.json, "**") {
			t.Errorf("%s with %s: edits %s", c.reply, c.more, edits)
		}
	}
	_, url := start(t, setup{reply: "x"})
	for repair, want := range map[string]string{`{"mardown": true}`: "was markdown meant?", `5`: "repair must be true, false or an object", `{"markdown": 5}`: "repair.markdown must be true or false"} {
		status, _, got := post(t, url+"/generate_json", `{"prompt": "x", "schema": {}, "repair": `+repair+`}`)
		if message, _ := at(got, "error", "message").(string); status != 400 || !strings.Contains(message, want) {
			t.Errorf("%s: %d %v", repair, status, got)
		}
	}
}
