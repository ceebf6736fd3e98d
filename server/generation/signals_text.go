package generation

import (
	"encoding/json"
	"slices"
	"strings"

	"stencil/agent/signals"
	"stencil/engine"
	"stencil/server/generation/assess"
)

// This file takes signals out of texts, of their messages and of their tokens.

// TakeSignals takes the signals out of a choice's message and tokens. cut says that the
// budget ended the text.
func (g *Generation) TakeSignals(c *Choice, cut bool) {
	if g.Signals == nil {
		return
	}
	raw := c.Message.Content
	c.Said = g.read(&c.Message, cut)
	hidden := 0
	if rest := c.Message.Content; strings.HasPrefix(raw, rest) {
		hidden = len(raw) - len(rest)
	}
	if g.Signals.Wrapped {
		c.Tokens, hidden = unwrapTokens(raw, c.Tokens), 0
	}
	gate := &tokenGate{layout: g.Layout}
	gate.add(c.Tokens)
	c.Tokens = gate.rest(hidden)
	c.counted(g, gate)
}

// counted notes how much of a text is not signals.
func (c *Choice) counted(g *Generation, gate *tokenGate) {
	if !g.Signals.constrained {
		return
	}
	c.visible, c.signalsForced = 0, gate.forced
	for _, t := range gate.all {
		c.visible += len(t.Bytes)
	}
}

// read takes the signals out of a message and reads them.
func (g *Generation) read(m *Message, cut bool) *assess.Said {
	r := g.Constraint
	masked := r.masked()
	if masked && !cut && g.Signals.constrained && len(m.Calls) == 0 {
		splitLast(m)
	}
	if m.Signals != "" {
		if !masked && len(m.Calls) == 0 {
			// A text that holds tags keeps the marks that end its free parts.
			m.Content = strings.TrimRight(strings.TrimSuffix(m.Content, signalsFence), " \t\r\n")
		}
		if s, ok := signals.Document(m.Signals); ok {
			return &assess.Said{Signals: s, From: signals.FromConstrained}
		}
	}
	out := new(assess.Said)
	switch {
	case g.Signals.Wrapped && m.Unwrap():
		return m.Told()
	case masked:
		out.Signals, out.From = signals.Default(), signals.FromDefaults
	case r.Answers() != nil && r.tags == nil:
		out.Signals, m.Content, out.From = signals.ReadDocument(m.Content)
	default:
		out.Signals, m.Content, out.From = signals.Read(m.Content)
	}
	return out
}

// Told reads the signals that an upstream has kept to their schema.
func (m *Message) Told() *assess.Said {
	if s, ok := signals.Document(m.Signals); ok {
		return &assess.Said{Signals: s, From: signals.FromConstrained}
	}
	return &assess.Said{Signals: signals.Default(), From: signals.FromDefaults}
}

// splitLast finds where the signals of a complete text begin. Of a grammar that
// could go on to read them, a mask can't tell where a text of it ends; but the last
// line of a complete text is signals.
func splitLast(m *Message) {
	all := m.Content + m.Signals
	if at := strings.LastIndex(all, signalsBreak); at >= 0 {
		m.Content, m.Signals = all[:at], all[at:]
	}
}

// A tokenGate lets the tokens of a text through but for those of its signals.
type tokenGate struct {
	layout *Layout
	all    []engine.Token // that are not of signals
	sent   int            // so many of them were let through
	over   bool           // the signals have begun
	forced int            // tokens of signals that were forced
}

// add takes the next tokens and returns those that are not of signals.
func (t *tokenGate) add(tokens []engine.Token) (taken []engine.Token) {
	for _, tok := range tokens {
		segment := tok.Segment
		if t.layout == nil || segment < 0 || tok.ID == NoToken || t.layout.Nodes[segment].Role != roleSignals {
			if !t.over {
				t.all, taken = append(t.all, tok), append(taken, tok)
			}
			continue
		}
		if tok.Forced {
			t.forced++
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
			t.all, taken = append(t.all, tok), append(taken, tok)
		}
		if t.layout.Nodes[segment].Fenced && !t.layout.keeps() {
			t.all = withoutEnd(t.all, len("\n"+signalsFence))
		}
	}
	return taken
}

// held lets those tokens through that don't lie within so many bytes at the end.
func (t *tokenGate) held(bytes int) []engine.Token {
	n := len(t.all)
	for n > t.sent && bytes > 0 && bytes >= len(t.all[n-1].Bytes) {
		n--
		bytes -= len(t.all[n].Bytes)
	}
	from := min(t.sent, n)
	t.sent = n
	return t.all[from:n:n]
}

// rest lets the tokens through that are left but for so many bytes at the end.
func (t *tokenGate) rest(hidden int) []engine.Token {
	t.all = withoutEnd(t.all, hidden)
	from := min(t.sent, len(t.all))
	t.sent = len(t.all)
	return t.all[from:]
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

// withoutEnd drops bytes at the end of a list of tokens.
func withoutEnd(list []engine.Token, bytes int) []engine.Token {
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

// Unwrap takes the answer and the signals out of an object of both. It reports false
// if the text is none; then nothing changes.
func (m *Message) Unwrap() bool {
	w := assess.NewWrapped()
	if w.Read(m.Content); w.Start < 0 {
		return false
	}
	var both struct{ Signals json.RawMessage }
	if json.Unmarshal([]byte(m.Content), &both) == nil {
		m.Signals = string(both.Signals)
	}
	m.Content = w.Shown(m.Content)
	return true
}

// unwrapTokens returns the tokens of the answer in a text.
func unwrapTokens(text string, tokens []engine.Token) []engine.Token {
	w := assess.NewWrapped()
	if w.Read(text); w.Start < 0 {
		return tokens
	}
	after := 0
	if w.End >= 0 {
		after = len(text) - w.End
	}
	return withoutEnd(withoutStart(tokens, w.Start), after)
}

// withoutStart drops bytes at the beginning of a list of tokens.
func withoutStart(list []engine.Token, bytes int) []engine.Token {
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
