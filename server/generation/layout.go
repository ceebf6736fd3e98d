package generation

import (
	"encoding/json"

	"stencil/decoder"
	"stencil/engine"
	"stencil/vocab"
)

// A builder says of what parts a text is made and what each of them means. It
// becomes a decoder.Sequence, in which tokens that add no text stand in marks by
// their names.
type builder struct {
	nodes []Node
}

// A Node is a part of a text, as decoder.Segment has it.
type Node struct {
	Role   role
	Tool   int // of roleArguments
	Stops  []stopMark
	Free   bool // or, with stops, one of them is all of the text
	Fork   []int
	Doc    string // the key of document
	MayEnd bool
	Keep   bool // of free text: what ends it belongs to it
	Fenced bool // of signals: free text stands before them, and a fence
	Budget int
	Next   int

	document *engine.Document
}

// stopMark is a decoder.Stop.
type stopMark struct {
	Mark    string
	Next    int
	AtStart bool
}

// A role is what a part of a text means to who reads the answer.
type role uint8

const (
	roleMark      role = iota // nothing
	RoleContent               // the answer
	RoleReasoning             // what was thought before it
	roleArguments             // the arguments of a call
	roleSignals               // what the model thinks of its answer, which is not shown
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
func (o *builder) free(r role, mayEnd bool, stops ...stopMark) int {
	return o.add(Node{Role: r, Free: true, MayEnd: mayEnd, Stops: stops})
}

// document appends a text of a schema or grammar.
func (o *builder) document(r role, d engine.Document, next int) int {
	return o.add(Node{Role: r, Doc: d.Key, document: &d, Next: next})
}

// compile returns the constraint. The text begins with the node first.
func (o *builder) compile(all *engine.Sequences, v *vocab.Vocab, first int) (engine.Constraint, *Layout, error) {
	nodes := o.nodes
	if first != 0 {
		nodes = moved(nodes, first)
	}
	key, err := json.Marshal(nodes)
	if err != nil {
		return nil, nil, err
	}
	c, err := all.Get(key, func() ([]engine.Segment, error) { return segments(v, nodes) })
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
func segments(v *vocab.Vocab, nodes []Node) ([]engine.Segment, error) {
	out := make([]engine.Segment, len(nodes))
	for i, n := range nodes {
		var stops []decoder.Stop
		for _, s := range n.Stops {
			stops = append(stops, decoder.Stop{Mark: engine.Pieces(v, s.Mark), Next: s.Next, AtStart: s.AtStart})
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
		out[i] = engine.Segment{Segment: x, Keep: n.Keep}
	}
	return out, nil
}
