package schemafrom

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A program of another module imports the package and has a schema made of a type of its own.
func TestImportable(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	name, err := exec.CommandContext(t.Context(), "go", "list", "-m").Output()
	if err != nil {
		t.Fatal(err)
	}
	module := strings.TrimSpace(string(name))
	dir := t.TempDir()
	for file, text := range map[string]string{
		"go.mod": "module example.com/shop\n\ngo 1.26.0\n\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + root + "\n",
		"main.go": `package main

import (
	"fmt"
	"os"
	"time"

	"` + module + `/schemafrom"
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
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	want := `"properties":{"id":{"type":"integer","minimum":1,"maximum":9223372036854775807},"due":{"type":"string",`
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v: %s", err, out)
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
