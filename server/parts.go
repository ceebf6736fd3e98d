package server

import (
	"crypto/rand"
	"strings"

	"stencil/engine"
)

// A layout says what the parts of a text mean; see outline. A nil layout is that of
// a text which is all answer.
type layout struct {
	nodes []node
	tools []compiledTool
	ids   int // as chat.CallForm has it
}

// isDocument reports whether a part is the constrained answer.
func (l *layout) isDocument(segment int) bool {
	return segment >= 0 && l.nodes[segment].Role == roleContent && l.nodes[segment].Doc != ""
}

// hasFree reports whether some of the answer is free text.
func (l *layout) hasFree() bool {
	if l == nil {
		return false
	}
	for _, n := range l.nodes {
		if n.Free && n.Role == roleContent {
			return true
		}
	}
	return false
}

// A message is a text, read.
type message struct {
	Reasoning string
	Content   string
	Calls     []call
	Signals   string // what stood in their place, a line break before it
}

// A call is a call of a tool.
type call struct {
	ID        string
	Name      string
	Arguments string // JSON
}

// The kinds of pieces.
type pieceKind uint8

const (
	pieceContent   pieceKind = iota
	pieceReasoning           // what the model thinks before it answers
	pieceCall                // a call begins: id and name
	pieceArguments           // a part of the JSON of the last call's arguments
	pieceCallEnd             // the last call's arguments are complete
	pieceSignals             // what the model thinks of its answer; no sink sees it
)

// A piece is a part of a text that has been read.
type piece struct {
	kind pieceKind
	text string
	call int // the number of the call, from 0
	id   string
	name string
}

// add adds a piece.
func (m *message) add(p piece) {
	switch p.kind {
	case pieceContent:
		m.Content += p.text
	case pieceReasoning:
		m.Reasoning += p.text
	case pieceCall:
		m.Calls = append(m.Calls, call{ID: p.id, Name: p.name})
	case pieceArguments:
		m.Calls[len(m.Calls)-1].Arguments += p.text
	case pieceSignals:
		m.Signals += p.text
	}
}

// read reads a whole text.
func (l *layout) read(text string, parts []engine.Passage) message {
	var m message
	r := newReader(l)
	for _, p := range append(r.add(text, parts), r.end()...) {
		m.add(p)
	}
	return m
}

// A reader reads a text as it comes. What stands between the parts (marks, the names
// around a call's arguments) is in no piece.
type reader struct {
	layout *layout
	visit  int // the part that was read last
	role   role
	calls  int
	blank  bool // nothing but blanks has come since the thoughts began or ended
}

func newReader(l *layout) *reader { return &reader{layout: l, visit: -1} }

// add reads on: what has come of a text in parts, or of one without.
func (r *reader) add(text string, parts []engine.Passage) (out []piece) {
	if r.layout == nil {
		if text == "" {
			return nil
		}
		return []piece{{kind: pieceContent, text: text}}
	}
	for _, p := range parts {
		n := &r.layout.nodes[p.Segment]
		if p.Visit != r.visit {
			out = append(out, r.end()...)
			r.visit = p.Visit
			if n.Role == roleReasoning || r.role == roleReasoning {
				r.blank = true
			}
			if n.Role != roleMark {
				r.role = n.Role
			}
			if n.Role == roleArguments {
				out = append(out, piece{kind: pieceCall, call: r.calls, id: r.layout.newCallID(), name: r.layout.tools[n.Tool].Name})
			}
		}
		if r.blank && n.Doc == "" && n.Role != roleSignals {
			p.Text = strings.TrimLeft(p.Text, " \n")
		}
		if p.Text == "" {
			continue
		}
		switch n.Role {
		case roleContent:
			out = append(out, piece{kind: pieceContent, text: p.Text})
		case roleReasoning:
			out = append(out, piece{kind: pieceReasoning, text: p.Text})
		case roleArguments:
			out = append(out, piece{kind: pieceArguments, call: r.calls, text: p.Text})
		case roleSignals:
			out = append(out, piece{kind: pieceSignals, text: p.Text})
		default:
			continue
		}
		r.blank = false
	}
	return out
}

// end says that the last part is over.
func (r *reader) end() []piece {
	if r.role != roleArguments {
		return nil
	}
	r.role = roleMark
	r.calls++
	return []piece{{kind: pieceCallEnd, call: r.calls - 1}}
}

// newCallID returns an identifier of a call, as long as the model wants it.
func (l *layout) newCallID() string {
	if l.ids == 0 {
		return newID("call_")
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, l.ids)
	rand.Read(b) // never fails
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return string(b)
}
