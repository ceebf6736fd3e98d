package gbnf

import (
	"fmt"
	"strings"

	"github.com/stencil-json/stencil/regular"
)

// instOp is a kind of instruction.
type instOp uint8

const (
	instChar  instOp = iota // read a character of class arg, continue at next
	instCall                // read the text of rule arg, continue at next
	instAlt                 // continue at one of alts[arg]
	instEnter               // begin loop arg
	instAgain               // one round of loop arg is complete
	instEnd                 // rule arg is complete
)

// An inst is one instruction of a program.
type inst struct {
	op   instOp
	from int32 // the rule that it was written in, which may have been copied into another
	host int32 // the rule that it runs in
	arg  int32
	next int32
}

// A loop is a counted repetition.
type loop struct {
	min, max int32 // max may be unbounded
	body     int32
	exit     int32
}

// A program is a compiled grammar. It is immutable.
type program struct {
	names   []string // of the rules
	start   []int32  // first instruction of each rule
	insts   []inst
	alts    [][]int32
	loops   []loop
	classes [][]regular.Range
	tokens  []*expr // references
	root    int32

	cost   []int64 // of instructions: bytes of the shortest text to the end of the rule or round; or never
	choice []int32 // of branches: index of the cheapest alternative
}

// String lists the instructions by rule.
func (p *program) String() string {
	var b strings.Builder
	for i, in := range p.insts {
		for r, s := range p.start {
			if s == int32(i) {
				fmt.Fprintf(&b, "%s:\n", p.names[r])
			}
		}
		fmt.Fprintf(&b, "%4d ", i)
		switch in.op {
		case instChar:
			fmt.Fprintf(&b, "char %s -> %d", p.classText(in.arg), in.next)
		case instCall:
			fmt.Fprintf(&b, "call %s -> %d", p.names[in.arg], in.next)
		case instAlt:
			fmt.Fprintf(&b, "alt %v", p.alts[in.arg])
		case instEnter:
			l := p.loops[in.arg]
			fmt.Fprintf(&b, "enter #%d %s -> %d, exit %d", in.arg, countText(l.min, l.max), l.body, l.exit)
		case instAgain:
			fmt.Fprintf(&b, "again #%d", in.arg)
		case instEnd:
			b.WriteString("end")
		}
		if p.cost[i] == never {
			b.WriteString(" (never)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// classText returns a class in the syntax of grammars.
func (p *program) classText(class int32) string {
	c := p.classes[class]
	if isToken(c[0].Lo) {
		return p.tokens[c[0].Lo-firstToken].reference()
	}
	return classText(c)
}

// nullable reports whether a rule matches the empty text.
func (p *program) nullable(rule int32) bool { return p.cost[p.start[rule]] == 0 }

// least returns the smallest count that has to be distinguished: rounds that
// may be empty can replace missing ones.
func (p *program) least(l *loop) int32 {
	if p.cost[l.body] == 0 {
		return 0
	}
	return l.min
}
