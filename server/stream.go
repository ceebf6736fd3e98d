package server

import (
	"context"
	"errors"
	"io"
	"net/http"

	"stencil/engine"
)

// A sink writes a stream in one dialect. Its methods are called by one
// goroutine.
type sink interface {
	// begin is called first, when the request has been accepted.
	begin() error
	// piece is called for every part of a choice's text, with the tokens that
	// have come since the last one.
	piece(index int, p piece, tokens []engine.Token) error
	// done is called when a choice is complete.
	done(index int, c *choice) error
	// end is called last, with all choices.
	end(choices []choice) error
	// fail is called in place of whatever would come next.
	fail(f *problem) error
	pinger
}

// A fieldSink also wants to know which values of a document are complete.
type fieldSink interface {
	fields(index int, t *trace, list []field) error
}

// streamed is the answer to a request that wants a stream.
type streamed struct {
	service    *service
	generation *generation
	stream     events
	open       func(w http.ResponseWriter) sink
}

// begin submits a generation and returns its answer. What is wrong with the
// request itself is an error here, before anything is sent.
func (s *service) begin(ctx context.Context, g *generation, open func(w http.ResponseWriter) sink) (answer, error) {
	stream, err := g.run.stream(ctx)
	if err != nil {
		return nil, err
	}
	return &streamed{s, g, stream, open}, nil
}

func (a *streamed) write(w http.ResponseWriter, r *http.Request) error {
	defer a.stream.Close()
	out := a.open(w)
	err := a.run(r.Context(), out)
	if err == nil || r.Context().Err() != nil {
		return err
	}
	p := describe(err)
	if sendErr := out.fail(&p); sendErr != nil {
		return errors.Join(err, sendErr)
	}
	return err
}

// A listener follows one choice of a stream.
type listener struct {
	reader *reader
	trace  *trace
	tokens []engine.Token // not given to the sink yet
	choice choice

	// Where signals are wanted.
	gate    *tokenGate // has the tokens that were not given to the sink yet
	veil    *veil      // nil: nothing is to be held back
	signals string     // as the model wrote them where a mask had them written
}

func (a *streamed) run(ctx context.Context, out sink) error {
	if err := out.begin(); err != nil {
		return err
	}
	g := a.generation
	listeners := make([]listener, max(1, g.request.Choices))
	for i := range listeners {
		listeners[i].reader = newReader(g.layout)
		if g.noted != nil {
			listeners[i].gate, listeners[i].veil = &tokenGate{layout: g.layout}, g.newVeil()
		}
		if g.rule != nil && !g.rule.free {
			listeners[i].trace = newTrace(g)
		}
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
	choices := make([]choice, len(listeners))
	for i := range listeners {
		choices[i] = listeners[i].choice
	}
	a.service.noteResults(ctx, choices)
	return out.end(choices)
}

// event passes on what has come of one choice.
func (a *streamed) event(ctx context.Context, out sink, l *listener, ev engine.Event) error {
	pieces := l.reader.add(ev.Text, ev.Passages)
	if ev.Done != nil {
		pieces = append(pieces, l.reader.end()...)
	}
	ev.Tokens = l.take(ev.Tokens)
	for _, p := range l.unveiled(pieces) {
		l.choice.message.add(p)
		if err := out.piece(ev.Choice, p, l.ready()); err != nil {
			return err
		}
	}
	if ev.Done != nil {
		rest, tokens := l.rest(a.generation, ev.Done)
		if rest != "" || len(tokens) > 0 && (l.gate == nil || a.generation.query.Logprobs) {
			l.choice.message.add(piece{text: rest})
			if err := out.piece(ev.Choice, piece{text: rest}, tokens); err != nil {
				return err
			}
		}
	}
	if err := l.tell(out, ev); err != nil || ev.Done == nil {
		return err
	}
	c := &l.choice
	c.result, c.trace = ev.Done, l.trace
	beside := a.stream.beside(ev.Choice)
	c.cost = beside.Usage.Cost
	if g := a.generation; g.rule != nil && g.rule.free {
		sent := c.message.Content
		if err := pinging(out, func() error { return a.service.concludeFree(ctx, g, c, ev.Choice, beside) }); err != nil {
			return err
		}
		late := c.message.pieces()
		if sent == "" && c.message.Content != "" { // of a further try
			late = append([]piece{{text: c.message.Content}}, late...)
		}
		for _, p := range late {
			if err := out.piece(ev.Choice, p, nil); err != nil {
				return err
			}
		}
		a.service.appraiseOne(g, c)
		return out.done(ev.Choice, c)
	}
	bad := a.service.conclude(ctx, a.generation, c, 1)
	if bad != nil {
		return &validationError{text: c.text(), details: c.receipt.Errors, tries: 1}
	}
	if err := l.tell(out, engine.Event{Choice: ev.Choice}); err != nil {
		return err
	}
	a.service.appraiseOne(a.generation, c)
	return out.done(ev.Choice, c)
}

// tell passes on which values are complete.
func (l *listener) tell(out sink, ev engine.Event) error {
	if l.trace == nil {
		return nil
	}
	list := l.trace.add(ev.Tokens)
	if wants, ok := out.(fieldSink); ok && len(list) > 0 {
		return wants.fields(ev.Choice, l.trace, list)
	}
	return nil
}

var errPing = errors.New("time for a ping")

// next returns the next event of a generation and keeps the connection open
// while there is none.
func next(ctx context.Context, from events, out sink) (engine.Event, error) {
	for {
		wait, cancel := context.WithTimeoutCause(ctx, pingEvery, errPing)
		ev, err := from.Next(wait)
		cancel()
		if !errors.Is(err, errPing) {
			return ev, err
		}
		if err := out.ping(); err != nil {
			return engine.Event{}, err
		}
	}
}
