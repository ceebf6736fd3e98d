package backend

import (
	"context"
	"fmt"
)

// An EmbeddingModel is a [Model] that turns a text into a vector, or a query and
// a document into a score. A model of which [EmbeddingInfo.Generates] is false
// has no Context: NewContext refuses it with ErrArchitecture.
type EmbeddingModel interface {
	Model

	// Embedding describes what the vectors are.
	Embedding() EmbeddingInfo

	// NewEmbedder makes working memory for vectors. Zero fields of p mean the
	// defaults; the limits in force are read from the embedder. The error is
	// ErrMemory, with the sizes in its text, when it does not fit. It is to be
	// closed before the model.
	NewEmbedder(p EmbedderParams) (Embedder, error)
}

// An Embedder computes vectors. One goroutine owns it.
type Embedder interface {
	// Embed computes one row for each input: out[i] is that of inputs[i], has
	// as many elements as EmbeddingInfo.Width says and is not normalised. The
	// rows belong to the caller. Inputs are tokens, those that the model wants
	// at the ends included; none is empty. There are at most MaxInputs of them,
	// none is longer than MaxTokens, and together they have at most MaxBatch
	// tokens.
	//
	// When ctx ends first, the computation stops soon and the error matches
	// ErrAborted and the context's cause. Other errors: ErrBatch (the inputs
	// break a rule of this interface), ErrClosed; any other is a failure of the
	// device. The rows hold anything then.
	Embed(ctx context.Context, inputs [][]int32, out [][]float32) error

	// MaxTokens returns the tokens that one input can have.
	MaxTokens() int

	// MaxBatch returns the tokens that the inputs of one call can have
	// together, at least MaxTokens.
	MaxBatch() int

	// MaxInputs returns the inputs of one call.
	MaxInputs() int

	// Close frees the memory. Closing twice does nothing.
	Close() error
}

// EmbeddingInfo says what a model's vectors are.
type EmbeddingInfo struct {
	Pooling   Pooling
	Generates bool // the model also writes text
	Width     int  // elements of a vector; of a reranker, scores of which the first counts
	MaxTokens int  // longest input that the model was trained for; 0: unknown
	Pair      PairForm
}

// Reranks reports whether the rows are scores of a query and a document instead
// of vectors.
func (i EmbeddingInfo) Reranks() bool { return i.Pooling == PoolingRank }

// Pooling is how the vectors of an input's tokens become one row.
type Pooling string

// The ways of pooling.
const (
	PoolingMean Pooling = "mean" // their mean
	PoolingCLS  Pooling = "cls"  // that of the first token
	PoolingLast Pooling = "last" // that of the last token
	PoolingRank Pooling = "rank" // the output of a classification head over one of these
)

// PairForm is how a reranker reads a query and a document: as the tokens Before,
// query, Between, document, After, or as a text where there is one.
type PairForm struct {
	Template               string // with {query} and {document}; "": there is none
	Before, Between, After []int32
}

// EmbedderParams sizes an embedder. Zero fields mean the default.
type EmbedderParams struct {
	MaxTokens      int            // of one input; default the trained length, at most 8192 and what there is memory for
	Threads        int            // default one less than the cores, at least 1
	FlashAttention FlashAttention // default FlashAuto
}

// CheckInputs reports the first input that breaks a rule of Embedder.Embed, for
// a vocabulary of vocabLen tokens and rows of width elements. The error matches
// ErrBatch. Backends call it before they compute.
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
