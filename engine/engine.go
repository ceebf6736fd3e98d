package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine/prefix"
	"github.com/stencil-json/stencil/engine/promptcache"
	"github.com/stencil-json/stencil/vocab"
)

// Config configures an engine. Zero fields mean the default.
type Config struct {
	Parallel     int // sequences that generate concurrently; default 4
	CacheSlots   int // more sequences, which only keep prompts for reuse; default Parallel, negative: none
	Queue        int // requests that may wait; default 64
	PrefillChunk int // most prompt tokens in a step in which others generate; default 128
	Draft        int // most tokens guessed for a sequence in a step, as far as that pays; 0: none

	// PrefillTime is about how long steps read prompts while others generate; default 100 ms.
	// A block that takes longer is followed by steps that read nothing.
	PrefillTime time.Duration

	// CheckpointBytes limits the memory for states of prompts: those that had to leave
	// their KV cells and, for models that can't rewind, those at marks; default 256
	// MiB, negative: none are kept.
	CheckpointBytes int64
	// PromptCache stores states of prompts on disk; nil: none are stored. The caller
	// closes it, after the engine.
	PromptCache *promptcache.Store
	// Apart has prompts reused only within a client; otherwise, the time of a prompt
	// and its cached tokens tell a client what others have sent.
	Apart bool

	Context backend.ContextParams // MaxSeqs is set by the engine
	Log     *slog.Logger          // default slog.Default()
	Tracer  Tracer                // receives spans of the engine's time; may be nil

	draftAll bool // for tests: every guess goes into a batch, regardless of its price
}

func (c Config) withDefaults() Config {
	c.Parallel = cmp.Or(c.Parallel, 4)
	if c.CacheSlots == 0 {
		c.CacheSlots = c.Parallel
	}
	c.CacheSlots = max(c.CacheSlots, 0)
	c.Queue = cmp.Or(c.Queue, 64)
	c.PrefillChunk = cmp.Or(c.PrefillChunk, 128)
	c.PrefillTime = cmp.Or(c.PrefillTime, 100*time.Millisecond)
	c.CheckpointBytes = cmp.Or(c.CheckpointBytes, 256<<20)
	c.Context.MaxSeqs = c.Parallel + c.CacheSlots
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

// owner returns the owner of a client's tokens.
func (c Config) owner(client string) string {
	if !c.Apart {
		return ""
	}
	return client
}

// An Engine serves one model. It is safe for concurrent use.
type Engine struct {
	cfg     Config
	model   backend.Model
	limit   int // tokens of the longest possible sequence
	context backend.Context
	slots   *slots
	shelf   *promptcache.Shelf // nil: nothing is stored on disk
	workers *workers
	tracing *tracing

	adapters []backend.Adapter // as loaded

	mu       sync.Mutex
	adapted  []float32 // default scales of requests; nil: as loaded
	places   []place   // Parallel of them
	queue    queue
	closing  bool
	decoding []*job // the jobs in the running batch
	abort    context.CancelFunc
	stats    Stats

	visits visits

	base       context.Context // ends with Close
	cancelBase context.CancelFunc

	wake    chan struct{} // the queue, a job's context or closing has changed
	stopped chan struct{} // the loop has returned
}

// Stats are counts since the engine was created, and its current load.
type Stats struct {
	Queued       int // requests waiting
	Active       int // sequences that hold a slot or are away
	Waiting      int // sequences admitted that wait for a slot
	CachedTokens int // tokens kept in idle slots

	CheckpointBytes int64 // memory of checkpoints

	Decodes         uint64 // batches
	PromptTokens    uint64 // of prompts, computed
	ReusedTokens    uint64 // of prompts, found in slots, in checkpoints or on disk
	GeneratedTokens uint64
	ForcedTokens    uint64        // of those
	DraftTokens     uint64        // guesses that were decoded
	AcceptedTokens  uint64        // of the generated tokens, those that were guessed
	DraftSteps      uint64        // of sequences, with guesses
	Steps           uint64        // of sequences: each batch counts once for every sequence with tokens in it
	LongestText     int           // tokens of the longest prompt with its text so far
	PromptTime      time.Duration // of completed texts, see Timings
	GenerateTime    time.Duration
	Requests        uint64
	Refused         uint64 // queue full; those that had waited count as Requests too
	Cancelled       uint64
	Preempted       uint64 // sequences that gave up their KV cells to others

	CheckpointTokens uint64 // of the reused tokens, from checkpoints
	StoredTokens     uint64 // of the reused tokens, from disk
}

// Add adds the counts of another engine; LongestText becomes the larger of the two.
func (s *Stats) Add(c Stats) {
	s.Queued += c.Queued
	s.Active += c.Active
	s.Waiting += c.Waiting
	s.CachedTokens += c.CachedTokens
	s.CheckpointBytes += c.CheckpointBytes
	s.Decodes += c.Decodes
	s.PromptTokens += c.PromptTokens
	s.ReusedTokens += c.ReusedTokens
	s.GeneratedTokens += c.GeneratedTokens
	s.ForcedTokens += c.ForcedTokens
	s.DraftTokens += c.DraftTokens
	s.AcceptedTokens += c.AcceptedTokens
	s.DraftSteps += c.DraftSteps
	s.Steps += c.Steps
	s.LongestText = max(s.LongestText, c.LongestText)
	s.PromptTime += c.PromptTime
	s.GenerateTime += c.GenerateTime
	s.Requests += c.Requests
	s.Refused += c.Refused
	s.Cancelled += c.Cancelled
	s.Preempted += c.Preempted
	s.CheckpointTokens += c.CheckpointTokens
	s.StoredTokens += c.StoredTokens
}

// New returns an engine for a model, which must stay open until Close.
func New(model backend.Model, cfg Config) (*Engine, error) {
	cfg = cfg.withDefaults()
	if cfg.Parallel < 1 || cfg.Queue < 1 || cfg.PrefillChunk < 1 || cfg.PrefillTime < 0 || cfg.Draft < 0 {
		return nil, fmt.Errorf("engine: parallel %d, queue %d and prefill chunk %d must be positive, draft %d not negative", cfg.Parallel, cfg.Queue, cfg.PrefillChunk, cfg.Draft)
	}
	ctx, err := model.NewContext(cfg.Context)
	if err != nil {
		return nil, err
	}
	shelf, err := cfg.shelf(ctx)
	if err != nil {
		return nil, errors.Join(err, ctx.Close())
	}
	var kept *checkpoints
	if cfg.CheckpointBytes > 0 {
		kept = newCheckpoints(cfg.CheckpointBytes, ctx.Rewinds())
	}
	if kept != nil && !ctx.Rewinds() {
		cfg.Log.Info("this model can't go back in a prompt: checkpoints are kept", "bytes", cfg.CheckpointBytes)
	}
	e := &Engine{
		cfg: cfg, model: model, context: ctx, limit: ctx.Size(), shelf: shelf,
		slots:   newSlots(ctx, kept, cfg.Log),
		queue:   queue{limit: cfg.Queue},
		places:  make([]place, cfg.Parallel),
		tracing: newTracing(cfg.Tracer),
		wake:    make(chan struct{}, 1),
		stopped: make(chan struct{}),
	}
	if a, ok := ctx.(backend.Adaptable); ok {
		e.adapters = a.Adapters()
	}
	e.workers = newWorkers(cfg.Parallel, e.signal)
	e.base, e.cancelBase = context.WithCancel(context.Background())
	go (&loop{Engine: e, learnt: newLearnt(), chunks: newChunks(cfg, e.slots.grain)}).run()
	return e, nil
}

// shelf returns the part of the prompt cache for a context, nil if there is none.
func (c *Config) shelf(ctx backend.Context) (*promptcache.Shelf, error) {
	if c.PromptCache == nil {
		return nil, nil
	}
	key, err := ctx.StateKey()
	if err != nil {
		return nil, fmt.Errorf("engine: prompt cache: %w", err)
	}
	if key == "" {
		c.Log.Warn("the prompt cache is not used: this model's states can't be kept")
		return nil, nil
	}
	return c.PromptCache.Shelf(key), nil
}

// Model returns the model that is served.
func (e *Engine) Model() backend.Model { return e.model }

// name returns the model's name for messages.
func (e *Engine) name() string {
	info := e.model.Info()
	return cmp.Or(filepath.Base(cmp.Or(info.Path, info.Name)), info.Backend)
}

// Vocab returns the model's vocabulary.
func (e *Engine) Vocab() *vocab.Vocab { return e.model.Vocab() }

// ContextLimit returns the largest number of tokens, prompt and text together, of a
// request.
func (e *Engine) ContextLimit() int { return e.limit }

// Parallel returns how many sequences generate concurrently.
func (e *Engine) Parallel() int { return e.cfg.Parallel }

// Stats returns the current counts.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.stats
	s.Queued = e.queue.size
	return s
}

// Submit validates a request and puts it into the queue. When ctx ends or the
// stream is closed, the request is dropped: immediately if it waits, within one
// decode step if it runs. While it waits in a full queue, a request of a client with
// fewer waiting may take its place: its stream then ends with ErrQueueFull.
//
// Errors: ErrQueueFull, ErrClosed, ErrEmptyPrompt, *ContextError,
// *BudgetError, *sampling.OptionError.
func (e *Engine) Submit(ctx context.Context, req Request) (*Stream, error) {
	j, err := e.newJob(ctx, req)
	if err != nil {
		return nil, err
	}
	if j.req.Adapters == nil && !req.Aside { // prompts on disk were computed with the scales as loaded
		j.find(e.shelf)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		err = ErrClosed
	} else if refused := e.queue.push(j); refused == j {
		e.stats.Refused++
		err = ErrQueueFull
	} else if refused != nil {
		e.evicted(refused)
	}
	if err != nil {
		j.cancel(err)
		return nil, err
	}
	e.stats.Requests++
	unwatch := context.AfterFunc(j.ctx, e.jobEnded)
	unbind := context.AfterFunc(e.base, func() { j.cancel(ErrClosed) })
	j.forget = func() {
		unwatch()
		unbind()
		j.cancel(nil)
	}
	e.signal()
	return j.stream, nil
}

// evicted ends a job that had to leave the queue before it started. e.mu is held.
func (e *Engine) evicted(j *job) {
	err := context.Cause(j.ctx)
	if err != nil { // the loop has not dropped it yet
		e.stats.Cancelled++
	} else {
		e.stats.Refused++
		err = ErrQueueFull
	}
	j.stream.finish(err)
	j.forget()
}

func (e *Engine) newJob(ctx context.Context, req Request) (*job, error) {
	v := e.Vocab()
	if len(req.Prompt) == 0 {
		return nil, ErrEmptyPrompt
	}
	prompt := len(req.Prompt)
	if req.Questions != nil {
		if err := req.asks(v.Len()); err != nil {
			return nil, err
		}
		for _, q := range req.Questions {
			prompt = max(prompt, len(req.Prompt)+len(q.After))
		}
	}
	room := e.limit - prompt
	if room < 1 {
		return nil, &ContextError{Prompt: prompt, Limit: e.limit}
	}
	if req.MaxTokens <= 0 || req.MaxTokens > room {
		req.MaxTokens, req.full = room, true
	}
	if req.Adapters == nil {
		e.mu.Lock()
		req.Adapters = e.adapted
		e.mu.Unlock()
	} else if len(req.Adapters) != len(e.adapters) {
		return nil, fmt.Errorf("engine: %d scales for %d adapters", len(req.Adapters), len(e.adapters))
	}
	if e.asLoaded(req.Adapters) {
		req.Adapters = nil
	}
	req.Choices = max(1, req.Choices)
	req.Marks = slices.Compact(slices.Sorted(slices.Values(req.Marks)))
	j := &job{req: req, owner: e.cfg.owner(req.Client), cutting: prefix.CuttingOf(e.slots.grain, len(req.Prompt), req.Marks), stream: newStream(), submitted: time.Now(), open: req.Choices}
	j.bind(ctx)
	if err := e.newSequences(j); err != nil {
		j.cancel(err)
		return nil, err
	}
	return j, nil
}

// bind sets the context of a job, which ends with ctx or at the job's time limit.
func (j *job) bind(ctx context.Context) {
	stopTimer := func() {}
	if j.req.Timeout > 0 {
		ctx, stopTimer = context.WithTimeoutCause(ctx, j.req.Timeout, ErrTimeout)
	}
	inner, cancel := context.WithCancelCause(ctx)
	j.ctx = inner
	j.cancel = func(cause error) {
		cancel(cause)
		stopTimer()
	}
	j.stream.hangUp = func() { j.cancel(context.Canceled) }
}

// newSequences creates the sequences of a job, one for each choice or question.
func (e *Engine) newSequences(j *job) error {
	req, v := &j.req, e.Vocab()
	for i := range req.Choices {
		prompt := req.Prompt
		var asked *Question
		if req.Questions != nil {
			asked = &req.Questions[i]
			prompt = slices.Concat(prompt, asked.After)
		}
		s := &sequence{back: make(chan struct{}, 1), job: j, choice: i, vocab: v, asked: asked, prompt: len(prompt), row: -1, tracing: e.tracing, model: e.name()}
		opt := req.Sampling
		opt.Seed += uint64(i)
		var err error
		if s.sampler, err = sampling.New(opt, v.Len()); err != nil {
			return err
		}
		s.tokens = append(make([]int32, 0, len(prompt)+min(req.MaxTokens, 256)), prompt...)
		if req.Logprobs || req.Measure || asked != nil {
			s.measurer = sampling.NewMeasurer(v.Len())
		}
		if req.Constraint != nil {
			if err := s.constrain(); err != nil {
				return err
			}
		}
		j.sequences = append(j.sequences, s)
	}
	return nil
}

// asks prepares a request with questions.
func (r *Request) asks(vocabulary int) error {
	if r.Constraint != nil || r.Choices > 1 {
		return errors.New("engine: questions have neither a constraint nor choices")
	}
	r.Choices, r.MaxTokens = len(r.Questions), 1
	r.Marks = append(slices.Clip(r.Marks), len(r.Prompt))
	for _, q := range r.Questions {
		for _, token := range slices.Concat(q.After, q.Tokens) {
			if token < 0 || int(token) >= vocabulary {
				return fmt.Errorf("engine: token %d is not in the vocabulary of %d", token, vocabulary)
			}
		}
	}
	return nil
}

// refused returns the error for a matcher that became unusable.
func (s *sequence) refused(err error) error {
	if s.job.ctx.Err() != nil {
		return context.Cause(s.job.ctx)
	}
	if s.size == 0 {
		return &ConstraintError{Offset: -1, Cause: err}
	}
	return &ConstraintError{Offset: s.size, Cause: err}
}

// constrain gives the sequence a matcher and, unless the document may be truncated,
// a budget that it fits.
func (s *sequence) constrain() error {
	req := &s.job.req
	s.matcher = req.Constraint.NewMatcher()
	s.toll = newToll(s.job.ctx)
	if b, ok := s.matcher.(bounded); ok {
		b.Bind(s.toll.context(s.job.ctx))
	}
	s.parts = newPartTracker(s.matcher)
	if s.job.req.Watch != nil && s.parts != nil {
		s.watch = s.job.req.Watch()
	}
	if s.job.req.Recast != nil && s.parts != nil {
		s.recast = s.job.req.Recast()
	}
	if s.job.req.Doubt != nil && s.parts != nil {
		s.doubt = &doubt{Doubt: s.job.req.Doubt, s: s}
	}
	none := len(s.matcher.Remaining()) == 0 && !s.matcher.Accepting()
	if err := matcherErr(s.matcher); err != nil {
		return s.refused(err)
	}
	if none {
		return &ConstraintError{Offset: -1, Cause: errors.New("even the shortest text is beyond its limits")}
	}
	if req.Truncate {
		return nil
	}
	s.budget = &budget{vocab: s.vocab, matcher: s.matcher}
	if s.budget.fits(nil, req.MaxTokens) {
		s.budget.commit()
		return nil
	}
	if err := matcherErr(s.matcher); err != nil {
		return s.refused(err)
	}
	return &BudgetError{Minimum: len(s.budget.complete()), Budget: req.MaxTokens, Context: req.full}
}

// signal wakes the loop. It never blocks.
func (e *Engine) signal() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// jobEnded runs when a job's context ends. If every job in the running batch has
// ended, it aborts the batch.
func (e *Engine) jobEnded() {
	e.mu.Lock()
	defer e.mu.Unlock()
	alive := false
	for _, j := range e.decoding {
		alive = alive || j.ctx.Err() == nil
	}
	if e.abort != nil && !alive {
		e.abort()
	}
	e.signal()
}

// Shutdown waits for running and queued requests to finish and then closes the
// engine. New requests fail with ErrClosed. If ctx ends first, the remaining
// requests are cancelled. It does not close the model.
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
