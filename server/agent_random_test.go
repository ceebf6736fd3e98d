package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/agent/files"
	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/server/agentapi"
)

// agentModel opens the model of TestAgentRandom. Without the build tag llama, its
// logits are random.
var agentModel = func(t testing.TB) backend.Model {
	return scripted.New(loadVocab(t), scripted.Random(43), scripted.Options{ContextLength: 1 << 16})
}

// TestAgentRandom runs a model with random weights on random queries within random
// bounds: every run ends within its bounds, and every frame with an answer has a
// valid envelope, enforced by masks. STENCIL_AGENT_RUNS sets the number of runs,
// for example 1000.
func TestAgentRandom(t *testing.T) {
	runs := 40
	if s := os.Getenv("STENCIL_AGENT_RUNS"); s != "" {
		var err error
		if runs, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for i := range 5 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%c.txt", 'a'+i)), []byte(strings.Repeat("some words\n", 20*i)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	box, err := files.Open(dir, files.Options{ResultBytes: 512})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	model := agentModel(t)
	defer model.Close()
	e, err := engine.New(model, engine.Config{Parallel: 4, Queue: 8, Context: backend.ContextParams{Size: 1 << 15, Threads: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	srv := New(Config{Log: slog.New(slog.DiscardHandler), AgentTools: box, AgentPaused: 1000})
	if err := srv.SetModel("random", e); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(srv.Handler())
	defer h.Close()
	began := time.Now()
	c := &agentTally{counts: map[string]int{}}
	work := make(chan int)
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			for i := range work {
				if err := randomRun(t, h.URL, uint64(i), c); err != nil {
					t.Errorf("run %d: %v", i, err)
				}
			}
		})
	}
	for i := range runs {
		work <- i
	}
	close(work)
	workers.Wait()
	t.Logf("%d runs in %.1f s: %v", runs, time.Since(began).Seconds(), c.counts)
	if c.counts["done"] < runs/2 || c.counts["valid envelopes"] < runs || c.counts["resumed"] == 0 || c.counts["calls"] == 0 || c.counts["syntheses"] == 0 {
		t.Errorf("%v: too little has happened", c.counts)
	}
	poll.Until(func() bool { // no sequence is left running
		s := e.Stats()
		return s.Active+s.Queued+s.Waiting == 0
	})
}

type agentTally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *agentTally) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what] += n
}

// limits are the bounds of a random run.
type limits struct {
	Depth       int     `json:"depth"`
	Frames      int     `json:"frames"`
	Tokens      int     `json:"tokens"`
	Seconds     float64 `json:"seconds"`
	FrameTokens int     `json:"frame_tokens"`
	ToolSteps   int     `json:"tool_steps"`
	SubTasks    int     `json:"sub_tasks"`
}

// randomRun starts a run and answers its questions.
func randomRun(t *testing.T, url string, number uint64, c *agentTally) error {
	rng := rand.New(rand.NewPCG(number, 8))
	b := limits{
		Depth: 1 + rng.IntN(5), Frames: 1 + rng.IntN(12), Tokens: 400 + rng.IntN(3000), Seconds: 60, FrameTokens: 80 + rng.IntN(400),
		ToolSteps: 1 + rng.IntN(3), SubTasks: 1 + rng.IntN(4),
	}
	switch rng.IntN(8) {
	case 0:
		b.Tokens = 1 + rng.IntN(120)
	case 1:
		b.FrameTokens = 1 + rng.IntN(60)
	case 2:
		b.Seconds = 0.02 + rng.Float64()
	}
	interactive, reasoning := rng.IntN(2) == 0, rng.IntN(2) == 0
	bounds, err := json.Marshal(b)
	if err != nil {
		return err
	}
	body := fmt.Sprintf(`{"query": "task %d", "seed": %d, "temperature": %.2f, "top_k": 0, "parallel": %d, "interactive": %t, "reasoning": %t, "tools": %t, "stream": %t, "bounds": %s%s}`,
		number, rng.IntN(1<<30), 2*rng.Float64(), 1+rng.IntN(4), interactive, reasoning, rng.IntN(2) == 0, rng.IntN(3) == 0, bounds, branching(t, rng.IntN(4)))
	spent := 0.0
	for turn := 0; ; turn++ {
		got, code, err := agentReplyOf(t, url, body)
		if err != nil {
			return fmt.Errorf("%s: %w", body, err)
		}
		if code != "" {
			c.add(code, 1)
			// Only bounds too small for any answer may lead to an error.
			if code == "budget_too_small" && (b.FrameTokens < 60 || b.Tokens < 180) || code == "timeout" && b.Seconds < 2 {
				return nil
			}
			return fmt.Errorf("%s within %s: %s", body, bounds, code)
		}
		spent += got.Timings.Run / 1000
		if spent > b.Seconds+agentSlack {
			return fmt.Errorf("%s: took %.2f s", body, spent)
		}
		if err := withinBounds(got, &b, interactive, reasoning, c); err != nil {
			return fmt.Errorf("%s: %w", body, err)
		}
		if got.Status == agent.StatusDone {
			c.add("done", 1)
			if got.Bound != "" {
				c.add("ended by "+got.Bound, 1)
			}
			tallyRun(c, got)
			return nil
		}
		if turn > 200 {
			return fmt.Errorf("%s: it asks for ever", body)
		}
		c.add("resumed", 1)
		var answers []string
		for i, q := range got.Questions {
			if i == 0 || rng.IntN(2) == 0 {
				answers = append(answers, fmt.Sprintf(`{"frame": %d, "answer": "answer %d"}`, q.Frame, rng.IntN(100)))
			}
		}
		body = fmt.Sprintf(`{"resume": %q, "answers": [%s], "stream": %t}`, got.ID, strings.Join(answers, ","), rng.IntN(3) == 0)
	}
}

// branching returns request fields that make random weights write shorter texts
// and more sub-tasks: they raise the probability of tokens that close a string,
// and of those that begin "sub_tasks" and "continue".
func branching(t testing.TB, much int) string {
	if much == 0 {
		return ""
	}
	v := loadVocab(t)
	var list []string
	for id := range int32(v.Len()) {
		switch b := v.Bytes(id); {
		case len(b) == 0:
		case b[0] == '"':
			list = append(list, fmt.Sprintf(`"%d": %d`, id, 4*much))
		case b[0] == 's' || b[0] == 'c':
			list = append(list, fmt.Sprintf(`"%d": %d`, id, 4*much))
		}
	}
	return `, "logit_bias": {` + strings.Join(list, ", ") + `}`
}

// agentSlack is how many seconds a busy machine may take to notice the end of the
// time limit.
const agentSlack = 3

// agentReplyOf posts a request and returns the answer, whole or from a stream, or
// the code of an error.
func agentReplyOf(t testing.TB, url, body string) (*agentapi.Reply, string, error) {
	resp, err := http.Post(url+"/agent/run", "application/json", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, "", err
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		_, last, _ := strings.Cut(string(text[bytes.LastIndex(text, []byte("event: ")):]), "data: ")
		text = []byte(last)
	}
	var got struct {
		agentapi.Reply
		Error struct{ Code string }
	}
	if err := json.Unmarshal(text, &got); err != nil {
		return nil, "", fmt.Errorf("%w in %s", err, text)
	}
	if got.Error.Code != "" {
		return nil, got.Error.Code, nil
	}
	if got.Outcome == nil || len(got.Frames) == 0 {
		return nil, "", fmt.Errorf("no outcome in %s", text)
	}
	return &got.Reply, "", nil
}

// withinBounds checks a tree against its bounds.
func withinBounds(got *agentapi.Reply, b *limits, interactive, reasoning bool, c *agentTally) error {
	if len(got.Frames) > b.Frames || got.Usage.CompletionTokens > b.Tokens {
		return fmt.Errorf("%d frames, %d tokens", len(got.Frames), got.Usage.CompletionTokens)
	}
	sum := 0
	for i := range got.Frames {
		f := &got.Frames[i]
		sum += f.CompletionTokens
		if f.ID != i+1 || f.Depth > b.Depth || len(f.Children) > b.SubTasks {
			return fmt.Errorf("frame %d has depth %d and %d sub-tasks", f.ID, f.Depth, len(f.Children))
		}
		if f.Status == agent.StatusFailed {
			if f.Bound == "" {
				return fmt.Errorf("frame %d failed, and not for a bound: %s", f.ID, f.Error)
			}
			continue
		}
		if f.Status != agent.StatusDone && f.Status != agent.StatusWaiting && f.Status != agent.StatusSplit && got.Status == agent.StatusDone {
			return fmt.Errorf("frame %d is %s after the end", f.ID, f.Status)
		}
		switch {
		case f.Envelope == nil && got.Status == agent.StatusDone:
			return fmt.Errorf("frame %d is %s without an envelope", f.ID, f.Status)
		case f.Envelope == nil:
			continue // not asked yet: another one waits
		case patched(got, f) && f.Envelope.Invalid() != "synthesis_failed":
			return fmt.Errorf("the root was put together as %+v", f.Envelope)
		case patched(got, f):
			continue
		}
		if err := validEnvelope(f, b, interactive, reasoning); err != nil {
			return fmt.Errorf("frame %d: %w", f.ID, err)
		}
	}
	if sum != got.Usage.CompletionTokens {
		return fmt.Errorf("frames have %d tokens, usage says %d", sum, got.Usage.CompletionTokens)
	}
	return nil
}

// patched reports whether a frame's envelope was assembled from its parts because
// the model had no room for a synthesis.
func patched(got *agentapi.Reply, f *agent.Frame) bool {
	return f.ID == 1 && len(f.Children) > 0 && !f.Synthesized && got.Status == agent.StatusDone
}

// validEnvelope checks a frame's envelope by its own method, by its schema with a
// validator independent of masks, and by the server's report.
func validEnvelope(f *agent.Frame, b *limits, interactive, reasoning bool) error {
	e := f.Envelope
	if e.Invalid() != e.Error || f.Invalid != e.Error || !f.Constrained || f.Conclusion != e.Conclusion {
		return fmt.Errorf("constrained %t: %+v", f.Constrained, e)
	}
	schema, err := envelopeSchema(agent.SchemaOptions{
		NoContinue: f.Synthesized || f.Depth >= b.Depth, NoAskUser: f.Synthesized || !interactive, NoReasoning: !reasoning, MaxSubTasks: b.SubTasks,
	})
	if err != nil {
		return err
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

var envelopeSchemas sync.Map // by options

func envelopeSchema(o agent.SchemaOptions) (*jsonschema.Schema, error) {
	if s, ok := envelopeSchemas.Load(o); ok {
		return s.(*jsonschema.Schema), nil
	}
	source, err := jsonschema.UnmarshalJSON(bytes.NewReader(agent.Schema(o)))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("envelope.json", source); err != nil {
		return nil, err
	}
	s, err := c.Compile("envelope.json")
	if err == nil {
		envelopeSchemas.Store(o, s)
	}
	return s, err
}

// tallyRun counts what happened in a run.
func tallyRun(c *agentTally, got *agentapi.Reply) {
	c.add("frames", len(got.Frames))
	c.add("tokens", got.Usage.CompletionTokens)
	for i := range got.Frames {
		f := &got.Frames[i]
		c.add("calls", len(f.Tools))
		if f.Status == agent.StatusFailed {
			c.add("frames cut off", 1)
			continue
		}
		if patched(got, f) {
			c.add("roots put together", 1)
			continue
		}
		c.add("valid envelopes", 1)
		if f.Synthesized {
			c.add("syntheses", 1)
		}
	}
}
