package generation

import (
	"fmt"
	"slices"
	"strings"

	"stencil/chat"
	"stencil/engine"
	"stencil/server/wire"
	"stencil/vocab"
)

// A plan says what a generation's text is made of.
type plan struct {
	form    chat.CallForm
	thought chat.ThoughtForm

	tools    []CompiledTool // that may be called
	must     bool           // one is called
	parallel bool
	format   *engine.Document // what the answer fits, if not nothing else
	tags     *tagSet          // or what it may hold
	begun    bool             // the prompt ends with the beginning of thoughts
	think    thinking
	budget   int // tokens of the thoughts at most; 0: no bound of its own

	signals     *engine.Document // come after the answer; nil: nothing does
	callSignals *engine.Document // and after calls
}

// thinking says whether the model thinks before it answers.
type thinking uint8

const (
	thinkNot     thinking = iota
	thinkPerhaps          // if it wants to
	thinkCertainly
)

// build returns the parts of the text and where it begins.
func (p *plan) build() (*builder, int) {
	o := new(builder)
	if p.thought.Name == chat.Harmony {
		return o, p.channels(o)
	}
	answer := p.answer(o, nil)
	switch {
	case p.think == thinkCertainly || p.begun:
		answer = p.thoughts(o, answer)
		if !p.begun {
			answer = o.fixed(p.thought.Open+p.thought.Lead, false, answer)
		}
	case p.think == thinkPerhaps && p.format == nil && p.tags == nil && !p.must:
		thoughts := o.free(RoleReasoning, true, stopMark{Mark: p.thought.Close, Next: answer})
		answer = p.answer(o, []stopMark{{Mark: p.thought.Open, Next: thoughts, AtStart: true}})
	}
	return o, answer
}

// constrained reports whether not everything may follow the thoughts.
func (p *plan) constrained() bool { return p.format != nil || p.must }

// thoughts appends what comes before the answer.
func (p *plan) thoughts(o *builder, answer int) int {
	answer = o.fixed(p.thought.Gap, !p.constrained(), answer)
	at := o.free(RoleReasoning, !p.constrained(), stopMark{Mark: p.thought.Close, Next: answer})
	o.nodes[at].Budget = p.budget
	return at
}

// answer appends the answer: free text, a document, calls, or what may be
// either. Free text also ends with the given stops.
func (p *plan) answer(o *builder, stops []stopMark) int {
	switch {
	case p.must:
		return p.calls(o, p.form.Triggers[0].Mark+p.form.Triggers[0].Then)
	case p.format != nil && len(p.tools) > 0:
		t := p.form.Triggers[0]
		calls := p.calls(o, t.Mark+t.Then)
		return o.add(Node{Fork: []int{calls, o.document(RoleContent, *p.format, p.after(o, p.signals))}})
	case p.format != nil:
		return o.document(RoleContent, *p.format, p.after(o, p.signals))
	case p.tags != nil:
		return p.tags.appendTo(o, p.fences(o))
	}
	stops = append(stops, p.fences(o)...)
	if len(p.tools) > 0 {
		names := p.calls(o, "")
		for _, t := range p.form.Triggers {
			stops = append(stops, stopMark{Mark: t.Mark, AtStart: t.AtStart, Next: o.fixed(t.Then, false, names)})
		}
	}
	return o.free(RoleContent, true, stops...)
}

// calls appends calls, which begin with a text.
func (p *plan) calls(o *builder, before string) int {
	f := p.form
	names := o.add(Node{})
	last := p.after(o, p.callSignals)
	after := last
	switch {
	case f.Next == "" || !p.parallel:
		after = o.fixed(f.After+f.Close, false, last)
	case f.Close == "" && last == end:
		after = o.fixed(f.After, false, o.fixed(f.Next, true, names))
	case f.Close == "":
		after = o.fixed(f.After, false, o.add(Node{Fork: []int{o.fixed(f.Next, false, names), last}}))
	default:
		after = o.add(Node{Stops: []stopMark{{Mark: f.After + f.Next, Next: names}, {Mark: f.After + f.Close, Next: last}}})
	}
	var list []stopMark
	for i, at := range p.arguments(o, after) {
		list = append(list, stopMark{Mark: p.tools[i].Name + f.Middle, Next: at})
	}
	o.nodes[names].Stops = list
	return o.fixed(before, false, names)
}

// arguments appends the arguments of each tool.
func (p *plan) arguments(o *builder, next int) (at []int) {
	for i, t := range p.tools {
		n := o.document(roleArguments, t.arguments, next)
		o.nodes[n].Tool = i
		at = append(at, n)
	}
	return at
}

// The marks of Harmony. An assistant's message begins after harmonyStart.
const (
	harmonyStart    = "<|start|>assistant"
	harmonyEnd      = "<|end|>"
	harmonyAnalysis = "<|channel|>analysis<|message|>"
	harmonyFinal    = "<|channel|>final<|message|>"
	harmonyPreamble = "<|channel|>commentary<|message|>"
)

// channels appends the messages that Harmony's models write: thoughts in the
// channel analysis, words before calls and calls in commentary, the answer in
// final. The end of a generation ends a call and the answer.
func (p *plan) channels(o *builder) int {
	var last []stopMark // what ends the text
	if len(p.tools) > 0 {
		plain, before := o.add(Node{}), o.add(Node{})
		var after, first []stopMark
		for i, at := range p.arguments(o, p.after(o, p.callSignals)) {
			name := p.tools[i].Name
			after = append(after, stopMark{Mark: name + " <|constrain|>json<|message|>", Next: at}, stopMark{Mark: name + "<|message|>", Next: at})
			first = append(first, stopMark{Mark: name + "<|channel|>commentary <|constrain|>json<|message|>", Next: at}, stopMark{Mark: name + "<|channel|>commentary json<|message|>", Next: at})
		}
		o.nodes[plain].Stops, o.nodes[before].Stops = after, first
		last = append(last, stopMark{Mark: "<|channel|>commentary to=functions.", Next: plain}, stopMark{Mark: " to=functions.", Next: before})
	}
	if !p.must {
		var final int
		switch {
		case p.format != nil:
			final = o.document(RoleContent, *p.format, p.after(o, p.signals))
		case p.tags != nil:
			final = p.tags.appendTo(o, p.fences(o))
		default:
			final = o.free(RoleContent, true, p.fences(o)...)
		}
		last = append([]stopMark{{Mark: harmonyFinal, Next: final}}, last...)
	}
	// again appends another message after one that is free text.
	again := func(r role, then []stopMark) int {
		next := o.fixed(harmonyStart, !p.constrained(), o.add(Node{Stops: then}))
		return o.free(r, !p.constrained(), stopMark{Mark: harmonyEnd, Next: next})
	}
	if len(p.tools) > 0 {
		last = append(slices.Clone(last), stopMark{Mark: harmonyPreamble, Next: again(RoleContent, last)})
	}
	thoughts := again(RoleReasoning, last)
	o.nodes[thoughts].Budget = p.budget
	analysis := stopMark{Mark: harmonyAnalysis, Next: thoughts}
	switch p.think {
	case thinkCertainly:
		last = []stopMark{analysis}
	case thinkPerhaps:
		last = append(slices.Clone(last), analysis)
	}
	return o.add(Node{Stops: last})
}

// compose lays out the text of a generation in parts, if it has any: thoughts
// before the answer, calls of tools. A text without, or one that is a document as
// a whole, has none.
func (g *Generation) compose() error {
	m, q := g.Model, g.Request
	p := plan{form: m.CallForm, thought: m.ThoughtForm, budget: q.ThinkTokens}
	isChat := q.Messages != nil
	if q.Begun != "" {
		if g.Constraint != nil && !g.Constraint.free || q.Reasoning {
			return wire.Invalid("messages", "an answer that has begun can't be constrained, nor come after thoughts")
		}
		return nil
	}
	p.begun = isChat && m.ThoughtForm.Name != chat.Harmony && begunToThink(m.Text.Vocab(), g.Job.Prompt, m.ThoughtForm.Open)
	switch {
	case q.Reasoning:
		p.think = thinkCertainly
	case isChat && !q.NoThoughts && (m.ThoughtsSaid || !m.Prompts.HasTemplate()):
		p.think = thinkPerhaps
	}
	if r := g.Constraint; r != nil && !r.free {
		p.tools, p.must, p.parallel, p.format, p.tags = r.Tools, r.Must, r.Parallel, r.part, r.tags
		if r.format != nil {
			p.format = r.format.part
		}
	}
	if err := g.planSignals(&p); err != nil {
		return err
	}
	harmony := isChat && m.ThoughtForm.Name == chat.Harmony
	if !harmony && p.signals == nil && p.tools == nil && p.tags == nil && !p.begun && (p.think == thinkNot || p.think == thinkPerhaps && p.format != nil) {
		return nil
	}
	if p.thought.Name == chat.Harmony && !isChat {
		p.thought = chat.UsualThoughts // nothing but a conversation has channels
	}
	switch {
	case p.tools != nil && !m.CallsSaid:
		q.Warnings = append(q.Warnings, fmt.Sprintf("the model's template and vocabulary don't say how it writes calls of tools; they are written in the form %q", m.CallForm.Name))
	case q.Reasoning && !m.ThoughtsSaid:
		q.Warnings = append(q.Warnings, fmt.Sprintf("the model's template doesn't say how it writes thoughts; they are written in the form %q", m.ThoughtForm.Name))
	}
	o, first := p.build()
	var err error
	g.Job.Constraint, g.Layout, err = o.compile(m.Sequences, m.Text.Vocab(), first)
	if err != nil {
		return err
	}
	g.Layout.tools, g.Layout.ids = p.tools, p.form.IDs
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
