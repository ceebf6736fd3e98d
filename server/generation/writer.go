package generation

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/backend/remote"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/wire"
)

// A writer generates the texts of a model: an engine of this process, or an upstream.
// Both get the same generations.
type writer interface {
	Abilities() Abilities
	// Ready prepares a generation: it completes its request and layout, and refuses
	// what the writer does not support.
	Ready(ctx context.Context, g *Generation) (Run, error)
}

// Abilities are what only some writers support.
type Abilities struct {
	Tools     bool // tools can be given
	OnRequest bool // token probabilities must be requested, and can be
	Counts    bool // it has the model's tokenizer
}

// A Run generates the texts of one generation.
type Run interface {
	// Asked reports whether the texts have no masks: they are cleaned, validated and
	// re-asked.
	Asked() bool
	// Write generates one unmasked text. The turns continue the conversation after
	// attempt number-1 of the choice index was rejected.
	Write(ctx context.Context, turns []asking.Turn, index, number int) (*Choice, *asking.Written, error)
	// Stream starts generating all texts.
	Stream(ctx context.Context) (Events, error)
	// Again reports whether a streamed text can be re-asked, as long as it has no
	// content.
	Again() bool
	// Describe fills in the strategy of the texts, and a check of documents if it is not the constraint's.
	Describe(ctx context.Context, t *asking.Task)
	// Settled fills in what the writer knows about an answer; raw is its text before
	// cleaning.
	Settled(c *Choice, a *asking.Answer, raw string)
}

// Events are the events of a stream.
type Events interface {
	// Next returns the next event, io.EOF after the last one.
	Next(ctx context.Context) (engine.Event, error)
	// Beside returns what came beside the text of a finished choice.
	Beside(index int) asking.Written
	Close()
}

// WriterOf returns the writer of a model: its text, if that is a writer, else its
// engine.
func WriterOf(m *registry.Model) writer {
	if w, ok := m.Text.(writer); ok {
		return w
	}
	return local{m}
}

// local generates with an engine of this process.
type local struct{ model *registry.Model }

func (local) Abilities() Abilities { return Abilities{Tools: true, Counts: true} }

func (l local) Ready(ctx context.Context, g *Generation) (Run, error) {
	q := g.Request
	var err error
	if g.Job.Prompt, g.Job.Marks, err = promptOf(ctx, l.model, q, g.Constraint); err != nil {
		return nil, err
	}
	g.ExpectSignals()
	if err := g.compose(ctx); err != nil {
		return nil, err
	}
	if q.ShowSpecial && (g.Constraint != nil || g.Layout != nil) {
		return nil, wire.NotOffered("skip_special_tokens", "skip_special_tokens: false with a constraint, tools, signals or a model that reasons")
	}
	if g.Constraint == nil || g.Constraint.free || g.Layout.HasFree() {
		g.Job.Stop = q.Stop
	} else if len(q.Stop) > 0 {
		q.Warnings = append(q.Warnings, "stop is not looked for in constrained text and was ignored")
	}
	if g.Constraint == nil {
		return &localRun{g}, nil
	}
	WarnOf(q, g.Constraint)
	if g.Constraint.free {
		return &localRun{g}, nil
	}
	if g.Job.Measure = true; g.Job.Constraint == nil {
		g.Job.Constraint = g.Constraint.constraint
	}
	return &localRun{g}, nil
}

// localRun is the run of an engine's generation.
type localRun struct{ *Generation }

func (l *localRun) Asked() bool { return l.Constraint != nil && l.Constraint.free }

func (l *localRun) Again() bool { return false }

func (l *localRun) Describe(context.Context, *asking.Task) {}

func (l *localRun) Settled(c *Choice, _ *asking.Answer, _ string) {
	c.Receipt.Strategy = string(asking.Free)
}

func (l *localRun) Write(ctx context.Context, turns []asking.Turn, index, number int) (*Choice, *asking.Written, error) {
	g := l.Generation
	again := g.Job
	again.Choices = 1
	again.Sampling.Seed += uint64(index) + uint64(number)*RetrySeed
	if len(turns) > 0 && g.Request.PromptTokens == nil {
		prompt, marks, err := promptOf(ctx, g.Model, Continued(g.Request, turns), g.Constraint)
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
	c.Message = g.Layout.Read(c.Result.Text, c.parts)
	g.TakeSignals(c, c.Result.Finish == engine.FinishLength)
	return c, &asking.Written{
		Text: c.Message.Content, Cut: c.Result.Finish == engine.FinishLength, Usage: remote.Usage{Prompt: c.Result.PromptTokens, Completion: c.Result.CompletionTokens},
	}, nil
}

func (l *localRun) Stream(ctx context.Context) (Events, error) {
	s, err := l.submitHere(ctx, l.Job)
	if err != nil {
		return nil, err
	}
	return localEvents{s}, nil
}

// localEvents are the events of an engine's stream; nothing comes beside its texts.
type localEvents struct{ *engine.Stream }

func (localEvents) Beside(int) asking.Written { return asking.Written{} }

// submitHere submits a request of a generation to the engine. max_tokens is the
// answer's: room for the shortest signals is added, so that signals never shorten an
// answer. If the context has no room for both, signals are left out.
func (g *Generation) submitHere(ctx context.Context, r engine.Request) (*engine.Stream, error) {
	stream, err := g.Model.Engine.Submit(ctx, r)
	wire.NoteOf(ctx).Prepared()
	var small *engine.BudgetError
	if g.Signals == nil || g.Signals.room == 0 || !errors.As(err, &small) {
		return stream, err
	}
	room := g.Signals.room
	if small.Minimum-room > small.Budget {
		return nil, &engine.BudgetError{Minimum: small.Minimum - room, Budget: small.Budget, Context: small.Context}
	}
	if small.Budget == r.MaxTokens {
		return nil, &engine.BudgetError{Minimum: small.Minimum - room, Budget: small.Budget - room, Context: small.Context}
	}
	// The context, rather than max_tokens, is too small.
	constraint := g.Job.Constraint
	before := slices.Clone(g.Request.Warnings)
	g.Signals, g.Layout, g.Job.Constraint = nil, nil, nil
	if err := g.compose(ctx); err != nil {
		return nil, err
	}
	if g.Job.Constraint == nil {
		g.Job.Constraint = g.Constraint.constraint
	}
	g.Signals = &signalPlan{}
	g.Job.MaxTokens -= room
	g.Request.Warnings = append(before, noRoom)
	if r.Constraint == constraint {
		r.Constraint = g.Job.Constraint
	}
	r.MaxTokens -= room
	return g.Model.Engine.Submit(ctx, r)
}

// gather runs a request and returns its texts with their tokens.
func gather(ctx context.Context, g *Generation, req engine.Request) ([]Choice, error) {
	stream, err := g.submitHere(ctx, req)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	choices := make([]Choice, max(1, req.Choices))
	for {
		ev, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return choices, nil
		}
		if err != nil {
			return nil, err
		}
		c := &choices[ev.Choice]
		c.Tokens = append(c.Tokens, ev.Tokens...)
		c.parts = append(c.parts, ev.Passages...)
		if ev.Done == nil {
			continue
		}
		if c.Result = ev.Done; c.unwanted() {
			again, err := g.instead(ctx, ev.Done)
			if err != nil {
				return nil, err
			}
			list, err := gather(ctx, g, again)
			if err != nil {
				return nil, err
			}
			*c = list[0]
			c.takes(ev.Done)
		}
	}
}

// unwanted reports whether the text ended where it began with a call that it must not have.
func (c *Choice) unwanted() bool { return c.Result.Constraint != nil && c.Result.Constraint.Unwanted }
