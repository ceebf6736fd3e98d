package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"

	"stencil/asking"
	"stencil/backend/remote"
	"stencil/chat"
	"stencil/engine"
	"stencil/schema"
)

// This file is about texts that no mask was laid over: those of an upstream,
// and those that the local model was asked to write freely. They are cleaned,
// repaired if that was asked for, checked, and asked for again.

// afterwards makes of a rule one that is not enforced but only checked, on what
// is left of the text when it has been cleaned.
func (r *rule) afterwards(why string) *rule {
	out := &rule{kind: r.kind, report: r.report, instruction: r.instruction, document: r.document, check: r.check, free: true,
		tools: r.tools, must: r.must, parallel: r.parallel, format: r.format}
	out.report.Enforced, out.report.Checked = nil, slices.Clone(r.report.Checked)
	for _, keyword := range r.report.Enforced {
		out.report.Checked = append(out.report.Checked, schema.Issue{Keyword: keyword, Reason: why})
	}
	return out
}

// noConstraint stands for the part of a result that only constrained texts have.
var noConstraint engine.ConstraintResult

// retries is how many more tries an answer gets that won't do.
func (s *service) retries(q *query) int {
	if q.RetryMax != nil {
		return *q.RetryMax
	}
	return s.settings.retries
}

// task describes a generation to package asking.
func (s *service) task(ctx context.Context, g *generation) asking.Task {
	c := &g.query.Constraint
	t := asking.Task{
		Model: g.model.name, Strategy: asking.Free, Strict: c.Strict, Repair: c.Repair, Retries: s.retries(g.query),
		Log: s.log.With(slog.String("id", noteOf(ctx).id)), Observe: s.counts.asked.observe,
	}
	g.run.describe(&t)
	if t.Format = g.format(); t.Format == nil {
		return t
	}
	r := g.rule.answers()
	if !t.Format.JSON {
		t.Match = func(text string) error { return r.check(&message{Content: text}) }
		return t
	}
	t.Check = func(document []byte) ([]schema.Issue, error) {
		err := r.check(&message{Content: string(document)})
		var bad *engine.InvalidDocumentError
		if errors.As(err, &bad) {
			return bad.Issues, nil
		}
		return nil, err
	}
	return t
}

// format is what the texts must look like; nil: like anything.
func (g *generation) format() *asking.Format {
	r := g.rule.answers()
	if r == nil {
		return nil
	}
	c := &g.query.Constraint
	switch r.kind {
	case "regex":
		return &asking.Format{Regex: c.Text}
	case "grammar":
		return &asking.Format{Grammar: c.Text}
	case "choice":
		return &asking.Format{Choices: c.Choices}
	}
	return &asking.Format{JSON: true, Schema: r.document}
}

// askAll gets all texts of a generation, side by side.
func (s *service) askAll(ctx context.Context, g *generation) ([]choice, error) {
	choices := make([]choice, max(1, g.request.Choices))
	failed := make([]error, len(choices))
	done := make(chan struct{})
	for i := range choices {
		go func() {
			failed[i] = s.ask(ctx, g, i, &choices[i])
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

// ask gets one text.
func (s *service) ask(ctx context.Context, g *generation, index int, c *choice) error {
	ctx, cancel := context.WithTimeout(ctx, g.request.Timeout)
	defer cancel()
	t := s.task(ctx, g)
	var refused error // a mistake in the request itself, which nothing is to be made of
	var prompt, written int
	t.Write = func(ctx context.Context, turns []asking.Turn, number int) (*asking.Written, error) {
		next, w, err := g.run.write(ctx, turns, index, number)
		if err != nil {
			if !internal(err) {
				refused = err
			}
			return nil, err
		}
		prompt += next.result.PromptTokens
		written += next.result.CompletionTokens
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
	c.result.PromptTokens, c.result.CompletionTokens, c.cost = prompt, written, a.Usage.Cost
	return s.settle(g, c, a)
}

// continued returns a query with further turns of its conversation.
func continued(q *query, turns []asking.Turn) *query {
	next := *q
	next.Warnings = nil
	if q.Messages != nil {
		next.Messages = slices.Clone(q.Messages)
		for _, t := range turns {
			m := chat.Message{Role: t.Role, Content: t.Content, ToolCallID: t.CallID}
			for _, c := range t.Calls {
				addCall(&m, chat.ToolCall{ID: c.ID, Name: c.Name}, c.Arguments)
			}
			next.Messages = append(next.Messages, m)
		}
		return &next
	}
	text := *q.Prompt
	for _, t := range turns {
		text = join(text, t.Content)
	}
	text += "\n\n"
	next.Prompt = &text
	return &next
}

// settle puts an answer into a choice.
func (s *service) settle(g *generation, c *choice, a *asking.Answer) error {
	c.warnings = append(c.warnings, a.Warnings...)
	if g.rule == nil {
		return nil
	}
	raw, r := c.message.Content, g.rule
	c.message.Content, c.message.Calls = a.Text, ownCalls(a.Calls)
	if r.format != nil && len(a.Calls) == 0 {
		r = r.format
	}
	if a.JSON && r.document != nil {
		c.json = json.RawMessage(a.Text)
	}
	c.receipt, _, _ = receiptOf(r, c, a.Tries)
	if !a.JSON && a.Valid != nil && !*a.Valid && len(a.Issues) > 0 {
		c.receipt.Errors = details(a.Issues)
	}
	c.receipt.Edits = a.Edits
	g.run.settled(c, a, raw)
	return nil
}

// concludeFree judges a text that was streamed, with the calls that came beside
// it. It can be asked for again only as long as nothing of the answer was sent,
// as when there were but calls.
func (s *service) concludeFree(ctx context.Context, g *generation, c *choice, index int, beside asking.Written) error {
	t := s.task(ctx, g)
	first := &asking.Written{Text: c.message.Content, Cut: c.result.Finish == engine.FinishLength}
	first.Calls, first.Refusal, first.Usage = beside.Calls, beside.Refusal, beside.Usage
	if !g.run.again() || c.message.Content != "" {
		t.Retries = 0
	}
	t.Write = func(ctx context.Context, turns []asking.Turn, number int) (*asking.Written, error) {
		if number == 0 {
			return first, nil
		}
		before := c.result
		ctx, cancel := context.WithTimeout(ctx, g.request.Timeout-before.Timings.Generate)
		defer cancel()
		next, w, err := g.run.write(ctx, turns, index, number)
		if err != nil {
			return nil, err
		}
		if next.said != nil {
			c.said, c.tokens = next.said, next.tokens
		}
		c.result = next.result
		c.result.PromptTokens += before.PromptTokens
		c.result.CompletionTokens += before.CompletionTokens
		c.result.Timings.Generate += before.Timings.Generate
		return w, nil
	}
	a, err := asking.Ask(ctx, t)
	if err != nil {
		return err
	}
	c.cost = a.Usage.Cost
	return s.settle(g, c, a)
}

// ownCalls are an upstream's calls as answers have them.
func ownCalls(list []remote.Call) (out []call) {
	for _, c := range list {
		out = append(out, call(c))
	}
	return out
}

// pieces are a message's calls as a stream has them.
func (m *message) pieces() (out []piece) {
	for i, c := range m.Calls {
		out = append(out, piece{kind: pieceCall, call: i, id: c.ID, name: c.Name}, piece{kind: pieceArguments, call: i, text: c.Arguments}, piece{kind: pieceCallEnd, call: i})
	}
	return out
}
