package generation

import (
	"path/filepath"
	"testing"

	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/vocab"
)

// TestShortestSignals checks shortestSignals against the shortest
// document of the schema.
func TestShortestSignals(t *testing.T) {
	v := tinyVocabHere(t)
	m := &registry.Model{Schemas: constraint.NewSchemas(v, 8)}
	for _, tools := range [][]string{nil, {"a"}, {"b", "look-up/2"}} {
		d, err := signalsDocument(t.Context(), m, tools)
		if err != nil {
			t.Fatal(err)
		}
		g, err := d.Fresh(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := g.NewMatcher().ShortestCompletion(); "\n"+string(got) != shortestSignals(tools) {
			t.Errorf("%v: %q, want %q", tools, got, shortestSignals(tools))
		}
	}
}

// tinyVocabHere is the vocabulary of the bundled model.
func tinyVocabHere(t *testing.T) *vocab.Vocab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Layers: 1, Width: 16}); err != nil {
		t.Fatal(err)
	}
	v, err := vocab.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPromptOpensReasoning(t *testing.T) {
	v := tinyVocabHere(t)
	if prompt := v.Encode("what? <think>\n"); !registry.BegunToThink(v, prompt, "<think>") || registry.BegunToThink(v, v.Encode("what?"), "<think>") || registry.BegunToThink(v, v.Encode("<think> is a mark"), "<think>") {
		t.Error("the beginning of reasoning in a prompt")
	}
}
