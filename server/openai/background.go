package openai

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/background"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/openai/conversations"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/stored"
	"github.com/stencil-json/stencil/server/wire"
)

// Work is a response in the background that has ended.
type Work struct {
	Note   *wire.Note
	Status string
	Took   time.Duration
	Err    error // nil: it is complete, or was cancelled
}

// A backgroundResponse is a response that is made in the background.
type backgroundResponse struct {
	*backgroundSink
	api  *Handlers
	from *http.Request // whose context is that of the run
	note *wire.Note

	mu    sync.Mutex // of what progress changes, which the engine may call at any time
	begun bool
}

// begin prepares a response and starts it in the background. Mistakes in the request are errors here; what only a model's
// queue finds out, as that the prompt is too long, makes the response fail.
func (s *Handlers) begin(r *http.Request, q *responsesRequest) (wire.Answer, error) {
	ctx, note := wire.Outlive(r.Context())
	started := false
	defer func() {
		if !started {
			note.End()
		}
	}()
	run, err := s.Background.Reserve(ctx, wire.ClientOf(r), q.owner, wire.NewID("resp_"))
	if err != nil {
		return nil, err
	}
	defer func() {
		if !started {
			run.Abandon()
		}
	}()
	hungUp := context.AfterFunc(r.Context(), func() { run.Cancel(context.Cause(r.Context())) })
	later := r.WithContext(run.Context())
	m, g, err := s.accept(later, q)
	if !hungUp() && err == nil {
		err = context.Cause(r.Context()) // nobody has learnt the id
	}
	if err != nil {
		return nil, err
	}
	b := &backgroundResponse{api: s, from: later, note: note}
	b.backgroundSink = &backgroundSink{&responsesSink{events: run, generation: g, request: q, response: q.reply(m.Name)}, b, run}
	b.response.ID, b.response.Status, b.response.Background = run.ID, "queued", true
	if err := q.put(b.response, q.Stream); err != nil {
		return nil, notStored(err)
	}
	state, err := b.show("response.created", "response.queued")
	if err != nil {
		return nil, err
	}
	note.Add(slog.String("response", run.ID))
	wire.NoteOf(r.Context()).Add(slog.String("response", run.ID))
	started = true
	run.Go(b.work)
	if q.Stream {
		return background.Events{Run: run, After: -1}, nil
	}
	return wire.JSON{Value: state}, nil
}

// rawState is the answer as it was at a time.
type rawState []byte

// MarshalJSON implements json.Marshaler.
func (s rawState) MarshalJSON() ([]byte, error) { return s, nil }

// show makes the answer as it is what clients see who ask, and sends events about it.
func (b *backgroundResponse) show(kinds ...string) (rawState, error) {
	state, err := wire.Marshal(b.response)
	if err != nil {
		return nil, err
	}
	b.run.Set(state)
	for _, kind := range kinds {
		if err := b.send(responseEvent{Type: kind, Response: b.response, Timings: b.timings}); err != nil {
			return nil, err
		}
	}
	return state, nil
}

// progress tells, once, that the response is being made.
func (b *backgroundResponse) progress() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.begun || b.response.Status != "queued" {
		return nil
	}
	b.begun, b.response.Status = true, "in_progress"
	_, err := b.show("response.in_progress")
	return err
}

// work makes the response and stores it.
func (b *backgroundResponse) work() {
	begun := time.Now()
	defer b.note.End()
	ctx, cancel := context.WithTimeoutCause(b.run.Context(), b.api.Timeout, engine.ErrTimeout)
	defer cancel()
	err := b.make(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case errors.Is(err, background.ErrCancelled):
		b.response.Status, err = "cancelled", nil
	case err != nil:
		p := problem.Describe(err)
		b.response.fail(&p)
	}
	if stored := b.keep(); err == nil {
		err = stored
	}
	kind := b.response.Status
	if kind == "cancelled" {
		kind = "incomplete" // clients know no event of its own for this
	}
	if _, sent := b.show("response." + kind); err == nil {
		err = sent
	}
	b.api.Ended(Work{Note: b.note, Status: b.response.Status, Took: time.Since(begun), Err: err})
}

// keep stores the response as it is at the end. If that can't be, it has failed.
func (b *backgroundResponse) keep() error {
	out, q := b.response, b.responsesSink.request
	if out.Status == "completed" || out.Status == "incomplete" {
		if err := q.extend(out); err != nil {
			return err
		}
	}
	// The numbers of events follow from the answer only if it was not streamed, and has begun.
	err := q.put(out, q.Stream || !b.begun || out.Status == "failed")
	if err == nil {
		return nil
	}
	err = notStored(err)
	p := problem.Describe(err)
	out.fail(&p)
	out.Output, out.Usage = []responseItem{}, nil
	return errors.Join(err, q.put(out, true))
}

// notStored returns the error for a response that could not be stored, and has to be.
func notStored(err error) error {
	if errors.Is(err, stored.ErrTooLarge) || errors.Is(err, stored.ErrNoRoom) {
		return conversations.NoRoom(err)
	}
	return err
}

// make makes the response. A panic becomes an error.
func (b *backgroundResponse) make(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("openai: panic: %v\n%s", p, debug.Stack())
		}
	}()
	try := b.whole
	if b.responsesSink.request.Stream {
		try = b.streamed
	} else if b.generation.Model.Engine != nil {
		b.generation.Job.Started = func() {
			go func() { _ = b.progress() }() // what can't be told now fails at the end too
		}
	}
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		if err := try(ctx); !errors.Is(err, engine.ErrQueueFull) || b.started() {
			return err
		}
		select { // it waits here, since the engine's queue has no place for it
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (b *backgroundResponse) started() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.begun
}

// whole makes the response at once, as requests without a stream do.
func (b *backgroundResponse) whole(ctx context.Context) error {
	if b.generation.Model.Engine == nil {
		if err := b.progress(); err != nil {
			return err
		}
	}
	choices, err := b.api.Whole(ctx, b.generation)
	if err != nil {
		return err
	}
	if err := b.progress(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &choices[0]
	items := b.responsesSink.request.itemsOf(b.generation, c)
	for _, e := range eventsOf(items) {
		if err := b.send(e); err != nil {
			return err
		}
	}
	b.response.Output = items
	b.response.conclude(b.generation, c)
	return nil
}

// streamed makes the response as a stream.
func (b *backgroundResponse) streamed(ctx context.Context) error {
	b.generation.Job.Progress = true // tells when it has left the queue
	a, err := b.api.Begin(ctx, b.generation, func(http.ResponseWriter) generation.Sink { return b.backgroundSink })
	if err != nil {
		return err
	}
	return a.Write(nil, b.from.WithContext(ctx))
}

// A backgroundSink is the sink of a stream in the background: its run has the events, and its end is that of the run.
type backgroundSink struct {
	*responsesSink
	of  *backgroundResponse
	run *background.Run
}

func (s *backgroundSink) Begin() error {
	if s.generation.Model.Engine == nil {
		return s.of.progress()
	}
	return nil
}

func (s *backgroundSink) Progress(p engine.Progress) error {
	if err := s.of.progress(); err != nil || !s.responsesSink.request.Progress {
		return err
	}
	return s.responsesSink.Progress(p)
}

func (s *backgroundSink) Piece(index int, p layout.Piece, tokens []engine.Token) error {
	if err := s.of.progress(); err != nil {
		return err
	}
	return s.responsesSink.Piece(index, p, tokens)
}

func (s *backgroundSink) Done(index int, c *generation.Choice) error {
	if err := s.of.progress(); err != nil {
		return err
	}
	return s.responsesSink.Done(index, c)
}

func (s *backgroundSink) End([]generation.Choice) error { return nil }

func (s *backgroundSink) Fail(*problem.Problem) error { return nil }
