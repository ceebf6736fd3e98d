package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/agent/files"
	"github.com/stencil-json/stencil/backend/remote"
)

// TestAgentUpstream checks which strategy is used for an upstream's model, and how its text
// is handled.
func TestAgentUpstream(t *testing.T) {
	plain := remote.Capabilities{Engine: remote.OpenAI}
	able := remote.Capabilities{Engine: remote.OpenAI, JSONSchema: true, Logprobs: true, Tools: true}
	for _, c := range []struct {
		name       string
		caps       remote.Capabilities
		script     []string
		status     int
		conclusion string // or the code of the error
		error      string
		asked      int
	}{
		{"an envelope", able, []string{final("yes")}, 200, "yes", "", 1},
		{"in a fence", plain, []string{"Sure:\n```json\n" + final("yes") + "\n```"}, 200, "yes", "", 1},
		{"broken", plain, []string{`{"conclusion": "yes", "confidence": 0.9, "next_action": "finalize",}`}, 200, "yes", "", 1},
		{"not an envelope", plain, []string{"It is so."}, 422, "validation_failed", "", 3},
		{"not an envelope at first", plain, []string{"It is so.", final("yes")}, 200, "yes", "", 2},
		{"something else", able, []string{`{"a": 1}`}, 422, "validation_failed", "", 3},
		{"something else at first", able, []string{`{"a": 1}`, `{"b": 1}`, final("yes")}, 200, "yes", "", 3},
		{"cut off", plain, []string{`!length {"conclusion": "yes", "confi`}, 422, "validation_failed", "", 3},
		{"emphasised", plain, []string{`{"**conclusion**": "**yes**", "confidence": 0.9, "next_action": "*finalize*"}`}, 200, "yes", "", 1},
		{"an error of its own", plain, []string{`{"conclusion": "no", "confidence": 0.1, "next_action": "finalize", "error": "no access"}`}, 200, "no", "no access", 1},
		{"a part that is prose", plain, []string{split("first", "one"), "It is so.", "It is so.", "It is so.", final("half")}, 200, "half", "", 5},
		{"a synthesis that goes on", plain, []string{split("first", "one"), final("1"), split("both", "three")}, 200, "first\n\none: 1", "synthesis_failed", 5},
		{"nothing", plain, []string{"!empty"}, 502, "upstream_malformed", "", 0},
		{"a refusal", plain, []string{"!refusal I won't."}, 422, "refused_by_model", "", 1},
		{"no key", plain, []string{"!401"}, 502, "upstream_denied", "", 1},
		{"parts", plain, []string{split("first", "one", "two"), final("1"), final("2"), final("both")}, 200, "both", "", 4},
		{"a part that is refused", plain, []string{split("first", "one", "two"), "!refusal no", final("2"), final("half")}, 200, "half", "", 4},
		{"a synthesis that is refused", plain, []string{split("first", "one"), final("1"), "!refusal no"}, 200, "first\n\none: 1", "synthesis_failed", 3},
		{"busy for a while", plain, []string{"!429", "!429", "!429", "!429", final("yes")}, 200, "yes", "", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			up, url := startUpstream(t, c.caps, Config{}, c.script...)
			status, _, got := post(t, url+"/agent/run", `{"query": "x", "parallel": 1, "seed": 7}`)
			if c.status != 200 {
				if status != c.status || at(got, "error", "code") != c.conclusion || c.asked > 0 && len(up.requests()) != c.asked {
					t.Errorf("%d %v", status, got)
				}
				if c.asked == 3 {
					again := up.requests()[1]["messages"].([]any)
					if text := at(again[len(again)-1], "content").(string); !strings.Contains(text, "That answer can't be used.") || !strings.Contains(text, "Answer with raw JSON only") {
						t.Errorf("asked again with %q", text)
					}
				}
				return
			}
			message, _ := at(got, "answer", "error").(string)
			if a := at(got, "answer"); at(a, "next_action") != "finalize" || at(a, "sub_tasks") != nil {
				t.Errorf("the last answer goes on: %v", a)
			}
			if invalid, _ := at(got, "frames", 0, "invalid").(string); invalid != message {
				t.Errorf("frame 1 is invalid for %q, the answer says %q", invalid, message)
			}
			if raw, _ := at(got, "frames", 0, "envelope", "raw_response").(string); raw == "" && c.error != "synthesis_failed" {
				t.Errorf("no raw response: %v", at(got, "frames", 0))
			}
			if status != 200 || at(got, "answer", "conclusion") != c.conclusion || message != c.error {
				t.Fatalf("%d %v", status, got)
			}
			if at(got, "frames", 0, "constrained") != false || at(got, "frames", 0, "prose_tokens_saved") != nil {
				t.Errorf("frame %v", at(got, "frames", 0))
			}
			if strings.Contains(fmt.Sprint(got["warnings"]), "the answer does not fit") {
				t.Errorf("warnings %v", got["warnings"])
			}
			list := up.requests()
			if len(list) != c.asked {
				t.Fatalf("the upstream was asked %d times", len(list))
			}
			_, format := list[0]["response_format"]
			if system := at(list[0], "messages", 0, "content").(string); !strings.HasPrefix(system, "You answer with one JSON object") || !strings.Contains(system, `"next_action"`) ||
				!strings.Contains(system, "additionalProperties") || !strings.Contains(system, "Answer with raw JSON only: no code fences") || !strings.Contains(system, "No sub-task\nrepeats the task") {
				t.Errorf("system text %q", system)
			}
			if format != c.caps.JSONSchema || list[0]["seed"] == nil || list[0]["max_tokens"] != 1024.0 {
				t.Errorf("request %v", list[0])
			}
			if surprised := at(got, "frames", 0, "surprise") != nil; surprised != c.caps.Logprobs {
				t.Errorf("surprise %v", at(got, "frames", 0, "surprise"))
			}
		})
	}
}

// TestAgentRetries checks that the request sets the number of re-asks of an upstream.
func TestAgentRetries(t *testing.T) {
	for _, c := range []struct {
		more   string
		asked  int
		status int
	}{{"", 3, 422}, {`, "retry_max": 0`, 1, 422}, {`, "retry_max": 4`, 5, 200}} {
		up, url := startUpstream(t, remote.Capabilities{Engine: remote.OpenAI}, Config{}, "No.", "No.", "No.", "No.", final("yes"))
		status, _, got := post(t, url+"/agent/run", `{"query": "x", "parallel": 1`+c.more+`}`)
		if status != c.status || len(up.requests()) != c.asked {
			t.Errorf("%q: %d after %d requests: %v", c.more, status, len(up.requests()), got)
		}
		if reason := at(got, "error", "failure", "category"); c.status == 422 && reason != "invalid_json" {
			t.Errorf("%q: failure %v", c.more, at(got, "error"))
		}
	}
	_, url := startUpstream(t, remote.Capabilities{Engine: remote.OpenAI}, Config{}, "No.")
	if status, _, got := post(t, url+"/agent/run", `{"query": "x", "retry_max": 99}`); status != 400 || at(got, "error", "param") != "retry_max" {
		t.Errorf("%d %v", status, got)
	}
}

// TestAgentNeedsMore checks that a model with needs_more_info asks the user, like one with
// ask_user.
func TestAgentNeedsMore(t *testing.T) {
	needs := `{"conclusion": "Which year?", "confidence": 0.2, "needs_more_info": true, "next_action": "finalize"}`
	up, url := startUpstream(t, remote.Capabilities{Engine: remote.OpenAI}, Config{}, needs, final("in 2020"))
	status, _, got := post(t, url+"/agent/run", `{"query": "x", "interactive": true}`)
	if status != 200 || got["status"] != "waiting" || at(got, "questions", 0, "question") != "Which year?" {
		t.Fatalf("%d %v", status, got)
	}
	status, _, got = post(t, url+"/agent/run", fmt.Sprintf(`{"resume": %q, "answer": "2020"}`, got["id"]))
	if status != 200 || got["status"] != "done" || at(got, "answer", "conclusion") != "in 2020" {
		t.Errorf("%d %v", status, got)
	}
	last := up.requests()[1]["messages"].([]any)
	if strings.Contains(fmt.Sprint(last), "raw_response") || at(last[len(last)-1], "content") != "2020" {
		t.Errorf("%v", last)
	}
	_, url = startUpstream(t, remote.Capabilities{Engine: remote.OpenAI}, Config{}, needs)
	if status, _, got = post(t, url+"/agent/run", `{"query": "x"}`); status != 200 || got["status"] != "done" || at(got, "answer", "needs_more_info") != true {
		t.Errorf("nobody can be asked: %d %v", status, got)
	}
}

func TestAgentUpstreamTools(t *testing.T) {
	box, err := files.Open(t.TempDir(), files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	able := remote.Capabilities{Engine: remote.OpenAI, Tools: true}
	up, url := startUpstream(t, able, Config{AgentTools: box}, `!calls Let me see.|list_dir {}|glob_files {"pattern": "*"}`, final("empty"))
	status, _, got := post(t, url+"/agent/run", `{"query": "what is there?"}`)
	if status != 200 || at(got, "answer", "conclusion") != "empty" || at(got, "frames", 0, "tools", 1, "name") != "glob_files" {
		t.Fatalf("%d %v", status, got)
	}
	last := up.requests()[1]["messages"].([]any)
	roles := ""
	for _, m := range last {
		roles += fmt.Sprint(at(m, "role"), " ")
	}
	if roles != "system user assistant tool tool " || at(last[2], "content") != "Let me see." || at(last[2], "tool_calls", 0, "id") != at(last[3], "tool_call_id") {
		t.Errorf("%s: %v", roles, last)
	}
	// Calls of unknown tools are ordinary text.
	_, url = startUpstream(t, able, Config{AgentTools: box}, `!calls |moon {"x": 1}`)
	status, _, got = post(t, url+"/agent/run", `{"query": "what is there?"}`)
	if status != 422 || at(got, "error", "code") != "validation_failed" {
		t.Errorf("%d %v", status, got)
	}
	// An upstream without tool calls is given no tools, with a warning; requests that ask
	// for tools are refused.
	_, url = startUpstream(t, remote.Capabilities{Engine: remote.OpenAI}, Config{AgentTools: box}, final("x"))
	status, _, got = post(t, url+"/agent/run", `{"query": "what is there?", "tools": true}`)
	if status != 400 || at(got, "error", "param") != "tools" {
		t.Errorf("%d %v", status, got)
	}
	for request, warned := range map[string]bool{`{"query": "what is there?"}`: true, `{"query": "what is there?", "tools": false}`: false} {
		status, _, got = post(t, url+"/agent/run", request)
		if _, there := got["warnings"]; status != 200 || there != warned {
			t.Errorf("%s: %d %v", request, status, got)
		}
	}
}
