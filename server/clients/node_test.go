package clients

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// saveCall is a model's call of the tool that the tests have.
const saveCall = "I will. <tool_call>\n" + `{"name": "save", "arguments": {"name": "ann", "age": 5, "plan": "pro"}}` + "\n</tool_call>"

// TestJavaScript runs the tests in js, which drive the clients that are
// published for Node.js.
func TestJavaScript(t *testing.T) {
	node := jsClients(t)
	files, err := filepath.Glob("js/*.mjs")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	servers := []string{
		"STENCIL_RANDOM=" + start(t, ""),
		"STENCIL_HELLO=" + start(t, "hello wörld"),
		"STENCIL_CALLER=" + startSaying(t, saveCall),
		"STENCIL_ANSWERING=" + startAnswering(t, saveCall),
		"STENCIL_EMBEDDER=" + startEmbedding(t),
		"STENCIL_THINKER=" + startThinking(t, "<think>\nhmm</think>\n\nhello wörld"),
	}
	for _, file := range files {
		if filepath.Base(file) == "shared.mjs" {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), node, "--test", "--test-reporter=spec", filepath.Base(file))
			cmd.Dir = "js"
			cmd.Env = append(os.Environ(), servers...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	t.Run("types", func(t *testing.T) {
		compile := exec.CommandContext(t.Context(), node, "node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext",
			"--lib", "es2022,dom,dom.asynciterable", "own.types.mts")
		compile.Dir = "js"
		if out, err := compile.CombinedOutput(); err != nil {
			t.Errorf("the types of clients/typescript: %v\n%s", err, out)
		}
	})
}

// jsClients fetches the clients into js/node_modules, unless they are there, and returns the path of Node.js.
func jsClients(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node: the tests of JavaScript clients are skipped")
	}
	lock, err := os.ReadFile("js/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	const installed = "js/node_modules/.installed-from" // a copy of the lock file
	if from, err := os.ReadFile(installed); err != nil || !bytes.Equal(from, lock) {
		npm, err := exec.LookPath("npm")
		if err != nil {
			t.Skip("no npm: the tests of JavaScript clients are skipped")
		}
		install := exec.CommandContext(t.Context(), npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts")
		install.Dir = "js"
		if out, err := install.CombinedOutput(); err != nil {
			t.Skipf("the JavaScript clients can't be fetched: %v\n%s", err, out)
		}
		if err := os.WriteFile(installed, lock, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return node
}
