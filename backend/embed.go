package backend

import (
	"context"
	"fmt"
)

// An EmbeddingModel is a [Model] that turns a text into a vector, or a query and
// a document into a score. If [EmbeddingInfo.Generates] is false, the model has
// no Context: NewContext returns ErrArchitecture.
type EmbeddingModel interface {
	Model

	// Embedding describes the vectors.
	Embedding() EmbeddingInfo

	// NewEmbedder returns an embedder. Zero fields of p mean the defaults; the
	// actual limits are available from the embedder. The error is ErrMemory, with
	// the sizes in its text, if memory is insufficient. The embedder must be closed
	// before the model.
	NewEmbedder(p EmbedderParams) (Embedder, error)
}

// An Embedder computes vectors. It belongs to one goroutine.
type Embedder interface {
	// Embed computes one row for each input: out[i] is the row of inputs[i], has
	// EmbeddingInfo.Width elements and is not normalised. The caller owns the rows.
	// Inputs are tokens, including those that the model expects at the start and
	// end; none is empty. There are at most MaxInputs inputs, none is longer than
	// MaxTokens, and together they have at most MaxBatch tokens.
	//
	// If ctx ends first, the computation stops soon and the error matches
	// ErrAborted and the context's cause. Other errors: ErrBatch (the inputs
	// violate a rule of this interface), ErrClosed; any other is a failure of the
	// device. After an error the contents of the rows are undefined.
	Embed(ctx context.Context, inputs [][]int32, out [][]float32) error

	// MaxTokens returns the most tokens of one input.
	MaxTokens() int

	// MaxBatch returns the most tokens of all inputs of one call together, at least
	// MaxTokens.
	MaxBatch() int

	// MaxInputs returns the most inputs of one call.
	MaxInputs() int

	// Close frees the memory. Closing twice does nothing.
	Close() error
}

// EmbeddingInfo describes a model's vectors.
type EmbeddingInfo struct {
	Pooling   Pooling
	Generates bool // the model also generates text
	Width     int  // elements of a vector; for a reranker, number of scores, of which the first counts
	MaxTokens int  // longest input that the model was trained for; 0: unknown
	Pair      PairForm
}

// Reranks reports whether the rows are scores of a query and a document rather
// than vectors.
func (i EmbeddingInfo) Reranks() bool { return i.Pooling == PoolingRank }

// Pooling is how the vectors of an input's tokens are combined into one row.
type Pooling string

// The ways of pooling.
const (
	PoolingMean Pooling = "mean" // their mean
	PoolingCLS  Pooling = "cls"  // that of the first token
	PoolingLast Pooling = "last" // that of the last token
	PoolingRank Pooling = "rank" // the output of a classification head over one of these
)

// PairForm is the input format of a reranker: the template if there is one, else
// the tokens Before, query, Between, document, After.
type PairForm struct {
	Template               string // with {query} and {document}; "": none
	Before, Between, After []int32
}

// EmbedderParams configures an embedder. Zero fields mean the default.
type EmbedderParams struct {
	MaxTokens      int            // of one input; default the trained length, at most 8192 and as far as memory allows
	Threads        int            // default one less than the number of cores, at least 1
	FlashAttention FlashAttention // default FlashAuto
}

// CheckInputs returns an error for the first input that violates a rule of
// Embedder.Embed, for a vocabulary of vocabLen tokens and rows of width
// elements. The error matches ErrBatch. Backends call it before computing.
func CheckInputs(e Embedder, vocabLen, width int, inputs [][]int32, out [][]float32) error {
	switch n := len(inputs); {
	case n == 0:
		return fmt.Errorf("%w: there are no inputs", ErrBatch)
	case n > e.MaxInputs():
		return fmt.Errorf("%w: %d inputs, at most %d are allowed", ErrBatch, n, e.MaxInputs())
	case len(out) != n:
		return fmt.Errorf("%w: %d inputs, but %d rows", ErrBatch, n, len(out))
	}
	total := 0
	for i, tokens := range inputs {
		switch {
		case len(tokens) == 0:
			return fmt.Errorf("%w: input %d is empty", ErrBatch, i)
		case len(tokens) > e.MaxTokens():
			return fmt.Errorf("%w: input %d has %d tokens, at most %d are allowed", ErrBatch, i, len(tokens), e.MaxTokens())
		case len(out[i]) != width:
			return fmt.Errorf("%w: row %d has %d elements, not %d", ErrBatch, i, len(out[i]), width)
		}
		for _, t := range tokens {
			if t < 0 || int(t) >= vocabLen {
				return fmt.Errorf("%w: input %d: token %d is outside the vocabulary of %d", ErrBatch, i, t, vocabLen)
			}
		}
		if total += len(tokens); total > e.MaxBatch() {
			return fmt.Errorf("%w: more than %d tokens in all", ErrBatch, e.MaxBatch())
		}
	}
	return nil
}
