package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"stencil/agent"
	"stencil/asking"
	"stencil/engine"
)

// An asker has a model answer the questions of one run, several at a time.
type asker struct {
	api     *agentAPI
	request *http.Request // who wants to know
	model   *served
	spec    *agentSpec
	giveUp  context.CancelCauseFunc // ends the run

	mu       sync.Mutex
	spent    agentUsage
	warnings []string // each once
}

// agentUsage is what a run took that its frames don't tell.
type agentUsage struct {
	Cached  int // tokens of prompts
	Cost    float64
	Timings engine.Timings // sums
}

// How long a question waits before it is asked again while the queue is full.
const (
	firstWait   = 20 * time.Millisecond
	longestWait = time.Second
)

// Ask puts a question to the model. Where there is no place in the queue it
// waits for one as long as the run has time.
func (a *asker) Ask(ctx context.Context, q *agent.Question) (*agent.Reply, error) {
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		reply, err := a.once(ctx, q)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		longer, later := busy(err)
		switch {
		case later:
			wait = max(wait, longer) // an upstream says how long
			select {
			case <-time.After(wait):
				continue
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		case errors.Is(err, engine.ErrClosed):
			a.giveUp(engine.ErrClosed)
		case internal(err):
			a.api.log.Error("a question of an agent failed", slog.String("id", noteOf(a.request.Context()).id), slog.Int("frame", q.Frame), slog.Any("error", err))
		}
		return nil, &askError{message: describe(err).message, cause: err}
	}
}

// An askError is why a question has no answer, in the words in which clients are
// told of it.
type askError struct {
	message string
	cause   error
}

// Error implements error.
func (e *askError) Error() string { return e.message }

// Unwrap returns the cause, and agent.ErrNoRoom if it was lack of tokens.
func (e *askError) Unwrap() []error {
	var budget *engine.BudgetError
	var prompt *engine.ContextError
	if errors.As(e.cause, &budget) || errors.As(e.cause, &prompt) {
		return []error{agent.ErrNoRoom, e.cause}
	}
	return []error{e.cause}
}

// once puts a question to the model once.
func (a *asker) once(ctx context.Context, q *agent.Question) (*agent.Reply, error) {
	// Questions that are asked side by side must not share a note.
	id := fmt.Sprintf("%s.%d", noteOf(a.request.Context()).id, q.Frame)
	ctx, _ = withNote(ctx, id)
	query := a.query(q)
	g, err := a.api.prepare(a.request.WithContext(ctx), a.model, query)
	if err != nil {
		return nil, err
	}
	c, err := a.write(ctx, g)
	if err != nil {
		return nil, err
	}
	a.note(q.Frame, query, c)
	reply := &agent.Reply{
		Text: cmp.Or(c.message.Content, c.result.Text), PromptTokens: c.result.PromptTokens, CompletionTokens: c.result.CompletionTokens + c.wasted,
		Surprise: surprise(c.tokens), Constrained: enforced(c.receipt),
	}
	if len(c.message.Calls) > 0 {
		reply.Text = c.message.Content
	}
	for _, one := range c.message.Calls {
		reply.Calls = append(reply.Calls, agent.Call{ID: one.ID, Name: one.Name, Arguments: []byte(one.Arguments)})
	}
	return reply, nil
}

// write runs a generation. What an upstream's model wrote is taken as it is, even
// if it is nothing like what was asked for: package agent makes of it what can
// be made.
func (a *asker) write(ctx context.Context, g *generation) (*choice, error) {
	if !g.run.asked() {
		list, err := a.api.whole(ctx, g)
		if err != nil {
			return nil, err
		}
		return &list[0], nil
	}
	c := new(choice)
	err := a.api.ask(ctx, g, 0, c)
	var reason *asking.FailureReason
	if errors.As(err, &reason) && (reason.Category == asking.InvalidJSON || reason.Category == asking.WrongDocument) && c.result != nil {
		c.message, err = message{Content: reason.Text}, nil
	}
	if err != nil {
		return nil, err
	}
	a.api.noteResults(ctx, []choice{*c})
	return c, nil
}

// query is a question as any other request.
func (a *asker) query(q *agent.Question) *query {
	none := 0
	out := newQuery()
	out.Model, out.Messages, out.MaxTokens, out.RetryMax = a.spec.Model, a.spec.messages(q.Messages), q.MaxTokens, &none
	out.Sampling = a.spec.Sampling
	out.Sampling.Seed, out.Seeded = q.Seed, true
	out.PromptSchema = "never" // the system text says what is wanted
	out.Constraint.Kind, out.Constraint.Schema, out.Constraint.Strict, out.Constraint.Param = "schema", q.Schema, false, "query"
	out.Logprobs = writerOf(a.model).abilities().onRequest
	if len(q.Tools) == 0 {
		return out
	}
	out.Tools = &toolSet{Mode: toolsAuto, Parallel: true}
	for _, t := range q.Tools {
		out.Tools.Tools = append(out.Tools.Tools, tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters, Param: "tools"})
	}
	return out
}

// note adds up what an answer took, and keeps what is to be said about it.
func (a *asker) note(frame int, q *query, c *choice) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, t := &a.spent, c.result.Timings
	s.Cached += c.result.CachedTokens
	s.Cost += c.cost
	s.Timings.Queued += t.Queued
	s.Timings.Prompt += t.Prompt
	s.Timings.Generate += t.Generate
	warn := func(w string) {
		if !slices.Contains(a.warnings, w) && len(a.warnings) < maxAgentWarnings {
			a.warnings = append(a.warnings, w)
		}
	}
	for _, w := range q.Warnings {
		warn(w)
	}
	for _, w := range c.warnings {
		warn(fmt.Sprintf("frame %d: %s", frame, w))
	}
}

// maxAgentWarnings bounds the different warnings of one run.
const maxAgentWarnings = 16

// CountTokens counts with the model's tokenizer.
func (a *asker) CountTokens(text string) (int, bool) {
	if !writerOf(a.model).abilities().counts {
		return 0, false
	}
	return len(a.model.text.Vocab().Tokenize(nil, text, false)), true
}

// enforced reports whether masks have made a text what it is.
func enforced(r *receipt) bool {
	return r != nil && len(r.Enforced) > 0 && (r.Validated == nil || *r.Validated)
}
