package generation

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"

	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/wire"
)

// A Choice is a complete text.
type Choice struct {
	Result   *engine.Result
	Tokens   []engine.Token
	parts    []engine.Passage // of a text with parts
	Trace    *Trace           // nil for free text
	Message  layout.Message
	Receipt  *Receipt
	Json     json.RawMessage // the text as JSON, if it is one document
	Wasted   int             // tokens of failed attempts, and of samples
	Cost     float64         // of an upstream with prices
	repeated bool            // the text takes the place of one that began with an unwanted call
	Warnings []string

	Said          *assess.Said // nil: no signals were requested
	Assessment    *assess.Assessment
	visible       int // bytes of the text without the signals that a mask enforced
	signalsForced int // tokens of signals that were forced
}

// RetrySeed is added to the seed for each further attempt.
const RetrySeed = 0x9e3779b97f4a7c15

// Whole runs a generation to completion and returns its choices.
func (s *Service) Whole(ctx context.Context, g *Generation) ([]Choice, error) {
	if g.Run.Asked() {
		return s.askAll(ctx, g)
	}
	choices, err := gather(ctx, g, g.Job)
	if err != nil {
		return nil, err
	}
	failed := make([]error, len(choices))
	for i := range choices {
		if failed[i] = s.finish(ctx, g, &choices[i]); failed[i] != nil && !g.isSample(i) {
			return nil, failed[i]
		}
	}
	return s.gathered(ctx, g, choices, failed)
}

// finish validates a text. If keywords were left to the validator, it generates again
// until the text fits.
func (s *Service) finish(ctx context.Context, g *Generation, c *Choice) error {
	var attempts []asking.Attempt
	for try := 1; ; try++ {
		c.Message = g.Layout.Read(c.Result.Text, c.parts)
		g.TakeSignals(c, c.Result.Finish == engine.FinishLength)
		bad := s.conclude(ctx, g, c, try)
		if bad == nil {
			return nil
		}
		attempts = append(attempts, failedAttempt(c))
		if try > s.retries(g.Request) {
			return &ValidationError{text: c.text(), details: c.Receipt.Errors, attempts: attempts}
		}
		again := g.Job
		again.Choices = 1
		again.Sampling.Seed = c.Result.Seed + RetrySeed
		next, err := gather(ctx, g, again)
		if err != nil {
			return err
		}
		c.Wasted += c.Result.CompletionTokens
		c.Wasted += next[0].Wasted
		c.Result, c.Tokens, c.parts, c.Trace, c.repeated = next[0].Result, next[0].Tokens, next[0].parts, nil, next[0].repeated
	}
}

// failedAttempt describes an attempt whose document fits the masks but not the
// validator.
func failedAttempt(c *Choice) asking.Attempt {
	return asking.Attempt{Strategy: asking.Masks, Stage: asking.StageValidation, Prompt: c.Result.PromptTokens, Completion: c.Result.CompletionTokens}
}

// text returns the answer of a choice, or its whole text if there is no answer.
func (c *Choice) text() string { return cmp.Or(c.Message.Content, c.Result.Text) }

// conclude fills in what is known once a text is complete. It returns the validator's
// error if keywords were left to the validator.
func (s *Service) conclude(ctx context.Context, g *Generation, c *Choice, try int) *constraint.InvalidDocumentError {
	if g.Constraint == nil {
		return nil
	}
	if c.Trace == nil {
		c.Trace = NewTrace(g)
		c.Trace.Add(c.Tokens)
	}
	c.Trace.End()
	var bad *constraint.InvalidDocumentError
	var warning string
	r := g.Constraint
	if r.format != nil && len(c.Message.Calls) == 0 {
		r = r.format
	}
	c.Receipt, bad, warning = receiptOf(ctx, r, c, try)
	if warning != "" {
		c.Warnings = append(c.Warnings, warning)
	}
	if c.Result.Finish == engine.FinishStop && r.document != nil && json.Valid([]byte(c.Message.Content)) {
		c.Json = json.RawMessage(c.Message.Content)
	}
	if bad == nil || len(r.report.Checked) > 0 {
		return bad
	}
	if len(r.report.Ignored) == 0 {
		s.disagreement(wire.NoteOf(ctx).ID, c.Receipt)
		c.Warnings = append(c.Warnings, "the independent validator refuses this document although every keyword was enforced: one of the two is wrong; please report it")
	}
	return nil
}

// NoteResults adds token counts to the request's log line.
func (s *Service) NoteResults(ctx context.Context, choices []Choice) {
	s.Counts.choices(choices)
	u, forced := UsageOf(choices), 0
	for _, c := range choices {
		if c.Receipt != nil {
			forced += c.Receipt.ForcedTokens
		}
	}
	wire.NoteOf(ctx).Add(
		slog.Int("prompt_tokens", u.PromptTokens), slog.Int("cached_tokens", u.PromptDetails.CachedTokens),
		slog.Int("completion_tokens", u.CompletionTokens), slog.Int("forced_tokens", forced),
	)
}
