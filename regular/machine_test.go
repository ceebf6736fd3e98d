package regular

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stencil-json/stencil/regular/runes"
)

func TestConcurrentUse(t *testing.T) {
	s := NewStore(Limits{})
	var list []Expr
	for _, p := range []string{`^(?:\S+\s+){0,99}\S+$`, `^((?!mode)(?!Mode).)*$`, `(\w+-)*[a-f]{2,9}\d`} {
		e, err := s.Pattern(p)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e, s.And(e, s.Length(2, 30)))
	}
	for _, name := range []string{"date-time", "email", "idn-hostname", "regex"} {
		e, _ := s.Format(name)
		list = append(list, e)
	}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			r := rand.New(rand.NewPCG(uint64(worker), 0))
			for range 60 {
				m, err := s.Compile(list[r.IntN(len(list))])
				if err != nil {
					t.Error(err)
					return
				}
				q := m.Start()
				for _, c := range sample(r, m) {
					q = m.Step(q, c)
				}
				if !m.Accepting(q) {
					t.Error("a made-up text isn't accepted")
				}
				m.Count(q, 10)
				m.Head(q)
			}
		}()
	}
	group.Wait()
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		limits Limits
		name   string
		run    func(s *Store) error
	}{
		{Limits{PatternBytes: 10}, "PatternBytes", func(s *Store) error {
			_, err := s.Pattern("^[a-z]{1,64}$")
			return err
		}},
		{Limits{Nodes: 50}, "Nodes", func(s *Store) error {
			s.Literal(strings.Repeat("abc", 100))
			_, err := s.Compile(s.Any())
			return err
		}},
		{Limits{States: 10}, "States", func(s *Store) error {
			m, err := s.Compile(s.Length(20, 20))
			if err != nil {
				return err
			}
			for q := m.Start(); q != Dead; {
				q = m.Step(q, 'x')
			}
			return m.Err()
		}},
		// One step combines many expressions here, though the Store has few.
		{Limits{}, "Work", func(s *Store) error {
			e, err := s.Pattern(`^((([a-z ]{1,1000}){1,1000},?){1,1000}x?){1,1000}$`)
			if err != nil {
				return err
			}
			m, err := s.Compile(s.And(e, s.Length(300, -1)))
			if err != nil {
				return err
			}
			m.Shortest(m.Start())
			return m.Err()
		}},
		{Limits{Steps: 100}, "Steps", func(s *Store) error {
			odd, even := s.Repeat(s.Literal("ab"), 0, -1), s.Repeat(s.Literal("aba"), 0, -1)
			long := s.And(s.Concat(odd, s.Literal("x")), s.Concat(even, s.Length(0, 300), s.Literal("y")))
			_, err := s.Compile(long)
			if err == nil {
				// The ends differ, so this is empty; an exhausted search may report
				// that.
				return (&LimitError{"Steps", 100})
			}
			return err
		}},
	} {
		err := c.run(NewStore(c.limits))
		if err == nil || !strings.Contains(err.Error(), "limit "+c.name+" ") {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

func TestCased(t *testing.T) {
	for r := rune(runes.LastCased); r <= runes.Max; r++ {
		if unicode.SimpleFold(r) != r {
			t.Fatalf("%U folds", r)
		}
	}
}

// TestLargeCounts walks counters too large to be unrolled.
func TestLargeCounts(t *testing.T) {
	s := NewStore(Limits{})
	for _, c := range []struct{ pattern, text string }{
		{`^a{1,1000000}$`, "aaaa"},
		{`^.{1,255}$`, "some text"},
		{`^(.{0,1000}x){0,1000}$`, strings.Repeat("abx", 30)},
		{`^((a{0,1000}b){0,1000}c){0,1000}$`, "aabbcabc"},
		{`x.{0,1000}y`, "xxaxby"},
		{`^(?=.{1,100000}$)([a-z]{1,63}\.){1,127}[a-z]+$`, "www.example.com"},
	} {
		e, err := s.Pattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if m := compile(t, s, e); !accepts(t, m, c.text) {
			t.Errorf("%s doesn't accept %q", c.pattern, c.text)
		}
	}
	e, _ := s.Pattern(`^[a-z]+([.][a-z]+)*$`)
	m := compile(t, s, s.And(e, s.Length(0, 100000)))
	before := s.size
	if !accepts(t, m, "a.b.c") || s.size > before+100 {
		t.Errorf("a length bound took %d expressions", s.size-before)
	}
}

func TestSyntax(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no string // texts that match and that don't, separated by ¦
		err     string
	}{
		{pattern: `^[^]$`, yes: "a¦\n¦é"},
		{pattern: `^\d\D\w\W\s\S$`, yes: "1aa- x", no: "1aaa x"},
		{pattern: `^\cJ\x41\u0042\u{43}$`, yes: "\nABC"},
		{pattern: `^\uD83D\uDE00$`, yes: "😀"},
		{pattern: `^[\uD83D\uDE00-😂]$`, yes: "😀¦😁¦😂", no: "😃"},
		{pattern: `^a{,3}b{x}$`, yes: "a{,3}b{x}"},
		{pattern: `^]}{$`, yes: "]}{"},
		{pattern: `^(?<year>\d{4})$`, yes: "2024"},
		{pattern: `^(?P<year>\d{4})$`, yes: "2024"},
		{pattern: `\Aab\Z`, yes: "ab", no: "xab¦abx"},
		{pattern: `(?i)^straße$`, yes: "StRaße¦straẞe", no: "strasze"},
		{pattern: `^(?i:a)b$`, yes: "ab¦Ab", no: "AB¦aB"},
		{pattern: `^(?s:.)$`, yes: "\n"},
		{pattern: `^.$`, yes: "a¦\u0085", no: "\n¦\r¦\u2028¦\u2029"},
		{pattern: `(?m)^b$`, yes: "a\nb\nc¦b", no: "ab"},
		{pattern: `^\s$`, yes: "\ufeff¦\u00a0¦\v¦\u2029", no: "\u0085¦\u200b"},
		{pattern: `^\p{Lu}\p{Script=Greek}\P{L}\p{digit}$`, yes: "Äα-৪", no: "äα-4"},
		{pattern: `^\pL$`, yes: "x", no: "pL"},
		{pattern: `^[\w-z]$`, yes: "-¦a", no: "+"},
		{pattern: `^[a\-z\]]$`, yes: "a¦-¦z¦]", no: "b"},
		{pattern: `^\07\101\0$`, yes: "\aA\x00"},
		{pattern: `^(?=.*\d)(?=.*[a-z]).{3,}$`, yes: "a1b¦11a", no: "abc¦123¦a1"},
		{pattern: `\bfoo\b`, yes: "a foo b¦foo", no: "food¦xfoo"},
		{pattern: `(?<![a-z])x`, yes: "x¦1x", no: "ax"},
		{pattern: `(?<=\$)\d+`, yes: "cost $5", no: "cost 5"},
		{pattern: `^(?:(?!ab).)*$`, yes: "ba¦aac", no: "ab¦xaby"},
		{pattern: `(^a)b|c$`, yes: "ab¦abc¦xc", no: "xab¦ca"},
		{pattern: `^$|^a`, yes: "a", no: "b"},
		{pattern: `a||b`, yes: "x"},
		{pattern: `(a)\1`, err: "offset 3: unsupported: back-reference"},
		{pattern: `(?<n>a)\k<n>`, err: "back-reference"},
		{pattern: `(?>a)`, err: "atomic group"},
		{pattern: `a++`, err: "possessive"},
		{pattern: `a**`, err: "offset 2: nothing to repeat"},
		{pattern: `*a`, err: "nothing to repeat"},
		{pattern: `(a`, err: "offset 0: missing )"},
		{pattern: `a)`, err: "offset 1: unmatched )"},
		{pattern: `[a`, err: "missing ]"},
		{pattern: `[b-a]`, err: "offset 1: range out of order"},
		{pattern: `a{2,1}`, err: "out of order"},
		{pattern: `a\`, err: `\ at the end`},
		{pattern: `\p{Nope}`, err: `unknown property "Nope"`},
		{pattern: `(?x)a b`, err: "flag x"},
		{pattern: `(?<=a(?=b))b`, err: "looking ahead within a look-behind"},
		{pattern: `^*`, err: "an assertion can't be repeated"},
		{pattern: strings.Repeat("(", 600), err: "nested groups"},
	} {
		s := NewStore(Limits{})
		e, err := s.Pattern(c.pattern)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, want %s", c.pattern, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		m := compile(t, s, e)
		for _, text := range strings.Split(c.yes, "¦") {
			if !accepts(t, m, text) {
				t.Errorf("%s doesn't match %q", c.pattern, text)
			}
		}
		for _, text := range strings.Split(c.no, "¦") {
			if c.no != "" && accepts(t, m, text) {
				t.Errorf("%s matches %q", c.pattern, text)
			}
		}
	}
}

func TestLoosenFormats(t *testing.T) {
	for _, name := range []string{"email", "hostname"} {
		s := NewStore(Limits{})
		e, _ := s.Format(name)
		m := compile(t, s, e)
		seen := map[State]bool{}
		q := m.Start()
		for _, r := range "a.b.c.d.e.f.g.h.i.j" {
			q = m.Step(q, r)
			_, at := m.Loosen(q, 16)
			seen[at] = true
		}
		if len(seen) > 4 {
			t.Errorf("%s: %d loosened states", name, len(seen))
		}
	}
}

func TestShortestTooLong(t *testing.T) {
	s := NewStore(Limits{Text: 1000})
	m, err := s.Compile(s.Repeat(s.Literal("x"), 2000, 3000))
	if err != nil {
		t.Fatal(err)
	}
	if got, least := m.Shortest(m.Start()), m.Least(m.Start()); got != "" || least != 2000 || m.Err() != nil {
		t.Errorf("%d characters, at least %d, %v", len(got), least, m.Err())
	}
}
