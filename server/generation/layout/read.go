package layout

import (
	"cmp"
	"crypto/rand"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/wire"
)

// A Layout says what the parts of a text mean; see builder. A nil layout is that of
// a text which is all answer.
type Layout struct {
	Nodes []Node
	tools []string
	ids   int // as chat.CallForm has it
	form  chat.ArgumentForm

	recasts bool // a call in the form of another model is read as the first of a list

	lateIDs bool // the model writes the id of a call after its arguments

	// MaxCalls is how many calls are read; 0: all of them. Those that equal an
	// earlier one are not, nor what comes after them, unless Repeats.
	MaxCalls int
	Repeats  bool
}

// IsDocument reports whether a part is the constrained answer.
func (l *Layout) IsDocument(segment int) bool {
	return segment >= 0 && l.Nodes[segment].Role == RoleContent && l.Nodes[segment].Doc != ""
}

// HasFree reports whether some of the answer is free text.
func (l *Layout) HasFree() bool {
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
	Form      string // in which calls were written, where it isn't the model's own
}

// A Call is a tool call.
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
	PieceSignals                    // what the model thinks of its answer; no sink sees it
)

// A Piece is a part of a text that has been read.
type Piece struct {
	Kind PieceKind
	Text string
	Call int // the number of the call, from 0
	ID   string
	Name string
	Form string // of a call that isn't in the model's own: the one that it is in
}

// Add adds a piece.
func (m *Message) Add(p Piece) {
	switch p.Kind {
	case PieceContent:
		m.Content += p.Text
	case PieceReasoning:
		m.Reasoning += p.Text
	case PieceCall:
		m.Calls = append(m.Calls, Call{ID: p.ID, Name: p.Name})
		m.Form = cmp.Or(m.Form, p.Form)
	case PieceArguments:
		m.Calls[len(m.Calls)-1].Arguments += p.Text
	case PieceSignals:
		m.Signals += p.Text
	}
}

// Read reads a whole text.
func (l *Layout) Read(text string, parts []engine.Passage) Message {
	var m Message
	r := NewReader(l)
	for _, p := range append(r.Add(text, parts), r.End()...) {
		m.Add(p)
	}
	return m
}

// A Reader reads a text as it comes. What stands between the parts (marks, the names
// around a call's arguments) is in no piece.
type Reader struct {
	layout *Layout
	visit  int // the part that was read last
	role   Role
	calls  int
	blank  bool // nothing but blanks has come since reasoning began or ended

	fresh   bool   // the arguments begin
	name    string // of the tool, and what stands after it
	id      string // that the model has written
	each    reading
	waiting []Piece // of a call whose id comes after it
	limits  callLimits
}

// NewReader returns a reader of one text.
func NewReader(l *Layout) *Reader { return &Reader{layout: l, visit: -1} }

// Add reads on: what has come of a text in parts, or of one without.
func (r *Reader) Add(text string, parts []engine.Passage) []Piece {
	if r.layout == nil {
		if text == "" {
			return nil
		}
		return []Piece{{Kind: PieceContent, Text: text}}
	}
	return r.limits.pass(r.layout, r.read(parts))
}

// Over reports whether no further call is read.
func (r *Reader) Over() bool { return r.limits.over || r.limits.full(r.layout) }

// Watch returns what ends a text after the last call that is read.
func (l *Layout) Watch() func(engine.Passage) bool {
	r := NewReader(l)
	return func(p engine.Passage) bool {
		r.Add("", []engine.Passage{p})
		return r.Over()
	}
}

func (r *Reader) read(parts []engine.Passage) (out []Piece) {
	for _, p := range parts {
		n := &r.layout.Nodes[p.Segment]
		if p.Visit != r.visit {
			out = append(out, r.enter(n)...)
			r.visit = p.Visit
		}
		if r.blank && n.Doc == "" && (n.Role == RoleContent || n.Role == RoleReasoning || n.Role == roleMark) {
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
			if r.fresh { // after a key in another form there may be white space
				p.Text = strings.TrimLeft(p.Text, " \n\t\r")
			}
			r.fresh = r.fresh && p.Text == ""
			out = append(out, r.arguments(p.Text)...)
		case roleValue, roleText, roleName:
			out = append(out, r.arguments(r.each.add(p.Text))...)
		case roleNames:
			r.name += p.Text
		case roleID:
			r.id += p.Text
		case roleSignals:
			out = append(out, Piece{Kind: PieceSignals, Text: p.Text})
		default:
			continue
		}
		r.blank = false
	}
	return out
}

// enter says that a part begins.
func (r *Reader) enter(n *Node) (out []Piece) {
	within := n.Role == roleBetween || n.Role == roleValue || n.Role == roleText || n.Role == roleName
	if !within && n.Role != roleID {
		out = r.end()
	}
	if n.Role == RoleReasoning || r.role == RoleReasoning {
		r.blank = true
	}
	if n.Role == roleMark && r.waiting != nil && r.id != "" {
		out = append(out, r.withID()...)
	}
	if n.Role != roleMark && n.Role != roleID && n.Role != roleNames {
		r.role = n.Role
	}
	switch {
	case n.Role == roleNames:
		r.name = ""
	case n.Role == roleArguments:
		out = append(out, r.begin(r.layout.tools[n.Tool], n.Form)...)
	case within:
		out = append(out, r.beginEach()...)
		out = append(out, r.arguments(r.each.enter(n))...)
	}
	return out
}

// beginEach says that a call begins whose arguments are written one by one, if that was
// not said before: there may be none.
func (r *Reader) beginEach() []Piece {
	if r.each.open || r.name == "" {
		return nil
	}
	name := ""
	for _, tool := range r.layout.tools {
		if strings.HasPrefix(r.name, tool) && len(tool) > len(name) {
			name = tool
		}
	}
	r.each.open, r.name = true, ""
	return r.begin(name, "")
}

// begin says that a call begins.
func (r *Reader) begin(name, form string) []Piece {
	id := r.id
	if id == "" {
		id = r.layout.newCallID()
	}
	r.fresh = true
	piece := Piece{Kind: PieceCall, Call: r.calls, ID: id, Name: name, Form: form}
	if r.layout.lateIDs {
		r.waiting = []Piece{piece}
		return nil
	}
	r.id, r.name = "", ""
	return []Piece{piece}
}

// arguments returns a piece of the last call's arguments, if it isn't to wait for the
// id.
func (r *Reader) arguments(text string) []Piece {
	if text == "" {
		return nil
	}
	piece := Piece{Kind: PieceArguments, Call: r.calls, Text: text}
	if r.waiting != nil {
		r.waiting = append(r.waiting, piece)
		return nil
	}
	return []Piece{piece}
}

// withID returns a call whose id is known now.
func (r *Reader) withID() []Piece {
	out := r.waiting
	if r.id != "" {
		out[0].ID = r.id
	}
	r.waiting, r.id, r.name = nil, "", ""
	return out
}

// End says that the last part is over, and the text.
func (r *Reader) End() []Piece {
	if r.layout == nil {
		return nil
	}
	out := r.end()
	if r.waiting != nil {
		out = append(out, r.withID()...)
	}
	return append(r.limits.pass(r.layout, out), r.limits.rest()...)
}

func (r *Reader) end() (out []Piece) {
	if r.layout != nil && r.layout.form.Tagged {
		out = r.beginEach() // one without arguments
	}
	switch {
	case r.each.open:
		out = append(out, r.arguments(r.each.end())...)
	case r.role != roleArguments:
		return nil
	}
	r.role = roleMark
	r.calls++
	piece := Piece{Kind: PieceCallEnd, Call: r.calls - 1}
	if r.waiting != nil {
		r.waiting = append(r.waiting, piece)
		return out
	}
	return append(out, piece)
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

// CallPieces are a message's calls as a stream has them.
func (m *Message) CallPieces() (out []Piece) {
	for i, c := range m.Calls {
		out = append(out, Piece{Kind: PieceCall, Call: i, ID: c.ID, Name: c.Name}, Piece{Kind: PieceArguments, Call: i, Text: c.Arguments}, Piece{Kind: PieceCallEnd, Call: i})
	}
	return out
}
