package generation

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/gbnf"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/generation/arguments"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// A Constraint is a compiled constraint: for the engine, and with what answers report about it. It is safe
// for concurrent use.
type Constraint struct {
	kind        string // schema, json, grammar, regex, choice, tools
	constraint  engine.Constraint
	part        *constraint.Document // the constraint on the whole text, for use as a part of a longer text
	report      schema.Report
	Instruction string          // describes the constraint in the prompt
	named       []string        // give Instruction only if the messages lack one of these; nil: only if required
	document    json.RawMessage // the schema, if the whole text is one document of it
	// check reports whether a complete text fits, without the constraint's own code. It returns nil, an
	// *constraint.InvalidDocumentError, or the reason why there is no verdict.
	check func(ctx context.Context, msg *layout.Message) error

	Tools    []CompiledTool       // callable tools
	Must     bool                 // at least one call is required
	Parallel bool                 // several calls are allowed
	tags     *tagSet              // tags that the text may contain
	format   *Constraint          // the constraint of a text without calls; nil: none
	beside   *constraint.Document // that constraint where calls may be written as JSON, too; nil: they may not

	compiled *constraint.CompiledSchema // of kinds schema and json
	options  schema.Options

	free bool // not enforced, only validated

	Enums wire.Enumerations
}

// constraintOf compiles a request's constraint.
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
	r, err := toolRule(ctx, m, q.Tools, format, q.Constraint.OpenObjects, q.Messages != nil && q.ToolForms != "own" && m.ThoughtForm.Name != chat.Harmony)
	if err == nil && m.Unmasked != "" {
		r = r.Afterwards(m.Unmasked)
	}
	return r, err
}

// Answers returns the constraint of a text without calls; nil: none.
func (r *Constraint) Answers() *Constraint {
	if r != nil && r.Tools != nil {
		return r.format
	}
	return r
}

// fromBeginning reports whether the constraint applies from the first character.
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
	if names := outerNames(compiled.Source); c.Kind == "schema" && (len(names) == 0 || arguments.Described(compiled.Source)) {
		named = append([]string{}, names...)
	}
	return &Constraint{
		kind: c.Kind, constraint: compiled.Constraint, part: &part, report: compiled.Report, named: named,
		Instruction: compiled.Instruction(), document: compiled.Source, compiled: compiled, options: c.Options(),
		check: func(ctx context.Context, msg *layout.Message) error {
			return compiled.Validate(ctx, []byte(msg.Content))
		},
	}, nil
}

// builtinFormat returns a built-in grammar in the form for upstreams.
func builtinFormat(b *request.Builtin) *asking.Format {
	text, _ := gbnf.BuiltinText(b.Name, b.Options) // no error: it has been compiled
	switch b.Name {
	case "regex":
		return &asking.Format{Regex: b.Options.Pattern}
	case "choice":
		return &asking.Format{Choices: b.Options.Choices}
	}
	return &asking.Format{Grammar: text}
}

// grammarRule compiles a constraint other than a schema.
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
		r.report.Warnings = append(r.report.Warnings, schema.Issue{Line: w.Line, Column: w.Column, Reason: (gbnf.Issue{Rule: w.Rule, Reason: w.Reason}).String()})
	}
	return r, nil
}

// optionsAt returns the alternatives of the leaf at a pointer, as JSON; nil if its schema does not
// enumerate them.
func (r *Constraint) optionsAt(pointer string) []string {
	if r.document == nil {
		return nil
	}
	r.Enums.Read(r.document)
	return r.Enums.At(pointer)
}
