package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"stencil/internal/packages"
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

// jsClients fetches the clients, unless they are there, links js/node_modules to them and returns the path of Node.js.
func jsClients(t *testing.T) string {
	t.Helper()
	node, modules, err := packages.Node(t, "js")
	if err != nil {
		t.Skip("the JavaScript clients can't be fetched:", err)
	}
	const link = "js/node_modules"
	if to, err := os.Readlink(link); err == nil && to == modules {
		return node
	}
	if err := os.RemoveAll(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, link); err != nil {
		t.Fatal(err)
	}
	return node
}
