package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// printsNoTable are the commands without --json, with the reason why they need none.
var printsNoTable = map[string]string{
	"stencil serve": "serves", "stencil mkmodel": "writes a file", "stencil pull": "writes a file", "stencil completion": "a script", "stencil man": "pages",
	"stencil grammar match": "an exit status", "stencil schema match": "an exit status", "stencil grammar show": "a grammar",
	"stencil schema convert": "JSON always", "stencil signals": "JSON always", "stencil config trust": "a sentence", "stencil trial": "for stencil itself",
}

// TestTablesHaveJSON checks that every command that prints a table has --json.
func TestTablesHaveJSON(t *testing.T) {
	found := 0
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		if !cmd.Runnable() || cmd.Name() == "help" || cmd.Parent() != nil && cmd.Parent().Name() == "completion" {
			return
		}
		has, why := cmd.Flags().Lookup("json") != nil, printsNoTable[cmd.CommandPath()]
		if has == (why != "") {
			t.Errorf("%s: --json is %v, and it says %q", cmd.CommandPath(), has, why)
		}
		if has {
			found++
		}
	}
	visit(newRootCommand())
	if found < 14 {
		t.Errorf("only %d commands have --json", found)
	}
}

// TestJSONForTables checks that with --json, commands print the content of their tables as JSON.
func TestJSONForTables(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.gguf")
	if _, _, err := run(t, "mkmodel", model, "--layers", "3", "--type", "q8_0"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // a cache without data sets
	corpus := writeTemp(t, "one.json", `{"schema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false},
		"tests": [{"data": {"a": 1}, "valid": true}, {"data": {"a": "x"}, "valid": false}]}`)
	for _, test := range []struct {
		args []string
		want map[string]any // by path
	}{
		{[]string{"version", "--json"}, map[string]any{"stencil": version()}},
		{[]string{"inspect", model, "--json", "--tensors"}, map[string]any{
			"gguf_version": 3.0, "tensors/count": 30.0, "tensors/types/0/type": "F32", "tensors/list/0/shape/0": 64.0, "vocabulary/tokens": 640.0,
			"vocabulary/end_of_generation/0/text": "<|endoftext|>", "metadata/0/value": "llama", "memory/context": nil,
		}},
		{[]string{"eval", "sets", "--json"}, map[string]any{"sets/0/name": "receipts", "sets/0/error": "missing"}},
		{[]string{"maskbench", "--vocab", model, corpus, "--slowest", "1", "--json"}, map[string]any{"schemas": 1.0, "counts/pass": 1.0, "slowest_first_masks/0/id": "one"}},
		{[]string{"walk", "--vocab", model, corpus, "--n", "3", "--json"}, map[string]any{"schemas": 1.0, "documents": 3.0, "violations": 0.0}},
		{[]string{"config", "show", "serve", "--json"}, map[string]any{"command": "stencil serve"}},
	} {
		out, _, err := run(t, test.args...)
		if err != nil {
			t.Errorf("%v: %v", test.args, err)
			continue
		}
		var got any
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Errorf("%v: %v in\n%s", test.args, err, out)
			continue
		}
		for path, want := range test.want {
			if is := member(got, path); is != want {
				t.Errorf("%v: %s is %v, not %v\n%s", test.args, path, is, want, out)
			}
		}
	}
	if _, _, err := run(t, "inspect", model, "--json", "--template"); err == nil {
		t.Error("--json and --template go together")
	}
}

// member returns the value at a path, nil if there is none.
func member(value any, path string) any {
	for name := range strings.SplitSeq(path, "/") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			i := -1
			if _, err := fmt.Sscan(name, &i); err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// TestModelCompletion checks that models are completed by file, by name in the folder of --models, and by a server's list, and
// that a name finds its file.
func TestModelCompletion(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	t.Setenv("STENCIL_CONFIG", "off")
	for _, path := range []string{"a.gguf", "other.txt", ".hidden.gguf", "pulled/qwen.gguf", "pulled/smol.gguf", "pulled/readme.md"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte("GGUF"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" && r.Header.Get("Authorization") == "Bearer k" {
			fmt.Fprint(w, `{"object": "list", "data": [{"id": "one"}, {"id": "two"}]}`)
		}
	}))
	defer far.Close()
	for _, test := range []struct {
		line, want string
	}{
		{"serve --model ", "a.gguf\npulled/\n:6\n"},
		{"serve -m a", "a.gguf\n:4\n"},
		{"serve a", "a.gguf\n:4\n"},
		{"serve --models pulled q", "qwen\tin pulled\n:4\n"},
		{"serve a.gguf ", ":4\n"},
		{"generate -m ./a", "./a.gguf\n:4\n"},
		{"generate -m pulled/", "pulled/qwen.gguf\npulled/smol.gguf\n:4\n"},
		{"generate -m ~/pulled/q", "~/pulled/qwen.gguf\n:4\n"},
		{"generate -m nowhere/", ":4\n"},
		{"serve --models pulled --model ", "a.gguf\npulled/\nqwen\tin pulled\nsmol\tin pulled\n:6\n"},
		{"generate --models pulled -m q", "qwen\tin pulled\n:4\n"},
		{"decide --models pulled --model=s", "smol\tin pulled\n:4\n"},
		{"generate --lora ", "a.gguf\npulled/\n:6\n"},
		{"inspect pulled/s", "pulled/smol.gguf\n:4\n"},
		{"inspect a.gguf ", ":4\n"},
		{"agent --server " + far.URL + " --server-key k --server-model ", "one\ntwo\n:4\n"},
		{"eval --server " + far.URL + "/ --server-key k --server-model t", "two\n:4\n"},
		{"eval --server " + far.URL + " --server-model t", ":4\n"},
		{"eval --server-model t", ":4\n"},
	} {
		out, _, err := run(t, append([]string{"__complete"}, strings.Split(test.line, " ")...)...)
		if err != nil || out != test.want {
			t.Errorf("%q: %q, not %q, %v", test.line, out, test.want, err)
		}
	}
	t.Setenv("STENCIL_MODELS", "pulled")
	if out, _, err := run(t, "__complete", "bench", "--model", "q"); err != nil || out != "qwen\tin pulled\n:4\n" {
		t.Errorf("%q, %v", out, err)
	}
	// fish and PowerShell set this variable when they ask.
	t.Setenv("STENCIL_ACTIVE_HELP", "0")
	if out, _, err := run(t, "__complete", "generate", "--model", "q"); err != nil || out != "qwen\tin pulled\n:4\n" {
		t.Errorf("%q, %v", out, err)
	}
	// A shell puts the user's folder in the place of ~ in few places.
	t.Setenv("STENCIL_MODELS", "~/pulled")
	if _, _, err := run(t, "generate", "--prompt", "x", "--model", "none"); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "pulled")) {
		t.Errorf("the folder ~/pulled: %v", err)
	}
	t.Setenv("STENCIL_MODELS", "")
	if _, _, err := run(t, "generate", "--prompt", "x", "--model=~/none.gguf", "--lora=~/a.gguf=0.5"); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "none.gguf")) {
		t.Errorf("the file ~/none.gguf: %v", err)
	}
	for name, want := range map[string]string{"": "", "a.gguf": "a.gguf", "qwen": "pulled/qwen.gguf", "smol.gguf": "pulled/smol.gguf", "pulled/none.gguf": "pulled/none.gguf"} {
		f := modelFlags{path: name, models: "pulled"}
		if path, err := f.file(); err != nil || want != "" && path != want {
			t.Errorf("%q is %q, %v", name, path, err)
		}
	}
	f := modelFlags{path: "qwn", models: "pulled"}
	if _, err := f.file(); err == nil || !strings.Contains(err.Error(), "qwn") || !strings.Contains(err.Error(), "pulled") {
		t.Errorf("%v", err)
	}
}
