package layout

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/vocab"
)

// A Plan describes what a text may consist of.
type Plan struct {
	Calls   chat.CallForm
	Thought chat.ThoughtForm

	Tools    []Tool               // callable tools
	ID       *constraint.Document // of a call's id, if the form writes ids
	Must     bool                 // at least one call is required
	Parallel bool                 // several calls are allowed
	Foreign  bool                 // calls may be in other models' forms
	Written  bool                 // also in those that don't write a call as an object
	Beside   bool                 // also as JSON in place of the document Answer
	Answer   *constraint.Document // the constraint of the answer; nil: none
	Tags     *Tags                // documents between tags in a free answer
	Begun    bool                 // the prompt ends with the mark that opens reasoning
	Think    Thinking
	Budget   int    // tokens of one reasoning; 0: no limit of its own
	Over     string // text before the closing mark of reasoning over its budget

	// Shunned are the names of tools that the answer must not begin to call, as JSON or in a Markdown block. It may do so
	// later, where it is text.
	Shunned []string

	Signals     *constraint.Document // signals after the answer; nil: none
	CallSignals *constraint.Document // signals after calls

	names   int  // 1 + the node where calls begin with a name; 0: none yet
	recasts bool // a call in another model's form is recast as the first of a list
}

// A Tool is a callable tool with the constraint of its arguments: of the whole object or, if the form writes arguments
// one by one, of each.
type Tool struct {
	Name      string
	Arguments constraint.Document
	Each      []Argument
	Natural   constraint.Document // the arguments as JSON in any layout, for other forms

	// The arguments one by one, as in PythonArguments and TaggedArguments; nil: the tool can't be called so.
	Python, Tagged []Argument
}

// Tags are documents that may stand in free text, each between its tags. After a trigger, the model must continue with
// one of its tags.
type Tags []Trigger

// A Trigger is a common prefix of tags.
type Trigger struct {
	Mark string
	Tags []Tag
}

// A Tag is a document between a begin text, of which its trigger is a prefix, and an end text.
type Tag struct {
	Begin, End string
	Document   constraint.Document
}

// Thinking says whether the model reasons before its answer.
type Thinking uint8

// Values of Thinking.
const (
	ThinkNot     Thinking = iota
	ThinkPerhaps          // if the model chooses to
	ThinkCertainly
)

// HasParts reports whether a text of the plan needs a layout. Text that is only free text, or only a document, needs
// none.
func (p *Plan) HasParts() bool {
	return p.Thought.Name == chat.Harmony || p.Calls.Answer != "" || p.Signals != nil || p.Tools != nil || p.Tags != nil || p.Begun || p.Shunned != nil ||
		p.Think == ThinkCertainly || p.Think == ThinkPerhaps && p.Answer == nil
}

// Compile returns the constraint of the plan's texts, and the layout that reads them.
func (p *Plan) Compile(ctx context.Context, all *constraint.Sequences, v *vocab.Vocab) (engine.Constraint, *Layout, error) {
	p.Foreign = p.Foreign && p.hasForeign()
	p.Written = p.Written && p.Foreign && p.hasWritten()
	p.Beside = p.Beside && p.Foreign
	o, first := p.build()
	if p.Written && len(o.nodes) > mostNodes {
		p.Written = false
		o, first = p.build()
	}
	c, l, err := o.compile(ctx, all, v, first)
	if errors.Is(err, decoder.ErrOpenings) && p.Shunned != nil {
		p.Shunned = nil
		o, first = p.build()
		c, l, err = o.compile(ctx, all, v, first)
	}
	for errors.Is(err, decoder.ErrOpenings) && p.Foreign {
		p.Foreign, p.Written = p.Written, false // first without the written forms
		o, first = p.build()
		c, l, err = o.compile(ctx, all, v, first)
	}
	if err != nil {
		return nil, nil, err
	}
	l.ids, l.form = p.Calls.IDs, p.Calls.Arguments
	l.recasts = p.recasts
	for _, t := range p.Tools {
		l.tools = append(l.tools, t.Name)
	}
	l.lateIDs = strings.Contains(p.Calls.After, chat.SlotID)
	return c, l, nil
}

// build returns the nodes of the text and the index of the first one.
func (p *Plan) build() (*builder, int) {
	o := new(builder)
	p.recasts, p.names = false, 0
	if p.Thought.Name == chat.Harmony {
		return o, p.channels(o)
	}
	if p.Calls.Answer != "" {
		return o, p.addressed(o)
	}
	if blank, _ := p.gap(); p.Thought.CallGap != nil && (p.Think == ThinkCertainly || p.Begun) {
		if lead, ok := strings.CutPrefix(*p.Thought.CallGap, blank); ok {
			p.Calls.Lead = lead // after reasoning, whose gap comes first
		}
	}
	answer := p.answer(o, nil)
	free := answer
	switch {
	case p.Think == ThinkCertainly || p.Begun:
		answer = p.thoughts(o, answer)
		p.rethink(o, free)
		if !p.Begun {
			answer = o.fixed(p.Thought.Open+p.Thought.Lead, false, answer)
		}
	case p.Think == ThinkPerhaps && p.Answer == nil && p.Tags == nil && !p.Must:
		p.rethink(o, answer)
		thoughts := p.thinking(o, true, answer)
		answer = p.answer(o, []stopMark{{Mark: p.Thought.Open, Next: thoughts, AtStart: true}})
	}
	return o, answer
}

// constrained reports whether the text after the reasoning is constrained.
func (p *Plan) constrained() bool { return p.Answer != nil || p.Must }

// gap returns the text between reasoning and whatever follows it, and the further text before an answer that is no
// call.
func (p *Plan) gap() (blank, mark string) {
	mark = strings.TrimLeft(p.Thought.Gap, " \n")
	return p.Thought.Gap[:len(p.Thought.Gap)-len(mark)], mark
}

// document appends the answer's document, after the text that separates it from reasoning.
func (p *Plan) document(o *builder) int {
	at := o.document(RoleContent, *p.Answer, p.after(o, p.Signals))
	if _, mark := p.gap(); p.Think == ThinkCertainly || p.Begun {
		at = o.fixed(mark, false, at)
	}
	return at
}

// thoughts appends the reasoning before the answer.
func (p *Plan) thoughts(o *builder, answer int) int {
	gap, _ := p.gap()
	answer = o.fixed(gap, !p.constrained(), answer)
	return p.thinking(o, !p.constrained(), answer)
}

// thinking appends reasoning up to its closing mark or to a call, since models sometimes omit the mark.
func (p *Plan) thinking(o *builder, mayEnd bool, next int) int {
	stops := p.enough(stopMark{Mark: p.Thought.Close, Next: next})
	for _, t := range p.Calls.Triggers {
		if mark := strings.TrimSpace(t.Mark); len(p.Tools) > 0 && !t.AtStart && mark != "" && strings.Contains("<[", mark[:1]) {
			stops = append(stops, stopMark{Mark: t.Mark, Next: p.calls(o, t.Then)})
		}
	}
	at := o.free(RoleReasoning, mayEnd, stops...)
	o.nodes[at].Budget = p.Budget
	return at
}

// enough returns the stops of reasoning; the first one also matches the text for reasoning over its budget.
func (p *Plan) enough(stop stopMark) []stopMark {
	if p.Budget == 0 || p.Over == "" {
		return []stopMark{stop}
	}
	over := stop
	over.Lead = p.Over
	return []stopMark{over, stop}
}

// rethink lets free text continue with further reasoning, under a budget of the same size; otherwise it would be part
// of the text. It must begin at the start of a line, where text about the mark rarely has it.
func (p *Plan) rethink(o *builder, at int) {
	if p.Budget == 0 || p.constrained() || p.Tags != nil || at == end || !o.nodes[at].Free || o.nodes[at].Role != RoleContent {
		return
	}
	again := p.thinking(o, true, at)
	o.nodes[at].Stops = append(o.nodes[at].Stops, stopMark{Mark: "\n" + p.Thought.Open, Next: again})
}

// answer appends the answer: free text, a document, calls, or a choice of them. Free text also ends with the given
// stops.
func (p *Plan) answer(o *builder, stops []stopMark) int {
	switch {
	case p.Must && p.Foreign && p.Parallel && p.Calls.Next != "" && p.CallSignals == nil:
		ways := []int{p.calls(o, p.opening()), p.foreignFirst(o)}
		if p.Calls.Lead != "" { // it isn't forced here, and models omit it
			ways = append(ways, p.calls(o, strings.TrimPrefix(p.opening(), p.Calls.Lead)))
		}
		return o.add(Node{Fork: ways})
	case p.Must:
		return p.calls(o, p.opening())
	case p.Answer != nil && len(p.Tools) > 0:
		ways := []int{p.calls(o, p.opening()), p.document(o)}
		o.nodes[ways[1]].Document = true
		if p.Beside {
			ways = append(ways, p.foreignFirst(o))
		}
		return o.add(Node{Fork: ways})
	case p.Answer != nil:
		return p.document(o)
	case p.Tags != nil:
		return p.Tags.appendTo(o, p.fences(o))
	}
	stops = append(stops, p.fences(o)...)
	if len(p.Tools) > 0 {
		for _, t := range p.Calls.Triggers {
			stops = append(stops, p.triggered(o, t)...)
		}
		if p.Foreign {
			stops = append(stops, p.foreign(o)...)
		}
	}
	for _, name := range p.Shunned {
		stops = append(stops, shunned(o, name)...)
	}
	return o.free(RoleContent, true, stops...)
}

// The marks of Harmony. The text of an assistant's message begins after harmonyStart.
const (
	harmonyStart    = "<|start|>assistant"
	harmonyEnd      = "<|end|>"
	harmonyAnalysis = "<|channel|>analysis<|message|>"
	harmonyPreamble = "<|channel|>commentary<|message|>"
)

// channels appends the messages that Harmony models write: reasoning in the channel analysis, text before calls and
// calls in commentary, the answer in final. An end-of-generation token ends a call and the answer; a call that ends as other
// messages do may be followed by another one.
func (p *Plan) channels(o *builder) int {
	var last []stopMark // what ends the text
	if len(p.Tools) > 0 {
		plain, before := o.add(Node{}), o.add(Node{})
		var after, first []stopMark
		for i, at := range p.arguments(o, p.moreMessages(o, plain, before)) {
			name := p.Tools[i].Name
			after = append(after, stopMark{Mark: name + " <|constrain|>json<|message|>", Next: at}, stopMark{Mark: name + "<|message|>", Next: at})
			first = append(first, stopMark{Mark: name + "<|channel|>commentary <|constrain|>json<|message|>", Next: at}, stopMark{Mark: name + "<|channel|>commentary json<|message|>", Next: at})
		}
		o.nodes[plain].Stops, o.nodes[before].Stops = after, first
		last = append(last, harmonyCalls(plain, before)...)
	}
	if !p.Must {
		var final int
		switch {
		case p.Answer != nil:
			final = o.document(RoleContent, *p.Answer, p.after(o, p.Signals))
		case p.Tags != nil:
			final = p.Tags.appendTo(o, p.fences(o))
		default:
			final = o.free(RoleContent, true, p.fences(o)...)
		}
		last = append([]stopMark{{Mark: chat.HarmonyFinal, Next: final}}, last...)
	}
	// again appends free text followed by another message.
	again := func(r Role, then []stopMark) int {
		next := o.fixed(harmonyStart, !p.constrained(), o.add(Node{Stops: then}))
		stops := []stopMark{{Mark: harmonyEnd, Next: next}}
		if r == RoleReasoning {
			stops = p.enough(stops[0])
		}
		return o.free(r, !p.constrained(), stops...)
	}
	if len(p.Tools) > 0 {
		last = append(slices.Clone(last), stopMark{Mark: harmonyPreamble, Next: again(RoleContent, last)})
	}
	thoughts := again(RoleReasoning, last)
	o.nodes[thoughts].Budget = p.Budget
	analysis := stopMark{Mark: harmonyAnalysis, Next: thoughts}
	switch p.Think {
	case ThinkCertainly:
		last = []stopMark{analysis}
	case ThinkPerhaps:
		last = append(slices.Clone(last), analysis)
	}
	return o.add(Node{Stops: last})
}

// harmonyCalls returns the marks of calls, with the channel before the tool's name or after it.
func harmonyCalls(plain, before int) []stopMark {
	return []stopMark{{Mark: "<|channel|>commentary to=functions.", Next: plain}, {Mark: " to=functions.", Next: before}}
}

// moreMessages appends what may follow a call of Harmony: the end, or another message, which ends the answer unless it is a call.
func (p *Plan) moreMessages(o *builder, plain, before int) int {
	last := p.after(o, p.CallSignals)
	if !p.Parallel || last != end {
		return last
	}
	rest := o.add(Node{Role: roleRest, Free: true, MayEnd: true})
	messages := harmonyCalls(plain, before)
	for _, mark := range []string{chat.HarmonyFinal, harmonyAnalysis, harmonyPreamble} {
		messages = append(messages, stopMark{Mark: mark, Next: rest})
	}
	return o.fixed(harmonyEnd, true, o.fixed(harmonyStart, true, o.add(Node{Stops: messages, MayEnd: true})))
}

// addressed appends a text that begins with whom it addresses: the user, a tool or, for reasoning, the model itself.
func (p *Plan) addressed(o *builder) int {
	var ways []int
	if len(p.Tools) > 0 {
		ways = append(ways, o.ways(o.fixed(p.Calls.Call, false, p.calls(o, "")))...)
	}
	switch {
	case p.Must:
	case p.Answer != nil:
		ways = append(ways, o.fixed(p.Calls.Answer, false, o.document(RoleContent, *p.Answer, p.after(o, p.Signals))))
	case p.Tags != nil:
		ways = append(ways, o.fixed(p.Calls.Answer, false, p.Tags.appendTo(o, p.fences(o))))
	default:
		stops := p.fences(o)
		if len(p.Tools) > 0 {
			stops = append(stops, stopMark{Mark: p.Calls.Next, Next: p.calls(o, "")})
			if p.Foreign {
				stops = append(stops, p.foreign(o)...)
			}
		}
		ways = append(ways, o.fixed(p.Calls.Answer, false, o.free(RoleContent, true, stops...)))
	}
	next := ways[0]
	if len(ways) > 1 {
		next = o.add(Node{Fork: ways})
	}
	if !p.Begun && (p.Think == ThinkNot || p.Think == ThinkPerhaps && p.constrained()) {
		return next
	}
	thoughts := o.free(RoleReasoning, !p.constrained(), p.enough(stopMark{Mark: p.Thought.Close, Next: o.fixed(p.Thought.Gap, false, next)})...)
	o.nodes[thoughts].Budget = p.Budget
	switch at := o.fixed(p.Thought.Open+p.Thought.Lead, false, thoughts); {
	case p.Begun:
		return thoughts
	case p.Think == ThinkCertainly:
		return at
	default:
		return o.add(Node{Fork: append(ways, at)})
	}
}

// opening returns the text of a first call up to the name of the tool.
func (p *Plan) opening() string {
	t := p.Calls.Triggers[0]
	return p.Calls.Lead + t.Mark + t.Then
}

// arguments appends the arguments of each tool.
func (p *Plan) arguments(o *builder, next int) (at []int) {
	for i, t := range p.Tools {
		n := o.document(roleArguments, t.Arguments, next)
		o.nodes[n].Tool = i
		at = append(at, n)
	}
	return at
}

// appendTo appends text that is free until a trigger, after which one of its tags follows. Free text also ends with the
// given stops.
func (s Tags) appendTo(o *builder, stops []stopMark) int {
	free := o.free(RoleContent, true)
	for _, trigger := range s {
		var rest []stopMark
		next := end
		for _, t := range trigger.Tags {
			close := free
			if t.End != "" {
				close = o.add(Node{Role: RoleContent, Stops: []stopMark{{Mark: t.End, Next: free}}})
			}
			document := o.document(RoleContent, t.Document, close)
			if mark := t.Begin[len(trigger.Mark):]; mark != "" {
				rest = append(rest, stopMark{Mark: mark, Next: document})
			} else {
				next = document
			}
		}
		if rest != nil {
			next = o.add(Node{Role: RoleContent, Stops: rest})
		}
		if next != end {
			stops = append(stops, stopMark{Mark: trigger.Mark, Next: next})
		}
	}
	o.nodes[free].Stops, o.nodes[free].Keep = stops, true
	return free
}
