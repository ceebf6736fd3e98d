//go:build llama && cgo && linux

package llama

import (
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/models"
)

// TestSteady checks that a steady batch is computed by all threads, whatever other programs do, and others by as many as
// these leave cores.
func TestSteady(t *testing.T) {
	m := load(t, randomModel(t, models.RandomOptions{}), LoadOptions{})
	c := newCtx(t, m, backend.ContextParams{Threads: 3, BatchThreads: 2}).(*cContext)
	c.load.close()
	c.load.cores = 1 // one is free, and nothing is measured any more
	for i, steady := range []bool{false, true, true} {
		var b backend.Batch
		b.Add(0, int32(i), 5, true)
		b.Steady = steady
		if err := c.Decode(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if want := []threads{{1, 1}, {3, 2}, {3, 2}}[i]; c.using != want {
			t.Errorf("batch %d: %+v threads, want %+v", i, c.using, want)
		}
	}
}
