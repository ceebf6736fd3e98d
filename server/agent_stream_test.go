package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/agent/files"
	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/server/agentapi"
)

// TestAgentStream checks that a stream reports the tree as it grows, and ends
// with the answer that a request without a stream would get.
func TestAgentStream(t *testing.T) {
	_, url := startAgent(t, setup{}, deepPlay...)
	resp, events := postStream(t, url+"/agent/run", `{"query": "root", "seed": 3, "stream": true, "parallel": 1}`)
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || !strings.HasPrefix(got, "text/event-stream") {
		t.Fatalf("%d %s", resp.StatusCode, got)
	}
	var told []string
	for _, e := range events[:len(events)-1] {
		if e.data["type"] != e.name || at(e.data, "frame", "id") == nil {
			t.Errorf("event %s %v", e.name, e.data)
		}
		told = append(told, fmt.Sprintf("%s %v", e.name, at(e.data, "frame", "id")))
	}
	want := "frame 1, skipped 1, answer 1, frame 2, answer 2, frame 4, answer 4, frame 6, finished 6, synthesis 4, finished 4, frame 5, finished 5, " +
		"synthesis 2, finished 2, frame 3, finished 3, synthesis 1, finished 1"
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	last := events[len(events)-1]
	if last.name != "done" || drawTree(last.data) != deepTree || at(last.data, "assessment", "recommendation") == nil {
		t.Errorf("%s %v", last.name, last.data)
	}
}

func TestAgentStreamPauses(t *testing.T) {
	_, url := startAgent(t, setup{}, part{"that way", final("done")}, part{"root", wonder("which way?")})
	_, events := postStream(t, url+"/agent/run", `{"query": "root", "interactive": true, "stream": true}`)
	last := events[len(events)-1]
	if last.name != "paused" || at(last.data, "status") != "waiting" || questions(last.data)[1] != "which way?" {
		t.Fatalf("%v", events)
	}
	_, events = postStream(t, url+"/agent/run", fmt.Sprintf(`{"resume": %q, "answer": "that way", "stream": true}`, last.data["id"]))
	if last = events[len(events)-1]; last.name != "done" || at(last.data, "answer", "conclusion") != "done" {
		t.Errorf("%v", events)
	}
}

// TestAgentErrors checks that errors before the first byte are ordinary error
// responses, and later ones the last event. Neither reveals internal failures.
func TestAgentErrors(t *testing.T) {
	broken := scripted.Options{Fault: func(n int, _ *backend.Batch) error {
		if n >= 4 { // whatever is tried again
			return fmt.Errorf("the device is gone")
		}
		return nil
	}}
	_, url := startAgent(t, setup{opt: broken}, deepPlay...)
	resp, events := postStream(t, url+"/agent/run", `{"query": "root", "stream": true}`)
	last := events[len(events)-1]
	if resp.StatusCode != 200 || last.name != "error" || at(last.data, "error", "code") != "internal_error" || strings.Contains(fmt.Sprint(events), "device") {
		t.Errorf("%d %v", resp.StatusCode, events)
	}
	status, _, got := post(t, url+"/agent/run", `{"query": "root", "stream": true, "bounds": {"depth": 99}}`)
	if status != 400 || at(got, "error", "param") != "bounds.depth" {
		t.Errorf("%d %v", status, got)
	}
	// The run's time is over before there is an answer.
	_, url = startAgent(t, setup{opt: scripted.Options{Delay: 20 * time.Millisecond}}, deepPlay...)
	status, _, got = post(t, url+"/agent/run", `{"query": "root", "bounds": {"seconds": 0.1}}`)
	if status != 504 || at(got, "error", "code") != "timeout" || at(got, "error", "param") != "bounds.seconds" {
		t.Errorf("%d %v", status, got)
	}
}

// TestAgentTime checks that a run whose time ends later ends in a synthesis of
// what it has.
func TestAgentTime(t *testing.T) {
	_, url := startAgent(t, setup{opt: scripted.Options{Delay: 2 * time.Millisecond}}, part{"The task: root", final("what there is")},
		part{"part of it: quick", final("did quick")}, part{"part of it: slow", final(strings.Repeat("zq", 1200))}, part{"root", split("first", "quick", "slow")})
	status, _, got := post(t, url+"/agent/run", `{"query": "root", "parallel": 1, "bounds": {"seconds": 4, "frame_tokens": 3000}}`)
	if status != 200 || at(got, "bound") != "time" || at(got, "answer", "conclusion") != "what there is" || at(got, "frames", 2, "status") != "failed" {
		t.Errorf("%d %v", status, got)
	}
}

// TestAgentHangUp checks that, after the client disconnects, every frame ends
// within a step, and nothing is left over.
func TestAgentHangUp(t *testing.T) {
	const step = 20 * time.Millisecond
	long := strings.Repeat("zq", 2000)
	srv, url := startAgent(t, setup{opt: scripted.Options{Delay: step}, eng: engine.Config{Parallel: 3}},
		part{"part of it: a", final(long)}, part{"part of it: b", final(long)}, part{"part of it: c", final(long)}, part{"root", split("first", "a", "b", "c")})
	stats := func() engine.Stats { return srv.models.SomeServed().Engine.Stats() }
	http.DefaultClient.CloseIdleConnections()
	goroutines := runtime.NumGoroutine()
	for _, stream := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		body := fmt.Sprintf(`{"query": "root", "stream": %t, "bounds": {"frame_tokens": 4000}}`, stream)
		gone := hangingUp(ctx, t, url+"/agent/run", body)
		poll.Until(func() bool { return stats().Active >= 3 })
		decodes, cancelled := stats().Decodes, stats().Cancelled
		cancel()
		<-gone
		poll.Until(func() bool { return stats().Active == 0 })
		if s := stats(); s.Decodes-decodes > 2 || s.Cancelled != cancelled+3 {
			t.Errorf("stream %t: %d more decodes, %d cancelled", stream, s.Decodes-decodes, s.Cancelled-cancelled)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	poll.Until(func() bool { return runtime.NumGoroutine() <= goroutines })
	if text := metricsOf(t, url); !strings.Contains(text, "stencil_agent_runs_active 0\n") || !strings.Contains(text, `stencil_agent_runs_total{status="cancelled",bound="none"} 2`) {
		t.Errorf("%s", text)
	}
}

// A stuckWriter accepts some bytes and then fails by timeout, like a connection
// whose reader vanished.
type stuckWriter struct {
	http.ResponseWriter
	room int
}

func (w *stuckWriter) Write(b []byte) (int, error) {
	if w.room -= len(b); w.room < 0 {
		return 0, os.ErrDeadlineExceeded
	}
	return len(b), nil
}

func (w *stuckWriter) Flush() {}

// TestAgentStuck checks that a client that doesn't read counts as gone, although
// its connection stands.
func TestAgentStuck(t *testing.T) {
	srv, _ := startAgent(t, setup{opt: scripted.Options{Delay: time.Millisecond}}, deepPlay...)
	r := httptest.NewRequest("POST", "/agent/run", strings.NewReader(`{"query": "root", "stream": true, "parallel": 1}`))
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Handler().ServeHTTP(&stuckWriter{httptest.NewRecorder(), 3000}, r)
	}()
	<-done // returns; otherwise the run waits for a client that is gone
	e := srv.models.SomeServed().Engine
	poll.Until(func() bool { return e.Stats().Active == 0 })
	if n := e.Stats().Requests; n > 5 {
		t.Errorf("%d questions were asked", n)
	}
}

// TestAgentQueueFull checks that a run waits while the queue is full rather than
// failing.
func TestAgentQueueFull(t *testing.T) {
	srv, url := startAgent(t, setup{opt: scripted.Options{Delay: time.Millisecond}, eng: engine.Config{Parallel: 1, Queue: 1}}, deepPlay...)
	e := srv.models.SomeServed().Engine
	for waiting := range 2 {
		go func() {
			resp, err := http.Post(url+"/generate", "application/json", strings.NewReader(`{"prompt": "x", "max_tokens": 400, `+endless(t)+`}`))
			if err == nil {
				resp.Body.Close()
			}
		}()
		poll.Until(func() bool {
			s := e.Stats()
			return s.Active == 1 && s.Queued+s.Waiting == waiting
		})
	}
	refused := e.Stats().Refused
	status, _, got := post(t, url+"/agent/run", `{"query": "root", "parallel": 4}`)
	if tree := drawTree(got); status != 200 || tree != deepTree {
		t.Errorf("%d %s", status, tree)
	}
	if srv.models.SomeServed().Engine.Stats().Refused == refused {
		t.Error("the queue was never full")
	}
}

// calling returns a tool call in the model's form.
func calling(name, arguments string) string {
	return fmt.Sprintf("<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>", name, arguments)
}

// startFolder is startAgent with a tool folder that holds one file.
func startFolder(t testing.TB, parts ...part) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "town.txt"), []byte("The mayor is Ann.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	box, err := files.Open(dir, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	_, url := startAgent(t, setup{cfg: Config{AgentTools: box}}, parts...)
	return url
}

func TestAgentTools(t *testing.T) {
	url := startFolder(t,
		part{"The mayor is Ann", final("It is Ann")}, part{"not found", final("There is none")}, part{"error:", final("It can't be read")},
		part{"mayor", calling("read_file", `{"path": "town.txt"}`)}, part{"escape", calling("read_file", `{"path": "../../../etc/hostname"}`)})
	status, _, got := post(t, url+"/agent/run", `{"query": "Who is mayor?"}`)
	if status != 200 || at(got, "answer", "conclusion") != "It is Ann" || at(got, "frames", 0, "constrained") != true {
		t.Fatalf("%d %v", status, got)
	}
	if use := at(got, "frames", 0, "tools", 0); at(use, "name") != "read_file" || at(use, "arguments", "path") != "town.txt" || at(use, "bytes") != 17.0 {
		t.Errorf("tools %v", use)
	}
	status, _, got = post(t, url+"/agent/run", `{"query": "escape"}`)
	if status != 200 || at(got, "answer", "conclusion") != "It can't be read" {
		t.Errorf("%d %v", status, got)
	}
	// Without tools the model can only answer.
	status, _, got = post(t, url+"/agent/run", `{"query": "Who is mayor?", "tools": false, "seed": 3, "bounds": {"frame_tokens": 100, "depth": 1}}`)
	if status != 200 || at(got, "frames", 0, "tools") != nil || at(got, "frames", 0, "constrained") != true {
		t.Errorf("%d %v", status, got)
	}
	// A model that never stops calling has to answer in the end.
	status, _, got = post(t, startFolder(t, part{"for ever", calling("list_dir", `{}`)})+"/agent/run", `{"query": "for ever", "bounds": {"tool_steps": 3, "frame_tokens": 100}}`)
	if status != 200 || len(at(got, "frames", 0, "tools").([]any)) < 1 || at(got, "status") != "done" {
		t.Errorf("%d %v", status, got)
	}
	text := metricsOf(t, url)
	for _, want := range []string{
		`stencil_agent_runs_total{status="done",bound="none"} 3`, `stencil_agent_frames_total{status="done"} 3`,
		`stencil_agent_tool_calls_total{tool="read_file"} 2`, "stencil_agent_runs_active 0", "stencil_agent_paused_runs 0",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "stencil_agent_prose_tokens_saved_total 0\n") && strings.Contains(text, "stencil_agent_prose_tokens_lost_total 0\n") {
		t.Error("no tokens were counted")
	}
}

// TestAgentResumeFails checks that a paused run survives failures while it is
// resumed, and that only one request at a time can resume it.
func TestAgentResumeFails(t *testing.T) {
	var fail atomic.Bool
	_, url := startAgent(t, setup{opt: scripted.Options{Delay: 5 * time.Millisecond, Fault: func(int, *backend.Batch) error {
		if fail.Load() {
			return fmt.Errorf("the device is gone")
		}
		return nil
	}}}, part{"that way", final(strings.Repeat("zq", 60))}, part{"root", wonder("which way?")})
	_, _, got := post(t, url+"/agent/run", `{"query": "root", "interactive": true}`)
	body := fmt.Sprintf(`{"resume": %q, "answer": "that way"}`, got["id"])

	fail.Store(true)
	if status, _, got := post(t, url+"/agent/run", body); status != 500 {
		t.Errorf("%d %v", status, got)
	}
	fail.Store(false)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/agent/run", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			t.Error("the client did not hang up")
		}
	}()
	poll.Until(func() bool { return strings.Contains(metricsOf(t, url), "stencil_agent_runs_active 1\n") })
	status, header, got := post(t, url+"/agent/run", body)
	if status != 409 || at(got, "error", "code") != "run_in_use" || header.Get("X-Should-Retry") != "false" {
		t.Errorf("%d %v", status, got)
	}
	cancel()
	<-gone
	poll.Until(func() bool {
		status, _, got = post(t, url+"/agent/run", body)
		return status != 409
	})
	if status != 200 || at(got, "status") != "done" {
		t.Errorf("%d %v", status, got)
	}
	if n, _ := pausedOf(t, url); n != 0 {
		t.Errorf("%d runs are kept", n)
	}
}

// TestAgentPausedOfOthers checks that paused runs are resumed by their client alone, and that another's don't drop them.
func TestAgentPausedOfOthers(t *testing.T) {
	_, url := startAgent(t, setup{cfg: Config{AgentPaused: 3}}, part{"go on", final("done")}, part{"root", wonder("which way?")})
	begin := func(key string) string {
		status, got := sendAs(t, "POST", url+"/agent/run", key, `{"query": "root", "interactive": true}`)
		if status != 200 || at(got, "status") != "waiting" {
			t.Fatalf("%d %v", status, got)
		}
		return got["id"].(string)
	}
	resume := func(key, id string) int {
		status, _ := sendAs(t, "POST", url+"/agent/run", key, fmt.Sprintf(`{"resume": %q, "answer": "go on"}`, id))
		return status
	}
	ann := begin("ann")
	var bob []string
	for range 5 {
		bob = append(bob, begin("bob"))
	}
	for _, key := range []string{"bob", ""} {
		if status := resume(key, ann); status != 404 {
			t.Errorf("%q resumes another's run: %d", key, status)
		}
	}
	if a, b, c := resume("ann", ann), resume("bob", bob[2]), resume("bob", bob[4]); a != 200 || b != 404 || c != 200 {
		t.Errorf("%d %d %d", a, b, c)
	}
}

// TestAgentPausedBounds checks the limits of paused runs in number, bytes and
// time.
func TestAgentPausedBounds(t *testing.T) {
	parts := []part{{"go on", final("done")}, {"root", wonder("which way?")}}
	begin := func(url, query string) map[string]any {
		status, _, got := post(t, url+"/agent/run", fmt.Sprintf(`{"query": %q, "interactive": true}`, query))
		if status != 200 || at(got, "status") != "waiting" {
			t.Fatalf("%d %v", status, got)
		}
		return got
	}
	resume := func(url string, run map[string]any) int {
		status, _, _ := post(t, url+"/agent/run", fmt.Sprintf(`{"resume": %q, "answer": "go on"}`, run["id"]))
		return status
	}
	_, url := startAgent(t, setup{cfg: Config{AgentPaused: 2}}, parts...)
	first, second, third := begin(url, "root"), begin(url, "root"), begin(url, "root")
	if a, b, c := resume(url, first), resume(url, second), resume(url, third); a != 404 || b != 200 || c != 200 {
		t.Errorf("room for two of three: %d %d %d", a, b, c)
	}
	_, url = startAgent(t, setup{}, parts...)
	begin(url, "root")
	_, one := pausedOf(t, url)
	_, url = startAgent(t, setup{cfg: Config{AgentPausedBytes: one * 3 / 2}}, parts...)
	first, second = begin(url, "root"), begin(url, "root")
	if a, b := resume(url, first), resume(url, second); a != 404 || b != 200 {
		t.Errorf("room for the bytes of one: %d %d", a, b)
	}
	big := begin(url, "root "+strings.Repeat("zq", 4000))
	if w := fmt.Sprint(big["warnings"]); !strings.Contains(w, "can't be resumed") || resume(url, big) != 404 {
		t.Errorf("a run of more bytes than there are: %v", big)
	}
	if n, used := pausedOf(t, url); n != 0 || used != 0 {
		t.Errorf("%d bytes are left", used)
	}
	_, url = startAgent(t, setup{cfg: Config{AgentPausedTime: 50 * time.Millisecond}}, parts...)
	first = begin(url, "root")
	poll.Until(func() bool { return strings.Contains(metricsOf(t, url), "stencil_agent_paused_lost_total 1\n") })
	if status := resume(url, first); status != 404 {
		t.Errorf("after its time: %d", status)
	}
	if text := metricsOf(t, url); !strings.Contains(text, "stencil_agent_paused_runs 0\n") || !strings.Contains(text, "stencil_agent_paused_lost_total 1\n") {
		t.Errorf("%s", text)
	}
}

// TestAgentShutdown checks that runs end at once, with a reason, when the engine
// closes.
func TestAgentShutdown(t *testing.T) {
	srv, url := startAgent(t, setup{opt: scripted.Options{Delay: 10 * time.Millisecond}}, deepPlay...)
	e := srv.models.SomeServed().Engine
	go func() {
		poll.Until(func() bool { return e.Stats().Decodes >= 30 })
		e.Close()
	}()
	status, header, got := post(t, url+"/agent/run", `{"query": "root"}`)
	if status != 503 || at(got, "error", "code") != "shutting_down" || header.Get("Retry-After") == "" {
		t.Errorf("%d %v", status, got)
	}
}

// TestAgentMaxima checks that Bounded leaves no bound at zero.
func TestAgentMaxima(t *testing.T) {
	b := agentapi.Bounded(agent.Bounds{Depth: 3, Time: time.Minute})
	if want := MaxAgentBounds; b.Depth != 3 || b.Time != time.Minute || b.Frames != want.Frames || b.Tokens != want.Tokens ||
		b.FrameTokens != want.FrameTokens || b.ToolSteps != want.ToolSteps || b.SubTasks != want.SubTasks {
		t.Errorf("%+v", b)
	}
}
