package server

import (
	"slices"

	"stencil/chat"
	"stencil/engine"
)

// A plan says what a generation's text is made of.
type plan struct {
	form    chat.CallForm
	thought chat.ThoughtForm

	tools    []compiledTool // that may be called
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

// outline returns the parts of the text and where it begins.
func (p *plan) outline() (*outline, int) {
	o := new(outline)
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
		thoughts := o.free(roleReasoning, true, stopMark{Mark: p.thought.Close, Next: answer})
		answer = p.answer(o, []stopMark{{Mark: p.thought.Open, Next: thoughts, AtStart: true}})
	}
	return o, answer
}

// constrained reports whether not everything may follow the thoughts.
func (p *plan) constrained() bool { return p.format != nil || p.must }

// thoughts appends what comes before the answer.
func (p *plan) thoughts(o *outline, answer int) int {
	answer = o.fixed(p.thought.Gap, !p.constrained(), answer)
	at := o.free(roleReasoning, !p.constrained(), stopMark{Mark: p.thought.Close, Next: answer})
	o.nodes[at].Budget = p.budget
	return at
}

// answer appends the answer: free text, a document, calls, or what may be
// either. Free text also ends with the given stops.
func (p *plan) answer(o *outline, stops []stopMark) int {
	switch {
	case p.must:
		return p.calls(o, p.form.Triggers[0].Mark+p.form.Triggers[0].Then)
	case p.format != nil && len(p.tools) > 0:
		t := p.form.Triggers[0]
		calls := p.calls(o, t.Mark+t.Then)
		return o.add(node{Fork: []int{calls, o.document(roleContent, *p.format, p.after(o, p.signals))}})
	case p.format != nil:
		return o.document(roleContent, *p.format, p.after(o, p.signals))
	case p.tags != nil:
		return p.tags.outline(o, p.fences(o))
	}
	stops = append(stops, p.fences(o)...)
	if len(p.tools) > 0 {
		names := p.calls(o, "")
		for _, t := range p.form.Triggers {
			stops = append(stops, stopMark{Mark: t.Mark, AtStart: t.AtStart, Next: o.fixed(t.Then, false, names)})
		}
	}
	return o.free(roleContent, true, stops...)
}

// calls appends calls, which begin with a text.
func (p *plan) calls(o *outline, before string) int {
	f := p.form
	names := o.add(node{})
	last := p.after(o, p.callSignals)
	after := last
	switch {
	case f.Next == "" || !p.parallel:
		after = o.fixed(f.After+f.Close, false, last)
	case f.Close == "" && last == end:
		after = o.fixed(f.After, false, o.fixed(f.Next, true, names))
	case f.Close == "":
		after = o.fixed(f.After, false, o.add(node{Fork: []int{o.fixed(f.Next, false, names), last}}))
	default:
		after = o.add(node{Stops: []stopMark{{Mark: f.After + f.Next, Next: names}, {Mark: f.After + f.Close, Next: last}}})
	}
	var list []stopMark
	for i, at := range p.arguments(o, after) {
		list = append(list, stopMark{Mark: p.tools[i].Name + f.Middle, Next: at})
	}
	o.nodes[names].Stops = list
	return o.fixed(before, false, names)
}

// arguments appends the arguments of each tool.
func (p *plan) arguments(o *outline, next int) (at []int) {
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
func (p *plan) channels(o *outline) int {
	var last []stopMark // what ends the text
	if len(p.tools) > 0 {
		plain, before := o.add(node{}), o.add(node{})
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
			final = o.document(roleContent, *p.format, p.after(o, p.signals))
		case p.tags != nil:
			final = p.tags.outline(o, p.fences(o))
		default:
			final = o.free(roleContent, true, p.fences(o)...)
		}
		last = append([]stopMark{{Mark: harmonyFinal, Next: final}}, last...)
	}
	// again appends another message after one that is free text.
	again := func(r role, then []stopMark) int {
		next := o.fixed(harmonyStart, !p.constrained(), o.add(node{Stops: then}))
		return o.free(r, !p.constrained(), stopMark{Mark: harmonyEnd, Next: next})
	}
	if len(p.tools) > 0 {
		last = append(slices.Clone(last), stopMark{Mark: harmonyPreamble, Next: again(roleContent, last)})
	}
	thoughts := again(roleReasoning, last)
	o.nodes[thoughts].Budget = p.budget
	analysis := stopMark{Mark: harmonyAnalysis, Next: thoughts}
	switch p.think {
	case thinkCertainly:
		last = []stopMark{analysis}
	case thinkPerhaps:
		last = append(slices.Clone(last), analysis)
	}
	return o.add(node{Stops: last})
}
