package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stencil-json/stencil/internal/packages"
)

// saveCall is a model's call of the tests' tool.
const saveCall = "I will. <tool_call>\n" + `{"name": "save", "arguments": {"name": "ann", "age": 5, "plan": "pro"}}` + "\n</tool_call>"

// TestJavaScript runs the tests in js, which use the clients published for Node.js.
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
	t.Run("npm install", func(t *testing.T) { installOwn(t, node, servers[0]) })
	t.Run("types", func(t *testing.T) {
		compile := exec.CommandContext(t.Context(), node, "node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext",
			"--lib", "es2022,dom,dom.asynciterable", "own.types.mts")
		compile.Dir = "js"
		if out, err := compile.CombinedOutput(); err != nil {
			t.Errorf("the types of clients/typescript: %v\n%s", err, out)
		}
	})
}

// installOwn installs our own client in a new project, and compiles and runs a program there.
func installOwn(t *testing.T, node, env string) {
	own, err := filepath.Abs("../../clients/typescript")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := filepath.Abs("js/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const source = `import { Client } from 'stencil-client'
const { value, receipt } = await new Client(process.env.STENCIL_RANDOM!).generateJSON<boolean>({ type: 'boolean' }, 'x')
const fits: boolean = value
console.log(typeof fits, receipt?.validated)
`
	for name, text := range map[string]string{
		"package.json": `{"name": "new", "private": true, "type": "module"}`,
		"main.ts":      "declare const process: { env: Record<string, string> }\n" + source,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Installed as a copy, so that a file missing in package.json is noticed.
	for _, command := range [][]string{
		{"npm", "install", "--offline", "--install-links", "--no-audit", "--no-fund", own},
		{node, filepath.Join(modules, "typescript", "bin", "tsc"), "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.asynciterable", "main.ts"},
		{node, "main.js"},
	} {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), env)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if command[1] == "main.js" && string(out) != "boolean true\n" {
			t.Errorf("it prints %q", out)
		}
	}
}

// jsClients fetches the clients if necessary, links js/node_modules to them and returns the path of Node.js.
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
