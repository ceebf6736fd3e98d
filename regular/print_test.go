package regular

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stencil-json/stencil/regular/runes"
)

// String returns the expression as text, the same for equal handles. It is
// meant for reading and tests, not for parsing; & and ~ are intersection and
// complement, Σ any character, ∅ no string, ε the empty string.
func (s *Store) String(e Expr) string {
	s.lock()
	defer s.done()
	p := printer{s: s}
	p.print(e, 0)
	return p.String()
}

// printLimit bounds the text of an expression, which as a tree may be far
// larger than in memory.
const printLimit = 1 << 16

type printer struct {
	strings.Builder
	s     *Store
	depth int
	recs  map[Expr]int
}

// Binding strengths, loosest first.
const (
	bindOr = iota
	bindAnd
	bindConcat
	bindRepeat
)

func (p *printer) print(e Expr, outer int) {
	if p.Len() > printLimit || p.depth > maxDepth {
		p.WriteString("…")
		return
	}
	p.depth++
	defer func() { p.depth-- }()
	s, n := p.s, p.s.node(e)
	bind := bindRepeat + 1
	switch n.op {
	case opOr:
		bind = bindOr
	case opAnd:
		bind = bindAnd
	case opConcat:
		bind = bindConcat
	case opRepeat, opNot:
		bind = bindRepeat
	}
	if bind < outer || bind == outer && bind == bindRepeat {
		p.WriteByte('(')
		defer p.WriteByte(')')
	}
	switch n.op {
	case opEmpty:
		p.WriteString("∅")
	case opEpsilon:
		p.WriteString("ε")
	case opClass:
		p.class(s.set(e))
	case opConcat:
		p.print(Expr(n.a), bindConcat)
		p.print(Expr(n.b), bindConcat)
	case opRepeat:
		p.print(Expr(n.a), bindRepeat)
		p.WriteString(countText(n.least, n.most))
	case opOr, opAnd:
		sep := "|"
		if n.op == opAnd {
			sep = "&"
		}
		for i, x := range s.operands(e) {
			if i > 0 {
				p.WriteString(sep)
			}
			p.print(x, bind)
		}
	case opNot:
		p.WriteByte('~')
		p.print(Expr(n.a), bindRepeat)
	case opSwitch:
		p.WriteByte('<')
		for i, d := range s.successorsOf(n) {
			if i > 0 {
				p.WriteByte('|')
			}
			p.class(runes.Of(d.lo, d.hi))
			if d.to != exprEpsilon {
				p.print(d.to, bindConcat)
			}
		}
		if n.flags&nullable != 0 {
			p.WriteString("|ε")
		}
		p.WriteByte('>')
	case opState:
		fmt.Fprintf(p, "⟨%d.%d⟩", n.a, n.b)
	case opRec:
		i, known := p.recs[e]
		if !known {
			if p.recs == nil {
				p.recs = map[Expr]int{}
			}
			i = len(p.recs)
			p.recs[e] = i
		}
		fmt.Fprintf(p, "μ%d", i)
		if !known {
			p.WriteString("=(")
			p.print(Expr(n.a), 0)
			p.WriteByte(')')
		}
	}
}

func countText(least, most int32) string {
	switch {
	case least == 0 && most == infinite:
		return "*"
	case least == 1 && most == infinite:
		return "+"
	case least == 0 && most == 1:
		return "?"
	case most == infinite:
		return fmt.Sprintf("{%d,}", least)
	case least == most:
		return fmt.Sprintf("{%d}", least)
	}
	return fmt.Sprintf("{%d,%d}", least, most)
}

func (p *printer) class(set []runes.Range) {
	if len(set) == 1 && set[0] == runes.All[0] {
		p.WriteString("Σ")
		return
	}
	if len(set) == 1 && set[0].Lo == set[0].Hi {
		p.rune(set[0].Lo, `\^$.*+?()[]{}|&~<>`)
		return
	}
	p.WriteByte('[')
	if len(set) > 0 && set[0].Lo == 0 && set[len(set)-1].Hi == runes.Max {
		p.WriteByte('^')
		set = runes.AppendComplement(nil, set)
	}
	for _, r := range set {
		p.rune(r.Lo, `\^-]`)
		if r.Hi > r.Lo {
			if r.Hi > r.Lo+1 {
				p.WriteByte('-')
			}
			p.rune(r.Hi, `\^-]`)
		}
	}
	p.WriteByte(']')
}

func (p *printer) rune(r rune, escaped string) {
	switch {
	case strings.ContainsRune(escaped, r):
		p.WriteByte('\\')
		p.WriteRune(r)
	case r > ' ' && strconv.IsPrint(r):
		p.WriteRune(r)
	case r == ' ':
		p.WriteByte(' ')
	default:
		fmt.Fprintf(p, `\u{%X}`, r)
	}
}
