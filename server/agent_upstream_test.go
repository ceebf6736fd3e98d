package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stencil/agent"
	"stencil/agent/files"
	"stencil/backend/remote"
)

// A model behind an upstream is asked as well as it can be, and what it writes is
// taken for what it is.
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
		{"not an envelope", plain, []string{"It is so."}, 200, "It is so.", agent.ErrorInvalidJSON, 1},
		{"something else", able, []string{`{"a": 1}`}, 200, `{"a": 1}`, agent.ErrorNoConclusion, 1},
		{"cut off", plain, []string{`!length {"conclusion": "yes", "confi`}, 200, `{"conclusion": "yes", "confi`, agent.ErrorInvalidJSON, 1},
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
				if status != c.status || at(got, "error", "code") != c.conclusion {
					t.Errorf("%d %v", status, got)
				}
				return
			}
			message, _ := at(got, "answer", "error").(string)
			if status != 200 || at(got, "answer", "conclusion") != c.conclusion || message != c.error {
				t.Fatalf("%d %v", status, got)
			}
			if at(got, "frames", 0, "constrained") != false || at(got, "frames", 0, "tokens_saved") != nil {
				t.Errorf("frame %v", at(got, "frames", 0))
			}
			if warned := strings.Contains(fmt.Sprint(got["warnings"]), "frame 1: the answer does not fit"); warned != slices.Contains([]string{"broken", "not an envelope", "something else", "cut off"}, c.name) {
				t.Errorf("warnings %v", got["warnings"])
			}
			list := up.requests()
			if len(list) != c.asked {
				t.Fatalf("the upstream was asked %d times", len(list))
			}
			_, format := list[0]["response_format"]
			if system := at(list[0], "messages", 0, "content").(string); !strings.HasPrefix(system, "You answer with one JSON object") || strings.Contains(system, "additionalProperties") {
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
	// Calls that nobody could run are a text like any other.
	_, url = startUpstream(t, able, Config{AgentTools: box}, `!calls |moon {"x": 1}`)
	status, _, got = post(t, url+"/agent/run", `{"query": "what is there?"}`)
	if status != 200 || at(got, "answer", "error") != agent.ErrorInvalidJSON && at(got, "answer", "error") != agent.ErrorNoConclusion {
		t.Errorf("%d %v", status, got)
	}
	// One that can't call tools is not given any, which is said, and refused where
	// they were asked for.
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
