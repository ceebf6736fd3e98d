package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/internal/shared"
)

// runCommand runs a command line and returns its output and exit status.
func runCommand(t *testing.T, stdin string, args ...string) (stdout string, status int, err error) {
	t.Helper()
	var out bytes.Buffer
	root := newRootCommand()
	root.SetArgs(args)
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&out)
	err = root.ExecuteContext(t.Context())
	var coded *exitError
	switch {
	case errors.As(err, &coded):
		status = coded.code
	case err != nil:
		status = 1
	}
	return out.String(), status, err
}

// writeTemp writes a text to a temporary file with the given name.
func writeTemp(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const personSchema = `{"type": "object", "properties": {"name": {"type": "string", "minLength": 3}, "age": {"type": "integer"}}, "required": ["name"], "additionalProperties": false}`

func TestSchemaMatch(t *testing.T) {
	schema := writeTemp(t, "person.json", personSchema)
	declaration := writeTemp(t, "person.ts", "interface Person { /** @minLength 3 */ name: string; age?: bigint }")
	for _, c := range []struct {
		file, text string
		flags      []string
		status     int
		says       string
	}{
		{schema, `{"name": "Ann", "age": 1e1}` + "\n", nil, 0, "accepted"},
		{schema, `{"age":1,"name":"Ann"}`, nil, 0, "accepted"},
		{schema, `{"age":1,"name":"Ann"}`, []string{"--order", "schema"}, exitRefused, "line 1, column"},
		{schema, `{"name": "Ann"}`, []string{"--whitespace", "compact"}, exitRefused, "line 1, column 9"},
		{schema, `{"name":"Ann","age":1e1}`, []string{"--numbers", "generated"}, exitRefused, "line 1, column"},
		{schema, "{\n \"name\": \"日本\"}", nil, exitRefused, "line 2, column 13"},
		{schema, `{"name": "A`, nil, exitIncomplete, "it could end with"},
		{schema, ``, nil, exitIncomplete, "incomplete after 0 bytes"},
		{declaration, `{"name": "Ann"}`, nil, 0, "accepted"},
		{declaration, `{"name": "A"}`, nil, exitRefused, "column"},
		{declaration, `{}`, []string{"--type", "Nobody"}, exitWrong, "type Nobody is not declared"},
		{writeTemp(t, "bad.json", `{"type": 1}`), `1`, nil, exitWrong, "/type"},
		{writeTemp(t, "bad.ts", `class A {}`), `1`, nil, exitWrong, "1:1"},
	} {
		args := append([]string{"schema", "match", c.file, "--text-file", "-"}, c.flags...)
		out, status, err := runCommand(t, c.text, args...)
		if err != nil {
			out += err.Error()
		}
		if status != c.status || !strings.Contains(out, c.says) {
			t.Errorf("%s with %q %v: status %d, want %d; says %s", filepath.Base(c.file), c.text, c.flags, status, c.status, out)
		}
	}
}

func TestSchemaCheck(t *testing.T) {
	out, status, err := runCommand(t, personSchema, "schema", "check", "-", "--json")
	if status != 0 {
		t.Fatal(err)
	}
	var c schemaCheck
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if !c.OK || c.Shortest != `{"name":"aaa"}` || len(c.Samples) != 4 || c.ForcedShare <= 0 || c.Cost.States == 0 {
		t.Errorf("got %s", out)
	}
	for _, s := range append(c.Samples, c.Shortest) {
		var person struct {
			Name string
			Age  int
		}
		if err := json.Unmarshal([]byte(s), &person); err != nil || len(person.Name) < 3 {
			t.Errorf("sample %s: %v", s, err)
		}
	}
	out, status, _ = runCommand(t, "{\n\"type\": \"strin\", \"minLength\": -1}", "schema", "check", "-")
	if status != exitWrong || !strings.Contains(out, `error: 2:`) || strings.Count(out, "error: ") != 2 {
		t.Errorf("status %d: %s", status, out)
	}
	out, status, _ = runCommand(t, `{"requird": ["a"]}`, "schema", "check", "-")
	if status != 0 || !strings.Contains(out, "warning:") || !strings.Contains(out, "required") {
		t.Errorf("status %d: %s", status, out)
	}
	if out, status, _ = runCommand(t, `{"requird": ["a"]}`, "schema", "check", "-", "--strict"); status != exitWrong {
		t.Errorf("strict: status %d: %s", status, out)
	}
}

func TestSchemaConvert(t *testing.T) {
	out, status, err := runCommand(t, "type A = { b: 1 }", "schema", "convert", "-")
	if status != 0 || !strings.Contains(out, `"b": {`) || !json.Valid([]byte(out)) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestMeasuring runs the measuring commands on the small corpus with a real
// vocabulary.
func TestMeasuring(t *testing.T) {
	vocabFile := shared.File(t, "vocab", "llama2.gguf")
	corpus := filepath.Join("..", "..", "bench", "testdata", "own")
	results := filepath.Join(t.TempDir(), "r.jsonl")
	out, status, err := runCommand(t, "", "maskbench", "--vocab", vocabFile, "--out", results, "--slowest", "3", corpus)
	if status != 0 || !strings.Contains(out, "100.00%") || !strings.Contains(out, "slowest masks") {
		t.Errorf("%v: %s", err, out)
	}
	lines, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(lines) {
		if !json.Valid(line) || !bytes.Contains(line, []byte(`"status":"pass"`)) {
			t.Errorf("%.300s", line)
		}
	}
	out, status, err = runCommand(t, "", "walk", "--vocab", vocabFile, "--n", "3", "--limit-schemas", "5", corpus)
	if status != 0 || !strings.Contains(out, "documents") {
		t.Errorf("%v: %s", err, out)
	}
	if _, status, _ = runCommand(t, "", "maskbench", corpus); status != 1 {
		t.Error("no vocabulary, no error")
	}
}

// TestErrorsNameFiles checks that an error in a schema or grammar says which file has it, on the line that says what it is.
func TestErrorsNameFiles(t *testing.T) {
	wrong, cut, rules := writeTemp(t, "wrong.json", `{"type": "objct"}`), writeTemp(t, "cut.json", `{"type": `), writeTemp(t, "wrong.gbnf", `root ::= x`)
	misspelt, text, none := writeTemp(t, "misspelt.json", `{"requird": ["a"]}`), writeTemp(t, "text.json", `{}`), filepath.Join(t.TempDir(), "none.json")
	for _, c := range []struct {
		file, says string
		args       []string
	}{
		{wrong, "objct", []string{"schema", "check", wrong}},
		{cut, "end of document", []string{"schema", "check", cut}},
		{misspelt, "requird", []string{"schema", "check", misspelt}},
		{none, "no such file", []string{"schema", "check", none}},
		{wrong, "--type", []string{"schema", "check", wrong, "--type", "T"}},
		{wrong, "objct", []string{"schema", "match", wrong, "--text-file", text}},
		{wrong, "objct", []string{"repair", "--schema", wrong, text}},
		{rules, "undefined rule", []string{"grammar", "check", rules}},
		{rules, "undefined rule", []string{"grammar", "match", rules, "--text-file", text}},
	} {
		out, _, err := runCommand(t, "", c.args...)
		if err != nil {
			out += err.Error()
		}
		if !slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool { return strings.Contains(line, c.file) && strings.Contains(line, c.says) }) {
			t.Errorf("%v: says %s", c.args, out)
		}
	}
	v, err := walk.ByteTokens()
	if err != nil {
		t.Fatal(err)
	}
	for flag, file := range map[string]string{"schema": wrong, "grammar": rules} {
		var f formatFlags
		cmd := &cobra.Command{}
		f.register(cmd)
		if err := cmd.Flags().Set(flag, file); err != nil {
			t.Fatal(err)
		}
		format, err := f.read(cmd)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := format.compile(v); err == nil || !strings.HasPrefix(err.Error(), file+": ") {
			t.Errorf("generate --%s: %v", flag, err)
		}
	}
}
