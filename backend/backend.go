package backend

import (
	"context"

	"github.com/stencil-json/stencil/vocab"
)

// A Model is a loaded model. It is immutable and safe for concurrent use.
type Model interface {
	// Vocab returns the model's vocabulary. Every row of logits has
	// Vocab().Len() elements.
	Vocab() *vocab.Vocab

	// Info describes the model.
	Info() Info

	// NewContext returns a context for decoding. Zero fields of p mean the defaults; the actual
	// values are available from the context. The error is ErrMemory, with the sizes in its text,
	// if memory is insufficient.
	NewContext(p ContextParams) (Context, error)

	// Close frees the weights. All contexts must be closed before; otherwise Close returns
	// ErrBusy. Closing twice does nothing.
	Close() error
}

// A Context holds sequences and decodes batches. It belongs to one goroutine.
type Context interface {
	// Decode runs the model on all entries of b. If ctx ends first, the computation stops soon
	// (llama.cpp on a CPU: after the running graph node) and the error matches ErrAborted and the
	// context's cause.
	//
	// A Decode that fails leaves the sequences unchanged, except that a
	// sequence of a model that can't rewind (recurrent state) may be emptied;
	// see SeqLen. Errors: ErrNoSlot (no room in the cache), ErrAborted,
	// ErrBatch (the batch violates a rule of this interface), ErrClosed; any
	// other is a failure of the device.
	Decode(ctx context.Context, b *Batch) error

	// Logits returns row i of the last Decode, counting the entries that requested logits. It
	// panics if there is no such row. The package comment says how long the row is valid.
	Logits(i int) []float32

	// SeqLen returns the number of tokens in a sequence, which is the position of its next token.
	SeqLen(seq int32) int32

	// Rewinds reports whether SeqRemove can drop any tail of a sequence and SeqCopy copy any
	// prefix. If not (recurrent state, sliding windows that drop old tokens), SetSeqState is the
	// only way back to an earlier position.
	Rewinds() bool

	// SeqRemove drops the positions [p0, p1) of a sequence; a negative p1 means to the end. If the
	// model can't do that, it returns false and changes nothing; see Rewinds.
	SeqRemove(seq, p0, p1 int32) bool

	// SeqCopy adds the positions [p0, p1) of src to dst, sharing the cells; a negative p1 means to
	// the end. dst should end at p0 before. A model that can't rewind copies only whole sequences;
	// see SeqLen.
	SeqCopy(src, dst, p0, p1 int32)

	// SeqKeep empties every other sequence.
	SeqKeep(seq int32)

	// StateKey identifies what states depend on: the weights, adapters, the cache type, the form
	// of attention and the state format. A state fits every context with an equal key, in this
	// process or another one. StateKey may read from the model's file, so callers should cache the
	// result. An empty key means that states are useless beyond this process.
	StateKey() (string, error)

	// SeqState returns the state of a sequence, which SetSeqState restores in a context with the
	// same StateKey. The caller owns the bytes.
	SeqState(seq int32) ([]byte, error)

	// SetSeqState replaces a sequence by a saved one; it does not change the bytes. It returns
	// ErrState for a state that is damaged or belongs to another model, and ErrNoSlot if the cache
	// is full; the sequence is empty then.
	SetSeqState(seq int32, state []byte) error

	// Size returns the number of tokens that all sequences together can hold.
	Size() int

	// MaxSeqs returns the number of sequences.
	MaxSeqs() int

	// MaxBatch returns the largest number of entries of a batch.
	MaxBatch() int

	// Close frees the memory and invalidates borrowed logits. Closing twice does nothing.
	Close() error
}

// Info describes a model, for users and for /v1/models. Zero means unknown.
type Info struct {
	Backend      string // "llama.cpp", "scripted"
	Path         string // the file that it was loaded from
	Name         string // general.name
	Description  string // general.description; says so if the weights are random
	Architecture string // "llama", "qwen2", …
	Quantization string // type of most of the weights: "Q4_K_M", "F16", …

	Parameters uint64 // number of weights
	Bytes      uint64 // memory of the weights

	ContextLength int // trained context length in tokens
	Layers        int
	Width         int // size of the embedding
	Heads         int
	KVHeads       int

	Devices []string // where the layers are: "CPU", "CUDA0", …

	// Sampling has the file's defaults for sampling (general.sampling.*): options by their names
	// in requests, such as "temperature" and "top_k"; values are numbers, and "samplers" is a
	// []string. It is read-only.
	Sampling map[string]any
}

// CacheType is the number format of the KV cache.
type CacheType string

// The cache types that llama.cpp supports in attention. The quantised ones need flash attention
// for values.
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

// FlashAttention selects whether attention is computed without materialising the whole score
// matrix.
type FlashAttention string

// The settings of flash attention.
const (
	FlashAuto FlashAttention = "auto" // the default: if the device supports it
	FlashOn   FlashAttention = "on"
	FlashOff  FlashAttention = "off"
)

// ContextParams configures a context. Zero fields mean the default.
type ContextParams struct {
	Size           int            // cells of the KV cache, shared by all sequences; default the trained length, as far as memory allows
	MaxSeqs        int            // default 1
	MaxBatch       int            // entries of a batch; default 512, at most Size
	Threads        int            // most threads of a one-token decode; default the cores, fewer while other programs use them
	BatchThreads   int            // threads of a larger batch; default Threads
	CacheType      CacheType      // default CacheF16
	FlashAttention FlashAttention // default FlashAuto
}

// A Device can hold layers of a model.
type Device struct {
	Name        string // "CPU", "CUDA0", "Vulkan0", …
	Description string // "NVIDIA GeForce RTX 4090"
	Kind        string // "cpu", "gpu", "igpu", "accel"
	Library     string // the ggml backend that provides it: "CPU", "CUDA", …
	MemoryFree  uint64 // bytes; 0: unknown
	MemoryTotal uint64
}

// An Adaptable is a context of a model with adapters whose scales can be changed.
type Adaptable interface {
	// Adapters returns the adapters with the scales with which they were loaded.
	Adapters() []Adapter
	// Adapt sets the scale of each adapter; 0 disables it. The existing contents of sequences do
	// not change.
	Adapt(scales []float32) error
}

// An Adapter modifies the weights of a model, as LoRA does.
type Adapter struct {
	Path  string
	Scale float32
}
