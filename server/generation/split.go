package generation

import (
	"crypto/rand"
	"strings"

	"stencil/engine"
	"stencil/server/wire"
)

// A Layout says what the parts of a text mean; see builder. A nil layout is that of
// a text which is all answer.
type Layout struct {
	Nodes []Node
	tools []CompiledTool
	ids   int // as chat.CallForm has it
}

// isDocument reports whether a part is the constrained answer.
func (l *Layout) isDocument(segment int) bool {
	return segment >= 0 && l.Nodes[segment].Role == RoleContent && l.Nodes[segment].Doc != ""
}

// hasFree reports whether some of the answer is free text.
func (l *Layout) hasFree() bool {
	if l == nil {
		return false
	}
	for _, n := range l.Nodes {
		if n.Free && n.Role == RoleContent {
			return true
		}
	}
	return false
}

// A Message is a text, read.
type Message struct {
	Reasoning string
	Content   string
	Calls     []Call
	Signals   string // what stood in their place, a line break before it
}

// A Call is a call of a tool.
type Call struct {
	ID        string
	Name      string
	Arguments string // JSON
}

// The kinds of pieces.
type PieceKind uint8

const (
	PieceContent   PieceKind = iota // the answer
	PieceReasoning                  // what the model thinks before it answers
	PieceCall                       // a call begins: id and name
	PieceArguments                  // a part of the JSON of the last call's arguments
	PieceCallEnd                    // the last call's arguments are complete
	pieceSignals                    // what the model thinks of its answer; no sink sees it
)

// A Piece is a part of a text that has been read.
type Piece struct {
	Kind PieceKind
	Text string
	Call int // the number of the call, from 0
	ID   string
	Name string
}

// add adds a piece.
func (m *Message) add(p Piece) {
	switch p.Kind {
	case PieceContent:
		m.Content += p.Text
	case PieceReasoning:
		m.Reasoning += p.Text
	case PieceCall:
		m.Calls = append(m.Calls, Call{ID: p.ID, Name: p.Name})
	case PieceArguments:
		m.Calls[len(m.Calls)-1].Arguments += p.Text
	case pieceSignals:
		m.Signals += p.Text
	}
}

// read reads a whole text.
func (l *Layout) read(text string, parts []engine.Passage) Message {
	var m Message
	r := newReader(l)
	for _, p := range append(r.add(text, parts), r.end()...) {
		m.add(p)
	}
	return m
}

// A reader reads a text as it comes. What stands between the parts (marks, the names
// around a call's arguments) is in no piece.
type reader struct {
	layout *Layout
	visit  int // the part that was read last
	role   role
	calls  int
	blank  bool // nothing but blanks has come since the thoughts began or ended
}

func newReader(l *Layout) *reader { return &reader{layout: l, visit: -1} }

// add reads on: what has come of a text in parts, or of one without.
func (r *reader) add(text string, parts []engine.Passage) (out []Piece) {
	if r.layout == nil {
		if text == "" {
			return nil
		}
		return []Piece{{Kind: PieceContent, Text: text}}
	}
	for _, p := range parts {
		n := &r.layout.Nodes[p.Segment]
		if p.Visit != r.visit {
			out = append(out, r.end()...)
			r.visit = p.Visit
			if n.Role == RoleReasoning || r.role == RoleReasoning {
				r.blank = true
			}
			if n.Role != roleMark {
				r.role = n.Role
			}
			if n.Role == roleArguments {
				out = append(out, Piece{Kind: PieceCall, Call: r.calls, ID: r.layout.newCallID(), Name: r.layout.tools[n.Tool].Name})
			}
		}
		if r.blank && n.Doc == "" && n.Role != roleSignals {
			p.Text = strings.TrimLeft(p.Text, " \n")
		}
		if p.Text == "" {
			continue
		}
		switch n.Role {
		case RoleContent:
			out = append(out, Piece{Kind: PieceContent, Text: p.Text})
		case RoleReasoning:
			out = append(out, Piece{Kind: PieceReasoning, Text: p.Text})
		case roleArguments:
			out = append(out, Piece{Kind: PieceArguments, Call: r.calls, Text: p.Text})
		case roleSignals:
			out = append(out, Piece{Kind: pieceSignals, Text: p.Text})
		default:
			continue
		}
		r.blank = false
	}
	return out
}

// end says that the last part is over.
func (r *reader) end() []Piece {
	if r.role != roleArguments {
		return nil
	}
	r.role = roleMark
	r.calls++
	return []Piece{{Kind: PieceCallEnd, Call: r.calls - 1}}
}

// newCallID returns an identifier of a call, as long as the model wants it.
func (l *Layout) newCallID() string {
	if l.ids == 0 {
		return wire.NewID("call_")
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, l.ids)
	rand.Read(b) // never fails
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return string(b)
}
