package regular

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// accepts runs a machine over a text. It also checks that the results of Step,
// ASCII and Ranges agree, and that no state without a continuation is entered.
func accepts(t testing.TB, m *Machine, text string) bool {
	t.Helper()
	q := m.Start()
	for _, r := range text {
		next := m.Step(q, r)
		if q >= 0 {
			if r < 128 && m.ASCII(q)[r] != next {
				t.Fatalf("ASCII and Step differ under %q", r)
			}
			if by := byRanges(m.Ranges(q), r); by != next {
				t.Fatalf("Ranges and Step differ under %q: %d, %d", r, by, next)
			}
		}
		q = next
	}
	if err := m.Err(); err != nil {
		t.Fatalf("on %q: %v", text, err)
	}
	return m.Accepting(q)
}

func byRanges(edges []Edge, r rune) State {
	for _, d := range edges {
		if d.Lo <= r && r <= d.Hi {
			return d.To
		}
	}
	return Dead
}

func compile(t testing.TB, s *Store, e Expr) *Machine {
	t.Helper()
	m, err := s.Compile(e)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// patterns generates random patterns of the subset that this package and regexp
// read alike.
type patterns struct {
	*rand.Rand
	anchors bool
}

func (g patterns) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g patterns) atom(depth int) string {
	if depth > 0 && g.IntN(3) == 0 {
		return g.pick("(", "(?:") + g.alt(depth-1) + ")"
	}
	if g.anchors && g.IntN(12) == 0 {
		return g.pick("^", "$", `\b`, `\B`)
	}
	return g.pick("a", "b", "c", "ab", "ba", "-", "é", "[ab]", "[^a]", "[a-c]", "[^-b]", ".", `\d`, `\w`, `\W`, "0", "[b-é]", `\x{1F600}`)
}

func (g patterns) seq(depth int) string {
	var b strings.Builder
	for range g.IntN(4) {
		a := g.atom(depth)
		if !strings.ContainsAny(a, "^$") && a != `\b` && a != `\B` || strings.HasSuffix(a, ")") || strings.HasSuffix(a, "]") {
			if len([]rune(a)) > 1 && a[0] != '(' && a[0] != '[' && a[0] != '\\' {
				a = "(?:" + a + ")"
			}
			a += g.pick("", "", "", "*", "+", "?", "{2}", "{0,2}", "{1,3}", "{2,}", "*?", "+?")
		}
		b.WriteString(a)
	}
	return b.String()
}

func (g patterns) alt(depth int) string {
	list := []string{g.seq(depth)}
	for g.IntN(3) == 0 {
		list = append(list, g.seq(depth))
	}
	return strings.Join(list, "|")
}

func (g patterns) text(most int) string {
	var b strings.Builder
	for range g.IntN(most + 1) {
		b.WriteString(g.pick("a", "b", "c", "-", "é", "0", "\n", "😀", "_"))
	}
	return b.String()
}

func (g patterns) pattern() string {
	p := g.alt(3)
	switch g.IntN(4) {
	case 0:
		p = "^(?:" + p + ")$"
	case 1:
		p = "^" + p
	case 2:
		p += "$"
	}
	return p
}

// toECMA rewrites what this package and regexp write differently. The dot of
// regexp excludes line feeds only; no other line end is in the random texts.
func toECMA(p string) string { return strings.ReplaceAll(p, `\x{1F600}`, `\u{1F600}`) }

func TestAgainstRegexp(t *testing.T) {
	g := patterns{Rand: rand.New(rand.NewPCG(1, 2))}
	for i := range 4000 {
		g.anchors = i%2 == 0
		p := g.pattern()
		re, err := regexp.Compile(p)
		if err != nil {
			t.Fatal(p, err)
		}
		s := NewStore(Limits{})
		e, err := s.Pattern(toECMA(p))
		if err != nil {
			t.Fatal(p, err)
		}
		e2, err := s.GoPattern(p)
		if err != nil {
			t.Fatal(p, err)
		}
		m, m2 := compile(t, s, e), compile(t, s, e2)
		for range 40 {
			text := g.text(7)
			want := re.MatchString(text)
			if got := accepts(t, m, text); got != want {
				t.Fatalf("%s = %s: %q: %v, regexp says %v", p, s.String(e), text, got, want)
			}
			if got := accepts(t, m2, text); got != want {
				t.Fatalf("go %s: %q: %v, regexp says %v", p, text, got, want)
			}
		}
		if q := m.Start(); q >= 0 {
			short := m.Shortest(q)
			if !re.MatchString(short) {
				t.Fatalf("%s: shortest %q doesn't match", p, short)
			}
		}
	}
}

var _ = fmt.Sprint

// Properties of emoji, which package unicode lacks; zod's z.emoji() asks for two.
func TestEmojiProperties(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{`^(\p{Extended_Pictographic}|\p{Emoji_Component})+$`, "😀👍🏽", "😀a"},
		{`^[\p{ExtPict}]$`, "❤", "x"},
		{`^\P{Extended_Pictographic}$`, "x", "❤"},
		{`^\p{Emoji}$`, "7", "q"},
		{`^\p{Emoji_Presentation}$`, "😀", "❤"},
		{`^\p{EMod}$`, "🏽", "👍"},
		{`^\p{Emoji_Modifier_Base}$`, "👍", "🏽"},
	} {
		s := NewStore(Limits{})
		e, err := s.Pattern(c.pattern)
		if err != nil {
			t.Error(err)
			continue
		}
		m := compile(t, s, e)
		for text, want := range map[string]bool{c.yes: true, c.no: false} {
			if got := accepts(t, m, text); got != want {
				t.Errorf("%s, %q: %v", c.pattern, text, got)
			}
		}
	}
}
