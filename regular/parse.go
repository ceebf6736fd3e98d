package regular

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/stencil-json/stencil/regular/runes"
)

type kind uint8

const (
	kindSeq    kind = iota // subs, in sequence
	kindAlt                // one of subs
	kindText               // text, character by character
	kindClass              // one character of set
	kindRepeat             // subs[0], least to most times
	kindStart              // no text precedes
	kindEnd                // no text follows
	kindWord               // word characters on exactly one side; not, if negated
	kindAhead              // the following text starts with subs[0]; doesn't, if negated
	kindBehind             // the preceding text ends with subs[0]; doesn't, if negated
)

// tree is the syntax tree of a pattern. Groups are not part of it.
type tree struct {
	kind        kind
	asserts     bool // the tree contains an assertion
	negated     bool
	offset      int
	least, most int32
	text        string
	set         []runes.Range
	subs        []*tree
}

// parser reads ECMAScript patterns with the u flag, and falls back on the
// leniency of browsers without it for patterns that have a meaning only that
// way.
type parser struct {
	text   string
	at     int
	depth  int
	flags  mode
	groups int // number of capturing groups in the pattern, -1 until counted
	slab   []tree
}

// mode holds the flags in force.
type mode struct{ ignoreCase, dotAll, multiline bool }

func parsePattern(text string) (*tree, error) {
	p := parser{text: text, groups: -1}
	if err := p.leadingFlags(); err != nil {
		return nil, err
	}
	t, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if p.at < len(p.text) {
		return nil, p.wrong(p.at, "unmatched )")
	}
	return t, nil
}

func (p *parser) wrong(at int, reason string) error { return &SyntaxError{at, reason} }

func (p *parser) refuse(at int, reason string) error { return &UnsupportedError{at, reason} }

func (p *parser) node(k kind) *tree {
	if len(p.slab) == 0 {
		p.slab = make([]tree, 12)
	}
	t := &p.slab[0]
	p.slab = p.slab[1:]
	t.kind, t.offset = k, p.at
	return t
}

func (p *parser) more() bool { return p.at < len(p.text) }

func (p *parser) peek(c byte) bool { return p.at < len(p.text) && p.text[p.at] == c }

func (p *parser) skip(prefix string) bool {
	if strings.HasPrefix(p.text[p.at:], prefix) {
		p.at += len(prefix)
		return true
	}
	return false
}

// alternatives reads up to a closing parenthesis or the end.
func (p *parser) alternatives() (*tree, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.refuse(p.at, fmt.Sprintf("more than %d nested groups", maxDepth))
	}
	defer func() { p.depth-- }()
	first, err := p.sequence()
	if err != nil || !p.peek('|') {
		return first, err
	}
	alt := p.node(kindAlt)
	alt.subs = []*tree{first}
	alt.asserts = first.asserts
	for p.skip("|") {
		t, err := p.sequence()
		if err != nil {
			return nil, err
		}
		alt.subs = append(alt.subs, t)
		alt.asserts = alt.asserts || t.asserts
	}
	return alt, nil
}

func (p *parser) sequence() (*tree, error) {
	seq := p.node(kindSeq)
	for p.more() && p.text[p.at] != '|' && p.text[p.at] != ')' {
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		if t == nil {
			continue
		}
		seq.subs = append(seq.subs, t)
		seq.asserts = seq.asserts || t.asserts
	}
	if len(seq.subs) == 1 {
		return seq.subs[0], nil
	}
	return seq, nil
}

// term reads an atom with its quantifier; nil for one without an effect.
func (p *parser) term() (*tree, error) {
	if n := p.plainRun(); n > 0 {
		t := p.node(kindText)
		t.text = p.text[p.at : p.at+n]
		p.at += n
		return p.quantified(t, true)
	}
	at, group := p.at, p.peek('(')
	t, err := p.atom()
	if err != nil || t == nil {
		return t, err
	}
	switch t.kind {
	case kindStart, kindEnd, kindWord, kindBehind:
		return p.quantified(t, group && t.offset != at)
	}
	return p.quantified(t, true)
}

// plainRun returns the length of the ordinary characters ahead that form one
// atom: several, unless a quantifier follows, which applies to the last one
// only.
func (p *parser) plainRun() int {
	if p.flags.ignoreCase {
		return 0
	}
	n, last := 0, 0
	for p.at+n < len(p.text) && !strings.ContainsRune(`\^$.*+?()[]{}|`, rune(p.text[p.at+n])) {
		last = n
		_, width := utf8.DecodeRuneInString(p.text[p.at+n:])
		n += width
	}
	if last > 0 && p.at+n < len(p.text) && strings.IndexByte("*+?{", p.text[p.at+n]) >= 0 {
		return last
	}
	return n
}

func (p *parser) atom() (*tree, error) {
	at := p.at
	c, width := utf8.DecodeRuneInString(p.text[at:])
	switch c {
	case '(':
		return p.group()
	case '[':
		return p.class()
	case '\\':
		return p.escape()
	case '.':
		p.at++
		return p.setOf(p.dot()), nil
	case '^':
		t := p.assertion(kindStart)
		p.at++
		if p.flags.multiline {
			return p.lineEdge(t, kindBehind), nil
		}
		return t, nil
	case '$':
		t := p.assertion(kindEnd)
		p.at++
		if p.flags.multiline {
			return p.lineEdge(t, kindAhead), nil
		}
		return t, nil
	case '*', '+', '?':
		return nil, p.wrong(at, "nothing to repeat")
	case '{':
		if _, _, n := p.braces(at); n > 0 {
			return nil, p.wrong(at, "nothing to repeat")
		}
	}
	p.at += width
	return p.setOf(runes.Of(c, c)), nil
}

func (p *parser) assertion(k kind) *tree {
	t := p.node(k)
	t.asserts = true
	return t
}

// lineEdge returns the tree of ^ or $ with the m flag: the end of the text or a
// line end.
func (p *parser) lineEdge(edge *tree, look kind) *tree {
	ends := p.setOf(lineEnds)
	alt := p.node(kindAlt)
	alt.subs = []*tree{edge, ends}
	alt.asserts = true
	t := p.assertion(look)
	t.subs = []*tree{alt}
	return t
}

// setOf returns the tree of a class, which must be normalised.
func (p *parser) setOf(set []runes.Range) *tree {
	if p.flags.ignoreCase {
		set = runes.FoldCase(set)
	}
	t := p.node(kindClass)
	t.set = set
	return t
}

var lineEnds = runes.Of('\n', '\n', '\r', '\r', 0x2028, 0x2029)
var notLineEnds = runes.AppendComplement(nil, lineEnds)

func (p *parser) dot() []runes.Range {
	if p.flags.dotAll {
		return runes.All
	}
	return notLineEnds
}

// quantified reads the quantifier of t, if one follows.
func (p *parser) quantified(t *tree, allowed bool) (*tree, error) {
	if !p.more() {
		return t, nil
	}
	at := p.at
	least, most := int32(0), int32(infinite)
	switch p.text[at] {
	case '*':
		p.at++
	case '+':
		least = 1
		p.at++
	case '?':
		most = 1
		p.at++
	case '{':
		lo, hi, n := p.braces(at)
		if n == 0 {
			return t, nil
		}
		if lo > maxCount || hi > maxCount && hi != math.MaxInt64 {
			return nil, p.refuse(at, fmt.Sprintf("repetition count over %d", maxCount))
		}
		if hi < lo {
			return nil, p.wrong(at, "numbers out of order in a quantifier")
		}
		least, most = int32(lo), int32(min(hi, infinite))
		p.at += n
	default:
		return t, nil
	}
	if !p.skip("?") && p.peek('+') {
		return nil, p.refuse(p.at, "possessive quantifier")
	}
	if p.more() {
		switch p.text[p.at] {
		case '*', '+', '?':
			return nil, p.wrong(p.at, "nothing to repeat")
		case '{':
			if _, _, n := p.braces(p.at); n > 0 {
				return nil, p.wrong(p.at, "nothing to repeat")
			}
		}
	}
	if !allowed {
		return nil, p.wrong(at, "an assertion can't be repeated")
	}
	r := p.node(kindRepeat)
	r.least, r.most, r.asserts = least, most, t.asserts
	r.subs = []*tree{t}
	return r, nil
}

// braces reads {m}, {m,} or {m,n} at an offset; n is the length, or 0 if there
// is none, in which case the brace is literal.
func (p *parser) braces(at int) (least, most int64, n int) {
	i := at + 1
	number := func() (int64, bool) {
		v, start := int64(0), i
		for i < len(p.text) && p.text[i] >= '0' && p.text[i] <= '9' {
			v = min(v*10+int64(p.text[i]-'0'), maxCount+1)
			i++
		}
		return v, i > start
	}
	least, ok := number()
	if !ok {
		return 0, 0, 0
	}
	most = least
	if i < len(p.text) && p.text[i] == ',' {
		i++
		if most, ok = number(); !ok {
			most = math.MaxInt64
		}
	}
	if i >= len(p.text) || p.text[i] != '}' {
		return 0, 0, 0
	}
	return least, most, i + 1 - at
}

// group reads a construct that starts with a parenthesis.
func (p *parser) group() (*tree, error) {
	at := p.at
	p.at++
	if !p.peek('?') {
		return p.inner(at)
	}
	for _, look := range [...]struct {
		prefix  string
		kind    kind
		negated bool
	}{
		{"?=", kindAhead, false}, {"?!", kindAhead, true},
		{"?<=", kindBehind, false}, {"?<!", kindBehind, true},
	} {
		if !p.skip(look.prefix) {
			continue
		}
		t := p.assertion(look.kind)
		t.offset, t.negated = at, look.negated
		sub, err := p.inner(at)
		if err != nil {
			return nil, err
		}
		t.subs = []*tree{sub}
		return t, nil
	}
	switch {
	case p.skip("?:"):
		return p.inner(at)
	case p.skip("?<"), p.skip("?P<"), p.skip("?'"):
		end := strings.IndexAny(p.text[p.at:], ">'")
		if end <= 0 || strings.ContainsAny(p.text[p.at:p.at+end], "()[]|\\") {
			return nil, p.wrong(p.at, "group name expected")
		}
		p.at += end + 1
		return p.inner(at)
	case p.skip("?#"):
		end := strings.IndexByte(p.text[p.at:], ')')
		if end < 0 {
			return nil, p.wrong(at, "missing )")
		}
		p.at += end + 1
		return nil, nil
	case p.skip("?P="):
		return nil, p.refuse(at, "back-reference")
	case p.skip("?>"):
		return nil, p.refuse(at, "atomic group")
	}
	p.at++
	saved := p.flags
	if err := p.setFlags(at); err != nil {
		return nil, err
	}
	if p.skip(")") {
		return nil, p.refuse(at, "flags inside a pattern that are not for a group")
	}
	p.at++
	t, err := p.inner(at)
	p.flags = saved
	return t, err
}

// inner reads the rest of a group opened at an offset.
func (p *parser) inner(opened int) (*tree, error) {
	t, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if !p.skip(")") {
		return nil, p.wrong(opened, "missing )")
	}
	return t, nil
}

// leadingFlags reads (?i) and the like at the start, where other dialects apply
// them to the whole pattern.
func (p *parser) leadingFlags() error {
	for strings.HasPrefix(p.text[p.at:], "(?") {
		end := strings.IndexByte(p.text[p.at:], ')')
		if end < 3 || strings.Trim(p.text[p.at+2:p.at+end], "imsuxaLU") != "" {
			return nil
		}
		p.at += 2
		if err := p.setFlags(p.at); err != nil {
			return err
		}
		p.at++
	}
	return nil
}

// setFlags reads flags up to : or ).
func (p *parser) setFlags(opened int) error {
	on := true
	for ; p.more(); p.at++ {
		switch c := p.text[p.at]; c {
		case ':', ')':
			return nil
		case '-':
			on = false
		case 'i':
			p.flags.ignoreCase = on
		case 's':
			p.flags.dotAll = on
		case 'm':
			p.flags.multiline = on
		case 'u':
		case 'x', 'a', 'L', 'U':
			return p.refuse(p.at, fmt.Sprintf("flag %c", c))
		default:
			return p.wrong(p.at, "unknown kind of group")
		}
	}
	return p.wrong(opened, "missing )")
}
