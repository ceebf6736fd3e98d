package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/server/access"
	"github.com/stencil-json/stencil/vocab"
)

// tinyVocab is the built-in vocabulary, read back from a model file.
var tinyVocab = sync.OnceValues(func() (*vocab.Vocab, error) {
	dir, err := os.MkdirTemp("", "stencil-server-test")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tiny.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Layers: 1, Width: 16}); err != nil {
		return nil, err
	}
	return vocab.Load(path)
})

func loadVocab(t testing.TB) *vocab.Vocab {
	t.Helper()
	v, err := tinyVocab()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// endless is a field that keeps a model with the built-in vocabulary from ending a text.
func endless(t testing.TB) string {
	var ends []string
	for _, id := range loadVocab(t).EOG() {
		ends = append(ends, fmt.Sprintf(`"%d": -100`, id))
	}
	return `"logit_bias": {` + strings.Join(ends, ", ") + `}`
}

type setup struct {
	vocab *vocab.Vocab  // nil: the built-in one
	reply string        // the model's text; "": random text
	next  scripted.Func // or the logits that it computes
	opt   scripted.Options
	eng   engine.Config
	cfg   Config
}

// start runs a server with a scripted model behind a real listener.
func start(t testing.TB, s setup) (*Server, string) {
	t.Helper()
	v := s.vocab
	if v == nil {
		v = loadVocab(t)
	}
	next := scripted.Random(11)
	if s.reply != "" {
		next = scripted.Say(v, s.reply)
	}
	if s.next != nil {
		next = s.next
	}
	e, err := engine.New(scripted.New(v, next, s.opt), s.eng)
	if err != nil {
		t.Fatal(err)
	}
	if s.cfg.Log == nil {
		s.cfg.Log = slog.New(slog.DiscardHandler)
	}
	srv := New(s.cfg)
	if err := srv.SetModel("tiny", e); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(srv.Handler())
	t.Cleanup(func() {
		h.Close()
		e.Close()
	})
	return srv, h.URL
}

func post(t testing.TB, url, body string) (int, http.Header, map[string]any) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, decoded(t, resp)
}

// decoded reads the JSON of an answer.
func decoded(t testing.TB, resp *http.Response) (out map[string]any) {
	t.Helper()
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %v in %q", resp.Request.URL, err, raw)
	}
	return out
}

// hangingUp posts a request that is cancelled when ctx ends. The channel is closed once the request has returned.
func hangingUp(ctx context.Context, t testing.TB, url, body string) <-chan struct{} {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
	return gone
}

// at follows a path of keys and indices into decoded JSON.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func TestGenerate(t *testing.T) {
	_, url := start(t, setup{reply: " hello there, wörld"})
	status, header, got := post(t, url+"/generate", `{"prompt": "say", "max_tokens": 60, "temperature": 0}`)
	if status != 200 || at(got, "text") != " hello there, wörld" || at(got, "finish_reason") != "stop" || at(got, "model") != "tiny" {
		t.Fatalf("%d %v", status, got)
	}
	if header.Get("X-Request-Id") == "" {
		t.Error("no request id")
	}
	for _, key := range []string{"usage", "timings", "seed"} {
		if got[key] == nil {
			t.Errorf("no %s", key)
		}
	}
	for _, key := range []string{"json", "constraint", "choices", "logprobs", "warnings", "stop_string"} {
		if _, there := got[key]; there {
			t.Errorf("%s is there: %v", key, got[key])
		}
	}
	if p, c, all := at(got, "usage", "prompt_tokens"), at(got, "usage", "completion_tokens"), at(got, "usage", "total_tokens"); p.(float64)+c.(float64) != all.(float64) || p.(float64) < 1 {
		t.Errorf("usage %v", got["usage"])
	}
	_, _, got = post(t, url+"/generate", `{"prompt": "say", "max_tokens": 60, "temperature": 0, "stop": ["there", ","]}`)
	if at(got, "text") != " hello " || at(got, "stop_string") != "there" {
		t.Errorf("with stop strings: %v", got)
	}
	_, _, got = post(t, url+"/generate", `{"prompt": "say", "max_tokens": 1, "temperature": 0, "logprobs": true, "top_logprobs": 2}`)
	if at(got, "finish_reason") != "length" || len(at(got, "logprobs").([]any)) != 1 || len(at(got, "logprobs", 0, "top_logprobs").([]any)) != 2 {
		t.Errorf("one token: %v", got)
	}
	if lp := at(got, "logprobs", 0, "logprob").(float64); lp > 0 || lp < -0.01 {
		t.Errorf("a script's token has logprob %g", lp)
	}
}

const personSchema = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0,"maximum":150}},"required":["name","age"],"additionalProperties":false}`

func TestGenerateJSON(t *testing.T) {
	_, url := start(t, setup{})
	for seed := range 20 {
		status, _, got := post(t, url+"/generate_json", fmt.Sprintf(`{"prompt": "Ann", "max_tokens": 40, "seed": %d, "schema": %s}`, seed, personSchema))
		if status != 200 || at(got, "finish_reason") != "stop" || at(got, "seed") != float64(seed) {
			t.Fatalf("seed %d: %d %v", seed, status, got)
		}
		age, ok := at(got, "json", "age").(float64)
		if _, named := at(got, "json", "name").(string); !named || !ok || age < 0 || age > 150 {
			t.Fatalf("seed %d: %v", seed, got["json"])
		}
		var again any
		if err := json.Unmarshal([]byte(got["text"].(string)), &again); err != nil || fmt.Sprint(again) != fmt.Sprint(got["json"]) {
			t.Errorf("seed %d: text %q, json %v", seed, got["text"], got["json"])
		}
		receipt := at(got, "constraint")
		if at(receipt, "validated") != true || at(receipt, "type") != "schema" || at(receipt, "forced_tokens").(float64) < 1 ||
			!strings.HasPrefix(at(receipt, "hash").(string), "sha256:") || len(at(receipt, "checked").([]any)) != 0 {
			t.Errorf("seed %d: receipt %v", seed, receipt)
		}
		enforced := fmt.Sprint(at(receipt, "enforced"))
		for _, k := range []string{"type", "properties", "required", "minimum"} {
			if !strings.Contains(enforced, k) {
				t.Errorf("enforced %s lacks %s", enforced, k)
			}
		}
	}
	// The same seed gives the same document.
	body := `{"prompt": "Ann", "max_tokens": 40, "seed": 5, "temperature": 1.3, "schema": ` + personSchema + `}`
	_, _, one := post(t, url+"/generate_json", body)
	_, _, two := post(t, url+"/generate_json", body)
	if one["text"] != two["text"] {
		t.Errorf("seed 5 gave %q and %q", one["text"], two["text"])
	}
}

func TestAnyJSON(t *testing.T) {
	_, url := start(t, setup{})
	for seed := range 20 {
		status, _, got := post(t, url+"/generate_json", fmt.Sprintf(`{"prompt": "x", "max_tokens": 12, "seed": %d}`, seed))
		if _, there := got["json"]; status != 200 || !there || at(got, "constraint", "type") != "json" || at(got, "constraint", "validated") != true {
			t.Fatalf("seed %d: %d %v", seed, status, got)
		}
	}
}

func TestJSONModeAndOptions(t *testing.T) {
	_, url := start(t, setup{reply: "x"})
	status, _, got := post(t, url+"/generate", `{"prompt": "x", "max_tokens": 40, "json_mode": {"schema": {"const": [[1, {}], [], null]}, "whitespace": "pretty"}}`)
	if want := "[\n  [\n    1,\n    {}\n  ],\n  [],\n  null\n]"; status != 200 || got["text"] != want {
		t.Errorf("%d %q, want %q", status, got["text"], want)
	}
	status, _, got = post(t, url+"/generate", `{"prompt": "x", "max_tokens": 6, "schema": {"type": "string", "minLength": 20}, "on_budget": "truncate"}`)
	if status != 200 || got["finish_reason"] != "length" || at(got, "constraint", "validated") != false {
		t.Errorf("truncated: %d %v", status, got)
	}
	status, _, got = post(t, url+"/generate", `{"prompt": "x", "max_tokens": 6, "schema": {"const": 12}, "forced": false, "stop": "1"}`)
	if status != 200 || got["text"] != "12" || at(got, "constraint", "forced_tokens") != 0.0 || len(got["warnings"].([]any)) != 1 {
		t.Errorf("not forced: %d %v", status, got)
	}
}

func TestChoices(t *testing.T) {
	_, url := start(t, setup{})
	status, _, got := post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 30, "n": 3, "seed": 7, "schema": `+personSchema+`}`)
	if status != 200 || len(got["choices"].([]any)) != 3 {
		t.Fatalf("%d %v", status, got)
	}
	total := 0.0
	for i := range 3 {
		if at(got, "choices", i, "index") != float64(i) || at(got, "choices", i, "seed") != float64(7+i) || at(got, "choices", i, "json", "name") == nil {
			t.Errorf("choice %d: %v", i, at(got, "choices", i))
		}
		total += float64(len(at(got, "choices", i, "text").(string)))
	}
	if at(got, "text") != at(got, "choices", 0, "text") {
		t.Error("the first choice is not at the top")
	}
}

// An event is a server-sent event.
type event struct {
	name string
	data map[string]any
}

func readEvents(t testing.TB, body io.Reader) []event {
	t.Helper()
	var out []event
	var name string
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "event: "):
			name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			var data map[string]any
			if err := json.Unmarshal([]byte(line[len("data: "):]), &data); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			out = append(out, event{name, data})
		case line != "" && !strings.HasPrefix(line, ":"):
			t.Fatalf("line %q", line)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func postStream(t testing.TB, url, body string) (*http.Response, []event) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp, readEvents(t, resp.Body)
}

// postLines posts a request and returns the answer's lines that are not empty.
func postLines(t testing.TB, url, body string) (out []string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if lines.Text() != "" {
			out = append(out, lines.Text())
		}
	}
	if err := lines.Err(); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %d %v %q", body, resp.StatusCode, err, out)
	}
	return out
}

func TestStream(t *testing.T) {
	_, url := start(t, setup{opt: scripted.Options{Delay: time.Millisecond}})
	body := `{"prompt": "x", "max_tokens": 40, "seed": 3, "schema": ` + personSchema
	_, _, whole := post(t, url+"/generate_json", body+`}`)
	resp, events := postStream(t, url+"/generate_json", body+`, "stream": true}`)
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || !strings.HasPrefix(got, "text/event-stream") {
		t.Fatalf("%d %s", resp.StatusCode, got)
	}
	var text strings.Builder
	fields := map[string]any{}
	for i, e := range events {
		switch {
		case e.name == "field":
			fields[e.data["pointer"].(string)] = e.data["value"]
			if c, leaf := e.data["confidence"].(float64); leaf != (e.data["pointer"] != "") || c < 0 || c > 1 {
				t.Errorf("field %v", e.data)
			}
		case i == len(events)-1:
			if e.name != "done" || e.data["text"] != whole["text"] || at(e.data, "constraint", "validated") != true || at(e.data, "usage", "completion_tokens") != at(whole, "usage", "completion_tokens") {
				t.Errorf("last event %s %v", e.name, e.data)
			}
			if fmt.Sprint(e.data["json"]) != fmt.Sprint(whole["json"]) {
				t.Errorf("json %v, want %v", e.data["json"], whole["json"])
			}
		case e.name != "token":
			t.Errorf("event %s", e.name)
		default:
			text.WriteString(e.data["text"].(string))
		}
	}
	want := map[string]any{"": whole["json"], "/name": at(whole, "json", "name"), "/age": at(whole, "json", "age")}
	if !reflect.DeepEqual(fields, want) {
		t.Errorf("fields %v, want %v", fields, want)
	}
	if text.String() != whole["text"] {
		t.Errorf("stream %q, whole %q", text.String(), whole["text"])
	}
	if len(events) < 4 {
		t.Errorf("only %d events", len(events))
	}

	_, events = postStream(t, url+"/generate", `{"prompt": "x", "max_tokens": 6, "n": 2, "seed": 3, "stream": true, "logprobs": true}`)
	done, tokens := map[float64]bool{}, map[float64]int{}
	for _, e := range events {
		index := e.data["index"].(float64)
		if e.name == "done" {
			done[index] = true
			continue
		}
		tokens[index] += len(e.data["logprobs"].([]any))
	}
	if !done[0] || !done[1] || len(done) != 2 || tokens[0] == 0 || tokens[1] == 0 {
		t.Errorf("two choices: %v", events)
	}
}

// TestStreamErrors checks that errors before the first byte are ordinary error responses, and later ones the last
// event.
func TestStreamErrors(t *testing.T) {
	_, url := start(t, setup{opt: scripted.Options{Fault: func(n int, _ *backend.Batch) error {
		if n == 4 {
			return fmt.Errorf("the device is gone")
		}
		return nil
	}}})
	status, _, got := post(t, url+"/generate", `{"prompt": "x", "stream": true, "top_k": -2}`)
	if status != 400 || at(got, "error", "param") != "top_k" {
		t.Errorf("%d %v", status, got)
	}
	resp, events := postStream(t, url+"/generate", `{"prompt": "x", "max_tokens": 30, "stream": true, `+endless(t)+`}`)
	last := events[len(events)-1]
	if resp.StatusCode != 200 || last.name != "error" || at(last.data, "error", "code") != "internal_error" {
		t.Errorf("%d %v", resp.StatusCode, events)
	}
	if strings.Contains(fmt.Sprint(last.data), "device") {
		t.Errorf("the server's own failure is shown: %v", last.data)
	}
}

// TestHangUp checks that a sequence is freed within a step when the client disconnects in mid-stream.
func TestHangUp(t *testing.T) {
	const step = 20 * time.Millisecond
	srv, url := start(t, setup{opt: scripted.Options{Delay: step}})
	stats := func() engine.Stats { return srv.models.SomeServed().Engine.Stats() }
	for _, stream := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		body := fmt.Sprintf(`{"prompt": "x", "max_tokens": 3000, "stream": %t, %s}`, stream, endless(t))
		gone := hangingUp(ctx, t, url+"/generate", body)
		before := stats().Decodes
		poll.Until(func() bool { return stats().Decodes >= before+5 })
		cancelled := stats().Cancelled
		decodes := stats().Decodes
		cancel()
		<-gone
		poll.Until(func() bool { return stats().Active == 0 })
		if extra := stats().Decodes - decodes; extra > 2 {
			t.Errorf("stream %t: %d more decodes after the client hung up", stream, extra)
		}
		if stats().Cancelled != cancelled+1 {
			t.Errorf("stream %t: not counted as cancelled", stream)
		}
	}
}

func TestQueueFull(t *testing.T) {
	_, url := start(t, setup{opt: scripted.Options{Delay: 5 * time.Millisecond}, eng: engine.Config{Parallel: 1, Queue: 1}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	// The second request must not arrive before the first one runs: it would be one too many.
	for waiting := range 2 {
		req, err := http.NewRequestWithContext(ctx, "POST", url+"/generate", strings.NewReader(`{"prompt": "x", "max_tokens": 3000, `+endless(t)+`}`))
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			if resp, err := http.DefaultClient.Do(req); err == nil {
				resp.Body.Close()
			}
		})
		poll.Until(func() bool {
			resp, err := http.Get(url + "/readyz")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			var ready readyReply
			if err := json.NewDecoder(resp.Body).Decode(&ready); err != nil {
				t.Fatal(err)
			}
			return ready.Active == 1 && ready.Queued == waiting
		})
	}
	status, header, got := post(t, url+"/generate", `{"prompt": "x"}`)
	if status != 429 || header.Get("Retry-After") == "" || at(got, "error", "type") != "rate_limit_error" {
		t.Errorf("%d %v %v", status, header, got)
	}
	cancel()
	wg.Wait()
}

// TestQueueFullOfOneClient checks that a client that fills the queue makes room for another one.
func TestQueueFullOfOneClient(t *testing.T) {
	begun, goOn := make(chan bool), make(chan bool)
	srv, url := start(t, setup{
		opt: scripted.Options{Fault: func(n int, _ *backend.Batch) error {
			if n == 0 {
				close(begun)
				<-goOn
			}
			return nil
		}},
		eng: engine.Config{Parallel: 1, Queue: 2}, cfg: Config{Access: access.Config{Keys: []string{"one", "other"}}},
	})
	release := sync.OnceFunc(func() { close(goOn) })
	t.Cleanup(release)
	stats := func() engine.Stats { return srv.models.SomeServed().Engine.Stats() }
	const body = `{"prompt": "x", "max_tokens": 3}`
	type answer struct {
		key    string
		status int
		header http.Header
		body   map[string]any
	}
	answers := make(chan answer, 4)
	ask := func(key string) {
		if resp := postAs(t, key, url+"/generate", strings.NewReader(body)); resp != nil {
			answers <- answer{key, resp.StatusCode, resp.Header, decoded(t, resp)}
			return
		}
		answers <- answer{key: key}
	}
	go ask("one")
	<-begun
	for i := range 2 {
		go ask("one")
		poll.Until(func() bool { return stats().Queued == i+1 })
	}
	go ask("other")
	if a := <-answers; a.key != "one" || a.status != 429 || a.header.Get("Retry-After") == "" || at(a.body, "error", "code") != "queue_full" {
		t.Errorf("the newest of the first client: %+v", a)
	}
	release()
	for range 3 {
		if a := <-answers; a.status != 200 {
			t.Errorf("one of the others: %+v", a)
		}
	}
}

func TestLoadingAndHealth(t *testing.T) {
	srv := New(Config{Log: slog.New(slog.DiscardHandler), Version: "1.2"})
	h := httptest.NewServer(srv.Handler())
	defer h.Close()
	get := func(path string) (int, http.Header, string) {
		resp, err := http.Get(h.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header, string(raw)
	}
	if status, _, body := get("/healthz"); status != 200 || body != `{"status":"ok","version":"1.2"}`+"\n" {
		t.Errorf("healthz: %d %q", status, body)
	}
	if status, header, body := get("/readyz"); status != 503 || header.Get("Retry-After") == "" || !strings.Contains(body, "loading") {
		t.Errorf("readyz: %d %q", status, body)
	}
	if status, _, got := post(t, h.URL+"/generate", `{"prompt": "x"}`); status != 503 || at(got, "error", "code") != "loading" {
		t.Errorf("generate: %d %v", status, got)
	}
	e, err := engine.New(scripted.New(loadVocab(t), scripted.Random(1), scripted.Options{}), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := srv.SetModel("tiny", e); err != nil {
		t.Fatal(err)
	}
	if status, _, body := get("/readyz"); status != 200 || !strings.Contains(body, `"model":"tiny"`) {
		t.Errorf("readyz: %d %q", status, body)
	}
	status, _, body := get("/v1/models")
	var list struct {
		FirstID string `json:"first_id"`
		Data    []struct {
			ID            string
			ContextLength int `json:"context_length"`
		}
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != 200 || len(list.Data) != 1 || list.Data[0].ID != "tiny" || list.FirstID != "tiny" || list.Data[0].ContextLength != 4096 {
		t.Errorf("models: %d %s", status, body)
	}
	for _, c := range []struct{ method, path, allowed string }{
		{"GET", "/generate", "POST"}, {"PUT", "/feedback", "POST, GET"}, {"POST", "/v1/models/tiny", "GET"}, {"PATCH", "/v1/messages", "POST"},
		{"DELETE", "/api/chat", "POST"}, {"PUT", "/props", "POST, GET"}, {"POST", "/", "GET, HEAD"}, {"BREW", "/v1/responses/resp_1", "GET, DELETE"},
	} {
		status, header, body := send(t, c.method, h.URL+c.path, "")
		if said := "this path takes " + c.allowed + ", not " + c.method; status != 405 || header.Get("Allow") != c.allowed || !strings.Contains(body, said) {
			t.Errorf("%s %s: %d, Allow: %s, %s", c.method, c.path, status, header.Get("Allow"), body)
		}
	}
	if status, _, body := get("/nowhere"); status != 404 || !strings.Contains(body, "not_found") {
		t.Errorf("GET /nowhere: %d %s", status, body)
	}
}

// TestGracefulShutdown checks that a request running at shutdown is answered.
func TestGracefulShutdown(t *testing.T) {
	v := loadVocab(t)
	e, err := engine.New(scripted.New(v, scripted.Random(1), scripted.Options{Delay: 5 * time.Millisecond}), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	srv := New(Config{Log: slog.New(slog.DiscardHandler)})
	if err := srv.SetModel("tiny", e); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, l, 10*time.Second) }()
	url := "http://" + l.Addr().String()
	answered := make(chan map[string]any, 1)
	go func() {
		_, _, got := post(t, url+"/generate", `{"prompt": "x", "max_tokens": 40, `+endless(t)+`}`)
		answered <- got
	}()
	poll.Until(func() bool { return e.Stats().Active != 0 })
	stop()
	if got := <-answered; at(got, "usage", "completion_tokens") != 40.0 {
		t.Errorf("the running request: %v", got)
	}
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	if _, err := http.Post(url+"/generate", "application/json", strings.NewReader(`{"prompt": "x"}`)); err == nil {
		t.Error("a request after the shutdown was answered")
	}
}

// TestLogsHoldNoText checks that logs name requests but never their texts.
func TestLogsHoldNoText(t *testing.T) {
	var buf lockedBuffer
	log := slog.New(slog.NewJSONHandler(&buf, &slog.HandlerOptions{Level: slog.LevelDebug}))
	_, url := start(t, setup{reply: " secret reply", cfg: Config{Log: log}})
	req, err := http.NewRequest("POST", url+"/generate", strings.NewReader(`{"prompt": "secret prompt", "max_tokens": 30, "temperature": 0}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Request-Id", "abc-123")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if resp.Header.Get("X-Request-Id") != "abc-123" {
		t.Errorf("request id %q", resp.Header.Get("X-Request-Id"))
	}
	post(t, url+"/generate", `{"prompt": "secret prompt", "schema": {"secret": 1, "type": "secret"}}`)
	poll.Until(func() bool { return strings.Contains(buf.String(), `"code":"invalid_schema"`) }) // logged after the answer
	lines := buf.String()
	if strings.Contains(lines, "secret") {
		t.Errorf("log: %s", lines)
	}
	for _, want := range []string{`"id":"abc-123"`, `"status":200`, `"completion_tokens":`, `"code":"invalid_schema"`} {
		if !strings.Contains(lines, want) {
			t.Errorf("log lacks %s: %s", want, lines)
		}
	}
}
