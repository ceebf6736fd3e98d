package server

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"

	"stencil/engine"
)

// A choice is one complete text.
type choice struct {
	result   *engine.Result
	tokens   []engine.Token
	parts    []engine.Passage // of a text that has them
	trace    *trace           // nil for free text
	message  message
	receipt  *receipt
	json     json.RawMessage // the text as JSON, when it is a whole document
	wasted   int             // tokens of tries that failed, and of samples
	cost     float64         // of an upstream that has a price
	warnings []string

	said         *said // nil: no signals are wanted
	assessment   *assessmentReply
	visible      int // bytes of the text without the signals that a mask put after it
	veiledForced int // tokens of signals that were forced
}

// retrySeed is added to the seed for each further try.
const retrySeed = 0x9e3779b97f4a7c15

// whole runs a generation to its end and returns the choices.
func (s *service) whole(ctx context.Context, g *generation) ([]choice, error) {
	if g.run.asked() {
		return s.askAll(ctx, g)
	}
	choices, err := gather(ctx, g, g.request)
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

// finish validates a text and, where keywords were left to the validator,
// tries again until it fits.
func (s *service) finish(ctx context.Context, g *generation, c *choice) error {
	for try := 1; ; try++ {
		c.message = g.layout.read(c.result.Text, c.parts)
		g.unveil(c, c.result.Finish == engine.FinishLength)
		bad := s.conclude(ctx, g, c, try)
		if bad == nil {
			return nil
		}
		if try > s.retries(g.query) {
			return &validationError{text: c.text(), details: c.receipt.Errors, tries: try}
		}
		again := g.request
		again.Choices = 1
		again.Sampling.Seed = c.result.Seed + retrySeed
		next, err := gather(ctx, g, again)
		if err != nil {
			return err
		}
		c.wasted += c.result.CompletionTokens
		c.result, c.tokens, c.parts, c.trace = next[0].result, next[0].tokens, next[0].parts, nil
	}
}

// text is what a choice says: its answer, or if there is none all of its text.
func (c *choice) text() string { return cmp.Or(c.message.Content, c.result.Text) }

// conclude fills in what is known once a text is complete. It returns the
// validator's objections if keywords were left to it.
func (s *service) conclude(ctx context.Context, g *generation, c *choice, try int) *engine.InvalidDocumentError {
	if g.rule == nil {
		return nil
	}
	if c.trace == nil {
		c.trace = newTrace(g)
		c.trace.add(c.tokens)
	}
	c.trace.end()
	var bad *engine.InvalidDocumentError
	var warning string
	r := g.rule
	if r.format != nil && len(c.message.Calls) == 0 {
		r = r.format
	}
	c.receipt, bad, warning = receiptOf(r, c, try)
	if warning != "" {
		c.warnings = append(c.warnings, warning)
	}
	if c.result.Finish == engine.FinishStop && r.document != nil && json.Valid([]byte(c.message.Content)) {
		c.json = json.RawMessage(c.message.Content)
	}
	if bad == nil || len(r.report.Checked) > 0 {
		return bad
	}
	if len(r.report.Ignored) == 0 {
		s.disagreement(noteOf(ctx).id, c.receipt)
		c.warnings = append(c.warnings, "the independent validator refuses this document although every keyword was enforced: one of the two is wrong; please report it")
	}
	return nil
}

// noteResults puts counts into the request's log line.
func (s *service) noteResults(ctx context.Context, choices []choice) {
	s.counts.choices(choices)
	u, forced := usage(choices), 0
	for _, c := range choices {
		if c.receipt != nil {
			forced += c.receipt.ForcedTokens
		}
	}
	noteOf(ctx).add(
		slog.Int("prompt_tokens", u.PromptTokens), slog.Int("cached_tokens", u.PromptDetails.CachedTokens),
		slog.Int("completion_tokens", u.CompletionTokens), slog.Int("forced_tokens", forced),
	)
}
