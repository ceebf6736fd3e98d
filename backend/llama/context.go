//go:build llama && cgo

package llama

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/stencil-json/stencil/backend"
)

// cContext implements backend.Context.
type cContext struct {
	model *model
	ptr   *C.struct_stencil_ctx
	adapt []float32 // scales of the model's adapters; nil: as loaded
	p     backend.ContextParams
	size  int // most cells that it may have
	cells int // cells that it has, rounded up by llama.cpp
	abort *abortFlag
	pin   runtime.Pinner
	load  *loadMeter
	using threads
	watch *watch // of the context.Context of the last Decode

	lens   []int32   // tokens in each sequence
	tokens [][]int32 // the tokens; -1 if not known
	next   []int32   // scratch of Batch.Check
	row    *float32
	rows   int
	n      int // vocabulary
}

var _ backend.Context = (*cContext)(nil)

// threads are how many threads compute batches of one token and others.
type threads struct{ one, batch int }

// abortFlag is the struct stencil_abort of the shim. It is Go memory, pinned as
// long as C may read it: the function that sets it may still be running after its
// decode, even after Close.
type abortFlag struct {
	running atomic.Uint64 // number of the running decode
	aborted atomic.Uint64 // highest number that should stop
}

// stop asks decode number n to stop. A late call doesn't affect a newer decode,
// which has a higher number.
func (a *abortFlag) stop(n uint64) {
	for {
		old := a.aborted.Load()
		if old >= n || a.aborted.CompareAndSwap(old, n) {
			return
		}
	}
}

// A watch stops the running decode when a context.Context ends. It is reused by
// the next Decode with the same context, since registering with a context takes a
// microsecond.
type watch struct {
	done   <-chan struct{} // the context's
	forget func() bool

	mu      sync.Mutex
	running uint64 // number of the decode, 0 between decodes
	stopped bool   // it has been asked to stop
}

// begin marks decode number n of flag a as running, until end.
func (c *cContext) begin(ctx context.Context, n uint64) *watch {
	w := c.watch
	if w == nil || w.done != ctx.Done() {
		c.unwatch()
		w = &watch{done: ctx.Done()}
		flag := c.abort
		w.forget = context.AfterFunc(ctx, func() { w.stop(flag) })
		c.watch = w
	}
	w.mu.Lock()
	w.running = n
	w.mu.Unlock()
	return w
}

func (w *watch) stop(flag *abortFlag) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running != 0 && !w.stopped {
		w.stopped = true
		aborting.Add(1)
		flag.stop(w.running)
	}
}

func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = 0
	if w.stopped {
		w.stopped = false
		aborting.Add(-1)
	}
}

// unwatch unregisters from the last Decode's context.
func (c *cContext) unwatch() {
	if c.watch != nil {
		c.watch.forget()
		c.watch = nil
	}
}

func newContext(m *model, p backend.ContextParams) (*cContext, error) {
	c := &cContext{
		model: m, p: p, n: m.vocab.Len(),
		abort:  new(abortFlag),
		lens:   make([]int32, p.MaxSeqs),
		tokens: make([][]int32, p.MaxSeqs),
		next:   make([]int32, p.MaxSeqs),
	}
	c.abort.running.Store(1) // above aborted, for graphs that run outside Decode
	c.pin.Pin(c.abort)
	var cerr C.struct_stencil_error
	cp := &C.struct_stencil_ctx_params{
		n_ctx:           C.int32_t(max(m.file.firstCells(p), p.MaxSeqs)),
		n_batch:         C.int32_t(p.MaxBatch),
		n_seq_max:       C.int32_t(p.MaxSeqs),
		n_threads:       C.int32_t(p.Threads),
		n_threads_batch: C.int32_t(p.BatchThreads),
		type_kv:         C.int32_t(cacheTypes[p.CacheType].ggml),
		flash_attn:      flashTypes[p.FlashAttention],
		abort:           (*C.struct_stencil_abort)(unsafe.Pointer(c.abort)),
		rope:            m.opt.Rope.cRope(),
	}
	said := collectErrors(func() { c.ptr = C.stencil_ctx_new(m.ptr, cp, &cerr) })
	if c.ptr == nil {
		c.pin.Unpin()
		err := failure("context", "cannot be made", &cerr, said)
		e := m.file.estimate(p)
		return nil, shortage(err, e.Cache+e.Compute+e.Output, m.opt)
	}
	if c.ptr.mem == nil {
		C.stencil_ctx_free(c.ptr)
		c.pin.Unpin()
		return nil, fmt.Errorf("llama: context: %w: %q is not an autoregressive text model", backend.ErrArchitecture, m.info.Architecture)
	}
	c.cells = int(C.stencil_n_ctx(c.ptr))
	c.size = max(c.cells, int(roundedCells(p)))
	c.p.MaxBatch = int(c.ptr.max_batch)
	if err := c.applyLoRA(); err != nil {
		C.stencil_ctx_free(c.ptr)
		c.pin.Unpin()
		return nil, err
	}
	c.load = newLoadMeter()
	return c, nil
}

// Adapters implements backend.Adaptable.
func (c *cContext) Adapters() []backend.Adapter {
	var out []backend.Adapter
	for i, l := range c.model.loras {
		out = append(out, backend.Adapter{Path: c.model.opt.LoRA[i].Path, Scale: float32(l.scale)})
	}
	return out
}

// Adapt implements backend.Adaptable.
func (c *cContext) Adapt(scales []float32) error {
	if len(scales) != len(c.model.loras) {
		return fmt.Errorf("llama: context: %d scales for %d adapters", len(scales), len(c.model.loras))
	}
	before := c.adapt
	c.adapt = slices.Clone(scales)
	if err := c.applyLoRA(); err != nil {
		c.adapt = before
		return err
	}
	return nil
}

// applyLoRA applies the model's adapters.
func (c *cContext) applyLoRA() error {
	n := len(c.model.loras)
	if n == 0 {
		return nil
	}
	adapters, scales := make([]*C.struct_llama_adapter_lora, n), make([]C.float, n)
	for i, l := range c.model.loras {
		adapters[i], scales[i] = l.ptr, l.scale
		if c.adapt != nil {
			scales[i] = C.float(c.adapt[i])
		}
	}
	if !C.stencil_set_lora(c.ptr, &adapters[0], &scales[0], C.size_t(n)) {
		return errors.New("llama: context: a LoRA adapter cannot be applied")
	}
	return nil
}

var flashTypes = map[backend.FlashAttention]C.int32_t{
	backend.FlashAuto: C.LLAMA_FLASH_ATTN_TYPE_AUTO,
	backend.FlashOn:   C.LLAMA_FLASH_ATTN_TYPE_ENABLED,
	backend.FlashOff:  C.LLAMA_FLASH_ATTN_TYPE_DISABLED,
}

// Decode implements backend.Context.
func (c *cContext) Decode(ctx context.Context, b *backend.Batch) error {
	if c.ptr == nil {
		return backend.ErrClosed
	}
	if err := b.Check(c.n, c.p.MaxSeqs, c.p.MaxBatch, c.next); err != nil {
		return err
	}
	if err := c.checkStart(b); err != nil {
		return err
	}
	number := c.abort.running.Add(1)
	if ctx.Done() != nil {
		defer c.begin(ctx, number).end()
	}
	// Checked after begin, so that a context that ends later stops the decode.
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", backend.ErrAborted, context.Cause(ctx))
	}
	c.rows = 0 // llama.cpp overwrites the rows from here on
	c.chooseThreads(b.Len(), b.Steady)

	status := C.stencil_decode(c.ptr, C.int32_t(b.Len()),
		ints(b.Tokens), ints(b.Pos), ints(b.Seqs), (*C.int8_t)(unsafe.SliceData(b.Want)))
	c.load.end()
	if status == C.STENCIL_OK {
		for s, end := range c.next {
			if end >= 0 {
				c.lens[s] = end
			}
		}
		for i, s := range b.Seqs {
			c.tokens[s] = append(c.tokens[s], b.Tokens[i])
		}
		c.row, c.rows = (*float32)(c.ptr.logits), b.Rows()
		if tokens := c.model.vocab.Suppressed(); len(tokens) > 0 {
			for i := range c.rows {
				suppress(c.Logits(i), tokens)
			}
		}
		return nil
	}
	c.resync()
	switch {
	case status == C.STENCIL_ABORTED:
		return fmt.Errorf("%w: %w", backend.ErrAborted, context.Cause(ctx))
	case status == C.STENCIL_NO_SLOT:
		return fmt.Errorf("%w: %d entries, %d cells in all", backend.ErrNoSlot, b.Len(), c.cells)
	case status == C.STENCIL_EXCEPTION:
		return fmt.Errorf("llama: decode: %s", C.GoString(&c.ptr.err.text[0]))
	case status == -1:
		return fmt.Errorf("%w: refused by llama.cpp", backend.ErrBatch)
	}
	return fmt.Errorf("llama: decode: failed with status %d", int(status))
}

// suppress makes tokens impossible. llama.cpp leaves it to its callers to apply
// the file's list.
func suppress(row []float32, tokens []int32) {
	for _, t := range tokens {
		row[t] = float32(math.Inf(-1))
	}
}

// ints returns a pointer to the elements of s for C.
func ints(s []int32) *C.int32_t { return (*C.int32_t)(unsafe.SliceData(s)) }

// checkStart returns an error if a sequence in b does not continue where it
// ended.
func (c *cContext) checkStart(b *backend.Batch) error {
	for i, seq := range b.Seqs {
		switch want := c.lens[seq]; {
		case want < 0: // seen before in this batch
		case b.Pos[i] != want:
			c.unmark(b.Seqs[:i])
			return fmt.Errorf("%w: entry %d: sequence %d continues at position %d, not %d", backend.ErrBatch, i, seq, want, b.Pos[i])
		default:
			c.lens[seq] = ^want
		}
	}
	c.unmark(b.Seqs)
	return nil
}

// unmark undoes the marks that checkStart left in lens.
func (c *cContext) unmark(seqs []int32) {
	for _, seq := range seqs {
		if c.lens[seq] < 0 {
			c.lens[seq] = ^c.lens[seq]
		}
	}
}

// resync reads the lengths of the sequences from llama.cpp.
func (c *cContext) resync() {
	for s := range c.lens {
		c.setLen(int32(s), int32(C.stencil_seq_end(c.ptr, C.int32_t(s))))
	}
}

// setLen records the length of a sequence after an operation other than a decode.
func (c *cContext) setLen(seq, n int32) {
	c.lens[seq] = n
	t := c.tokens[seq]
	for int32(len(t)) < n {
		t = append(t, -1)
	}
	c.tokens[seq] = t[:n]
}

// Logits implements backend.Context.
func (c *cContext) Logits(i int) []float32 {
	if i < 0 || i >= c.rows {
		panic(fmt.Sprintf("llama: row %d of %d", i, c.rows))
	}
	row := (*float32)(unsafe.Add(unsafe.Pointer(c.row), uintptr(i)*uintptr(c.n)*unsafe.Sizeof(float32(0))))
	return unsafe.Slice(row, c.n)
}

// SeqLen implements backend.Context.
func (c *cContext) SeqLen(seq int32) int32 { return c.lens[seq] }

// SeqRemove implements backend.Context. It refuses to remove from the middle,
// since positions have no gaps.
func (c *cContext) SeqRemove(seq, p0, p1 int32) bool {
	if c.ptr == nil {
		return true
	}
	n := c.lens[seq]
	if p1 < 0 || p1 > n {
		p1 = n
	}
	p0 = max(p0, 0)
	switch {
	case p0 >= p1:
		return true
	case p1 < n:
		return false
	}
	if !C.stencil_seq_rm(c.ptr, C.int32_t(seq), C.int32_t(p0), -1) {
		return false
	}
	c.setLen(seq, p0)
	return true
}

// SeqCopy implements backend.Context.
func (c *cContext) SeqCopy(src, dst, p0, p1 int32) {
	if c.ptr == nil || src == dst {
		return
	}
	n := c.lens[src]
	if p1 < 0 || p1 > n {
		p1 = n
	}
	p0 = max(p0, 0)
	if p0 >= p1 || c.model.recurrent && p1-p0 != n {
		return
	}
	_ = c.lens[dst] // panics if the sequence is out of range, before it reaches C
	C.stencil_seq_cp(c.ptr, C.int32_t(src), C.int32_t(dst), C.int32_t(p0), C.int32_t(p1))
	end := int32(C.stencil_seq_end(c.ptr, C.int32_t(dst)))
	if p0 <= int32(len(c.tokens[dst])) && end == p1 {
		c.tokens[dst] = append(c.tokens[dst][:p0], c.tokens[src][p0:p1]...)
	}
	c.setLen(dst, end)
}

// SeqKeep implements backend.Context.
func (c *cContext) SeqKeep(seq int32) {
	if c.ptr == nil {
		return
	}
	_ = c.lens[seq]
	C.stencil_seq_keep(c.ptr, C.int32_t(seq))
	for s := range c.lens {
		if int32(s) != seq {
			c.setLen(int32(s), 0)
		}
	}
}

// Size implements backend.Context. It may be slightly more than requested, and
// more than is allocated so far: see Grow.
func (c *cContext) Size() int { return c.size }

// MaxSeqs implements backend.Context.
func (c *cContext) MaxSeqs() int { return c.p.MaxSeqs }

// MaxBatch implements backend.Context.
func (c *cContext) MaxBatch() int { return c.p.MaxBatch }

// Grain implements backend.Grained. ggml's flash attention on a CPU takes 64 rows
// of a batch at a time, and complete groups of four rows go through other kernels
// than the rest (v0.5.0, ops.cpp and repack.cpp).
func (c *cContext) Grain() int { return 64 }

// Close implements backend.Context.
func (c *cContext) Close() error {
	if c.ptr == nil {
		return nil
	}
	c.unwatch()
	c.load.close()
	C.stencil_ctx_free(c.ptr)
	c.ptr, c.rows = nil, 0
	c.pin.Unpin()
	c.model.open.Add(-1)
	return nil
}

// chooseThreads sets the number of threads to the cores that other programs leave
// free, limited by the configured number, or to the configured number if steady: flash
// attention divides the cells of one token among its threads, and so sums them up in
// another order with another number.
func (c *cContext) chooseThreads(tokens int, steady bool) {
	free, fresh := c.load.free(tokens)
	switch {
	case steady:
		free = float64(max(c.p.Threads, c.p.BatchThreads))
	case !fresh && c.using != threads{}:
		return
	}
	now := threads{threadsFor(c.p.Threads, free), threadsFor(c.p.BatchThreads, free)}
	if now == c.using {
		return
	}
	c.using = now
	log().Debug("threads", "computing", now.one, "cores_free", math.Round(free*100)/100)
	C.stencil_threads(c.ptr, C.int32_t(now.one), C.int32_t(now.batch))
}
