package server

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/vocab"
)

// A part of a play is what the model says when the user's turn contains the cue.
type part struct{ cue, says string }

// play returns a model that acts by parts: it says the first part whose cue is in the
// last turn of the user, or in later text such as a tool's result. Without a cue it
// answers at random.
func play(v *vocab.Vocab, parts ...part) scripted.Func {
	random := scripted.Random(7)
	return func(history []int32, logits []float32) {
		text := string(v.Decode(history))
		at := strings.LastIndex(text, "\nassistant\n")
		if at < 0 {
			random(history, logits)
			return
		}
		turn, said := text[:at], text[at+len("\nassistant\n"):]
		turn = turn[max(0, strings.LastIndex(turn, "\nuser\n")):]
		for _, p := range parts {
			if !strings.Contains(turn, p.cue) {
				continue
			}
			rest, ok := strings.CutPrefix(p.says, said)
			if !ok {
				break
			}
			if rest == "" {
				logits[v.EOG()[len(v.EOG())-1]] = scripted.Strong
				return
			}
			for id := range logits {
				if b := v.Bytes(int32(id)); len(b) > 0 && strings.HasPrefix(rest, string(b)) {
					logits[id] = scripted.Strong * float32(len(b)) // the longest matching token
				}
			}
			return
		}
		random(history, logits)
	}
}

// final, split and wonder return envelopes as a model writes them.
func final(text string) string {
	return fmt.Sprintf(`{"conclusion":%q,"confidence":0.9,"next_action":"finalize"}`, text)
}

func split(text string, queries ...string) string {
	var tasks []string
	for i, q := range queries {
		tasks = append(tasks, fmt.Sprintf(`{"query":%q,"priority":%d}`, q, i+1))
	}
	return fmt.Sprintf(`{"conclusion":%q,"confidence":0.5,"sub_tasks":[%s],"next_action":"continue"}`, text, strings.Join(tasks, ","))
}

func wonder(text string) string {
	return fmt.Sprintf(`{"conclusion":%q,"confidence":0.2,"next_action":"ask_user"}`, text)
}

// startAgent runs a server whose model acts by parts.
func startAgent(t testing.TB, s setup, parts ...part) (*Server, string) {
	t.Helper()
	s.next = play(loadVocab(t), parts...)
	s.eng.Context.Size = 1 << 17
	s.opt.ContextLength = 1 << 17
	return start(t, s)
}

// drawTree formats frames as a tree, one per line.
func drawTree(reply map[string]any) string {
	var b strings.Builder
	frames, _ := reply["frames"].([]any)
	var draw func(id float64)
	draw = func(id float64) {
		f := frames[int(id)-1].(map[string]any)
		fmt.Fprintf(&b, "%s%s: %s", strings.Repeat("  ", int(f["depth"].(float64))-1), f["query"], f["conclusion"])
		if f["status"] != "done" {
			fmt.Fprintf(&b, " [%s]", f["status"])
		}
		if f["bound"] != nil {
			fmt.Fprintf(&b, " (%s)", f["bound"])
		}
		b.WriteByte('\n')
		children, _ := f["children"].([]any)
		for _, c := range children {
			draw(c.(float64))
		}
	}
	draw(1)
	return b.String()
}

// deepPlay makes a tree of depth 4, in which one sub-task occurs twice.
var deepPlay = []part{
	{"The task: root", final("all of root")}, {"The task: alpha", final("all of alpha")}, {"The task: beta", final("all of beta")},
	{"part of it: alpha", split("first alpha", "beta", "gamma")}, {"part of it: beta", split("first beta", "delta")},
	{"part of it: gamma", final("did gamma")}, {"part of it: delta", final("did delta")}, {"part of it: omega", final("did omega")},
	{"root", split("first root", "alpha", "omega", "Omega.")},
}

const deepTree = `root: all of root
  alpha: all of alpha
    beta: all of beta
      delta: did delta
    gamma: did gamma
  omega: did omega
`

func TestAgentRun(t *testing.T) {
	srv, url := startAgent(t, setup{}, deepPlay...)
	status, _, got := post(t, url+"/agent/run", `{"query": "root", "seed": 3, "model": "tiny"}`)
	if status != 200 || at(got, "status") != "done" || at(got, "bound") != nil || at(got, "model") != "tiny" || at(got, "seed") != 3.0 {
		t.Fatalf("%d %v", status, got)
	}
	if tree := drawTree(got); tree != deepTree {
		t.Errorf("%s", tree)
	}
	if at(got, "answer", "conclusion") != "all of root" || at(got, "answer", "confidence") != 0.9 || !strings.HasPrefix(got["id"].(string), "run_") {
		t.Errorf("answer %v, id %v", got["answer"], got["id"])
	}
	if a := got["assessment"]; at(a, "recommendation") == nil || at(a, "components", 0, "value") != 0.9 || len(at(a, "components").([]any)) != 2 {
		t.Errorf("assessment %v", a)
	}
	if skipped := at(got, "frames", 0, "skipped", 0); at(skipped, "reason") != "repeated" || at(skipped, "frame") != 3.0 {
		t.Errorf("skipped %v", skipped)
	}
	var prompt, completion float64
	for _, f := range got["frames"].([]any) {
		prompt += at(f, "prompt_tokens").(float64)
		completion += at(f, "completion_tokens").(float64)
		if at(f, "constrained") != true || at(f, "surprise") == nil || at(f, "prose_tokens_saved") == nil {
			t.Errorf("frame %v", f)
		}
		if s := at(f, "surprise").(float64); s < 0 || s > 0.1 {
			t.Errorf("a script's frame has surprise %g", s)
		}
		if _, there := f.(map[string]any)["messages"]; there {
			t.Errorf("frame %v shows its conversation", at(f, "id"))
		}
	}
	if u := got["usage"]; at(u, "prompt_tokens") != prompt || at(u, "completion_tokens") != completion || at(u, "total_tokens") != prompt+completion || at(u, "prompt_tokens_details", "cached_tokens") == 0.0 {
		t.Errorf("usage %v, frames have %g and %g", u, prompt, completion)
	}
	if at(got, "timings", "run_ms").(float64) <= 0 || at(got, "timings", "generate_ms").(float64) <= 0 {
		t.Errorf("timings %v", got["timings"])
	}
	// The same seed gives the same tree regardless of parallelism.
	for _, parallel := range []int{1, 3} {
		_, _, again := post(t, url+"/agent/run", fmt.Sprintf(`{"query": "root", "seed": 3, "parallel": %d}`, parallel))
		if tree := drawTree(again); tree != deepTree || at(again, "surprise") == nil {
			t.Errorf("with %d at once:\n%s", parallel, tree)
		}
	}
	if n := srv.models.SomeServed().Engine.Stats().Active; n != 0 {
		t.Errorf("%d sequences are left", n)
	}
}

// TestAgentPrompts checks the model's prompt: the caller's system text comes first,
// and the schema is left out.
func TestAgentPrompts(t *testing.T) {
	prompts, err := agent.ParsePrompts(`{{define "question"}}Please: {{.Query}}{{end}}`)
	if err != nil {
		t.Fatal(err)
	}
	var first string
	v := loadVocab(t)
	says := play(v, part{"Please: x", final("yes")})
	_, url := start(t, setup{
		next: func(history []int32, logits []float32) {
			if first == "" {
				first = string(v.Decode(history))
			}
			says(history, logits)
		},
		cfg: Config{AgentPrompts: prompts}, eng: engine.Config{Parallel: 1},
	})
	status, _, got := post(t, url+"/agent/run", `{"query": "x", "system": "Be brief.", "reasoning": false}`)
	if status != 200 || at(got, "answer", "conclusion") != "yes" {
		t.Fatalf("%d %v", status, got)
	}
	for _, want := range []string{"system\nBe brief.\n\nYou answer with one JSON object", `"sub_tasks"`, "\nuser\nPlease: x\n"} {
		if !strings.Contains(first, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, first)
		}
	}
	for _, not := range []string{"ask_user", "additionalProperties", "Call tools"} {
		if strings.Contains(first, not) {
			t.Errorf("the prompt has %q:\n%s", not, first)
		}
	}
}

// TestAgentBounds checks that a run that reaches a bound ends in a synthesis that
// reports it.
func TestAgentBounds(t *testing.T) {
	_, url := startAgent(t, setup{eng: engine.Config{Parallel: 2}}, deepPlay...)
	for _, c := range []struct{ bounds, bound, tree string }{
		{`{"depth": 1}`, "", ""}, // a root that can't continue answers itself
		{`{"frames": 3}`, "frames", "root: all of root\n  alpha: all of alpha (frames)\n  omega: did omega\n"},
		{`{"sub_tasks": 1, "depth": 2}`, "", ""},
		{`{"tokens": 400, "frame_tokens": 160}`, "tokens", ""},
	} {
		status, _, got := post(t, url+"/agent/run", fmt.Sprintf(`{"query": "root", "parallel": 1, "bounds": %s}`, c.bounds))
		if status != 200 || at(got, "status") != "done" {
			t.Errorf("%s: %d %v", c.bounds, status, got)
			continue
		}
		if c.bound != "" && at(got, "bound") != c.bound {
			t.Errorf("%s: bound %v\n%s", c.bounds, at(got, "bound"), drawTree(got))
		}
		if tree := drawTree(got); c.tree != "" && tree != c.tree {
			t.Errorf("%s:\n%s", c.bounds, tree)
		}
		for _, f := range got["frames"].([]any) {
			if at(f, "status") == "done" && at(f, "constrained") != true {
				t.Errorf("%s: frame %v", c.bounds, f)
			}
		}
	}
	// No answer fits the bounds.
	status, header, got := post(t, url+"/agent/run", `{"query": "root", "bounds": {"tokens": 5}}`)
	if status != 400 || at(got, "error", "code") != "budget_too_small" || at(got, "error", "minimum").(float64) <= 5 || header.Get("X-Should-Retry") != "false" {
		t.Errorf("%d %v", status, got)
	}
	status, _, got = post(t, url+"/agent/run", fmt.Sprintf(`{"query": %q}`, strings.Repeat("zq", 1<<17)))
	if status != 400 || at(got, "error", "code") != "context_length_exceeded" || at(got, "error", "param") != "query" {
		t.Errorf("%d %v", status, got)
	}
}

func TestAgentMalformed(t *testing.T) {
	_, url := startAgent(t, setup{cfg: Config{StrictModels: true, AgentBounds: agent.Bounds{Depth: 3, Tokens: 500}}}, deepPlay...)
	for _, c := range []struct{ body, param, message string }{
		{`{}`, "query", "missing"},
		{`{"query": " "}`, "query", "empty"},
		{`{"query": 5}`, "query", "a string"},
		{`{"qery": "x"}`, "qery", "was query meant?"},
		{`{"query": "x", "max_tokens": 5}`, "max_tokens", "not known"},
		{`{"query": "x", "schema": {}}`, "schema", "not known"},
		{`{"query": "x", "temperature": -1}`, "temperature", "between 0 and 100"},
		{`{"query": "x", "temprature": 1}`, "temprature", "was temperature meant?"},
		{`{"query": "x", "interactive": "yes"}`, "interactive", "true or false"},
		{`{"query": "x", "parallel": 0}`, "parallel", "between 1 and 64"},
		{`{"query": "x", "reasoning": {"effort": "low"}}`, "reasoning", "true or false"},
		{`{"query": "x", "tools": true}`, "tools", "--agent-folder"},
		{`{"query": "x", "model": "y"}`, "model", "not served"},
		{`{"query": "x", "bounds": 5}`, "bounds", "object"},
		{`{"query": "x", "bounds": {"dept": 2}}`, "bounds.dept", "was depth meant?"},
		{`{"query": "x", "bounds": {"depth": 4}}`, "bounds.depth", "between 1 and 3"},
		{`{"query": "x", "bounds": {"depth": 0}}`, "bounds.depth", "between 1 and 3"},
		{`{"query": "x", "bounds": {"frames": 1.5}}`, "bounds.frames", "a whole number"},
		{`{"query": "x", "bounds": {"tokens": 501}}`, "bounds.tokens", "between 1 and 500"},
		{`{"query": "x", "bounds": {"seconds": 0}}`, "bounds.seconds", "greater than 0"},
		{`{"query": "x", "bounds": {"seconds": 3601}}`, "bounds.seconds", "at most 3600"},
		{`{"query": "x", "bounds": {"seconds": "5"}}`, "bounds.seconds", "a number"},
		{`{"query": "x", "answer": "y"}`, "answer", "resume"},
		{`{"resume": "run_x", "query": "x"}`, "query", "combined with resume"},
		{`{"resume": "run_x"}`, "answer", "required"},
		{`{"resume": "run_x", "answer": "y", "answers": []}`, "answers", "exclude"},
		{`{"resume": "run_x", "answers": [{"frame": 1}]}`, "answers[0].answer", "missing"},
		{`{"resume": "run_x", "answers": [{"answer": "y"}]}`, "answers[0].frame", "missing"},
		{`{"resume": "run_x", "answers": [{"fram": 1, "answer": "y"}]}`, "answers[0].fram", "was frame meant?"},
		{`{"resume": "run_x", "answers": [{"frame": 1, "answer": "y"}, {"frame": 1, "answer": "z"}]}`, "answers[1].frame", "twice"},
		{`{"resume": "run_x", "anser": "y"}`, "anser", "was answer meant?"},
	} {
		status, _, got := post(t, url+"/agent/run", c.body)
		want := 400
		if strings.Contains(c.message, "not served") {
			want = 404
		}
		message, _ := at(got, "error", "message").(string)
		if status != want || at(got, "error", "param") != c.param || !strings.Contains(message, c.message) {
			t.Errorf("%s: %d %v", c.body, status, got)
		}
	}
	status, _, got := post(t, url+"/agent/run", `{"resume": "run_x", "answer": "y"}`)
	if status != 404 || at(got, "error", "code") != "run_not_found" || at(got, "error", "param") != "resume" {
		t.Errorf("%d %v", status, got)
	}
}

// TestAgentResume checks that a run that asks its user continues with the answer, as
// often as it asks.
func TestAgentResume(t *testing.T) {
	_, url := startAgent(t, setup{},
		part{"The task: root", final("all")}, part{"part of it: left", wonder("left how?")}, part{"part of it: right", wonder("right how?")},
		part{"go left", final("did left")}, part{"go right", wonder("right, but where?")}, part{"over there", final("did right")},
		part{"root", split("first", "left", "right")})
	status, _, got := post(t, url+"/agent/run", `{"query": "root", "interactive": true, "seed": 5}`)
	want := map[float64]any{2: "left how?", 3: "right how?"}
	if status != 200 || at(got, "status") != "waiting" || at(got, "answer") != nil || !maps.Equal(questions(got), want) {
		t.Fatalf("%d %v", status, got)
	}
	id := got["id"].(string)
	resume := func(rest string) (int, map[string]any) {
		status, _, got := post(t, url+"/agent/run", fmt.Sprintf(`{"resume": %q, %s}`, id, rest))
		return status, got
	}
	for _, c := range []struct{ rest, param, message string }{
		{`"answer": "go left"`, "answer", "2 frames wait for the user (2, 3)"},
		{`"answers": [{"frame": 1, "answer": "x"}]`, "answers[0].frame", "frame 1 does not wait"},
		{`"answers": [{"frame": 2, "answer": "x"}, {"frame": 9, "answer": "x"}]`, "answers[1].frame", "frame 9 does not wait"},
	} {
		status, got := resume(c.rest)
		if message, _ := at(got, "error", "message").(string); status != 400 || at(got, "error", "param") != c.param || !strings.Contains(message, c.message) {
			t.Errorf("%s: %d %v", c.rest, status, got)
		}
	}
	status, got = resume(`"answers": [{"frame": 3, "answer": "go right"}]`)
	if want := (map[float64]any{2: "left how?", 3: "right, but where?"}); status != 200 || got["id"] != id || !maps.Equal(questions(got), want) {
		t.Fatalf("%d %v", status, got)
	}
	before := at(got, "usage", "completion_tokens").(float64)
	status, got = resume(`"answers": [{"frame": 3, "answer": "over there"}, {"frame": 2, "answer": "go left"}], "stream": false`)
	if tree := drawTree(got); status != 200 || tree != "root: all\n  left: did left\n  right: did right\n" || at(got, "seed") != 5.0 {
		t.Fatalf("%d %v\n%s", status, got, tree)
	}
	if after := at(got, "usage", "completion_tokens").(float64); after <= before {
		t.Errorf("usage went from %g to %g", before, after)
	}
	if status, got = resume(`"answer": "again"`); status != 404 {
		t.Errorf("a run that has ended: %d %v", status, got)
	}
	if n, used := pausedOf(t, url); n != 0 || used != 0 {
		t.Errorf("%d runs are kept, %d bytes", n, used)
	}
	// Not interactive: the user is not asked.
	_, _, got = post(t, url+"/agent/run", `{"query": "root", "seed": 5}`)
	if at(got, "status") != "done" || len(questions(got)) != 0 {
		t.Errorf("%v", got)
	}
}

func questions(got map[string]any) map[float64]any {
	out := map[float64]any{}
	list, _ := got["questions"].([]any)
	for _, q := range list {
		out[at(q, "frame").(float64)] = at(q, "question")
	}
	return out
}

// TestAgentHoldsModel checks that the model stays in memory from the first frame to
// the last, and that a resumed run finds it again.
func TestAgentHoldsModel(t *testing.T) {
	loads := 0
	srv := New(Config{Log: slog.New(slog.DiscardHandler)})
	srv.AddModel("other", nil, 0) // would be the first
	srv.AddModel("tiny", func(context.Context) (Engines, func() error, error) {
		v := loadVocab(t)
		says := play(v, append([]part{{"that way", final("done")}, {"which", wonder("which way?")}}, deepPlay...)...)
		e, err := engine.New(scripted.New(v, says, scripted.Options{ContextLength: 1 << 16}), engine.Config{Context: backend.ContextParams{Size: 1 << 16}})
		if err != nil {
			return Engines{}, nil, err
		}
		loads++
		return Engines{Text: e}, e.Close, nil
	}, 0)
	h := httptest.NewServer(srv.Handler())
	defer h.Close()
	status, _, got := post(t, h.URL+"/agent/run", `{"query": "root", "model": "tiny"}`)
	if tree := drawTree(got); status != 200 || tree != deepTree || loads != 1 {
		t.Errorf("%d, loaded %d times\n%s", status, loads, tree)
	}
	_, _, got = post(t, h.URL+"/agent/run", `{"query": "which", "model": "tiny", "interactive": true}`)
	poll.Until(func() bool { return srv.models.Every()[1].InMemory() == nil })
	before := loads
	status, _, got = post(t, h.URL+"/agent/run", fmt.Sprintf(`{"resume": %q, "answer": "that way"}`, got["id"]))
	if status != 200 || at(got, "answer", "conclusion") != "done" || at(got, "model") != "tiny" || loads != before+1 {
		t.Errorf("%d %v, loaded %d times", status, got, loads)
	}
}

// pausedOf returns the number of paused runs and their size.
func pausedOf(t *testing.T, url string) (runs int, bytes int64) {
	t.Helper()
	for line := range strings.Lines(metricsOf(t, url)) {
		fmt.Sscanf(line, "stencil_agent_paused_runs %d", &runs)
		fmt.Sscanf(line, "stencil_agent_paused_bytes %d", &bytes)
	}
	return runs, bytes
}
