package decoder

import (
	"fmt"
	"strings"
)

// maxPrinted bounds the printed form of one configuration, in bytes. Shared stacks
// are printed wherever they occur, so the form can be far longer than the tables.
const maxPrinted = 1 << 10

// String returns the configuration that the accepted text leads to, for tests and
// debugging: the frames of each stack, top first, with alternatives in braces and
// $ for the end of the text. A frame is written as the source describes it, or as
// its number.
func (m *Matcher) String() string {
	m.lock()
	defer m.unlock()
	m.sync()
	return m.g.t.print(m.cfg)
}

// String lists the tables of the grammar, for tests and debugging: the stacks, each
// with its top frame and the configuration below, and the sets of several stacks.
// Stack number 0, $, is the empty one; number 1 is not printed.
func (g *Grammar) String() string {
	g.lock()
	defer g.mu.Unlock()
	t := g.t
	var b strings.Builder
	for s := anyStack + 1; s < len(t.stackFrame); s++ {
		fmt.Fprintf(&b, "s%d = %s on %s\n", s, t.frameName(t.stackFrame[s]), t.configName(t.stackParent[s]))
	}
	for set := range len(t.setOff) - 1 {
		names := make([]string, 0, 4)
		for _, s := range t.setItems[t.setOff[set]:t.setOff[set+1]] {
			names = append(names, t.configName(s<<1))
		}
		fmt.Fprintf(&b, "c%d = {%s}\n", set, strings.Join(names, " "))
	}
	return b.String()
}

// configName returns the name of configuration c in the tables.
func (t *tables) configName(c int32) string {
	switch {
	case c < 0:
		return "dead"
	case c&1 == 1:
		return fmt.Sprintf("c%d", c>>1)
	case c == 0:
		return "$"
	}
	return fmt.Sprintf("s%d", c>>1)
}

func (t *tables) frameName(f Frame) string {
	if text := t.src.Describe(f); text != "" {
		return text
	}
	return fmt.Sprint(f)
}

// print returns the printed form of configuration c.
func (t *tables) print(c int32) string {
	var b strings.Builder
	t.printTo(&b, c)
	if b.Len() > maxPrinted {
		return strings.ToValidUTF8(b.String()[:maxPrinted], "") + "…"
	}
	return b.String()
}

func (t *tables) printTo(b *strings.Builder, c int32) {
	at, n := t.items(c)
	switch {
	case b.Len() > maxPrinted:
		return
	case n == 0:
		b.WriteString("dead")
		return
	case n > 1:
		b.WriteByte('{')
	}
	for i := range n {
		if i > 0 {
			b.WriteString(" | ")
		}
		switch s := t.item(c, at+i); s {
		case 0:
			b.WriteByte('$')
		case anyStack:
			b.WriteByte('*')
		default:
			b.WriteString(t.frameName(t.stackFrame[s]))
			b.WriteByte(' ')
			t.printTo(b, t.stackParent[s])
		}
	}
	if n > 1 {
		b.WriteByte('}')
	}
}
