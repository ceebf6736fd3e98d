package embedding

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stencil-json/stencil/backend"
)

// Limits of one request.
const (
	MaxInputs = 2048    // like OpenAI's
	MaxTokens = 1 << 20 // of all inputs together: MaxInputs of a usual maximum length
)

// Config configures an engine. Zero fields mean the default.
type Config struct {
	Queue    int // requests that may wait; default 64
	Embedder backend.EmbedderParams
}

// An Engine serves one model. It is safe for concurrent use.
type Engine struct {
	model    backend.EmbeddingModel
	info     backend.EmbeddingInfo
	embedder backend.Embedder
	prompts  *Prompts

	mu      sync.Mutex
	queue   queue
	closing bool
	running []*job // jobs with inputs in the running batch
	abort   context.CancelFunc
	stats   Stats

	base       context.Context // ends with Close
	cancelBase context.CancelFunc

	wake    chan struct{} // the queue, a job's context or closing has changed
	stopped chan struct{} // the loop has returned
}

// Stats are counts since the engine was created, and its current load.
type Stats struct {
	Queued int // requests with waiting inputs
	Active int // inputs being computed

	Requests  uint64 // accepted
	Inputs    uint64 // computed
	Tokens    uint64 // of the inputs
	Batches   uint64
	Refused   uint64 // queue full
	Cancelled uint64 // ended early
}

// A Request asks for one row (a vector or a score) per input.
type Request struct {
	Client  string    // for the queue's turns
	Inputs  [][]int32 // tokens, as from Prompts
	Timeout time.Duration
}

// A Result is the result of a request.
type Result struct {
	Rows    [][]float32 // one for each input, as computed by the model
	Tokens  int         // of all inputs
	Queued  time.Duration
	Compute time.Duration // from the first batch to the last
}

// New returns an engine for a model, which must stay open until Close.
func New(model backend.EmbeddingModel, cfg Config) (*Engine, error) {
	cfg.Queue = cmp.Or(cfg.Queue, 64)
	if cfg.Queue < 1 {
		return nil, fmt.Errorf("embedding: queue %d must be positive", cfg.Queue)
	}
	embedder, err := model.NewEmbedder(cfg.Embedder)
	if err != nil {
		return nil, err
	}
	info := model.Embedding()
	e := &Engine{
		model: model, info: info, embedder: embedder,
		prompts: newPrompts(model.Vocab(), info.Pair, embedder.MaxTokens()),
		queue:   queue{limit: cfg.Queue},
		wake:    make(chan struct{}, 1),
		stopped: make(chan struct{}),
	}
	e.base, e.cancelBase = context.WithCancel(context.Background())
	go e.loop()
	return e, nil
}

// Model returns the model.
func (e *Engine) Model() backend.EmbeddingModel { return e.model }

// Info describes the rows.
func (e *Engine) Info() backend.EmbeddingInfo { return e.info }

// Limit returns the maximum number of tokens of an input.
func (e *Engine) Limit() int { return e.embedder.MaxTokens() }

// Prompts returns the tokenizer of the model's inputs.
func (e *Engine) Prompts() *Prompts { return e.prompts }

// Stats returns the current counts.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.stats
	s.Queued = e.queue.size
	return s
}

// Embed computes the rows of a request. If ctx ends first, the request is dropped.
//
// Errors: ErrQueueFull, ErrClosed, ErrTimeout, ErrNotFinite, *InputError,
// *SizeError, the cause of ctx; any other is a failure of the backend.
func (e *Engine) Embed(ctx context.Context, r Request) (*Result, error) {
	j, err := e.newJob(r)
	if err != nil {
		return nil, err
	}
	if r.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, r.Timeout, ErrTimeout)
		defer stop()
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	j.ctx = inner
	e.mu.Lock()
	switch {
	case e.closing:
		err = ErrClosed
	default:
		e.stats.Requests++
		refused := e.queue.push(j)
		if refused == nil {
			break
		}
		e.stats.Refused++
		e.stats.Requests--
		if refused == j {
			err = ErrQueueFull
		} else {
			e.end(refused, ErrQueueFull)
		}
	}
	e.mu.Unlock()
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(inner, e.jobEnded)()
	defer context.AfterFunc(e.base, func() { cancel(ErrClosed) })()
	e.signal()
	select {
	case <-j.done:
	case <-inner.Done(): // the loop drops it
		return nil, context.Cause(inner)
	}
	if j.err != nil {
		return nil, j.err
	}
	return &j.result, nil
}

// newJob validates a request.
func (e *Engine) newJob(r Request) (*job, error) {
	if n := len(r.Inputs); n == 0 || n > MaxInputs {
		return nil, &SizeError{What: "inputs", Count: n, Limit: MaxInputs}
	}
	j := &job{client: r.Client, inputs: r.Inputs, submitted: time.Now(), left: len(r.Inputs), done: make(chan struct{})}
	limit, size := e.Limit(), e.model.Vocab().Len()
	for i, tokens := range r.Inputs {
		if len(tokens) == 0 || len(tokens) > limit {
			return nil, &InputError{Index: i, Tokens: len(tokens), Limit: limit}
		}
		for _, t := range tokens {
			if t < 0 || int(t) >= size {
				return nil, &InputError{Index: i, Token: t, Vocab: size}
			}
		}
		j.result.Tokens += len(tokens)
	}
	if j.result.Tokens > MaxTokens {
		return nil, &SizeError{What: "tokens", Count: j.result.Tokens, Limit: MaxTokens}
	}
	j.result.Rows = make([][]float32, len(r.Inputs))
	return j, nil
}

// signal wakes the loop. It never blocks.
func (e *Engine) signal() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// jobEnded runs when the context of a job has ended. If all jobs of the running batch
// have ended, the batch is stopped.
func (e *Engine) jobEnded() {
	e.mu.Lock()
	defer e.mu.Unlock()
	alive := false
	for _, j := range e.running {
		alive = alive || j.ctx.Err() == nil
	}
	if e.abort != nil && !alive {
		e.abort()
	}
	e.signal()
}

// Shutdown lets running and waiting requests finish and then closes the engine. New
// requests are refused with ErrClosed. If ctx ends first, the remaining requests are
// cancelled. It does not close the model.
func (e *Engine) Shutdown(ctx context.Context) error {
	e.mu.Lock()
	e.closing = true
	e.mu.Unlock()
	e.signal()
	select {
	case <-e.stopped:
		return nil
	case <-ctx.Done():
	}
	return errors.Join(context.Cause(ctx), e.Close())
}

// Close cancels every request and closes the engine. It does not close the
// model. Closing twice does nothing.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closing = true
	e.mu.Unlock()
	e.cancelBase()
	e.signal()
	<-e.stopped
	return nil
}
