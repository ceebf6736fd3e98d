package generation

import (
	"context"
	"fmt"
	"strings"

	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
)

// This file plans the signals of a generation and requests them in its prompt.

// A signalPlan describes how the signals of a generation are obtained.
type signalPlan struct {
	constrained bool // a mask enforces them
	Wrapped     bool // an upstream puts them beside the answer, in an object of both
	room        int  // tokens of the shortest signals, by which max_tokens was raised
}

// signalsDocument compiles the schema of signals for some tools.
func signalsDocument(ctx context.Context, m *registry.Model, tools []string) (*constraint.Document, error) {
	compiled, err := m.Schemas.Compile(ctx, signals.Schema(tools), schema.Options{Strict: true, Whitespace: schema.Compact})
	if err != nil {
		return nil, err
	}
	d := compiled.Document()
	return &d, nil
}

// planSignals adds the documents of signals to a plan, and room for them to a
// document's budget.
func (g *Generation) planSignals(ctx context.Context, p *layout.Plan) error {
	if g.Signals == nil {
		return nil
	}
	tools := g.Constraint.rated()
	var err error
	if p.Signals, err = signalsDocument(ctx, g.Model, nil); err != nil {
		return err
	}
	if p.CallSignals = p.Signals; len(tools) > 0 {
		if p.CallSignals, err = signalsDocument(ctx, g.Model, tools); err != nil {
			return err
		}
	}
	g.Signals.constrained = true
	if g.Constraint.masked() && !g.Job.Truncate {
		if g.Constraint.format != nil {
			tools = nil // an answer without calls has the shortest signals
		}
		g.Signals.room = len(g.Model.Text.Vocab().TokenizeText(nil, []byte(shortestSignals(tools))))
		g.Job.MaxTokens += g.Signals.room
	}
	return nil
}

// callable returns the number of callable tools.
func (r *Constraint) callable() int {
	if r == nil {
		return 0
	}
	return len(r.Tools)
}

// rated returns the tools that the model rates: the callable ones, unless there are
// more than maxRatedTools.
func (r *Constraint) rated() (names []string) {
	if n := r.callable(); n == 0 || n > maxRatedTools {
		return nil
	}
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// masked reports whether a mask enforces signals after every possible answer.
func (r *Constraint) masked() bool { return r.fromBeginning() && r.tags == nil }

// signalInstruction returns the prompt's instruction about signals.
func signalInstruction(q *request.Request, r *Constraint) string {
	if q.Signals == nil {
		return ""
	}
	form := signals.Fenced
	if r.masked() {
		form = signals.LastLine
	}
	return signals.Instruction(q.Signals.Mode, form, r.rated())
}

// Instructed adds the instruction about signals to a prompt's instruction, or a
// warning to the request if its prompt has no place for it.
func Instructed(q *request.Request, instruction string, r *Constraint) string {
	switch {
	case q.Signals == nil:
		return instruction
	case q.PromptSchema == "never" || q.PromptTokens != nil:
		q.Warnings = append(q.Warnings, "the prompt has no instruction about signals: prompt_schema is \"never\", or the prompt is given as tokens")
		return instruction
	case q.Messages == nil && q.PromptSchema != "always":
		q.Warnings = append(q.Warnings, "the prompt is continued as it is, without an instruction about signals; prompt_schema: \"always\" writes an instruction before it, and messages have a place for one")
		return instruction
	}
	return WithSignals(q, instruction, r)
}

// WithSignals adds the instruction about signals to an instruction.
func WithSignals(q *request.Request, instruction string, r *Constraint) string {
	return AlsoOf(instruction, signalInstruction(q, r))
}

// AlsoOf adds note, about signals, to an instruction.
func AlsoOf(instruction, note string) string {
	if instruction == "" {
		return note
	}
	return instruction + "\n\nAll of that is about the answer alone. " + note
}

// noRoom warns that signals were left out.
const noRoom = "the context has no room for signals after the answer; they were left out"

// shortestSignals returns the shortest document of signals, preceded by a line break.
func shortestSignals(tools []string) string {
	var b strings.Builder
	b.WriteString("\n" + `{"confidence":0,"difficulty":"easy","escalation":"none"`)
	for i, name := range tools {
		b.WriteString(map[bool]string{true: `,"tools":{`, false: ","}[i == 0])
		fmt.Fprintf(&b, "%q:0", name)
	}
	if len(tools) > 0 {
		b.WriteByte('}')
	}
	b.WriteByte('}')
	return b.String()
}

// maxRatedTools is the largest number of tools that a model is asked to rate.
const maxRatedTools = 16
