package server

import (
	"encoding/json"
	"strings"

	"stencil/engine"
	"stencil/schema"
)

// A rule is what a text must fit, compiled: the constraint for the engine, and
// what the answer says about it. It is safe for concurrent use.
type rule struct {
	kind        string // schema, json, grammar, regex, choice, tools
	constraint  engine.Constraint
	part        *engine.Document // a constraint on the whole text, as a part of a longer one
	report      schema.Report
	instruction string          // what the model is told of it
	named       []string        // told only where the messages lack one of these; nil: only where they must
	document    json.RawMessage // the schema, when the whole text is one document that fits it
	// check tells whether a complete text fits, without the constraint's
	// own code: nil, an *engine.InvalidDocumentError, or why there is no
	// verdict.
	check func(msg *message) error

	tools    []compiledTool // that may be called
	must     bool           // one has to be
	parallel bool           // several may be
	tags     *tagSet        // what it may hold
	format   *rule          // what a text without calls must fit; nil: anything

	free bool // not enforced, only checked

	enums enumerations
}

// ruleOf returns what a query's text must fit.
func ruleOf(m *served, q *query) (*rule, error) {
	var format *rule
	if q.Constraint.Kind != "" {
		var err error
		if format, err = formatRule(m, q.Constraint); err != nil {
			return nil, err
		}
		switch {
		case m.unmasked != "":
			format = format.afterwards(m.unmasked)
		case q.Constraint.NoMasks:
			format = format.afterwards("constrained_decoding is false")
		}
	}
	if q.Tools == nil || q.Tools.Mode == toolsNone {
		return format, nil
	}
	r, err := toolRule(m, q.Tools, format)
	if err == nil && m.unmasked != "" {
		r = r.afterwards(m.unmasked)
	}
	return r, err
}

// answers returns what a text without calls must fit; nil: anything.
func (r *rule) answers() *rule {
	if r != nil && r.tools != nil {
		return r.format
	}
	return r
}

// fromBeginning reports whether a text has to fit from its first character on.
func (r *rule) fromBeginning() bool {
	return r != nil && !r.free && (r.part != nil || r.must || r.format != nil)
}

// formatRule compiles a constraint on the whole text.
func formatRule(m *served, c constraintFields) (*rule, error) {
	switch c.Kind {
	case "grammar", "regex", "choice":
		return grammarRule(m, c)
	case kindTags:
		return tagRule(m, c)
	}
	compiled, err := m.schemas.Compile(c.Schema, c.options())
	if err != nil {
		return nil, inField(err, c.Param)
	}
	part := compiled.Document()
	var named []string
	if c.Kind == "schema" {
		named = append([]string{}, outerNames(compiled.Source)...)
	}
	return &rule{
		kind: c.Kind, constraint: compiled.Constraint, part: &part, report: compiled.Report, named: named,
		instruction: compiled.Instruction(), document: compiled.Source,
		check: func(msg *message) error { return compiled.Validate([]byte(msg.Content)) },
	}, nil
}

// grammarRule compiles a constraint that is no schema.
func grammarRule(m *served, c constraintFields) (*rule, error) {
	var g *engine.CompiledGrammar
	var err error
	r := &rule{kind: c.Kind}
	switch c.Kind {
	case "grammar":
		g, err = m.grammars.Grammar(c.Text)
		r.instruction = "Answer with a text of this grammar (GBNF), and nothing else:\n" + c.Text
	case "regex":
		g, err = m.grammars.Regex(c.Text)
		r.instruction = "Answer with a text that matches this regular expression, and nothing else:\n" + c.Text
	default:
		g, err = m.grammars.Choice(c.Choices)
		r.named = c.Choices
		r.instruction = "Answer with one of these texts, and nothing else:\n" + strings.Join(c.Choices, "\n")
	}
	if err != nil {
		return nil, inField(err, c.Param)
	}
	part := g.Document()
	r.constraint, r.part = g.Constraint, &part
	r.check = func(msg *message) error { return g.Validate(msg.Content) }
	r.report = schema.Report{Hash: g.Report.Hash, Enforced: []string{c.Kind}}
	for _, w := range g.Report.Warnings {
		r.report.Warnings = append(r.report.Warnings, schema.Issue{Line: w.Line, Column: w.Column, Reason: w.Reason})
	}
	return r, nil
}

// optionsAt returns the alternatives of the leaf at a pointer, as their JSON;
// nil when its schema does not enumerate them.
func (r *rule) optionsAt(pointer string) []string {
	if r.document == nil {
		return nil
	}
	r.enums.read(r.document)
	return r.enums.at(pointer)
}
