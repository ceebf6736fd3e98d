package generation

import (
	"encoding/json"
	"strings"

	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/generation/layout"
)

// This file removes signals from texts, their messages and their tokens.

// TakeSignals removes the signals from a choice's message and tokens, and reads them. cut
// means that the budget ended the text.
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
	gate := layout.NewGate(g.Layout)
	gate.Add(c.Tokens)
	c.Tokens = gate.Rest(hidden)
	c.counted(g, gate)
}

// counted records how much of a text is not signals.
func (c *Choice) counted(g *Generation, gate *layout.Gate) {
	if !g.Signals.constrained {
		return
	}
	c.visible, c.signalsForced = 0, gate.Forced
	for _, t := range gate.All {
		c.visible += len(t.Bytes)
	}
}

// read removes the signals from a message and parses them.
func (g *Generation) read(m *layout.Message, cut bool) *assess.Said {
	r := g.Constraint
	masked := r.masked()
	if masked && !cut && g.Signals.constrained && len(m.Calls) == 0 {
		m.SplitSignals()
	}
	if m.Signals != "" {
		if !masked && len(m.Calls) == 0 {
			// Text with tags keeps the marks that end its free parts.
			m.Content = strings.TrimRight(strings.TrimSuffix(m.Content, layout.SignalsFence), " \t\r\n")
		}
		if s, ok := signals.Document(m.Signals); ok {
			return &assess.Said{Signals: s, From: signals.FromConstrained}
		}
	}
	out := new(assess.Said)
	switch {
	case g.Signals.Wrapped && UnwrapSignals(m):
		return ToldSignals(m)
	case masked:
		out.Signals, out.From = signals.Default(), signals.FromDefaults
	case r.Answers() != nil && r.tags == nil:
		out.Signals, m.Content, out.From = signals.ReadDocument(m.Content)
	default:
		out.Signals, m.Content, out.From = signals.Read(m.Content)
	}
	return out
}

// ToldSignals parses the signals of an upstream that enforced their schema.
func ToldSignals(m *layout.Message) *assess.Said {
	if s, ok := signals.Document(m.Signals); ok {
		return &assess.Said{Signals: s, From: signals.FromConstrained}
	}
	return &assess.Said{Signals: signals.Default(), From: signals.FromDefaults}
}

// UnwrapSignals splits an object of answer and signals. It returns false, and changes
// nothing, if the text is not such an object.
func UnwrapSignals(m *layout.Message) bool {
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

// unwrapTokens returns the tokens of the answer within such an object.
func unwrapTokens(text string, tokens []engine.Token) []engine.Token {
	w := assess.NewWrapped()
	if w.Read(text); w.Start < 0 {
		return tokens
	}
	after := 0
	if w.End >= 0 {
		after = len(text) - w.End
	}
	return layout.TrimEnd(layout.TrimStart(tokens, w.Start), after)
}
