package llama

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/models"
)

// TestBadOptions works with and without llama.cpp.
func TestBadOptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Layers: 1, Width: 32}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"", "a", "a=1", "=int:1", "a=int:x", "a=int:99999999999999999999", "a=float:x", "a=bool:1", "a=number:1", "split.count=int:2", "a=str:" + strings.Repeat("x", 128)} {
		if o, err := ParseOverride(s); err == nil {
			t.Errorf("%q is %+v", s, o)
		}
	}
	override := func(s string) LoadOptions {
		o, err := ParseOverride(s)
		if err != nil {
			t.Fatal(err)
		}
		return LoadOptions{Override: []Override{o}}
	}
	negative := float32(-1)
	for want, opt := range map[string]LoadOptions{
		"llama.block_count is of type uint32, not a string":       override("llama.block_count=str:many"),
		"llama.block_count is of type uint32, not a float":        override("llama.block_count=float:1"),
		"llama.block_count can't be -1: its type is uint32":       override("llama.block_count=int:-1"),
		"tokenizer.ggml.tokens is of type array, not an integer":  override("tokenizer.ggml.tokens=int:1"),
		"llama.block_count is 0, not from 1":                      override("llama.block_count=int:0"), // invalid in the file too
		`rope scaling must be none, linear, yarn, not "longrope"`: {Rope: Rope{Scaling: "longrope"}},
		"rope: base is NaN":                                           {Rope: Rope{FreqBase: float32(math.NaN())}},
		"rope: YaRN's attn is -1":                                     {Rope: Rope{Attn: &negative}},
		"rope: YaRN's original context is -2":                         {Rope: Rope{Original: -2}},
		`the split mode must be none, layer, row, tensor, not "half"`: {Split: Split{Mode: "half"}},
		"the main GPU is -1":                                          {Split: Split{Main: -1}},
		"a GPU's share is -2":                                         {Split: Split{Tensors: []float32{3, -2}}},
		"the shares of GPUs are 0 together":                           {Split: Split{Tensors: []float32{0, 0}}},
	} {
		m, err := Load(t.Context(), path, opt)
		if err == nil {
			m.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
