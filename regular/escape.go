package regular

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stencil-json/stencil/regular/runes"
)

var (
	digits    = runes.Of('0', '9')
	wordChars = runes.Of('0', '9', 'A', 'Z', '_', '_', 'a', 'z')
	spaces    = runes.Of('\t', '\r', ' ', ' ', 0xA0, 0xA0, 0x1680, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029, 0x202F, 0x202F, 0x205F, 0x205F, 0x3000, 0x3000, 0xFEFF, 0xFEFF)

	notDigits    = runes.AppendComplement(nil, digits)
	notWordChars = runes.AppendComplement(nil, wordChars)
	notSpaces    = runes.AppendComplement(nil, spaces)
)

// escape reads an escape outside a class.
func (p *parser) escape() (*tree, error) {
	at := p.at
	if at+1 >= len(p.text) {
		return nil, p.wrong(at, `\ at the end`)
	}
	switch c := p.text[at+1]; c {
	case 'b', 'B':
		t := p.assertion(kindWord)
		t.negated = c == 'B'
		p.at += 2
		return t, nil
	case 'A':
		t := p.assertion(kindStart)
		p.at += 2
		return t, nil
	case 'z', 'Z':
		t := p.assertion(kindEnd)
		p.at += 2
		return t, nil
	case 'k':
		if strings.HasPrefix(p.text[at+2:], "<") {
			return nil, p.refuse(at, "back-reference")
		}
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if p.reference(at+1) <= p.capturing() {
			return nil, p.refuse(at, "back-reference")
		}
	}
	set, single, err := p.classEscape()
	if err != nil {
		return nil, err
	}
	if set == nil {
		set = runes.Of(single, single)
		if isSurrogate(single) {
			set = nil
		}
	}
	return p.setOf(set), nil
}

// reference reads the number of a back-reference.
func (p *parser) reference(at int) int {
	n := 0
	for ; at < len(p.text) && p.text[at] >= '0' && p.text[at] <= '9' && n < 1<<20; at++ {
		n = n*10 + int(p.text[at]-'0')
	}
	return n
}

// capturing counts the capturing groups of the whole pattern.
func (p *parser) capturing() int {
	if p.groups >= 0 {
		return p.groups
	}
	p.groups = 0
	inClass := false
	for i := 0; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '[':
			inClass = true
		case ']':
			inClass = false
		case '(':
			rest := p.text[i+1:]
			named := strings.HasPrefix(rest, "?P<") ||
				strings.HasPrefix(rest, "?<") && !strings.HasPrefix(rest, "?<=") && !strings.HasPrefix(rest, "?<!")
			if !inClass && (named || !strings.HasPrefix(rest, "?")) {
				p.groups++
			}
		}
	}
	return p.groups
}

func isSurrogate(r rune) bool { return r >= runes.SurrogateLow && r <= runes.SurrogateHigh }

// classEscape reads an escape of a set or of a single character.
func (p *parser) classEscape() (set []runes.Range, single rune, err error) {
	at := p.at
	if at+1 >= len(p.text) {
		return nil, 0, p.wrong(at, `\ at the end`)
	}
	p.at += 2
	switch c := p.text[at+1]; c {
	case 'd':
		return digits, 0, nil
	case 'D':
		return notDigits, 0, nil
	case 's':
		return spaces, 0, nil
	case 'S':
		return notSpaces, 0, nil
	case 'w':
		return wordChars, 0, nil
	case 'W':
		if p.flags.ignoreCase {
			return runes.AppendComplement(nil, runes.FoldCase(wordChars)), 0, nil
		}
		return notWordChars, 0, nil
	case 'p', 'P':
		return p.property(at, c == 'P')
	case 'f':
		return nil, '\f', nil
	case 'n':
		return nil, '\n', nil
	case 'r':
		return nil, '\r', nil
	case 't':
		return nil, '\t', nil
	case 'v':
		return nil, '\v', nil
	case 'c':
		if p.more() && isLetter(p.text[p.at]) {
			p.at++
			return nil, rune(p.text[p.at-1] & 31), nil
		}
		p.at = at + 1 // the backslash stands for itself
		return nil, '\\', nil
	case 'x':
		if v, ok := p.hex(2); ok {
			return nil, v, nil
		}
		return nil, 'x', nil
	case 'u':
		r, err := p.unicodeEscape(at)
		return nil, r, err
	case '0', '1', '2', '3', '4', '5', '6', '7':
		p.at = at + 1
		return nil, p.octal(), nil
	}
	r, width := utf8.DecodeRuneInString(p.text[at+1:])
	p.at = at + 1 + width
	return nil, r, nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// octal reads the one to three digits of a legacy octal escape, \0 included.
func (p *parser) octal() rune {
	v := rune(0)
	for i := 0; i < 3 && p.more() && p.text[p.at] >= '0' && p.text[p.at] <= '7' && v < 32; i++ {
		v = v*8 + rune(p.text[p.at]-'0')
		p.at++
	}
	return v
}

// hex reads n hexadecimal digits.
func (p *parser) hex(n int) (rune, bool) {
	if p.at+n > len(p.text) {
		return 0, false
	}
	v := rune(0)
	for _, c := range []byte(p.text[p.at : p.at+n]) {
		d := hexDigit(c)
		if d < 0 {
			return 0, false
		}
		v = v<<4 | d
	}
	p.at += n
	return v, true
}

func hexDigit(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

// unicodeEscape reads the rest of an escape after \u. A pair of surrogates is
// one character.
func (p *parser) unicodeEscape(at int) (rune, error) {
	if p.skip("{") {
		v, n := rune(0), 0
		for p.more() && hexDigit(p.text[p.at]) >= 0 && v <= runes.Max {
			v = v<<4 | hexDigit(p.text[p.at])
			p.at++
			n++
		}
		if n == 0 || v > runes.Max || !p.skip("}") {
			return 0, p.wrong(at, `\u{…} is no code point`)
		}
		return v, nil
	}
	high, ok := p.hex(4)
	if !ok {
		return 'u', nil
	}
	if high >= 0xD800 && high < 0xDC00 {
		back := p.at
		if p.skip(`\u`) {
			if low, ok := p.hex(4); ok && low >= 0xDC00 && low <= 0xDFFF {
				return (high-0xD800)<<10 + (low - 0xDC00) + 0x10000, nil
			}
		}
		p.at = back
	}
	return high, nil
}

// property reads the rest of an escape after \p or \P.
func (p *parser) property(at int, negated bool) ([]runes.Range, rune, error) {
	var name string
	if p.skip("{") {
		end := strings.IndexByte(p.text[p.at:], '}')
		if end < 0 {
			return nil, 0, p.wrong(at, "missing }")
		}
		name = p.text[p.at : p.at+end]
		p.at += end + 1
		if strings.HasPrefix(name, "^") {
			name, negated = name[1:], !negated
		}
	} else {
		// Other dialects allow \pL, which would mean p followed by L here.
		if !p.more() || strings.IndexByte("LMNPSZC", p.text[p.at]) < 0 {
			return nil, rune(p.text[at+1]), nil
		}
		name = p.text[p.at : p.at+1]
		p.at++
	}
	set, ok := runes.Property(name)
	if !ok {
		return nil, 0, p.refuse(at, fmt.Sprintf("unknown property %q", name))
	}
	if negated {
		set = runes.AppendComplement(make([]runes.Range, 0, len(set)+1), set)
	}
	return set, 0, nil
}

// class reads a bracketed class.
func (p *parser) class() (*tree, error) {
	at := p.at
	p.at++
	negated := p.skip("^")
	set := make([]runes.Range, 0, 8)
	for {
		if !p.more() {
			return nil, p.wrong(at, "missing ]")
		}
		if p.skip("]") {
			break
		}
		from := p.at
		many, lo, err := p.classAtom()
		if err != nil {
			return nil, err
		}
		if !p.peek('-') || p.at+1 >= len(p.text) || p.text[p.at+1] == ']' {
			if many == nil {
				set = append(set, runes.Range{Lo: lo, Hi: lo})
			}
			set = append(set, many...)
			continue
		}
		p.at++
		many2, hi, err := p.classAtom()
		if err != nil {
			return nil, err
		}
		switch {
		case many != nil || many2 != nil:
			// A set at either end makes the dash an ordinary character.
			if many == nil {
				set = append(set, runes.Range{Lo: lo, Hi: lo})
			}
			if many2 == nil {
				set = append(set, runes.Range{Lo: hi, Hi: hi})
			}
			set = append(append(append(set, many...), many2...), runes.Range{Lo: '-', Hi: '-'})
		case hi < lo:
			return nil, p.wrong(from, "range out of order in a class")
		default:
			set = append(set, runes.Range{Lo: lo, Hi: hi})
		}
	}
	set = runes.Normalise(set)
	if p.flags.ignoreCase {
		set = runes.FoldCase(set)
	}
	if negated {
		set = runes.AppendComplement(make([]runes.Range, 0, len(set)+1), set)
	}
	t := p.node(kindClass)
	t.offset, t.set = at, set
	return t, nil
}

// classAtom reads one member of a class, a set or one character.
func (p *parser) classAtom() (set []runes.Range, single rune, err error) {
	if p.peek('\\') {
		switch {
		case p.skip(`\b`):
			return nil, '\b', nil
		case p.skip(`\-`):
			return nil, '-', nil
		}
		return p.classEscape()
	}
	r, width := utf8.DecodeRuneInString(p.text[p.at:])
	p.at += width
	return nil, r, nil
}
