package schemafrom

import (
	"archive/zip"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program is a program of another module that derives a schema from one of its types.
const program = `package main

import (
	"fmt"
	"os"
	"time"

	"github.com/stencil-json/stencil/schemafrom"
)

type order struct {
	ID    int       ` + "`json:\"id\" jsonschema:\"minimum=1\"`" + `
	Due   time.Time ` + "`json:\"due,omitzero\"`" + `
	Items []string  ` + "`json:\"items\"`" + `
}

func main() {
	s, err := schemafrom.Go[order]()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(s))
}
`

// command runs go in a folder and returns its output.
func command(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOFLAGS=-modcacherw", "GOWORK=off", "CGO_ENABLED=0"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestImportable imports the package in a program of another module: from a checkout, and by go get from a module proxy that serves this
// tree as a release.
func TestImportable(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	module := strings.TrimSpace(command(t, ".", nil, "list", "-m"))
	const want = `"properties":{"id":{"type":"integer","minimum":1,"maximum":9223372036854775807},"due":{"type":"string",`
	shop := func(t *testing.T) string {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "go.mod"), "module example.com/shop\n\ngo 1.26.0\n")
		write(t, filepath.Join(dir, "main.go"), program)
		return dir
	}

	t.Run("replace", func(t *testing.T) {
		dir := shop(t)
		command(t, dir, nil, "mod", "edit", "-require", module+"@v0.0.0", "-replace", module+"="+root)
		if out := command(t, dir, []string{"GOPROXY=off"}, "run", "-mod=mod", "."); !strings.Contains(out, want) {
			t.Error(out)
		}
	})

	t.Run("go get", func(t *testing.T) {
		proxy := t.TempDir()
		release(t, root, module, proxy)
		cache := strings.TrimSpace(command(t, ".", nil, "env", "GOMODCACHE"))
		env := []string{
			"GOPROXY=file://" + filepath.ToSlash(proxy) + ",file://" + filepath.ToSlash(cache) + "/cache/download",
			"GOMODCACHE=" + t.TempDir(), "GOSUMDB=off", "GOTOOLCHAIN=local",
		}
		dir := shop(t)
		command(t, dir, env, "get", module+"/schemafrom@v0.1.0")
		if out := command(t, dir, env, "run", "."); !strings.Contains(out, want) {
			t.Error(out)
		}
	})
}

// release writes the Go files of the tree as version 0.1.0 of the module, to a folder in the layout of a module proxy.
func release(t *testing.T, root, module, proxy string) {
	t.Helper()
	versions := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(versions, "list"), "v0.1.0\n")
	write(t, filepath.Join(versions, "v0.1.0.info"), `{"Version": "v0.1.0", "Time": "2026-01-01T00:00:00Z"}`)
	write(t, filepath.Join(versions, "v0.1.0.mod"), string(mod))
	file, err := os.Create(filepath.Join(versions, "v0.1.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	archive := zip.NewWriter(file)
	err = fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name := d.Name(); path != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		case path != "go.mod" && !strings.HasSuffix(path, ".go"):
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		w, err := archive.Create(module + "@v0.1.0/" + path)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func ExampleExample() {
	s, err := Example([]byte(`{"name": "Ann", "tags": ["new"]}`), []byte(`{"name": "Bob"}`))
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(s)
	// Output: {"type":"object","properties":{"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["name"],"additionalProperties":false}
}

func ExampleTypeScript() {
	s, err := TypeScript("export interface Person { name: string; age?: number }", "Person")
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString(strings.TrimPrefix(string(s), `{"$schema":"https://json-schema.org/draft/2020-12/schema",`))
	// Output: "title":"Person","type":"object","properties":{"name":{"type":"string"},"age":{"type":"number"}},"required":["name"],"additionalProperties":false}
}
