// Package walk samples documents at random from the masks of a constraint,
// without a model: to test masks, and to show people what a schema or grammar
// admits.
//
// A walk draws one allowed token after the other. Purely random draws would
// hardly ever end, since most of a vocabulary continues a string; so after a
// random budget of tokens the walk follows the shortest completion.
package walk

import "github.com/stencil-json/stencil/decoder"

// Mask is the set of tokens that may follow.
type Mask interface {
	Has(token int32) bool
	Len() int
	AppendTokens(dst []int32) []int32
}

// Matcher follows one document. It must be used by one goroutine at a time.
type Matcher interface {
	Mask() (Mask, error)
	Accept(token int32) error
	AcceptBytes(text []byte) (int, error)
	Accepting() bool
	ShortestCompletion() []byte
}

// Of adapts a decoder's matcher to the types of this package.
func Of(m *decoder.Matcher) Matcher { return matcher{m} }

type matcher struct{ *decoder.Matcher }

// Mask implements [Matcher].
func (m matcher) Mask() (Mask, error) {
	mask, err := m.Matcher.Mask()
	if err != nil {
		return nil, err // not a nil *decoder.Mask in an interface
	}
	return mask, nil
}
