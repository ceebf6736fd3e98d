package generation

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/gbnf"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// A Constraint is what a text must fit, compiled: the constraint for the engine, and
// what the answer says about it. It is safe for concurrent use.
type Constraint struct {
	kind        string // schema, json, grammar, regex, choice, tools
	constraint  engine.Constraint
	part        *constraint.Document // a constraint on the whole text, as a part of a longer one
	report      schema.Report
	Instruction string          // what the model is told of it
	named       []string        // told only where the messages lack one of these; nil: only where they must
	document    json.RawMessage // the schema, when the whole text is one document that fits it
	// check tells whether a complete text fits, without the constraint's
	// own code: nil, an *constraint.InvalidDocumentError, or why there is no
	// verdict.
	check func(ctx context.Context, msg *layout.Message) error

	Tools    []CompiledTool // that may be called
	Must     bool           // one has to be
	Parallel bool           // several may be
	tags     *tagSet        // what it may hold
	format   *Constraint    // what a text without calls must fit; nil: anything

	free bool // not enforced, only checked

	Enums wire.Enumerations
}

// constraintOf returns what a query's text must fit.
func constraintOf(ctx context.Context, m *registry.Model, q *request.Request) (*Constraint, error) {
	var format *Constraint
	if q.Constraint.Kind != "" {
		var err error
		if format, err = formatRule(ctx, m, q.Constraint); err != nil {
			return nil, err
		}
		switch {
		case m.Unmasked != "":
			format = format.Afterwards(m.Unmasked)
		case q.Constraint.NoMasks:
			format = format.Afterwards("constrained_decoding is false")
		}
	}
	if q.Tools == nil || q.Tools.Mode == request.ToolsNone {
		return format, nil
	}
	r, err := toolRule(ctx, m, q.Tools, format, q.Constraint.OpenObjects)
	if err == nil && m.Unmasked != "" {
		r = r.Afterwards(m.Unmasked)
	}
	return r, err
}

// Answers returns what a text without calls must fit; nil: anything.
func (r *Constraint) Answers() *Constraint {
	if r != nil && r.Tools != nil {
		return r.format
	}
	return r
}

// fromBeginning reports whether a text has to fit from its first character on.
func (r *Constraint) fromBeginning() bool {
	return r != nil && !r.free && (r.part != nil || r.Must || r.format != nil)
}

// formatRule compiles a constraint on the whole text.
func formatRule(ctx context.Context, m *registry.Model, c request.Constraint) (*Constraint, error) {
	switch c.Kind {
	case "grammar", "regex", "choice":
		return grammarRule(ctx, m, c)
	case request.KindTags:
		return tagRule(ctx, m, c)
	}
	compiled, err := m.Schemas.Compile(ctx, c.Schema, c.Options())
	if err != nil {
		return nil, problem.InField(err, c.Param)
	}
	part := compiled.Document()
	var named []string
	if c.Kind == "schema" {
		named = append([]string{}, outerNames(compiled.Source)...)
	}
	return &Constraint{
		kind: c.Kind, constraint: compiled.Constraint, part: &part, report: compiled.Report, named: named,
		Instruction: compiled.Instruction(), document: compiled.Source,
		check: func(ctx context.Context, msg *layout.Message) error {
			return compiled.Validate(ctx, []byte(msg.Content))
		},
	}, nil
}

// builtinFormat is a built-in grammar as an upstream is asked for it.
func builtinFormat(b *request.Builtin) *asking.Format {
	text, _ := gbnf.BuiltinText(b.Name, b.Options) // it has been compiled
	switch b.Name {
	case "regex":
		return &asking.Format{Regex: b.Options.Pattern}
	case "choice":
		return &asking.Format{Choices: b.Options.Choices}
	}
	return &asking.Format{Grammar: text}
}

// grammarRule compiles a constraint that is no schema.
func grammarRule(ctx context.Context, m *registry.Model, c request.Constraint) (*Constraint, error) {
	var g *constraint.CompiledGrammar
	var err error
	r := &Constraint{kind: c.Kind}
	switch c.Kind {
	case "grammar":
		if b := c.Builtin; b != nil {
			g, err = m.Grammars.Builtin(ctx, b.Name, b.Options)
			r.Instruction = "Answer with " + b.Options.Description(b.Name) + ", and nothing else."
			break
		}
		g, err = m.Grammars.Grammar(ctx, c.Text)
		r.Instruction = "Answer with a text of this grammar (GBNF), and nothing else:\n" + c.Text
	case "regex":
		g, err = m.Grammars.Regex(ctx, c.Text)
		r.Instruction = "Answer with a text that matches this regular expression, and nothing else:\n" + c.Text
	default:
		g, err = m.Grammars.Choice(ctx, c.Choices)
		r.named = c.Choices
		r.Instruction = "Answer with one of these texts, and nothing else:\n" + strings.Join(c.Choices, "\n")
	}
	if err != nil {
		return nil, problem.InField(err, c.Param)
	}
	part := g.Document()
	r.constraint, r.part = g.Constraint, &part
	r.check = func(ctx context.Context, msg *layout.Message) error { return g.Validate(ctx, msg.Content) }
	r.report = schema.Report{Hash: g.Report.Hash, Enforced: []string{c.Kind}}
	for _, w := range g.Report.Warnings {
		r.report.Warnings = append(r.report.Warnings, schema.Issue{Line: w.Line, Column: w.Column, Reason: w.Reason})
	}
	return r, nil
}

// optionsAt returns the alternatives of the leaf at a pointer, as their JSON;
// nil when its schema does not enumerate them.
func (r *Constraint) optionsAt(pointer string) []string {
	if r.document == nil {
		return nil
	}
	r.Enums.Read(r.document)
	return r.Enums.At(pointer)
}
