package layout

import (
	"slices"
	"strings"

	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/engine"
)

// Signals come after a document or calls as a line break and a document of signals;
// after free text as the fence of a block, which is looked for, and then the same
// document. Both have a role of their own and are not shown.
const (
	signalsBreak = "\n"
	SignalsFence = "```" + signals.Info + "\n"
)

// after returns what follows an answer, or calls: signals, if they are wanted, else
// the end of the text.
func (p *Plan) after(o *builder, d *constraint.Document) int {
	if d == nil {
		return end
	}
	document := o.document(roleSignals, *d, end)
	return o.add(Node{Role: roleSignals, Stops: []stopMark{{Mark: signalsBreak, Next: document}}})
}

// fences returns the marks with which free text goes over to signals.
func (p *Plan) fences(o *builder) []stopMark {
	if p.Signals == nil {
		return nil
	}
	document := o.document(roleSignals, *p.Signals, end)
	o.nodes[document].Fenced = true
	return []stopMark{{Mark: "\n" + SignalsFence, Next: document}, {Mark: SignalsFence, Next: document, AtStart: true}}
}

// SplitSignals finds where the signals of a complete text begin. Of a grammar that
// could read them too, a mask can't tell where a text of it ends; but the last line
// of a complete text is signals.
func (m *Message) SplitSignals() {
	all := m.Content + m.Signals
	if at := strings.LastIndex(all, signalsBreak); at >= 0 {
		m.Content, m.Signals = all[:at], all[at:]
	}
}

// A Gate lets the tokens of a text through but for those of its signals.
type Gate struct {
	layout *Layout
	All    []engine.Token // those that are not of signals, so far
	sent   int            // so many of them were let through
	over   bool           // the signals have begun
	answer int            // bytes of All that are the answer's, marks after it among them
	Forced int            // tokens of signals that were forced
}

// NewGate returns a gate for texts of a layout, which may be nil.
func NewGate(l *Layout) *Gate { return &Gate{layout: l} }

// Add takes the next tokens and returns those that are not of signals.
func (t *Gate) Add(tokens []engine.Token) (taken []engine.Token) {
	for _, tok := range tokens {
		segment := tok.Segment
		if t.layout == nil || segment < 0 || tok.ID == NoToken || t.layout.Nodes[segment].Role != roleSignals {
			if !t.over {
				t.All, taken = append(t.All, tok), append(taken, tok)
				if t.layout == nil || segment < 0 || t.layout.Nodes[segment].Role == RoleContent {
					t.answer += len(tok.Bytes)
				}
			}
			continue
		}
		if tok.Forced {
			t.Forced++
		}
		if t.over {
			continue
		}
		t.over = true
		before := tok.Before
		if t.layout.afterBreak(segment) {
			before-- // the break is in this token
		}
		if before = min(before, len(tok.Bytes)); before > 0 { // it begins before the signals do
			tok.Bytes, tok.Segment, tok.Before = tok.Bytes[:before:before], t.layout.answerSegment(), 0
			t.All, taken = append(t.All, tok), append(taken, tok)
			t.answer += before
		}
		if t.layout.Nodes[segment].Fenced && !t.layout.keeps() {
			t.All = TrimEnd(t.All, len("\n"+SignalsFence))
			t.answer = max(0, t.answer-len("\n"+SignalsFence))
		}
	}
	return taken
}

// Held lets those tokens through that don't lie within so many bytes at the end of the answer, of which so many bytes of text
// are known. Tokens come before their text where that may yet be a mark.
func (t *Gate) Held(bytes, known int) []engine.Token {
	bytes += max(0, t.answer-known)
	n := len(t.All)
	for n > t.sent && bytes > 0 && bytes >= len(t.All[n-1].Bytes) {
		n--
		bytes -= len(t.All[n].Bytes)
	}
	from := min(t.sent, n)
	t.sent = n
	return t.All[from:n:n]
}

// Rest lets the tokens through that are left but for so many bytes at the end.
func (t *Gate) Rest(hidden int) []engine.Token {
	t.All = TrimEnd(t.All, hidden)
	from := min(t.sent, len(t.All))
	t.sent = len(t.All)
	return t.All[from:]
}

// afterBreak reports whether a part of signals comes after the break, and is not
// the break itself.
func (l *Layout) afterBreak(segment int) bool {
	return l.Nodes[segment].Doc != "" && !l.Nodes[segment].Fenced
}

// keeps reports whether marks that end free text belong to it.
func (l *Layout) keeps() bool {
	return slices.ContainsFunc(l.Nodes, func(n Node) bool { return n.Keep })
}

// answerSegment returns a part that is the answer or a part of it.
func (l *Layout) answerSegment() int {
	return max(0, slices.IndexFunc(l.Nodes, func(n Node) bool { return n.Role == RoleContent || n.Role == roleArguments }))
}

// TrimEnd drops bytes at the end of a list of tokens.
func TrimEnd(list []engine.Token, bytes int) []engine.Token {
	for bytes > 0 && len(list) > 0 {
		last := list[len(list)-1]
		list = list[:len(list)-1]
		if n := len(last.Bytes); n > bytes {
			last.Bytes = last.Bytes[: n-bytes : n-bytes]
			return append(slices.Clip(list), last)
		}
		bytes -= len(last.Bytes)
	}
	return list
}

// TrimStart drops bytes at the beginning of a list of tokens.
func TrimStart(list []engine.Token, bytes int) []engine.Token {
	for bytes > 0 && len(list) > 0 {
		first := list[0]
		list = list[1:]
		if n := len(first.Bytes); n > bytes {
			first.Bytes = first.Bytes[bytes:]
			return append([]engine.Token{first}, list...)
		}
		bytes -= len(first.Bytes)
	}
	return list
}

// NoToken is the number of tokens that are no vocabulary's here.
const NoToken = -1
