package generation

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

// A Sink writes a stream in one dialect. Only one goroutine calls its methods.
type Sink interface {
	// Begin is called first, once the request has been accepted.
	Begin() error
	// Piece is called for each piece of a choice's text, with the tokens since the
	// previous one.
	Piece(index int, p layout.Piece, tokens []engine.Token) error
	// Done is called once a choice is complete.
	Done(index int, c *Choice) error
	// End is called last, with all choices.
	End(choices []Choice) error
	// Fail is called, as the last method, if the stream fails.
	Fail(f *problem.Problem) error
	wire.Pinger
}

// A fieldSink also receives the values of a document as they are completed.
type fieldSink interface {
	Fields(index int, t *Trace, list []wire.Field) error
}

// A progressSink also receives the progress of the prefill.
type progressSink interface {
	Progress(p engine.Progress) error
}

// streamed is the answer to a streaming request.
type streamed struct {
	service    *Service
	generation *Generation
	stream     Events
	open       func(w http.ResponseWriter) Sink
}

// Begin submits a generation and returns its answer. Mistakes in the request are
// returned as an error here, before anything is sent.
func (s *Service) Begin(ctx context.Context, g *Generation, open func(w http.ResponseWriter) Sink) (wire.Answer, error) {
	stream, err := g.Run.Stream(ctx)
	if err != nil {
		return nil, err
	}
	return &streamed{s, g, stream, open}, nil
}

func (a *streamed) Write(w http.ResponseWriter, r *http.Request) error {
	defer a.stream.Close()
	out := a.open(w)
	err := a.run(r.Context(), out)
	if err == nil || r.Context().Err() != nil {
		return err
	}
	p := problem.Describe(err)
	if sendErr := out.Fail(&p); sendErr != nil {
		return errors.Join(err, sendErr)
	}
	return err
}

// A listener follows one choice of a stream.
type listener struct {
	reader *layout.Reader
	values layout.Values
	trace  *Trace
	tokens []engine.Token // not yet passed to the sink
	choice Choice
	first  *engine.Result // of the text that this one takes the place of; nil: of none

	// Only with signals:
	gate     *layout.Gate     // holds the tokens not yet passed to the sink
	holdback *assess.Holdback // nil: nothing is held back
	signals  string           // the signals that a mask enforced, verbatim
}

// newListener returns the listener of a text from its beginning.
func newListener(g *Generation) listener {
	l := listener{reader: layout.NewReader(g.Layout)}
	if f := g.Format(); f != nil {
		l.values.Document = f.JSON
	}
	if g.Signals != nil {
		l.gate, l.holdback = layout.NewGate(g.Layout), g.newHoldback()
	}
	if g.Constraint != nil && !g.Constraint.free {
		l.trace = NewTrace(g)
	}
	return l
}

func (a *streamed) run(ctx context.Context, out Sink) error {
	if err := out.Begin(); err != nil {
		return err
	}
	g := a.generation
	listeners := make([]listener, max(1, g.Job.Choices))
	for i := range listeners {
		listeners[i] = newListener(g)
	}
	for {
		ev, err := next(ctx, a.stream, out)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := a.event(ctx, out, &listeners[ev.Choice], ev); err != nil {
			return err
		}
	}
	choices := make([]Choice, len(listeners))
	for i := range listeners {
		choices[i] = listeners[i].choice
	}
	a.service.NoteResults(ctx, choices)
	return out.End(choices)
}

// event passes on an event of one choice.
func (a *streamed) event(ctx context.Context, out Sink, l *listener, ev engine.Event) error {
	if ev.Progress != nil {
		if wants, ok := out.(progressSink); ok {
			return wants.Progress(*ev.Progress)
		}
		return nil
	}
	send := func(p layout.Piece, tokens []engine.Token) error { return out.Piece(ev.Choice, p, tokens) }
	pieces := l.reader.Add(ev.Text, ev.Passages)
	if ev.Done != nil {
		pieces = append(pieces, l.reader.End()...)
	}
	ev.Tokens = l.take(ev.Tokens)
	for _, p := range l.visiblePieces(pieces) {
		l.choice.Message.Add(p)
		if err := l.values.Split(p, l.ready(), send); err != nil {
			return err
		}
	}
	if ev.Done != nil {
		rest, tokens := l.rest(a.generation, ev.Done)
		if rest != "" || len(tokens) > 0 && a.generation.Request.Logprobs {
			l.choice.Message.Add(layout.Piece{Text: rest})
			if err := l.values.Split(layout.Piece{Text: rest}, tokens, send); err != nil {
				return err
			}
		}
	}
	if err := l.tell(out, ev); err != nil || ev.Done == nil {
		return err
	}
	c := &l.choice
	if c.Result, c.Trace = ev.Done, l.trace; c.unwanted() {
		return a.instead(ctx, out, l, ev)
	}
	if l.first != nil {
		c.takes(l.first)
	}
	beside := a.stream.Beside(ev.Choice)
	c.Cost = beside.Usage.Cost
	if g := a.generation; g.Constraint != nil && g.Constraint.free {
		sent := c.Message.Content
		if err := wire.Pinging(out, func() error { return a.service.concludeFree(ctx, g, c, ev.Choice, beside) }); err != nil {
			return err
		}
		late := c.Message.CallPieces()
		if sent == "" && c.Message.Content != "" { // of a re-ask
			late = append([]layout.Piece{{Text: c.Message.Content}}, late...)
		}
		for _, p := range late {
			if err := l.values.Split(p, nil, send); err != nil {
				return err
			}
		}
		a.service.appraiseOne(g, c)
		return out.Done(ev.Choice, c)
	}
	bad := a.service.conclude(ctx, a.generation, c, 1)
	if bad != nil {
		return &ValidationError{text: c.text(), details: c.Receipt.Errors, attempts: []asking.Attempt{failedAttempt(c)}}
	}
	if err := l.tell(out, engine.Event{Choice: ev.Choice}); err != nil {
		return err
	}
	a.service.appraiseOne(a.generation, c)
	return out.Done(ev.Choice, c)
}

// instead passes on the text that takes the place of one that began with an unwanted call.
func (a *streamed) instead(ctx context.Context, out Sink, l *listener, first engine.Event) error {
	g := a.generation
	again, err := g.instead(ctx, first.Done)
	if err != nil {
		return err
	}
	stream, err := g.submitHere(ctx, again)
	if err != nil {
		return err
	}
	defer stream.Close()
	begun := l.choice.Message // what came before the call
	*l = newListener(g)
	l.choice.Message, l.first = begun, first.Done
	for {
		ev, err := next(ctx, localEvents{stream}, out)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if ev.Choice = first.Choice; ev.Progress != nil {
			continue
		}
		if err := a.event(ctx, out, l, ev); err != nil {
			return err
		}
	}
}

// tell passes on the values that are complete.
func (l *listener) tell(out Sink, ev engine.Event) error {
	if l.trace == nil {
		return nil
	}
	list := l.trace.Add(ev.Tokens)
	if wants, ok := out.(fieldSink); ok && len(list) > 0 {
		return wants.Fields(ev.Choice, l.trace, list)
	}
	return nil
}

var errPing = errors.New("time for a ping")

// next returns the next event of a generation, and pings the client while waiting for
// it.
func next(ctx context.Context, from Events, out Sink) (engine.Event, error) {
	for {
		wait, cancel := context.WithTimeoutCause(ctx, wire.PingEvery, errPing)
		ev, err := from.Next(wait)
		cancel()
		if !errors.Is(err, errPing) {
			return ev, err
		}
		if err := out.Ping(); err != nil {
			return engine.Event{}, err
		}
	}
}
