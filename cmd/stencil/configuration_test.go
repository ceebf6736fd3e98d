package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/cmd/stencil/config"
)

// shown returns the values and sources of all flags that config show prints.
func shown(t *testing.T, args ...string) (map[string]configValue, error) {
	t.Helper()
	out, _, err := run(t, append([]string{"config", "show", "--json"}, args...)...)
	if err != nil {
		return nil, err
	}
	var reply struct {
		Flags []configValue `json:"flags"`
	}
	if err := json.Unmarshal([]byte(out), &reply); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	flags := map[string]configValue{}
	for _, v := range reply.Flags {
		flags[v.Name] = v
	}
	return flags, nil
}

func TestConfigurationFile(t *testing.T) {
	withoutFeedback(t)
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	file := "# what all commands have\nthreads: 3\nport: 8081\nserve:\n  port: 8082\n  api-key: [one, 'two, three']\n  embeddings: true\ngenerate:\n  temperature: 0.5\n  schema: a.json\n"
	if err := os.WriteFile("stencil.yaml", []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, _, err := run(t, "config", "trust"); err != nil || !strings.Contains(out, "stencil.yaml is trusted") {
		t.Fatalf("config trust: %v %s", err, out)
	}
	t.Setenv("STENCIL_HOST", "0.0.0.0")
	flags, err := shown(t, "--", "serve", "--parallel", "7")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]string{
		"threads": {"3", "stencil.yaml:2"}, "port": {"8082", "stencil.yaml:5"}, "host": {"[0.0.0.0]", "STENCIL_HOST"}, "parallel": {"7", "command line"},
		"embeddings": {"true", "stencil.yaml:7"}, "api-key": {"(set)", "stencil.yaml:6"},
	} {
		if v := flags[name]; fmt.Sprint(v.Value) != want[0] || v.Source != want[1] {
			t.Errorf("%s: %+v, want %v", name, v, want)
		}
	}
	if len(flags) != 6 {
		t.Errorf("%v", flags)
	}
	// Variables override the file, and the command line overrides both.
	t.Setenv("STENCIL_THREADS", "2")
	if flags, err = shown(t, "generate"); err != nil || flags["threads"].Value != "2" || flags["threads"].Source != "STENCIL_THREADS" || flags["temperature"].Value != "0.5" {
		t.Errorf("%v, %v", flags, err)
	}
	if flags, err = shown(t, "--", "generate", "--threads", "1", "--regex", "a"); err != nil || flags["threads"].Value != "1" || flags["schema"].Name != "" {
		t.Errorf("a flag that excludes one of the file: %v, %v", flags, err)
	}
	if out, _, err := run(t, "config", "show", "generate"); err != nil || !strings.Contains(out, "temperature:") || !strings.Contains(out, "# stencil.yaml:9") {
		t.Errorf("%s, %v", out, err)
	}
	if flags, err = shown(t, "--config", "off", "serve"); err != nil || flags["port"].Name != "" {
		t.Errorf("no file: %v, %v", flags, err)
	}
	if flags, err = shown(t, "--all", "serve"); err != nil || flags["log-level"].Source != "default" || len(flags) < 40 {
		t.Errorf("all: %d, %v", len(flags), err)
	}
	// Commands use the same values.
	if _, _, err := run(t, "generate", "--prompt", "x"); err == nil || !strings.Contains(err.Error(), "a.json") || !strings.Contains(err.Error(), "(--schema is set by stencil.yaml:10)") {
		t.Errorf("generate does not read the schema that the file names, or doesn't say so: %v", err)
	}
	// A file named by --config or STENCIL_CONFIG.
	other := writeTemp(t, "other.yaml", "serve: {port: 9000}\n")
	if flags, err = shown(t, "--config", other, "serve"); err != nil || flags["port"].Value != "9000" || flags["port"].Source != other+":1" {
		t.Errorf("%v, %v", flags, err)
	}
	t.Setenv("STENCIL_CONFIG", other)
	if flags, err = shown(t, "serve"); err != nil || flags["port"].Value != "9000" {
		t.Errorf("STENCIL_CONFIG: %v, %v", flags, err)
	}
	t.Setenv("STENCIL_CONFIG", "")
	if err := os.Remove("stencil.yaml"); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "stencil")
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own, "stencil.yaml"), []byte("port: 9001\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if flags, err = shown(t, "serve"); err != nil || flags["port"].Value != "9001" {
		t.Errorf("the user's file: %v, %v", flags, err)
	}
}

// flagsOf calls f for each flag of each command.
func flagsOf(cmd *cobra.Command, f func(*cobra.Command, *pflag.Flag)) {
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) { f(cmd, flag) })
	for _, sub := range cmd.Commands() {
		flagsOf(sub, f)
	}
}

// harmless are the flags with texts for values that any file in the working folder may set: they say what is computed, from
// which files, and how that is shown. A flag that runs code, names whom something is sent to, writes a file or opens the
// server belongs into guarded of package config.
const harmless = `agent-prompts alias answer base builtin cache-type cases chat-template chat-template-file chat-template-kwargs choice
	columns config data delimiter device flash-attention from grammar header hf-file hf-repo instances level log-format log-level lora
	model models modes name numbers on-unsupported order override-kv override-tensor parallel pattern pooling prompt prompt-file prompts
	reasoning reasoning-budget-message reasoning-effort regex resume root rope-scaling sample sampling schema
	schema-from-example schemas server-model sets sha256 split-mode stop strategy system tags temperature tensor-split text text-file
	tool-form type upstream-alias upstream-capabilities upstream-engine vocab whitespace arch`

// TestGuards decides for each flag whether a file that nobody named may set it.
func TestGuards(t *testing.T) {
	known := strings.Fields(harmless)
	seen := map[string]bool{}
	flagsOf(newRootCommand(), func(cmd *cobra.Command, f *pflag.Flag) {
		switch f.Value.Type() {
		case "bool", "int", "int64", "uint64", "float32", "float64", "duration":
			return
		}
		seen[f.Name] = true
		if (config.Guards(f) == "") != slices.Contains(known, f.Name) {
			t.Errorf("%s --%s: guarded, or harmless? %q", cmd.CommandPath(), f.Name, config.Guards(f))
		}
	})
	for _, name := range known {
		if !seen[name] {
			t.Errorf("there is no flag --%s", name)
		}
	}
}

// A file in the working folder that was neither named nor trusted sets nothing that runs code, sends keys away, writes files
// or opens the server, under any command; what was left out is said.
func TestUntrustedFile(t *testing.T) {
	withoutFeedback(t)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	folder := t.TempDir()
	t.Chdir(folder)
	yaml := func(text string) {
		t.Helper()
		if err := os.WriteFile("stencil.yaml", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tried := map[string]bool{}
	flagsOf(newRootCommand(), func(cmd *cobra.Command, f *pflag.Flag) {
		if config.Guards(f) == "" || tried[f.Name] && cmd.Name() != "serve" {
			return
		}
		tried[f.Name] = true
		path := strings.Fields(cmd.CommandPath())[1:]
		value := "./x"
		if f.Value.Type() == "bool" {
			value = "true"
		}
		yaml(f.Name + ": " + value + "\nlog-level: warn\n")
		for trust, want := range map[string]bool{"": false, "--config=stencil.yaml": true} {
			flags, err := shown(t, append(strings.Fields(trust+" --"), path...)...)
			if err != nil || (flags[f.Name].Source == "stencil.yaml:1") != want {
				t.Errorf("%q %s: %v %v", path, f.Name, err, flags)
			}
			_, errs, _ := run(t, append(strings.Fields("config show "+trust+" --"), path...)...)
			if said := strings.Contains(errs, f.Name+" (line 1, which "); said == want {
				t.Errorf("%q %s: what was left out: %q", path, f.Name, errs)
			}
		}
	})
	if len(tried) < 25 {
		t.Errorf("tried %d flags", len(tried))
	}

	// Commands say it, and which settings they took.
	yaml("log-level: warn\nhub: https://hub.example\nfeedback: off\nhost: 127.0.0.1\n")
	if _, errs, err := run(t, "serve", "--model", "/nowhere.gguf"); err == nil || !strings.Contains(errs, "stencil.yaml in this folder sets feedback, host, log-level\n") || !strings.Contains(errs, "left out: hub (line 2, which sends keys or prompts to others); `stencil config trust`") {
		t.Errorf("serve: %v %s", err, errs)
	}
	if _, errs, err := run(t, "version"); err != nil || errs != "" {
		t.Errorf("a command without these flags: %v %q", err, errs)
	}

	// Without keys or encryption that were left out, no other machine is served.
	yaml("serve:\n  api-key: [one]\n  tls-cert: c.pem\n  tls-key: k.pem\n")
	if _, _, err := run(t, "serve", "--host", "0.0.0.0", "--model", "/nowhere.gguf"); err == nil || !strings.Contains(err.Error(), "stencil.yaml:2: api-key is not taken from a file that nobody named") {
		t.Errorf("open to the network: %v", err)
	}
	if _, _, err := run(t, "serve", "--host", "0.0.0.0", "--api-key", "x", "--model", "/nowhere.gguf"); err == nil || !strings.Contains(err.Error(), "stencil.yaml:3: tls-cert is not taken") {
		t.Errorf("unencrypted: %v", err)
	}
	if _, _, err := run(t, "serve", "--port", "0", "--model", "/nowhere.gguf"); err == nil || strings.Contains(err.Error(), "is not taken") {
		t.Errorf("loopback: %v", err)
	}

	// A file is trusted as it was, at its place.
	if _, _, err := run(t, "config", "trust"); err != nil {
		t.Fatal(err)
	}
	if flags, err := shown(t); err != nil || flags["api-key"].Source != "stencil.yaml:2" {
		t.Errorf("trusted: %v %v", flags, err)
	}
	yaml("serve:\n  api-key: [two]\n")
	if flags, err := shown(t); err != nil || flags["api-key"].Source != "" {
		t.Errorf("changed: %v %v", flags, err)
	}
	if _, _, err := run(t, "config", "trust", filepath.Join(folder, "stencil.yaml")); err != nil {
		t.Fatal(err)
	}
	if flags, err := shown(t); err != nil || flags["api-key"].Source != "stencil.yaml:2" {
		t.Errorf("trusted again: %v %v", flags, err)
	}
	t.Chdir(t.TempDir())
	yaml("serve:\n  api-key: [two]\n")
	if flags, err := shown(t); err != nil || flags["api-key"].Source != "" {
		t.Errorf("the same at another place: %v %v", flags, err)
	}
}

// A key from the environment goes to no address that stands in a file, and a stranger's file sends none anywhere.
func TestKeysOfTheEnvironment(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	var asked, leaked atomic.Int64
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if strings.Contains(r.Header.Get("Authorization"), "secret") {
			leaked.Add(1)
		}
		http.Error(w, "{}", http.StatusNotFound)
	}))
	defer stranger.Close()
	for _, key := range []string{"STENCIL_UPSTREAM_KEY", "STENCIL_TOKEN", "STENCIL_SERVER_KEY", "HF_TOKEN"} {
		t.Setenv(key, "secret")
	}
	if err := os.WriteFile("cases.jsonl", []byte(`{"id": "a", "prompt": "x", "schema": {"type": "object"}}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		address string
		command []string
		key     string
	}{
		{"upstream", []string{"serve", "--port", "0", "--upstream-retries", "-1"}, "STENCIL_UPSTREAM_KEY"},
		{"hub", []string{"serve", "--port", "0", "--hf-repo", "a/b"}, "STENCIL_HF_TOKEN"},
		{"hub", []string{"pull", "hf:a/b/c.gguf"}, "STENCIL_TOKEN"},
		{"server", []string{"agent", "x"}, "STENCIL_SERVER_KEY"},
		{"server", []string{"eval", "cases.jsonl"}, "STENCIL_SERVER_KEY"},
	} {
		if err := os.WriteFile("stencil.yaml", []byte(c.address+": "+stranger.URL+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		// Named, the address is used, without the key; with an address from the environment or the command line, with it.
		asked.Store(0)
		_, errs, _ := run(t, append(c.command, "--config", "stencil.yaml")...)
		if asked.Load() == 0 || leaked.Load() != 0 || !strings.Contains(errs, c.key+" is left out: it would be sent to the "+c.address+" of stencil.yaml:1") {
			t.Errorf("%q: asked %d times, %d with the key: %s", c.command, asked.Load(), leaked.Load(), errs)
		}
		for _, env := range []bool{false, true} {
			args := append(slices.Clone(c.command), "--config", "off")
			if env {
				t.Setenv(config.Variable(c.address), stranger.URL)
			} else {
				args = append(args, "--"+c.address, stranger.URL)
			}
			if _, errs, _ := run(t, args...); leaked.Load() == 0 {
				t.Errorf("%q: the key isn't used: %s", args, errs)
			}
			leaked.Store(0)
		}
		if err := os.Unsetenv(config.Variable(c.address)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConfigurationErrors(t *testing.T) {
	withoutFeedback(t)
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for text, want := range map[string]string{
		"prot: 8081\n":              "stencil.yaml:1:1: the name prot is not known; was port meant?",
		"serve:\n  temperatur: 1\n": "stencil.yaml:2:3: the name temperatur is not known",
		"sevre:\n  port: 1\n":       "stencil.yaml:1:1: the name sevre is not known; was serve meant?",
		"generate:\n  api-key: x\n": "stencil.yaml:2:3: the name api-key is not known",
		"port: many\n":              `stencil.yaml:1:7: port: "many"`,
		"port: [1, 2]\n":            "stencil.yaml:1:7: port takes one value, not a list",
		"port: null\n":              "stencil.yaml:1:7: port must be a value or a list of values",
		"port: {a: 1}\n":            "the name port is not known",
		"port: 1\nport: 2\n":        "stencil.yaml:2:1: port is given twice",
		"- port\n":                  "must be a mapping",
		"port: 1\n---\nport: 2\n":   "there must be one document",
		"port: [1\n":                "stencil.yaml",
		"config: other.yaml\n":      "the name config is not known",
		"api-key: [[a]]\n":          "api-key must be a value or a list of values",
		"a: &a [*a]\n":              "not known",
	} {
		if err := os.WriteFile("stencil.yaml", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"config", "show"}, {"serve", "--model", "/nowhere.gguf"}} {
			if _, _, err := run(t, args...); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q with %q: %v, want %q", args, text, err, want)
			}
		}
	}
	for _, text := range []string{"", "# nothing\n", "null\n"} {
		if err := os.WriteFile("stencil.yaml", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if flags, err := shown(t); err != nil || len(flags) != 0 {
			t.Errorf("%q: %v, %v", text, flags, err)
		}
	}
	if _, _, err := run(t, "version", "--config", "none.yaml"); err == nil || !strings.Contains(err.Error(), "--config: ") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestUnknownVariables checks that a misspelled variable is an error that suggests the
// nearest name, except for known foreign variables.
func TestUnknownVariables(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, want := range map[string]string{
		"STENCIL_MAX_TOKNES": "the environment variable STENCIL_MAX_TOKNES is not known; was STENCIL_MAX_TOKENS meant?",
		"STENCIL_QUUX":       "the environment variable STENCIL_QUUX is not known",
		"STENCIL_PORT":       "enableServiceLinks",
		"STENCIL_TEST_X":     "", "STENCIL_SERVICE_HOST": "", "STENCIL_PORT_8080_TCP_ADDR": "", "STENCIL_MODEL": "",
	} {
		t.Run(name, func(t *testing.T) {
			value := "x"
			if name == "STENCIL_PORT" {
				value = "tcp://10.0.0.1:8080"
			}
			t.Setenv(name, value)
			_, _, err := run(t, "config", "show")
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%v, want %q", err, want)
			}
			if want == "" || name == "STENCIL_PORT" {
				return
			}
			if _, _, err := run(t, "version"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("version: %v", err)
			}
		})
	}
	out, _, err := run(t, "generate", "--help")
	if err != nil || !strings.Contains(out, "[STENCIL_MAX_TOKENS]") || !strings.Contains(out, "[STENCIL_CONFIG]") {
		t.Errorf("the help does not name variables: %v %s", err, out)
	}
}

// A server that is still starting, because an upstream or a hub doesn't answer or answers with another protocol, stops when it is
// told to.
func TestStartEnds(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, silent := range []bool{false, true} {
		for _, args := range [][]string{
			{"serve", "--port", "0", "--upstream-model", "m", "--upstream"},
			{"serve", "--port", "0", "--hf-repo", "a/b", "--hub"},
			{"eval", "cases.jsonl", "--upstream-model", "m", "--upstream"},
			{"agent", "x", "--server"},
		} {
			if err := os.WriteFile("cases.jsonl", []byte(`{"id": "a", "prompt": "x", "schema": {"type": "object"}}`+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				if !silent {
					_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
				}
				cancel()
				_, _ = io.Copy(io.Discard, conn) // until it is closed there
			}))
			cmd := newRootCommand()
			cmd.SetArgs(append(args, other.URL))
			cmd.SetOut(io.Discard)
			cmd.SetErr(io.Discard)
			if err := cmd.ExecuteContext(ctx); err != nil && args[0] == "serve" {
				t.Errorf("%q: %v", args, err)
			}
			cancel()
			other.Close()
		}
	}
}
