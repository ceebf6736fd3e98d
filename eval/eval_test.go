package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestReadCases(t *testing.T) {
	got, err := ReadCases(strings.NewReader("# note\n\n" + `{"id": "a", "prompt": "x", "schema": null}` + "\n" + `{"id": "b", "messages": [{"role": "user", "content": "x"}], "schema": {}, "expected": 5, "max_tokens": 3}` + "\n"))
	if err != nil || len(got) != 2 || got[0].Schema != nil || got[1].MaxTokens != 3 {
		t.Errorf("%+v %v", got, err)
	}
	for text, want := range map[string]string{
		`{"id": "a"}`:                      "line 1: exactly one of prompt and messages",
		`{"prompt": "x"}`:                  "line 1: id is missing",
		"\n" + `{"id": "a", "promt": "x"}`: "line 2: json: unknown field",
		`{"id": "a", "prompt": "x"}` + "\n" + `{"id": "a", "prompt": "y"}`: `line 2: duplicate id "a", first on line 1`,
		`{`: "line 1",
		`{"id": "a", "prompt": "x", "messages": []}` + "\n": "",
	} {
		if _, err := ReadCases(strings.NewReader(text)); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		answer, expected string
		want             Score
	}{
		{`{"a": 1, "b": [true, null]}`, `{"b": [true, null], "a": 1.0}`, Score{true, 3, 3}},
		{`{"a": 1}`, `{"a": 2}`, Score{false, 0, 1}},
		{`{"a": 1, "b": 2}`, `{"a": 1}`, Score{false, 1, 1}},
		{`{"a": 1}`, `{"a": 1, "b": 2}`, Score{false, 1, 2}},
		{`[1, 2]`, `[2, 1]`, Score{false, 0, 2}},
		{`{"a": {}}`, `{"a": []}`, Score{false, 0, 1}},
		{`{"a": {}}`, `{"a": {}}`, Score{true, 1, 1}},
		{`{"a/b": 1e2}`, `{"a/b": 100}`, Score{true, 1, 1}},
		{`{"a": 1e99999999}`, `{"a": 1e99999998}`, Score{false, 0, 1}},
		{`"5"`, `5`, Score{false, 0, 1}},
		{``, `{"a": 1}`, Score{false, 0, 1}},
		{`{"a": "é"}`, `{"a": "\u00e9"}`, Score{true, 1, 1}},
	} {
		if got := Compare([]byte(c.answer), []byte(c.expected)); got != c.want {
			t.Errorf("%s for %s: %+v, want %+v", c.answer, c.expected, got, c.want)
		}
	}
	if !CompareText(" yes\n", []byte(`"yes"`)).Exact || CompareText("no", []byte(`"yes"`)).Exact {
		t.Error("text")
	}
}

// answering returns the URL of a server whose answers depend on the prompt.
func answering(t *testing.T, asked *atomic.Int32) string {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		var body struct {
			Prompt string `json:"prompt"`
			Masks  *bool  `json:"constrained_decoding"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		usage := `"usage": {"prompt_tokens": 3, "completion_tokens": 4}`
		switch {
		case r.URL.Path == "/generate":
			fmt.Fprintf(w, `{"text": " yes", %s}`, usage)
		case body.Prompt == "hard" && body.Masks != nil:
			w.WriteHeader(422)
			fmt.Fprint(w, `{"error": {"message": "no", "code": "validation_failed", "text": "{", "failure": {"category": "invalid_json", "stage": "json_parse", "tries": 3}}}`)
		case body.Prompt == "refused":
			w.WriteHeader(400)
			fmt.Fprint(w, `{"error": {"message": "no", "code": "invalid_schema"}}`)
		case body.Prompt == "loose":
			fmt.Fprintf(w, `{"json": {"a": 6}, "constraint": {"validated": false, "tries": 1}, %s}`, usage)
		default:
			fmt.Fprintf(w, `{"json": {"a": 5}, "text": "x", "constraint": {"validated": true, "tries": 1, "edits": [{}]}, %s}`, usage)
		}
	}))
	t.Cleanup(h.Close)
	return h.URL
}

const cases = `{"id": "1", "task": "t", "prompt": "easy", "schema": {}, "expected": {"a": 5}}
{"id": "2", "task": "t", "prompt": "hard", "schema": {}, "expected": {"a": 5}}
{"id": "3", "task": "u", "prompt": "refused", "schema": {}}
{"id": "4", "task": "u", "prompt": "loose", "schema": {}, "expected": {"a": 5, "b": 1}}
{"id": "5", "task": "u", "prompt": "free", "expected": "yes"}
`

func TestRun(t *testing.T) {
	list, err := ReadCases(strings.NewReader(cases))
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	url := answering(t, &asked)
	var lines strings.Builder
	seen := 0
	results, err := Run(t.Context(), Config{URL: url, Parallel: 2, Write: &lines, Progress: func(done int) { seen = done }}, list)
	if err != nil || len(results) != 10 || asked.Load() != 10 || seen != 10 {
		t.Fatalf("%d results, %d asked, %d seen, %v", len(results), asked.Load(), seen, err)
	}
	var table, page strings.Builder
	report := Summarize(results)
	if err := errors.Join(report.Table(&table), report.HTML(&page)); err != nil {
		t.Fatal(err)
	}
	row := func(task, mode string) Row {
		for _, r := range report.Rows {
			if r.Task == task && r.Mode == mode {
				return r
			}
		}
		t.Fatalf("no row %s %s in %s", task, mode, table.String())
		return Row{}
	}
	if r := row("t", Constrained); r.Cases != 2 || r.Valid != 2 || r.Exact != 2 || r.Edited != 2 || r.Completion != 8 {
		t.Errorf("%+v", r)
	}
	if r := row("t", Unconstrained); r.Valid != 1 || r.Exact != 1 || r.Right != 1 || r.Fields != 2 || r.Failures["invalid_json"] != 1 || r.Stages["json_parse"] != 1 {
		t.Errorf("%+v", r)
	}
	if r := row("u", Constrained); r.Cases != 3 || r.Valid != 1 || r.Exact != 1 || r.Scored != 2 || r.Failures["invalid_schema"] != 1 || r.Failures["schema_violation"] != 1 {
		t.Errorf("%+v", r)
	}
	if r := row(AllTasks, Unconstrained); r.Cases != 5 || report.Rows[len(report.Rows)-1].Task != AllTasks {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(table.String(), "invalid_json 1") || !strings.Contains(page.String(), "<svg") || strings.Count(page.String(), "<rect") != 3*len(report.Rows) {
		t.Errorf("%s\n%s", table.String(), page.String())
	}

	// With some complete lines and a partial one, only the missing cases are run.
	text := lines.String()
	at := strings.Index(text, "\n") + 1
	at += strings.Index(text[at:], "\n") + 1
	done, err := ReadResults(strings.NewReader(text[:at+10]))
	if err != nil || len(done) != 2 {
		t.Fatalf("%d %v", len(done), err)
	}
	asked.Store(0)
	again, err := Run(t.Context(), Config{URL: url, Done: done}, list)
	if err != nil || len(again) != 10 || asked.Load() != 8 {
		t.Errorf("%d results, %d asked, %v", len(again), asked.Load(), err)
	}
	if _, err := ReadResults(strings.NewReader("{\n{}\n")); err == nil {
		t.Error("a broken line in the middle was read")
	}
}

func TestRunStops(t *testing.T) {
	list, _ := ReadCases(strings.NewReader(cases))
	if _, err := Run(t.Context(), Config{URL: "http://127.0.0.1:1"}, list); !errors.Is(err, errStopped) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var asked atomic.Int32
	results, err := Run(ctx, Config{URL: answering(t, &asked), Progress: func(int) { cancel() }}, list)
	if !errors.Is(err, context.Canceled) || len(results) == 0 || len(results) == 10 {
		t.Errorf("%d %v", len(results), err)
	}
}
