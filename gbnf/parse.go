package gbnf

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/regular"
)

// parser reads GBNF. It stops at the first error by panicking with a value of
// type stop, which parse recovers; it does not panic otherwise.
type parser struct {
	src      string
	pos      int
	limits   Limits
	meter    *meter.Meter
	rule     string // the current rule
	elements int
	depth    int
	file     *file
}

// stop carries an error out of the parser.
type stop struct{ err error }

// parse reads a grammar. Errors are *InvalidError or *LimitError.
func parse(src string, limits Limits, work *meter.Meter) (f *file, err error) {
	if len(src) > limits.Source {
		return nil, &LimitError{Limit: "Source", Max: limits.Source}
	}
	p := &parser{src: src, limits: limits, meter: work, file: &file{source: src, index: map[string]int32{}}}
	defer func() {
		if r := recover(); r != nil {
			s, ok := r.(stop)
			if !ok {
				panic(r)
			}
			f, err = nil, s.err
		}
	}()
	p.checkText()
	p.space(true)
	for p.pos < len(p.src) {
		p.definition()
	}
	return p.file, nil
}

// checkText rejects a source that is not UTF-8.
func (p *parser) checkText() {
	if utf8.ValidString(p.src) {
		return
	}
	for i := 0; i < len(p.src); {
		r, n := utf8.DecodeRuneInString(p.src[i:])
		if r == utf8.RuneError && n == 1 {
			p.failAt(i, "malformed UTF-8: byte 0x%02X", p.src[i])
		}
		i += n
	}
}

func (p *parser) failAt(pos int, format string, args ...any) {
	panic(stop{&InvalidError{[]Issue{issueAt(p.src, pos, p.rule, fmt.Sprintf(format, args...))}}})
}

func (p *parser) fail(format string, args ...any) { p.failAt(p.pos, format, args...) }

// copyElements is how many copies of elements, from a group into the one around it, count as an element.
const copyElements = 64

// count counts an element of the grammar.
func (p *parser) count() {
	p.meter.Step(1)
	if p.elements++; p.elements > p.limits.Elements {
		p.limit("Elements", p.limits.Elements)
	}
}

func (p *parser) limit(name string, most int) {
	panic(stop{&LimitError{Limit: name, Max: most, Line: strings.Count(p.src[:p.pos], "\n") + 1}})
}

// at reports whether the source continues with s.
func (p *parser) at(s string) bool { return strings.HasPrefix(p.src[p.pos:], s) }

// found describes the text at the current position, for errors.
func (p *parser) found() string {
	if p.pos >= len(p.src) {
		return "the end of the grammar"
	}
	switch r, _ := utf8.DecodeRuneInString(p.src[p.pos:]); r {
	case '\n', '\r':
		return "the end of the line"
	default:
		return strconv.QuoteRune(r)
	}
}

// space skips white space and comments, and with lines also line ends.
func (p *parser) space(lines bool) {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == ' ' || c == '\t' || lines && (c == '\n' || c == '\r'):
			p.pos++
		case c == '#':
			for p.pos < len(p.src) && p.src[p.pos] != '\n' && p.src[p.pos] != '\r' {
				p.pos++
			}
		default:
			return
		}
	}
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// name reads a name, which may be empty.
func (p *parser) name() string {
	from := p.pos
	for p.pos < len(p.src) && isNameByte(p.src[p.pos]) {
		p.pos++
	}
	return p.src[from:p.pos]
}

// definition reads one rule with its line end.
func (p *parser) definition() {
	p.meter.Step(1)
	r := &rule{pos: int32(p.pos)}
	if r.name = p.name(); r.name == "" {
		p.fail("expected the name of a rule, found %s", p.found())
	}
	p.space(false)
	if !p.at("::=") {
		p.fail("expected ::= after the name %q, found %s", r.name, p.found())
	}
	if first, ok := p.file.index[r.name]; ok {
		line, _ := lineColumn(p.src, int(p.file.rules[first].pos))
		p.failAt(int(r.pos), "rule %q is defined twice, first in line %d", r.name, line)
	}
	p.rule = r.name
	p.pos += len("::=")
	p.space(true)
	r.body = p.choice(false)
	if p.pos < len(p.src) && !p.at("\n") && !p.at("\r") {
		p.fail("expected an element or the end of the line, found %s", p.found())
	}
	p.space(true)
	p.rule = ""
	p.file.index[r.name] = int32(len(p.file.rules))
	p.file.rules = append(p.file.rules, r)
}

// choice reads alternatives; nested reports whether a group is open.
func (p *parser) choice(nested bool) *expr {
	pos := int32(p.pos)
	list := []*expr{p.sequence(nested)}
	for p.alternative() {
		p.meter.Step(1)
		p.pos++
		p.space(true)
		list = append(list, p.sequence(nested))
	}
	return p.joined(opChoice, pos, list)
}

// alternative reports whether a | follows, possibly on the next line.
func (p *parser) alternative() bool {
	after := p.pos
	p.space(true)
	if p.at("|") {
		return true
	}
	p.pos = after
	return false
}

// joined returns a sequence or choice of the elements, without a level of its
// own if that isn't needed.
func (p *parser) joined(o op, pos int32, list []*expr) *expr {
	if len(list) == 1 {
		return list[0] // without a copy, or groups around a long list would make many
	}
	flat := make([]*expr, 0, len(list))
	for _, e := range list {
		// An empty sequence within a sequence is dropped; within a choice it is
		// kept.
		if e.op == o {
			p.meter.Step(len(e.sub) / 16)
			if p.elements += len(e.sub) / copyElements; p.elements > p.limits.Elements {
				p.limit("Elements", p.limits.Elements)
			}
			flat = append(flat, e.sub...)
		} else {
			flat = append(flat, e)
		}
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return &expr{op: o, pos: pos, sub: flat}
}

// sequence reads elements up to the end of an alternative.
func (p *parser) sequence(nested bool) *expr {
	pos := int32(p.pos)
	var list []*expr
	for p.pos < len(p.src) {
		start := p.pos
		var e *expr
		switch c := p.src[p.pos]; {
		case c == '"':
			e = &expr{op: opLiteral, pos: int32(start), text: p.literal()}
		case c == '[':
			e = p.class()
		case c == '.':
			p.pos++
			e = &expr{op: opAny, pos: int32(start)}
		case c == '(':
			e = p.group()
		case c == '<' || c == '!':
			e = p.token()
		case isNameByte(c):
			e = &expr{op: opRef, pos: int32(start), text: p.name()}
			after := p.pos
			p.space(false)
			if p.at("::=") {
				p.failAt(start, "the definition of rule %q begins before this rule has ended", e.text)
			}
			p.pos = after
		case strings.IndexByte("*+?{", c) >= 0:
			p.fail("%q has nothing before it to repeat", c)
		default:
			return p.joined(opSequence, pos, list)
		}
		p.count()
		p.space(nested)
		list = append(list, p.repeats(e, nested))
	}
	return p.joined(opSequence, pos, list)
}

// repeats reads the repetition operators after an element.
func (p *parser) repeats(e *expr, nested bool) *expr {
	for p.pos < len(p.src) {
		least, most := int32(0), int32(unbounded)
		at := p.pos
		switch p.src[p.pos] {
		case '*':
		case '+':
			least = 1
		case '?':
			most = 1
		case '{':
			least, most = p.counts(nested)
		default:
			return e
		}
		p.pos++
		p.count()
		p.nest(e, at)
		e = &expr{op: opRepeat, pos: e.pos, min: least, max: most, sub: []*expr{e}}
		p.space(nested)
	}
	return e
}

// nest bounds consecutive repetition operators, each of which is a level.
func (p *parser) nest(e *expr, at int) {
	levels := p.depth
	for ; e.op == opRepeat; e = e.sub[0] {
		p.meter.Step(1)
		if levels++; levels > p.limits.Nesting {
			p.pos = at
			p.limit("Nesting", p.limits.Nesting)
		}
	}
}

// counts reads {m}, {m,} or {m,n} up to the closing brace.
func (p *parser) counts(nested bool) (least, most int32) {
	open := p.pos
	p.pos++
	p.space(nested)
	least = p.number("a count")
	p.space(nested)
	most = least
	if p.at(",") {
		p.pos++
		p.space(nested)
		most = unbounded
		if !p.at("}") {
			most = p.number("a count or }")
			p.space(nested)
		}
	}
	if !p.at("}") {
		p.fail("expected } or a comma, found %s", p.found())
	}
	if most != unbounded && most < least {
		p.failAt(open, "count {%d,%d} is reversed", least, most)
	}
	return least, most
}

// number reads decimal digits.
func (p *parser) number(what string) int32 {
	from := p.pos
	for p.pos < len(p.src) && '0' <= p.src[p.pos] && p.src[p.pos] <= '9' {
		p.pos++
	}
	if from == p.pos {
		p.fail("expected %s, found %s", what, p.found())
	}
	n, err := strconv.ParseInt(p.src[from:p.pos], 10, 32)
	if err != nil {
		p.failAt(from, "number is larger than %d", math.MaxInt32)
	}
	return int32(n)
}

// group reads ( … ).
func (p *parser) group() *expr {
	open := p.pos
	if p.depth++; p.depth > p.limits.Nesting {
		p.limit("Nesting", p.limits.Nesting)
	}
	p.pos++
	p.space(true)
	e := p.choice(true)
	if !p.at(")") {
		if p.pos >= len(p.src) {
			p.failAt(open, "group is not closed")
		}
		p.fail("expected an element or ), found %s", p.found())
	}
	p.pos++
	p.depth--
	return e
}

// literal reads "…".
func (p *parser) literal() string {
	open := p.pos
	p.pos++
	var b strings.Builder
	from := p.pos
	for {
		switch {
		case p.pos >= len(p.src):
			p.failAt(open, "text is not closed")
		case p.src[p.pos] == '"':
			b.WriteString(p.src[from:p.pos])
			p.pos++
			return b.String()
		case p.src[p.pos] == '\\':
			b.WriteString(p.src[from:p.pos])
			b.WriteRune(p.escape())
			from = p.pos
		default:
			p.pos++
		}
	}
}

// class reads [ … ].
func (p *parser) class() *expr {
	e := &expr{op: opClass, pos: int32(p.pos)}
	p.pos++
	if p.at("^") {
		e.negated = true
		p.pos++
	}
	for !p.at("]") {
		start := p.pos
		lo := p.classChar(e)
		hi := lo
		if p.at("-") && !p.at("-]") {
			p.pos++
			hi = p.classChar(e)
		}
		p.count()
		if hi < lo {
			if len(p.file.empty) < maxIssues {
				p.file.empty = append(p.file.empty, issueAt(p.src, start, p.rule, fmt.Sprintf("range %s is reversed and holds nothing", p.src[start:p.pos])))
			}
			continue
		}
		e.ranges = append(e.ranges, regular.Range{Lo: lo, Hi: hi})
	}
	if len(e.ranges) == 0 && !e.negated {
		p.failAt(int(e.pos), "set %s is empty and matches nothing", p.src[e.pos:p.pos+1])
	}
	p.pos++
	if e.negated && len(normal(e.ranges, true)) == 0 {
		p.failAt(int(e.pos), "set %s leaves out every character", p.src[e.pos:p.pos])
	}
	return e
}

// classChar reads one character of a set.
func (p *parser) classChar(class *expr) rune {
	if p.pos >= len(p.src) {
		p.failAt(int(class.pos), "set is not closed")
	}
	if p.src[p.pos] == '\\' {
		return p.escape()
	}
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	return r
}

// escape reads a backslash and the characters that it escapes.
func (p *parser) escape() rune {
	start := p.pos
	p.pos++
	if p.pos >= len(p.src) {
		p.failAt(start, "backslash at the end of the grammar")
	}
	c := p.src[p.pos]
	p.pos++
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case '\\', '"', '[', ']':
		return rune(c)
	case 'x':
		return p.hex(start, 2)
	case 'u':
		return p.hex(start, 4)
	case 'U':
		return p.hex(start, 8)
	}
	p.pos--
	r, _ := utf8.DecodeRuneInString(p.src[p.pos:])
	p.failAt(start, `unknown escape \%c`, r)
	return 0
}

// hex reads the digits of an escape that starts at start.
func (p *parser) hex(start, digits int) rune {
	end := p.pos
	for end < len(p.src) && end < p.pos+digits && isHex(p.src[end]) {
		end++
	}
	if end-p.pos < digits {
		p.failAt(start, `\%c needs %d hexadecimal digits`, p.src[start+1], digits)
	}
	n, _ := strconv.ParseUint(p.src[p.pos:end], 16, 32)
	p.pos = end
	if n > utf8.MaxRune {
		p.failAt(start, "U+%X is beyond the last code point, U+10FFFF", n)
	}
	if lowestSurrogate <= n && n <= highestSurrogate {
		p.failAt(start, "U+%X is a surrogate, half a character", n)
	}
	return rune(n)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// token reads <…> or <[…]>, optionally preceded by !.
func (p *parser) token() *expr {
	e := &expr{op: opToken, pos: int32(p.pos)}
	if p.at("!") {
		e.negated = true
		p.pos++
		if !p.at("<") {
			p.fail("expected < after !, found %s", p.found())
		}
	}
	if p.at("<[") {
		p.pos += len("<[")
		e.min = p.number("the number of a token")
		if !p.at("]>") {
			p.fail("expected ]>, found %s", p.found())
		}
		p.pos += len("]>")
		return e
	}
	from := p.pos
	for {
		switch {
		case p.pos >= len(p.src) || p.at("\n") || p.at("\r"):
			p.failAt(from, "token is not closed")
		case p.src[p.pos] == '>':
			p.pos++
			e.text = p.src[from:p.pos]
			if e.text == "<>" {
				p.failAt(from, "token without a text")
			}
			return e
		}
		p.pos++
	}
}

// issueAt returns an issue for a position in the source.
func issueAt(src string, pos int, rule, reason string) Issue {
	line, column := lineColumn(src, pos)
	from := strings.LastIndexByte(src[:pos], '\n') + 1
	text := src[from:]
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		text = text[:end]
	}
	if runes := []rune(text[:min(len(text), 4*shownColumns)]); len(runes) > shownColumns {
		text = string(runes[:shownColumns]) + "…"
	}
	return Issue{Line: line, Column: column, Rule: rule, Reason: reason, Source: text}
}

// shownColumns is the number of characters shown of a long line.
const shownColumns = 200

// lineColumn returns the line and column of an offset, both from 1.
func lineColumn(src string, pos int) (line, column int) {
	before := src[:pos]
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}
