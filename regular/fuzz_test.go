package regular

import (
	"testing"
	"unicode/utf8"
)

var fuzzPatterns = []string{
	``, `a`, `^[a-zA-Z0-9_-]{1,64}$`, `^\d{4}-\d{2}$`, `(^a)b|c$`, `a{0,1000}b{3,}?`, `((a*)*)*$`, `(.{0,1000}x){0,1000}`,
	`^((?!foo).)*$`, `(?<=a|^)b\b`, `(?=.*\d)(?=.*[a-z]).{8,}`, `[^\s\w]`, `\p{Lu}\P{L}`, `\u{1F600}\uD83D\uDE00\x41\cA\0\12`,
	`(?i)Straße`, `(?s:.)(?m:^x$)`, `x{`, `]{}`, `[]`, `[^]`, `[z-a]`, `(`, `)`, `a**`, `\1(a)`, `(?<n>a)\k<n>`, `(?P<n>a)`,
	`\A\w+\Z`, `(a|b|ab){2,}?c`, `(?<!a{2})b`, `(\b\w+\b ?)+`, `^(?:\S+\s+){0,99}\S+$`, `[\b\-\]]`, `^(a?){50}a{50}$`,
}

// FuzzPattern checks that every text is handled in bounded time, and that the
// machine of an accepted pattern keeps its guarantees.
func FuzzPattern(f *testing.F) {
	for _, p := range fuzzPatterns {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		s := NewStore(Limits{PatternBytes: 1000, Nodes: 20000, States: 2000, Steps: 2000})
		e, err := s.Pattern(p)
		if err != nil {
			return
		}
		_ = s.String(e)
		m, err := s.Compile(e)
		if err != nil {
			return
		}
		q := m.Start()
		for i := 0; q != Dead && i < 8; i++ {
			set, most := m.Head(q)
			for at, n := q, 0; set != nil && n != most && n < 20; n++ {
				if at = m.Step(at, set[n%len(set)].Lo); at == Dead && m.Err() == nil {
					t.Fatalf("%q: head %v, %d is dead after %d", p, set, most, n)
				}
			}
			end := q
			for _, r := range m.Shortest(q) {
				end = m.Step(end, r)
			}
			if m.Err() != nil {
				return
			}
			if !m.Accepting(end) && m.Least(q) <= s.limits.Text {
				t.Fatalf("%q: %q isn't accepted after %d steps", p, m.Shortest(q), i)
			}
			edges := m.Ranges(q)
			if len(edges) == 0 {
				break
			}
			q = edges[i*7%len(edges)].To
		}
	})
}

// FuzzMatch compares with the plain matcher over the syntax tree.
func FuzzMatch(f *testing.F) {
	for _, p := range fuzzPatterns {
		f.Add(p, "a2b foo\nx_Y-é")
	}
	f.Fuzz(func(t *testing.T, p, text string) {
		if !utf8.ValidString(text) || utf8.RuneCountInString(text) > 60 {
			return
		}
		tree, err := parsePattern(p)
		if err != nil || work(tree) > 1000 {
			return
		}
		s := NewStore(Limits{PatternBytes: 1000, Nodes: 20000, States: 2000, Steps: 2000})
		e, err := s.Pattern(p)
		if err != nil {
			return
		}
		m, err := s.Compile(e)
		if err != nil {
			return
		}
		q := m.Start()
		for _, r := range text {
			q = m.Step(q, r)
		}
		if m.Err() != nil {
			return
		}
		if got, want := accepts(t, m, text), searchTree(tree, text); got != want {
			t.Errorf("%q = %s: %q: got %v, want %v", p, s.String(e), text, got, want)
		}
	})
}

// work estimates the number of turns that the direct matcher makes in a tree.
func work(t *tree) int {
	n := 1
	for _, sub := range t.subs {
		n += work(sub)
	}
	if t.kind == kindRepeat && t.least > 1 {
		n *= int(min(t.least, 10000))
	}
	return min(n, 1<<20)
}
