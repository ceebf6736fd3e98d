//go:build llama && cgo

package llama

// #include "shim_embed.h"
import "C"

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/stencil-json/stencil/backend"
)

var _ backend.EmbeddingModel = (*model)(nil)

// describeEmbedding combines the file's description with values from llama.cpp.
func (m *model) describeEmbedding(info backend.EmbeddingInfo) {
	info.Width = int(C.stencil_width(m.ptr, C.bool(info.Reranks())))
	if info.Reranks() {
		info.Pair = m.pairForm(info.Pair)
	}
	m.embedding = info
}

// pairForm returns the input format of a reranker without a template: the query
// and the document with the tokens that the model expects at the start and end
// of a text, and the separator between them.
func (m *model) pairForm(p backend.PairForm) backend.PairForm {
	sep := int32(C.stencil_vocab_sep(m.ptr))
	eos, hasEOS := m.vocab.EOS()
	if !hasEOS {
		eos = sep
	}
	if bos, ok := m.vocab.BOS(); ok && m.vocab.AddBOS() {
		p.Before = append(p.Before, bos)
	}
	if m.vocab.AddEOS() && eos >= 0 {
		p.Between, p.After = append(p.Between, eos), append(p.After, eos)
	}
	if bool(C.stencil_add_sep(m.ptr)) && sep >= 0 {
		p.Between = append(p.Between, sep)
	}
	return p
}

// Embedding implements backend.EmbeddingModel.
func (m *model) Embedding() backend.EmbeddingInfo {
	info := m.embedding
	p := &info.Pair
	p.Before, p.Between, p.After = slices.Clone(p.Before), slices.Clone(p.Between), slices.Clone(p.After)
	return info
}

// embedder implements backend.Embedder.
type embedder struct {
	c       *cContext // for its pointer, abort flag and Close; it is never decoded with
	shape   embedShape
	width   int
	encoder bool // llama.cpp requires llama_encode

	batch backend.Batch
}

var _ backend.Embedder = (*embedder)(nil)

// NewEmbedder implements backend.EmbeddingModel.
func (m *model) NewEmbedder(p backend.EmbedderParams) (backend.Embedder, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, backend.ErrClosed
	}
	if p.MaxTokens < 0 || p.Threads < 0 || p.Threads > C.GGML_MAX_N_THREADS {
		return nil, fmt.Errorf("llama: embedder: %d tokens, %d threads: out of range", p.MaxTokens, p.Threads)
	}
	if _, ok := flashTypes[p.FlashAttention]; !ok && p.FlashAttention != "" {
		return nil, fmt.Errorf("llama: embedder: unknown flash attention setting %q", p.FlashAttention)
	}
	shape, flash, err := m.fitEmbedder(p)
	if err != nil {
		return nil, err
	}
	e, err := m.newEmbedder(shape, flash, p.Threads)
	if err != nil {
		return nil, err
	}
	m.open.Add(1)
	return e, nil
}

const (
	// embedTokens is the longest input by default. The memory that attention needs
	// grows with its square.
	embedTokens = 8192
	// leastTokens is the least to which the longest input is reduced to fit into
	// memory.
	leastTokens = 512
)

// fitEmbedder chooses the longest input: as requested, or the trained length as
// far as memory allows. Positions beyond the trained length may have no vector
// in the file, in which case llama.cpp ends the process.
func (m *model) fitEmbedder(p backend.EmbedderParams) (embedShape, backend.FlashAttention, error) {
	if p.FlashAttention == "" {
		p.FlashAttention = backend.FlashAuto
	}
	tokens := p.MaxTokens
	if tokens == 0 {
		tokens = embedTokens
	}
	tokens = min(tokens, m.embedding.MaxTokens)
	if tokens < 1 {
		return embedShape{}, "", fmt.Errorf("llama: %s: %w: the file does not give a context length", m.file.path, backend.ErrNotModel)
	}
	splits := m.file.splits(m.embedding)
	for {
		s, flash := m.file.shape(tokens, splits), p.FlashAttention
		if m.opt.GPULayers != 0 {
			return s, flash, nil // in device memory; the device reports failures itself
		}
		e := m.file.estimateEmbedder(s, flash)
		room, known := systemMemory()
		if m.opt.NoMemoryCheck || !known || e.Total() <= room.available {
			return s, flash, nil
		}
		if p.MaxTokens > 0 || tokens <= leastTokens {
			return s, flash, fmt.Errorf("llama: embedder for inputs of %d tokens: %w: it takes %s (%s), %s are available",
				tokens, backend.ErrMemory, Size(e.Total()), e, Size(room.available))
		}
		tokens = max(tokens/2, leastTokens)
	}
}

func (m *model) newEmbedder(s embedShape, flash backend.FlashAttention, threads int) (*embedder, error) {
	if threads == 0 {
		threads = withDefaults(backend.ContextParams{}, 0).Threads
	}
	p := s.params(flash)
	p.Threads, p.BatchThreads = threads, threads
	c := &cContext{model: m, p: p, n: m.vocab.Len(), abort: new(abortFlag)}
	c.abort.running.Store(1) // above aborted, for graphs that run outside Embed
	c.pin.Pin(c.abort)
	var cerr C.struct_stencil_error
	cp := &C.struct_stencil_embed_params{
		n_ctx:      C.int32_t(s.cells),
		n_batch:    C.int32_t(s.batch),
		n_seq_max:  embedInputs,
		n_threads:  C.int32_t(threads),
		pooling:    C.int32_t(slices.Index(poolings, m.embedding.Pooling)),
		flash_attn: flashTypes[flash],
		abort:      (*C.struct_stencil_abort)(unsafe.Pointer(c.abort)),
		rope:       m.opt.Rope.cRope(),
	}
	said := collectErrors(func() { c.ptr = C.stencil_embed_new(m.ptr, cp, &cerr) })
	if c.ptr == nil {
		c.pin.Unpin()
		return nil, shortage(failure("embedder", "cannot be made", &cerr, said), m.file.estimateEmbedder(s, flash).Total(), m.opt)
	}
	if err := c.applyLoRA(); err != nil {
		C.stencil_ctx_free(c.ptr)
		c.pin.Unpin()
		return nil, err
	}
	c.load = newLoadMeter()
	return &embedder{c: c, shape: s, width: m.embedding.Width, encoder: bool(C.stencil_has_encoder(m.ptr))}, nil
}

// Embed implements backend.Embedder.
func (e *embedder) Embed(ctx context.Context, inputs [][]int32, out [][]float32) error {
	if e.c.ptr == nil {
		return backend.ErrClosed
	}
	if err := backend.CheckInputs(e, e.c.n, e.width, inputs, out); err != nil {
		return err
	}
	// All inputs are concatenated and computed in pieces of shape.batch tokens: one
	// piece, unless the model allows several.
	b := &e.batch
	b.Reset()
	var ends []int // one past the last entry of each input
	for i, tokens := range inputs {
		for pos, t := range tokens {
			b.Add(int32(i), int32(pos), t, true)
		}
		ends = append(ends, b.Len())
	}
	defer C.stencil_embed_clear(e.c.ptr)
	row := 0
	for from := 0; from < b.Len(); from += e.shape.batch {
		to := min(from+e.shape.batch, b.Len())
		if err := e.compute(ctx, from, to); err != nil {
			return err
		}
		for ; row < len(ends) && ends[row] <= to; row++ {
			if !C.stencil_embed_row(e.c.ptr, C.int32_t(row), (*C.float)(&out[row][0]), C.int32_t(e.width)) {
				return fmt.Errorf("llama: embed: llama.cpp has no row for input %d", row)
			}
		}
	}
	runtime.KeepAlive(out)
	return nil
}

// compute runs the model on the entries [from, to) of the batch.
func (e *embedder) compute(ctx context.Context, from, to int) error {
	number := e.c.abort.running.Add(1)
	if ctx.Done() != nil {
		defer e.c.begin(ctx, number).end()
	}
	// Checked after begin, so that a context that ends later stops the batch.
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", backend.ErrAborted, context.Cause(ctx))
	}
	e.c.chooseThreads(to-from, false)
	b := &e.batch
	status := C.stencil_embed(e.c.ptr, C.bool(e.encoder), C.int32_t(to-from),
		ints(b.Tokens[from:to]), ints(b.Pos[from:to]), ints(b.Seqs[from:to]), (*C.int8_t)(unsafe.SliceData(b.Want[from:to])))
	e.c.load.end()
	switch status {
	case C.STENCIL_OK:
		return nil
	case C.STENCIL_ABORTED:
		return fmt.Errorf("%w: %w", backend.ErrAborted, context.Cause(ctx))
	case C.STENCIL_EXCEPTION:
		return fmt.Errorf("llama: embed: %s", C.GoString(&e.c.ptr.err.text[0]))
	case -1:
		return fmt.Errorf("%w: refused by llama.cpp", backend.ErrBatch)
	}
	return fmt.Errorf("llama: embed: failed with status %d", int(status))
}

// MaxTokens implements backend.Embedder.
func (e *embedder) MaxTokens() int { return e.shape.tokens }

// MaxBatch implements backend.Embedder.
func (e *embedder) MaxBatch() int { return e.shape.cells }

// MaxInputs implements backend.Embedder.
func (e *embedder) MaxInputs() int { return embedInputs }

// Close implements backend.Embedder.
func (e *embedder) Close() error { return e.c.Close() }
