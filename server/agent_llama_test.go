//go:build llama && cgo

package server

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/models"
)

func init() {
	agentModel = func(t testing.TB) backend.Model {
		path := filepath.Join(t.TempDir(), "random.gguf")
		if err := models.WriteRandom(path, models.RandomOptions{Layers: 1, Width: 64, Context: 1 << 15}); err != nil {
			t.Fatal(err)
		}
		model, err := llama.Load(t.Context(), path, llama.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return model
	}
}

// TestLlamaAgent runs agents through HTTP, the engine and llama.cpp: all frames
// have envelopes, the same seed gives the same tree, and nothing is left over when
// the client disconnects. Flash attention is off because it rounds a token
// differently when it is computed alone, behind a cached prompt, than in a batch.
func TestLlamaAgent(t *testing.T) {
	e, url := startLlama(t, models.RandomOptions{Context: 1 << 14}, engine.Config{Parallel: 4, Context: backend.ContextParams{Size: 1 << 14, FlashAttention: backend.FlashOff}})
	const tree = `{"query": "Plan a town.", "seed": %d, "temperature": 1.5, "parallel": 1, "bounds": {"frames": 8, "frame_tokens": 200, "tokens": 2000}%s}`
	b := &limits{Depth: 4, Frames: 8, Tokens: 2000, FrameTokens: 200, SubTasks: agent.DefaultSubTasks}
	c := &agentTally{counts: map[string]int{}}
	grown := 0
	for seed := range 6 {
		body := fmt.Sprintf(tree, seed, branching(t, 3))
		got, code, err := agentReplyOf(t, url, body)
		if err != nil || code != "" {
			t.Fatal(code, err)
		}
		if err := withinBounds(got, b, false, true, c); err != nil {
			t.Error(err)
		}
		if grown = max(grown, len(got.Frames)); len(got.Frames) == 1 {
			continue
		}
		again, _, err := agentReplyOf(t, url, body)
		if err != nil || again.Answer.Conclusion != got.Answer.Conclusion || len(again.Frames) != len(got.Frames) {
			t.Errorf("seed %d: the same request has another answer: %v", seed, err)
		}
	}
	if grown < 2 {
		t.Error("no tree has grown")
	}

	ctx, cancel := context.WithCancel(t.Context())
	before := e.Stats()
	gone := hangingUp(ctx, t, url+"/agent/run", `{"query": "Plan a town.", "stream": true, "bounds": {"frame_tokens": 8000, "tokens": 9000}, `+endless(t)+`}`)
	poll.Until(func() bool { return e.Stats().Decodes >= before.Decodes+5 })
	cancel()
	poll.Until(func() bool { return e.Stats().Active == 0 })
	<-gone
	if after := e.Stats(); after.Cancelled != before.Cancelled+1 {
		t.Errorf("it ended before the client hung up: %+v", after)
	}
}
