package agentapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// An asker has a model answer the questions of one run, several in parallel.
type asker struct {
	api     *Handlers
	request *http.Request // the client's request
	model   *registry.Model
	spec    *spec
	giveUp  context.CancelCauseFunc // cancels the run

	mu       sync.Mutex
	spent    usage
	warnings []string // without duplicates
}

// usage is the part of a run's usage that its frames don't record.
type usage struct {
	Cached  int // prompt tokens reused from the cache
	Cost    float64
	Timings engine.Timings // sums
}

// The wait before a question is repeated while the queue is full.
const (
	firstWait   = 20 * time.Millisecond
	longestWait = time.Second
)

// Ask puts a question to the model. If the queue is full, it waits for as long as the run has time.
func (a *asker) Ask(ctx context.Context, q *agent.Question) (*agent.Reply, error) {
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		reply, err := a.once(ctx, q)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		longer, later := problem.Busy(err)
		switch {
		case later:
			wait = max(wait, longer) // the wait that an upstream asked for
			select {
			case <-time.After(wait):
				continue
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		case errors.Is(err, engine.ErrClosed):
			a.giveUp(engine.ErrClosed)
		case problem.Internal(err):
			a.api.Log.Error("agent question failed", slog.String("id", wire.NoteOf(a.request.Context()).ID), slog.Int("frame", q.Frame), slog.Any("error", err))
		}
		said := problem.Describe(err)
		if before, after, found := strings.Cut(said.Message, asking.TimeExceeded); found {
			said.Message = fmt.Sprintf("%sa question to the model took longer than a request may (%s, --request-timeout)%s", before, a.api.Timeout, after)
			err = &slowError{err, said}
		}
		return nil, &askError{message: said.Message, cause: err}
	}
}

// An askError is the reason why a question has no answer, with the message that clients get.
type askError struct {
	message string
	cause   error
}

// Error implements error.
func (e *askError) Error() string { return e.message }

// Unwrap returns the cause, and agent.ErrNoRoom if the cause is a lack of tokens.
func (e *askError) Unwrap() []error {
	var budget *engine.BudgetError
	var prompt *engine.ContextError
	if errors.As(e.cause, &budget) || errors.As(e.cause, &prompt) {
		return []error{agent.ErrNoRoom, e.cause}
	}
	return []error{e.cause}
}

// A slowError is a question that exceeded the time limit of requests, which is not that of the run.
type slowError struct {
	error
	said problem.Problem
}

// Unwrap returns the cause.
func (e *slowError) Unwrap() error { return e.error }

// Problem implements the description of package problem.
func (e *slowError) Problem() problem.Problem { return e.said }

// once puts a question to the model once.
func (a *asker) once(ctx context.Context, q *agent.Question) (*agent.Reply, error) {
	// Questions asked in parallel must not share a note.
	id := fmt.Sprintf("%s.%d", wire.NoteOf(a.request.Context()).ID, q.Frame)
	ctx, _ = wire.WithNote(ctx, id)
	query := a.query(q)
	g, err := a.api.Prepare(a.request.WithContext(ctx), a.model, query)
	if err != nil {
		return nil, err
	}
	c, err := a.write(ctx, g)
	if err != nil {
		return nil, err
	}
	a.note(q.Frame, query, c)
	reply := &agent.Reply{
		Text: cmp.Or(c.Message.Content, c.Result.Text), PromptTokens: c.Result.PromptTokens, CompletionTokens: c.Result.CompletionTokens + c.Wasted,
		Raw: c.Result.Text, Surprise: g.Surprise(c.Tokens), Constrained: enforced(c.Receipt),
	}
	if len(c.Message.Calls) > 0 {
		reply.Text = c.Message.Content
	}
	for _, one := range c.Message.Calls {
		reply.Calls = append(reply.Calls, agent.Call{ID: one.ID, Name: one.Name, Arguments: []byte(one.Arguments)})
	}
	return reply, nil
}

// write runs a generation. An upstream's text is re-asked until package agent finds an envelope in it, or until it fits the schema
// if the request is strict; if it doesn't in the end, a strict run fails, and any other one takes the text as it is.
func (a *asker) write(ctx context.Context, g *generation.Generation) (*generation.Choice, error) {
	if !g.Run.Asked() {
		list, err := a.api.Whole(ctx, g)
		if err != nil {
			return nil, err
		}
		return &list[0], nil
	}
	if !a.spec.Strict {
		g.Run = tolerant{g.Run}
	}
	c := new(generation.Choice)
	if err := a.api.Ask(ctx, g, 0, c); err != nil {
		return nil, err
	}
	a.api.NoteResults(ctx, []generation.Choice{*c})
	return c, nil
}

// tolerant is a run whose documents need not fit the envelope's schema.
type tolerant struct{ generation.Run }

func (r tolerant) Describe(ctx context.Context, t *asking.Task) {
	r.Run.Describe(ctx, t)
	t.Check = usable
}

// usable requires of a document what package agent does not supply itself.
func usable(document []byte) ([]schema.Issue, error) {
	switch agent.Unusable(string(document)) {
	case agent.ErrorNoConclusion:
		return []schema.Issue{{Keyword: "required", Reason: `the object must have a "conclusion" that is not empty`}}, nil
	case agent.ErrorInvalidJSON:
		return []schema.Issue{{Keyword: "type", Reason: "must be an object"}}, nil
	}
	return nil, nil
}

// query converts a question to a request.
func (a *asker) query(q *agent.Question) *request.Request {
	out := request.New()
	out.Model, out.Messages, out.MaxTokens, out.RetryMax = a.spec.Model, a.spec.messages(q.Messages), q.MaxTokens, a.spec.RetryMax
	out.Sampling = a.spec.Sampling
	out.Sampling.Seed, out.Seeded = q.Seed, true
	out.PromptSchema = "never" // the system text describes the answer
	out.Constraint.Kind, out.Constraint.Schema, out.Constraint.Strict, out.Constraint.Param = "schema", q.Schema, false, "query"
	if a.model.Unmasked != "" {
		out.PromptSchema = "always" // including the rules, which nothing else enforces
		out.Constraint.Strict, out.Constraint.Repair, out.Constraint.Markdown = a.spec.Strict, true, true
		out.Constraint.Example = agent.Example
	}
	out.Logprobs = generation.WriterOf(a.model).Abilities().OnRequest
	if len(q.Tools) == 0 {
		return out
	}
	out.Tools = &request.ToolSet{Mode: request.ToolsAuto, Parallel: true}
	for _, t := range q.Tools {
		out.Tools.Tools = append(out.Tools.Tools, request.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters, Param: "tools"})
	}
	return out
}

// note adds an answer's usage and warnings to the run's.
func (a *asker) note(frame int, q *request.Request, c *generation.Choice) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, t := &a.spent, c.Result.Timings
	s.Cached += c.Result.CachedTokens
	s.Cost += c.Cost
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
	for _, w := range c.Warnings {
		warn(fmt.Sprintf("frame %d: %s", frame, w))
	}
}

// maxAgentWarnings is the largest number of distinct warnings of a run.
const maxAgentWarnings = 16

// CountTokens counts with the model's tokenizer.
func (a *asker) CountTokens(text string) (int, bool) {
	if !generation.WriterOf(a.model).Abilities().Counts {
		return 0, false
	}
	tokens, err := a.model.Prompts.Append(context.Background(), nil, text, false)
	var long *chat.LengthError
	if errors.As(err, &long) {
		return long.Least, true
	}
	return len(tokens), err == nil
}

// enforced reports whether masks enforced a text's constraint.
func enforced(r *generation.Receipt) bool {
	return r != nil && len(r.Enforced) > 0 && (r.Validated == nil || *r.Validated)
}
