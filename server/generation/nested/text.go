package nested

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/stencil-json/stencil/chat/jinja/python"
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/regular/runes"
	"github.com/stencil-json/stencil/schema/number"
)

// strings returns the strings of a demand, with what is around them.
func (c *compiler) strings(d *demand) string {
	s := c.store
	// If the automaton has too many states, less is enforced.
	for _, try := range []struct {
		texts   []regular.Expr
		most    int
		without []string
	}{{d.texts, d.maxLength, nil}, {d.texts, -1, []string{"maxLength"}}, {nil, d.maxLength, []string{"pattern", "format"}}, {nil, -1, []string{"maxLength", "pattern", "format"}}} {
		if try.most != d.maxLength && d.maxLength < 0 {
			continue
		}
		if name, ok := c.quoted(s.And(append(slices.Clone(try.texts), s.Length(d.minLength, try.most))...)); ok {
			for _, keyword := range try.without {
				if d.keywords[keyword] {
					c.unchecked[keyword] = true
				}
			}
			return name
		}
	}
	return never
}

// quoted returns strings of a language as they are written; ok is false if that takes too many states.
func (c *compiler) quoted(e regular.Expr) (name string, ok bool) {
	if name, ok := c.texts[e]; ok {
		return name, true
	}
	s := c.store
	has := func(text string) regular.Expr { return s.Concat(s.Any(), s.Literal(text), s.Any()) }
	switch {
	case c.n.Python:
		// repr prefers single quotes, unless there are such and no double ones.
		double := s.And(has(`'`), s.Not(has(`"`)))
		first, ok1 := c.machine(s.And(e, s.Not(double)), '\'')
		second, ok2 := c.machine(s.And(e, double), '"')
		if !ok1 || !ok2 {
			return "", false
		}
		name = c.joined("text", []string{sequence(literal("'"), first, literal("'")), sequence(literal(`"`), second, literal(`"`))})
	default:
		inside, ok := c.machine(s.And(e, s.Not(has(c.end()))), 0)
		if !ok {
			return "", false
		}
		name = c.joined("text", []string{sequence(literal(c.n.Quote), inside, literal(c.n.Quote))})
	}
	c.texts[e] = name
	return name, true
}

// keys returns the keys of a language as they are written.
func (c *compiler) keys(e regular.Expr) string {
	if c.n.Python {
		if name, ok := c.quoted(e); ok {
			return name
		}
		return never
	}
	// What ends a key, and whatever else would change its meaning, can't be part of it.
	unsafe := c.store.Class(classOf(c.n.KeyClose + c.n.Open + c.n.Close + c.n.ListOpen + c.n.ListClose + c.n.Comma + c.n.Quote + "\n"))
	some := c.store.Not(c.store.Or(c.store.Epsilon(), c.store.Concat(c.store.Any(), unsafe, c.store.Any())))
	name, ok := c.machine(c.store.And(e, some), 0)
	if !ok {
		return never
	}
	return name
}

func classOf(text string) (out []runes.Range) {
	for _, r := range text {
		out = append(out, runes.Range{Lo: r, Hi: r})
	}
	return out
}

// machine writes the automaton of a language as rules, a state each; with a quote, characters are escaped as Python does. ok is
// false if there are too many states.
func (c *compiler) machine(e regular.Expr, quote rune) (name string, ok bool) {
	m, err := c.store.Compile(e)
	if err != nil {
		return "", false
	}
	if m.Start() == regular.Dead {
		return never, true
	}
	states := []regular.State{m.Start()}
	number := map[regular.State]int{m.Start(): 0}
	for i := 0; i < len(states); i++ {
		for _, edge := range m.Ranges(states[i]) {
			if _, ok := number[edge.To]; !ok {
				number[edge.To] = len(states)
				states = append(states, edge.To)
			}
		}
		if len(states) > maxStates || m.Err() != nil {
			return "", false
		}
	}
	prefix := c.name("chars") + "-"
	for i, q := range states {
		to := map[regular.State][]runes.Range{}
		var order []regular.State
		for _, edge := range m.Ranges(q) {
			if to[edge.To] == nil {
				order = append(order, edge.To)
			}
			to[edge.To] = append(to[edge.To], runes.Range{Lo: edge.Lo, Hi: edge.Hi})
		}
		var ways []string
		if m.Accepting(q) {
			ways = append(ways, `""`)
		}
		for _, next := range order {
			if set := c.set(to[next], quote); set != never {
				ways = append(ways, sequence(set, fmt.Sprint(prefix, number[next])))
			}
		}
		if len(ways) == 0 {
			ways = []string{fmt.Sprint(`"x" `, prefix, i)}
		}
		c.rule(fmt.Sprint(prefix, i), ways)
	}
	return prefix + "0", true
}

// set returns one character of some ranges as it is written between quotes.
func (c *compiler) set(list []runes.Range, quote rune) string {
	if quote == 0 {
		return class(list)
	}
	key := fmt.Sprint(quote, list)
	if c.sets[key] == "" {
		c.sets[key] = c.escapedSet(list, quote)
	}
	return c.sets[key]
}

func (c *compiler) escapedSet(list []runes.Range, quote rune) string {
	var ways []string
	if plain := common(list, printable(), '\\', quote); len(plain) > 0 {
		ways = append(ways, class(plain))
	}
	for _, r := range []rune{'\\', quote} {
		if within(list, r) {
			ways = append(ways, literal(`\`+string(r)))
		}
	}
	var escaped []string
	for _, r := range unprintable() {
		if within(list, r) {
			text := python.AppendQuoted(nil, string(r))
			escaped = append(escaped, literal(string(text[1:len(text)-1])))
		}
	}
	if len(escaped) == len(unprintable()) { // as nearly always
		if c.escapes == "" {
			c.escapes = c.name("escape")
			c.rule(c.escapes, escaped)
		}
		escaped = []string{c.escapes}
	}
	return c.joined("set", append(ways, escaped...))
}

func within(list []runes.Range, r rune) bool {
	return slices.ContainsFunc(list, func(x runes.Range) bool { return x.Lo <= r && r <= x.Hi })
}

// common returns what two lists of ranges, the second sorted, have in common, without some characters.
func common(a, b []runes.Range, without ...rune) (out []runes.Range) {
	for _, x := range a {
		from, _ := slices.BinarySearchFunc(b, x.Lo, func(y runes.Range, lo rune) int { return int(y.Hi) - int(lo) })
		for _, y := range b[from:] {
			if y.Lo > x.Hi {
				break
			}
			lo := max(x.Lo, y.Lo)
			for r := lo; r <= min(x.Hi, y.Hi) && r < 0x80; r++ { // the characters to leave out are in ASCII
				if slices.Contains(without, r) {
					if lo < r {
						out = append(out, runes.Range{Lo: lo, Hi: r - 1})
					}
					lo = r + 1
				}
			}
			if hi := min(x.Hi, y.Hi); lo <= hi {
				out = append(out, runes.Range{Lo: lo, Hi: hi})
			}
		}
	}
	return out
}

// printable has the characters that Python doesn't escape.
var printable = sync.OnceValue(func() (out []runes.Range) {
	for r := rune(' '); r <= unicode.MaxRune; r++ {
		if !strconv.IsPrint(r) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Hi == r-1 {
			out[n-1].Hi = r
		} else {
			out = append(out, runes.Range{Lo: r, Hi: r})
		}
	}
	return out
})

// unprintable has characters that Python escapes and that occur in texts: no unassigned ones, and none for private use.
var unprintable = sync.OnceValue(func() (out []rune) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !strconv.IsPrint(r) && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Z) {
			out = append(out, r)
		}
	}
	return out
})

// class writes a set of characters.
func class(list []runes.Range) string {
	var b strings.Builder
	b.WriteByte('[')
	for _, x := range list {
		b.WriteString(escape(x.Lo))
		if x.Lo < x.Hi {
			b.WriteString("-" + escape(x.Hi))
		}
	}
	b.WriteByte(']')
	return b.String()
}

// escape writes a character of a set.
func escape(r rune) string {
	switch {
	case r < 0x80:
		return fmt.Sprintf(`\x%02X`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04X`, r)
	}
	return fmt.Sprintf(`\U%08X`, r)
}

// number returns the numbers of a demand.
func (c *compiler) number(d *demand) string {
	for _, spec := range []number.Spec{d.numbers, {Integer: d.numbers.Integer, Min: d.numbers.Min, Max: d.numbers.Max, MinExclusive: d.numbers.MinExclusive, MaxExclusive: d.numbers.MaxExclusive}} {
		a, err := number.Compile(spec, number.Canonical, number.Limits{})
		if _, empty := errors.AsType[*number.EmptyError](err); empty {
			return never
		}
		if err == nil {
			if name, ok := c.digits(a); ok {
				return name
			}
		}
		c.unchecked["multipleOf"] = true
	}
	return never
}

// digits writes an automaton of numbers as rules; ok is false if it has too many states.
func (c *compiler) digits(a *number.Automaton) (name string, ok bool) {
	if name, ok := c.numbers[a.Key()]; ok {
		return name, true
	}
	const bytes = "+-.0123456789Ee"
	states := []number.State{a.Start()}
	place := map[number.State]int{a.Start(): 0}
	type edge struct {
		to    number.State
		chars string
	}
	var edges [][]edge
	for i := 0; i < len(states); i++ {
		var list []edge
		for _, b := range []byte(bytes) {
			to := a.Step(states[i], b)
			if to == number.Dead {
				continue
			}
			if _, ok := place[to]; !ok {
				place[to] = len(states)
				states = append(states, to)
			}
			if k := slices.IndexFunc(list, func(e edge) bool { return e.to == to }); k >= 0 {
				list[k].chars += string(b)
			} else {
				list = append(list, edge{to, string(b)})
			}
		}
		edges = append(edges, list)
		if len(states) > maxStates || a.Err() != nil {
			return "", false
		}
	}
	prefix := c.name("digits") + "-"
	for i, q := range states {
		var ways []string
		if a.Accepting(q) {
			ways = append(ways, `""`)
		}
		for _, e := range edges[i] {
			ways = append(ways, sequence(class(classOf(e.chars)), fmt.Sprint(prefix, place[e.to])))
		}
		c.rule(fmt.Sprint(prefix, i), ways)
	}
	c.numbers[a.Key()] = prefix + "0"
	return prefix + "0", true
}
