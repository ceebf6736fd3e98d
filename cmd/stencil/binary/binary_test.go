//go:build llama && cgo

// Package binary tries on the program itself what the documentation says of it: stencil is built once, run as a command
// and asked over HTTP, beside upstreams that answer by a script. The packages below have tests of their own; these hold
// that what users call is wired to them.
//
// STENCIL_TEST_BINARY names another build to try, an older one for example.
package binary

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// folder holds what tests share: the program, a model, the home folder of what is run.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "stencil-binary"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if shared != nil {
		shared.stop()
	}
	os.RemoveAll(folder)
	os.Exit(code)
}

// program returns the path of stencil, which it builds.
var program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("STENCIL_TEST_BINARY"); path != "" {
		return path, nil
	}
	path := filepath.Join(folder, "stencil")
	if out, err := exec.Command("go", "build", "-o", path, "..").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

// environment is what programs are started with: a home folder of their own, and no variables of ours.
func environment(more ...string) []string {
	own := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "STENCIL_") || strings.HasPrefix(v, "XDG_") || strings.HasPrefix(v, "HOME=")
	})
	return append(own, append([]string{"HOME=" + filepath.Join(folder, "home"), "STENCIL_THREADS=1"}, more...)...)
}

// A run is how the program is run once.
type run struct {
	stdin string
	env   []string // beside environment
	dir   string   // the working folder; "": an empty one
}

// of runs the program to its end.
func (r run) of(t testing.TB, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(r.stdin), &out, &errs
	cmd.Env, cmd.Dir = environment(r.env...), r.dir
	if cmd.Dir == "" {
		cmd.Dir = t.TempDir()
	}
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// stencil runs the program with nothing on its standard input.
func stencil(t testing.TB, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	return run{}.of(t, args...)
}

// write writes a file in a folder of the test.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// randomModel returns a model file with random weights, which the program has made: what it writes differs from seed to seed.
var randomModel = sync.OnceValues(func() (string, error) {
	path, err := program()
	if err != nil {
		return "", err
	}
	model := filepath.Join(folder, "tiny.gguf")
	cmd := exec.Command(path, "mkmodel", model)
	cmd.Env = environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return model, nil
})

func tiny(t testing.TB) string {
	t.Helper()
	path, err := randomModel()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A server is a process of "stencil serve".
type server struct {
	url string
	far *upstream // that of serveShared
	cmd *exec.Cmd

	mu  sync.Mutex
	log strings.Builder
}

// Write implements io.Writer for the log.
func (s *server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

// logged returns what the server has logged so far.
func (s *server) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

func (s *server) stop() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	s.cmd.Wait()
}

// start starts a server on a free port.
func start(env []string, args ...string) (*server, error) {
	path, err := program()
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(path, append([]string{"serve", "--port", "0", "--feedback", ""}, args...)...)}
	s.cmd.Env, s.cmd.Dir, s.cmd.Stderr = environment(env...), folder, s
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for s.url == "" && lines.Scan() {
		if _, after, ok := strings.Cut(lines.Text(), " on http"); ok && strings.HasPrefix(lines.Text(), "Serving ") {
			s.url = "http" + after
		}
	}
	if s.url == "" {
		s.cmd.Wait()
		return nil, fmt.Errorf("serve %q ended: %s", args, s.logged())
	}
	go io.Copy(io.Discard, out)
	return s, nil
}

// serve starts a server for one test.
func serve(t testing.TB, args ...string) *server {
	t.Helper()
	s, err := start(nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

var (
	shared    *server
	startOnce = sync.OnceValue(func() error {
		model, err := randomModel()
		if err != nil {
			return err
		}
		far := newUpstream()
		shared, err = start(nil, "--model", model, "--upstream", far.URL+"/v1", "--upstream-model", "far", "--upstream-capabilities", "none", "--upstream-retries", "0")
		if shared != nil {
			shared.far = far
		}
		return err
	})
)

// serveShared returns the server that most tests ask. Its models are "tiny", with random weights, and "far", an upstream that
// can do nothing but write texts.
func serveShared(t testing.TB) *server {
	t.Helper()
	if err := startOnce(); err != nil {
		t.Fatal(err)
	}
	return shared
}

// An answer is what a server has said.
type answer struct {
	status int
	raw    string
	body   any
}

// at returns a value of the body by the names and indices that lead to it, nil if it isn't there.
func (a answer) at(path ...any) any { return at(a.body, path...) }

// text returns a string of the body; "" if there is none.
func (a answer) text(path ...any) string {
	s, _ := a.at(path...).(string)
	return s
}

func (a answer) String() string { return fmt.Sprintf("%d %.1500s", a.status, a.raw) }

func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				return nil
			}
			v = list[p]
		}
	}
	return v
}

// post sends a body.
func (s *server) post(t testing.TB, path, body string) answer {
	t.Helper()
	resp, err := http.Post(s.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, s.logged())
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, raw: string(raw)}
	json.Unmarshal(raw, &a.body) // streams are none
	return a
}

// quoted returns a text as JSON.
func quoted(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// An upstream is a server with OpenAI's API whose model says what a script has, one text a request and the last one for all
// that follow.
type upstream struct {
	*httptest.Server

	mu    sync.Mutex
	texts []string
	asked []map[string]any
}

func newUpstream(texts ...string) *upstream {
	u := &upstream{texts: texts}
	u.Server = httptest.NewServer(u)
	return u
}

// script replaces what is said, and forgets what was asked.
func (u *upstream) script(texts ...string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.texts, u.asked = texts, nil
}

// requests returns the bodies that have come.
func (u *upstream) requests() []map[string]any {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.asked
}

// told returns the content of a request's message; a negative number counts from the end.
func (u *upstream) told(request, message int) string {
	list, _ := at(append([]map[string]any{}, u.requests()...)[request], "messages").([]any)
	if message < 0 {
		message += len(list)
	}
	text, _ := at(list[message], "content").(string)
	return text
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		io.WriteString(w, `{"data": [{"id": "far"}]}`)
		return
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	u.mu.Lock()
	text := u.texts[min(len(u.asked), len(u.texts)-1)]
	u.asked = append(u.asked, body)
	u.mu.Unlock()
	json.NewEncoder(w).Encode(map[string]any{
		"model": "far", "usage": map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text}}},
	})
}
