package bench

import (
	"errors"
	"time"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

// NewEngine returns stencil's own engine with the given options.
func NewEngine(v *vocab.Vocab, opt schema.Options) Engine { return &stencilEngine{v, opt} }

// Prepare makes the engine compute its tables for a vocabulary, as a server does
// when it loads a model, and returns the time it took. Otherwise the first schema
// would include this time.
func Prepare(v *vocab.Vocab) (time.Duration, error) {
	start := time.Now()
	regular.PrepareFormats()
	c, err := NewEngine(v, schema.Options{Order: schema.OrderAny, Whitespace: schema.Flexible(0)}).Compile([]byte(`{"pattern": "^[a-z]*$"}`))
	if err != nil {
		return 0, err
	}
	for _, document := range []string{`"abc"`, ` { "a" : [ 1.5 , "é\n" ] } `} {
		m := c.NewMatcher()
		for _, b := range []byte(document) {
			if _, err := m.Mask(); err != nil {
				return 0, err
			}
			if _, err := m.AcceptBytes([]byte{b}); err != nil {
				return 0, err
			}
		}
	}
	v.TokenizeText(nil, []byte(`{"a": 1}`))
	return time.Since(start), nil
}

type stencilEngine struct {
	vocab *vocab.Vocab
	opt   schema.Options
}

// Compile implements [Engine].
func (e *stencilEngine) Compile(source []byte) (Constraint, error) {
	s, err := schema.Compile(source, e.opt)
	if err != nil {
		return nil, &CompileError{Keyword: stoppedBy(err), Err: err}
	}
	return &stencilConstraint{schema: s, grammar: s.Grammar(e.vocab)}, nil
}

// stoppedBy returns the keyword that caused an error.
func stoppedBy(err error) string {
	var (
		unsupported   *schema.UnsupportedError
		invalid       *schema.InvalidError
		unsatisfiable *schema.UnsatisfiableError
		limit         *schema.LimitError
	)
	var issues []schema.Issue
	switch {
	case errors.As(err, &unsupported):
		issues = unsupported.Issues
	case errors.As(err, &invalid):
		issues = invalid.Issues
	case errors.As(err, &unsatisfiable):
		return "unsatisfiable"
	case errors.As(err, &limit):
		return "limit " + limit.Limit
	}
	for _, issue := range issues {
		if issue.Keyword != "" {
			return issue.Keyword
		}
	}
	return ""
}

type stencilConstraint struct {
	schema  *schema.Schema
	grammar *decoder.Grammar
}

// NewMatcher implements [Constraint].
func (c *stencilConstraint) NewMatcher() walk.Matcher { return walk.Of(c.grammar.NewMatcher()) }

// Draft implements [Constraint].
func (c *stencilConstraint) Draft() string { return c.schema.Report().Draft }
