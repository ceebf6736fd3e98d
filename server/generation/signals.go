package generation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

// isSample reports whether text i of a generation was generated only to measure its agreement
// with the first one.
func (g *Generation) isSample(i int) bool {
	return i > 0 && g.Request.Signals != nil && g.Request.Signals.Samples > 1
}

// gathered assesses the texts of a generation and returns the answers: of samples, only the
// first. The others count in its usage.
func (s *Service) gathered(ctx context.Context, g *Generation, choices []Choice, failed []error) ([]Choice, error) {
	written := choices
	if slices.ContainsFunc(failed, func(err error) bool { return err != nil }) {
		written = slices.DeleteFunc(slices.Clone(choices), func(c Choice) bool { return c.Result == nil })
	}
	s.NoteResults(ctx, written)
	if g.Signals == nil {
		return choices, nil
	}
	list := choices
	if g.isSample(1) {
		first := &choices[0]
		list = choices[:1:1]
		for i := 1; i < len(choices); i++ {
			c := &choices[i]
			if c.Result != nil {
				first.Wasted += c.Result.CompletionTokens + c.Wasted
				first.Cost += c.Cost
			}
			if failed[i] != nil {
				first.Warnings = append(first.Warnings, fmt.Sprintf("sample %d of %d is left out: %s", i+1, len(choices), problem.Describe(failed[i]).Message))
				continue
			}
			list = append(list, *c)
		}
	}
	agreement := g.agreement(list)
	if g.isSample(1) {
		choices = choices[:1]
	}
	// In parallel, so that they share a write to disk.
	var all sync.WaitGroup
	for i := range choices {
		all.Go(func() { s.appraise(g, &choices[i], agreement) })
	}
	all.Wait()
	return choices, nil
}

// agreement returns the agreement of texts; nil for a single text, and at temperature 0, where
// all texts are alike.
func (g *Generation) agreement(choices []Choice) *float64 {
	if g.Request.Sampling.Temperature <= 0 {
		return nil
	}
	texts := make([]string, 0, len(choices))
	for i := range choices {
		texts = append(texts, compared(&choices[i].Message))
	}
	return signals.Agreement(texts)
}

// compared returns what of a message is compared for agreement: its text or, with calls, an
// object of text and calls.
func compared(m *layout.Message) string {
	if len(m.Calls) == 0 {
		return m.Content
	}
	type call struct {
		Name      string `json:"name"`
		Arguments any    `json:"arguments"`
	}
	list := make([]call, len(m.Calls))
	for i, c := range m.Calls {
		list[i] = call{c.Name, c.Arguments}
		if json.Valid([]byte(c.Arguments)) {
			list[i].Arguments = json.RawMessage(c.Arguments)
		}
	}
	out, err := wire.Marshal(map[string]any{"content": m.Content, "calls": list})
	if err != nil {
		return m.Content
	}
	return string(out)
}

// appraise assesses an answer.
func (s *Service) appraise(g *Generation, c *Choice, agreement *float64) {
	in := signals.Inputs{Own: c.Said.Own(), Agreement: agreement, Surprise: g.Surprise(g.answered(c.Tokens))}
	for _, one := range c.Message.Calls {
		in.Called = append(in.Called, one.Name)
	}
	s.Assess.Counts.Read(c.Said.From)
	if c.Said.From == signals.FromDefaults {
		c.Warnings = append(c.Warnings, "the model said nothing about its answer: what signals has are defaults, which don't count in the assessment")
	}
	a := s.Assess.Weigh(g.Model.Name, in, g.Request.Signals.Weights)
	c.Assessment = &a
	if a.ID == "" && s.Assess.Outcomes.Store != nil {
		c.Warnings = append(c.Warnings, "the assessment could not be kept, so that its outcome can't be reported; the log has the reason")
	}
}

// appraiseOne is appraise for a text of a stream, without agreement, since the other texts are
// not known.
func (s *Service) appraiseOne(g *Generation, c *Choice) {
	if g.Signals != nil {
		s.appraise(g, c, nil)
	}
}

// answered returns the tokens of the answer, without reasoning.
func (g *Generation) answered(tokens []engine.Token) []engine.Token {
	if g.Layout == nil {
		return tokens
	}
	var out []engine.Token
	for _, t := range tokens {
		if t.ID == layout.NoToken || t.Segment < 0 || g.Layout.Nodes[t.Segment].Role != layout.RoleReasoning {
			out = append(out, t)
		}
	}
	return out
}

// Appraisal returns the signals and assessment that other vendors' dialects carry beside the
// receipt.
func (c *Choice) Appraisal() assess.Appraisal {
	return assess.Appraisal{Signals: c.Said.Reply(), Assessment: c.Assessment}
}

// Surprise returns the model's surprise at the sampled tokens, before the constraint; nil if
// none were sampled. In a document, tokens that only open something don't count. Those that
// close or separate count by their probability among the allowed tokens: other tokens that JSON
// forbids there say nothing about values.
func (g *Generation) Surprise(tokens []engine.Token) *float64 {
	var list []float64
	for _, t := range tokens {
		p, document := float64(t.Logprob), g.Constraint != nil && g.Constraint.document != nil
		if document && t.Allowed > 0 && onlyOf(t.Bytes, " \t\r\n{}[]:,\"") {
			p -= math.Log(min(1, t.Allowed))
		}
		if !t.Forced && !(document && string(t.Bytes) != `"` && onlyOf(t.Bytes, " \t\r\n{[:\"")) {
			list = append(list, p)
		}
	}
	out := signals.Surprise(list)
	if out != nil {
		*out = round(*out)
	}
	return out
}

func onlyOf(text []byte, set string) bool { return len(text) > 0 && len(bytes.Trim(text, set)) == 0 }
