package generation

import (
	"strings"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/generation/layout"
)

// This file keeps signals out of streams: text that may become a block of signals is held
// back until that is decided, and released if it is none.

// newHoldback returns the holdback of a stream's choice; nil without signals.
func (g *Generation) newHoldback() *assess.Holdback {
	if g.Signals == nil {
		return nil
	}
	r := g.Constraint
	v := &assess.Holdback{Exact: r.masked(), Asked: r.Answers() != nil && r.tags == nil}
	if g.Signals.Wrapped {
		v.Inner = assess.NewWrapped()
	}
	return v
}

// visiblePieces passes on pieces as soon as they can be shown. Text that a sink must not
// see is kept for the end.
func (l *listener) visiblePieces(pieces []layout.Piece) (out []layout.Piece) {
	for _, p := range pieces {
		switch {
		case p.Kind == layout.PieceSignals:
			l.signals += p.Text
			continue
		case l.holdback == nil:
		case p.Kind == layout.PieceContent:
			if p.Text = l.holdback.Add(p.Text); p.Text == "" {
				continue
			}
		case p.Kind == layout.PieceCall:
			if text := l.holdback.Flush(); text != "" {
				out = append(out, layout.Piece{Text: text})
			}
		}
		out = append(out, p)
	}
	return out
}

// take takes the tokens of an event and returns those that don't belong to signals.
func (l *listener) take(tokens []engine.Token) []engine.Token {
	if l.gate == nil {
		l.tokens = append(l.tokens, tokens...)
		return tokens
	}
	return l.gate.Add(tokens)
}

// ready returns the tokens that accompany a piece being shown.
func (l *listener) ready() []engine.Token {
	if l.gate == nil {
		out := l.tokens
		l.tokens = nil
		return out
	}
	return l.gate.Held(l.holdback.Text.Len()-l.holdback.Shown, l.holdback.Text.Len())
}

// rest ends a complete text: it reads the signals, and returns the text still to be
// shown, with its tokens.
func (l *listener) rest(g *Generation, done *engine.Result) (string, []engine.Token) {
	if l.gate == nil {
		return "", l.ready()
	}
	c := &l.choice
	shown := c.Message.Content
	raw := l.holdback.Text.String()
	whole := layout.Message{Content: raw, Calls: c.Message.Calls, Signals: l.signals}
	c.Said = g.read(&whole, done.Finish == engine.FinishLength)
	if !strings.HasPrefix(whole.Content, shown) {
		whole.Content = raw // text already shown can't be retracted
	}
	hidden := 0
	if strings.HasPrefix(raw, whole.Content) {
		hidden = len(raw) - len(whole.Content)
	}
	tokens := l.gate.Rest(hidden)
	c.Tokens = l.gate.All
	if g.Signals.Wrapped {
		c.Tokens = unwrapTokens(raw, c.Tokens)
	}
	c.counted(g, l.gate)
	return whole.Content[len(shown):], tokens
}
