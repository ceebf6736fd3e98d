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

// This file plans the signals of a generation, and asks for them in its prompt.

// signalPlan is how the signals of a generation are got.
type signalPlan struct {
	constrained bool // the text has a place for them that a mask sees to
	Wrapped     bool // an upstream keeps it beside the answer, in an object of both
	room        int  // tokens of the shortest signals, which max_tokens was raised by
}

// signalsDocument compiles the schema of signals with some tools.
func signalsDocument(ctx context.Context, m *registry.Model, tools []string) (*constraint.Document, error) {
	compiled, err := m.Schemas.Compile(ctx, signals.Schema(tools), schema.Options{Strict: true, Whitespace: schema.Compact})
	if err != nil {
		return nil, err
	}
	d := compiled.Document()
	return &d, nil
}

// planSignals gives a plan the documents of signals, and a document's budget room
// for them.
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
			tools = nil // an answer without calls has the shortest
		}
		g.Signals.room = len(g.Model.Text.Vocab().TokenizeText(nil, []byte(shortestSignals(tools))))
		g.Job.MaxTokens += g.Signals.room
	}
	return nil
}

// callable returns how many tools may be called.
func (r *Constraint) callable() int {
	if r == nil {
		return 0
	}
	return len(r.Tools)
}

// rated returns the tools that a model rates: those that it may call, if they are
// not too many.
func (r *Constraint) rated() (names []string) {
	if n := r.callable(); n == 0 || n > maxRatedTools {
		return nil
	}
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// masked reports whether a mask sees to it that signals follow the answer,
// whatever that is.
func (r *Constraint) masked() bool { return r.fromBeginning() && r.tags == nil }

// signalInstruction is what the model is told about its signals.
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

// Instructed returns a prompt's instruction with that about signals, where the
// prompt has a place for it, or else warns.
func Instructed(q *request.Request, instruction string, r *Constraint) string {
	switch {
	case q.Signals == nil:
		return instruction
	case q.PromptSchema == "never" || q.PromptTokens != nil:
		q.Warnings = append(q.Warnings, "the prompt says nothing about signals: prompt_schema is \"never\", or the prompt is given as tokens")
		return instruction
	case q.Messages == nil && q.PromptSchema != "always":
		q.Warnings = append(q.Warnings, "the prompt is gone on with as it is and says nothing about signals; prompt_schema: \"always\" writes an instruction before it, and messages have a place for one")
		return instruction
	}
	return WithSignals(q, instruction, r)
}

// WithSignals returns an instruction with that about signals.
func WithSignals(q *request.Request, instruction string, r *Constraint) string {
	return AlsoOf(instruction, signalInstruction(q, r))
}

// AlsoOf returns an instruction with one about signals.
func AlsoOf(instruction, note string) string {
	if instruction == "" {
		return note
	}
	return instruction + "\n\nAll of that is about the answer alone. " + note
}

// noRoom is a warning.
const noRoom = "the context has no room for signals after the answer; they were left out"

// shortestSignals is the shortest document of signals, with the line break before
// it.
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

// maxRatedTools is how many tools a model is asked to rate.
const maxRatedTools = 16
