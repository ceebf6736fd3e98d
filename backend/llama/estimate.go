package llama

import (
	"fmt"

	"stencil/backend"
)

// Estimate is the memory that a model and one context over it will take, in
// bytes. Weights is exact; Compute is an upper estimate for the families of
// transformers, too small for others only by what their state takes.
type Estimate struct {
	Weights int64 // all tensors
	Cache   int64 // keys and values of all cells
	Compute int64 // intermediate results of the largest micro-batch
	Output  int64 // rows of logits, one a sequence
}

// Total returns the sum.
func (e Estimate) Total() int64 { return e.Weights + e.Cache + e.Compute + e.Output }

// String returns the figures in words.
func (e Estimate) String() string {
	return fmt.Sprintf("weights %s, cache %s, compute %s, output %s",
		Size(e.Weights), Size(e.Cache), Size(e.Compute), Size(e.Output))
}

// Size is a number of bytes that prints itself as "1.5 GiB".
type Size int64

// String returns the size in the largest unit that leaves at least 1.
func (s Size) String() string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	f, u := float64(s), 0
	for f >= 1024 && u < len(units)-1 {
		f, u = f/1024, u+1
	}
	if u == 0 {
		return fmt.Sprintf("%d B", int64(s))
	}
	return fmt.Sprintf("%.1f %s", f, units[u])
}

// EstimateMemory reads the header of the model file at path and estimates what
// it takes on the CPU with a context of the parameters p. It needs no llama.cpp.
func EstimateMemory(path string, p backend.ContextParams) (Estimate, error) {
	f, err := openFile(path)
	if err != nil {
		return Estimate{}, err
	}
	p = withDefaults(p, int(f.number("context_length")))
	return f.estimate(f.withFlash(p)), nil
}

// cacheTypes gives, for each type, ggml's number and the size of a block.
var cacheTypes = map[backend.CacheType]struct {
	ggml         int32
	block, bytes int64
	quantised    bool
}{
	backend.CacheF32:  {0, 1, 4, false},
	backend.CacheF16:  {1, 1, 2, false},
	backend.CacheBF16: {30, 1, 2, false},
	backend.CacheQ4_0: {2, 32, 18, true},
	backend.CacheQ4_1: {3, 32, 20, true},
	backend.CacheQ5_0: {6, 32, 22, true},
	backend.CacheQ5_1: {7, 32, 24, true},
	backend.CacheQ8_0: {8, 32, 34, true},
}

const (
	cellBlock  = 256 // llama.cpp rounds the cells up to a multiple
	microBatch = 512 // largest that the shim asks for
)

// roundedCells returns the cells that a context asked for as p gets.
func roundedCells(p backend.ContextParams) int64 {
	return (int64(p.Size) + cellBlock - 1) / cellBlock * cellBlock
}

// scoreBytes returns what the attention scores of the largest micro-batch take
// where they are written out, without flash attention.
func (f *file) scoreBytes(p backend.ContextParams) int64 {
	heads := max(f.number("attention.head_count"), 1)
	return int64(min(p.MaxBatch, microBatch)) * roundedCells(p) * heads * 4
}

// maxScores is the most that the automatic choice spends on attention scores,
// in bytes: 16,384 cells with 32 heads. Beyond it a long context that is never
// filled would cost more than the weights of many a model.
const maxScores = 1 << 30

// withFlash decides FlashAuto for a model whose layers are all on the CPU; on
// other devices llama.cpp decides. ggml's flash attention for CPUs goes through
// the cells one query at a time. With two matrix products and the scores between
// them a prompt of 1,536 tokens is read 1.5 times as fast with heads of 128
// numbers, 2.4 times with 64 and 10 times with 16, and single tokens after it
// are no slower (BenchmarkAttention, AVX2).
func (f *file) withFlash(p backend.ContextParams) backend.ContextParams {
	if p.FlashAttention == backend.FlashAuto && !cacheTypes[p.CacheType].quantised && f.scoreBytes(p) <= maxScores {
		p.FlashAttention = backend.FlashOff
	}
	return p
}

func (f *file) estimate(p backend.ContextParams) Estimate {
	layers, width := f.number("block_count"), f.number("embedding_length")
	heads := max(f.number("attention.head_count"), 1)
	keyLen, valueLen := f.number("attention.key_length"), f.number("attention.value_length")
	if keyLen == 0 {
		keyLen = width / heads
	}
	if valueLen == 0 {
		valueLen = width / heads
	}
	kvHeads := f.perLayer("attention.head_count_kv", layers)
	if _, ok := f.header.Get(f.arch + ".attention.head_count_kv"); !ok {
		kvHeads = f.perLayer("attention.head_count", layers)
	}
	var tokens int64
	if v, ok := f.header.Get("tokenizer.ggml.tokens"); ok {
		tokens = int64(v.Len())
	}
	cells := roundedCells(p)
	ct := cacheTypes[p.CacheType]
	if ct.block == 0 { // unknown; NewContext refuses it
		ct.block, ct.bytes = 1, 2
	}

	e := Estimate{Weights: f.weights}
	e.Cache = cells * kvHeads * (keyLen + valueLen) / ct.block * ct.bytes
	e.Output = int64(p.MaxSeqs) * tokens * 4

	// ggml's allocator reuses memory, so what counts is the largest set of
	// tensors alive at one time: the logits of a whole micro-batch at the end,
	// or a layer's attention or feed-forward part beside the residual stream.
	n := int64(min(p.MaxBatch, microBatch))
	ff := f.number("feed_forward_length")
	if used := f.number("expert_used_count"); used > 0 {
		ff = max(ff, used*max(f.number("expert_feed_forward_length"), ff))
	}
	mask := n * cells * (4 + 2) // F32, and F16 for flash attention
	logits := n * (tokens + 2*width) * 4
	feed := n * (3*ff + 3*width) * 4
	attention := n * (4*width + 3*heads*keyLen) * 4
	if p.FlashAttention == backend.FlashOff {
		attention += f.scoreBytes(p)
	}
	books := cells * 64 // positions and the set of sequences of each cell
	e.Compute = max(logits, feed, attention) + mask + books + 8<<20
	return e
}
