package layout

import (
	"cmp"
	"crypto/rand"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/wire"
)

// A Layout gives the meaning of the parts of a text; see builder. A nil layout is that of
// a text that is all answer.
type Layout struct {
	Nodes []Node
	tools []string
	ids   int // as in chat.CallForm
	form  chat.ArgumentForm

	recasts bool // a call in another model's form is recast as the first of a list
	lateIDs bool // the model writes a call's id after its arguments

	// MaxCalls limits the calls that are read; 0: no limit. Unless Repeats is set, a call
	// that repeats an earlier one is dropped with everything after it. A call in another form
	// than the model's own also repeats those in Made, which have been answered.
	MaxCalls int
	Repeats  bool
	Made     []chat.ToolCall
	Beside   bool // calls in the model's own form do so, too
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

// A Message is a text split into its parts.
type Message struct {
	Reasoning string
	Content   string
	Calls     []Call
	Signals   string // the signals' text, with a preceding line break
	Form      string // form of the calls, if not the model's own
}

// A Call is a tool call.
type Call struct {
	ID        string
	Name      string
	Arguments string // JSON
}

// A PieceKind is the kind of a piece.
type PieceKind uint8

const (
	PieceContent   PieceKind = iota // the answer
	PieceReasoning                  // the model's reasoning
	PieceCall                       // a call begins: its id and name
	PieceArguments                  // a part of the current call's arguments, as JSON
	PieceCallEnd                    // the current call's arguments are complete
	PieceSignals                    // the model's signals; not sent to sinks
	pieceOver                       // no call follows; in no answer
)

// A Piece is a part of a text as it is read.
type Piece struct {
	Kind PieceKind
	Text string
	Call int // index of the call, from 0
	ID   string
	Name string
	Form string // form of a call, if not the model's own
}

// Add appends a piece to the message.
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

// Read reads a complete text.
func (l *Layout) Read(text string, parts []engine.Passage) Message {
	var m Message
	r := NewReader(l)
	for _, p := range append(r.Add(text, parts), r.End()...) {
		m.Add(p)
	}
	return m
}

// A Reader reads a text as it arrives. Text between the parts (marks, and names around a
// call's arguments) is in no piece.
type Reader struct {
	layout *Layout
	visit  int // the part read last
	role   Role
	calls  int
	blank  bool   // only blanks have come since reasoning began or ended
	said   bool   // content that isn't blank has come
	blanks string // at its beginning: they aren't content if a call follows

	fresh   bool   // the arguments are about to begin
	name    string // of the tool, and the text after it
	id      string // written by the model
	each    reading
	waiting []Piece // pieces of a call whose id comes after it
	limits  callLimits
}

// NewReader returns a reader of one text.
func NewReader(l *Layout) *Reader { return &Reader{layout: l, visit: -1} }

// Add reads more of a text: its new parts or, for a text without parts, the new text.
func (r *Reader) Add(text string, parts []engine.Passage) []Piece {
	if r.layout == nil {
		if text == "" {
			return nil
		}
		return []Piece{{Kind: PieceContent, Text: text}}
	}
	return r.limits.pass(r.layout, r.read(parts))
}

// Over reports whether no further call will be read.
func (r *Reader) Over() bool { return r.limits.over || r.limits.full(r.layout) }

// Watch returns a function that ends a text after the last call that is read.
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
			if !r.said && len(r.layout.tools) > 0 {
				if r.blanks += p.Text; strings.Trim(r.blanks, " \t\r\n") == "" {
					break
				}
				p.Text, r.blanks = r.blanks, ""
			}
			r.said = true
			out = append(out, Piece{Kind: PieceContent, Text: p.Text})
		case RoleReasoning:
			out = append(out, Piece{Kind: PieceReasoning, Text: p.Text})
		case roleArguments:
			if r.fresh { // whitespace may follow the key in another form
				p.Text = strings.TrimLeft(p.Text, " \n\t\r")
			}
			r.fresh = r.fresh && p.Text == ""
			out = append(out, r.arguments(p.Text)...)
		case roleValue, roleText, roleName, roleNested:
			out = append(out, r.arguments(r.each.add(p.Text))...)
		case roleNames:
			r.name += p.Text
		case roleID:
			r.id += p.Text
		case roleSignals:
			out = append(out, Piece{Kind: PieceSignals, Text: p.Text})
		case roleRest:
			if strings.TrimSpace(p.Text) != "" {
				out = append(out, Piece{Kind: pieceOver})
			}
		default:
			continue
		}
		r.blank = false
	}
	return out
}

// enter begins a part.
func (r *Reader) enter(n *Node) (out []Piece) {
	within := n.Role == roleBetween || n.Role == roleValue || n.Role == roleText || n.Role == roleNested || n.Role == roleName
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
		out = append(out, r.beginEach(n)...)
		out = append(out, r.arguments(r.each.enter(n))...)
	}
	return out
}

// beginEach begins a call whose arguments are written one by one, unless it has begun
// already: a call may have no arguments. In another form than the model's own, its parts name the tool.
func (r *Reader) beginEach(n *Node) []Piece {
	switch {
	case !r.each.open && n != nil && n.Form != "":
		r.each.open = true
		return r.begin(r.layout.tools[n.Tool], n.Form)
	case r.each.open || r.name == "":
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

// begin begins a call.
func (r *Reader) begin(name, form string) []Piece {
	id := r.id
	if id == "" {
		id = r.layout.newCallID()
	}
	r.fresh, r.blanks = true, ""
	piece := Piece{Kind: PieceCall, Call: r.calls, ID: id, Name: name, Form: form}
	if r.layout.lateIDs && form == "" {
		r.waiting = []Piece{piece}
		return nil
	}
	r.id, r.name = "", ""
	return []Piece{piece}
}

// arguments returns a piece of the current call's arguments, or queues it until the id is
// known.
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

// withID returns the queued pieces of a call whose id is now known.
func (r *Reader) withID() []Piece {
	out := r.waiting
	if r.id != "" {
		out[0].ID = r.id
	}
	r.waiting, r.id, r.name = nil, "", ""
	return out
}

// End ends the last part and the text.
func (r *Reader) End() []Piece {
	if r.layout == nil {
		return nil
	}
	out := r.end()
	if r.waiting != nil {
		out = append(out, r.withID()...)
	}
	if r.blanks != "" {
		out = append(out, Piece{Kind: PieceContent, Text: r.blanks})
		r.blanks = ""
	}
	return append(r.limits.pass(r.layout, out), r.limits.rest()...)
}

func (r *Reader) end() (out []Piece) {
	if r.layout != nil && r.layout.form.Tagged {
		out = r.beginEach(nil) // a call without arguments
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

// newCallID returns a random call id of the length that the model expects.
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

// CallPieces returns a message's calls as the pieces of a stream.
func (m *Message) CallPieces() (out []Piece) {
	for i, c := range m.Calls {
		out = append(out, Piece{Kind: PieceCall, Call: i, ID: c.ID, Name: c.Name}, Piece{Kind: PieceArguments, Call: i, Text: c.Arguments}, Piece{Kind: PieceCallEnd, Call: i})
	}
	return out
}
