// Package agents holds the tests that run coding agents, unmodified, against the server.
package agents

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/server"
	"github.com/stencil-json/stencil/vocab"
)

// TestCodingAgents runs agents on a task with a scripted model. They run in a network namespace of their own, in which
// they can reach only the server.
func TestCodingAgents(t *testing.T) {
	if os.Getenv(inside) == "" {
		runInside(t)
		return
	}
	dir := install(t)
	t.Run("ClaudeCode", func(t *testing.T) { claudeCode(t, dir) })
	t.Run("Codex", func(t *testing.T) { codex(t, dir) })
}

// inside is the environment variable that is set within the namespace.
const inside = "STENCIL_AGENTS_INSIDE"

// runInside runs the test again in a network namespace of its own.
func runInside(t *testing.T) {
	platform(t)
	install(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestCodingAgents$", "-test.v", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), inside+"=1")
	if err := isolate(cmd); err != nil {
		t.Skip("no network namespaces here, so coding agents are not run:", err)
	}
	out, err := cmd.CombinedOutput()
	if t.Logf("%s", out); err != nil {
		t.Error(err)
	}
}

// install installs the agents in a folder of the user's cache and returns its node_modules.
func install(t *testing.T) string {
	t.Helper()
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "stencil", "agents", hex.EncodeToString(sum[:6]))
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return filepath.Join(dir, "node_modules")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("no npm: coding agents are not run")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		src, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), src, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the coding agents can't be fetched: %v\n%s", err, out)
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "node_modules")
}

// coder is a vocabulary with the chat template of a model that can call tools.
var coder = sync.OnceValues(func() (*vocab.Vocab, error) {
	dir, err := os.MkdirTemp("", "stencil-agents-test")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tiny.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Layers: 1, Width: 16}); err != nil {
		return nil, err
	}
	tiny, err := vocab.Load(path)
	if err != nil {
		return nil, err
	}
	template, err := os.ReadFile(filepath.Join("..", "..", "..", "chat", "testdata", "qwen25.jinja"))
	if err != nil {
		return nil, err
	}
	var tokens []vocab.Token
	eos := int32(0)
	for id := range int32(tiny.Len()) {
		tokens = append(tokens, vocab.Token{Text: tiny.Text(id), Kind: tiny.Kind(id)})
		if tiny.Text(id) == turnEnd {
			eos = id
		}
	}
	return vocab.FromTokens(tokens, vocab.Options{Model: vocab.BPE, Pre: "gpt-2", EOS: &eos, ChatTemplate: string(template)})
})

const (
	turnBegin = "<|im_start|>"
	turnEnd   = "<|im_end|>"
)

// A turn is the text between two marks of a prompt.
type turn struct{ role, text string }

func turnsOf(v *vocab.Vocab, history []int32) (out []turn) {
	from := -1
	cut := func(to int) {
		if from >= 0 {
			role, text, _ := strings.Cut(string(v.Decode(history[from:to])), "\n")
			out = append(out, turn{role, text})
		}
	}
	for i, id := range history {
		if v.Text(id) == turnBegin {
			cut(i)
			from = i + 1
		}
	}
	cut(len(history))
	return out
}

// work returns a model that answers the task with the replies in order, and everything else with one word.
func work(v *vocab.Vocab, task string, replies []string) scripted.Func {
	return func(history []int32, logits []float32) {
		turns := turnsOf(v, history)
		reply, step, at := "fine", 0, false
		for _, one := range turns[:len(turns)-1] {
			switch {
			case one.role == "user" && strings.Contains(one.text, task):
				at = true
			case one.role == "assistant" && at:
				step++
			}
		}
		if at && step < len(replies) {
			reply = replies[step]
		}
		written := turns[len(turns)-1].text
		rest, ok := strings.CutPrefix(reply, written)
		if !ok || rest == "" {
			logits[v.EOG()[0]] = scripted.Strong
			return
		}
		for id := range logits {
			if b := v.Bytes(int32(id)); len(b) > 0 && strings.HasPrefix(rest, string(b)) {
				logits[id] = scripted.Strong + float32(len(b))
			}
		}
	}
}

// call returns a tool call in the model's form: arguments have blanks after colons and commas.
func call(name, arguments string) string {
	return fmt.Sprintf("<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>", name, arguments)
}

// records collects a server's log lines.
type records struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (r *records) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all.Write(p)
}

// A record is the log line of a request.
type record struct {
	Path   string `json:"path"`
	Status int    `json:"status"`
	Prompt int    `json:"prompt_tokens"`
	Cached int    `json:"cached_tokens"`
}

// of returns the records of requests to a path.
func (r *records) of(t *testing.T, path string) (out []record) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range bytes.Lines(r.all.Bytes()) {
		var one record
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		if one.Path == path {
			out = append(out, one)
		}
	}
	return out
}

// serve starts a server whose model does the task with the replies.
func serve(t *testing.T, replies ...string) (url string, log *records) {
	t.Helper()
	v, err := coder()
	if err != nil {
		t.Fatal(err)
	}
	const context = 1 << 20
	e, err := engine.New(
		scripted.New(v, work(v, task, replies), scripted.Options{ContextLength: context}),
		engine.Config{Context: backend.ContextParams{Size: context, MaxBatch: 4096}, PrefillChunk: 4096},
	)
	if err != nil {
		t.Fatal(err)
	}
	log = new(records)
	s := server.New(server.Config{Log: slog.New(slog.NewJSONHandler(log, nil)), Version: "0.0.1"})
	if err := s.SetModel("scripted", e); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		h.Close()
		e.Close()
	})
	return h.URL, log
}

// The task requires reading, editing and running a command.
const (
	task   = "Change the greeting in hello.txt to good evening, then check it."
	before = "good morning\n"
	after  = "good evening\n"
)

// workspace returns a folder that contains the task's file.
func workspace(t *testing.T) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, "hello.txt")
	if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

// judge runs an agent and checks the results: its exit status, its output, the file that it edited and the one that
// its command created. Every request must have been answered, and each but the first must have reused the prefix
// cache.
func judge(t *testing.T, cmd *exec.Cmd, said string, log *records, path string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte(said)) {
		t.Errorf("it does not say %q:\n%s", said, out)
	}
	for _, name := range []string{"hello.txt", "checked.txt"} {
		if got, err := os.ReadFile(filepath.Join(cmd.Dir, name)); err != nil || string(got) != after {
			t.Errorf("%s: %q %v\n%s", name, got, err, out)
		}
	}
	requests := log.of(t, path)
	if len(requests) < 4 {
		t.Errorf("requests %v", requests)
	}
	const news = 1000 // tokens of a call and its result
	for i, r := range requests {
		if r.Status != 200 || i > 0 && r.Prompt-r.Cached > news {
			t.Errorf("request %d: %+v", i, r)
		}
	}
}

// claudeCode runs Claude Code, which uses Anthropic's dialect.
func claudeCode(t *testing.T, modules string) {
	dir, file := workspace(t)
	url, log := serve(t,
		"I read the file first.\n"+call("Read", fmt.Sprintf(`{"file_path": %q}`, file)),
		call("Edit", fmt.Sprintf(`{"file_path": %q, "old_string": "morning", "new_string": "evening"}`, file)),
		call("Bash", `{"command": "cp hello.txt checked.txt", "description": "Copy the file"}`),
		"All done.",
	)
	cmd := exec.CommandContext(t.Context(), filepath.Join(modules, "@anthropic-ai", "claude-code-"+platform(t), "claude"),
		"-p", task, "--allowedTools", "Read,Edit,Bash", "--output-format", "json")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "ANTHROPIC_BASE_URL="+url, "ANTHROPIC_AUTH_TOKEN=none", "ANTHROPIC_MODEL=scripted")
	judge(t, cmd, `"result":"All done."`, log, "/v1/messages")
}

// codex runs Codex, which uses OpenAI's newer dialect.
func codex(t *testing.T, modules string) {
	dir, _ := workspace(t)
	url, log := serve(t,
		"I read the file first.\n"+call("exec_command", `{"cmd": "cat hello.txt"}`),
		call("exec_command", `{"cmd": "sed -i s/morning/evening/ hello.txt"}`),
		call("exec_command", `{"cmd": "cp hello.txt checked.txt"}`),
		"All done.",
	)
	home := t.TempDir()
	config := fmt.Sprintf(`model = "scripted"
model_provider = "stencil"

[model_providers.stencil]
name = "stencil"
base_url = %q
wire_api = "responses"
`, url+"/v1")
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	programs, err := filepath.Glob(filepath.Join(modules, "@openai", "codex-"+platform(t), "vendor", "*", "*", "codex"))
	if err != nil || len(programs) != 1 {
		t.Fatal(programs, err)
	}
	cmd := exec.CommandContext(t.Context(), programs[0], "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", task)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "CODEX_HOME="+home)
	judge(t, cmd, "All done.", log, "/v1/responses")
}

// platform returns the name of this platform in npm packages of binaries.
func platform(t *testing.T) string {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if runtime.GOOS != "linux" || arch == "" {
		t.Skip("coding agents are run on Linux, x86-64 and Arm")
	}
	return "linux-" + arch
}
