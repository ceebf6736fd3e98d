package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"time"

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
func (s *Server) whole(ctx context.Context, g *generation) ([]choice, error) {
	if g.asked() {
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

// finish validates a text and, where keywords were left to the validator,
// tries again until it fits.
func (s *Server) finish(ctx context.Context, g *generation, c *choice) error {
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
func (s *Server) conclude(ctx context.Context, g *generation, c *choice, try int) *engine.InvalidDocumentError {
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
func (s *Server) noteResults(ctx context.Context, choices []choice) {
	s.metrics.choices(choices)
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

// usage adds up the tokens of all choices. The prompt counts once.
func usage(choices []choice) usageReply {
	var u usageReply
	for _, c := range choices {
		u.PromptTokens = c.result.PromptTokens
		u.CompletionTokens += c.result.CompletionTokens + c.wasted
		u.Cost += c.cost
	}
	u.PromptDetails.CachedTokens = choices[0].result.CachedTokens
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}

// add counts the tokens of another prompt.
func (u *usageReply) add(more usageReply) {
	u.PromptTokens += more.PromptTokens
	u.CompletionTokens += more.CompletionTokens
	u.TotalTokens += more.TotalTokens
	u.PromptDetails.CachedTokens += more.PromptDetails.CachedTokens
}

// timings takes the longest of each part over the choices, which ran side by
// side.
func timings(choices []choice) timingsReply {
	var longest engine.Timings
	tokens := 0
	for _, c := range choices {
		t := c.result.Timings
		longest.Queued = max(longest.Queued, t.Queued)
		longest.Prompt = max(longest.Prompt, t.Prompt)
		longest.Generate = max(longest.Generate, t.Generate)
		tokens += c.result.CompletionTokens
	}
	drafted, accepted := 0, 0
	for _, c := range choices {
		drafted += c.result.DraftTokens
		accepted += c.result.AcceptedTokens
	}
	out := timingsReply{Draft: drafted, Accepted: accepted, Queue: ms(longest.Queued), Prompt: ms(longest.Prompt), Generate: ms(longest.Generate)}
	if longest.Generate > 0 {
		out.TokensPerSecond = float64(tokens) / longest.Generate.Seconds()
	}
	return out
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
