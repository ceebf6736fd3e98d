package generation

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"

	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/backend/remote"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// This file handles texts without masks: those of an upstream, and those that the local
// model generated freely. They are cleaned, repaired if requested, validated, and
// re-asked.

// Afterwards returns the constraint as one that is not enforced, only validated on the
// cleaned text, for the reason why.
func (r *Constraint) Afterwards(why string) *Constraint {
	out := &Constraint{kind: r.kind, report: r.report, Instruction: r.Instruction, document: r.document, check: r.check, free: true,
		Tools: r.Tools, Must: r.Must, Parallel: r.Parallel, format: r.format}
	out.report.Enforced, out.report.Checked, out.report.Closed = nil, slices.Clone(r.report.Checked), false
	for _, keyword := range r.report.Enforced {
		out.report.Checked = append(out.report.Checked, schema.Issue{Keyword: keyword, Reason: why})
	}
	return out
}

// noConstraint stands in for Result.Constraint, which only constrained texts have.
var noConstraint engine.ConstraintResult

// retries returns the number of re-asks after an invalid answer.
func (s *Service) retries(q *request.Request) int {
	if q.RetryMax != nil {
		return *q.RetryMax
	}
	return s.Settings.Retries
}

// task describes a generation to package asking.
func (s *Service) task(ctx context.Context, g *Generation) asking.Task {
	c := &g.Request.Constraint
	t := asking.Task{
		Model: g.Model.Name, Strategy: asking.Free, Strict: c.Strict, Repair: c.Repair, Markdown: c.Markdown, Retries: s.retries(g.Request),
		Log: s.Log.With(slog.String("id", wire.NoteOf(ctx).ID)), Observe: s.Counts.try,
	}
	g.Run.Describe(ctx, &t)
	if t.Format = g.Format(); t.Format == nil {
		return t
	}
	r := g.Constraint.Answers()
	if !t.Format.JSON {
		t.Match = func(text string) error { return r.check(ctx, &layout.Message{Content: text}) }
		return t
	}
	if t.Check != nil {
		return t // the run's own
	}
	t.Check = func(document []byte) ([]schema.Issue, error) {
		err := r.check(ctx, &layout.Message{Content: string(document)})
		var bad *constraint.InvalidDocumentError
		if errors.As(err, &bad) {
			return bad.Issues, nil
		}
		return nil, err
	}
	return t
}

// Format returns the format of the texts; nil: none.
func (g *Generation) Format() *asking.Format {
	r := g.Constraint.Answers()
	if r == nil {
		return nil
	}
	c := &g.Request.Constraint
	switch r.kind {
	case "regex":
		return &asking.Format{Regex: c.Text}
	case "grammar":
		if c.Builtin != nil {
			return builtinFormat(c.Builtin)
		}
		return &asking.Format{Grammar: c.Text}
	case "choice":
		return &asking.Format{Choices: c.Choices}
	}
	return &asking.Format{JSON: true, Schema: r.document, Shown: c.Example}
}

// askAll generates all texts of a generation, in parallel.
func (s *Service) askAll(ctx context.Context, g *Generation) ([]Choice, error) {
	choices := make([]Choice, max(1, g.Job.Choices))
	failed := make([]error, len(choices))
	done := make(chan struct{})
	for i := range choices {
		go func() {
			failed[i] = s.Ask(ctx, g, i, &choices[i])
			done <- struct{}{}
		}()
	}
	for range choices {
		<-done
	}
	for i, err := range failed {
		if err != nil && !g.isSample(i) {
			return nil, err
		}
	}
	return s.gathered(ctx, g, choices, failed)
}

// Ask generates one text.
func (s *Service) Ask(ctx context.Context, g *Generation, index int, c *Choice) error {
	ctx, cancel := context.WithTimeout(ctx, g.Job.Timeout)
	defer cancel()
	t := s.task(ctx, g)
	var refused error // an error of the request itself, which ends the attempts
	var prompt, written int
	t.Write = func(ctx context.Context, turns []asking.Turn, number int) (*asking.Written, error) {
		next, w, err := g.Run.Write(ctx, turns, index, number)
		if err != nil {
			if !problem.Internal(err) {
				refused = err
			}
			return nil, err
		}
		prompt += next.Result.PromptTokens
		written += next.Result.CompletionTokens
		*c = *next
		return w, nil
	}
	a, err := asking.Ask(ctx, t)
	if refused != nil {
		return refused
	}
	if err != nil {
		return err
	}
	c.Result.PromptTokens, c.Result.CompletionTokens, c.Cost = prompt, written, a.Usage.Cost
	return s.settle(ctx, g, c, a)
}

// Continued returns a request with further turns of its conversation.
func Continued(q *request.Request, turns []asking.Turn) *request.Request {
	next := *q
	next.Warnings = nil
	if q.Messages != nil {
		next.Messages = slices.Clone(q.Messages)
		for _, t := range turns {
			m := chat.Message{Role: t.Role, Content: t.Content, ToolCallID: t.CallID}
			for _, c := range t.Calls {
				new(request.Lines).AddCall(&m, chat.ToolCall{ID: c.ID, Name: c.Name}, c.Arguments)
			}
			next.Messages = append(next.Messages, m)
		}
		return &next
	}
	text := *q.Prompt
	for _, t := range turns {
		text = Join(text, t.Content)
	}
	text += "\n\n"
	next.Prompt = &text
	return &next
}

// settle stores an answer in a choice.
func (s *Service) settle(ctx context.Context, g *Generation, c *Choice, a *asking.Answer) error {
	c.Warnings = append(c.Warnings, a.Warnings...)
	if g.Constraint == nil {
		return nil
	}
	raw, r := c.Message.Content, g.Constraint
	c.Message.Content, c.Message.Calls = a.Text, ownCalls(a.Calls)
	if r.format != nil && len(a.Calls) == 0 {
		r = r.format
	}
	if a.JSON && r.document != nil {
		c.Json = json.RawMessage(a.Text)
	}
	c.Receipt, _, _ = receiptOf(ctx, r, c, a.Tries)
	if !a.JSON && a.Valid != nil && !*a.Valid && len(a.Issues) > 0 {
		c.Receipt.Errors = problem.Details(a.Issues)
	}
	c.Receipt.Edits = a.Edits
	if len(a.Attempts) > 1 || a.Valid != nil && !*a.Valid {
		c.Receipt.Attempts = a.Attempts
	}
	g.Run.Settled(c, a, raw)
	return nil
}

// concludeFree validates a streamed text, with the calls that came beside it. It can be
// re-asked only if no part of the answer was sent, as when there were only calls.
func (s *Service) concludeFree(ctx context.Context, g *Generation, c *Choice, index int, beside asking.Written) error {
	t := s.task(ctx, g)
	first := &asking.Written{Text: c.Message.Content, Cut: c.Result.Finish == engine.FinishLength}
	first.Calls, first.Refusal, first.Usage = beside.Calls, beside.Refusal, beside.Usage
	if first.Usage == (remote.Usage{}) {
		first.Usage.Prompt, first.Usage.Completion = c.Result.PromptTokens, c.Result.CompletionTokens
	}
	if !g.Run.Again() || c.Message.Content != "" {
		t.Retries = 0
	}
	t.Write = func(ctx context.Context, turns []asking.Turn, number int) (*asking.Written, error) {
		if number == 0 {
			return first, nil
		}
		before := c.Result
		ctx, cancel := context.WithTimeout(ctx, g.Job.Timeout-before.Timings.Generate)
		defer cancel()
		next, w, err := g.Run.Write(ctx, turns, index, number)
		if err != nil {
			return nil, err
		}
		if next.Said != nil {
			c.Said, c.Tokens = next.Said, next.Tokens
		}
		c.Result = next.Result
		c.Result.PromptTokens += before.PromptTokens
		c.Result.CompletionTokens += before.CompletionTokens
		c.Result.Timings.Generate += before.Timings.Generate
		return w, nil
	}
	a, err := asking.Ask(ctx, t)
	if err != nil {
		return err
	}
	c.Cost = a.Usage.Cost
	return s.settle(ctx, g, c, a)
}

// ownCalls converts an upstream's calls.
func ownCalls(list []remote.Call) (out []layout.Call) {
	for _, c := range list {
		out = append(out, layout.Call(c))
	}
	return out
}
