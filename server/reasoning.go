package server

import (
	"fmt"
	"strings"

	"stencil/chat"
	"stencil/vocab"
)

// compose lays out the text of a generation in parts, if it has any: thoughts
// before the answer, calls of tools. A text without, or one that is a document as
// a whole, has none.
func (g *generation) compose() error {
	m, q := g.model, g.query
	p := plan{form: m.callForm, thought: m.thoughts, budget: q.ThinkTokens}
	isChat := q.Messages != nil
	if q.Begun != "" {
		if g.rule != nil && !g.rule.free || q.Reasoning {
			return invalid("messages", "an answer that has begun can't be constrained, nor come after thoughts")
		}
		return nil
	}
	p.begun = isChat && m.thoughts.Name != chat.Harmony && begunToThink(m.text.Vocab(), g.request.Prompt, m.thoughts.Open)
	switch {
	case q.Reasoning:
		p.think = thinkCertainly
	case isChat && !q.NoThoughts && (m.thinksAs || !m.prompts.HasTemplate()):
		p.think = thinkPerhaps
	}
	if r := g.rule; r != nil && !r.free {
		p.tools, p.must, p.parallel, p.format, p.tags = r.tools, r.must, r.parallel, r.part, r.tags
		if r.format != nil {
			p.format = r.format.part
		}
	}
	if err := g.planSignals(&p); err != nil {
		return err
	}
	harmony := isChat && m.thoughts.Name == chat.Harmony
	if !harmony && p.signals == nil && p.tools == nil && p.tags == nil && !p.begun && (p.think == thinkNot || p.think == thinkPerhaps && p.format != nil) {
		return nil
	}
	if p.thought.Name == chat.Harmony && !isChat {
		p.thought = chat.UsualThoughts // nothing but a conversation has channels
	}
	switch {
	case p.tools != nil && !m.callsAs:
		q.Warnings = append(q.Warnings, fmt.Sprintf("the model's template and vocabulary don't say how it writes calls of tools; they are written in the form %q", m.callForm.Name))
	case q.Reasoning && !m.thinksAs:
		q.Warnings = append(q.Warnings, fmt.Sprintf("the model's template doesn't say how it writes thoughts; they are written in the form %q", m.thoughts.Name))
	}
	o, first := p.outline()
	var err error
	g.request.Constraint, g.layout, err = o.compile(m.parts, m.text.Vocab(), first)
	if err != nil {
		return err
	}
	g.layout.tools, g.layout.ids = p.tools, p.form.IDs
	return nil
}

// begunToThink reports whether a prompt ends with the mark that begins thoughts,
// as the templates of some models do.
func begunToThink(v *vocab.Vocab, prompt []int32, mark string) bool {
	const last = 8 // tokens that the mark and a line break may take
	var b strings.Builder
	for _, t := range prompt[max(0, len(prompt)-last):] {
		if text := v.Bytes(t); len(text) > 0 {
			b.Write(text)
		} else {
			b.WriteString(v.Text(t))
		}
	}
	return strings.HasSuffix(strings.TrimSpace(b.String()), mark)
}
