package engine

import (
	"context"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/sampling"
)

// A Constraint is what every text of a request must fit. It is safe for
// concurrent use.
type Constraint interface {
	NewMatcher() Matcher
}

// A Matcher follows one text through a constraint; it is used by one goroutine
// at a time. The methods are those of *decoder.Matcher.
type Matcher interface {
	// Mask returns the tokens that may come next. End-of-generation tokens
	// are among them exactly when Accepting.
	Mask() (sampling.Set, error)
	Accept(token int32) error
	Rollback(tokens int) error
	Accepting() bool
	// ForcedTokens is valid until the next call of any method.
	ForcedTokens() []int32
	// Remaining is a shortest completion.
	Remaining() []decoder.Piece
}

// A bounded matcher's work ends with a context. Matchers whose work is never much need
// not be bounded.
type bounded interface {
	Bind(ctx context.Context)
	// Err is what made the matcher unusable; nil if nothing did. Methods that return no
	// error have returned nothing then.
	Err() error
}

// matcherErr returns what made a matcher unusable, if anything did.
func matcherErr(m Matcher) error {
	if b, ok := m.(bounded); ok {
		return b.Err()
	}
	return nil
}

// Grammar makes a Constraint of a compiled grammar. Its vocabulary must be the
// model's.
func Grammar(g *decoder.Grammar) Constraint { return grammar{g} }

type grammar struct{ g *decoder.Grammar }

func (g grammar) NewMatcher() Matcher { return matcher{g.g.NewMatcher()} }

// matcher narrows the concrete mask to what sampling needs of it.
type matcher struct{ *decoder.Matcher }

func (m matcher) Mask() (sampling.Set, error) {
	mask, err := m.Matcher.Mask()
	if err != nil {
		return nil, err // not a typed nil
	}
	return mask, nil
}
