// Package layout says of which parts a generated text is made, reasoning, answer, tool calls and signals: it plans them,
// compiles them into one constraint, and reads the text back by them, so that nothing is parsed out of a text.
//
//	plan.go      a Plan → the parts, and what may follow each
//	parts.go     the parts → a constraint and a Layout
//	read.go      a Layout and a text → a Message, whole or as pieces of a stream
//	signals.go   where signals stand, and how they are taken out of messages and tokens
package layout

import (
	"context"
	"encoding/json"

	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/vocab"
)

// A builder says of what parts a text is made and what each of them means. It
// becomes a decoder.Sequence, in which tokens that add no text stand in marks by
// their names.
type builder struct {
	nodes []Node
}

// A Node is a part of a text, as decoder.Segment has it.
type Node struct {
	Role   Role
	Tool   int    // of a part of a call
	Form   string // of arguments: the form of the call, if it isn't the model's own
	Key    string // of the value of an argument: its name
	Typed  bool   // of a text: a value of another type where it is one
	Stops  []stopMark
	Free   bool // or, with stops, one of them is all of the text
	Fork   []int
	Doc    string // the key of document
	MayEnd bool
	Keep   bool // of free text: what ends it belongs to it
	Fenced bool // of signals: free text stands before them, and a fence
	Budget int
	Next   int

	document *constraint.Document
}

// stopMark is a decoder.Stop.
type stopMark struct {
	Mark    string
	Next    int
	AtStart bool
	Lead    string         // before Mark: text that belongs to what is before it
	Steps   []decoder.Step // in place of Mark
	AtLine  bool
}

// A Role is what a part of a text means to its reader.
type Role uint8

// The roles.
const (
	roleMark      Role = iota // none: marks around other parts
	RoleContent               // the answer
	RoleReasoning             // what the model thinks before it answers
	roleArguments             // the arguments of a call
	roleNames                 // the name of the tool that is called
	roleID                    // the id of a call
	roleBetween               // within a call whose arguments are written one by one: no text
	roleValue                 // there, a value that is JSON
	roleText                  // there, a string as it stands
	roleName                  // there, a value with a name: True
	roleSignals               // the model's assessment of its answer, which is not shown
)

// end is the number of what follows the last part.
const end = decoder.End

// add appends a node and returns its number.
func (o *builder) add(n Node) int {
	o.nodes = append(o.nodes, n)
	return len(o.nodes) - 1
}

// fixed appends text that has to be written; with none it returns what follows.
func (o *builder) fixed(mark string, mayEnd bool, next int) int {
	if mark == "" {
		return next
	}
	return o.add(Node{Stops: []stopMark{{Mark: mark, Next: next}}, MayEnd: mayEnd})
}

// free appends text without a constraint.
func (o *builder) free(r Role, mayEnd bool, stops ...stopMark) int {
	return o.add(Node{Role: r, Free: true, MayEnd: mayEnd, Stops: stops})
}

// document appends a text of a schema or grammar.
func (o *builder) document(r Role, d constraint.Document, next int) int {
	return o.add(Node{Role: r, Doc: d.Key, document: &d, Next: next})
}

// compile returns the constraint. The text begins with the node first.
func (o *builder) compile(ctx context.Context, all *constraint.Sequences, v *vocab.Vocab, first int) (engine.Constraint, *Layout, error) {
	nodes := o.nodes
	if first != 0 {
		nodes = moved(nodes, first)
	}
	key, err := json.Marshal(nodes)
	if err != nil {
		return nil, nil, err
	}
	c, err := all.Get(ctx, key, func() ([]constraint.Segment, error) { return segments(v, nodes) })
	if err != nil {
		return nil, nil, err
	}
	return c, &Layout{Nodes: nodes}, nil
}

// moved returns nodes with another one first.
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

// segments returns nodes as the decoder wants them.
func segments(v *vocab.Vocab, nodes []Node) ([]constraint.Segment, error) {
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
			if x.Grammar, err = n.document.Fresh(); err != nil {
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
