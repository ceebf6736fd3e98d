package validator

import (
	"errors"
	"strings"
	"testing"
)

// misjudged lists the cases in which the other matcher departs from ECMA-262.
var misjudged = map[string]bool{"^a.c$ a\u2028c": false, `^\uD83D\uDE00$ 😀`: true}

// Both matchers agree on all patterns that both can read.
func TestTranslated(t *testing.T) {
	patterns := []string{
		`^a.c$`, `\d+`, `^\D$`, `\w\W`, `^\s$`, `^\S$`, `[\s]`, `[^\s]`, `[\S]`, `[^\S]`, `^[a-f0-9]{2,4}$`, `a{,3}`, `x{`, `x}`, `]`,
		`^\u0041$`, `^\x41$`, `^\u{1F600}$`, `^\uD83D\uDE00$`, `[\uD83D\uDE00-\uD83D\uDE02]`, `\cA`, `\0`, `[\b]`, `\bword\b`, `[[]`, `[\]]`,
		`[a\-z]`, `[-a]`, `[a-]`, `[^]`, `(?:a|b)+`, `(?<n>a)b`, `\p{L}`, `^\p{Letter}+$`, `\P{Lu}`, `[\p{Nd}_]`, `\p{Script=Greek}`, `a+?b*?`,
		`\/\.\-\[`, `^$`, ``, `\t\n\v\f\r`, `(|a)b`, `^(a|ab)(c|bcd)$`, `é`, `[à-ü]`,
	}
	texts := []string{
		"", "a", "abc", "a\nc", "a\u2028c", "a\u00a0c", "A", "b", "1", "٣", " ", "\u00a0", "\ufeff", "\u200b", "\u180e", "é", "😀", "😂", "\x01", "\x00", "\b",
		"word", "a word.", "[", "]", "-", "{", "}", "x{", "xx", "a{,3}", "aaa", "ffff", "0a", "α", "Lu", "/.-[", "\t\n\v\f\r", "ab", "abcd", "_", "ü", "\u2003",
	}
	for _, src := range patterns {
		p, err := NewPattern(src)
		if err != nil {
			t.Errorf("%q: %v", src, err)
			continue
		}
		if !p.Linear() {
			t.Errorf("%q is not matched in linear time", src)
			continue
		}
		judge, err := p.backtracking()
		if err != nil {
			continue
		}
		for _, s := range texts {
			want, err := judge.MatchString(s)
			if err != nil {
				t.Fatal(err)
			}
			if right, wrong := misjudged[src+" "+s]; wrong {
				want = right
			}
			if got, err := p.Match(t.Context(), s); got != want || err != nil {
				t.Errorf("%q on %q: %v %v, the other matcher says %v", src, s, got, err, want)
			}
		}
	}
}

func TestNotLinear(t *testing.T) {
	for src, is := range map[string]bool{
		`^(?=a)b`: false, `(?!x)`: false, `(?<=a)b`: false, `(a)\1`: false, `(?<n>a)\k<n>`: false, `a{1,5000}`: false, `^(a+)+$`: true,
	} {
		if p, err := NewPattern(src); err != nil || p.Linear() != is {
			t.Errorf("%q: %v", src, err)
		}
	}
}

func TestSlowPattern(t *testing.T) {
	p, err := NewPattern(`^(?=a)(\w+\s?)+$`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Match(t.Context(), strings.Repeat("a", 60)+"!"); !errors.Is(err, ErrUndecided) {
		t.Error(err)
	}
	if ok, err := p.Match(t.Context(), "a b c"); err != nil || !ok {
		t.Error(ok, err)
	}
}

// Properties of emoji are data that both matchers get from tables, as neither library knows them.
func TestEmojiProperties(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{`^(\p{Extended_Pictographic}|\p{Emoji_Component})+$`, "😀👍🏽", "😀a"},
		{`^[\p{ExtPict}x]$`, "❤", "y"},
		{`^[\P{ExtPict}]$`, "x", "❤"},
		{`^[^\p{ExtPict}]$`, "x", "❤"},
		{`^\P{Extended_Pictographic}$`, "x", "❤"},
		{`^\p{Emoji}\p{ASCII}$`, "7x", "qx"},
		{`^\p{Emoji_Modifier_Base}$`, "👍", "🏽"},
	} {
		for _, linear := range []bool{true, false} {
			src := c.pattern
			if !linear {
				src = `(?=.)` + src // lookaheads need the other matcher
			}
			p, err := NewPattern(src)
			if err != nil {
				t.Error(err)
				continue
			}
			if p.Linear() != linear {
				t.Errorf("%s: linear: %v", src, p.Linear())
			}
			for text, want := range map[string]bool{c.yes: true, c.no: false} {
				if got, err := p.Match(t.Context(), text); got != want || err != nil {
					t.Errorf("%s on %q: %v %v", src, text, got, err)
				}
			}
		}
	}
}
