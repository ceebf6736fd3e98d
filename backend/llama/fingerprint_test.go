package llama

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/vocab"
)

// Everything that changes what a model computes changes the key of its states;
// the location of the file does not.
func TestStateKey(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	key := func(path string, adapters []LoRA, rest ...any) string {
		t.Helper()
		k, err := stateKey(path, adapters, rest...)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	seen := map[string]string{key(path, nil, "f16", false): "the model"}
	differs := func(what, k string) {
		t.Helper()
		if other, ok := seen[k]; ok {
			t.Errorf("%s has the key of %s", what, other)
		}
		seen[k] = what
	}
	same := filepath.Join(dir, "b.gguf")
	if err := os.WriteFile(same, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if key(same, nil, "f16", false) != key(path, nil, "f16", false) {
		t.Error("a copy has another key")
	}
	differs("another cache type", key(path, nil, "q8_0", false))
	differs("another form of attention", key(path, nil, "f16", true))
	differs("an adapter", key(path, []LoRA{{Path: same}}, "f16", false))
	differs("an adapter with another scale", key(path, []LoRA{{Path: same, Scale: 0.5}}, "f16", false))
	if key(path, []LoRA{{Path: same, Scale: 1}}, "f16", false) != key(path, []LoRA{{Path: same}}, "f16", false) {
		t.Error("a scale of 1 is not the default")
	}

	g, err := vocab.OpenGGUF(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(dir, "c.gguf")
	change := func(what string, at int64) {
		t.Helper()
		other := append([]byte(nil), whole...)
		other[at] ^= 1
		if err := os.WriteFile(changed, other, 0o600); err != nil {
			t.Fatal(err)
		}
		differs(what, key(changed, nil, "f16", false))
	}
	for _, x := range g.Tensors {
		start := g.DataOffset + x.Offset
		change(x.Name+", first byte", start)
		change(x.Name+", last byte", start+x.Size-1)
		change(x.Name+", in the middle", start+x.Size/2)
	}
	renamed := filepath.Join(dir, "d.gguf")
	if err := models.WriteRandom(renamed, models.RandomOptions{Name: "another"}); err != nil {
		t.Fatal(err)
	}
	differs("another name", key(renamed, nil, "f16", false))

	for _, bad := range [][]LoRA{nil, {{Path: filepath.Join(dir, "none")}}} {
		missing := path
		if bad == nil {
			missing = filepath.Join(dir, "none")
		}
		if k, err := stateKey(missing, bad); err == nil {
			t.Errorf("a missing file has the key %s", k)
		}
	}
}
