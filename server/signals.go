package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"stencil/agent/outcomes"
	"stencil/agent/signals"
	"stencil/engine"
)

// assessmentReply is how far an answer can be trusted, with the id by which its
// outcome can be reported.
type assessmentReply struct {
	ID string `json:"id,omitempty"` // none where outcomes are not kept
	signals.Assessment
}

// assess weighs what is known of an answer with the default weights. See weigh.
func (s *Server) assess(model string, in signals.Inputs) assessmentReply {
	return s.weigh(model, in, signals.DefaultWeights())
}

// weigh weighs what is known of an answer of a model, whose calibration it looks
// up, and keeps the assessment for an outcome to come.
func (s *Server) weigh(model string, in signals.Inputs, w signals.Weights) assessmentReply {
	store := s.feedback.store
	if store != nil && in.Calibration == nil {
		c, err := store.Calibration(model)
		if err != nil {
			s.cfg.Log.Error("a model's calibration can't be read", slog.String("model", model), slog.Any("error", err))
		} else if c.Count >= enoughOutcomes {
			calibration := 1 - c.Error
			in.Calibration = &calibration
		}
	}
	out := assessmentReply{Assessment: shortened(signals.Aggregate(in, w))}
	s.metrics.signals.recommended(out.Recommendation)
	if store == nil {
		return out
	}
	a := outcomes.Assessment{ID: newID("asm_"), Model: model, Composite: out.Confidence, Time: time.Now().UTC()}
	if in.Own != nil {
		a.Own = in.Own.Confidence
	}
	if err := store.Add(a); err != nil {
		s.cfg.Log.Error("an assessment can't be kept", slog.Any("error", err))
		return out
	}
	out.ID = a.ID
	return out
}

// shortened returns an assessment whose numbers have four decimals.
func shortened(a signals.Assessment) signals.Assessment {
	for _, p := range []*float64{a.Agreement, a.Surprise} {
		if p != nil {
			*p = round4(*p)
		}
	}
	a.Confidence, a.Urgency = round4(a.Confidence), round4(a.Urgency)
	for i := range a.Components {
		c := &a.Components[i]
		c.Value, c.Weight = round4(c.Value), round4(c.Weight)
	}
	return a
}

// isSample reports whether text i of a generation was written only to see whether
// it agrees with the first one.
func (g *generation) isSample(i int) bool {
	return i > 0 && g.query.Signals != nil && g.query.Signals.Samples > 1
}

// gathered assesses the texts of a generation and returns those that are the
// answer: of samples the first. The others count in its usage.
func (s *Server) gathered(ctx context.Context, g *generation, choices []choice, failed []error) ([]choice, error) {
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
func (s *Server) appraise(g *generation, c *choice, agreement *float64) {
	in := signals.Inputs{Own: c.said.own(), Agreement: agreement, Surprise: surprise(g.answered(c.tokens))}
	for _, one := range c.message.Calls {
		in.Called = append(in.Called, one.Name)
	}
	s.metrics.signals.read(c.said.from)
	if c.said.from == signals.FromDefaults {
		c.warnings = append(c.warnings, "the model said nothing about its answer: what signals has are defaults, which don't count in the assessment")
	}
	a := s.weigh(g.model.name, in, g.query.Signals.Weights)
	c.assessment = &a
	if a.ID == "" && s.feedback.store != nil {
		c.warnings = append(c.warnings, "the assessment could not be kept, so that its outcome can't be reported; the log has the reason")
	}
}

// appraiseOne is appraise for a text of a stream, of which the others are not known.
func (s *Server) appraiseOne(g *generation, c *choice) {
	if g.noted != nil {
		s.appraise(g, c, nil)
	}
}

// answered returns the tokens that are the answer, not what was thought before it.
func (g *generation) answered(tokens []engine.Token) []engine.Token {
	if g.layout == nil || g.model.upstream != nil {
		return tokens
	}
	var out []engine.Token
	for _, t := range tokens {
		if t.Segment < 0 || g.layout.nodes[t.Segment].Role != roleReasoning {
			out = append(out, t)
		}
	}
	return out
}

// signalsReply is what a model said about its answer, and where it was read.
type signalsReply struct {
	signals.Signals
	Source signals.Source `json:"source"`
}

// reply returns it as answers have it.
func (s *said) reply() *signalsReply {
	if s == nil {
		return nil
	}
	return &signalsReply{s.signals, s.from}
}

// appraisal is what dialects that are not our own carry beside the receipt.
type appraisal struct {
	Signals    *signalsReply    `json:"x_signals,omitempty"`
	Assessment *assessmentReply `json:"x_assessment,omitempty"`
}

func (c *choice) appraisal() appraisal { return appraisal{c.said.reply(), c.assessment} }

// leavesRoom reports whether an upstream's text may have a block of signals after
// the answer: not where the upstream keeps it to a format.
func (g *generation) leavesRoom() bool { return len(g.extra) == 0 || g.noted.wrapped }

// warnOfSignals says what can't be had of an upstream.
func (g *generation) warnOfSignals() {
	q := g.query
	switch {
	case g.noted == nil:
	case !g.leavesRoom():
		q.Warnings = append(q.Warnings, "the upstream keeps its text to the format by itself, which leaves no room for signals")
	case q.PromptSchema == "never":
		q.instructed("", nil)
	}
	if g.noted != nil && !g.model.upstream.client.Capabilities().Logprobs {
		q.Warnings = append(q.Warnings, "the upstream gives no probabilities, so that surprise is not measured")
	}
}
