package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"stencil/agent/signals"
	"stencil/engine"
)

// isSample reports whether text i of a generation was written only to see whether
// it agrees with the first one.
func (g *generation) isSample(i int) bool {
	return i > 0 && g.query.Signals != nil && g.query.Signals.Samples > 1
}

// gathered assesses the texts of a generation and returns those that are the
// answer: of samples the first. The others count in its usage.
func (s *service) gathered(ctx context.Context, g *generation, choices []choice, failed []error) ([]choice, error) {
	written := choices
	if slices.ContainsFunc(failed, func(err error) bool { return err != nil }) {
		written = slices.DeleteFunc(slices.Clone(choices), func(c choice) bool { return c.result == nil })
	}
	s.noteResults(ctx, written)
	if g.noted == nil {
		return choices, nil
	}
	list := choices
	if g.isSample(1) {
		first := &choices[0]
		list = choices[:1:1]
		for i := 1; i < len(choices); i++ {
			c := &choices[i]
			if c.result != nil {
				first.wasted += c.result.CompletionTokens + c.wasted
				first.cost += c.cost
			}
			if failed[i] != nil {
				first.warnings = append(first.warnings, fmt.Sprintf("sample %d of %d is left out: %s", i+1, len(choices), describe(failed[i]).message))
				continue
			}
			list = append(list, *c)
		}
	}
	agreement := g.agreement(list)
	if g.isSample(1) {
		choices = choices[:1]
	}
	// Side by side, so that they share a write to the disk.
	var all sync.WaitGroup
	for i := range choices {
		all.Go(func() { s.appraise(g, &choices[i], agreement) })
	}
	all.Wait()
	return choices, nil
}

// agreement returns how far texts agree; nil for one, and at temperature 0, at
// which all are alike.
func (g *generation) agreement(choices []choice) *float64 {
	if g.query.Sampling.Temperature <= 0 {
		return nil
	}
	texts := make([]string, 0, len(choices))
	for i := range choices {
		texts = append(texts, choices[i].message.compared())
	}
	return signals.Agreement(texts)
}

// compared is what of a message is compared with others: its text, or with calls
// an object of both.
func (m *message) compared() string {
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
	out, err := marshal(map[string]any{"content": m.Content, "calls": list})
	if err != nil {
		return m.Content
	}
	return string(out)
}

// appraise makes the assessment of an answer.
func (s *service) appraise(g *generation, c *choice, agreement *float64) {
	in := signals.Inputs{Own: c.said.own(), Agreement: agreement, Surprise: surprise(g.answered(c.tokens))}
	for _, one := range c.message.Calls {
		in.Called = append(in.Called, one.Name)
	}
	s.assess.counts.read(c.said.from)
	if c.said.from == signals.FromDefaults {
		c.warnings = append(c.warnings, "the model said nothing about its answer: what signals has are defaults, which don't count in the assessment")
	}
	a := s.assess.weigh(g.model.name, in, g.query.Signals.Weights)
	c.assessment = &a
	if a.ID == "" && s.assess.outcomes.store != nil {
		c.warnings = append(c.warnings, "the assessment could not be kept, so that its outcome can't be reported; the log has the reason")
	}
}

// appraiseOne is appraise for a text of a stream, of which the others are not known.
func (s *service) appraiseOne(g *generation, c *choice) {
	if g.noted != nil {
		s.appraise(g, c, nil)
	}
}

// answered returns the tokens that are the answer, not what was thought before it.
func (g *generation) answered(tokens []engine.Token) []engine.Token {
	if g.layout == nil {
		return tokens
	}
	var out []engine.Token
	for _, t := range tokens {
		if t.ID == noToken || t.Segment < 0 || g.layout.nodes[t.Segment].Role != roleReasoning {
			out = append(out, t)
		}
	}
	return out
}

func (c *choice) appraisal() appraisal { return appraisal{c.said.reply(), c.assessment} }

// surprise says how surprised the model was by the tokens that were sampled, as it
// saw them before the constraint; nil if none was, or nobody says.
func surprise(tokens []engine.Token) *float64 {
	var list []float64
	for _, t := range tokens {
		if !t.Forced {
			list = append(list, float64(t.Logprob))
		}
	}
	out := signals.Surprise(list)
	if out != nil {
		*out = round(*out)
	}
	return out
}
