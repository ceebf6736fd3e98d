package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/server/access"
	"github.com/stencil-json/stencil/server/background"
)

// gated is a model that stops before its first step until go on is called.
func gated(t *testing.T) (opt scripted.Options, goOn func()) {
	gate := make(chan struct{})
	goOn = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(goOn)
	return scripted.Options{Fault: func(int, *backend.Batch) error {
		<-gate
		return nil
	}}, goOn
}

// slow is a model that writes without end, a token in a millisecond.
func slow(t *testing.T) (scripted.Options, string) {
	return scripted.Options{Delay: time.Millisecond}, `"max_output_tokens": 3000, ` + endless(t)
}

func backgroundBody(more string) string {
	return `{"model": "tiny", "temperature": 0, "background": true, "input": "a", ` + more + `}`
}

// queue starts a response in the background and returns its id.
func queue(t *testing.T, url, key, body string) string {
	t.Helper()
	status, got := sendAs(t, "POST", url+"/v1/responses", key, body)
	if status != 200 || got["background"] != true || got["status"] != "queued" || got["store"] != true || len(got["output"].([]any)) != 0 {
		t.Fatalf("%d %v", status, got)
	}
	return got["id"].(string)
}

// reached asks for a response until it has a status.
func reached(t *testing.T, url, key, id, want string) (got map[string]any) {
	t.Helper()
	poll.Until(func() bool {
		var status int
		if status, got = sendAs(t, "GET", url+"/v1/responses/"+id, key, ""); status != 200 {
			t.Fatalf("%d %v", status, got)
		}
		is := got["status"].(string)
		if is != want && is != "queued" && is != "in_progress" {
			t.Fatalf("the response is %s, not %s: %v", is, want, got)
		}
		return is == want
	})
	return got
}

func activeOf(srv *Server) int { return srv.models.SomeServed().Engine.Stats().Active }

func TestBackground(t *testing.T) {
	var log lockedBuffer
	opt, goOn := gated(t)
	srv, url := start(t, setup{reply: "fine", opt: opt, eng: engine.Config{Parallel: 1}, cfg: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}})
	first := queue(t, url, "ann", backgroundBody(`"max_output_tokens": 60`))
	reached(t, url, "ann", first, "in_progress")
	second := queue(t, url, "ann", backgroundBody(`"max_output_tokens": 60, "metadata": {"a": "b"}`))
	poll.Until(func() bool { return srv.models.SomeServed().Engine.Stats().Queued == 1 })
	if _, got := sendAs(t, "GET", url+"/v1/responses/"+second, "ann", ""); got["status"] != "queued" {
		t.Errorf("one that waits is %v", got["status"])
	}
	underWay := func() (bytes int64, requests int) {
		srv.memory.mu.Lock()
		defer srv.memory.mu.Unlock()
		srv.turns.mu.Lock()
		defer srv.turns.mu.Unlock()
		for _, c := range srv.turns.clients {
			requests += c.under
		}
		return srv.memory.held, requests
	}
	if bytes, requests := underWay(); bytes == 0 || requests != 2 {
		t.Errorf("%d bytes of bodies and %d requests are counted, of two that go on", bytes, requests)
	}
	_, got := sendAs(t, "POST", url+"/v1/responses", "ann", responsesBody(fmt.Sprintf(`"input": "x", "previous_response_id": %q`, first)))
	if at(got, "error", "code") != "response_in_progress" {
		t.Errorf("going on from what has not ended: %v", got)
	}
	goOn()
	for _, id := range []string{first, second} {
		got := reached(t, url, "ann", id, "completed")
		if at(got, "output", 0, "content", 0, "text") != "fine" || at(got, "usage", "output_tokens") == nil || got["background"] != true {
			t.Errorf("%v", got)
		}
	}
	if got := reached(t, url, "ann", second, "completed"); at(got, "metadata", "a") != "b" {
		t.Errorf("%v", got["metadata"])
	}
	if status, list := sendAs(t, "GET", url+"/v1/responses/"+first+"/input_items", "ann", ""); status != 200 || at(list, "data", 0, "content", 0, "text") != "a" {
		t.Errorf("%d %v", status, list)
	}
	status, next := sendAs(t, "POST", url+"/v1/responses", "ann", responsesBody(fmt.Sprintf(`"input": "x", "previous_response_id": %q`, first)))
	if status != 200 {
		t.Errorf("going on from what has ended: %d %v", status, next)
	}
	for _, one := range [][2]string{{"GET", ""}, {"GET", "?stream=true"}, {"POST", "/cancel"}, {"DELETE", ""}} {
		if status, got := sendAs(t, one[0], url+"/v1/responses/"+first+one[1], "bob", ""); status != 404 {
			t.Errorf("%s %s with another key: %d %v", one[0], one[1], status, got)
		}
	}
	poll.Until(func() bool { return srv.openai.Background.Active() == 0 })
	poll.Until(func() bool { return strings.Count(log.String(), `msg="background response"`) == 2 })
	if !strings.Contains(log.String(), "response="+first) || !strings.Contains(log.String(), "completion_tokens=") {
		t.Errorf("the log: %s", log.String())
	}
	poll.Until(func() bool { // the place is free a moment after the answer is there
		bytes, requests := underWay()
		return bytes == 0 && requests == 0
	})
	if got := metricsOf(t, url); !strings.Contains(got, `stencil_background_responses_total{status="completed"} 2`) || !strings.Contains(got, "stencil_background_responses_active 0") {
		t.Errorf("%s", got)
	}
}

func TestBackgroundRefused(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	for _, c := range []struct{ body, code, param string }{
		{backgroundBody(`"store": false`), "invalid_value", "background"},
		{backgroundBody(`"text": {"format": {"type": "json_schema", "name": "x", "schema": {"type": 5}}}`), "invalid_schema", "text.format.schema"},
	} {
		if status, got := sendAs(t, "POST", url+"/v1/responses", "", c.body); status != 400 || at(got, "error", "code") != c.code || at(got, "error", "param") != c.param {
			t.Errorf("%s: %d %v", c.body, status, got)
		}
	}
	// What the engine refuses makes the response fail.
	id := queue(t, url, "", backgroundBody(`"instructions": "`+strings.Repeat("word ", 5000)+`"`))
	if got := reached(t, url, "", id, "failed"); at(got, "error", "code") != "context_length_exceeded" || at(got, "error", "message") == "" {
		t.Errorf("%v", got)
	}
	if got := metricsOf(t, url); !strings.Contains(got, `stencil_failures_total{code="context_length_exceeded"} 1`) {
		t.Errorf("%s", got)
	}
	_, url = start(t, setup{reply: "fine", cfg: Config{Background: background.Limits{Number: -1}}})
	if status, got := sendAs(t, "POST", url+"/v1/responses", "", backgroundBody(`"store": true`)); status != 400 || at(got, "error", "code") != "not_offered" {
		t.Errorf("%d %v", status, got)
	}
}

// TestBackgroundCancel checks that cancelling frees the place in the engine, and that further calls change nothing.
func TestBackgroundCancel(t *testing.T) {
	opt, more := slow(t)
	srv, url := start(t, setup{opt: opt, eng: engine.Config{Parallel: 1}})
	for _, stream := range []string{"", `, "stream": true`} {
		var id string
		if stream == "" {
			id = queue(t, url, "ann", backgroundBody(more))
		} else {
			id, _ = openStream(t, url, backgroundBody(more+stream))
		}
		key := map[bool]string{true: "ann"}[stream == ""]
		reached(t, url, key, id, "in_progress")
		for range 2 {
			status, got := sendAs(t, "POST", url+"/v1/responses/"+id+"/cancel", key, "")
			if status != 200 || got["status"] != "cancelled" || got["id"] != id || got["error"] != nil {
				t.Errorf("%d %v", status, got)
			}
		}
		poll.Until(func() bool { return activeOf(srv) == 0 })
		reached(t, url, key, id, "cancelled")
		got := eventsFrom(t, url, key, id, "")
		if last := got[len(got)-1]; last.name != "response.incomplete" || at(last.data, "response", "status") != "cancelled" {
			t.Errorf("the last event: %+v", last)
		}
	}
	if got := metricsOf(t, url); !strings.Contains(got, `stencil_background_responses_total{status="cancelled"} 2`) {
		t.Errorf("%s", got)
	}
	// One that has ended stays as it is.
	_, url = start(t, setup{reply: "fine"})
	id := queue(t, url, "", backgroundBody(`"max_output_tokens": 60`))
	reached(t, url, "", id, "completed")
	if status, got := sendAs(t, "POST", url+"/v1/responses/"+id+"/cancel", "", ""); status != 200 || got["status"] != "completed" {
		t.Errorf("%d %v", status, got)
	}
}

// openStream begins a stream, whose client leaves after the first text, and returns its id and events.
func openStream(t *testing.T, url, body string) (id string, seen []string) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/v1/responses", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			seen = append(seen, name)
		}
		if _, after, ok := strings.Cut(lines.Text(), `"response":{"id":"`); ok && id == "" {
			id, _, _ = strings.Cut(after, `"`)
		}
		if slices.Contains(seen, "response.output_text.delta") {
			return id, seen
		}
	}
	t.Fatalf("the stream has no text: %q", seen)
	return "", nil
}

// eventsFrom returns the events of a response.
func eventsFrom(t *testing.T, url, key, id, query string) []event {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url+"/v1/responses/"+id+"?stream=true"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Fatalf("status %d", resp.StatusCode)
	}
	return readEvents(t, resp.Body)
}

// numbered checks that events have consecutive numbers from first on, and returns the text in their deltas.
func numbered(t *testing.T, events []event, first int) (text string) {
	t.Helper()
	for i, e := range events {
		if n, _ := at(e.data, "sequence_number").(float64); int(n) != first+i || at(e.data, "type") != e.name {
			t.Fatalf("event %d: %+v", i, e)
		}
		if delta, ok := at(e.data, "delta").(string); ok {
			text += delta
		}
	}
	return text
}

// TestBackgroundStream checks that a stream goes on without its client, and is followed from any event on, during and after
// the generation.
func TestBackgroundStream(t *testing.T) {
	opt, _ := slow(t)
	_, url := start(t, setup{opt: opt})
	id, seen := openStream(t, url, backgroundBody(`"stream": true, "seed": 4, "max_output_tokens": 200, `+endless(t)))
	if !slices.Equal(seen[:3], []string{"response.created", "response.queued", "response.in_progress"}) {
		t.Errorf("%q", seen)
	}
	live := eventsFrom(t, url, "", id, "")
	text := numbered(t, live, 0)
	last := live[len(live)-1]
	if last.name != "response.incomplete" || text == "" || at(last.data, "response", "output", 0, "content", 0, "text") != text {
		t.Errorf("%+v, the deltas are %q", last, text)
	}
	if at(live[0].data, "response", "status") != "queued" || at(live[2].data, "response", "status") != "in_progress" {
		t.Errorf("%+v", live[:3])
	}
	got := reached(t, url, "", id, "incomplete")
	if at(got, "output", 0, "content", 0, "text") != text {
		t.Errorf("%v", got)
	}
	rest := eventsFrom(t, url, "", id, "&starting_after=9")
	numbered(t, rest, 10)
	if len(rest) != len(live)-10 {
		t.Errorf("%d of %d events after number 9", len(rest), len(live))
	}
	for _, query := range []string{"?stream=maybe", "?starting_after=1", "?stream=true&starting_after=x", "?stream=true&starting_after=-1"} {
		if status, got := sendAs(t, "GET", url+"/v1/responses/"+id+query, "", ""); status != 400 {
			t.Errorf("%s: %d %v", query, status, got)
		}
	}
}

// TestBackgroundReplay checks the events of a stored response: with the numbers that they had, unless it was streamed.
func TestBackgroundReplay(t *testing.T) {
	srv, url := start(t, setup{reply: "fine"})
	forgotten := func(id string) { // as after some minutes
		run := srv.openai.Background.Get("", id)
		<-run.Done()
		run.Forget()
	}
	whole := queue(t, url, "", backgroundBody(`"max_output_tokens": 60`))
	reached(t, url, "", whole, "completed")
	forgotten(whole)
	replayed := eventsFrom(t, url, "", whole, "")
	if text := numbered(t, replayed, 0); text != "fine" || replayed[1].name != "response.queued" || replayed[len(replayed)-1].name != "response.completed" {
		t.Errorf("%q, %+v", text, replayed)
	}
	if at(replayed[0].data, "response", "status") != "queued" || len(at(replayed[0].data, "response", "output").([]any)) != 0 || at(replayed[0].data, "response", "usage") != nil {
		t.Errorf("%+v", replayed[0])
	}
	numbered(t, eventsFrom(t, url, "", whole, "&starting_after=3"), 4)
	// The events were the same as they came.
	_, other := start(t, setup{reply: "fine"})
	same := queue(t, other, "", backgroundBody(`"max_output_tokens": 60`))
	live := eventsFrom(t, other, "", same, "")
	if a, b := namesOf(live), namesOf(replayed); !slices.Equal(a, b) {
		t.Errorf("live %q, later %q", a, b)
	}

	id, _ := openStream(t, url, backgroundBody(`"stream": true, "max_output_tokens": 60`))
	reached(t, url, "", id, "completed")
	forgotten(id)
	if text := numbered(t, eventsFrom(t, url, "", id, ""), 0); text != "fine" {
		t.Error(text)
	}
	if status, got := sendAs(t, "GET", url+"/v1/responses/"+id+"?stream=true&starting_after=3", "", ""); status != 400 || at(got, "error", "code") != "events_not_kept" {
		t.Errorf("%d %v", status, got)
	}

	// Calls, and responses that were not made in the background.
	_, url = start(t, setup{reply: "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"n\": 1}}\n</tool_call>"})
	_, got := sendAs(t, "POST", url+"/v1/responses", "", responsesBody(`"input": "a", "tools": [{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {"n": {"const": 1}}, "required": ["n"]}}], "tool_choice": "required"`))
	calls := eventsFrom(t, url, "", got["id"].(string), "")
	if text := numbered(t, calls, 0); text != at(got, "output", 0, "arguments") || text == "" || calls[1].name != "response.in_progress" {
		t.Errorf("%q, %+v, %v", text, calls, got)
	}
}

func namesOf(events []event) (out []string) {
	for _, e := range events {
		out = append(out, e.name)
	}
	return out
}

// TestBackgroundEventsBounded checks that the events of a run make room for newer ones, and that a client that asks for
// those that are gone is told so.
func TestBackgroundEventsBounded(t *testing.T) {
	opt, _ := slow(t)
	_, url := start(t, setup{opt: opt, cfg: Config{Background: background.Limits{Bytes: 8 << 10}}})
	id, _ := openStream(t, url, backgroundBody(`"stream": true, "max_output_tokens": 200, `+endless(t)))
	reached(t, url, "", id, "incomplete")
	if status, got := sendAs(t, "GET", url+"/v1/responses/"+id+"?stream=true&starting_after=0", "", ""); status != 400 || at(got, "error", "code") != "events_not_kept" {
		t.Errorf("%d %v", status, got)
	}
	if text := numbered(t, eventsFrom(t, url, "", id, ""), 0); text == "" {
		t.Error("there is no text")
	}
}

func TestBackgroundDelete(t *testing.T) {
	opt, more := slow(t)
	srv, url := start(t, setup{opt: opt})
	id := queue(t, url, "ann", backgroundBody(more))
	reached(t, url, "ann", id, "in_progress")
	if status, got := sendAs(t, "DELETE", url+"/v1/responses/"+id, "ann", ""); status != 200 || got["deleted"] != true {
		t.Errorf("%d %v", status, got)
	}
	poll.Until(func() bool { return activeOf(srv) == 0 })
	for _, one := range [][2]string{{"GET", ""}, {"GET", "?stream=true"}, {"POST", "/cancel"}, {"DELETE", ""}} {
		if status, got := sendAs(t, one[0], url+"/v1/responses/"+id+one[1], "ann", ""); status != 404 {
			t.Errorf("%v: %d %v", one, status, got)
		}
	}
}

func TestBackgroundBounds(t *testing.T) {
	opt, goOn := gated(t)
	_, url := start(t, setup{reply: "fine", opt: opt, eng: engine.Config{Parallel: 1, Queue: 1}, cfg: Config{Access: access.Config{Keys: []string{"ann", "bob", "eve"}}, Background: background.Limits{Number: 3, PerClient: 2}}})
	body := backgroundBody(`"max_output_tokens": 60`)
	ids := []string{queue(t, url, "ann", body), queue(t, url, "ann", body)}
	for _, key := range []string{"ann", "bob"} {
		status, got := sendAs(t, "POST", url+"/v1/responses", key, body)
		switch {
		case key == "bob" && status != 200:
			t.Errorf("another client: %d %v", status, got)
		case key == "ann" && (status != 429 || at(got, "error", "code") != "too_many_background" || !strings.Contains(at(got, "error", "message").(string), "this client has 2")):
			t.Errorf("%d %v", status, got)
		}
	}
	if status, got := sendAs(t, "POST", url+"/v1/responses", "eve", body); status != 429 || !strings.Contains(at(got, "error", "message").(string), "there are 3") {
		t.Errorf("%d %v", status, got)
	}
	goOn() // those for which the engine's queue, of one, had no place have waited
	for _, id := range ids {
		reached(t, url, "ann", id, "completed")
	}
	queue(t, url, "ann", body)
}

// TestBackgroundRestart checks that a response that was being made when the server was killed has failed.
func TestBackgroundRestart(t *testing.T) {
	dir := t.TempDir()
	opt, more := slow(t)
	cfg := Config{ResponsesFile: filepath.Join(dir, "first")}
	srv, url := start(t, setup{opt: opt, cfg: cfg})
	if err := srv.OpenResponses(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.CloseResponses() })
	id := queue(t, url, "ann", backgroundBody(more))
	reached(t, url, "ann", id, "in_progress")
	file, err := os.ReadFile(cfg.ResponsesFile) // nothing is written meanwhile
	if err != nil {
		t.Fatal(err)
	}
	cfg.ResponsesFile = filepath.Join(dir, "second")
	if err := os.WriteFile(cfg.ResponsesFile, file, 0o600); err != nil {
		t.Fatal(err)
	}
	again, url := start(t, setup{reply: "fine", cfg: cfg})
	if err := again.OpenResponses(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.CloseResponses() })
	for range 2 {
		status, got := sendAs(t, "GET", url+"/v1/responses/"+id, "ann", "")
		if status != 200 || got["status"] != "failed" || at(got, "error", "code") != "server_restarted" || !strings.Contains(at(got, "error", "message").(string), "restarted") {
			t.Errorf("%d %v", status, got)
		}
	}
	if events := eventsFrom(t, url, "ann", id, ""); events[len(events)-1].name != "response.failed" {
		t.Errorf("%+v", events)
	}
	if status, got := sendAs(t, "POST", url+"/v1/responses/"+id+"/cancel", "ann", ""); status != 200 || got["status"] != "failed" {
		t.Errorf("%d %v", status, got)
	}
	if status, got := sendAs(t, "GET", url+"/v1/responses/"+id, "bob", ""); status != 404 {
		t.Errorf("%d %v", status, got)
	}
	if status, got := sendAs(t, "POST", url+"/v1/responses", "ann", responsesBody(fmt.Sprintf(`"input": "x", "previous_response_id": %q`, id))); status != 200 {
		t.Errorf("%d %v", status, got)
	}
}

// TestBackgroundShutdown checks that a server waits for what runs in the background, and that after its grace the responses
// have failed, as their file says too.
func TestBackgroundShutdown(t *testing.T) {
	for _, c := range []struct {
		name  string
		grace time.Duration
		want  string
	}{{"ends in time", time.Hour, "completed"}, {"is ended", time.Millisecond, "failed"}} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Config{ResponsesFile: filepath.Join(t.TempDir(), "file")}
			opt, more := slow(t)
			s := setup{opt: opt, cfg: cfg}
			if c.want == "completed" {
				s, more = setup{reply: "fine", opt: scripted.Options{Delay: time.Millisecond}, cfg: cfg}, `"max_output_tokens": 60`
			}
			srv, _ := start(t, s)
			if err := srv.OpenResponses(); err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			serving, stop := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- srv.Serve(serving, l, c.grace) }()
			id := queue(t, "http://"+l.Addr().String(), "ann", backgroundBody(more))
			stop()
			if err := <-served; err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			if n := srv.openai.Background.Active(); n != 0 {
				t.Errorf("%d are left", n)
			}
			if err := srv.CloseResponses(); err != nil {
				t.Fatal(err)
			}
			again, url := start(t, setup{reply: "fine", cfg: cfg})
			if err := again.OpenResponses(); err != nil {
				t.Fatal(err)
			}
			defer again.CloseResponses()
			status, got := sendAs(t, "GET", url+"/v1/responses/"+id, "ann", "")
			if status != 200 || got["status"] != c.want || c.want == "failed" && at(got, "error", "code") != "shutting_down" {
				t.Errorf("%d %v", status, got)
			}
		})
	}
}

// TestBackgroundTimeout checks that the time limit of requests holds.
func TestBackgroundTimeout(t *testing.T) {
	opt, more := slow(t)
	srv, url := start(t, setup{opt: opt, cfg: Config{RequestTimeout: 200 * time.Millisecond}})
	id := queue(t, url, "", backgroundBody(more))
	if got := reached(t, url, "", id, "failed"); at(got, "error", "code") != "timeout" {
		t.Errorf("%v", got)
	}
	poll.Until(func() bool { return activeOf(srv) == 0 })
}

// TestBackgroundFault checks that an error of the model makes the response fail, with what a client may know.
func TestBackgroundFault(t *testing.T) {
	_, url := start(t, setup{reply: "fine", opt: scripted.Options{Fault: func(int, *backend.Batch) error { return errors.New("a secret") }}})
	id := queue(t, url, "", backgroundBody(`"max_output_tokens": 60`))
	got := reached(t, url, "", id, "failed")
	if at(got, "error", "code") != "internal_error" || strings.Contains(fmt.Sprint(got), "secret") {
		t.Errorf("%v", got)
	}
	events := eventsFrom(t, url, "", id, "")
	if last := events[len(events)-1]; last.name != "response.failed" || at(last.data, "response", "error", "code") != "internal_error" {
		t.Errorf("%+v", last)
	}
}
