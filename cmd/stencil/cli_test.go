package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/cmd/stencil/config"
	"github.com/stencil-json/stencil/cmd/stencil/download"
	"github.com/stencil-json/stencil/gbnf"
)

// run runs the program with the given arguments and returns its output.
func run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd := newRootCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&errOut)
	cmd.SetIn(strings.NewReader("a prompt from standard input"))
	err = cmd.ExecuteContext(t.Context())
	return out.String(), errOut.String(), err
}

func TestMkmodelAndInspect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	out, _, err := run(t, "mkmodel", path, "--layers", "3", "--width", "32", "--type", "q8_0", "--seed", "5")
	if err != nil || !strings.HasPrefix(out, path+": ") {
		t.Fatalf("mkmodel: %q, %v", out, err)
	}
	out, _, err = run(t, "inspect", path, "--tensors", "--context", "1024")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"llama.block_count                       uint32", "general.architecture", "blk.2.ffn_down.weight", "Q8_0",
		"640 tokens (637 normal, 3 control), BPE", "end of generation: <|endoftext|> (637), <|im_end|> (639)",
		"memory with a context of 1,024 tokens",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("inspect lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "incomplete") {
		t.Errorf("inspect: %s", out)
	}
	out, _, err = run(t, "inspect", path, "--template")
	if err != nil || !strings.Contains(out, "add_generation_prompt") || strings.Contains(out, "general.") {
		t.Errorf("inspect --template: %q, %v", out, err)
	}
	if _, _, err := run(t, "mkmodel", path, "--type", "q9"); err == nil || !strings.Contains(err.Error(), "q9") {
		t.Errorf("type q9: %v", err)
	}

	// A truncated file must be recognised by inspect, and by the final check of
	// pull.
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw[:len(raw)-100], 0o644); err != nil {
		t.Fatal(err)
	}
	if out, _, err = run(t, "inspect", path); err == nil && !strings.Contains(out, "incomplete") {
		t.Errorf("inspect of a cut file: %s", out)
	}
	if err := download.CheckModel(path); err == nil {
		t.Error("a cut file passes for a model")
	}
	if _, _, err := run(t, "inspect", path+".none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("inspect of nothing: %v", err)
	}
}

// withoutFeedback unsets the variable for --feedback, which is set for all tests.
func withoutFeedback(t *testing.T) {
	t.Helper()
	name := config.Variable("feedback")
	t.Setenv(name, "") // so that it is restored at the end of the test
	if err := os.Unsetenv(name); err != nil {
		t.Fatal(err)
	}
}

func TestEnvironment(t *testing.T) {
	withoutFeedback(t)
	newCommand := func(got *int) *cobra.Command {
		cmd := &cobra.Command{Use: "x", PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return configure(cmd) },
			RunE: func(*cobra.Command, []string) error { return nil }, SilenceErrors: true, SilenceUsage: true}
		cmd.Flags().IntVar(got, "max-tokens", 7, "")
		return cmd
	}
	for _, test := range []struct {
		env  string
		args []string
		want int
		fail string
	}{
		{"", nil, 7, ""},
		{"12", nil, 12, ""},
		{"12", []string{"--max-tokens", "3"}, 3, ""},
		{"twelve", nil, 0, `STENCIL_MAX_TOKENS: "twelve"`},
		{"twelve", []string{"--max-tokens", "3"}, 3, ""},
	} {
		t.Run(test.env, func(t *testing.T) {
			if test.env != "" {
				t.Setenv("STENCIL_MAX_TOKENS", test.env)
			}
			var got int
			cmd := newCommand(&got)
			cmd.SetArgs(append([]string{}, test.args...))
			err := cmd.Execute()
			if test.fail != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.fail) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || got != test.want {
				t.Errorf("%d, %v; want %d", got, err, test.want)
			}
		})
	}
}

// TestCommandsAreDescribed checks that all commands and flags have help texts, and
// that flags of a command that share an environment variable have the same meaning.
func TestCommandsAreDescribed(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Short == "" {
			t.Errorf("%s has no description", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s has no description", cmd.CommandPath(), f.Name)
			}
		})
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	root := newRootCommand()
	visit(root)
	for _, name := range []string{"serve", "generate", "inspect", "devices", "mkmodel", "pull", "version"} {
		if c, _, err := root.Find([]string{name}); err != nil || c.Name() != name {
			t.Errorf("no command %s", name)
		}
	}
}

// TestCompletion checks that the scripts of all shells are written, and that
// completions are answered: words, and after the colon the number of a directive, 4
// for no files.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out, _, err := run(t, "completion", shell); err != nil || !strings.Contains(out, "__complete") {
			t.Errorf("completion for %s: %d bytes, %v", shell, len(out), err)
		}
	}
	for _, test := range []struct {
		line, want string
	}{
		{"gen", "generate\tGenerate one text and stream it to standard output\n:4\n"},
		{"serve --cache-type ", "f32\nf16\nbf16\nq8_0\nq5_1\nq5_0\nq4_1\nq4_0\n:4\n"},
		{"generate --flash-attention ", "auto\non\noff\n:4\n"},
		{"mkmodel --type ", "F32\nF16\nQ8_0\nQ4_0\nBF16\nQ4_K\nQ6_K\nQ4_K_M\n:4\n"},
		{"generate --builtin ", strings.Join(formats(), "\n") + "\n:4\n"},
		{"generate --schema ", "json\nts\n:8\n"},
		{"generate --prompt ", ":4\n"},
		{"serve --port ", ":4\n"},
		{"serve --models ", ":16\n"},
		{"serve --tls-cert ", ":0\n"},
		{"serve --split-mode ", "none\nlayer\nrow\ntensor\n:4\n"},
		{"bench --json ", ":0\n"},
		{"eval --modes ", "constrained\nunconstrained\nrepaired\n:4\n"},
		{"grammar show ", strings.Join(gbnf.Builtins(), "\n") + "\n:4\n"},
		{"grammar check ", strings.Join(gbnf.Builtins(), "\n") + "\n:0\n"},
		{"grammar show json ", ":4\n"},
		{"config show gen", "generate\tGenerate one text and stream it to standard output\n:4\n"},
		{"config show schema co", "convert\tPrint the JSON Schema of a TypeScript type\n:4\n"},
	} {
		out, _, err := run(t, append([]string{"__complete"}, strings.Split(test.line, " ")...)...)
		if err != nil || out != test.want {
			t.Errorf("%q: %q, %v", test.line, out, err)
		}
	}
}

// TestWelcome checks that the command that serve prints has the right scheme, and a
// placeholder for a key if needed.
func TestWelcome(t *testing.T) {
	addr := &net.TCPAddr{IP: net.IPv4zero, Port: 81}
	f := new(serveFlags)
	if text := f.welcome("m", nil, urlOf(addr, false)); !strings.Contains(text, "curl -s http://127.0.0.1:81/generate_json -d '{") {
		t.Errorf("%s", text)
	}
	f.server.Access.Keys = []string{"secret"}
	text := f.welcome("m", nil, urlOf(addr, true))
	if !strings.Contains(text, "curl -s https://127.0.0.1:81/generate_json -H \"Authorization: Bearer $STENCIL_API_KEY\" -d '{") || strings.Contains(text, "secret") {
		t.Errorf("%s", text)
	}
}

func TestBadFlags(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"generate"}, "--prompt or --prompt-file is needed"},
		{[]string{"generate", "--prompt", "x", "--prompt-file", "y"}, "--prompt and --prompt-file exclude one another"},
		{[]string{"generate", "--shema", "x"}, "unknown flag: --shema; was --schema meant?"},
		{[]string{"generate", "--prompt", "x", "--model", "none.gguf"}, "--models names no folder"},
		{[]string{"generate", "--prompt", "x", "--schema", "/nowhere.json"}, "/nowhere.json"},
		{[]string{"generate", "--prompt", "x", "--log-level", "loud"}, "--log-level must be"},
		{[]string{"generate", "--prompt", "x", "--flash-attention", "maybe"}, "--flash-attention must be"},
		{[]string{"generate", "--prompt", "x", "--cache-type", "q3"}, "--cache-type"},
		{[]string{"generate", "--prompt", "x", "--threads", "-1"}, "--threads must not be negative"},
		{[]string{"generate", "--prompt", "x", "--lora", "a=b"}, `"b" is not a scale`},
		{[]string{"generate", "--prompt", "x", "--override-kv", "a=1"}, "KEY=TYPE:VALUE"},
		{[]string{"generate", "--prompt", "x", "--override-kv", "general.name=int:1"}, "general.name is of type string"},
		{[]string{"generate", "--prompt", "x", "--rope-scaling", "longrope"}, "rope scaling must be"},
		{[]string{"generate", "--prompt", "x", "--yarn-beta-fast", "-2"}, "beta_fast is -2"},
		{[]string{"generate", "--prompt", "x", "--tensor-split", "0,0"}, "--tensor-split"},
		{[]string{"serve", "--port", "0", "--hf-repo", "a/b", "--model", "m.gguf"}, "exclude one another"},
		{[]string{"serve", "--port", "0", "--hf-file", "a"}, "--hf-file needs --hf-repo"},
		{[]string{"serve", "--port", "0", "/nowhere.gguf"}, "/nowhere.gguf"},
		{[]string{"serve", "a.gguf", "b.gguf"}, "one model can be served, not 2"},
		{[]string{"serve", "a.gguf", "--model", "b.gguf"}, "the model is given twice: a.gguf and --model b.gguf"},
		{[]string{"serve", "--log-format", "xml"}, "--log-format must be"},
		{[]string{"serve", "--port", "70000"}, "port"},
		{[]string{"serve", "--port", "0", "--prompt-cache", t.TempDir(), "--prompt-cache-bytes", "-1"}, "--prompt-cache-bytes must be positive"},
		{[]string{"serve", "--port", "0", "--prompt-cache", "/dev/null/x"}, "promptcache: "},
		{[]string{"pull", "model.gguf"}, "neither a URL"},
		{[]string{"pull", "https://example.com/m.gguf", "--sha256", "abc"}, "64 hexadecimal digits"},
		{[]string{"pull", "https://example.com/m.gguf", "--out", filepath.Join(t.TempDir(), "none") + string(filepath.Separator)}, "does not exist"},
		{[]string{"nothing"}, "unknown command"},
		{[]string{"serve", "--nothing"}, "unknown flag"},
	} {
		if _, _, err := run(t, test.args...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %q", test.args, err, test.want)
		}
	}
}

func TestPullCommand(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.gguf")
	if _, _, err := run(t, "mkmodel", model, "--width", "32"); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	missing := 0 // bytes at the end that the server omits
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"a"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content[:len(content)-missing]))
	}))
	defer h.Close()
	dir := t.TempDir()
	out, _, err := run(t, "pull", h.URL+"/tiny.gguf", "--out", dir, "--sha256", fmt.Sprintf("%X", sha256.Sum256(content)))
	target := filepath.Join(dir, "tiny.gguf")
	if err != nil || !strings.Contains(out, "verified, as given") || !strings.HasSuffix(out, "stencil serve --model "+target+"\n") {
		t.Fatalf("%q, %v", out, err)
	}
	if got, err := os.ReadFile(target); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if out, _, err = run(t, "pull", h.URL+"/tiny.gguf", "--out", dir); err != nil || !strings.Contains(out, "already exists") {
		t.Errorf("again: %q, %v", out, err)
	}

	// If a server announces a shorter length and keeps to it, the content of the
	// file shows it.
	missing, dir = 1000, t.TempDir()
	if _, _, err = run(t, "pull", h.URL+"/tiny.gguf", "--out", dir); err == nil || !strings.Contains(err.Error(), "deleted") {
		t.Errorf("a short file: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestVersionAndDevices(t *testing.T) {
	out, _, err := run(t, "version")
	if err != nil || !strings.HasPrefix(out, "stencil   ") || !strings.Contains(out, "go1.") {
		t.Errorf("version: %q, %v", out, err)
	}
	out, _, err = run(t, "devices")
	if llama.Built {
		if err != nil || !strings.Contains(out, "CPU") {
			t.Errorf("devices: %q, %v", out, err)
		}
		return
	}
	if !errors.Is(err, backend.ErrNotBuilt) || !strings.Contains(err.Error(), "make build") {
		t.Errorf("devices without llama.cpp: %v", err)
	}
	path := filepath.Join(t.TempDir(), "m.gguf")
	if _, _, err := run(t, "mkmodel", path, "--width", "32"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, "generate", "--model", path, "--prompt", "x"); !errors.Is(err, backend.ErrNotBuilt) {
		t.Errorf("generate without llama.cpp: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := newRootCommand()
	cmd.SetArgs([]string{"serve", "--model", path, "--port", "0", "--log-level", "error"})
	if err := cmd.ExecuteContext(ctx); !errors.Is(err, backend.ErrNotBuilt) {
		t.Errorf("serve without llama.cpp: %v", err)
	}
}

// TestSchemaCheckWarnsOfCost checks that the warning about a costly schema has its
// location and a suggestion.
func TestSchemaCheckWarnsOfCost(t *testing.T) {
	var kinds []string
	for i := range 201 {
		kinds = append(kinds, fmt.Sprintf(`{"type": "object", "properties": {"f%d": {}}, "required": ["f%d"]}`, i, i))
	}
	path := filepath.Join(t.TempDir(), "costly.json")
	schema := `{"properties": {"payload": {"anyOf": [` + strings.Join(kinds, ", ") + `]}}}`
	if err := os.WriteFile(path, []byte(schema), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, err := run(t, "schema", "check", path)
	if err != nil {
		t.Fatal(err, errs)
	}
	for _, want := range []string{`"/properties/payload"`, "complexity: anyOf of 201 open objects", "add additionalProperties: false"} {
		if !strings.Contains(out+errs, want) {
			t.Errorf("no %q in %s%s", want, out, errs)
		}
	}
}

func TestToolForm(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	if _, errs, err := run(t, "mkmodel", path); err != nil {
		t.Fatal(err, errs)
	}
	if out, errs, err := run(t, "inspect", path, "--tool-form", "granite"); err != nil || !strings.Contains(out, `tool calls: format "granite"`) || !strings.Contains(out, `<|tool_call|>[{"name": "get_weather"`) {
		t.Error(out, errs, err)
	}
	if _, _, err := run(t, "inspect", path, "--tool-form", "qwen"); err == nil || !strings.Contains(err.Error(), "hermes") {
		t.Error(err)
	}
}
