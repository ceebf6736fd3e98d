//go:build llama && cgo

package binary

import (
	"fmt"
	"strings"
	"testing"
)

const plan = `{"type": "object", "properties": {"plan": {"enum": ["free", "team"]}, "n": {"type": "integer"}}, "required": ["plan"], "additionalProperties": false}`

// POST /validate judges a text that one has.
func TestValidate(t *testing.T) {
	s := serveShared(t)
	for _, c := range []struct{ body, want string }{
		{`{"schema": ` + plan + `, "document": {"plan": "team", "n": 5}}`, "true"},
		{`{"schema": ` + plan + `, "document": {"plan": "gold"}}`, "false /plan enum 1:10"},
		{`{"schema": ` + plan + `, "text": "{\"plan\":\n 5}"}`, "false /plan enum 2:2"},
		{`{"schema": ` + plan + `, "text": "{\"plan\": \"te"}`, "false incomplete"},
		{`{"schema": {"type": "string"}, "document": null}`, "false  type 1:1"},
		{`{"regex": "a+b", "text": "aab"}`, "true"}, {`{"regex": "a+b", "text": "a\nb"}`, "false  regex 1:2"},
		{`{"choice": ["yes", "no"], "text": "ye"}`, "false incomplete"}, {`{"grammar": "root ::= [a-c]+", "text": "abcd"}`, "false  grammar 1:4"},
		{`{"grammar": {"builtin": "xml"}, "text": "<a><b></a>"}`, "false  grammar"}, {`{"grammar": {"builtin": "csv", "columns": 2}, "text": "a,b\n1,2\n"}`, "true"},
	} {
		got := s.post(t, "/validate", c.body)
		verdict := fmt.Sprint(got.at("valid"))
		if got.at("incomplete") == true {
			verdict += " incomplete"
		}
		if e, ok := got.at("errors", 0).(map[string]any); ok {
			verdict += fmt.Sprintf(" %v %v %v:%v", e["pointer"], e["keyword"], e["line"], e["column"])
		}
		if got.status != 200 || !strings.HasPrefix(verdict, c.want) {
			t.Errorf("%s: %s, want %s: %v", c.body, verdict, c.want, got)
		}
	}
	for body, says := range map[string]string{`{"document": 5}`: "a constraint is required", `{"schema": {}}`: "either text or document", `{"shema": {}, "document": 5}`: "schema"} {
		if got := s.post(t, "/validate", body); got.status != 400 || !strings.Contains(got.text("error", "message"), says) {
			t.Errorf("%s: %v", body, got)
		}
	}
}

// POST /repair and stencil repair read the document out of a text, and say what they did.
func TestRepair(t *testing.T) {
	s := serveShared(t)
	file := write(t, "plan.json", plan)
	for _, c := range []struct {
		text       string
		more       string   // of the request
		flags      []string // of the command
		json       string   // as the command prints it; "" for none
		strategies string
		verified   any
	}{
		{"Sure:\n```json\n{\"plan\": \"team\"}\n```\nBye.", `"schema": ` + plan, []string{"--schema", file}, `{"plan": "team"}`, "[clean]", true},
		{`{'plan': 'team', n: "5",}`, `"schema": ` + plan, []string{"--schema", file}, `{"plan":"team","n":5}`, "[repair coerce]", true},
		{`{"plan": "**team**"}`, `"schema": ` + plan, []string{"--schema", file}, `{"plan": "team"}`, "[markdown]", true},
		{`{"plan": "gold"}`, `"schema": ` + plan, []string{"--schema", file}, "", "[]", false},
		{`{"plan": "gold"}`, `"verify": true, "schema": ` + plan, []string{"--schema", file, "--verify"}, "", "[]", false},
		{`{"plan": "gold"}`, `"verify": false, "schema": ` + plan, []string{"--schema", file, "--verify=false"}, `{"plan": "gold"}`, "[]", nil},
		{`{"plan": "team", "n": "5"}`, `"strategies": ["clean"], "schema": ` + plan, []string{"--schema", file, "--strategy", "clean"}, "", "[]", false},
		{`{"a": "**b**"}`, `"strategies": ["markdown"]`, []string{"--strategy", "markdown"}, `{"a": "b"}`, "[markdown]", nil},
		{`{"a": [1, 2`, `"cut": true`, []string{"--cut"}, "", "[]", nil},
		{`nothing`, `"verify": true`, nil, "", "[]", nil},
	} {
		got := s.post(t, "/repair", `{"text": `+quoted(c.text)+`, `+c.more+`}`)
		list, _ := got.at("errors").([]any)
		edits, _ := got.at("edits").([]any)
		if got.status != 200 || got.at("ok") != (c.json != "") || fmt.Sprint(got.at("strategies")) != c.strategies || got.at("verified") != c.verified ||
			(len(list) == 0) != (c.json != "") || (len(edits) > 0) != (c.strategies != "[]") {
			t.Errorf("%s with %s: %v", c.text, c.more, got)
		}
		out, errs, status := run{stdin: c.text}.of(t, append([]string{"repair"}, c.flags...)...)
		if (status == 0) != (c.json != "") || status == 0 && strings.ReplaceAll(out, " ", "") != strings.ReplaceAll(c.json, " ", "")+"\n" || (errs != "") != (c.strategies != "[]" || status != 0) {
			t.Errorf("%s with %q: %d %q %s", c.text, c.flags, status, out, errs)
		}
	}
	got := s.post(t, "/repair", `{"text": "Well:\n{plan:\n 'gold'}", "schema": `+plan+`}`)
	if e := got.at("errors", 0); at(e, "pointer") != "/plan" || at(e, "keyword") != "enum" || at(e, "line") != 1.0 || at(e, "column") != 9.0 || got.text("text") != `{"plan":"gold"}` {
		t.Error(got)
	}
	if got := s.post(t, "/repair", `{"text": "{}", "strategies": ["guess"]}`); got.status != 400 || !strings.Contains(got.text("error", "message"), `"guess"`) {
		t.Error(got)
	}
}

// POST /signals and stencil signals read what a text says of itself.
func TestSignals(t *testing.T) {
	s := serveShared(t)
	const text = "Paris.\n\n```cortex-signals\n{\"confidence\": 0.9, \"difficulty\": \"easy\"}\n```"
	got := s.post(t, "/signals", `{"text": `+quoted(text)+`, "samples": ["Paris.", "Paris!"]}`)
	if got.at("text") != "Paris." || got.at("signals", "confidence") != 0.9 || got.at("assessment", "recommendation") == nil || got.at("assessment", "agreement") != 1.0 {
		t.Error(got)
	}
	if got := s.post(t, "/signals", `{"text": "I am not sure, but it may be Lyon."}`); got.at("signals", "source") != "keywords" {
		t.Error(got)
	}
	out, errs, status := run{stdin: text}.of(t, "signals", "--sample", write(t, "b.txt", "Paris."))
	if status != 0 || !strings.Contains(out, `"confidence": 0.9`) || !strings.Contains(out, `"agreement": 1`) || !strings.Contains(out, `"text": "Paris."`) {
		t.Errorf("%d %s %s", status, out, errs)
	}
}

// Emphasis around values and keys goes where that alone makes the document fit the schema, and elsewhere on request.
func TestMarkdownInDocuments(t *testing.T) {
	s := serveShared(t)
	for _, c := range []struct{ text, schema, more, json string }{
		{`{"answer": "**4**"}`, `{"type": "object", "properties": {"answer": {"type": "string"}}}`, `"repair": true`, `{"answer":"**4**"}`},
		{`{"answer": "**4**"}`, `{"type": "object", "properties": {"answer": {"type": "string"}}}`, `"repair": {"markdown": true}`, `{"answer":"4"}`},
		{`{"plan": "**team**"}`, `{"properties": {"plan": {"enum": ["free", "team"]}}}`, `"repair": false`, `{"plan":"team"}`},
		{`{"tool": "*weather*"}`, `{"properties": {"tool": {"const": "weather"}}}`, `"strict": true`, `{"tool":"weather"}`},
		{`{"**answer**": 4}`, `{"properties": {"answer": {"type": "integer"}}, "required": ["answer"]}`, `"strict": true`, `{"answer":4}`},
		{"{\"`plan`\": \"__team__\"}", `{"properties": {"plan": {"enum": ["free", "team"]}}, "required": ["plan"]}`, `"strict": true`, `{"plan":"team"}`},
	} {
		s.far.script(c.text)
		got := s.post(t, "/generate_json", `{"model": "far", "prompt": "x", "retry_max": 0, "constrained_decoding": false, `+c.more+`, "schema": `+c.schema+`}`)
		if got.status != 200 || quoted(got.at("json")) != c.json || got.at("constraint", "validated") != true {
			t.Errorf("%s with %s: %v", c.text, c.more, got)
		}
	}
	for text, want := range map[string]string{
		`{"answer": "**4**"}`: `{"answer":"4"}`, `{"plan": "**team**"}`: `{"plan":"team"}`, `{"tool": "*weather*"}`: `{"tool":"weather"}`, `{"**answer**": 4}`: `{"answer":4}`,
	} {
		if got := s.post(t, "/repair", `{"strategies": ["markdown"], "text": `+quoted(text)+`}`); quoted(got.at("json")) != want {
			t.Errorf("/repair of %s: %v", text, got)
		}
	}
}
