//go:build llama && cgo

package server_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/models"
)

func init() {
	loadedModel = func(t testing.TB) backend.Model {
		t.Helper()
		path := os.Getenv("STENCIL_LOAD_MODEL")
		if path == "random" {
			path = filepath.Join(t.TempDir(), "random.gguf")
			if err := models.WriteRandom(path, models.RandomOptions{Layers: 1, Width: 64, Context: 1 << 14}); err != nil {
				t.Fatal(err)
			}
		}
		model, err := llama.Load(t.Context(), path, llama.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return model
	}
}
