//go:build llama

package docs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/internal/packages"
	"github.com/stencil-json/stencil/internal/realmodels"
)

// stencil builds the program and returns its path.
func stencil(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "bin", "stencil")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/stencil-json/stencil/cmd/stencil").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

var serving = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// serve runs the program as a server with the bundled model until the test ends, and returns its URL.
func serve(t *testing.T, program string, flags ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, append([]string{"serve", "--port", "0", "--feedback", filepath.Join(t.TempDir(), "feedback.db")}, flags...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	cmd.Dir = t.TempDir()
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(found)
		said := false
		for in := bufio.NewScanner(out); in.Scan(); {
			if url := serving.FindString(in.Text()); url != "" && !said {
				said = true
				found <- url
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		cmd.Wait()
	})
	url, ok := <-found
	if !ok {
		cmd.Wait()
		t.Fatalf("the server did not start:\n%s", log.String())
	}
	return url
}

// TestBlocks runs the sh blocks of every page in order, in a separate folder for each page, against a server with the bundled
// model, and compares the output with the documented output. Pages run one after another: concurrent requests could change the
// generated texts.
func TestBlocks(t *testing.T) {
	program := stencil(t)
	url := serve(t, program)
	for _, p := range guides(t) {
		t.Run(p.path, func(t *testing.T) { runPage(t, p, program, url) })
	}
}

// runPage runs the blocks of a page.
func runPage(t *testing.T, p page, program, url string) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(dir, "bin", "stencil")); err != nil {
		t.Fatal(err)
	}
	var out []byte
	ran := true // whether the block before an output block was run
	for i, b := range p.blocks {
		switch {
		case b.mark == "norun" || b.mark == "output" && !ran:
		case b.mark == "file":
			path := filepath.Join(dir, filepath.Clean("/"+b.what))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(b.text), 0o644); err != nil {
				t.Fatal(err)
			}
		case b.mark == "output":
			if bad := printed(b, string(out)); bad != "" {
				t.Errorf("%s: %s\nprinted:\n%s", b.place(), bad, out)
			}
		case b.mark == "python" || b.mark == "node":
			out, ran = runProgram(t, b, dir, url)
		case b.lang == "sh":
			ran = true
			cmd := exec.CommandContext(t.Context(), "timeout", "60", "bash", "-euo", "pipefail", "-c", serving.ReplaceAllString(b.text, url))
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "STENCIL_CONFIG=off") // stencil is not on the PATH, as with readers
			var errs bytes.Buffer
			cmd.Stderr = &errs
			var err error
			out, err = cmd.Output()
			failed := err != nil || isError(out)
			if failed != (b.mark == "error") {
				t.Errorf("%s: %v\n%s%s", b.place(), err, out, errs.String())
			}
			// Commands' standard error is documented after their standard output.
			if next := i + 1; next < len(p.blocks) && p.blocks[next].mark == "output" && p.blocks[next].what == "stderr" {
				out = errs.Bytes()
			}
		}
	}
}

// askForPackages is the environment variable that enables blocks that need large packages. Its value is 1, or a part of the path
// of a page, of a lock file or of an example.
const askForPackages = "DOCSTEST"

// pythonExamples are the examples of frameworks, by lock file.
var pythonExamples = map[string][]string{
	"openai":  {"autogen", "langchain", "pydantic-ai", "smolagents"},
	"litellm": {"dspy", "instructor", "llama-index"},
	"crewai":  {"crewai"},
}

// longPrompts are the examples whose prompts are too long for the bundled model, so that its answers are meaningless.
var longPrompts = []string{"crewai", "dspy"}

// TestPythonExamples runs the examples of Python frameworks, only on request because their packages are large.
func TestPythonExamples(t *testing.T) {
	asked := os.Getenv(askForPackages)
	if asked == "" {
		t.Skip("the examples of Python frameworks are run by make docstest")
	}
	program := stencil(t)
	url := serve(t, program)
	for lock, names := range pythonExamples {
		for _, name := range names {
			if asked != "1" && asked != name && asked != lock {
				continue
			}
			t.Run(name, func(t *testing.T) {
				url := url
				if slices.Contains(longPrompts, name) {
					url = serve(t, program, "--model", realmodels.Path(t, realmodels.Qwen))
				}
				src, err := os.ReadFile(filepath.Join(root, "examples", name, "main.py"))
				if err != nil {
					t.Fatal(err)
				}
				out, _ := runProgram(t, block{page: "examples/" + name, text: string(src), mark: "python", what: lock}, t.TempDir(), url)
				if !regexp.MustCompile(`name='Maria Lopez',* age=34`).Match(out) {
					t.Errorf("it prints %q", out)
				}
			})
		}
	}
}

// TestClaudeFlow runs the example of Claude Flow, only on request because its packages are large.
func TestClaudeFlow(t *testing.T) {
	if asked := os.Getenv(askForPackages); asked != "1" && asked != "claude-flow" {
		t.Skip("the example of Claude Flow is run by make docstest")
	}
	node, modules, err := packages.Node(t, filepath.Join(root, "examples", "claude-flow"))
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, stencil(t), "--model", realmodels.Path(t, realmodels.Qwen))
	src, err := os.ReadFile(filepath.Join(root, "examples", "claude-flow", "main.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(os.Symlink(modules, filepath.Join(dir, "node_modules")), os.WriteFile(filepath.Join(dir, "main.mjs"), src, 0o644)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "timeout", "120", node, "main.mjs")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "STENCIL_URL="+url, "HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !regexp.MustCompile(`wrote \d+ tokens: .*Maria Lopez`).Match(out) || !regexp.MustCompile(`"name": *"Maria Lopez",\s*"age": *34`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
}

// runProgram runs a block of Python or JavaScript and returns its output; ran is false if it was not requested.
func runProgram(t *testing.T, b block, dir, url string) (out []byte, ran bool) {
	var program string
	file := filepath.Join(dir, "block.py")
	if b.mark == "python" {
		if asked := os.Getenv(askForPackages); b.what != "clients" && (asked == "" || asked != "1" && !strings.Contains(b.page, asked) && !strings.Contains(b.what, asked)) {
			return nil, false
		}
		var err error
		if program, err = packages.Python(t, lockOf(b.what)); err != nil {
			if b.what != "clients" {
				t.Fatal(err)
			}
			t.Skip("the Python clients can't be fetched:", err)
		}
	} else {
		node, modules, err := packages.Node(t, filepath.Join(root, "server", "clients", "js"))
		if err != nil {
			t.Skip("the JavaScript clients can't be fetched:", err)
		}
		program, file = node, filepath.Join(dir, "block.mjs")
		if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte(serving.ReplaceAllString(b.text, url)), 0o644); err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Abs(filepath.Join(root, "clients", "python", "src"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "timeout", "300", program, file)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "STENCIL_URL="+url, "PYTHONPATH="+own, "PYTHONDONTWRITEBYTECODE=1", "PYTHONIOENCODING=utf-8", "OTEL_SDK_DISABLED=true",
		"DO_NOT_TRACK=1", "CREWAI_DISABLE_TELEMETRY=true", "CREWAI_TRACING_ENABLED=false", "HAYSTACK_TELEMETRY_ENABLED=False", "LITELLM_LOCAL_MODEL_COST_MAP=True",
		"OPENAI_AGENTS_DISABLE_TRACING=1", "HF_HUB_OFFLINE=1", "HOME="+dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if out, err = cmd.Output(); err != nil {
		t.Errorf("%s: %v\n%s%s", b.place(), err, out, errs.String())
	}
	return out, true
}

// isError reports whether the server answered with an error.
func isError(out []byte) bool {
	var body struct{ Error any }
	return json.Unmarshal(bytes.TrimSpace(out), &body) == nil && body.Error != nil
}

// printed compares the output with the documented output; it returns "" if they match.
func printed(b block, out string) string {
	if b.lang != "json" {
		if !like(b.text, out) {
			return "it prints something else"
		}
		return ""
	}
	documented, err := documents(b.text)
	if err != nil {
		return err.Error()
	}
	real, err := documents(out)
	if err != nil || len(real) < len(documented) {
		return fmt.Sprintf("%d documents are printed: %v", len(real), err)
	}
	for i := range documented {
		if bad := fits(documented[i], real[i], ""); bad != "" {
			return bad
		}
	}
	return ""
}

// TestOpenAPIServer runs schemathesis, which sends valid and invalid requests derived from openapi.json to a server and checks
// the answers. It then generates clients for Python and TypeScript, compiles them, and runs programs that use them. It takes
// minutes and runs only on request: OPENAPITEST is the number of requests for each operation.
func TestOpenAPIServer(t *testing.T) {
	most := os.Getenv("OPENAPITEST")
	if most == "" {
		t.Skip("the OpenAPI file is checked against the server by make openapi-test")
	}
	python, err := packages.Python(t, lockOf("openapi"))
	if err != nil {
		t.Fatal(err)
	}
	absolute := func(parts ...string) string {
		path, err := filepath.Abs(filepath.Join(parts...))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := absolute("reference", "openapi.json")
	programs := absolute(root, "server", "clients", "openapi")
	url := serve(t, stencil(t))
	run := func(t *testing.T, dir, program string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PYTHONIOENCODING=utf-8", "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	t.Run("python", func(t *testing.T) {
		dir := t.TempDir()
		made := run(t, dir, python, "-m", "openapi_python_client", "generate", "--path", file, "--meta", "none", "--output-path", filepath.Join(dir, "stencil_api"))
		if strings.Contains(made, "Unable to process schema") || strings.Contains(made, "will not be generated") {
			t.Errorf("the client for Python lacks something: %s", made)
		}
		run(t, dir, python, "-c", `import pkgutil, importlib, stencil_api
names = [m.name for m in pkgutil.walk_packages(stencil_api.__path__, "stencil_api.")]
for name in names:
    importlib.import_module(name)
assert len(names) > 200, names
from stencil_api.models import Generate
body = Generate.from_dict({"prompt": "x", "max_tokens": 5, "schema": {"type": "object"}})
assert body.to_dict() == {"prompt": "x", "max_tokens": 5, "schema": {"type": "object"}}, body.to_dict()`)
		if out := run(t, dir, python, filepath.Join(programs, "client.py"), url); out != "{'name': 'Maria Lopez', 'age': 34} True\ninvalid_schema /type\n" {
			t.Errorf("a program on the client for Python prints %q", out)
		}
	})
	t.Run("typescript", func(t *testing.T) {
		node, modules, err := packages.Node(t, programs)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
		run(t, dir, node, filepath.Join(modules, "openapi-typescript", "bin", "cli.js"), file, "-o", "api.d.ts")
		program, err := os.ReadFile(filepath.Join(programs, "client.mts"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "client.mts"), program, 0o644); err != nil {
			t.Fatal(err)
		}
		run(t, dir, node, filepath.Join(modules, "typescript", "bin", "tsc"), "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom", "client.mts")
		want := `{"name":"Maria Lopez","age":34}`
		if out := run(t, dir, node, "client.mjs", url); out != want+" true\n"+want+"\n400 invalid_schema /type\n" {
			t.Errorf("a program on the client for TypeScript prints %q", out)
		}
	})
	t.Run("server", func(t *testing.T) {
		settings, streams := absolute(root, "server", "clients", "python", "openapi.toml"), filepath.Join(t.TempDir(), "openapi.json")
		// schemathesis reads itemSchema, and takes the schema of a stream beside it for one of the list of its events.
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source = regexp.MustCompile(`"text/event-stream": \{\s*"schema": \{\s*"type": "string"\s*\},\s*"x-itemSchema"`).ReplaceAll(source, []byte(`"text/event-stream": {"itemSchema"`))
		if n := bytes.Count(source, []byte(`"itemSchema"`)); n < 10 {
			t.Fatalf("only %d streams are described", n)
		}
		if err := os.WriteFile(streams, source, 0o644); err != nil {
			t.Fatal(err)
		}
		out := run(t, t.TempDir(), python, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "--config-file", settings, "run", streams, "--url", url, "--max-examples", most,
			"--seed", "1", "--phases", "coverage,fuzzing", "--continue-on-failure", "--no-shrink", "--warnings", "off", "--no-color", "--request-timeout", "60")
		if n := strings.Count(out, "Tested: "); n != 1 {
			t.Errorf("it tested nothing: %s", out)
		}
		t.Log(out)
	})
}
