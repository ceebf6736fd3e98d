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

// A Plan says what a text may consist of.
type Plan struct {
	Calls   chat.CallForm
	Thought chat.ThoughtForm

	Tools    []Tool               // that may be called
	ID       *constraint.Document // of a call, where the form writes them
	Must     bool                 // at least one must be
	Parallel bool                 // several may be
	Foreign  bool                 // they may be in the forms of other models
	Answer   *constraint.Document // the constraint of the answer; nil: none
	Tags     *Tags                // or what the answer may hold between tags
	Begun    bool                 // the prompt ends with the mark that opens reasoning
	Think    Thinking
	Budget   int    // the most tokens of one reasoning; 0: no bound of its own
	Over     string // what ends one that is over its budget, before its mark

	Signals     *constraint.Document // come after the answer; nil: nothing does
	CallSignals *constraint.Document // and after calls

	names   int  // 1 + the part where calls begin with a name; 0: there is none yet
	recasts bool // a call in the form of another model is read as the first of a list
}

// A Tool is one that may be called, with the constraint of its arguments: of the
// object or, if the form writes them one by one, of each.
type Tool struct {
	Name      string
	Arguments constraint.Document
	Each      []Argument
	Natural   constraint.Document // as JSON in whatever layout, in the forms of others
}

// Tags are documents that may stand in free text, each between its tags. A
// trigger in the free text obliges the model to continue with one of its tags.
type Tags []Trigger

// A Trigger is what tags begin with.
type Trigger struct {
	Mark string
	Tags []Tag
}

// A Tag is a document between a beginning, which its trigger begins, and an end.
type Tag struct {
	Begin, End string
	Document   constraint.Document
}

// Thinking says whether the model reasons before it answers.
type Thinking uint8

// What a plan says of reasoning.
const (
	ThinkNot     Thinking = iota
	ThinkPerhaps          // if the model wants to
	ThinkCertainly
)

// HasParts reports whether a text of the plan needs a layout: one that is only
// free text, or only a document, has none.
func (p *Plan) HasParts() bool {
	return p.Thought.Name == chat.Harmony || p.Signals != nil || p.Tools != nil || p.Tags != nil || p.Begun ||
		p.Think == ThinkCertainly || p.Think == ThinkPerhaps && p.Answer == nil
}

// Compile returns the constraint of the plan's texts, and the layout that reads them.
func (p *Plan) Compile(ctx context.Context, all *constraint.Sequences, v *vocab.Vocab) (engine.Constraint, *Layout, error) {
	p.Foreign = p.Foreign && p.hasForeign()
	o, first := p.build()
	c, l, err := o.compile(ctx, all, v, first)
	if errors.Is(err, decoder.ErrOpenings) {
		p.Foreign = false
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

// build returns the parts of the text and where it begins.
func (p *Plan) build() (*builder, int) {
	o := new(builder)
	p.recasts, p.names = false, 0
	if p.Thought.Name == chat.Harmony {
		return o, p.channels(o)
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

// constrained reports whether not everything may follow the reasoning.
func (p *Plan) constrained() bool { return p.Answer != nil || p.Must }

// gap returns what stands between reasoning and whatever follows it, and what else
// stands before an answer that is no call.
func (p *Plan) gap() (blank, mark string) {
	mark = strings.TrimLeft(p.Thought.Gap, " \n")
	return p.Thought.Gap[:len(p.Thought.Gap)-len(mark)], mark
}

// document appends the answer's document after what stands between it and reasoning.
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

// thinking appends reasoning up to its mark, or to a call: models forget the mark.
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

// enough returns the stop of reasoning, after the words for one that is over its budget.
func (p *Plan) enough(stop stopMark) []stopMark {
	if p.Budget == 0 || p.Over == "" {
		return []stopMark{stop}
	}
	over := stop
	over.Lead = p.Over
	return []stopMark{over, stop}
}

// rethink has free text go on to further reasoning, for which there is as large a budget: without one it would be text. It
// begins at the beginning of a line, as words about the mark seldom do.
func (p *Plan) rethink(o *builder, at int) {
	if p.Budget == 0 || p.constrained() || p.Tags != nil || at == end || !o.nodes[at].Free || o.nodes[at].Role != RoleContent {
		return
	}
	again := p.thinking(o, true, at)
	o.nodes[at].Stops = append(o.nodes[at].Stops, stopMark{Mark: "\n" + p.Thought.Open, Next: again})
}

// answer appends the answer: free text, a document, calls, or what may be
// either. Free text also ends with the given stops.
func (p *Plan) answer(o *builder, stops []stopMark) int {
	switch {
	case p.Must && p.Foreign && p.Parallel && p.Calls.Next != "" && p.CallSignals == nil:
		ways := []int{p.calls(o, p.opening()), p.foreignFirst(o)}
		if p.Calls.Lead != "" { // it isn't forced here, and models leave it out
			ways = append(ways, p.calls(o, strings.TrimPrefix(p.opening(), p.Calls.Lead)))
		}
		return o.add(Node{Fork: ways})
	case p.Must:
		return p.calls(o, p.opening())
	case p.Answer != nil && len(p.Tools) > 0:
		calls := p.calls(o, p.opening())
		return o.add(Node{Fork: []int{calls, p.document(o)}})
	case p.Answer != nil:
		return p.document(o)
	case p.Tags != nil:
		return p.Tags.appendTo(o, p.fences(o))
	}
	stops = append(stops, p.fences(o)...)
	if len(p.Tools) > 0 {
		for _, t := range p.Calls.Triggers {
			stops = append(stops, stopMark{Mark: t.Mark, AtStart: t.AtStart, Next: p.calls(o, t.Then)})
		}
		if p.Foreign {
			stops = append(stops, p.foreign(o)...)
		}
	}
	return o.free(RoleContent, true, stops...)
}

// The marks of Harmony. An assistant's message begins after harmonyStart.
const (
	harmonyStart    = "<|start|>assistant"
	harmonyEnd      = "<|end|>"
	harmonyAnalysis = "<|channel|>analysis<|message|>"
	HarmonyFinal    = "<|channel|>final<|message|>"
	harmonyPreamble = "<|channel|>commentary<|message|>"
)

// channels appends the messages that Harmony's models write: reasoning in the
// channel analysis, words before calls and calls in commentary, the answer in
// final. The end of a generation ends a call and the answer.
func (p *Plan) channels(o *builder) int {
	var last []stopMark // what ends the text
	if len(p.Tools) > 0 {
		plain, before := o.add(Node{}), o.add(Node{})
		var after, first []stopMark
		for i, at := range p.arguments(o, p.after(o, p.CallSignals)) {
			name := p.Tools[i].Name
			after = append(after, stopMark{Mark: name + " <|constrain|>json<|message|>", Next: at}, stopMark{Mark: name + "<|message|>", Next: at})
			first = append(first, stopMark{Mark: name + "<|channel|>commentary <|constrain|>json<|message|>", Next: at}, stopMark{Mark: name + "<|channel|>commentary json<|message|>", Next: at})
		}
		o.nodes[plain].Stops, o.nodes[before].Stops = after, first
		last = append(last, stopMark{Mark: "<|channel|>commentary to=functions.", Next: plain}, stopMark{Mark: " to=functions.", Next: before})
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
		last = append([]stopMark{{Mark: HarmonyFinal, Next: final}}, last...)
	}
	// again appends another message after one that is free text.
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

// opening returns the text of a first call before the name of the tool.
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

// appendTo appends the text: free until a trigger, which one of its tags
// continues. It also ends with the given stops.
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
