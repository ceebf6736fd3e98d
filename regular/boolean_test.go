package regular

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stencil-json/stencil/regular/runes"
)

// meaning is the direct definition of an expression: the positions in a text
// (bits) at which a string of it that starts at i may end.
type meaning func(text []rune, i int) uint64

// built is an expression with its meaning.
type built struct {
	e Expr
	m meaning
}

func (b built) holds(text string) bool {
	runes := []rune(text)
	return b.m(runes, 0)>>len(runes)&1 != 0
}

// builder generates random expressions with the exported constructors.
type builder struct {
	*rand.Rand
	s *Store
}

func setMeaning(rs []runes.Range) meaning {
	return func(text []rune, i int) uint64 {
		if i < len(text) && slices.ContainsFunc(rs, func(r runes.Range) bool { return r.Lo <= text[i] && text[i] <= r.Hi }) {
			return 1 << (i + 1)
		}
		return 0
	}
}

func wordMeaning(words ...string) meaning {
	return func(text []rune, i int) (to uint64) {
		for _, w := range words {
			rs := []rune(w)
			if len(text)-i >= len(rs) && string(text[i:i+len(rs)]) == w {
				to |= 1 << (i + len(rs))
			}
		}
		return to
	}
}

func repeatMeaning(m meaning, least, most int) meaning {
	return func(text []rune, i int) (to uint64) {
		at := uint64(1) << i
		step := func(from uint64) (next uint64) {
			for j := range len(text) + 1 {
				if from>>j&1 != 0 {
					next |= m(text, j)
				}
			}
			return next
		}
		// Further turns add nothing new: at most as many turns read something
		// as there are characters.
		for n := 0; ; n++ {
			if n >= least {
				to |= at
			}
			if n == most || n > least+len(text)+1 || at == 0 {
				return to
			}
			at = step(at)
		}
	}
}

func (b builder) leaf() built {
	switch b.IntN(8) {
	case 0:
		return built{b.s.Any(), func(text []rune, i int) uint64 { return 1<<(len(text)+1) - 1<<i }}
	case 1:
		least := b.IntN(4)
		most := least + b.IntN(4) - 1
		return built{b.s.Length(least, most), repeatMeaning(setMeaning(runes.All), least, most)}
	case 2, 3:
		w := []string{"", "a", "ab", "ba", "abc", "cé", "aa"}[b.IntN(7)]
		return built{b.s.Literal(w), wordMeaning(w)}
	case 4:
		var list []string
		for range b.IntN(6) {
			list = append(list, patterns{Rand: b.Rand}.text(4))
		}
		return built{b.s.Strings(list), wordMeaning(list...)}
	}
	sets := [][]runes.Range{runes.Of('a', 'a'), runes.Of('a', 'b'), runes.Of('b', 'é'), runes.Of(0, 'a', 'c', runes.Max), runes.Of('c', 'c', 'é', 0xFFFF), {}}
	set := sets[b.IntN(len(sets))]
	return built{b.s.Class(set), setMeaning(set)}
}

func (b builder) expr(depth int) built {
	if depth == 0 || b.IntN(6) == 0 {
		return b.leaf()
	}
	x, y := b.expr(depth-1), b.expr(depth-1)
	switch b.IntN(7) {
	case 0, 1:
		return built{b.s.Concat(x.e, y.e), func(text []rune, i int) (to uint64) {
			mid := x.m(text, i)
			for j := i; j <= len(text); j++ {
				if mid>>j&1 != 0 {
					to |= y.m(text, j)
				}
			}
			return to
		}}
	case 2:
		return built{b.s.Or(x.e, y.e), func(text []rune, i int) uint64 { return x.m(text, i) | y.m(text, i) }}
	case 3, 4:
		return built{b.s.And(x.e, y.e), func(text []rune, i int) uint64 { return x.m(text, i) & y.m(text, i) }}
	case 5:
		return built{b.s.Not(x.e), func(text []rune, i int) uint64 { return ^x.m(text, i) & (1<<(len(text)+1) - 1<<i) }}
	}
	least := b.IntN(3)
	most := least + b.IntN(4) - 1
	if b.IntN(8) == 0 {
		least, most = b.IntN(3)*20, 40+b.IntN(100)
	}
	if most < least {
		most = -1
	}
	return built{b.s.Repeat(x.e, least, most), repeatMeaning(x.m, least, most)}
}

// shortTexts holds all texts of up to four characters of a small alphabet.
var shortTexts = func() []string {
	texts, level := []string{""}, []string{""}
	for range 4 {
		var next []string
		for _, t := range level {
			for _, c := range []string{"a", "b", "c", "é"} {
				next = append(next, t+c)
			}
		}
		texts = append(texts, next...)
		level = next
	}
	return texts
}()

func TestAgainstMeaning(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	exceeded := 0
	const n = 1500
	for i := range n {
		b := builder{r, NewStore(Limits{Steps: 1 << 13})}
		x := b.expr(4)
		m, err := b.s.Compile(x.e)
		if err != nil {
			exceeded++
			continue
		}
		if !within(m, shortTexts) {
			exceeded++
			continue
		}
		accepted := 0
		for _, text := range shortTexts {
			want := x.holds(text)
			if want {
				accepted++
			}
			if got := accepts(t, m, text); got != want {
				t.Fatalf("%d: %s: %q: got %v, want %v", i, b.s.String(x.e), text, got, want)
			}
		}
		for range 10 {
			text := patterns{Rand: r}.text(20)
			if !within(m, []string{text}) {
				exceeded++
				break
			}
			if got, want := accepts(t, m, text), x.holds(text); got != want {
				t.Fatalf("%d: %s: %q: got %v, want %v", i, b.s.String(x.e), text, got, want)
			}
		}
		if m.Start() == Dead || m.Err() != nil {
			continue
		}
		checkShortest(t, b, m, x)
		checkHead(t, b, m)
		checkAlive(t, b, m)
		checkLoosen(t, b, m)
		checkCount(t, b, m, x, accepted)
		if m.Err() != nil {
			exceeded++
		}
	}
	if exceeded > n/50 {
		t.Errorf("%d of %d expressions exceeded a limit", exceeded, n)
	}
}

// within reports whether the texts can be read without exceeding a limit.
func within(m *Machine, texts []string) bool {
	for _, text := range texts {
		q := m.Start()
		for _, r := range text {
			q = m.Step(q, r)
		}
		if m.Err() != nil {
			return false
		}
	}
	return true
}

// checkShortest checks that every state reached by a short text has a
// completion that is accepted, and none that is shorter.
func checkShortest(t *testing.T, b builder, m *Machine, x built) {
	for _, text := range shortTexts[:21] {
		q := m.Start()
		for _, c := range text {
			q = m.Step(q, c)
		}
		if q == Dead {
			continue
		}
		short := m.Shortest(q)
		if m.Err() != nil || len([]rune(short)) > 20 {
			continue // the plain definition can't hold more
		}
		if !x.holds(text + short) {
			t.Fatalf("%s: after %q: completion %q isn't accepted", b.s.String(x.e), text, short)
		}
		for _, other := range shortTexts {
			if len([]rune(other)) < len([]rune(short)) && x.holds(text+other) {
				t.Fatalf("%s: after %q: %q is shorter than %q", b.s.String(x.e), text, other, short)
			}
		}
	}
}

func checkHead(t *testing.T, b builder, m *Machine) {
	for q, steps := m.Start(), 0; steps < 6 && q != Dead; steps++ {
		set, most := m.Head(q)
		if (set == nil) != (most == 0) {
			t.Fatalf("%s: head %v, %d", b.s.String(m.at(q).expr), set, most)
		}
		for range 6 {
			at, left := q, most
			if left < 0 || left > 150 {
				left = 150
			}
			for range left {
				r := set[b.IntN(len(set))]
				c := r.Lo + rune(b.IntN(int(r.Hi-r.Lo)+1))
				if b.IntN(2) == 0 {
					c = r.Lo
				}
				if at = m.Step(at, c); at == Dead {
					if m.Err() != nil {
						return
					}
					t.Fatalf("%s: head %v, %d leads to no live state", b.s.String(m.at(q).expr), set, most)
				}
			}
		}
		edges := m.Ranges(q)
		if len(edges) == 0 {
			return
		}
		q = edges[b.IntN(len(edges))].To
	}
}

// checkAlive compares Alive with steps.
func checkAlive(t *testing.T, b builder, m *Machine) {
	for range 10 {
		first, second := patterns{Rand: b.Rand}.text(3), patterns{Rand: b.Rand}.text(12)
		q := m.Start()
		for _, r := range first {
			q = m.Step(q, r)
		}
		got, end := m.Alive(q, []byte(second)), q
		for _, r := range second {
			end = m.Step(end, r)
		}
		if m.Err() == nil && got != (end != Dead) {
			t.Fatalf("%s: after %q, alive under %q: %v", b.s.String(m.at(m.Start()).expr), first, second, got)
		}
	}
}

// checkLoosen compares a state with its loosened one for short enough texts.
func checkLoosen(t *testing.T, b builder, m *Machine) {
	for range 5 {
		q := m.Start()
		for _, r := range (patterns{Rand: b.Rand}).text(3) {
			q = m.Step(q, r)
		}
		if q == Dead {
			continue
		}
		n := 1 + b.IntN(8)
		to, at := m.Loosen(q, n)
		for range 10 {
			text := patterns{Rand: b.Rand}.text(n)
			x, y := q, at
			for _, r := range text {
				x, y = m.Step(x, r), to.Step(y, r)
			}
			if m.Err() == nil && ((x == Dead) != (y == Dead) || m.Accepting(x) != to.Accepting(y)) {
				t.Fatalf("%s loosened for %d is %s: they differ after %q",
					b.s.String(m.at(q).expr), n, b.s.String(to.at(at).expr), text)
			}
		}
	}
}

// checkCount compares Count with the strings that a walk over the machine
// finds, each of which must be accepted by definition.
func checkCount(t *testing.T, b builder, m *Machine, x built, accepted int) {
	const limit = 60
	n := m.Count(m.Start(), limit)
	if m.Err() != nil {
		return
	}
	if n < min(accepted, limit) {
		t.Fatalf("%s: count %d, but %d short texts are accepted", b.s.String(x.e), n, accepted)
	}
	type place struct {
		q    State
		text string
	}
	level, found, whole := []place{{m.Start(), ""}}, 0, true
	for depth := 0; len(level) > 0 && depth < 200 && found < limit; depth++ {
		var next []place
		for _, at := range level {
			if m.Accepting(at.q) {
				if !x.holds(at.text) {
					t.Fatalf("%s: the walk finds %q", b.s.String(x.e), at.text)
				}
				found++
			}
			for _, d := range m.Ranges(at.q) {
				for c := d.Lo; c <= d.Hi; c++ {
					if len(next) == limit {
						whole = false
						break
					}
					next = append(next, place{d.To, at.text + string(c)})
				}
			}
		}
		if depth >= 20 {
			return // more than the plain definition can hold
		}
		level = next
	}
	if found >= limit && n != limit || whole && n != min(found, limit) {
		t.Fatalf("%s: count %d, but the walk finds %d", b.s.String(x.e), n, found)
	}
}

func TestBooleanIdentities(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 3000 {
		b := builder{r, NewStore(Limits{})}
		s := b.s
		x, y, z := b.expr(2).e, b.expr(2).e, b.expr(2).e
		for name, pair := range map[string][2]Expr{
			"double complement":      {s.Not(s.Not(x)), x},
			"union commutes":         {s.Or(x, y), s.Or(y, x)},
			"intersection commutes":  {s.And(x, y), s.And(y, x)},
			"union is idempotent":    {s.Or(x, x), x},
			"meet is idempotent":     {s.And(x, x), x},
			"excluded middle":        {s.Or(x, s.Not(x)), s.Any()},
			"contradiction":          {s.And(x, s.Not(x)), s.Empty()},
			"any is neutral in meet": {s.And(x, s.Any()), x},
			"empty annihilates":      {s.Concat(x, s.Empty(), y), s.Empty()},
			"epsilon is neutral":     {s.Concat(s.Epsilon(), x, s.Epsilon()), x},
			"concat associates":      {s.Concat(s.Concat(x, y), z), s.Concat(x, s.Concat(y, z))},
		} {
			if pair[0] == pair[1] {
				continue
			}
			// The difference shows what the shape doesn't.
			differ := s.Or(s.And(pair[0], s.Not(pair[1])), s.And(pair[1], s.Not(pair[0])))
			m, err := s.Compile(differ)
			if err != nil {
				continue
			}
			if m.Start() != Dead {
				t.Fatalf("%s: x = %s, y = %s, z = %s: differ by %q", name, s.String(x), s.String(y), s.String(z), m.Shortest(m.Start()))
			}
		}
	}
}

func TestPrint(t *testing.T) {
	s := NewStore(Limits{})
	pattern := func(p string) Expr {
		e, err := s.Pattern(p)
		if err != nil {
			t.Fatal(p, err)
		}
		return e
	}
	for _, c := range []struct {
		e    Expr
		want string
	}{
		{s.Empty(), "∅"},
		{s.Epsilon(), "ε"},
		{s.Any(), "Σ*"},
		{pattern(`^[a-c]x?$`), "[a-c]x?"},
		{pattern(`^(ab|ac)$`), "a[bc]"},
		{pattern(`^(abx|acy)$`), "a(bx|cy)"},
		{pattern(`^a*aa{2,3}$`), "a{3,}"},
		{pattern(`x+`), "Σ*xΣ*"},
		{pattern(`^x-`), "x-Σ*"},
		{pattern(`^(a|b|)$`), "[ab]?"},
		{pattern(`^a(?=.b)`), "a[^\\u{A}\\u{D}\\u{2028}\\u{2029}]bΣ*"},
		{pattern(`^(?!ab)[a-z]+$`), "[a-z]+&~(abΣ*)"},
		{s.And(pattern(`^[a-z]+$`), s.Length(3, 5)), "[a-z]{3,5}"},
		{s.And(pattern(`^x-[a-z]*\.md$`), s.Length(0, 10)), "x-[a-z]{0,5}\\.md"},
		{s.And(s.Not(s.Literal("ab")), s.Not(s.Literal("cd"))), "~(ab|cd)"},
		{s.Not(s.Length(2, 4)), "(Σ|Σ{5,})?"},
		{s.And(s.Literal("abc"), s.Length(4, 9)), "∅"},
		{s.Strings([]string{"b", "a", "ax", "b"}), "<ax?|b>"},
	} {
		if got := s.String(c.e); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
