package decoder

import (
	"fmt"
	"slices"
	"strings"
)

// expected describes what may follow configuration c, for error messages.
func (m *Matcher) expected(c int32) string {
	t := m.g.t
	var words []string
	t.reading(c, func(s int32) bool {
		w := "the end"
		if s != 0 {
			w = t.src.Describe(t.stackFrame[s])
		}
		if w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
		return len(words) < 8
	})
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " or ")
}

// Explain describes why token tok may not come next, or reports that it may.
func (m *Matcher) Explain(tok int32) string {
	g := m.g
	g.lock()
	defer g.mu.Unlock()
	m.sync()
	switch {
	case tok < 0 || int(tok) >= g.vocab.Len():
		return fmt.Sprintf("token %d is not in the vocabulary", tok)
	case m.done:
		return "generation has ended"
	case g.vocab.IsEOG(tok):
		if g.t.accepting(m.cfg) {
			return "allowed: the text may end here"
		}
		return "the text is not complete: expected " + m.expected(m.cfg)
	}
	b := g.vocab.Bytes(tok)
	switch {
	case g.t.tokens != nil && g.t.stepToken(m.cfg, tok) != dead:
		return "allowed"
	case g.t.tokens != nil && len(b) == 0:
		return fmt.Sprintf("%s is not allowed: expected %s", g.vocab.Text(tok), m.expected(m.cfg))
	case len(b) == 0:
		return "a token without text never matches"
	}
	c := m.cfg
	text := append([]byte(nil), m.text...)
	for i, x := range b {
		next := m.stepByte(c, x, text)
		if next == dead {
			where := ""
			if i > 0 {
				where = fmt.Sprintf(" after %q", b[:i])
			}
			return fmt.Sprintf("%q%s is not allowed: expected %s", x, where, m.expected(c))
		}
		c = next
		text = append(text, x)
	}
	return "allowed"
}
