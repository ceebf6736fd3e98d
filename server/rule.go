package server

import (
	"encoding/json"

	"stencil/engine"
	"stencil/schema"
)

// A rule is what a text must fit, compiled: the constraint for the engine, and
// what the answer says about it. It is safe for concurrent use.
type rule struct {
	kind        string // schema, json, grammar, regex, choice, tools
	constraint  engine.Constraint
	report      schema.Report
	instruction string          // what the model is told of it
	document    json.RawMessage // the schema, when the whole text is one document that fits it
	// check tells whether a complete text fits, without the constraint's
	// own code: nil, an *engine.InvalidDocumentError, or why there is no
	// verdict.
	check func(text string) error

	enums enumerations
}

// rule returns what a query's text must fit, and how the text is laid out.
func (m *served) rule(q *query) (*rule, layout, error) {
	var format *rule
	if q.Constraint.Kind != "" {
		var err error
		if format, err = m.formatRule(q.Constraint); err != nil {
			return nil, layout{}, err
		}
	}
	if q.Tools == nil || q.Tools.Mode == toolsNone {
		return format, layout{}, nil
	}
	return m.toolRule(q.Tools, format)
}

// formatRule compiles a constraint on the whole text.
func (m *served) formatRule(c constraintFields) (*rule, error) {
	switch c.Kind {
	case "grammar", "regex", "choice":
		return nil, notOffered(c.Param, c.Param)
	}
	compiled, err := m.schemas.Compile(c.Schema, c.options())
	if err != nil {
		return nil, inField(err, c.Param)
	}
	return &rule{
		kind: c.Kind, constraint: compiled.Constraint, report: compiled.Report,
		instruction: compiled.Instruction(), document: compiled.Source,
		check: func(text string) error { return compiled.Validate([]byte(text)) },
	}, nil
}

func (c *constraintFields) options() schema.Options {
	return schema.Options{Order: c.Order, Whitespace: c.Whitespace, OnUnsupported: c.OnUnsupported, Strict: c.Strict}
}

// A fieldError says in which field of the request the schema stands that an
// error is about.
type fieldError struct {
	param string
	cause error
}

func inField(err error, param string) error { return &fieldError{param, err} }

// Error implements error.
func (e *fieldError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *fieldError) Unwrap() error { return e.cause }
