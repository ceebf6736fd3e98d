package generation

import (
	"context"
	"fmt"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// compose plans the parts of a generation's text, if it has any: reasoning before
// the answer, tool calls, signals. Free text, and text that is one document, have
// no parts.
func (g *Generation) compose(ctx context.Context) error {
	m, q := g.Model, g.Request
	p := layout.Plan{Calls: m.CallForm, Thought: m.ThoughtForm, Budget: q.ThinkTokens, Over: q.ThinkOver}
	isChat := q.Messages != nil
	if q.Begun != "" {
		if g.Constraint != nil && !g.Constraint.free || q.Reasoning {
			return wire.Invalid("messages", "a prefilled answer can't be constrained or follow reasoning")
		}
		return nil
	}
	p.Begun = isChat && m.ThoughtForm.Name != chat.Harmony && registry.BegunToThink(m.Text.Vocab(), g.Job.Prompt, m.ThoughtForm.Open)
	switch {
	case q.Reasoning:
		p.Think = layout.ThinkCertainly
	case isChat && !q.NoThoughts && (m.ThoughtsSaid || !m.Prompts.HasTemplate()):
		p.Think = layout.ThinkPerhaps
	}
	if r := g.Constraint; r != nil && !r.free {
		if r.Tools != nil {
			p.Tools = make([]layout.Tool, len(r.Tools))
		}
		for i, t := range r.Tools {
			p.Tools[i] = layout.Tool{Name: t.Name, Arguments: t.arguments, Each: t.each.List, Natural: t.natural, Python: t.python, Tagged: t.tagged}
		}
		p.Must, p.Parallel, p.Answer = r.Must, r.Parallel, r.part
		if r.tags != nil {
			p.Tags = r.tags.plan()
		}
		if r.format != nil {
			p.Answer = r.format.part
		}
		if r.beside != nil && q.Signals == nil && p.Calls.Answer == "" && p.Thought.Name != chat.Harmony {
			p.Answer, p.Beside = r.beside, true
		}
	}
	if q.Tools != nil && q.Tools.Mode == request.ToolsNone && g.Constraint == nil && m.Engine != nil && p.Thought.Name != chat.Harmony && p.Calls.Answer == "" && chat.HasCalls(q.Messages) {
		for _, t := range q.Tools.Tools { // the model sees calls of them, so that it may write more, as text
			p.Shunned = append(p.Shunned, t.Name)
		}
	}
	if p.Tools != nil && p.Calls.HasSlot(chat.SlotID) {
		id, err := m.Grammars.Regex(ctx, fmt.Sprintf("[a-zA-Z0-9]{%d}", max(1, p.Calls.IDs)))
		if err != nil {
			return err
		}
		document := id.Document()
		p.ID = &document
	}
	if err := g.planSignals(ctx, &p); err != nil {
		return err
	}
	if !isChat {
		p.Calls.Answer = "" // only in a conversation is somebody addressed
	}
	if !isChat && p.Thought.Name == chat.Harmony {
		p.Thought = chat.UsualThoughts // only conversations have channels
	}
	if !p.HasParts() {
		return nil
	}
	switch {
	case p.Tools != nil && !m.CallsSaid:
		q.Warnings = append(q.Warnings, fmt.Sprintf("the model's chat template does not show the format of its tool calls (%v); they are written as %q", m.Prompts.CallFormMissing(), m.CallForm.Name))
	case q.Reasoning && !m.ThoughtsSaid:
		q.Warnings = append(q.Warnings, fmt.Sprintf("the model's chat template does not show the format of its reasoning, which is written as %q", m.ThoughtForm.Name))
	}
	p.Foreign = p.Tools != nil && isChat && q.ToolForms != "own"
	foreign := p.Foreign && p.Thought.Name != chat.Harmony
	p.Written = foreign && !p.Must && p.Answer == nil && p.Tags == nil
	written := p.Written && p.Signals == nil && p.CallSignals == nil
	var err error
	g.Job.Constraint, g.Layout, err = p.Compile(ctx, m.Sequences, m.Text.Vocab())
	if err == nil && foreign && !p.Foreign {
		q.Warnings = append(q.Warnings, "calls in other forms than the model's own stay text: the names of the tools are too long in total to look for them")
	}
	if err == nil && written && p.Foreign && !p.Written {
		q.Warnings = append(q.Warnings, "calls as in Python or in tags stay text unless that is the model's own form: the tools have too many arguments in total to look for them")
	}
	if err == nil && !p.Beside && (p.Tools != nil || p.Shunned != nil) {
		g.prose = g.Layout.Prose(m.Text.Vocab(), &p)
	}
	if err == nil && p.Shunned != nil {
		g.Job.Doubt = g.Layout.Shun(m.Text.Vocab(), &p)
	}
	if err == nil && p.Tools != nil {
		g.Layout.MaxCalls, g.Layout.Repeats = q.MaxToolCalls, q.RepeatCalls
		if g.Layout.Beside = p.Beside; !p.Must {
			g.Layout.Made = chat.CallsMade(q.Messages)
		}
		if q.ToolLeast != nil && !p.Gated() {
			q.Warnings = append(q.Warnings, "tool_confidence has no effect: the model begins calls and answers with whom they address")
		}
		if q.ToolLeast != nil {
			g.Job.Gate = g.Layout.Gate(m.Sequences, m.Text.Vocab(), &p, float64(*q.ToolLeast))
		}
		if g.Job.Doubt = g.Layout.Doubt(m.Sequences, m.Text.Vocab(), &p, float64(q.LeastCall())); g.Job.Doubt != nil && q.LeastCall() > 0 {
			g.Job.Doubt.Ask = g.relevance()
		}
		if g.Signals == nil { // signals come after the calls
			g.Job.Watch, g.Job.Recast = g.Layout.Watch, g.Layout.Recast(m.Text.Vocab())
		}
	}
	return err
}

// instead returns the request for the text that takes the place of one that began with an unwanted call: the conversation without
// the tools, where models write what they know, and prose first. With tools in the prompt, what is left of a small model's
// distribution once calls are excluded is noise.
func (g *Generation) instead(ctx context.Context, first *engine.Result) (engine.Request, error) {
	again, q := g.Job, *g.Request
	tools := *q.Tools
	tools.Mode = request.ToolsNone
	q.Tools, q.Warnings = &tools, nil
	var err error
	if again.Prompt, again.Marks, err = promptOf(ctx, g.Model, &q, g.Constraint); err != nil {
		return again, err
	}
	again.Choices, again.Sampling.Seed = 1, first.Seed
	if again.Gate = g.prose; g.prose == nil { // the document remains
		if again.Constraint, err = g.Layout.DocumentAlone(ctx, g.Model.Sequences, g.Model.Text.Vocab()); err != nil {
			return again, err
		}
	}
	if again.Doubt != nil {
		doubt := *again.Doubt
		if doubt.Unwanted = nil; doubt.Instead == nil { // there was nothing else to doubt
			again.Doubt = nil
		} else {
			again.Doubt = &doubt
		}
	}
	return again, nil
}

// takes makes a choice the text in place of the first one. The prompt reported is that of the request, as it is counted.
func (c *Choice) takes(first *engine.Result) {
	c.Result.PromptTokens, c.Result.CachedTokens = first.PromptTokens, first.CachedTokens
	c.Wasted, c.repeated = first.CompletionTokens, first.Constraint.Doubted == nil
	if c.Result.Constraint != nil && c.Result.Constraint.Doubted == nil {
		c.Result.Constraint.Doubted, c.Result.Constraint.Asked = first.Constraint.Doubted, first.Constraint.Asked
	}
}
