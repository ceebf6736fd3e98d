package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/server"
	"github.com/stencil-json/stencil/vocab"
)

// tinyVocab writes a model with the built-in vocabulary and reads it back.
func tinyVocab(t testing.TB) *vocab.Vocab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Layers: 1, Width: 16}); err != nil {
		t.Fatal(err)
	}
	v, err := vocab.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A site is a server that listens until stop is called.
type site struct {
	url    string
	engine *engine.Engine
	stop   func() error
	echoes bool // the model is echo
}

func listen(t testing.TB, model backend.Model, cfg engine.Config) *site {
	t.Helper()
	e, err := engine.New(model, cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Config{Log: slog.New(slog.DiscardHandler)})
	if err := s.SetModel("tiny", e); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l, 30*time.Second) }()
	stop := sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-served, e.Close(), model.Close())
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return &site{url: "http://" + l.Addr().String(), engine: e, stop: stop}
}

// loadedModel opens the model of the load tests, if one is set; see TestLoad. It is
// nil without the build tag llama.
var loadedModel func(t testing.TB) backend.Model

// listenLoaded starts a server for load tests with the configured model, or else
// one that echoes.
func listenLoaded(t testing.TB, opt scripted.Options, cfg engine.Config) *site {
	t.Helper()
	if loadedModel != nil && os.Getenv("STENCIL_LOAD_MODEL") != "" {
		return listen(t, loadedModel(t), cfg)
	}
	v := tinyVocab(t)
	s := listen(t, scripted.New(v, echo(v), opt), cfg)
	s.echoes = true
	return s
}

// echo returns a model that says the text of [say: …] in its prompt, or random text
// without it.
func echo(v *vocab.Vocab) scripted.Func {
	random := scripted.Random(23)
	return func(history []int32, logits []float32) {
		text := string(v.Decode(history))
		from := strings.LastIndex(text, "[say:")
		if from < 0 {
			random(history, logits)
			return
		}
		said, rest, _ := strings.Cut(text[from+len("[say:"):], "]")
		if want, ok := strings.CutPrefix(said, rest); ok && want != "" {
			for id := range logits {
				if b := v.Bytes(int32(id)); len(b) > 0 && strings.HasPrefix(want, string(b)) {
					logits[id] = scripted.Strong + float32(len(b))
				}
			}
			return
		}
		logits[v.EOG()[0]] = scripted.Strong
	}
}

// A tally counts the results of a load's requests.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
	queued []float64 // milliseconds
}

func (c *tally) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[what]++
}

func (c *tally) wait(ms float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queued = append(c.queued, ms)
}

func post(ctx context.Context, url string, body string) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, text, err
}

// one sends a request of a random kind and checks its answer. The key is in the
// prompt and must be in the answer, so that mixed-up answers are noticed. Without a
// constraint, a model that does not echo may say anything.
func one(ctx context.Context, at *site, key string, rng *rand.Rand, c *tally) error {
	schema := fmt.Sprintf(`{"type":"object","properties":{"key":{"const":%q},"n":{"type":"integer","minimum":0,"maximum":9},"text":{"type":"string","maxLength":20}},"required":["key","n","text"],"additionalProperties":false}`, key)
	var path, body, kind string
	switch kind = []string{"free", "schema", "stream", "tools"}[rng.IntN(4)]; kind {
	case "free":
		path, body = "/generate", fmt.Sprintf(`{"prompt": "[say:%s]", "temperature": 0, "max_tokens": 60}`, key)
	case "schema":
		path, body = "/generate_json", fmt.Sprintf(`{"prompt": "x %d", "max_tokens": 60, "schema": %s}`, rng.IntN(10), schema)
	case "stream":
		path, body = "/v1/chat/completions", fmt.Sprintf(`{"messages": [{"role": "user", "content": "x"}], "stream": true, "max_tokens": 60, "response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": true, "schema": %s}}}`, schema)
	case "tools":
		path, body = "/v1/chat/completions", fmt.Sprintf(`{"messages": [{"role": "user", "content": "x"}], "max_tokens": 90, "tool_choice": "required", "parallel_tool_calls": false, "tools": [{"type": "function", "function": {"name": "f", "parameters": %s}}]}`, schema)
	}
	if rng.IntN(6) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(40))*time.Millisecond)
		defer cancel()
	}
	resp, text, err := post(ctx, at.url+path, body)
	switch {
	case ctx.Err() != nil:
		c.add("hung up")
		return nil
	case err != nil:
		return err
	case resp.StatusCode == http.StatusTooManyRequests:
		if resp.Header.Get("Retry-After") == "" {
			return errors.New("429 without Retry-After")
		}
		c.add("429")
		time.Sleep(10 * time.Millisecond)
		return nil
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %d %s", body, resp.StatusCode, text)
	}
	c.add(kind)
	answer, err := answerOf(kind, text, c)
	if err != nil {
		return fmt.Errorf("%s: %w in %s", body, err, text)
	}
	if kind == "free" {
		if at.echoes && answer != key {
			return fmt.Errorf("said %q, want %q", answer, key)
		}
		return nil
	}
	var doc struct {
		Key  *string `json:"key"`
		N    *int    `json:"n"`
		Text *string `json:"text"`
	}
	d := json.NewDecoder(strings.NewReader(answer))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil || doc.Key == nil || *doc.Key != key || doc.N == nil || *doc.N < 0 || *doc.N > 9 || doc.Text == nil || len([]rune(*doc.Text)) > 20 {
		return fmt.Errorf("answer %q, want the key %q (%v)", answer, key, err)
	}
	return nil
}

// answerOf returns the text, document or arguments of an answer.
func answerOf(kind string, text []byte, c *tally) (string, error) {
	if kind == "stream" {
		answer := ""
		for line := range bytes.Lines(text) {
			data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: "))
			if !ok || string(data) == "[DONE]" {
				continue
			}
			var chunk struct {
				Choices []struct{ Delta struct{ Content string } }
			}
			if err := json.Unmarshal(data, &chunk); err != nil {
				return "", err
			}
			for _, choice := range chunk.Choices {
				answer += choice.Delta.Content
			}
		}
		if !bytes.HasSuffix(text, []byte("data: [DONE]\n\n")) {
			return "", errors.New("the stream has no end")
		}
		return answer, nil
	}
	var reply struct {
		Text    string
		Choices []struct {
			Message struct {
				Calls []struct{ Function struct{ Arguments string } } `json:"tool_calls"`
			}
		}
		Timings struct {
			Queue float64 `json:"queue_ms"`
		}
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		return "", err
	}
	c.wait(reply.Timings.Queue)
	if kind == "tools" {
		if len(reply.Choices) != 1 || len(reply.Choices[0].Message.Calls) != 1 {
			return "", errors.New("not one call")
		}
		return reply.Choices[0].Message.Calls[0].Function.Arguments, nil
	}
	return reply.Text, nil
}

// TestLoad runs many concurrent clients, some of which disconnect: every answer is
// complete, valid and for the right client, and nothing is left over. STENCIL_LOAD
// sets a duration other than two seconds, for example 5m. With the build tag llama,
// STENCIL_LOAD_MODEL sets the model: a file, or "random" for a small one with
// random weights.
func TestLoad(t *testing.T) {
	const clients = 64
	last := 2 * time.Second
	if s := os.Getenv("STENCIL_LOAD"); s != "" {
		var err error
		if last, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	site := listenLoaded(t, scripted.Options{}, engine.Config{Parallel: 8, Queue: 40, Context: backend.ContextParams{Size: 1 << 14}})
	c := &tally{counts: map[string]int{}}
	load := func(d time.Duration) {
		during, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		var wg sync.WaitGroup
		for i := range clients {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(i), 1))
				for n := 0; during.Err() == nil && !t.Failed(); n++ {
					if err := one(t.Context(), site, fmt.Sprintf("k%d-%d", i, n), rng, c); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	}
	// After a while everything has its final size; growth from then on is a leak.
	load(last / 4)
	goroutines, heap := settled(site)
	memory := resident()
	load(last * 3 / 4)
	goroutinesAfter, heapAfter := settled(site)
	memoryAfter := resident()
	if goroutinesAfter > goroutines+10 {
		t.Errorf("%d goroutines, %d before", goroutinesAfter, goroutines)
	}
	if limit := heap + heap/2 + 32<<20; heapAfter > limit {
		t.Errorf("%d MB of heap, %d before", heapAfter>>20, heap>>20)
	}
	if limit := memory + memory/2 + 64<<20; memoryAfter > limit {
		t.Errorf("%d MB of memory, %d before", memoryAfter>>20, memory>>20)
	}
	if s := site.engine.Stats(); s.Active+s.Waiting+s.Queued != 0 {
		t.Errorf("left over: %+v", s)
	}
	slices.Sort(c.queued)
	at := func(share float64) float64 { return c.queued[int(share*float64(len(c.queued)-1))] }
	t.Logf("%v: %v; time in the queue: p50 %.1f ms, p99 %.1f ms, max %.1f ms; heap %d → %d MB, memory %d → %d MB, goroutines %d → %d",
		last, c.counts, at(0.5), at(0.99), at(1), heap>>20, heapAfter>>20, memory>>20, memoryAfter>>20, goroutines, goroutinesAfter)
	for _, kind := range []string{"free", "schema", "stream", "tools", "hung up", "429"} {
		if c.counts[kind] == 0 {
			t.Errorf("no request of kind %q: %v", kind, c.counts)
		}
	}
}

// resident returns the resident memory of the process in bytes, including
// llama.cpp's; 0 if it can't be determined.
func resident() uint64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages uint64
	fmt.Sscan(string(raw), &size, &pages)
	return pages * uint64(os.Getpagesize())
}

// settled waits until nothing runs, and returns the number of goroutines and the
// bytes of heap in use.
func settled(s *site) (int, uint64) {
	http.DefaultClient.CloseIdleConnections()
	last, looks := 0, 0
	poll.Until(func() bool { // nothing runs, and no more goroutines end
		if st, n := s.engine.Stats(), runtime.NumGoroutine(); st.Active+st.Waiting+st.Queued > 0 || n != last {
			last, looks = n, 0
		}
		looks++
		return looks > 100
	})
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), m.HeapAlloc
}

// TestShutdownLosesNothing checks that a shutdown loses no accepted request:
// running and waiting ones are answered.
func TestShutdownLosesNothing(t *testing.T) {
	v := tinyVocab(t)
	site := listen(t, scripted.New(v, echo(v), scripted.Options{Delay: 2 * time.Millisecond}), engine.Config{Parallel: 2, Queue: 40})
	const requests = 20
	var wg sync.WaitGroup
	for i := range requests {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 9))
			key := fmt.Sprintf("s%d", i)
			kind := []string{"/generate", "/v1/completions"}[rng.IntN(2)]
			stream := rng.IntN(2) == 0
			resp, text, err := post(t.Context(), site.url+kind, fmt.Sprintf(`{"prompt": "[say:%s]", "temperature": 0, "max_tokens": 60, "stream": %t}`, key, stream))
			if err != nil || resp.StatusCode != 200 || stream && !bytes.Contains(text, []byte(`"finish_reason":"stop"`)) || !stream && !bytes.Contains(text, []byte(key)) {
				t.Errorf("%s %t: %v %s", kind, stream, err, text)
			}
		})
	}
	poll.Until(func() bool { return site.engine.Stats().Requests >= requests })
	if err := site.stop(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}
