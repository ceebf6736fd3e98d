package backend

import (
	"context"

	"github.com/stencil-json/stencil/vocab"
)

// A Model is a loaded model: immutable, safe for concurrent use.
type Model interface {
	// Vocab returns the model's vocabulary. Every row of logits has
	// Vocab().Len() elements.
	Vocab() *vocab.Vocab

	// Info describes the model.
	Info() Info

	// NewContext makes working memory for decoding. Zero fields of p mean
	// the defaults; the values in force are read from the context. The error
	// is ErrMemory, with the sizes in its text, when it does not fit.
	NewContext(p ContextParams) (Context, error)

	// Close frees the weights. Contexts must be closed before; Close refuses
	// with ErrBusy otherwise. Closing twice does nothing.
	Close() error
}

// A Context holds sequences and decodes batches. One goroutine owns it.
type Context interface {
	// Decode runs the model on all entries of b. When ctx ends first, the
	// computation stops soon (llama.cpp on a CPU: after the running graph
	// node) and the error matches ErrAborted and the context's cause.
	//
	// A Decode that fails leaves the sequences as they were before it, except
	// that a sequence of a model that cannot forget part of it (recurrent
	// state) may be emptied; SeqLen tells. Errors: ErrNoSlot (no room in the
	// cache), ErrAborted, ErrBatch (the batch breaks a rule of this
	// interface), ErrClosed; any other is a failure of the device.
	Decode(ctx context.Context, b *Batch) error

	// Logits returns row i of the last Decode, counting the entries that
	// asked for logits. It panics when there is no such row. See the package
	// comment for how long the row may be used.
	Logits(i int) []float32

	// SeqLen returns the number of tokens in a sequence, that is the position
	// that its next token takes.
	SeqLen(seq int32) int32

	// Rewinds reports whether SeqRemove can drop any tail of a sequence and
	// SeqCopy copy any beginning. Where they can't (recurrent state, sliding
	// windows that forget what has left them), a sequence gets back to an
	// earlier position only by SetSeqState.
	Rewinds() bool

	// SeqRemove drops the positions [p0, p1) of a sequence; a negative p1
	// means to the end. It reports false, and changes nothing, when the model
	// cannot do that; see Rewinds.
	SeqRemove(seq, p0, p1 int32) bool

	// SeqCopy makes dst hold the positions [p0, p1) of src as well, sharing
	// the cells; a negative p1 means to the end. dst should end at p0 before.
	// A model that does not rewind copies nothing unless it is the whole;
	// SeqLen tells.
	SeqCopy(src, dst, p0, p1 int32)

	// SeqKeep empties every other sequence.
	SeqKeep(seq int32)

	// StateKey names what states depend on: the weights, adapters, the cache
	// type, the form of attention and the way states are written. A state fits
	// every context with an equal key, in this process or another one. It may
	// read from the model's file, so it is to be asked once. An empty key
	// means that states are of no use beyond this process.
	StateKey() (string, error)

	// SeqState returns what a sequence holds as bytes that SetSeqState of a
	// context with the same StateKey restores. The bytes belong to the caller.
	SeqState(seq int32) ([]byte, error)

	// SetSeqState replaces a sequence by one that was saved; it does not
	// change the bytes. A state that is damaged or belongs to another model is
	// refused with ErrState, a full cache with ErrNoSlot; the sequence is
	// empty then.
	SetSeqState(seq int32, state []byte) error

	// Size returns the number of tokens that all sequences together can hold.
	Size() int

	// MaxSeqs returns the number of sequences.
	MaxSeqs() int

	// MaxBatch returns the largest number of entries that one batch may have.
	MaxBatch() int

	// Close frees the memory; borrowed logits are invalid after it. Closing
	// twice does nothing.
	Close() error
}

// Info describes a model, for people and for /v1/models. Zero means unknown.
type Info struct {
	Backend      string // "llama.cpp", "scripted"
	Path         string // the file it was loaded from
	Name         string // general.name
	Description  string // general.description; the place where a random-weight model says so
	Architecture string // "llama", "qwen2", …
	Quantization string // type of most weights: "Q4_K_M", "F16", …

	Parameters uint64 // number of weights
	Bytes      uint64 // memory of the weights

	ContextLength int // tokens that the model was trained for
	Layers        int
	Width         int // size of the embedding
	Heads         int
	KVHeads       int

	Devices []string // where the layers are: "CPU", "CUDA0", …

	// Sampling is how the file wants to be sampled where nobody says anything (general.sampling.*): options by their
	// names in requests, such as "temperature" and "top_k"; numbers, and "samplers" as a []string. Who holds the
	// value may read it, not write to it.
	Sampling map[string]any
}

// CacheType is the number format of the KV cache.
type CacheType string

// The cache types that llama.cpp computes attention with. The quantised ones
// need flash attention for the V half.
const (
	CacheF16  CacheType = "f16" // the default
	CacheF32  CacheType = "f32"
	CacheBF16 CacheType = "bf16"
	CacheQ8_0 CacheType = "q8_0"
	CacheQ4_0 CacheType = "q4_0"
	CacheQ4_1 CacheType = "q4_1"
	CacheQ5_0 CacheType = "q5_0"
	CacheQ5_1 CacheType = "q5_1"
)

// FlashAttention says whether attention is computed without writing out the
// whole score matrix.
type FlashAttention string

// The settings of flash attention.
const (
	FlashAuto FlashAttention = "auto" // the default: wherever the device can
	FlashOn   FlashAttention = "on"
	FlashOff  FlashAttention = "off"
)

// ContextParams sizes a context. Zero fields mean the default.
type ContextParams struct {
	Size           int            // cells of the KV cache, shared by all sequences; default the trained length, as far as memory allows
	MaxSeqs        int            // default 1
	MaxBatch       int            // entries of one batch; default 512, at most Size
	Threads        int            // threads of a one-token decode, at most; default the cores, fewer while other programs use them
	BatchThreads   int            // threads of a larger batch; default Threads
	CacheType      CacheType      // default CacheF16
	FlashAttention FlashAttention // default FlashAuto
}

// A Device is something that layers can be put on.
type Device struct {
	Name        string // "CPU", "CUDA0", "Vulkan0", …
	Description string // "NVIDIA GeForce RTX 4090"
	Kind        string // "cpu", "gpu", "igpu", "accel"
	Library     string // the ggml back end it comes from: "CPU", "CUDA", …
	MemoryFree  uint64 // bytes; 0 when unknown
	MemoryTotal uint64
}

// An Adaptable is a context of a model with adapters, whose scales can be changed.
type Adaptable interface {
	// Adapters returns the adapters with the scales that they were loaded with.
	Adapters() []Adapter
	// Adapt gives each adapter a scale, 0 for none of it. What sequences hold by then stays as it was computed.
	Adapt(scales []float32) error
}

// An Adapter changes what a model has learnt.
type Adapter struct {
	Path  string
	Scale float32
}
