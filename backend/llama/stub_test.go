//go:build !llama || !cgo

package llama

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/models"
)

// TestStub checks that a program without llama.cpp reports this, and how to
// get it.
func TestStub(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := Load(context.Background(), path, LoadOptions{})
	if !errors.Is(err, backend.ErrNotBuilt) || !strings.Contains(err.Error(), "make build") {
		t.Errorf("Load: %v", err)
	}
	if _, err := Devices(); !errors.Is(err, backend.ErrNotBuilt) {
		t.Errorf("Devices: %v", err)
	}
	if err := CheckArchitecture("llama"); !errors.Is(err, backend.ErrNotBuilt) {
		t.Errorf("CheckArchitecture: %v", err)
	}
	if _, err := LoadBackends(t.TempDir()); !errors.Is(err, backend.ErrNotBuilt) {
		t.Errorf("LoadBackends: %v", err)
	}
	if Built {
		t.Error("a stub that claims to be built")
	}
}
