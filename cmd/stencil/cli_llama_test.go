//go:build llama && cgo

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/vocab"
)

// TestInspectUnknownArchitecture checks that inspect says what a server would refuse.
func TestInspectUnknownArchitecture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	if _, _, err := run(t, "mkmodel", path); err != nil {
		t.Fatal(err)
	}
	if out, _, err := run(t, "inspect", path); err != nil || strings.Contains(out, "can't be loaded") {
		t.Errorf("a known architecture: %s %v", out, err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.ReplaceAll(raw, []byte("llama"), []byte("alpac"))
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	out, _, err := run(t, "inspect", path)
	if err != nil || !strings.Contains(out, "can't be loaded") || !strings.Contains(out, `"alpac" is not known`) || strings.Contains(out, "memory with") {
		t.Errorf("inspect: %s %v", out, err)
	}
	out, _, err = run(t, "inspect", "--json", path)
	if err != nil || !strings.Contains(out, `"unsupported"`) {
		t.Errorf("inspect --json: %s %v", out, err)
	}
}

func TestGenerateCommand(t *testing.T) {
	dir := t.TempDir()
	model, schema := filepath.Join(dir, "m.gguf"), filepath.Join(dir, "s.json")
	if _, _, err := run(t, "mkmodel", model); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(schema, []byte(`{"type": "object", "properties": {"n": {"type": "integer", "maximum": 9, "minimum": 1}}, "required": ["n"], "additionalProperties": false}`), 0o644); err != nil {
		t.Fatal(err)
	}
	out, figures, err := run(t, "generate", "-m", model, "-t", "1", "--prompt", "Hello", "-n", "10", "--seed", "1")
	if err != nil || len(out) < 2 || !strings.Contains(figures, "tokens/s") || !strings.Contains(figures, "seed 1") {
		t.Errorf("%q, %q, %v", out, figures, err)
	}
	again, _, err := run(t, "generate", "-m", model, "-t", "1", "--prompt", "Hello", "-n", "10", "--seed", "1")
	if err != nil || again != out {
		t.Errorf("the same seed: %q and %q, %v", out, again, err)
	}
	for _, more := range [][]string{nil, {"--chat"}, {"--system", "Be brief."}, {"--prompt", "-"}, {"--no-forced"}} {
		args := append([]string{"generate", "-m", model, "-t", "1", "--prompt", "x", "--schema", schema}, more...)
		out, _, err := run(t, args...)
		if err != nil || !regexp.MustCompile(`^\{"n":[1-9]\}\n$`).MatchString(out) {
			t.Errorf("%q: %q, %v", more, out, err)
		}
	}
	var tooSmall *engine.BudgetError
	if _, _, err := run(t, "generate", "-m", model, "--prompt", "x", "--schema", schema, "-n", "2"); err == nil || !errors.As(err, &tooSmall) {
		t.Errorf("a budget of 2: %v", err)
	}
}

// TestGenerateFormats generates with every kind of constraint, and checks the output.
func TestGenerateFormats(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "m.gguf")
	if _, _, err := run(t, "mkmodel", model); err != nil {
		t.Fatal(err)
	}
	grammar := writeTemp(t, "list.gbnf", "root ::= (\"- \" [a-z]{1,3} \"\\n\"){2}")
	types := writeTemp(t, "types.ts", "export interface Item { sku: \"A\" | \"B\" }\nexport interface Order { item: Item }\n")
	example := writeTemp(t, "doc.json", `{"on": true, "n": null}`)
	another := writeTemp(t, "doc2.json", `{"on": false, "n": true}`)
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--grammar", grammar}, `(- [a-z]{1,3}\n){2}`},
		{[]string{"--regex", `[ab]{4}-\d`}, `[ab]{4}-\d`},
		{[]string{"--choice", "yes", "--choice", "no, never"}, `yes|no, never`},
		{[]string{"--builtin", "integer"}, `-?\d+`},
		{[]string{"--builtin", "csv", "--columns", "a,b", "--max-items", "0"}, "a,b\n"},
		{[]string{"--builtin", "csv", "--columns", "a,b", "--no-header", "--min-items", "1", "--max-items", "1", "--delimiter", `\t`}, "(?s).*\t.*\n"},
		{[]string{"--builtin", "xml", "--root", "doc"}, `(?s)(<\?xml [^>]*\?>\s*)?<doc.*>\s*`},
		{[]string{"--schema", types}, `\{"item":\{"sku":"[AB]"\}\}`},
		{[]string{"--schema", types, "--type", "Item"}, `\{"sku":"[AB]"\}`},
		{[]string{"--schema-from-example", example, "--schema-from-example", another}, `\{"on":(true|false),"n":(true|false|null)\}`},
		{[]string{"--json"}, `(?s).+`},
	} {
		for _, more := range [][]string{nil, {"--chat"}} {
			out, _, err := run(t, slices.Concat([]string{"generate", "-m", model, "-t", "1", "--prompt", "x", "-n", "60", "--seed", "4"}, c.flags, more)...)
			if err != nil || !regexp.MustCompile(`^(?:`+c.want+`)\n$`).MatchString(out) {
				t.Errorf("%q: %q, %v", c.flags, out, err)
			}
		}
	}
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--regex", "a", "--choice", "b"}, "exclude one another"},
		{[]string{"--regex", "a)"}, "unmatched )"},
		{[]string{"--builtin", "yaml"}, "no built-in grammar"},
		{[]string{"--builtin", "csv", "--root", "a"}, "no use for a root"},
		{[]string{"--schema", ""}, "--schema is empty"}, {[]string{"--regex", ""}, "--regex is empty"}, {[]string{"--grammar", ""}, "--grammar is empty"},
		{[]string{"--builtin", "jsonl", "--min-items", "-3"}, "must not be negative"},
		{[]string{"--json", "--columns", "3"}, "--columns is a parameter of --builtin"},
		{[]string{"--grammar", grammar, "--type", "A"}, "--type needs --schema"},
		{[]string{"--grammar", example}, "1:1"},
		{[]string{"--schema-from-example", grammar}, "list.gbnf"},
		{[]string{"--schema", types, "--type", "Nobody"}, "Nobody"},
	} {
		_, _, err := run(t, append([]string{"generate", "-m", model, "-t", "1", "--prompt", "x"}, c.flags...)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.flags, err, c.want)
		}
	}
}

// TestGenerateOnVocabularies generates free text, and text under a schema, with a model for each of the large
// vocabularies.
func TestGenerateOnVocabularies(t *testing.T) {
	const doc = `{"type": "object", "properties": {"città": {"enum": ["Zürich", "東京", "naïve 🙂"]}, "tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]{3}$"}, "minItems": 2, "maxItems": 2}}, "required": ["città", "tags"], "additionalProperties": false}`
	dir := t.TempDir()
	schema := filepath.Join(dir, "s.json")
	if err := os.WriteFile(schema, []byte(doc), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"llama2", "mistral3", "llama3", "llama4"} {
		t.Run(name, func(t *testing.T) {
			model := filepath.Join(dir, name+".gguf")
			if _, _, err := run(t, "mkmodel", model, "--vocab", shared.File(t, "vocab", name+".gguf"), "--type", "q8_0"); err != nil {
				t.Fatal(err)
			}
			defer os.Remove(model)
			v, err := vocab.Load(model)
			if err != nil {
				t.Fatal(err)
			}
			var out, figures string
			// With random weights, a text may end at any token, depending on the rounding of the CPU, so try several
			// seeds.
			for seed := 3; seed < 9 && !strings.Contains(figures, "(length"); seed++ {
				out, figures, err = run(t, "generate", "--model", model, "--prompt", "Grüß Gott, 世界 🙂: def f(x):", "-n", "24", "--seed", strconv.Itoa(seed))
			}
			if err != nil || len(out) < 24 || !utf8.ValidString(out) || !strings.Contains(figures, "generate: 24 tokens") {
				t.Errorf("%q, %q, %v", out, figures, err)
			}
			if n := len(v.Encode("Grüß Gott, 世界 🙂: def f(x):")); !strings.Contains(figures, fmt.Sprintf("prompt:   %d tokens", n)) {
				t.Errorf("the prompt has %d tokens: %q", n, figures)
			}
			out, _, err = run(t, "generate", "--model", model, "--prompt", "x", "--schema", schema, "--seed", "3")
			if err != nil || !regexp.MustCompile(`^\{"città":"(Zürich|東京|naïve 🙂)","tags":\["[a-z]{3}","[a-z]{3}"\]\}\n$`).MatchString(out) {
				t.Errorf("%q, %v", out, err)
			}
		})
	}
}

// TestDevicesListLibraries checks that the libraries in lib/ are listed. It uses a separate process, because back ends
// can't be unloaded.
func TestDevicesListLibraries(t *testing.T) {
	const key = "STENCIL_TEST_DEVICES"
	if lib := os.Getenv(key); lib != "" {
		out, _, err := run(t, "devices", "--lib", lib)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(out)
		return
	}
	lib, err := filepath.Abs(filepath.Join("..", "..", "lib"))
	if err != nil {
		t.Fatal(err)
	}
	libraries, _ := filepath.Glob(filepath.Join(lib, "libggml-*"))
	if len(libraries) == 0 {
		t.Skip("there is no lib/: run make portable, cuda, vulkan or metal")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestDevicesListLibraries$")
	cmd.Env = append(os.Environ(), key+"="+lib)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, found, _ := strings.Cut(string(out), "back ends found in "+lib+": ")
	for _, path := range libraries {
		for part, name := range map[string]string{"cpu-": "CPU", "vulkan": "Vulkan", "metal": "Metal"} { // CUDA is not expected: it needs a driver
			if strings.HasPrefix(filepath.Base(path), "libggml-"+part) && !strings.Contains(found, name) {
				t.Errorf("%s is not listed: %s", filepath.Base(path), out)
			}
		}
	}
}

// TestNoHome checks that without a writable home folder, the bundled model is written to the folder for temporary files.
func TestNoHome(t *testing.T) {
	t.Setenv("STENCIL_THREADS", "1")
	for what, home := range map[string]string{"none": "", "one that can't be written": "/dev/null"} {
		t.Setenv("HOME", home)
		t.Setenv("XDG_CACHE_HOME", "")
		t.Setenv("XDG_CONFIG_HOME", "")
		t.Setenv("TMPDIR", t.TempDir())
		out, errs, err := run(t, "generate", "--json", "--max-tokens", "40", "--prompt", "Ann, 34, from Bergen.")
		if err != nil || !json.Valid([]byte(out)) {
			t.Errorf("%s: %q %s %v", what, out, errs, err)
		}
	}
}

// TestServeCommand sends the request of the curl command that serve prints, and expects JSON that fits its schema. It
// also checks that cancelling the context, as SIGTERM does, ends the server without an error.
func TestServeCommand(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // where the bundled model is written
	t.Setenv("STENCIL_THREADS", "1")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	read, write := io.Pipe()
	cmd := newRootCommand()
	cmd.SetArgs([]string{"serve", "--port", "0", "--log-level", "error", "--alias", "bundled"})
	cmd.SetOut(write)
	served := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		write.Close()
		served <- err
	}()
	var printed strings.Builder
	lines := bufio.NewScanner(read)
	for lines.Scan() {
		printed.WriteString(lines.Text() + "\n")
		if lines.Text() == "}'" {
			break
		}
	}
	go io.Copy(io.Discard, read)
	match := regexp.MustCompile(`(?s)curl -s (\S+) -d '(.*)'`).FindStringSubmatch(printed.String())
	if match == nil {
		t.Fatalf("serve printed %q", printed.String())
	}
	resp, err := http.Post(match[1], "application/x-www-form-urlencoded", strings.NewReader(match[2])) // with curl's content type
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got struct {
		Model string
		JSON  struct {
			Name, Email, Plan string
			Age               *int
		}
		Constraint struct{ Validated bool }
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%d, %v", resp.StatusCode, err)
	}
	if got.Model != "bundled" || got.JSON.Name == "" || got.JSON.Age == nil || !got.Constraint.Validated || !strings.Contains("free pro team", got.JSON.Plan) {
		t.Errorf("%+v", got)
	}
	// The trained model must also extract the right values.
	path, err := models.Bundled("")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(path, "stencil-extract") && (got.JSON.Name != "Maria Lopez" || got.JSON.Age == nil || *got.JSON.Age != 34 || got.JSON.Email != "maria.lopez@example.com" || got.JSON.Plan != "team") {
		t.Errorf("the text says otherwise: %+v", got.JSON)
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
}

func TestServePortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var out bytes.Buffer
	cmd := newRootCommand()
	cmd.SetOut(&out)
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	cmd.SetArgs([]string{"serve", "--port", port})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "choose another port with --port") {
		t.Errorf("%v", err)
	}
}

func TestDevicesJSON(t *testing.T) {
	out, _, err := run(t, "devices", "--json")
	var got struct {
		Devices []struct {
			Name  string
			Total uint64 `json:"memory_total"`
		}
		Kernels string `json:"cpu_kernels"`
	}
	if err != nil || json.Unmarshal([]byte(out), &got) != nil || len(got.Devices) == 0 || got.Devices[0].Name == "" || got.Devices[0].Total == 0 || got.Kernels == "" {
		t.Errorf("%v\n%s", err, out)
	}
}
