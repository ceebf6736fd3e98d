package engine

import (
	"context"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/sampling"
)

// A Constraint is what every text of a request must satisfy. It is safe for concurrent
// use.
type Constraint interface {
	NewMatcher() Matcher
}

// A Matcher follows one text through a constraint. It is not safe for concurrent use.
// The methods are those of *decoder.Matcher.
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

// A bounded matcher stops its work when a context ends. Matchers whose work is always
// small need not be bounded.
type bounded interface {
	Bind(ctx context.Context)
	// Err returns what made the matcher unusable, or nil. Methods without an error result
	// return zero values after that.
	Err() error
}

// matcherErr returns what made a matcher unusable, or nil.
func matcherErr(m Matcher) error {
	if b, ok := m.(bounded); ok {
		return b.Err()
	}
	return nil
}

// Grammar returns a Constraint for a compiled grammar, whose vocabulary must be the
// model's.
func Grammar(g *decoder.Grammar) Constraint { return grammar{g} }

type grammar struct{ g *decoder.Grammar }

func (g grammar) NewMatcher() Matcher { return matcher{g.g.NewMatcher()} }

// matcher adapts *decoder.Matcher: its Mask returns the interface that sampling needs.
type matcher struct{ *decoder.Matcher }

func (m matcher) Mask() (sampling.Set, error) {
	mask, err := m.Matcher.Mask()
	if err != nil {
		return nil, err // not a typed nil
	}
	return mask, nil
}
