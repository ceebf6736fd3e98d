package llama

import (
	"fmt"
	"slices"

	"github.com/stencil-json/stencil/backend"
)

// Estimate is the memory that a model and one context take, in bytes. Weights
// and Cache are what llama.cpp allocates; Compute is an upper bound, at most
// twice the actual value where that is large.
type Estimate struct {
	Weights int64 // all tensors
	Cache   int64 // keys and values of all cells, recurrent states of all sequences
	Compute int64 // intermediate results of the largest micro-batch
	Output  int64 // rows of logits, one per sequence
}

// Total returns the sum.
func (e Estimate) Total() int64 { return e.Weights + e.Cache + e.Compute + e.Output }

// String returns the figures in words.
func (e Estimate) String() string {
	return fmt.Sprintf("weights %s, cache %s, compute %s, output %s",
		Size(e.Weights), Size(e.Cache), Size(e.Compute), Size(e.Output))
}

// Size is a number of bytes that is formatted as "1.5 GiB".
type Size int64

// String returns the size in the largest unit in which it is at least 1.
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

// EstimateMemory reads the header of the model file at path and estimates the
// memory that it takes on the CPU with a context of the parameters p. It works
// without llama.cpp.
func EstimateMemory(path string, p backend.ContextParams) (Estimate, error) {
	f, err := openFile(path)
	if err != nil {
		return Estimate{}, err
	}
	p = withDefaults(p, int(f.number("context_length")))
	return f.estimate(p), nil
}

// cacheTypes has ggml's number and the block size of each type.
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
	microBatch = 512 // largest that the shim requests
)

// microBatch returns the most tokens that are computed at a time. A model
// without a cache computes each text in one piece.
func (f *file) microBatch(p backend.ContextParams) int64 {
	if f.readsWhole() {
		return int64(p.MaxBatch)
	}
	return int64(min(p.MaxBatch, microBatch))
}

// roundedCells returns the cells that a context with the parameters p gets.
func roundedCells(p backend.ContextParams) int64 {
	return (int64(p.Size) + cellBlock - 1) / cellBlock * cellBlock
}

// scoreBytes returns the size of the attention scores of the largest micro-batch
// without flash attention.
func (f *file) scoreBytes(p backend.ContextParams) int64 {
	n := f.microBatch(p)
	seen := roundedCells(p)
	if f.readsWhole() {
		seen = n
	}
	return n * seen * f.number("attention.head_count") * 4
}

func (f *file) estimate(p backend.ContextParams) Estimate {
	var tokens int64
	if v, ok := f.header.Get("tokenizer.ggml.tokens"); ok {
		tokens = int64(v.Len())
	}
	ct := cacheTypes[p.CacheType]
	if ct.block == 0 { // unknown; NewContext refuses it
		ct.block, ct.bytes = 1, 2
	}
	cells := cellParams{
		cells: roundedCells(p), seqs: int64(p.MaxSeqs), batch: f.microBatch(p),
		block: ct.block, bytes: ct.bytes, flash: p.FlashAttention != backend.FlashOff, swaFull: swaFull,
	}
	return Estimate{
		Weights: f.weights,
		Cache:   f.cacheBytes(cells),
		Compute: f.computeBytes(p, cells, tokens),
		Output:  int64(p.MaxSeqs) * tokens * 4,
	}
}

// computeBytes returns the size of the intermediate results of the largest
// micro-batch. ggml's allocator reuses memory, so what counts is the largest set
// of tensors alive at one time: the logits of the whole micro-batch at the end,
// or one part of a layer and the residual stream. The numbers of vectors in each
// part were taken from llama.cpp's log, on models built so that the part is the
// largest (recorded in TestRecorded); fragmentation is why some are higher than
// the graph says.
func (f *file) computeBytes(p backend.ContextParams, c cellParams, tokens int64) int64 {
	n := (c.batch + c.seqs - 1) / c.seqs * c.seqs // as many of each sequence
	width, ff := f.number("embedding_length"), f.number("feed_forward_length")
	heads := f.number("attention.head_count")
	keyLen, valueLen := f.headSizes()
	layers := f.kept(c)

	// Masks are allocated before everything else, so memory freed from them is
	// rarely reusable. There is one for each kind of layers with cells.
	var masks, columns int64
	attends, slides := false, false
	for _, l := range layers {
		attends = attends || l.keys > 0 && !l.sliding
		slides = slides || l.keys > 0 && l.sliding
		if !c.flash {
			columns = max(columns, l.values*8) // index of each value of a token
		}
	}
	seen, maskBytes := c.cells, int64(2)
	if f.readsWhole() {
		seen, attends = n, true
	}
	if !c.flash {
		maskBytes = 4
	}
	for _, kind := range []bool{attends, slides} {
		if kind {
			masks += n * (seen*maskBytes + columns)
		}
	}

	query := heads * max(keyLen, valueLen, f.number("attention.key_length_swa"))
	attention := 4*width + 3*query
	if f.readsWhole() {
		attention += 2 * width // keys and values, which are not in a cache
	}
	feed := f.feedNumbers(ff) + 5*width
	perLayer := f.number("embedding_length_per_layer_input") * int64(len(layers)) * 2
	sizes := []int64{
		(tokens + 6*width) * 4 * n,
		(feed + perLayer) * 4 * n,
		(attention + perLayer) * 4 * n,
		f.stateWork()*4*n + 2*c.seqs*f.stateNumbers()*4,
	}
	if f.readsWhole() {
		sizes[0] = 0 // an embedding, no logits
	}
	if !c.flash {
		sizes[2] += f.scoreBytes(p)
	}
	books := c.cells * 64 // positions and sequence sets of the cells
	return slices.Max(sizes) + masks + books + 1<<20
}

// feedNumbers returns how many numbers of a token's feed-forward part of inner
// size ff are alive at a time, without the residual stream.
func (f *file) feedNumbers(ff int64) int64 {
	// A gate, the gated vector and their product; without a gate one less.
	parts := int64(3)
	for _, t := range f.header.Tensors {
		if t.Name == "blk.0.ffn_up.weight" && len(t.Shape) == 2 && t.Shape[1] == ff {
			parts = 2
		}
	}
	for _, t := range f.header.Tensors {
		if t.Name == "blk.0.ffn_gate.weight" {
			parts = 3
		}
	}
	dense := parts * ff
	used := f.number("expert_used_count")
	if used == 0 {
		return dense
	}
	inner := f.numberOr("expert_feed_forward_length", ff)
	shared := max(f.number("expert_shared_count")*inner, f.number("expert_shared_feed_forward_length"))
	experts := used*(3*inner+f.number("embedding_length")) + 3*shared + 4*f.number("expert_count")
	return max(dense, experts)
}

// stateWork returns how many numbers of a token are alive in a layer with a
// recurrent state.
func (f *file) stateWork() int64 {
	width, inner := f.number("embedding_length"), f.number("ssm.inner_size")
	switch {
	case f.has("wkv.head_size"):
		return 20 * width // the residual stream mixed with that of the previous token, in six ways, twice
	case f.has("shortconv.l_cache"):
		return 12 * width
	case f.has("kda.head_dim"):
		inner = f.number("attention.head_count") * f.number("kda.head_dim")
		return 4*3*inner + 2*inner + 3*width
	}
	conv := inner + 2*f.number("ssm.group_count")*f.number("ssm.state_size")
	return 4*conv + 2*inner + 3*width
}
