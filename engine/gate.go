package engine

import (
	"context"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/vocab"
)

// A Gate excludes tokens where the model is not sure enough of them together: if it gives them, before bias,
// temperature and constraint, a total probability below Least, the next token is none of them.
type Gate struct {
	Tokens []int32
	Least  float64
	// At reports whether the next token is at such a place, from the segments and the text so far. It must be fast,
	// and the constraint must allow other tokens there.
	At func(spans []decoder.Span, text []byte) bool
	// Instead returns the constraint that takes over once tokens that were likelier than not are excluded; nil: none
	// does. It has the same segments, and allows the same tokens at such a place.
	Instead Fallback
}

// A Fallback returns the constraint that takes over from a request's. It is called when that is needed, which is seldom,
// within the sequence's step.
type Fallback func(ctx context.Context) (Constraint, error)

// A Recaster is a function of Request.Recast; nil: the text stays.
type Recaster func(spans []decoder.Span, text []byte) *Recast

// A Recast is a text in the model's context in place of the one that it wrote.
type Recast struct {
	Tokens []int32
	// More begin what may follow. As in a Gate, none of them is next if the model gives them a total probability below
	// Least, and the constraint must allow other tokens there.
	More  []int32
	Least float64
}

// gateSet is the tokens of a gate as a set.
type gateSet []int32

// Parts implements sampling.Set.
func (g gateSet) Parts() (base vocab.Bitset, extra []int32) { return nil, g }

// withheld returns the tokens that the gate, or the text just recast, excludes at the current position.
func (s *sequence) withheld() []int32 {
	if r := s.again; r != nil {
		s.again = nil
		if s.distribution(gateSet(r.More)).Allowed < r.Least {
			return r.More
		}
		return nil
	}
	g := s.job.req.Gate
	if g == nil || s.parts == nil || !g.At(s.parts.m.Spans(), s.parts.raw) {
		return nil
	}
	p := s.distribution(gateSet(g.Tokens)).Allowed
	s.limits.Gated = &p
	if p >= g.Least {
		return nil
	}
	if p >= 0.5 && g.Instead != nil {
		if err := s.replace(g.Instead); err != nil {
			s.fail(s.refused(err))
		}
	}
	return g.Tokens
}

// distribution measures the model's distribution at the current position, and the probability of a set; nil: all tokens.
func (s *sequence) distribution(of sampling.Set) sampling.Measurement {
	if s.gate == nil {
		s.gate = sampling.NewMeasurer(s.vocab.Len())
	}
	s.looking.Lock()
	defer s.looking.Unlock()
	return s.gate.Measure(s.logits, of, 0)
}

// replace continues with another constraint, unless that doesn't accept the text so far.
func (s *sequence) replace(by Fallback) error {
	c, err := by(s.toll.context(s.job.ctx))
	if err != nil {
		return err
	}
	m := c.NewMatcher()
	if b, ok := m.(bounded); ok {
		b.Bind(s.toll.context(s.job.ctx))
	}
	for _, token := range s.tokens[s.prompt:] {
		if err := m.Accept(token); err != nil {
			return err
		}
	}
	s.matcher, s.parts.m = m, m.(SegmentMatcher)
	if s.budget != nil {
		s.budget = &budget{vocab: s.vocab, matcher: m}
	}
	return nil
}
