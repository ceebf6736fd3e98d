package scripted

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/vocab"
)

// EmbedOptions configures an embedding model. The zero value is an instant
// model with vectors of 8 elements, inputs of up to 512 tokens and 4 inputs
// per call.
type EmbedOptions struct {
	Name      string // default "scripted"
	Pooling   backend.Pooling
	Width     int // default 8; always 1 for a reranker
	MaxTokens int // of one input; default 512
	MaxBatch  int // tokens of one call; default MaxTokens
	MaxInputs int // of one call; default 4
	Pair      backend.PairForm
	Delay     time.Duration // every Embed takes at least this long, unless aborted

	// Fault, if set, is called before each Embed of an embedder with its number,
	// from 0; its error is returned instead of computing.
	Fault func(n int, inputs [][]int32) error
}

func (o EmbedOptions) withDefaults() EmbedOptions {
	o.Name = cmp.Or(o.Name, "scripted")
	o.Pooling = cmp.Or(o.Pooling, backend.PoolingMean)
	o.Width = cmp.Or(o.Width, 8)
	if o.Pooling == backend.PoolingRank {
		o.Width = 1
	}
	o.MaxTokens = cmp.Or(o.MaxTokens, 512)
	o.MaxBatch = max(o.MaxBatch, o.MaxTokens)
	o.MaxInputs = cmp.Or(o.MaxInputs, 4)
	return o
}

// EmbeddingModel implements backend.EmbeddingModel. It generates no text.
//
// A vector is the mean of vectors derived from the tokens, so that texts with
// the same words are close to each other. The score of a pair is the fraction
// of the query's tokens that are in the document.
type EmbeddingModel struct {
	vocab  *vocab.Vocab
	opt    EmbedOptions
	open   atomic.Int32
	closed atomic.Bool
}

var _ backend.EmbeddingModel = (*EmbeddingModel)(nil)

// NewEmbedding returns a model with the vocabulary v that computes vectors,
// or scores if its pooling is PoolingRank.
func NewEmbedding(v *vocab.Vocab, opt EmbedOptions) *EmbeddingModel {
	return &EmbeddingModel{vocab: v, opt: opt.withDefaults()}
}

// Vocab implements backend.Model.
func (m *EmbeddingModel) Vocab() *vocab.Vocab { return m.vocab }

// Info implements backend.Model.
func (m *EmbeddingModel) Info() backend.Info {
	return backend.Info{
		Backend: "scripted", Name: m.opt.Name, Description: "embeds by a script", Architecture: "scripted",
		ContextLength: m.opt.MaxTokens, Width: m.opt.Width,
	}
}

// Embedding implements backend.EmbeddingModel.
func (m *EmbeddingModel) Embedding() backend.EmbeddingInfo {
	return backend.EmbeddingInfo{Pooling: m.opt.Pooling, Width: m.opt.Width, MaxTokens: m.opt.MaxTokens, Pair: m.opt.Pair}
}

// NewContext implements backend.Model. It returns an error.
func (m *EmbeddingModel) NewContext(backend.ContextParams) (backend.Context, error) {
	return nil, fmt.Errorf("scripted: %w: the model embeds and writes no text", backend.ErrArchitecture)
}

// NewEmbedder implements backend.EmbeddingModel. It ignores threads and flash
// attention.
func (m *EmbeddingModel) NewEmbedder(p backend.EmbedderParams) (backend.Embedder, error) {
	if m.closed.Load() {
		return nil, backend.ErrClosed
	}
	return newEmbedder(m.opt, m.vocab, &m.open, p), nil
}

// OpenEmbedders returns the number of embedders that are not closed.
func (m *EmbeddingModel) OpenEmbedders() int { return int(m.open.Load()) }

// Close implements backend.Model.
func (m *EmbeddingModel) Close() error {
	if m.open.Load() > 0 {
		return backend.ErrBusy
	}
	m.closed.Store(true)
	return nil
}

var _ backend.EmbeddingModel = (*Model)(nil)

// Embedding implements backend.EmbeddingModel.
func (m *Model) Embedding() backend.EmbeddingInfo {
	return backend.EmbeddingInfo{Pooling: backend.PoolingLast, Generates: true, Width: generatorWidth, MaxTokens: m.opt.ContextLength}
}

// generatorWidth is the width of the vectors of a model that generates.
const generatorWidth = 8

// NewEmbedder implements backend.EmbeddingModel.
func (m *Model) NewEmbedder(p backend.EmbedderParams) (backend.Embedder, error) {
	if m.closed.Load() {
		return nil, backend.ErrClosed
	}
	opt := EmbedOptions{Pooling: backend.PoolingLast, Width: generatorWidth, MaxTokens: m.opt.ContextLength, Delay: m.opt.Delay}
	return newEmbedder(opt.withDefaults(), m.vocab, &m.open, p), nil
}

// Embedder implements backend.Embedder.
type Embedder struct {
	opt    EmbedOptions
	vocab  *vocab.Vocab
	open   *atomic.Int32
	calls  int
	closed bool
}

var _ backend.Embedder = (*Embedder)(nil)

func newEmbedder(opt EmbedOptions, v *vocab.Vocab, open *atomic.Int32, p backend.EmbedderParams) *Embedder {
	if p.MaxTokens > 0 {
		opt.MaxTokens = min(opt.MaxTokens, p.MaxTokens)
	}
	open.Add(1)
	return &Embedder{opt: opt, vocab: v, open: open}
}

// Embed implements backend.Embedder.
func (e *Embedder) Embed(ctx context.Context, inputs [][]int32, out [][]float32) error {
	if e.closed {
		return backend.ErrClosed
	}
	n := e.calls
	e.calls++
	if e.opt.Fault != nil {
		if err := e.opt.Fault(n, inputs); err != nil {
			return err
		}
	}
	if err := backend.CheckInputs(e, e.vocab.Len(), e.opt.Width, inputs, out); err != nil {
		return err
	}
	if err := pause(ctx, e.opt.Delay); err != nil {
		return err
	}
	for i, tokens := range inputs {
		if e.opt.Pooling == backend.PoolingRank {
			out[i][0] = e.score(tokens)
			continue
		}
		embedTokens(tokens, out[i])
	}
	return nil
}

// embedTokens writes the mean of the vectors derived from the tokens.
func embedTokens(tokens []int32, row []float32) {
	clear(row)
	for _, t := range tokens {
		for i := range row {
			h := fnv.New32a()
			fmt.Fprint(h, t, i)
			row[i] += (float32(h.Sum32()>>8)/(1<<23) - 1) / float32(len(tokens))
		}
	}
}

// score returns the fraction of the query's tokens that are in the document.
func (e *Embedder) score(tokens []int32) float32 {
	query, document := tokens, []int32(nil)
	if between := e.opt.Pair.Between; len(between) > 0 {
		for i := len(e.opt.Pair.Before); i+len(between) <= len(tokens); i++ {
			if slices.Equal(tokens[i:i+len(between)], between) {
				query, document = tokens[len(e.opt.Pair.Before):i], tokens[i+len(between):]
				break
			}
		}
	}
	if len(query) == 0 {
		return 0
	}
	found := 0
	for _, t := range query {
		if slices.Contains(document, t) {
			found++
		}
	}
	return float32(found) / float32(len(query))
}

// MaxTokens implements backend.Embedder.
func (e *Embedder) MaxTokens() int { return e.opt.MaxTokens }

// MaxBatch implements backend.Embedder.
func (e *Embedder) MaxBatch() int { return e.opt.MaxBatch }

// MaxInputs implements backend.Embedder.
func (e *Embedder) MaxInputs() int { return e.opt.MaxInputs }

// Close implements backend.Embedder.
func (e *Embedder) Close() error {
	if !e.closed {
		e.closed = true
		e.open.Add(-1)
	}
	return nil
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	if ctx.Err() == nil {
		if d <= 0 {
			return nil
		}
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return nil
		case <-ctx.Done():
		}
	}
	return fmt.Errorf("%w: %w", backend.ErrAborted, context.Cause(ctx))
}
