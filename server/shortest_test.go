package server

import (
	"path/filepath"
	"testing"

	"stencil/engine"
	"stencil/models"
	"stencil/vocab"
)

// The shortest signals are what their schema has as the shortest.
func TestShortestSignals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Layers: 1, Width: 16}); err != nil {
		t.Fatal(err)
	}
	v, err := vocab.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	m := &served{schemas: engine.NewSchemas(v, 8)}
	for _, tools := range [][]string{nil, {"a"}, {"b", "look-up/2"}} {
		d, err := signalsDocument(m, tools)
		if err != nil {
			t.Fatal(err)
		}
		g, err := d.Fresh()
		if err != nil {
			t.Fatal(err)
		}
		if got := g.NewMatcher().ShortestCompletion(); "\n"+string(got) != shortestSignals(tools) {
			t.Errorf("%v: %q, want %q", tools, got, shortestSignals(tools))
		}
	}
}
