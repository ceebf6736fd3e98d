package schemafrom

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/internal/packages"
	"github.com/stencil-json/stencil/schema"
)

// TestPydantic samples documents from the schemas that Pydantic derives from models, and validates every document with
// Pydantic.
func TestPydantic(t *testing.T) {
	interpreter, err := packages.Python(t, "testdata/pydantic/requirements.txt")
	if err != nil {
		t.Skipf("Pydantic can't be fetched: %v", err)
	}
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
