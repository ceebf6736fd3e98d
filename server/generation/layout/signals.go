package layout

import (
	"slices"
	"strings"

	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/engine"
)

// After a document or calls, signals are a line break and a document of signals; after free text, a fenced block, found
// by its fence, with the same document. Both have a role of their own and are not shown.
const (
	signalsBreak = "\n"
	SignalsFence = "```" + signals.Info + "\n"
)

// after returns the node after an answer or calls: signals if there are any, else the end of the text.
func (p *Plan) after(o *builder, d *constraint.Document) int {
	if d == nil {
		return end
	}
	document := o.document(roleSignals, *d, end)
	return o.add(Node{Role: roleSignals, Stops: []stopMark{{Mark: signalsBreak, Next: document}}})
}

// fences returns the marks that begin signals in free text.
func (p *Plan) fences(o *builder) []stopMark {
	if p.Signals == nil {
		return nil
	}
	document := o.document(roleSignals, *p.Signals, end)
	o.nodes[document].Fenced = true
	return []stopMark{{Mark: "\n" + SignalsFence, Next: document}, {Mark: SignalsFence, Next: document, AtStart: true}}
}

// SplitSignals splits the signals off a complete text. If the answer's grammar could match signals too, the mask can't
// tell where the answer ends; but the last line of a complete text is always signals.
func (m *Message) SplitSignals() {
	all := m.Content + m.Signals
	if at := strings.LastIndex(all, signalsBreak); at >= 0 {
		m.Content, m.Signals = all[:at], all[at:]
	}
}

// A Gate passes the tokens of a text on except those of its signals.
type Gate struct {
	layout *Layout
	All    []engine.Token // tokens so far that don't belong to signals
	sent   int            // how many of them were passed on
	over   bool           // the signals have begun
	answer int            // bytes of All in the answer, including marks after it
	Forced int            // forced tokens of signals
}

// NewGate returns a gate for texts of layout l, which may be nil.
func NewGate(l *Layout) *Gate { return &Gate{layout: l} }

// Add adds tokens and returns those that don't belong to signals.
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
			before-- // the line break is in this token
		}
		if before = min(before, len(tok.Bytes)); before > 0 { // the token begins before the signals
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

// Held passes on the tokens outside the last bytes of the answer, given how many bytes of the answer's text are known.
// Tokens arrive before their text if it may turn out to be a mark.
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

// Rest passes on the remaining tokens except the last hidden bytes.
func (t *Gate) Rest(hidden int) []engine.Token {
	t.All = TrimEnd(t.All, hidden)
	from := min(t.sent, len(t.All))
	t.sent = len(t.All)
	return t.All[from:]
}

// afterBreak reports whether a part of signals follows the line break rather than being it.
func (l *Layout) afterBreak(segment int) bool {
	return l.Nodes[segment].Doc != "" && !l.Nodes[segment].Fenced
}

// keeps reports whether a mark that ends free text belongs to it.
func (l *Layout) keeps() bool {
	return slices.ContainsFunc(l.Nodes, func(n Node) bool { return n.Keep })
}

// answerSegment returns a part that belongs to the answer.
func (l *Layout) answerSegment() int {
	return max(0, slices.IndexFunc(l.Nodes, func(n Node) bool { return n.Role == RoleContent || n.Role == roleArguments }))
}

// TrimEnd removes bytes from the end of a list of tokens.
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

// TrimStart removes bytes from the start of a list of tokens.
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

// NoToken is the id of tokens that are not in the vocabulary.
const NoToken = -1
