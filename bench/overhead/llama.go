package overhead

import (
	"errors"
	"slices"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/vocab"
)

// llamaGrammar is llama.cpp's grammar sampler as a constraint. It implements only
// masks and Accept, which suffice for an engine that may truncate the text.
type llamaGrammar struct {
	model backend.Model
	text  string
}

func newLlamaGrammar(m backend.Model, text string) (engine.Constraint, error) {
	if _, err := llama.NewGrammar(m, text); err != nil {
		return nil, err
	}
	return llamaGrammar{m, text}, nil
}

// NewMatcher implements engine.Constraint.
func (g llamaGrammar) NewMatcher() engine.Matcher {
	l, err := llama.NewGrammar(g.model, g.text)
	return &llamaMatcher{grammar: l, err: err, set: vocab.NewBitset(g.model.Vocab().Len()), eog: g.model.Vocab().EOG()}
}

type llamaMatcher struct {
	grammar *llama.Grammar
	err     error
	set     vocab.Bitset
	eog     []int32
	known   bool // set is the current mask
}

// Mask implements engine.Matcher.
func (m *llamaMatcher) Mask() (sampling.Set, error) {
	if m.err == nil && !m.known {
		m.set.Reset()
		m.err = m.grammar.Mask(m.set)
		m.known = true
	}
	return m, m.err
}

// Parts implements sampling.Set.
func (m *llamaMatcher) Parts() (vocab.Bitset, []int32) { return m.set, nil }

// Accept implements engine.Matcher.
func (m *llamaMatcher) Accept(token int32) error {
	m.known = false
	if m.err == nil {
		m.err = m.grammar.Accept(token)
	}
	return m.err
}

// Accepting implements engine.Matcher. It is exact only while the mask is known;
// otherwise the engine samples the end of generation.
func (m *llamaMatcher) Accepting() bool {
	return m.known && slices.ContainsFunc(m.eog, m.set.Has)
}

var errNotForLlama = errors.New("overhead: llama.cpp's grammar sampler can't do that")

// Rollback implements engine.Matcher.
func (m *llamaMatcher) Rollback(int) error { return errNotForLlama }

// ForcedTokens implements engine.Matcher. It always returns none.
func (m *llamaMatcher) ForcedTokens() []int32 { return nil }

// Remaining implements engine.Matcher. What remains is unknown, so it returns a
// placeholder.
func (m *llamaMatcher) Remaining() []decoder.Piece { return []decoder.Piece{{Text: " "}} }
