package regular

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/regular/runes"
)

// ends returns the positions of a text (bits of the result) at which a match of
// t may end that starts at one of the positions in from. It checks the
// translation without using expressions.
func ends(t *tree, text []rune, from uint64) uint64 {
	var to uint64
	keep := func(holds func(i int) bool) {
		for i := 0; i <= len(text); i++ {
			if from>>i&1 != 0 && holds(i) {
				to |= 1 << i
			}
		}
	}
	switch t.kind {
	case kindText:
		to = from
		for _, r := range t.text {
			to = ends(&tree{kind: kindClass, set: runes.Of(r, r)}, text, to)
		}
	case kindClass:
		keep(func(i int) bool { return i < len(text) && runes.Contains(t.set, text[i]) })
		to <<= 1
	case kindSeq:
		to = from
		for _, sub := range t.subs {
			to = ends(sub, text, to)
		}
	case kindAlt:
		for _, sub := range t.subs {
			to |= ends(sub, text, from)
		}
	case kindRepeat:
		for range t.least {
			from = ends(t.subs[0], text, from)
		}
		to = from
		for n := t.least; n < t.most && from != 0; n++ {
			from = ends(t.subs[0], text, from) &^ to
			to |= from
		}
	case kindStart:
		keep(func(i int) bool { return i == 0 })
	case kindEnd:
		keep(func(i int) bool { return i == len(text) })
	case kindWord:
		word := func(i int) bool { return i >= 0 && i < len(text) && runes.Contains(wordChars, text[i]) }
		keep(func(i int) bool { return (word(i-1) != word(i)) != t.negated })
	case kindAhead:
		keep(func(i int) bool { return (ends(t.subs[0], text, 1<<i) != 0) != t.negated })
	case kindBehind:
		keep(func(i int) bool { return (ends(t.subs[0], text, 1<<(i+1)-1)>>i&1 != 0) != t.negated })
	}
	return to
}

func searchTree(t *tree, text string) bool {
	runes := []rune(text)
	return ends(t, runes, 1<<(len(runes)+1)-1) != 0
}

// aroundAtom is atom with assertions of every kind.
func (g patterns) aroundAtom(depth int) string {
	if depth > 0 {
		switch g.IntN(9) {
		case 0:
			return g.pick("(?=", "(?!") + g.aroundAlt(depth-1) + ")"
		case 1:
			return g.pick("(?<=", "(?<!") + g.pick("a", "b", "ab", "^a", "a*", "^", "[ab]b", "b|^", "a{2}", "[^a]c?") + ")"
		case 2:
			return g.pick("^", "$", `\b`, `\B`)
		case 3, 4:
			return "(" + g.aroundAlt(depth-1) + ")" + g.pick("", "*", "+", "?", "{2}", "{0,2}", "{1,3}", "{2,}")
		}
	}
	return g.pick("a", "b", "[ab]", "[^a]", ".", "-", `\w`, "a*", "b+", ".*", "a?", "[ab]{1,2}", "b{2,}")
}

func (g patterns) aroundAlt(depth int) string {
	var list []string
	for {
		var b strings.Builder
		for range g.IntN(4) {
			b.WriteString(g.aroundAtom(depth))
		}
		list = append(list, b.String())
		if g.IntN(3) > 0 {
			return strings.Join(list, "|")
		}
	}
}

func TestLookAroundAgainstPlaces(t *testing.T) {
	g := patterns{Rand: rand.New(rand.NewPCG(3, 4))}
	refused, exceeded := 0, 0
	const n = 3000
	for range n {
		p := g.aroundAlt(3)
		tree, err := parsePattern(p)
		if err != nil {
			t.Fatal(p, err)
		}
		s := NewStore(Limits{Steps: 2000})
		e, err := s.Pattern(p)
		if err != nil {
			refused++
			continue
		}
		m, err := s.Compile(e)
		if err != nil {
			exceeded++
			continue
		}
		for range 30 {
			text := g.text(6)
			if g.IntN(2) == 0 {
				text = strings.Repeat(g.pick("a", "ab", "b", "-a"), g.IntN(4)) + text
			}
			q := m.Start()
			for _, r := range text {
				q = m.Step(q, r)
			}
			if m.Err() != nil {
				exceeded++
				break
			}
			want := searchTree(tree, text)
			if got := accepts(t, m, text); got != want {
				t.Fatalf("%s = %s: %q: got %v, want %v", p, s.String(e), text, got, want)
			}
		}
		if m.Start() != Dead {
			short := m.Shortest(m.Start())
			if m.Err() == nil && !searchTree(tree, short) {
				t.Fatalf("%s: shortest %q doesn't match", p, short)
			}
		}
	}
	// Nested look-around can exceed any limit; in random patterns it is rare.
	if refused > n/100 || exceeded > n/200 {
		t.Errorf("of %d patterns %d were refused and %d exceeded a limit", n, refused, exceeded)
	}
}
