package server

import (
	"stencil/agent/signals"
	"stencil/engine"
	"stencil/schema"
)

// This file puts signals into the outline of a text: after a document or calls a
// line break and a document of signals, after free text the fence of a block,
// which is looked for, and then the same document. What belongs to signals has a
// role of its own and is not shown.

// noted is how the signals of a generation are got.
type noted struct {
	constrained bool // the text has a place for them that a mask sees to
	wrapped     bool // an upstream keeps it beside the answer, in an object of both
	room        int  // tokens of the shortest signals, which max_tokens was raised by
}

// The marks before signals.
const (
	signalsBreak = "\n"
	signalsFence = "```" + signals.Info + "\n"
)

// signalsDocument compiles the schema of signals with some tools.
func signalsDocument(m *served, tools []string) (*engine.Document, error) {
	compiled, err := m.schemas.Compile(signals.Schema(tools), schema.Options{Strict: true, Whitespace: schema.Compact})
	if err != nil {
		return nil, err
	}
	d := compiled.Document()
	return &d, nil
}

// after returns what follows an answer, or calls: signals, if they are wanted, else
// the end of the text.
func (p *plan) after(o *outline, d *engine.Document) int {
	if d == nil {
		return end
	}
	document := o.document(roleSignals, *d, end)
	return o.add(node{Role: roleSignals, Stops: []stopMark{{Mark: signalsBreak, Next: document}}})
}

// fences returns the marks with which free text goes over to signals.
func (p *plan) fences(o *outline) []stopMark {
	if p.signals == nil {
		return nil
	}
	document := o.document(roleSignals, *p.signals, end)
	o.nodes[document].Fenced = true
	return []stopMark{{Mark: "\n" + signalsFence, Next: document}, {Mark: signalsFence, Next: document, AtStart: true}}
}

// planSignals gives a plan the documents of signals, and a document's budget room
// for them.
func (g *generation) planSignals(p *plan) error {
	if g.noted == nil {
		return nil
	}
	tools := g.rule.rated()
	var err error
	if p.signals, err = signalsDocument(g.model, nil); err != nil {
		return err
	}
	if p.callSignals = p.signals; len(tools) > 0 {
		if p.callSignals, err = signalsDocument(g.model, tools); err != nil {
			return err
		}
	}
	g.noted.constrained = true
	if g.rule.masked() && !g.request.Truncate {
		if g.rule.format != nil {
			tools = nil // an answer without calls has the shortest
		}
		g.noted.room = len(g.model.text.Vocab().TokenizeText(nil, []byte(shortestSignals(tools))))
		g.request.MaxTokens += g.noted.room
	}
	return nil
}
