package validator

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The characters that are white space in ECMA-262, and all others.
const (
	space    = `\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	nonSpace = `\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
)

// translate converts a pattern to the syntax of Go's package regexp. It reports
// false if that syntax can't express the pattern, or if the standards leave its
// meaning open.
func translate(src string) (string, bool) {
	t := &translator{rest: src}
	for t.rest != "" && !t.failed {
		t.next()
	}
	return t.out.String(), !t.failed && utf8.ValidString(src)
}

type translator struct {
	rest   string
	out    strings.Builder
	sets   map[string]string // of properties that have occurred
	failed bool
}

// counted is a quantifier with numbers.
var counted = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)

// next translates one element.
func (t *translator) next() {
	switch c := t.rest[0]; c {
	case '.':
		t.out.WriteString(`[^\n\r\x{2028}\x{2029}]`)
		t.rest = t.rest[1:]
	case '[':
		t.class()
	case '\\':
		t.escape()
	case '(':
		t.group()
	case '{':
		if q := counted.FindString(t.rest); q != "" {
			t.out.WriteString(q)
			t.rest = t.rest[len(q):]
			return
		}
		t.out.WriteString(`\{`)
		t.rest = t.rest[1:]
	case ']', '}':
		t.out.WriteString(`\` + string(c))
		t.rest = t.rest[1:]
	default:
		_, n := utf8.DecodeRuneInString(t.rest)
		t.out.WriteString(t.rest[:n])
		t.rest = t.rest[n:]
	}
}

// group translates the start of a group.
func (t *translator) group() {
	switch {
	case strings.HasPrefix(t.rest, "(?:"):
		t.out.WriteString("(?:")
		t.rest = t.rest[3:]
	case strings.HasPrefix(t.rest, "(?<") && len(t.rest) > 3 && t.rest[3] != '=' && t.rest[3] != '!':
		name, rest, found := strings.Cut(t.rest[3:], ">")
		if t.failed = !found || name == ""; !t.failed {
			t.out.WriteString("(")
			t.rest = rest
		}
	case strings.HasPrefix(t.rest, "(?"):
		t.failed = true // lookaround, flags
	default:
		t.out.WriteString("(")
		t.rest = t.rest[1:]
	}
}

// escape translates a backslash and the characters that it escapes, outside classes.
func (t *translator) escape() {
	if len(t.rest) < 2 {
		t.failed = true
		return
	}
	switch c := t.rest[1]; c {
	case 's', 'S':
		t.out.WriteString("[" + map[byte]string{'s': space, 'S': nonSpace}[c] + "]")
		t.rest = t.rest[2:]
	case 'b', 'B':
		t.out.WriteString(t.rest[:2])
		t.rest = t.rest[2:]
	default:
		if set, ok := t.set(false); ok {
			t.out.WriteString(set)
		} else if r, ok := t.character(); ok {
			t.out.WriteString(literal(r))
		} else {
			t.failed = true
		}
	}
}

// set reads an escape that stands for a set and has the same meaning inside and
// outside classes. Inside, the result may be several members.
func (t *translator) set(inClass bool) (string, bool) {
	switch c := t.rest[1]; c {
	case 'd', 'D', 'w', 'W':
		set := t.rest[:2]
		t.rest = t.rest[2:]
		return set, true
	case 'p', 'P':
		name, rest, found := strings.Cut(t.rest[2:], "}")
		name, open := strings.CutPrefix(name, "{")
		if !found || !open {
			return "", false
		}
		for _, prefix := range []string{"Script=", "sc=", "General_Category=", "gc="} {
			name = strings.TrimPrefix(name, prefix)
		}
		if name == "Any" {
			name = `\x00-\x{10ffff}`
			t.rest = rest
			return map[byte]string{'p': "[" + name + "]", 'P': "[^" + name + "]"}[c], false // rare; left to the backtracking library
		}
		key := fmt.Sprint(t.rest[:len(t.rest)-len(rest)], inClass)
		set, known := t.sets[key]
		if !known {
			set = shortCategories.Replace(fmt.Sprintf(`\%c{%s}`, c, name))
			if _, err := regexp.Compile(set); err != nil {
				ranges, ok := propertyRanges(name, c == 'P')
				if !ok {
					return "", false
				}
				if set = classOf(ranges); !inClass {
					set = "[" + set + "]"
				}
			}
			if t.sets == nil {
				t.sets = map[string]string{}
			}
			t.sets[key] = set
		}
		t.rest = rest
		return set, true
	}
	return "", false
}

var controls = map[byte]rune{'t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r'}

// character reads a backslash and the characters that it escapes as one character.
func (t *translator) character() (rune, bool) {
	c := t.rest[1]
	if r, ok := controls[c]; ok {
		t.rest = t.rest[2:]
		return r, true
	}
	switch {
	case c == '0' && (len(t.rest) == 2 || t.rest[2] < '0' || t.rest[2] > '9'):
		t.rest = t.rest[2:]
		return 0, true
	case c == 'c' && len(t.rest) > 2 && isLetter(t.rest[2]):
		r := rune(t.rest[2] % 32)
		t.rest = t.rest[3:]
		return r, true
	case c == 'x':
		return t.hex(2, 2)
	case c == 'u' && strings.HasPrefix(t.rest, `\u{`):
		end := strings.IndexByte(t.rest, '}')
		if end < 0 {
			return 0, false
		}
		r, err := strconv.ParseUint(t.rest[3:end], 16, 32)
		if err != nil || r > utf8.MaxRune {
			return 0, false
		}
		t.rest = t.rest[end+1:]
		return rune(r), !utf16.IsSurrogate(rune(r))
	case c == 'u':
		r, ok := t.hex(2, 4)
		if ok && utf16.IsSurrogate(r) {
			if !strings.HasPrefix(t.rest, `\u`) {
				return 0, false
			}
			low, ok := t.hex(2, 4)
			r = utf16.DecodeRune(r, low)
			return r, ok && r != utf8.RuneError
		}
		return r, ok
	case c < utf8.RuneSelf && !isLetter(c) && (c < '0' || c > '9') && c != '_':
		t.rest = t.rest[2:]
		return rune(c), true
	}
	return 0, false // back-references, and letters without a meaning
}

// hex reads digits hexadecimal digits after skipping skip bytes.
func (t *translator) hex(skip, digits int) (rune, bool) {
	if len(t.rest) < skip+digits {
		return 0, false
	}
	r, err := strconv.ParseUint(t.rest[skip:skip+digits], 16, 32)
	if err != nil {
		return 0, false
	}
	t.rest = t.rest[skip+digits:]
	return rune(r), true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// literal returns an escape for a character, for use inside and outside classes.
func literal(r rune) string { return fmt.Sprintf(`\x{%x}`, r) }

// class translates a class in brackets.
func (t *translator) class() {
	t.rest = t.rest[1:]
	rest, negated := strings.CutPrefix(t.rest, "^")
	t.rest = rest
	var b strings.Builder
	for !t.failed && !strings.HasPrefix(t.rest, "]") {
		if t.rest == "" {
			t.failed = true
			return
		}
		first, single := t.member(&b)
		if t.failed || len(t.rest) < 2 || t.rest[0] != '-' || t.rest[1] == ']' {
			if single {
				b.WriteString(literal(first))
			}
			continue
		}
		t.rest = t.rest[1:]
		var other strings.Builder
		last, alsoSingle := t.member(&other)
		if t.failed = t.failed || !single || !alsoSingle || last < first; t.failed {
			return // a set can't be an end of a range
		}
		b.WriteString(literal(first) + "-" + literal(last))
	}
	if t.failed {
		return
	}
	t.rest = t.rest[1:]
	switch inside := b.String(); {
	case inside == "" && negated:
		t.out.WriteString(`[\x00-\x{10ffff}]`)
	case inside == "":
		t.out.WriteString(`[^\x00-\x{10ffff}]`)
	case negated:
		t.out.WriteString("[^" + inside + "]")
	default:
		t.out.WriteString("[" + inside + "]")
	}
}

// member reads one member of a class: either a character, which it returns, or a
// set, which it writes to b.
func (t *translator) member(b *strings.Builder) (r rune, single bool) {
	if t.rest == "" {
		t.failed = true
		return 0, false
	}
	if t.rest[0] != '\\' {
		r, n := utf8.DecodeRuneInString(t.rest)
		t.rest = t.rest[n:]
		return r, true
	}
	if len(t.rest) < 2 {
		t.failed = true
		return 0, false
	}
	switch t.rest[1] {
	case 's', 'S':
		b.WriteString(map[byte]string{'s': space, 'S': nonSpace}[t.rest[1]])
		t.rest = t.rest[2:]
		return 0, false
	case 'b':
		t.rest = t.rest[2:]
		return '\b', true
	}
	if set, ok := t.set(true); ok {
		b.WriteString(set)
		return 0, false
	}
	if r, ok := t.character(); ok {
		return r, true
	}
	t.failed = true
	return 0, false
}
