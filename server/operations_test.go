package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/server/access"
)

func send(t *testing.T, method, url, body string, header ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

// A browser gets a page at /; whoever doesn't ask for one is told what Ollama says.
func TestHome(t *testing.T) {
	_, url := start(t, setup{})
	for _, header := range [][]string{nil, {"Accept", "*/*"}, {"Accept", "application/json"}} {
		if status, _, text := send(t, "GET", url+"/", "", header...); status != 200 || text != "Ollama is running" {
			t.Errorf("%v: %d %s", header, status, text)
		}
	}
	status, h, text := send(t, "GET", url+"/", "", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	if status != 200 || !strings.HasPrefix(h.Get("Content-Type"), "text/html") || !strings.Contains(text, "<li>tiny</li>") || !strings.Contains(text, "curl -s "+url+"/generate_json") {
		t.Errorf("%d %v %s", status, h, text)
	}
	if foreign := regexp.MustCompile(`(src|href)="[^/]`).FindString(text); foreign != "" || !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("the page asks for %s, under %q", foreign, h.Get("Content-Security-Policy"))
	}
}

func TestAPIKeys(t *testing.T) {
	_, url := start(t, setup{cfg: Config{Access: access.Config{Keys: []string{"one", "two"}}}})
	for _, test := range []struct {
		path   string
		header []string
		status int
		says   string
	}{
		{"/v1/models", nil, 401, `"code":"invalid_api_key"`},
		{"/v1/models", []string{"Authorization", "Bearer three"}, 401, `"type":"authentication_error"`},
		{"/v1/models", []string{"Authorization", "Basic one"}, 401, ""},
		{"/v1/models", []string{"Authorization", "Bearer "}, 401, ""},
		{"/v1/models", []string{"Authorization", "Bearer two"}, 200, ""},
		{"/v1/models", []string{"Authorization", "bearer one"}, 200, ""},
		{"/v1/models", []string{"X-Api-Key", "one"}, 200, ""},
		{"/v1/models", []string{"Anthropic-Version", "2023-06-01", "X-Api-Key", "no"}, 401, `{"type":"error","error":{"type":"authentication_error"`},
		{"/api/tags", nil, 401, `{"error":"missing or invalid API key"}`},
		{"/metrics", nil, 401, ""},
		{"/nowhere", nil, 401, ""},
		{"/healthz", nil, 200, ""},
		{"/readyz", nil, 200, ""},
	} {
		status, header, body := send(t, "GET", url+test.path, "", test.header...)
		if status != test.status || !strings.Contains(body, test.says) || status == 401 && header.Get("X-Should-Retry") != "false" {
			t.Errorf("%s %v: %d %s", test.path, test.header, status, body)
		}
	}
}

// TestLlamaMetrics checks the metrics under llama-server's names.
func TestLlamaMetrics(t *testing.T) {
	_, url := start(t, setup{reply: " hello there", cfg: Config{LlamaMetrics: true}})
	_, _, got := post(t, url+"/completion", `{"prompt":"say","n_predict":2}`)
	_, header, text := send(t, "GET", url+"/metrics", "")
	for _, want := range []string{
		fmt.Sprintf("# TYPE llamacpp:prompt_tokens_total counter\nllamacpp:prompt_tokens_total %v\n", at(got, "timings", "prompt_n")),
		"\nllamacpp:tokens_predicted_total 2\n", "\nllamacpp:requests_processing 0\n", "\n# TYPE llamacpp:predicted_tokens_seconds gauge\n",
		fmt.Sprintf("\nllamacpp:n_tokens_max %v\n", at(got, "tokens_cached")),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if at, err := strconv.ParseInt(header.Get("Process-Start-Time-Unix"), 10, 64); err != nil || at <= 0 {
		t.Errorf("%v", header)
	}
	_, url = start(t, setup{})
	if _, header, text := send(t, "GET", url+"/metrics", ""); strings.Contains(text, "llamacpp:") || header.Get("Process-Start-Time-Unix") != "" {
		t.Error("llama-server's names without being asked for")
	}
}

func TestCORS(t *testing.T) {
	_, named := start(t, setup{cfg: Config{Access: access.Config{Origins: []string{"https://a.example"}, Keys: []string{"k"}}}})
	_, all := start(t, setup{cfg: Config{Access: access.Config{Origins: []string{"*"}}}})
	_, own := start(t, setup{})
	for _, test := range []struct{ url, origin, granted string }{
		{named, "https://a.example", "https://a.example"},
		{named, "https://b.example", ""},
		{all, "https://b.example", "https://b.example"},
		{own, "http://localhost:3000", "http://localhost:3000"},
		{own, "http://localhost.evil.example", ""},
		{own, "null", ""},
	} {
		status, header, body := send(t, "OPTIONS", test.url+"/v1/chat/completions", "", "Origin", test.origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization")
		methods, headers := "GET, POST, DELETE, OPTIONS", "authorization"
		if test.granted == "" {
			methods, headers = "", ""
		}
		if status != 200 || body != "" || header.Get("Access-Control-Allow-Origin") != test.granted || header.Get("Access-Control-Allow-Methods") != methods || header.Get("Access-Control-Allow-Headers") != headers {
			t.Errorf("%s asks: %d %v", test.origin, status, header)
		}
		network := map[bool]string{true: "true"}[test.granted != ""]
		if header.Get("Access-Control-Allow-Private-Network") != "" {
			t.Errorf("%s, not asked: %v", test.origin, header)
		}
		_, header, _ = send(t, "OPTIONS", test.url+"/v1/chat/completions", "", "Origin", test.origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Private-Network", "true")
		if header.Get("Access-Control-Allow-Private-Network") != network {
			t.Errorf("%s asks for a private network: %v", test.origin, header)
		}
		if _, header, _ = send(t, "GET", test.url+"/healthz", "", "Origin", test.origin); header.Get("Access-Control-Allow-Origin") != test.granted {
			t.Errorf("%s: %v", test.origin, header)
		}
	}
}

// ownMetric matches the metrics of stencil, of Go and of the process.
var ownMetric = regexp.MustCompile(`^(stencil|go|process)_`)

func TestMetrics(t *testing.T) {
	_, url := start(t, setup{})
	post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 20, "schema": `+personSchema+`}`)
	post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 20, "schema": `+personSchema+`}`)
	post(t, url+"/generate_json", `{"prompt": "x", "schema": {"$ref": "https://example.com/x"}}`)
	postStream(t, url+"/generate", `{"prompt": "x", "max_tokens": 5, "stream": true}`)
	poll.Until(func() bool { // requests are counted after their answers are sent
		text := metricsOf(t, url)
		return strings.Contains(text, `{path="/generate_json",status="400"} 1`) && strings.Contains(text, `{path="/generate_json",status="200"} 2`) && strings.Contains(text, `{path="/generate",status="200"} 1`)
	})
	status, header, text := send(t, "GET", url+"/metrics", "")
	if status != 200 || !strings.HasPrefix(header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Errorf("%d %v", status, header)
	}
	for _, want := range []string{
		`stencil_requests_total{path="/generate_json",status="200"} 2`, `stencil_requests_total{path="/generate_json",status="400"} 1`,
		`stencil_schema_refusals_total{keyword="$ref"} 1`, `stencil_failures_total{code="unsupported_schema_keyword"} 1`,
		`stencil_queue_seconds_count 3`, `stencil_mask_seconds_count 2`, `stencil_schema_cache_hits_total{model="tiny"} 1`,
		`stencil_model_loaded{model="tiny"} 1`, `stencil_queued{model="tiny"} 0`, "# TYPE stencil_generated_tokens_total counter",
		"# TYPE go_goroutines gauge", "# TYPE go_memstats_heap_alloc_bytes gauge", "# TYPE process_resident_memory_bytes gauge", "# TYPE process_cpu_seconds_total counter",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s in\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); line[0] != '#' && (len(fields) != 2 || !ownMetric.MatchString(line)) {
			t.Errorf("line %q", line)
		}
	}
}

func TestLogBodies(t *testing.T) {
	var b lockedBuffer
	_, url := start(t, setup{reply: "x", cfg: Config{LogBodies: true, Log: slog.New(slog.NewTextHandler(&b, nil))}})
	post(t, url+"/generate", `{"prompt": "my prompt", "max_tokens": 2}`)
	poll.Until(func() bool { return strings.Contains(b.String(), "my prompt") }) // the log is written after the answer
}

// writeCertificate makes a certificate for 127.0.0.1 and its key.
func writeCertificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return cert, key, pool
}

func TestTLS(t *testing.T) {
	cert, key, pool := writeCertificate(t)
	srv := New(Config{Log: slog.New(slog.DiscardHandler), TLSCert: cert, TLSKey: key})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, l, 10*time.Second) }()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	resp, err := client.Get("https://" + l.Addr().String() + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 || resp.ProtoMajor != 2 {
		t.Errorf("%d %s", resp.StatusCode, resp.Proto)
	}
	client.CloseIdleConnections()
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestLoadAndUnload checks that a model is loaded on demand, is unloaded when idle, and makes room when
// memory is short.
func TestLoadAndUnload(t *testing.T) {
	var loads, closes atomic.Int32
	var memory atomic.Int32 // models that fit
	memory.Store(1)
	srv := New(Config{Log: slog.New(slog.DiscardHandler)})
	load := func(context.Context) (Engines, func() error, error) {
		if loads.Load()-closes.Load() >= memory.Load() {
			return Engines{}, nil, fmt.Errorf("model: %w", backend.ErrMemory)
		}
		e, err := engine.New(scripted.New(loadVocab(t), scripted.Random(1), scripted.Options{}), engine.Config{})
		if err != nil {
			return Engines{}, nil, err
		}
		loads.Add(1)
		return Engines{Text: e}, func() error { closes.Add(1); return e.Close() }, nil
	}
	srv.AddModel("a", load, time.Hour)
	srv.AddModel("b", load, time.Hour)
	h := httptest.NewServer(srv.Handler())
	defer func() {
		h.Close()
		if err := srv.CloseModels(); err != nil || loads.Load() != closes.Load() {
			t.Errorf("%v: %d loaded, %d closed", err, loads.Load(), closes.Load())
		}
	}()
	ask := func(model, more string) (int, map[string]any) {
		status, _, got := post(t, h.URL+"/generate", fmt.Sprintf(`{"model": %q, "prompt": "x", "max_tokens": 3%s}`, model, more))
		return status, got
	}
	loaded := func() string {
		_, _, text := send(t, "GET", h.URL+"/api/ps", "")
		return text
	}
	if strings.Contains(loaded(), `"name"`) {
		t.Error("a model is loaded before it is asked for")
	}
	if status, got := ask("a", ""); status != 200 || got["model"] != "a" || loads.Load() != 1 {
		t.Errorf("%d %v, %d loads", status, got, loads.Load())
	}
	if status, got := ask("b", ""); status != 200 || got["model"] != "b" || closes.Load() != 1 || !strings.Contains(loaded(), `"name":"b"`) {
		t.Errorf("%d %v, %d closes: %s", status, got, closes.Load(), loaded())
	}
	if status, _ := ask("b", `, "keep_alive": 0`); status != 200 {
		t.Error(status)
	}
	poll.Until(func() bool { return closes.Load() == 2 })
	if status, _ := ask("a", `, "keep_alive": "20ms"`); status != 200 {
		t.Error(status)
	}
	poll.Until(func() bool { return closes.Load() == 3 })
	memory.Store(0)
	if status, got := ask("a", ""); status != 422 || at(got, "error", "code") != "not_enough_memory" {
		t.Errorf("%d %v", status, got)
	}
	memory.Store(2)
	status, _, got := post(t, h.URL+"/api/generate", `{"model": "a"}`)
	if status != 200 || got["done_reason"] != "load" || !strings.Contains(loaded(), `"name":"a"`) {
		t.Errorf("%d %v", status, got)
	}
	status, _, got = post(t, h.URL+"/api/generate", `{"model": "a", "keep_alive": 0}`)
	if status != 200 || got["done_reason"] != "unload" || strings.Contains(loaded(), `"name":"a"`) {
		t.Errorf("%d %v", status, got)
	}
	if status, _, got := post(t, h.URL+"/generate", `{"model": "c", "prompt": "x"}`); status != 404 || at(got, "error", "message") != `model "c" not found: it is not served here; "a", "b" are` {
		t.Errorf("%d %v", status, got)
	}
}

// TestWebPages checks that a web page can't use the server: not under a name of its own for this machine,
// not from its own origin, not with a form.
func TestWebPages(t *testing.T) {
	_, url := start(t, setup{})
	paths := map[string]string{
		"GET /v1/models": "", "GET /metrics": "", "GET /readyz": "", "GET /api/tags": "", "GET /nowhere": "", "OPTIONS /generate": "",
		"POST /generate": `{"prompt": "x"}`, "POST /agent/run": `{"query": "read secrets.txt"}`, "POST /feedback": `{}`,
		"POST /v1/chat/completions": `{}`, "POST /v1/messages": `{}`, "POST /api/chat": `{}`, "POST /v1/embeddings": `{}`,
	}
	for route, body := range paths {
		method, path, _ := strings.Cut(route, " ")
		for _, test := range []struct {
			host, origin, content string
			status                int
			code                  string
		}{
			{"evil.example", "", "application/json", 403, "host_not_allowed"},
			{"", "http://evil.example", "application/json", 403, "origin_not_allowed"},
			{"", "null", "application/json", 403, "origin_not_allowed"},
			{"", "http://localhost:1", "text/plain", 415, "unsupported_media_type"},
		} {
			if test.status == 415 && body == "" {
				continue
			}
			req, err := http.NewRequest(method, url+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if test.host != "" {
				req.Host = test.host
			}
			if test.origin != "" {
				req.Header.Set("Origin", test.origin)
			}
			req.Header.Set("Content-Type", test.content)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != test.status || resp.Header.Get("Access-Control-Allow-Origin") != "" && test.status == 403 {
				t.Errorf("%s, %+v: %d %v", route, test, resp.StatusCode, resp.Header)
			}
			if text, err := io.ReadAll(resp.Body); err != nil || path == "/generate" && method == "POST" && !strings.Contains(string(text), test.code) {
				t.Errorf("%s: %s %v", route, text, err)
			}
			resp.Body.Close()
		}
	}
	if status, _, _ := post(t, url+"/generate", `{"prompt": "x", "max_tokens": 2}`); status != 200 {
		t.Error(status)
	}
}
