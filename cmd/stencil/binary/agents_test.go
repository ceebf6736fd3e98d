//go:build llama && cgo

package binary

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// final is the envelope of an answer that is the last one.
func final(conclusion string) string {
	return fmt.Sprintf(`{"conclusion": %q, "confidence": 0.9, "next_action": "finalize"}`, conclusion)
}

// split is the envelope of an answer that leaves parts to others.
func split(conclusion string, queries ...string) string {
	var tasks []string
	for i, q := range queries {
		tasks = append(tasks, fmt.Sprintf(`{"query": %q, "priority": %d}`, q, i+1))
	}
	return fmt.Sprintf(`{"conclusion": %q, "confidence": 0.5, "sub_tasks": [%s], "next_action": "continue"}`, conclusion, strings.Join(tasks, ", "))
}

// Agents ask an upstream as other requests do: with the schema and the rules, again where an answer will not do, and they
// take what the model wrote in the end, unless the request is strict.
func TestAgentUpstream(t *testing.T) {
	s := serveShared(t)
	for _, c := range []struct {
		name       string
		texts      []string
		more       string // of the request
		status     int
		conclusion string // or the category of the failure
		asked      int
	}{
		{"an envelope", []string{final("yes")}, "", 200, "yes", 1},
		{"in a fence", []string{"Sure:\n```json\n" + final("yes") + "\n```"}, "", 200, "yes", 1},
		{"with emphasis", []string{`{"**conclusion**": "**yes**", "confidence": 0.9, "next_action": "*finalize*"}`}, "", 200, "yes", 1},
		{"prose", []string{"It is so."}, "", 200, "It is so.", 3},
		{"prose, strictly", []string{"It is so."}, `, "strict": true`, 422, "invalid_json", 3},
		{"prose at first", []string{"It is so.", final("yes")}, "", 200, "yes", 2},
		{"something else at first", []string{`{"a": 1}`, `{"b": 1}`, final("yes")}, "", 200, "yes", 3},
		{"something else", []string{`{"a": 1}`}, `, "strict": true`, 422, "schema_violation", 3},
		{"asked once", []string{"It is so.", final("yes")}, `, "strict": true, "retry_max": 0`, 422, "invalid_json", 1},
		{"asked often", []string{"No.", "No.", "No.", "No.", final("yes")}, `, "retry_max": 4`, 200, "yes", 5},
		{"parts", []string{split("first", "one", "two"), final("1"), final("2"), final("both")}, "", 200, "both", 4},
		{"a part that is prose", []string{split("first", "one"), "No.", "No.", "No.", final("half")}, "", 200, "half", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.far.script(c.texts...)
			got := s.post(t, "/agent/run", `{"model": "far", "query": "x", "parallel": 1`+c.more+`}`)
			if asked := len(s.far.requests()); got.status != c.status || asked != c.asked {
				t.Fatalf("asked %d times: %v", asked, got)
			}
			if system := s.far.told(0, 0); !strings.Contains(system, "additionalProperties") || !strings.Contains(system, `"next_action"`) ||
				!strings.Contains(system, "Answer with raw JSON only: no code fences") || !strings.Contains(system, "No sub-task\nrepeats the task") {
				t.Errorf("the system text lacks the schema or the rules: %s", system)
			}
			if asked := s.far.requests(); len(asked) > 1 && c.texts[0][0] != '{' {
				if again := s.far.told(1, -1); !strings.Contains(again, "That answer can't be used.") || !strings.Contains(again, "Answer with raw JSON only") {
					t.Errorf("asked again with %q", again)
				}
			}
			if c.status != 200 {
				if got.at("error", "failure", "category") != c.conclusion || got.at("error", "failure", "stage") == nil || got.at("error", "failure", "strategy") != "instructed" {
					t.Error(got)
				}
				return
			}
			if got.at("answer", "conclusion") != c.conclusion || got.text("frames", 0, "envelope", "raw_response") == "" {
				t.Error(got)
			}
		})
	}
	if got := s.post(t, "/agent/run", `{"model": "far", "query": "x", "retry_max": 99}`); got.status != 400 || got.at("error", "param") != "retry_max" {
		t.Error(got)
	}
	// As the command shows it.
	s.far.script("It is so.", final("yes"))
	if out, errs, status := stencil(t, "agent", "--server", s.url, "--server-model", "far", "Is it so?"); status != 0 || !strings.Contains(out, "yes") {
		t.Errorf("stencil agent: %d %s %s", status, out, errs)
	}
}

// What an envelope says of itself holds: an error of the model's makes it invalid and is shown, the last answer never goes
// on, and a need for more information is a question to the user.
func TestEnvelopes(t *testing.T) {
	s := serveShared(t)
	s.far.script(`{"conclusion": "no", "confidence": 0.1, "next_action": "finalize", "error": "no access"}`)
	got := s.post(t, "/agent/run", `{"model": "far", "query": "x"}`)
	if got.status != 200 || got.at("answer", "error") != "no access" || got.at("frames", 0, "invalid") != "no access" {
		t.Errorf("an error of its own: %v", got)
	}
	if out, errs, _ := stencil(t, "agent", "--server", s.url, "--server-model", "far", "Is it so?"); !strings.Contains(out+errs, "no access") {
		t.Errorf("stencil agent does not show the error: %s %s", out, errs)
	}

	for name, texts := range map[string][]string{
		"a synthesis that goes on": {split("first", "one"), final("1"), split("both", "three")},
		"at the last level":        {split("first", "one")},
	} {
		s.far.script(texts...)
		got := s.post(t, "/agent/run", `{"model": "far", "query": "x", "parallel": 1, "bounds": {"depth": 2, "frames": 4}}`)
		if got.status != 200 && got.status != 422 || got.status == 200 && (got.at("status") != "done" || got.at("answer", "next_action") != "finalize" || got.at("answer", "sub_tasks") != nil) {
			t.Errorf("%s: %v", name, got)
		}
	}

	needs := `{"conclusion": "Which year?", "confidence": 0.2, "needs_more_info": true, "next_action": "finalize"}`
	s.far.script(needs, final("in 2020"))
	got = s.post(t, "/agent/run", `{"model": "far", "query": "x", "interactive": true}`)
	if got.status != 200 || got.at("status") != "waiting" || got.at("questions", 0, "question") != "Which year?" {
		t.Fatalf("nobody is asked: %v", got)
	}
	got = s.post(t, "/agent/run", fmt.Sprintf(`{"resume": %q, "answer": "2020"}`, got.text("id")))
	if got.at("status") != "done" || got.at("answer", "conclusion") != "in 2020" || s.far.told(1, -1) != "2020" {
		t.Errorf("after the answer: %v", got)
	}
	s.far.script(needs, final("in 2020"))
	out, errs, status := stencil(t, "agent", "--server", s.url, "--server-model", "far", "--interactive", "When?")
	id := regexp.MustCompile(`--resume (\w+)`).FindStringSubmatch(errs)
	if status != 2 || !strings.Contains(errs, "Which year?") || id == nil {
		t.Fatalf("stencil agent does not ask: %d %s %s", status, out, errs)
	}
	if out, errs, status := stencil(t, "agent", "--server", s.url, "--resume", id[1], "--answer", "2020"); status != 0 || out != "in 2020\n" {
		t.Errorf("stencil agent --resume: %d %s %s", status, out, errs)
	}
	s.far.script(needs)
	if got = s.post(t, "/agent/run", `{"model": "far", "query": "x"}`); got.at("status") != "done" || got.at("answer", "needs_more_info") != true {
		t.Errorf("where nobody can be asked: %v", got)
	}
}

// A model with masks has the tokens that its envelopes save under a name of their own; a receipt's tokens_saved are passes
// over the model that were not needed.
func TestTokensSaved(t *testing.T) {
	s := serveShared(t)
	got := s.post(t, "/agent/run", `{"model": "tiny", "query": "x", "seed": 1, "bounds": {"frames": 1, "frame_tokens": 200}}`)
	if got.status != 200 || got.at("frames", 0, "prose_tokens_saved") == nil || got.at("totals", "prose_tokens_saved") == nil || strings.Contains(got.raw, `"tokens_saved"`) {
		t.Errorf("%v", got)
	}
	got = s.post(t, "/generate_json", `{"model": "tiny", "prompt": "x", "seed": 1, "max_tokens": 60, "schema": `+plan+`}`)
	if saved, _ := got.at("constraint", "tokens_saved").(float64); saved < 1 || strings.Contains(got.raw, "prose_tokens") {
		t.Errorf("%v", got)
	}
}

// Rows of stencil eval that failed tell how the model was asked, where it failed and what each try took; the server's log
// says the same of a success. A failure is described with strategy and stage.
func TestAttempts(t *testing.T) {
	s := serveShared(t)
	s.far.script("No.", `{"a": 1}`, "No.", "No.", "No.")
	dir := t.TempDir()
	cases, rows := filepath.Join(dir, "cases.jsonl"), filepath.Join(dir, "rows.jsonl")
	if err := os.WriteFile(cases, []byte(`{"id": "1", "task": "t", "prompt": "x", "schema": {"type": "object"}}`+"\n"+`{"id": "2", "task": "t", "prompt": "y", "schema": {"type": "object"}}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, status := stencil(t, "eval", "--server", s.url, "--server-model", "far", "--modes", "unconstrained", "--retries", "2", "--out", rows, cases)
	if status != 0 || !strings.Contains(out, "json_parse 1") {
		t.Errorf("%d %s %s", status, out, errs)
	}
	raw, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Valid           bool
		Strategy, Stage string
		Prompt          int `json:"prompt_tokens"`
		Completion      int `json:"completion_tokens"`
		Attempts        []struct {
			Strategy, Stage string
			Prompt          int `json:"prompt_tokens"`
			Completion      int `json:"completion_tokens"`
		}
	}
	var list []row
	for d := json.NewDecoder(strings.NewReader(string(raw))); d.More(); {
		var r row
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	if len(list) != 2 || !list[0].Valid || list[0].Strategy != "instructed" || len(list[0].Attempts) != 2 || list[0].Attempts[0].Stage != "json_parse" || list[0].Attempts[1].Stage != "" {
		t.Fatalf("%s", raw)
	}
	bad := list[1]
	if bad.Valid || bad.Strategy != "instructed" || bad.Stage != "json_parse" || len(bad.Attempts) != 3 || bad.Prompt != 30 || bad.Completion != 15 || bad.Attempts[2].Completion != 5 || bad.Attempts[2].Stage != "json_parse" {
		t.Errorf("%s", raw)
	}
	if log := s.logged(); !strings.Contains(log, `msg="answer accepted"`) || !strings.Contains(log, "strategy=instructed tries=2") {
		t.Errorf("the log does not tell how the answer came about")
	}

	for text, stage := range map[string]string{"No.": "json_parse", `{"plan": "gold"}`: "schema_validation", "": "response_empty"} {
		s.far.script(text)
		got := s.post(t, "/generate_json", `{"model": "far", "prompt": "x", "retry_max": 1, "schema": `+plan+`}`)
		description := got.text("error", "failure", "description")
		if got.status < 400 || got.at("error", "failure", "stage") != stage || !strings.Contains(description, "strategy instructed") || !strings.Contains(description, "stage "+stage) {
			t.Errorf("%q: %v", text, got)
		}
	}
}
