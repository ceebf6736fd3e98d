package server

import (
	"context"
	"errors"
	"io"
	"slices"

	"stencil/asking"
	"stencil/engine"
)

// local writes with the engine of a model that is held here.
type local struct{ model *served }

func (local) abilities() abilities { return abilities{tools: true, counts: true} }

func (l local) ready(g *generation) (run, error) {
	q := g.query
	var err error
	if g.request.Prompt, g.request.Marks, err = promptOf(l.model, q, g.rule); err != nil {
		return nil, err
	}
	g.expectSignals()
	if err := g.compose(); err != nil {
		return nil, err
	}
	if g.rule == nil || g.rule.free || g.layout.hasFree() {
		g.request.Stop = q.Stop
	} else if len(q.Stop) > 0 {
		q.Warnings = append(q.Warnings, "stop is not looked for in constrained text and was ignored")
	}
	if g.rule == nil {
		return &localRun{g}, nil
	}
	warnOf(q, g.rule)
	if g.rule.free {
		return &localRun{g}, nil
	}
	if g.request.Measure = true; g.request.Constraint == nil {
		g.request.Constraint = g.rule.constraint
	}
	return &localRun{g}, nil
}

// localRun is the run of a generation of the engine's.
type localRun struct{ *generation }

func (l *localRun) asked() bool { return l.rule != nil && l.rule.free }

func (l *localRun) again() bool { return false }

func (l *localRun) describe(*asking.Task) {}

func (l *localRun) settled(c *choice, _ *asking.Answer, _ string) {
	c.receipt.Strategy = string(asking.Free)
}

func (l *localRun) write(ctx context.Context, turns []asking.Turn, index, number int) (*choice, *asking.Written, error) {
	g := l.generation
	again := g.request
	again.Choices = 1
	again.Sampling.Seed += uint64(index) + uint64(number)*retrySeed
	if len(turns) > 0 && g.query.PromptTokens == nil {
		prompt, marks, err := promptOf(g.model, continued(g.query, turns), g.rule)
		if err != nil {
			return nil, nil, err
		}
		again.Prompt, again.Marks = prompt, marks
	}
	list, err := gather(ctx, g, again)
	if err != nil {
		return nil, nil, err
	}
	c := &list[0]
	c.message = g.layout.read(c.result.Text, c.parts)
	g.unveil(c, c.result.Finish == engine.FinishLength)
	return c, &asking.Written{Text: c.message.Content, Cut: c.result.Finish == engine.FinishLength}, nil
}

func (l *localRun) stream(ctx context.Context) (events, error) {
	s, err := l.submitHere(ctx, l.request)
	if err != nil {
		return nil, err
	}
	return localEvents{s}, nil
}

// localEvents are those of an engine's stream, beside which nothing comes.
type localEvents struct{ *engine.Stream }

func (localEvents) beside(int) asking.Written { return asking.Written{} }

// submitHere gives a request of a generation to the engine. max_tokens is the
// answer's: the shortest signals come on top, so that an answer is never made
// shorter by them. Where the context has no room for both, signals are left out.
func (g *generation) submitHere(ctx context.Context, r engine.Request) (*engine.Stream, error) {
	stream, err := g.model.here.Submit(ctx, r)
	var small *engine.BudgetError
	if g.noted == nil || g.noted.room == 0 || !errors.As(err, &small) {
		return stream, err
	}
	room := g.noted.room
	if small.Minimum-room > small.Budget {
		return nil, &engine.BudgetError{Minimum: small.Minimum - room, Budget: small.Budget}
	}
	if small.Budget == r.MaxTokens {
		return nil, &engine.BudgetError{Minimum: small.Minimum - room, Budget: small.Budget - room}
	}
	// It is the context that is too small.
	constraint := g.request.Constraint
	before := slices.Clone(g.query.Warnings)
	g.noted, g.layout, g.request.Constraint = nil, nil, nil
	if err := g.compose(); err != nil {
		return nil, err
	}
	if g.request.Constraint == nil {
		g.request.Constraint = g.rule.constraint
	}
	g.noted = &noted{}
	g.request.MaxTokens -= room
	g.query.Warnings = append(before, noRoom)
	if r.Constraint == constraint {
		r.Constraint = g.request.Constraint
	}
	r.MaxTokens -= room
	return g.model.here.Submit(ctx, r)
}

// gather runs a request and returns its texts with their tokens.
func gather(ctx context.Context, g *generation, req engine.Request) ([]choice, error) {
	stream, err := g.submitHere(ctx, req)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	choices := make([]choice, max(1, req.Choices))
	for {
		ev, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return choices, nil
		}
		if err != nil {
			return nil, err
		}
		c := &choices[ev.Choice]
		c.tokens = append(c.tokens, ev.Tokens...)
		c.parts = append(c.parts, ev.Passages...)
		if ev.Done != nil {
			c.result = ev.Done
		}
	}
}
