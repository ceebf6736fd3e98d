package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
)

// A shelf is a server with models that are loaded on demand.
type shelf struct {
	*Server
	url    string
	loads  atomic.Int32
	closes atomic.Int32
	busy   chan struct{} // if not nil, models compute only once it is closed
}

func newShelf(t *testing.T, cfg Config, names ...string) *shelf {
	cfg.Log = slog.New(slog.DiscardHandler)
	s := &shelf{Server: New(cfg)}
	for _, name := range names {
		s.AddModel(name, s.load(t), time.Hour)
	}
	h := httptest.NewServer(s.Handler())
	s.url = h.URL
	t.Cleanup(func() {
		h.Close()
		if err := s.CloseModels(); err != nil || s.loads.Load() != s.closes.Load() {
			t.Errorf("%v: %d loaded, %d closed", err, s.loads.Load(), s.closes.Load())
		}
	})
	return s
}

func (s *shelf) load(t *testing.T) Loader {
	return func(context.Context) (Engines, func() error, error) {
		wait := func(int, *backend.Batch) error {
			if s.busy != nil {
				<-s.busy
			}
			return nil
		}
		e, err := engine.New(scripted.New(loadVocab(t), scripted.Random(1), scripted.Options{Fault: wait}), engine.Config{})
		if err != nil {
			return Engines{}, nil, err
		}
		s.loads.Add(1)
		return Engines{Text: e}, func() error { s.closes.Add(1); return e.Close() }, nil
	}
}

// loaded returns the names of the models in memory.
func (s *shelf) loaded(t *testing.T) string {
	_, _, got := send(t, "GET", s.url+"/models", "")
	out := ""
	for _, m := range at(parsed(t, got), "data").([]any) {
		if at(m, "status", "value") == "loaded" {
			out += at(m, "id").(string)
		}
	}
	return out
}

func (s *shelf) ask(t *testing.T, model string) int {
	status, _, _ := post(t, s.url+"/generate", fmt.Sprintf(`{"model": %q, "prompt": "x", "max_tokens": 3}`, model))
	return status
}

// TestModelsMax checks that, with a limit on models in memory, the least recently used one makes room.
func TestModelsMax(t *testing.T) {
	s := newShelf(t, Config{MaxModels: 2}, "a", "b", "c")
	for _, step := range []struct{ ask, want string }{{"a", "a"}, {"b", "ab"}, {"a", "ab"}, {"c", "ac"}, {"b", "bc"}, {"c", "bc"}} {
		if status := s.ask(t, step.ask); status != 200 || s.loaded(t) != step.want {
			t.Errorf("after %s: %d, %s in memory", step.ask, status, s.loaded(t))
		}
	}
	if _, _, got := send(t, "GET", s.url+"/props", ""); at(parsed(t, got), "max_instances") != 2.0 || at(parsed(t, got), "models_autoload") != true {
		t.Error(got)
	}
	if status, _, got := post(t, s.url+"/models/load", `{"model": "a"}`); status != 200 || got["success"] != true {
		t.Errorf("%d %v", status, got)
	}
	poll.Until(func() bool { return s.loaded(t) == "ac" })
}

// TestModelsWait checks that a model in use stays, that others queue for its place, and that a cancelled
// request takes none.
func TestModelsWait(t *testing.T) {
	s := newShelf(t, Config{MaxModels: 1}, "a", "b", "c")
	s.busy = make(chan struct{})
	status := make(chan int)
	go func() { status <- s.ask(t, "a") }()
	poll.Until(func() bool { return s.loaded(t) == "a" })
	// The request for c is cancelled.
	impatient, hang := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer hang()
	req, err := http.NewRequestWithContext(impatient, "POST", s.url+"/generate", strings.NewReader(`{"model": "c", "prompt": "x", "max_tokens": 3}`))
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
		t.Error("c was answered while a was in use")
	}
	// The server learns of that a little later.
	poll.Until(func() bool {
		return strings.Contains(metricsOf(t, s.url), `stencil_requests_total{path="/generate",status="499"} 1`)
	})
	go func() { status <- s.ask(t, "b") }()
	if s.loaded(t) != "a" {
		t.Errorf("%s in memory", s.loaded(t))
	}
	close(s.busy)
	if first, second := <-status, <-status; first != 200 || second != 200 || s.loaded(t) != "b" || s.loads.Load() != 2 {
		t.Errorf("%d %d, %s in memory after %d loads", first, second, s.loaded(t), s.loads.Load())
	}
	// Two concurrent requests both get their turn.
	for _, name := range []string{"a", "c"} {
		go func() { status <- s.ask(t, name) }()
	}
	for range 2 {
		if got := <-status; got != 200 {
			t.Error(got)
		}
	}
}

// TestManualModels checks that models are loaded only by POST /models/load if the server is configured
// so.
func TestManualModels(t *testing.T) {
	s := newShelf(t, Config{ManualModels: true}, "a", "b")
	status, _, got := post(t, s.url+"/v1/chat/completions", `{"model": "a", "messages": [{"role": "user", "content": "x"}]}`)
	if status != 400 || at(got, "error", "code") != "model_not_loaded" {
		t.Errorf("%d %v", status, got)
	}
	if status, _, _ := post(t, s.url+"/models/load", `{"model": "a"}`); status != 200 {
		t.Error(status)
	}
	poll.Until(func() bool { return s.loaded(t) == "a" })
	if status := s.ask(t, "a"); status != 200 {
		t.Error(status)
	}
	if status := s.ask(t, "b"); status != 400 {
		t.Error(status)
	}
}

// TestSleep checks that an unused model is unloaded, and loaded again by the next request.
func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{Server: New(Config{Log: slog.New(slog.DiscardHandler)})}
		e, closer, err := s.load(t)(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SetSleeping("a", e, closer, s.load(t), time.Minute); err != nil {
			t.Fatal(err)
		}
		s.DescribeModel("a", []string{"other"}, []string{"small"})
		sleeps := func() bool {
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1/props", nil))
			return at(parsed(t, w.Body.String()), "is_sleeping") == true
		}
		ask := func() {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("POST", "http://127.0.0.1/tokenize", strings.NewReader(`{"model": "other", "content": "x"}`))
			s.Handler().ServeHTTP(w, r)
			if w.Code != 200 {
				t.Error(w.Code, w.Body)
			}
		}
		if sleeps() {
			t.Error("it sleeps at once")
		}
		time.Sleep(time.Minute + time.Second)
		if !sleeps() || s.closes.Load() != 1 {
			t.Error("it does not sleep")
		}
		ask()
		time.Sleep(time.Minute - time.Second)
		if sleeps() || s.loads.Load() != 2 {
			t.Error("it sleeps too early")
		}
		ask()
		time.Sleep(time.Minute - time.Second)
		if sleeps() {
			t.Error("it sleeps too early after the second request")
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1/models", nil))
		if got := w.Body.String(); !strings.Contains(got, `"aliases":["a","other"],"tags":["small"]`) {
			t.Error(got)
		}
		if err := s.CloseModels(); err != nil || s.closes.Load() != 2 {
			t.Error(err, s.closes.Load())
		}
	})
}

// TestListen checks a server with several addresses.
func TestListen(t *testing.T) {
	l, err := Listen([]string{"127.0.0.1", "127.0.0.2"}, 0)
	if err != nil {
		t.Skip("no second address of loopback:", err)
	}
	srv := New(Config{Log: slog.New(slog.DiscardHandler)})
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, l, time.Second) }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "127.0.0.2"} {
		if status, _, got := send(t, "GET", "http://"+host+":"+port+"/healthz", ""); status != 200 {
			t.Errorf("%s: %d %v", host, status, got)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := Listen([]string{"127.0.0.1", "300.0.0.1"}, 0); err == nil {
		t.Error("an address that is none")
	}
}

// parsed reads a body.
func parsed(t *testing.T, body string) (out map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
