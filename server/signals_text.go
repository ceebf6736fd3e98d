package server

import (
	"encoding/json"
	"slices"
	"strings"

	"stencil/agent/signals"
	"stencil/engine"
)

// This file takes signals out of texts, of their messages and of their tokens.

// unveil takes the signals out of a choice's message and tokens. cut says that the
// budget ended the text.
func (g *generation) unveil(c *choice, cut bool) {
	if g.noted == nil {
		return
	}
	raw := c.message.Content
	c.said = g.read(&c.message, cut)
	hidden := 0
	if rest := c.message.Content; strings.HasPrefix(raw, rest) {
		hidden = len(raw) - len(rest)
	}
	if g.noted.wrapped {
		c.tokens, hidden = unwrapTokens(raw, c.tokens), 0
	}
	gate := &tokenGate{layout: g.layout}
	gate.add(c.tokens)
	c.tokens = gate.rest(hidden)
	c.counted(g, gate)
}

// counted notes how much of a text is not signals.
func (c *choice) counted(g *generation, gate *tokenGate) {
	if !g.noted.constrained {
		return
	}
	c.visible, c.veiledForced = 0, gate.forced
	for _, t := range gate.all {
		c.visible += len(t.Bytes)
	}
}

// read takes the signals out of a message and reads them.
func (g *generation) read(m *message, cut bool) *said {
	r := g.rule
	masked := r.masked()
	if masked && !cut && g.noted.constrained && len(m.Calls) == 0 {
		splitLast(m)
	}
	if m.Signals != "" {
		if !masked && len(m.Calls) == 0 {
			// A text that holds tags keeps the marks that end its free parts.
			m.Content = strings.TrimRight(strings.TrimSuffix(m.Content, signalsFence), " \t\r\n")
		}
		if s, ok := signals.Document(m.Signals); ok {
			return &said{s, signals.FromConstrained}
		}
	}
	out := new(said)
	switch {
	case g.noted.wrapped && m.unwrap():
		return m.told()
	case masked:
		out.signals, out.from = signals.Default(), signals.FromDefaults
	case r.answers() != nil && r.tags == nil:
		out.signals, m.Content, out.from = signals.ReadDocument(m.Content)
	default:
		out.signals, m.Content, out.from = signals.Read(m.Content)
	}
	return out
}

// told reads the signals that an upstream has kept to their schema.
func (m *message) told() *said {
	if s, ok := signals.Document(m.Signals); ok {
		return &said{s, signals.FromConstrained}
	}
	return &said{signals.Default(), signals.FromDefaults}
}

// splitLast finds where the signals of a complete text begin. Of a grammar that
// could go on to read them, a mask can't tell where a text of it ends; but the last
// line of a complete text is signals.
func splitLast(m *message) {
	all := m.Content + m.Signals
	if at := strings.LastIndex(all, signalsBreak); at >= 0 {
		m.Content, m.Signals = all[:at], all[at:]
	}
}

// A tokenGate lets the tokens of a text through but for those of its signals.
type tokenGate struct {
	layout *layout
	all    []engine.Token // that are not of signals
	sent   int            // so many of them were let through
	over   bool           // the signals have begun
	forced int            // tokens of signals that were forced
}

// add takes the next tokens and returns those that are not of signals.
func (t *tokenGate) add(tokens []engine.Token) (taken []engine.Token) {
	for _, tok := range tokens {
		segment := tok.Segment
		if t.layout == nil || segment < 0 || tok.ID == noToken || t.layout.nodes[segment].Role != roleSignals {
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
		if t.layout.nodes[segment].Fenced && !t.layout.keeps() {
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
func (l *layout) afterBreak(segment int) bool {
	return l.nodes[segment].Doc != "" && !l.nodes[segment].Fenced
}

// keeps reports whether marks that end free text belong to it.
func (l *layout) keeps() bool {
	return slices.ContainsFunc(l.nodes, func(n node) bool { return n.Keep })
}

// answerSegment returns a part that is the answer or a part of it.
func (l *layout) answerSegment() int {
	return max(0, slices.IndexFunc(l.nodes, func(n node) bool { return n.Role == roleContent || n.Role == roleArguments }))
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

// unwrap takes the answer and the signals out of an object of both. It reports false
// if the text is none; then nothing changes.
func (m *message) unwrap() bool {
	w := newWrapped()
	if w.read(m.Content); w.start < 0 {
		return false
	}
	var both struct{ Signals json.RawMessage }
	if json.Unmarshal([]byte(m.Content), &both) == nil {
		m.Signals = string(both.Signals)
	}
	m.Content = w.shown(m.Content)
	return true
}

// unwrapTokens returns the tokens of the answer in a text.
func unwrapTokens(text string, tokens []engine.Token) []engine.Token {
	w := newWrapped()
	if w.read(text); w.start < 0 {
		return tokens
	}
	after := 0
	if w.end >= 0 {
		after = len(text) - w.end
	}
	return withoutEnd(withoutStart(tokens, w.start), after)
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

// noToken is the number of tokens that are no vocabulary's here.
const noToken = -1
