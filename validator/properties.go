package validator

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2"

	"github.com/stencil-json/stencil/regular/runes"
)

// propertyRanges returns the characters of a binary property of Unicode that the pattern libraries don't know, such as
// those of emoji, or all others. The tables are data of Unicode: they are all that patterns share with the engine.
func propertyRanges(name string, others bool) ([]runes.Range, bool) {
	set, ok := runes.Property(name)
	if !ok || !others {
		return set, ok
	}
	var rest []runes.Range
	next := rune(0)
	for _, r := range set {
		if r.Lo > next {
			rest = append(rest, runes.Range{Lo: next, Hi: r.Lo - 1})
		}
		next = r.Hi + 1
	}
	if next <= utf8.MaxRune {
		rest = append(rest, runes.Range{Lo: next, Hi: utf8.MaxRune})
	}
	return rest, true
}

// classOf spells ranges as members of a class of Go's package regexp.
func classOf(ranges []runes.Range) string {
	var b strings.Builder
	for _, r := range ranges {
		b.WriteString(literal(r.Lo) + "-" + literal(r.Hi))
	}
	return b.String()
}

// spellProperties replaces properties that regexp2 doesn't know by their characters, in a pattern of ECMA-262.
func spellProperties(src string) string {
	if !strings.Contains(src, `\p{`) && !strings.Contains(src, `\P{`) {
		return src
	}
	var b strings.Builder
	inClass := false
	for src != "" {
		switch {
		case strings.HasPrefix(src, `\p{`), strings.HasPrefix(src, `\P{`):
			name, rest, found := strings.Cut(src[3:], "}")
			escape := src[:len(src)-len(rest)]
			src = rest
			if _, err := regexp2.Compile(escape, regexp2.ECMAScript|regexp2.Unicode); !found || err == nil {
				b.WriteString(escape)
				continue
			}
			ranges, ok := propertyRanges(name, escape[1] == 'P')
			if !ok {
				b.WriteString(escape)
				continue
			}
			if !inClass {
				b.WriteByte('[')
			}
			for _, r := range ranges {
				fmt.Fprintf(&b, `\u{%x}-\u{%x}`, r.Lo, r.Hi)
			}
			if !inClass {
				b.WriteByte(']')
			}
			continue
		case src[0] == '\\' && len(src) > 1:
			b.WriteString(src[:2])
			src = src[2:]
			continue
		case src[0] == '[':
			inClass = true
		case src[0] == ']':
			inClass = false
		}
		b.WriteByte(src[0])
		src = src[1:]
	}
	return b.String()
}
