//go:build llama && cgo

package llama

// #include "shim.h"
import "C"

import (
	"cmp"
	"log/slog"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/vocab"
)

var _ backend.Grower = (*cContext)(nil)

// firstCells returns the initial number of cells of a context with the parameters
// p.
func (f *file) firstCells(p backend.ContextParams) int {
	if f.longRoPE() {
		return p.Size
	}
	return min(p.Size, firstCells)
}

// longRoPE reports whether the model has LongRoPE, with which the rotation of keys depends on the size of the
// context: keys computed in a small one are invalid in a large one.
func (f *file) longRoPE() bool {
	return slices.ContainsFunc(f.header.Tensors, func(t vocab.TensorInfo) bool {
		return strings.HasPrefix(t.Name, "rope_factors_long") || strings.Contains(t.Name, ".rope_factors_long")
	})
}

// rotation returns what the rotation of keys depends on besides the model: the size of the context with LongRoPE.
func (c *cContext) rotation() int {
	if c.model.file.longRoPE() {
		return c.p.Size
	}
	return 0
}

// modest is the divisor of the available memory that limits growth of the cache
// without urgency.
const modest = 16

// Cells implements backend.Grower.
func (c *cContext) Cells() int { return c.cells }

// Grow implements backend.Grower. llama.cpp's caches have a fixed size, so it
// creates a context of at least twice the size and moves the sequences as saved
// states, those that share a prefix as one.
func (c *cContext) Grow(urgent bool) bool {
	if c.ptr == nil || c.cells >= c.size {
		return false
	}
	plan, need := c.movingPlan()
	cells := c.cells
	for cells = min(2*cells, c.size); cells < need+c.p.MaxBatch; cells = min(2*cells, c.size) {
		if cells == c.size {
			return false
		}
	}
	p := c.p
	p.Size = cells
	e := c.model.file.estimate(p)
	if m, ok := systemMemory(); ok && c.model.opt.GPULayers == 0 {
		if !urgent && e.Cache > m.available/modest {
			return false
		}
		if !c.model.opt.NoMemoryCheck && e.Cache+e.Compute > m.available {
			log().Warn("growing the KV cache failed", "cells", c.cells, "to", cells, "needs", Size(e.Cache+e.Compute).String(), "available", Size(m.available).String())
			return false
		}
	}
	var cerr C.struct_stencil_error
	said := collectErrors(func() {
		if !C.stencil_grow_begin(c.ptr, C.int32_t(cells), &cerr) {
			return
		}
		moved := c.applyLoRA() == nil
		for _, move := range plan {
			moved = moved && bool(C.stencil_move(c.ptr, C.int32_t(move.seq), C.int32_t(move.like), C.int32_t(move.common), &cerr))
		}
		C.stencil_grow_end(c.ptr, C.bool(moved))
	})
	now := int(C.stencil_n_ctx(c.ptr))
	if now == c.cells {
		log().Warn("growing the KV cache failed", "cells", c.cells, "to", cells, "error", failure("context", "cannot be made", &cerr, said))
		return false
	}
	log().Info("KV cache grown", "cells", now, "from", c.cells, "at_most", c.size)
	c.cells, c.rows = now, 0
	return true
}

func log() *slog.Logger {
	if l := logger.Load(); l != nil {
		return l
	}
	return slog.Default()
}

// A move is the transfer of a sequence to a larger context. Its first common
// tokens are copied from the sequence like, which has moved before.
type move struct{ seq, like, common int32 }

// movingPlan returns the moves of all sequences, and the most cells that they
// need meanwhile: a sequence is copied whole before its shared cells are freed.
func (c *cContext) movingPlan() (plan []move, need int) {
	for seq, n := range c.lens {
		if n > 0 {
			plan = append(plan, move{seq: int32(seq), like: -1})
		}
	}
	slices.SortStableFunc(plan, func(a, b move) int { return cmp.Compare(c.lens[b.seq], c.lens[a.seq]) })
	held := 0
	for i := range plan {
		m := &plan[i]
		n := int(c.lens[m.seq])
		if !c.model.recurrent { // recurrent state can't be shared in part
			for _, before := range plan[:i] {
				if common := c.common(m.seq, before.seq); common > m.common {
					m.like, m.common = before.seq, common
				}
			}
		}
		need = max(need, held+n)
		held += n - int(m.common)
	}
	return plan, need
}

// common returns the length of the common prefix of two sequences.
func (c *cContext) common(a, b int32) int32 {
	x, y := c.tokens[a], c.tokens[b]
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] || x[i] < 0 {
			return int32(i)
		}
	}
	return int32(min(len(x), len(y)))
}
