package server

import (
	"stencil/agent/signals"
	"strings"

	"stencil/engine"
)

// This file keeps signals out of streams: what may become a block of signals is
// held back until it is one or is none, and is told after all if it is none.

// A veil holds back the end of an answer that may turn out to be signals. It shows
// nothing that [generation.read] would take away.
type veil struct {
	text  strings.Builder // the answer so far, signals and all
	shown int             // bytes of it that were shown
	held  bool            // all that follows is held, up to the end
	exact bool            // the answer is a document of a mask: only a last line of signals is looked for
	asked bool            // a document was asked for, which is no object of signals itself
	inner *wrapped        // the answer is a member of an object; nil: it is all of the text
}

// add takes more text and returns what can be shown now.
func (v *veil) add(text string) string {
	v.text.WriteString(text)
	if v.held {
		return ""
	}
	all := v.text.String()
	if v.inner != nil {
		v.inner.read(all)
		out := v.inner.shown(all)[v.shown:]
		v.shown += len(out)
		return out
	}
	pending := all[v.shown:]
	end := len(strings.TrimRight(pending, " \t\r\n"))
	for at := 0; at >= 0 && at < len(pending); {
		if at > 0 || v.shown == 0 {
			may, sure := v.begins(pending[at:], strings.TrimSpace(all[:v.shown+at]) != "")
			if may || sure {
				v.held = sure
				end = min(end, len(strings.TrimRight(pending[:at], " \t\r\n")))
				break
			}
		}
		next := strings.IndexByte(pending[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	v.shown += end
	return pending[:end]
}

// flush returns what was held only because of what might follow, when something
// else does.
func (v *veil) flush() string {
	if v.held || v.inner != nil {
		return ""
	}
	out := v.text.String()[v.shown:]
	v.shown += len(out)
	return out
}

// begins reports whether lines may be, or certainly are, the beginning of signals.
// after says that something of the answer stands before them.
func (v *veil) begins(lines string, after bool) (may, sure bool) {
	s := strings.TrimLeft(lines, " \t")
	if s == "" {
		return true, false
	}
	if v.exact {
		const object = `{"confidence":`
		return strings.HasPrefix(object, s), strings.HasPrefix(s, object)
	}
	if s[0] == '{' {
		if v.asked && !after {
			return false, false
		}
		return beginsObject(s)
	}
	if s[0] != '`' && s[0] != '~' {
		return false, false
	}
	rest := strings.TrimLeft(s, s[:1])
	if n := len(s) - len(rest); n < 3 {
		return rest == "", false
	}
	info, body, ended := strings.Cut(rest, "\n")
	info = strings.ToLower(strings.TrimSpace(info))
	switch {
	case !ended:
		return strings.HasPrefix(signals.Info, info) || strings.HasPrefix("json", info), false
	case info == signals.Info:
		return true, true
	case (info == "" || info == "json") && (after || !v.asked):
		return beginsObject(strings.TrimLeft(body, " \t\r\n"))
	}
	return false, false
}

// beginsObject reports whether text may be, or is, the beginning of an object with
// a confidence first.
func beginsObject(text string) (may, sure bool) {
	const name = `"confidence"`
	if text == "" {
		return true, false
	}
	if text[0] != '{' {
		return false, false
	}
	s := strings.TrimLeft(text[1:], " \t\r\n")
	return strings.HasPrefix(name, s), strings.HasPrefix(s, name)
}

// newVeil returns the veil of a stream's choice; nil where no signals are wanted.
func (g *generation) newVeil() *veil {
	if g.noted == nil {
		return nil
	}
	r := g.rule
	v := &veil{exact: r.masked(), asked: r.answers() != nil && r.tags == nil}
	if g.noted.wrapped {
		v.inner = newWrapped()
	}
	return v
}

// unveiled passes pieces on as they can be shown. What a sink must not see is kept
// for the end.
func (l *listener) unveiled(pieces []piece) (out []piece) {
	for _, p := range pieces {
		switch {
		case p.kind == pieceSignals:
			l.signals += p.text
			continue
		case l.veil == nil:
		case p.kind == pieceContent:
			if p.text = l.veil.add(p.text); p.text == "" {
				continue
			}
		case p.kind == pieceCall:
			if text := l.veil.flush(); text != "" {
				out = append(out, piece{text: text})
			}
		}
		out = append(out, p)
	}
	return out
}

// take takes the tokens of an event and returns those that are not of signals.
func (l *listener) take(tokens []engine.Token) []engine.Token {
	if l.gate == nil {
		l.tokens = append(l.tokens, tokens...)
		return tokens
	}
	return l.gate.add(tokens)
}

// ready returns the tokens that go with a piece that is shown now.
func (l *listener) ready() []engine.Token {
	if l.gate == nil {
		out := l.tokens
		l.tokens = nil
		return out
	}
	return l.gate.held(l.veil.text.Len() - l.veil.shown)
}

// rest ends a text that is complete: it reads the signals, and returns what is left
// to be shown, with its tokens.
func (l *listener) rest(g *generation, done *engine.Result) (string, []engine.Token) {
	if l.gate == nil {
		return "", l.ready()
	}
	c := &l.choice
	shown := c.message.Content
	raw := l.veil.text.String()
	whole := message{Content: raw, Calls: c.message.Calls, Signals: l.signals}
	c.said = g.read(&whole, done.Finish == engine.FinishLength)
	if !strings.HasPrefix(whole.Content, shown) {
		whole.Content = raw // what was shown can't be taken back
	}
	hidden := 0
	if strings.HasPrefix(raw, whole.Content) {
		hidden = len(raw) - len(whole.Content)
	}
	tokens := l.gate.rest(hidden)
	c.tokens = l.gate.all
	if g.noted.wrapped {
		c.tokens = unwrapTokens(raw, c.tokens)
	}
	c.counted(g, l.gate)
	return whole.Content[len(shown):], tokens
}
