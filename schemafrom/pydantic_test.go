package schemafrom

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/schema"
)

// python returns a Python interpreter with the packages that testdata/pydantic/requirements.txt pins by hash: a virtual
// environment in the user's cache, created once for each content of that file.
func python(t *testing.T) string {
	t.Helper()
	found, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3: the models of Pydantic are skipped")
	}
	requirements, err := os.ReadFile("testdata/pydantic/requirements.txt")
	if err != nil {
		t.Fatal(err)
	}
	version, err := exec.CommandContext(t.Context(), found, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cache, "stencil", "python", fmt.Sprintf("pydantic-%x", sha256.Sum256(append(requirements, version...)))[:28])
	interpreter := filepath.Join(folder, "bin", "python")
	if _, err := os.Stat(interpreter); err == nil {
		return interpreter
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	made, err := os.MkdirTemp(filepath.Dir(folder), "new-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(made)
	for _, args := range [][]string{
		{found, "-m", "venv", made},
		{filepath.Join(made, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:",
			"--require-hashes", "-r", "testdata/pydantic/requirements.txt"},
	} {
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("Pydantic can't be fetched: %v\n%s", err, out)
		}
	}
	if err := os.Rename(made, folder); err != nil {
		if _, there := os.Stat(interpreter); there != nil { // unless another run created it first
			t.Fatal(err)
		}
	}
	return interpreter
}

// TestPydantic samples documents from the schemas that Pydantic derives from models, and validates every document with
// Pydantic.
func TestPydantic(t *testing.T) {
	interpreter := python(t)
	out, err := exec.CommandContext(t.Context(), interpreter, "testdata/pydantic/models.py", "schemas").Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr(err))
	}
	documents := 25
	if n, err := strconv.Atoi(os.Getenv("STENCIL_PYDANTIC")); err == nil {
		documents = n
	}
	v, err := walk.ByteTokens()
	if err != nil {
		t.Fatal(err)
	}
	tokens := walk.NewTokens(v)
	var cases bytes.Buffer
	models, written := 0, 0
	for line := range bytes.Lines(out) {
		var model struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		}
		if err := json.Unmarshal(line, &model); err != nil {
			t.Fatal(err)
		}
		models++
		s, err := schema.Compile(model.Schema, schema.Options{})
		if err != nil {
			t.Errorf("%s: %v\n%s", model.Name, err, model.Schema)
			continue
		}
		g := s.Grammar(v)
		for i := range documents {
			w := &walk.Walker{Tokens: tokens, Rand: rand.New(rand.NewPCG(5, uint64(i))), Budget: 40}
			text, err := w.Document(walk.Of(g.NewMatcher()))
			if err != nil {
				t.Errorf("%s: %q: %v", model.Name, text, err)
				break
			}
			line, err := json.Marshal(map[string]string{"name": model.Name, "text": string(text)})
			if err != nil {
				t.Fatal(err)
			}
			cases.Write(append(line, '\n'))
			written++
		}
	}
	if models < 40 {
		t.Errorf("only %d models", models)
	}
	judge := exec.CommandContext(t.Context(), interpreter, "testdata/pydantic/models.py", "validate")
	judge.Stdin = &cases
	refused, err := judge.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr(err))
	}
	lines := bufio.NewScanner(bytes.NewReader(refused))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		t.Errorf("Pydantic refuses %s", lines.Text())
	}
	t.Logf("%d documents of %d models", written, models)
}

func stderr(err error) []byte {
	if e, ok := err.(*exec.ExitError); ok {
		return e.Stderr
	}
	return nil
}
