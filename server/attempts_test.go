package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/remote"
	"github.com/stencil-json/stencil/eval"
)

// TestAttempts checks that a failure reports the strategy, the stage and the usage of each attempt, and that a success
// is logged with them.
func TestAttempts(t *testing.T) {
	var log bytes.Buffer
	_, url := start(t, setup{reply: "no JSON at all", cfg: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}})
	status, _, got := post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 30, "temperature": 0, "retry_max": 2, "constrained_decoding": false, "strict": true, "schema": {"type": "object"}}`)
	failure := at(got, "error", "failure")
	if status != 422 || at(failure, "strategy") != "free" || at(failure, "stage") != "json_parse" || len(at(failure, "attempts").([]any)) != 3 {
		t.Fatalf("%d %v", status, got)
	}
	for _, a := range at(failure, "attempts").([]any) {
		if at(a, "strategy") != "free" || at(a, "stage") != "json_parse" || at(a, "prompt_tokens").(float64) < 1 || at(a, "completion_tokens").(float64) < 3 {
			t.Errorf("attempt %v", a)
		}
	}
	if text := at(failure, "description").(string); !strings.Contains(text, "strategy free") || !strings.Contains(text, "stage json_parse") {
		t.Errorf("description %q", text)
	}
	// Masks are a strategy too, if keywords are left to the validator.
	_, url = start(t, setup{reply: `"abb"`})
	status, _, got = post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 30, "temperature": 0, "retry_max": 1, "on_unsupported": "validate", "schema": {"type": "string", "pattern": "^(a)b\\1$"}}`)
	if status != 422 || (at(got, "error", "failure", "strategy") != "masks" || len(at(got, "error", "failure", "attempts").([]any)) != 2) {
		t.Errorf("%d %v", status, got)
	}

	// The records that stencil eval keeps.
	up, url := startUpstream(t, remote.Capabilities{Engine: remote.OpenAI}, Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, "No.", `{"a": 1}`, "No.", "No.", "No.")
	results, err := eval.Run(t.Context(), eval.Config{URL: url, Modes: []string{eval.Unconstrained}, Retries: 2}, []eval.Case{
		{ID: "1", Task: "t", Prompt: "x", Schema: []byte(`{"type": "object"}`)}, {ID: "2", Task: "t", Prompt: "x", Schema: []byte(`{"type": "object"}`)},
	})
	if err != nil || len(results) != 2 || len(up.requests()) != 5 {
		t.Fatalf("%+v, %v", results, err)
	}
	good, bad := results[0], results[1]
	if !good.Valid || good.Strategy != "instructed" || len(good.Attempts) != 2 || good.Attempts[0].Stage != "json_parse" || good.Attempts[1].Stage != "" {
		t.Errorf("%+v", good)
	}
	if bad.Valid || bad.Strategy != "instructed" || bad.Stage != "json_parse" || len(bad.Attempts) != 3 || bad.Prompt == 0 || bad.Completion == 0 {
		t.Errorf("%+v", bad)
	}
	sum := 0
	for _, a := range bad.Attempts {
		sum += a.Completion
	}
	if sum != bad.Completion {
		t.Errorf("tries took %d tokens, the row has %d", sum, bad.Completion)
	}
	if text := log.String(); !strings.Contains(text, `msg="answer accepted"`) || !strings.Contains(text, "strategy=instructed") || !strings.Contains(text, "tries=2") {
		t.Errorf("log:\n%s", fmt.Sprint(text))
	}
}

// TestFreeTextOfGrammars checks that a text that does not fit a grammar is reported with the position, as an error or a
// warning.
func TestFreeTextOfGrammars(t *testing.T) {
	_, url := start(t, setup{reply: "ab\ncx"})
	for constraint, c := range map[string]struct{ name, place string }{
		`"grammar": "root ::= [abc\\n]+"`:             {"grammar", "line 2, column 2"},
		`"grammar": {"builtin": "csv", "columns": 2}`: {"grammar", "line 1, column 3"},
		`"regex": "ab[^x]*"`:                          {"regex", "line 2, column 2"},
		`"choice": ["ab\ncd", "x"]`:                   {"choice", "line 2, column 2"},
		`"grammar": "root ::= \"ab\\ncxy\""`:          {"grammar", "line 2, column 3"},
	} {
		body := `{"prompt": "x", "max_tokens": 30, "temperature": 0, "retry_max": 0, "constrained_decoding": false, ` + constraint
		status, _, got := post(t, url+"/generate", body+`}`)
		message, _ := at(got, "error", "message").(string)
		if status != 422 || !strings.Contains(message, "the "+c.name+" at "+c.place) || at(got, "error", "param") != c.name || strings.Contains(message, "schema.") {
			t.Errorf("%s: %d %v", constraint, status, got)
		}
		line := at(got, "error", "details", 0, "line")
		if line == nil || !strings.Contains(c.place, fmt.Sprintf("line %v,", line)) || at(got, "error", "details", 0, "keyword") != c.name {
			t.Errorf("%s: details %v", constraint, at(got, "error", "details"))
		}
		status, _, got = post(t, url+"/generate", body+`, "strict": false}`)
		if status != 200 || at(got, "constraint", "validated") != false || at(got, "constraint", "errors", 0, "line") != line ||
			!strings.Contains(fmt.Sprint(got["warnings"]), "does not fit the "+c.name) || strings.Contains(fmt.Sprint(got), "fit the schema") {
			t.Errorf("%s, not strict: %d %v", constraint, status, got)
		}
	}
}
