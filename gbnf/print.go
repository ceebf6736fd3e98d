package gbnf

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stencil-json/stencil/regular"
)

// String returns the grammar as text that parses to the same tree.
func (f *file) String() string {
	var b strings.Builder
	for _, r := range f.rules {
		b.WriteString(r.name + " ::= ")
		r.body.print(&b, opChoice)
		b.WriteByte('\n')
	}
	return b.String()
}

// print writes e so that it can stand inside an element of kind outer, as a
// group if necessary.
func (e *expr) print(b *strings.Builder, outer op) {
	group := e.op == opChoice && outer != opChoice || e.op == opSequence && outer == opRepeat ||
		e.op == opSequence && len(e.sub) == 0
	if group {
		b.WriteByte('(')
	}
	switch e.op {
	case opLiteral:
		printLiteral(b, e.text)
	case opClass:
		printClass(b, e.ranges, e.negated)
	case opAny:
		b.WriteByte('.')
	case opRef:
		b.WriteString(e.text)
	case opToken:
		if e.negated {
			b.WriteByte('!')
		}
		if e.text != "" {
			b.WriteString(e.text)
		} else {
			fmt.Fprintf(b, "<[%d]>", e.min)
		}
	case opSequence:
		for i, s := range e.sub {
			if i > 0 {
				b.WriteByte(' ')
			}
			s.print(b, opSequence)
		}
	case opChoice:
		for i, s := range e.sub {
			if i > 0 {
				b.WriteString(" | ")
			}
			s.print(b, opSequence)
		}
	case opRepeat:
		e.sub[0].print(b, opRepeat)
		b.WriteString(countText(e.min, e.max))
	}
	if group {
		b.WriteByte(')')
	}
}

// countText returns the operator for a number of repetitions.
func countText(least, most int32) string {
	switch {
	case least == 0 && most == unbounded:
		return "*"
	case least == 1 && most == unbounded:
		return "+"
	case least == 0 && most == 1:
		return "?"
	case most == unbounded:
		return "{" + strconv.Itoa(int(least)) + ",}"
	case least == most:
		return "{" + strconv.Itoa(int(least)) + "}"
	}
	return "{" + strconv.Itoa(int(least)) + "," + strconv.Itoa(int(most)) + "}"
}

func printLiteral(b *strings.Builder, text string) {
	b.WriteByte('"')
	for _, r := range text {
		printChar(b, r, `"\`)
	}
	b.WriteByte('"')
}

func printClass(b *strings.Builder, ranges []regular.Range, negated bool) {
	b.WriteByte('[')
	if negated {
		b.WriteByte('^')
	}
	for _, r := range ranges {
		printChar(b, r.Lo, `[]\^-`)
		if r.Hi > r.Lo {
			b.WriteByte('-')
			printChar(b, r.Hi, `[]\^-`)
		}
	}
	b.WriteByte(']')
}

// printChar writes a character; those in special have to be escaped.
func printChar(b *strings.Builder, r rune, special string) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case strings.ContainsRune(special, r):
		if r == '^' || r == '-' {
			fmt.Fprintf(b, `\x%02X`, r)
		} else {
			b.WriteByte('\\')
			b.WriteRune(r)
		}
	case strconv.IsPrint(r):
		b.WriteRune(r)
	case r <= 0xFF:
		fmt.Fprintf(b, `\x%02X`, r)
	case r <= 0xFFFF:
		fmt.Fprintf(b, `\u%04X`, r)
	default:
		fmt.Fprintf(b, `\U%08X`, r)
	}
}
