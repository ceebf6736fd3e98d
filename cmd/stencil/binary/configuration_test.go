//go:build llama && cgo

package binary

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// alternatives returns a schema with so many alternatives at /payload.
func alternatives(n int, closed string) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"type":"object","properties":{"p%d":{"type":"integer"}},"required":["p%d"]%s}`, i, i, closed))
	}
	return `{"type":"object","properties":{"payload":{"oneOf":[` + strings.Join(list, ",") + `]}},"required":["payload"]}`
}

// What makes a schema costly is told with its place, its cost and a remedy, by the check, the answer, its receipt and the log.
func TestComplexity(t *testing.T) {
	s := serveShared(t)
	costly := alternatives(60, "")
	const pointer, reason, hint = "/properties/payload", "oneOf of 60 open objects: ", "add additionalProperties: false"
	got := s.post(t, "/schema/check", `{"schema": `+costly+`}`)
	if w := got.at("warnings", 0); got.at("ok") != true || at(w, "pointer") != pointer || !strings.HasPrefix(fmt.Sprint(at(w, "reason")), reason) || !strings.HasPrefix(fmt.Sprint(at(w, "hint")), hint) {
		t.Errorf("/schema/check: %v", got)
	}
	got = s.post(t, "/generate_json", `{"model": "tiny", "prompt": "x", "max_tokens": 60, "strict": true, "schema": `+costly+`}`)
	if w := got.at("constraint", "warnings", 0); got.status != 200 || at(w, "pointer") != pointer || !strings.HasPrefix(fmt.Sprint(at(w, "reason")), reason) || !strings.HasPrefix(fmt.Sprint(at(w, "hint")), hint) ||
		!strings.Contains(fmt.Sprint(got.at("warnings")), reason) {
		t.Errorf("the receipt: %v", got)
	}
	if log := s.logged(); !strings.Contains(log, "a schema is costly") || !strings.Contains(log, "pointer="+pointer) || !strings.Contains(log, hint) {
		t.Error("the log says nothing of it")
	}
	out, errs, status := stencil(t, "schema", "check", write(t, "costly.json", costly))
	for _, want := range []string{pointer, reason, hint} {
		if status != 0 || !strings.Contains(out+errs, want) {
			t.Errorf("schema check: %d, no %q in %s %s", status, want, out, errs)
		}
	}
	if got := s.post(t, "/schema/check", `{"schema": `+alternatives(60, `,"additionalProperties":false`)+`}`); fmt.Sprint(got.at("warnings")) != "[]" {
		t.Errorf("the remedy does not help: %v", got)
	}

	// Each limit has a flag, and a schema that is over it is told which.
	small := serve(t, "--model", tiny(t), "--schema-bytes", "9000", "--schema-depth", "9", "--schema-steps", "3", "--schema-states", "4000000", "--schema-time", "5s", "--schema-memory", "100000000")
	for schema, flag := range map[string]string{alternatives(200, ""): "--schema-bytes", strings.Repeat(`{"items":`, 12) + "{}" + strings.Repeat("}", 12): "--schema-depth", alternatives(30, ""): "--schema-steps"} {
		if got := small.post(t, "/generate_json", `{"prompt": "x", "schema": `+schema+`}`); got.status != 400 || got.at("error", "code") != "schema_limit" || !strings.Contains(got.text("error", "message"), flag) {
			t.Errorf("%s: %v", flag, got)
		}
	}
	got = small.post(t, "/generate_json", `{"prompt": "x", "schema": `+alternatives(30, "")+`}`)
	if d := got.at("error", "details", 0); at(d, "pointer") != pointer || !strings.Contains(fmt.Sprint(at(d, "hint")), hint) {
		t.Errorf("the limit is blamed on nothing: %v", got)
	}
	help, _, _ := stencil(t, "serve", "--help")
	table, err := os.ReadFile("../../../docs/operate/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile(`--(schema-[a-z]+|[a-z]+-limit|queue|request-timeout|max-tokens|retry-max)\b`).FindAllString(help, -1)
	if len(flags) < 10 {
		t.Errorf("serve has only the limits %q", flags)
	}
	for _, flag := range flags {
		if !strings.Contains(string(table), "`"+flag+"`") {
			t.Errorf("%s is not in the table of limits", flag)
		}
	}
}

// shown returns what config show says: the value and the source of each flag.
func shown(t *testing.T, r run, args ...string) (map[string]string, string) {
	t.Helper()
	out, errs, status := r.of(t, append([]string{"config", "show", "--json"}, args...)...)
	var reply struct {
		Flags []struct {
			Name   string
			Value  any
			Source string
		}
	}
	if status == 0 && json.Unmarshal([]byte(out), &reply) != nil {
		t.Fatalf("%s", out)
	}
	flags := map[string]string{}
	for _, f := range reply.Flags {
		flags[f.Name] = fmt.Sprint(f.Value, " ", f.Source)
	}
	return flags, errs
}

// A flag has the value of the command line, else of its variable, else of stencil.yaml; names that there are not are errors
// with the nearest one.
func TestConfiguration(t *testing.T) {
	dir := t.TempDir()
	config := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "stencil.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config("port: 8081\nlog-level: warn\nserve:\n  parallel: 2\n  api-key: [one, two]\n  schema-time: 3s\ngenerate:\n  regex: '[ab]{3}'\n  seed: 7\nschema:\n  check:\n    samples: 1\n")
	if out, errs, status := (run{dir: dir}).of(t, "config", "trust"); status != 0 || !strings.Contains(out, "is trusted") {
		t.Fatalf("config trust: %d %s %s", status, out, errs)
	}
	flags, errs := shown(t, run{dir: dir, env: []string{"STENCIL_HOST=::1"}}, "--", "serve", "--queue", "9")
	for name, want := range map[string]string{
		"port": "8081 stencil.yaml:1", "parallel": "2 stencil.yaml:4", "api-key": "(set) stencil.yaml:5", "schema-time": "3s stencil.yaml:6", "host": "[::1] STENCIL_HOST", "queue": "9 command line",
		"threads": "1 STENCIL_THREADS", "log-level": "warn stencil.yaml:2",
	} {
		if flags[name] != want {
			t.Errorf("%s is %q, want %q %s", name, flags[name], want, errs)
		}
	}
	if len(flags) != 8 || strings.Contains(fmt.Sprint(flags), "two") {
		t.Errorf("%q", flags)
	}
	if flags, _ := shown(t, run{dir: dir, env: []string{"STENCIL_PORT=1"}}, "--", "serve", "--parallel", "3"); flags["port"] != "1 STENCIL_PORT" || flags["parallel"] != "3 command line" {
		t.Errorf("%q", flags)
	}
	// Commands run with it.
	out, errs, status := run{dir: dir}.of(t, "generate", "--model", tiny(t), "--prompt", "x")
	if status != 0 || !regexp.MustCompile(`^[ab]{3}\n$`).MatchString(out) || !strings.Contains(errs, "seed 7") {
		t.Errorf("generate: %d %q %s", status, out, errs)
	}
	if out, errs, status := (run{dir: dir, stdin: "{}"}).of(t, "schema", "check", "-"); status != 0 || strings.Count(out, "sample ") != 1 {
		t.Errorf("schema check: %d %s %s", status, out, errs)
	}
	if out, errs, status := (run{dir: dir}).of(t, "generate", "--model", tiny(t), "--prompt", "x", "--choice", "yes"); status != 0 || out != "yes\n" {
		t.Errorf("a flag that excludes one of the file: %d %q %s", status, out, errs)
	}
	config("serve:\n  # port: 1\nschema:\n  check:\ngenerate:\n  seed: 3\n")
	if flags, errs := shown(t, run{dir: dir}, "generate"); flags["seed"] != "3 stencil.yaml:6" {
		t.Errorf("commands without flags: %q %s", flags, errs)
	}
	other := write(t, "other.yaml", "serve: {port: 9000}\n")
	if flags, errs := shown(t, run{}, "--config", other); flags["port"] != "9000 "+other+":1" {
		t.Errorf("--config: %q %s", flags, errs)
	}
	for text, says := range map[string]string{
		"prot: 1\n":                    "stencil.yaml:1:1: the name prot is not known; was port meant?",
		"serve:\n  max-toknes: 1\n":    "stencil.yaml:2:3: the name max-toknes is not known; was max-tokens meant?",
		"max_tokens: 1\n":              "was max-tokens meant?",
		"sevre: {port: 1}\n":           "was serve meant?",
		"schema: {chekc: {seed: 1}}\n": "was check meant?",
		"port: many\n":                 `stencil.yaml:1:7: port: "many": invalid syntax`,
		"port: [1, 2]\n":               "port takes one value, not a list",
		"port: {tcp: 1}\n":             "port",
		"port:\n":                      "port must be a value",
		"serve: 5\n":                   "serve is a command",
		"generate:\n  port: 1\n":       "port",
		"port: 1\nport: 2\n":           "given twice",
		"port: [1\n":                   "stencil.yaml",
		"- port\n":                     "must be a mapping",
	} {
		config(text)
		for _, args := range [][]string{{"config", "show"}, {"serve", "--model", "/none"}} {
			if out, errs, status := (run{dir: dir}).of(t, args...); status == 0 || !strings.Contains(errs, says) {
				t.Errorf("%q with %q: %d %s %s, want %q", args, text, status, out, errs, says)
			}
		}
	}
	for name, says := range map[string]string{"STENCIL_MAX_TOKNES": "was STENCIL_MAX_TOKENS meant?", "STENCIL_MODLE": "was STENCIL_MODEL meant?", "STENCIL_QUUX": "STENCIL_QUUX is not known"} {
		for _, args := range [][]string{{"version"}, {"config", "show"}, {"serve", "--model", "/none"}} {
			if out, errs, status := (run{env: []string{name + "=1"}}).of(t, args...); status == 0 || !strings.Contains(errs, says) {
				t.Errorf("%q with %s: %d %s %s", args, name, status, out, errs)
			}
		}
	}
	for _, command := range []string{"serve", "generate", "eval", "pull"} {
		help, _, _ := stencil(t, command, "--help")
		for _, line := range regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z0-9-]+)`).FindAllStringSubmatch(help, -1) {
			if variable := "[STENCIL_" + strings.ToUpper(strings.ReplaceAll(line[1], "-", "_")) + "]"; line[1] != "help" && !strings.Contains(strings.Join(strings.Fields(help), ""), variable) {
				t.Errorf("%s --help does not name %s", command, variable)
			}
		}
	}
}

// Code in the working folder doesn't run, whatever stencil.yaml says there, unless the user has named or trusted that file; a
// model that isn't there is told with the line that names it.
func TestUntrustedFolder(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "RAN")
	source := write(t, "code.c", `#include <stdio.h>
__attribute__((constructor)) static void run(void) { FILE * f = fopen("`+ran+`", "a"); if (f) { fputs("ran\n", f); fclose(f); } }
`)
	if err := os.Mkdir(filepath.Join(dir, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"lib/libggml-cpu-any.so", "lib/libggml-blas.so", "lib/libggml-cuda.so", "libggml-cpu-any.so", "libggml-blas.so"} {
		if out, err := exec.Command("g++", "-x", "c", "-shared", "-fPIC", "-o", filepath.Join(dir, to), source).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	config := filepath.Join(dir, "stencil.yaml")
	if err := os.WriteFile(config, []byte("lib: lib\ngenerate:\n  model: mine.gguf\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	at := run{dir: dir}
	for _, args := range [][]string{{"devices"}, {"version"}, {"generate", "--model", tiny(t), "--prompt", "x", "--choice", "yes"}, {"bench", "--rounds", "0", "--model", tiny(t)}} {
		_, errs, _ := at.of(t, args...)
		if args[0] != "version" && !strings.Contains(errs, "lib (line 1, which runs code)") {
			t.Errorf("%q doesn't say what it leaves out: %s", args, errs)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Fatalf("%q ran code of the working folder", args)
		}
	}
	if _, errs, status := at.of(t, "generate", "--prompt", "x"); status == 0 || !strings.Contains(errs, "mine.gguf: there is no such file here") || !strings.Contains(errs, "(--model is set by stencil.yaml:3)") {
		t.Errorf("%d %s", status, errs)
	}
	if _, _, _ = at.of(t, "devices", "--config", config); !exists(ran) {
		t.Error("a file that was named isn't used")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// The program starts where there is no home folder, and where there is one that can't be written, and says what its model is.
func TestHome(t *testing.T) {
	for what, home := range map[string]string{"none": "", "one that can't be written": "/proc", "a file": "/dev/null", "one that isn't there": "/nowhere"} {
		env := []string{"HOME=" + home, "TMPDIR=" + t.TempDir()}
		out, errs, status := run{env: env}.of(t, "generate", "--prompt", "Ann, 34, from Bergen.", "--choice", "yes")
		if status != 0 || out != "yes\n" {
			t.Errorf("%s: generate: %d %q %s", what, status, out, errs)
		}
		s, err := start(env)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if got := s.post(t, "/generate_json", `{"prompt": "Ann, 34, from Bergen.", "max_tokens": 40}`); got.status != 200 {
			t.Errorf("%s: %v", what, got)
		}
		s.stop()
	}
	help, _, _ := stencil(t, "serve", "--help")
	about, _, _ := strings.Cut(strings.Join(strings.Fields(help), " "), " Usage:")
	if strings.Contains(about, "random") || !strings.Contains(about, "the small bundled model is served, which extracts fields") {
		t.Errorf("serve --help: %s", about)
	}
}

// What make vendor has put beside the sources builds without a network, in a namespace that has none. Modules are looked for
// in vendor alone; compiled packages and llama.cpp are those of this tree, which make offline does without.
func TestOffline(t *testing.T) {
	if os.Getenv("CI") != "true" {
		t.Skip("the build without a network takes minutes: make offline, or CI=true")
	}
	if out, err := exec.Command("unshare", "--user", "--map-root-user", "--net", "true").CombinedOutput(); err != nil {
		t.Skipf("no network namespaces here, so the build without a network is not tried: %v %s", err, out)
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "../../../scripts/offline")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOFLAGS=") || strings.HasPrefix(v, "CGO_") })
	cmd.Env = append(cmd.Env, "GOCACHE="+strings.TrimSpace(string(cache)))
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || !slices.ContainsFunc(lines, func(line string) bool { return json.Valid([]byte(line)) }) {
		t.Errorf("%v %s", err, out)
	}
}
