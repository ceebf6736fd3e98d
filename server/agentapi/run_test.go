package agentapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

// A brokenWriter accepts nothing, like a connection whose client no longer reads.
type brokenWriter struct{ http.ResponseWriter }

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

func (brokenWriter) Flush() {}

// TestPinging checks that a quiet stream is kept open, and ends when pings fail.
func TestPinging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := httptest.NewRecorder()
		out := &agentStream{EventStream: wire.NewEventStream(rec), gone: func(error) { t.Error("gone") }}
		err := wire.Pinging(out, func() error {
			time.Sleep(2*wire.PingEvery + time.Second)
			return out.event("x", 5)
		})
		if got, want := rec.Body.String(), ": ping\n\n: ping\n\nevent: x\ndata: 5\n\n"; err != nil || got != want {
			t.Errorf("%q, %v", got, err)
		}
		ctx, gone := context.WithCancelCause(t.Context())
		out = &agentStream{EventStream: wire.NewEventStream(&brokenWriter{httptest.NewRecorder()}), gone: gone}
		if err := wire.Pinging(out, func() error { <-ctx.Done(); return ctx.Err() }); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	})
}

// FuzzReadAgent checks that any input gives a run within the server's bounds, or
// an error with a message.
func FuzzReadAgent(f *testing.F) {
	for _, body := range []string{
		`{"query": "x", "bounds": {"depth": 2, "seconds": 1.5e0}, "temperature": 0, "system": "s", "stream": true, "keep_alive": "5m"}`,
		`{"query": "x", "bounds": {"seconds": 1e-300}, "parallel": 64, "seed": -1}`, `{"query": "x", "bounds": null, "tools": false, "user": "u"}`,
		`{"resume": "run_1", "answers": [{"frame": 1, "answer": "y"}]}`, `{"resume": "run_1", "answer": "y", "stream": false}`,
	} {
		f.Add([]byte(body))
	}
	api := &Handlers{Settings: Settings{Bounds: Bounded(agent.Bounds{})}}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := wire.ParseObject(body, "")
		if err == nil && o.Given("resume") {
			var r *resumption
			if r, err = readResumption(o); err == nil {
				if len(r.Answers) == 0 || len(r.Answers) > 1 && slices.ContainsFunc(r.Answers, func(a userAnswer) bool { return a.Frame < 1 }) {
					t.Errorf("%+v", r)
				}
				err = r.check([]agent.Asked{{Frame: 1}, {Frame: 3}})
			}
		} else if err == nil {
			var a *order
			if a, err = api.readAgent(o); err == nil {
				b, most := a.Bounds, MaxBounds
				if strings.TrimSpace(a.Query) == "" || b.Depth < 1 || b.Depth > most.Depth || b.Tokens < 1 || b.Tokens > most.Tokens || b.Frames < 1 || b.Frames > most.Frames ||
					b.Time < 1 || b.Time > most.Time || b.FrameTokens < 1 || b.FrameTokens > most.FrameTokens || a.Parallel > maxAgentParallel || !a.NoTools {
					t.Errorf("%+v", a)
				}
			}
		}
		if err == nil {
			return
		}
		if d := problem.Describe(err); err.Error() == "" || d.Status < 400 || d.Status >= 500 || d.Code == "" {
			t.Errorf("%v: %+v", err, d)
		}
	})
}
