// Package layout describes the parts of a generated text: reasoning, answer, tool calls and signals. It plans them,
// compiles them into one constraint, and reads the text back by them, so that no text has to be parsed.
//
//	plan.go      a Plan → the parts, and what may follow each
//	parts.go     the parts → a constraint and a Layout
//	read.go      a Layout and a text → a Message, whole or as pieces of a stream
//	signals.go   where signals stand, and how they are removed from messages and tokens
package layout

import (
	"context"
	"encoding/json"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation/nested"
	"github.com/stencil-json/stencil/vocab"
)

// A builder collects the parts of a text and their meaning. It becomes a decoder.Sequence, in whose marks tokens
// without text are written by name.
type builder struct {
	nodes []Node
}

// A Node is a part of a text; it corresponds to a decoder.Segment. As JSON, nodes are the key under which sequences are kept.
type Node struct {
	Role     Role       `json:",omitzero"`
	Tool     int        `json:",omitzero"` // of a part of a call: the tool's index
	Form     string     `json:",omitzero"` // of arguments: the call's form, if not the model's own
	Key      string     `json:",omitzero"` // of an argument's value: its name
	Types    []string   `json:",omitzero"` // of a text: read as a value of one of these types if it is one
	Stops    []stopMark `json:",omitzero"`
	Free     bool       `json:",omitzero"` // free text; with stops, one of them may also be the whole text
	Fork     []int      `json:",omitzero"`
	Doc      string     `json:",omitzero"` // the key of document
	MayEnd   bool       `json:",omitzero"`
	Foreign  bool       `json:",omitzero"` // an alternative that is a call in another model's form
	Document bool       `json:",omitzero"` // an alternative that is the document
	Keep     bool       `json:",omitzero"` // of free text: the mark that ends it belongs to it
	Fenced   bool       `json:",omitzero"` // of signals: they follow free text and a fence
	Budget   int        `json:",omitzero"`
	Next     int        `json:",omitzero"`

	document *constraint.Document
	notation *chat.Notation // of an argument's value
	shape    *nested.Shape
	ends     *Node // of the text after a value: the value
	python   bool  // of a text: values of Types have Python's names
}

// A stopMark corresponds to a decoder.Stop.
type stopMark struct {
	Mark    string         `json:",omitzero"`
	Next    int            `json:",omitzero"`
	AtStart bool           `json:",omitzero"`
	Lead    string         `json:",omitzero"` // text before Mark that belongs to the part before
	Steps   []decoder.Step `json:",omitzero"` // replace Mark
	AtLine  bool           `json:",omitzero"`
	Foreign bool           `json:",omitzero"` // a call in another model's form
}

// A Role is the meaning of a part of a text.
type Role uint8

// The roles.
const (
	roleMark      Role = iota // none: marks around other parts
	RoleContent               // the answer
	RoleReasoning             // the model's reasoning
	roleArguments             // the arguments of a call
	roleNames                 // the name of the called tool
	roleID                    // the id of a call
	roleBetween               // within a call whose arguments are written one by one: not part of a value
	roleValue                 // within such a call, a JSON value
	roleText                  // within such a call, a verbatim string
	roleNested                // within such a call, a value in the family's own notation
	roleName                  // within such a call, a named value such as True
	roleSignals               // the model's signals, which are not shown
	roleShunned               // of a call that the text must not begin with
	roleRest                  // after a call in another form: not shown, and ends the answer if it isn't another call
)

// end is the node after the last part.
const end = decoder.End

// add appends a node and returns its number.
func (o *builder) add(n Node) int {
	o.nodes = append(o.nodes, n)
	return len(o.nodes) - 1
}

// fixed appends required text; without any it returns next.
func (o *builder) fixed(mark string, mayEnd bool, next int) int {
	if mark == "" {
		return next
	}
	return o.add(Node{Stops: []stopMark{{Mark: mark, Next: next}}, MayEnd: mayEnd})
}

// free appends unconstrained text.
func (o *builder) free(r Role, mayEnd bool, stops ...stopMark) int {
	return o.add(Node{Role: r, Free: true, MayEnd: mayEnd, Stops: stops})
}

// document appends a text that a schema or grammar constrains.
func (o *builder) document(r Role, d constraint.Document, next int) int {
	return o.add(Node{Role: r, Doc: d.Key, document: &d, Next: next})
}

// compile compiles the constraint of a text that begins with the node first.
func (o *builder) compile(ctx context.Context, all *constraint.Sequences, v *vocab.Vocab, first int) (engine.Constraint, *Layout, error) {
	nodes := o.nodes
	if first != 0 {
		nodes = moved(nodes, first)
	}
	key, err := json.Marshal(nodes)
	if err != nil {
		return nil, nil, err
	}
	c, err := all.Get(ctx, key, func(ctx context.Context) ([]constraint.Segment, error) { return segments(ctx, v, nodes) })
	if err != nil {
		return nil, nil, err
	}
	return c, &Layout{Nodes: nodes}, nil
}

// moved returns nodes with the node first moved to the front.
func moved(nodes []Node, first int) []Node {
	swap := func(i int) int {
		switch i {
		case first:
			return 0
		case 0:
			return first
		}
		return i
	}
	out := make([]Node, len(nodes))
	for i, n := range nodes {
		n.Stops = append([]stopMark(nil), n.Stops...)
		for k := range n.Stops {
			n.Stops[k].Next = swap(n.Stops[k].Next)
		}
		n.Fork = append([]int(nil), n.Fork...)
		for k := range n.Fork {
			n.Fork[k] = swap(n.Fork[k])
		}
		n.Next = swap(n.Next)
		out[swap(i)] = n
	}
	return out
}

// segments converts nodes to segments for the decoder.
func segments(ctx context.Context, v *vocab.Vocab, nodes []Node) ([]constraint.Segment, error) {
	out := make([]constraint.Segment, len(nodes))
	for i, n := range nodes {
		var stops []decoder.Stop
		for _, s := range n.Stops {
			stop := decoder.Stop{Next: s.Next, AtStart: s.AtStart, Steps: s.Steps, AtLine: s.AtLine}
			if s.Steps == nil {
				stop.Mark = constraint.Pieces(v, s.Mark)
				if s.Lead != "" {
					stop.Mark, stop.Kept = append([]decoder.Piece{{Text: s.Lead}}, stop.Mark...), len(s.Lead)
				}
			}
			stops = append(stops, stop)
		}
		x := decoder.Segment{MayEnd: n.MayEnd, Next: n.Next}
		switch {
		case n.Free:
			x.Free = &decoder.Free{Stops: stops, MayEnd: n.MayEnd, Budget: n.Budget}
		case n.document != nil:
			var err error
			if x.Grammar, err = n.document.Fresh(ctx); err != nil {
				return nil, err
			}
		case len(n.Fork) > 0:
			x.Fork = n.Fork
		default:
			x.OneOf = stops
		}
		out[i] = constraint.Segment{Segment: x, Keep: n.Keep}
	}
	return out, nil
}
