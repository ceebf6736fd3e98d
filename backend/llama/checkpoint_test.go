//go:build llama && cgo

package llama

import (
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/models"
)

// TestRewinds checks that models with recurrent state report that they can't
// rewind, and that their saved states can be restored.
func TestRewinds(t *testing.T) {
	plain := load(t, randomModel(t, models.RandomOptions{}), LoadOptions{})
	if !newCtx(t, plain, backend.ContextParams{}).Rewinds() {
		t.Error("a model with plain attention does not rewind")
	}
	for _, arch := range []string{"mamba", "rwkv7", "qwen35", "lfm2", "granitehybrid", "falcon-h1"} {
		t.Run(arch, func(t *testing.T) {
			m := load(t, randomModel(t, models.RandomOptions{Arch: arch, Width: 256}), LoadOptions{})
			c := newCtx(t, m, backend.ContextParams{MaxSeqs: 2})
			if c.Rewinds() {
				t.Error("a recurrent model rewinds")
			}
			feed(t, c, 0, someTokens(m, 20, 1)...)
			state, err := c.SeqState(0)
			if err != nil {
				t.Fatal(err)
			}
			want := feed(t, c, 0, someTokens(m, 9, 2)...)
			feed(t, c, 0, someTokens(m, 30, 3)...)
			for seq := range int32(2) {
				if err := c.SetSeqState(seq, state); err != nil || c.SeqLen(seq) != 20 {
					t.Fatalf("sequence %d: %d tokens, %v", seq, c.SeqLen(seq), err)
				}
				sameLogits(t, "gone back", feed(t, c, seq, someTokens(m, 9, 2)...), want)
			}
		})
	}
}

// TestContextStateKey checks that the key depends on everything that a state
// depends on, and on nothing that differs between two runs.
func TestContextStateKey(t *testing.T) {
	path := randomModel(t, models.RandomOptions{})
	key := func(p backend.ContextParams) string {
		t.Helper()
		k, err := newCtx(t, load(t, path, LoadOptions{}), p).StateKey()
		if err != nil || k == "" {
			t.Fatalf("key %q, %v", k, err)
		}
		return k
	}
	base := key(backend.ContextParams{})
	if key(backend.ContextParams{Size: 300, MaxSeqs: 7, Threads: 2, MaxBatch: 33}) != base {
		t.Error("the key depends on the size of the context")
	}
	if key(backend.ContextParams{CacheType: backend.CacheF32}) == base {
		t.Error("the key does not depend on the cache type")
	}
	if key(backend.ContextParams{FlashAttention: backend.FlashOn}) == key(backend.ContextParams{FlashAttention: backend.FlashOff}) {
		t.Error("the key does not depend on the form of attention")
	}
}
