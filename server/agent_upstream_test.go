package server

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

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
		{"not an envelope", plain, []string{"It is so."}, 200, "It is so.", "invalid_json", 3},
		{"not an envelope at first", plain, []string{"It is so.", final("yes")}, 200, "yes", "", 2},
		{"something else", able, []string{`{"a": 1}`}, 200, `{"a": 1}`, "no_conclusion", 3},
		{"something else at first", able, []string{`{"a": 1}`, `{"b": 1}`, final("yes")}, 200, "yes", "", 3},
		{"cut off", plain, []string{`!length {"conclusion": "yes", "confi`}, 200, `{"conclusion": "yes", "confi`, "invalid_json", 3},
		{"emphasised", plain, []string{`{"**conclusion**": "**yes**", "confidence": 0.9, "next_action": "*finalize*"}`}, 200, "yes", "", 1},
		{"an error of its own", plain, []string{`{"conclusion": "no", "confidence": 0.1, "next_action": "finalize", "error": "no access"}`}, 200, "no", "no access", 1},
		{"a part that is prose", plain, []string{split("first", "one"), "It is so.", "It is so.", "It is so.", final("half")}, 200, "half", "", 5},
		{"a synthesis that goes on", plain, []string{split("first", "one"), final("1"), split("both", "three")}, 200, "both", "", 3},
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
			if fits := c.error != "invalid_json" && c.error != "no_conclusion" && c.name != "a part that is prose"; strings.Contains(fmt.Sprint(got["warnings"]), "the answer does not fit") == fits {
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

// What an envelope of an upstream's model lacks or overdoes is supplied or cut back, without asking again; a strict request
// has it fit the schema.
func TestAgentTolerance(t *testing.T) {
	for text, want := range map[string]struct {
		confidence float64
		action     string
		more       string // a member of the answer, and its value
	}{
		`{"conclusion": "c", "confidence": 0.9}`:                                                           {0.9, "finalize", ""},
		`{"conclusion": "c"}`:                                                                              {0.8, "finalize", ""},
		`{"conclusion": "c", "confidence": 1.5, "next_action": "finalize"}`:                                {1, "finalize", ""},
		`{"conclusion": "c", "confidence": -2, "next_action": "finalize"}`:                                 {0, "finalize", ""},
		`{"conclusion": "c", "confidence": "high", "next_action": "finalize"}`:                             {0.8, "finalize", ""},
		`{"conclusion": "c", "confidence": "85%", "next_action": "finalize"}`:                              {0.85, "finalize", ""},
		`{"conclusion": "c", "confidence": null, "next_action": "finalize"}`:                               {0.8, "finalize", ""},
		`{"conclusion": "c", "confidence": 0.123, "next_action": "finalize"}`:                              {0.123, "finalize", ""},
		`{"conclusion": "c", "confidence": 0.5, "next_action": "stop"}`:                                    {0.5, "finalize", ""},
		`{"conclusion": "c", "confidence": 0.5, "next_action": "FINALIZE"}`:                                {0.5, "finalize", ""},
		`{"conclusion": "c", "confidence": 0.5, "next_action": null}`:                                      {0.5, "finalize", ""},
		`{"conclusion": "c", "confidence": 0.5, "next_action": "finalize", "mood": "fine"}`:                {0.5, "finalize", ""},
		`{"conclusion": "c", "confidence": 0.5, "next_action": "continue"}`:                                {0.5, "finalize", ""},
		`{"conclusion": "c", "confidence": 0.5, "next_action": "finalize", "files": "a.txt"}`:              {0.5, "finalize", "files [a.txt]"},
		`{"conclusion": "c", "confidence": 0.5, "next_action": "finalize", "files": ["a", 7, null]}`:       {0.5, "finalize", "files [a 7]"},
		`{"conclusion": "c", "confidence": 0.5, "next_action": "finalize", "needs_more_info": "yes"}`:      {0.5, "finalize", "needs_more_info true"},
		`{"conclusion": "c", "confidence": 0.5, "next_action": "finalize", "reasoning": ["a"]}`:            {0.5, "finalize", `reasoning ["a"]`},
		`{"conclusion": 42, "confidence": 0.5, "next_action": "finalize"}`:                                 {0.5, "finalize", "conclusion 42"},
		"```json\n{\"conclusion\": \"c\", \"confidence\": 7, \"next_action\": \"done\",}\n```\nThat's it.": {1, "finalize", ""},
	} {
		for _, caps := range []remote.Capabilities{{Engine: remote.OpenAI}, {Engine: remote.OpenAI, JSONSchema: true}, {Engine: remote.VLLM}} {
			up, url := startUpstream(t, caps, Config{}, text)
			status, _, got := post(t, url+"/agent/run", `{"query": "x"}`)
			a := at(got, "answer")
			name, value, _ := strings.Cut(want.more, " ")
			if name == "" {
				name, value = "conclusion", "c"
			}
			if status != 200 || at(a, "confidence") != want.confidence || at(a, "next_action") != want.action || at(a, "error") != nil || len(up.requests()) != 1 || fmt.Sprint(at(a, name)) != value {
				t.Errorf("%s: %d after %d requests: %v", text, status, len(up.requests()), got)
			}
			if strings.Contains(fmt.Sprint(got["warnings"]), "does not fit") {
				t.Errorf("%s: warnings %v", text, got["warnings"])
			}
		}
	}

	// Sub-tasks without a priority come after those with one.
	var log lockedBuffer
	up, url := startUpstream(t, remote.Capabilities{Engine: remote.OpenAI}, Config{Log: slog.New(slog.NewTextHandler(&log, nil))},
		`{"conclusion": "c", "confidence": 0.5, "next_action": "continue", "sub_tasks": [{"query": "first without"}, {"query": "low", "priority": 12}, "second without", {"query": "high", "priority": "1"}]}`, final("part"))
	status, _, got := post(t, url+"/agent/run", `{"query": "x", "parallel": 1}`)
	var order []string
	for _, f := range got["frames"].([]any)[1:] {
		order = append(order, at(f, "query").(string))
	}
	if want := "high, low, first without, second without"; status != 200 || strings.Join(order, ", ") != want || len(up.requests()) != 6 {
		t.Errorf("%d: %q after %d requests", status, order, len(up.requests()))
	}
	if !strings.Contains(log.String(), `level=INFO msg="task split"`) || !strings.Contains(log.String(), `frame=1 depth=1 into="[2 3 4 5]"`) {
		t.Errorf("the log doesn't say that the task was split: %s", log.String())
	}

	// The fallback of a text that isn't an envelope, and a strict request.
	_, url = startUpstream(t, remote.Capabilities{Engine: remote.OpenAI}, Config{}, "It is so.")
	if status, _, got := post(t, url+"/agent/run", `{"query": "x"}`); status != 200 || at(got, "answer", "confidence") != 0.5 || at(got, "answer", "raw_response") != "It is so." {
		t.Errorf("the fallback: %d %v", status, got)
	}
	for _, text := range []string{"It is so.", `{"conclusion": "c", "confidence": 0.9}`, `{"conclusion": "c", "confidence": 1.5, "next_action": "finalize"}`, `{"conclusion": "c", "confidence": 0.5, "next_action": "finalize", "mood": 1}`} {
		up, url := startUpstream(t, remote.Capabilities{Engine: remote.OpenAI}, Config{}, text)
		if status, _, got := post(t, url+"/agent/run", `{"query": "x", "strict": true}`); status != 422 || at(got, "error", "code") != "validation_failed" || len(up.requests()) != 3 {
			t.Errorf("strict, %s: %d after %d requests: %v", text, status, len(up.requests()), got)
		}
	}
}

// A question that takes longer than requests may is told from a run whose own time is over.
func TestAgentSlowQuestion(t *testing.T) {
	_, url := startUpstream(t, remote.Capabilities{Engine: remote.OpenAI}, Config{RequestTimeout: 50 * time.Millisecond}, "!hang")
	status, _, got := post(t, url+"/agent/run", `{"query": "x"}`)
	if message, _ := at(got, "error", "message").(string); status != 504 || at(got, "error", "code") != "timeout" || !strings.HasPrefix(message, "a question to the model took longer than a request may (50ms, --request-timeout)") {
		t.Errorf("%d %v", status, got)
	}
	_, url = start(t, setup{cfg: Config{RequestTimeout: time.Nanosecond}})
	status, _, got = post(t, url+"/agent/run", `{"query": "x"}`)
	if message, _ := at(got, "error", "message").(string); status != 504 || !strings.HasPrefix(message, "a question to the model took longer") {
		t.Errorf("%d %v", status, got)
	}
	_, url = startUpstream(t, remote.Capabilities{Engine: remote.OpenAI}, Config{}, "!hang")
	status, _, got = post(t, url+"/agent/run", `{"query": "x", "bounds": {"seconds": 0.2}}`)
	if message, _ := at(got, "error", "message").(string); status != 504 || message != "the run's time was over before there was an answer" {
		t.Errorf("%d %v", status, got)
	}
}

// TestAgentRetries checks that the request sets the number of re-asks of an upstream.
func TestAgentRetries(t *testing.T) {
	for _, c := range []struct {
		more   string
		asked  int
		status int
	}{{"", 3, 200}, {`, "strict": true`, 3, 422}, {`, "strict": true, "retry_max": 0`, 1, 422}, {`, "strict": true, "retry_max": 4`, 5, 200}} {
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
