package jinja

import "slices"

// maxNesting limits the nesting of expressions and statements: far more than
// templates use, and little enough for the stack.
const maxNesting = 200

// maxChain limits the number of consecutive operators, filters and so on
// without parentheses: each makes the tree one deeper.
const maxChain = 1000

// tokens iterates over the tokens of a template.
type tokens struct {
	list  []token
	pos   int
	depth int
}

// expressions parses expressions.
type expressions struct{ tokens }

// A parser parses statements.
type parser struct {
	expressions
	loops int // number of enclosing for statements
}

func (p *tokens) peek() token { return p.list[p.pos] }

func (p *tokens) next() token {
	t := p.list[p.pos]
	if t.kind != tokEnd {
		p.pos++
	}
	return t
}

// is reports whether the next token is the given operator.
func (p *tokens) is(op string) bool { return p.peek().kind == tokOp && p.peek().text == op }

// isName reports whether the next token is the given name.
func (p *tokens) isName(name string) bool { return p.peek().kind == tokName && p.peek().text == name }

// skip consumes an operator if it is next.
func (p *tokens) skip(op string) bool {
	if p.is(op) {
		p.pos++
		return true
	}
	return false
}

// skipName consumes a name if it is next.
func (p *tokens) skipName(name string) bool {
	if p.isName(name) {
		p.pos++
		return true
	}
	return false
}

func (t token) String() string {
	switch t.kind {
	case tokEnd:
		return "the end of the template"
	case tokString:
		return "a string"
	case tokText:
		return "text"
	}
	return "'" + t.text + "'"
}

func (p *tokens) unexpected(wanted string) error {
	t := p.peek()
	return t.fail(Syntax, "expected %s, found %s", wanted, t)
}

func (p *tokens) expect(op string) error {
	if !p.skip(op) {
		return p.unexpected("'" + op + "'")
	}
	return nil
}

func (p *tokens) expectName() (token, error) {
	if p.peek().kind != tokName {
		return token{}, p.unexpected("a name")
	}
	return p.next(), nil
}

// close consumes the end of a tag.
func (p *tokens) close(end string) error {
	if t := p.peek(); t.kind != tokClose || t.text != end {
		return p.unexpected("'" + end + "'")
	}
	p.pos++
	return nil
}

// enter counts nesting; leave must follow.
func (p *tokens) enter() error {
	if p.depth++; p.depth > maxNesting {
		return p.peek().fail(Limit, "nested more than %d deep", maxNesting)
	}
	return nil
}

func (p *tokens) leave() { p.depth-- }

// link counts the links of a chain.
func (p *tokens) link(n *int) error {
	if *n++; *n > maxChain {
		return p.peek().fail(Limit, "more than %d operators in a row", maxChain)
	}
	return nil
}

// statements parses up to and including the name of a statement in ends, which
// it returns. Without ends it parses up to the end of the template.
func (p *parser) statements(open place, ends ...string) (out []stmt, end string, err error) {
	if err := p.enter(); err != nil {
		return nil, "", err
	}
	defer p.leave()
	for {
		t := p.next()
		switch {
		case t.kind == tokEnd:
			if len(ends) > 0 {
				return nil, "", open.fail(Syntax, "'%s' is missing", ends[len(ends)-1])
			}
			return out, "", nil
		case t.kind == tokText:
			out = append(out, textStmt{t.text})
		case t.text == "{{":
			x, err := p.tuple(true)
			if err != nil {
				return nil, "", err
			}
			if err := p.close("}}"); err != nil {
				return nil, "", err
			}
			out = append(out, outputStmt{x.where(), x})
		default:
			name, err := p.expectName()
			if err != nil {
				return nil, "", err
			}
			if slices.Contains(ends, name.text) {
				return out, name.text, nil
			}
			s, err := p.statement(name)
			if err != nil {
				return nil, "", err
			}
			out = append(out, s)
		}
	}
}

// body parses the end of a tag, statements, and the closing tag.
func (p *parser) body(open place, end string) ([]stmt, error) {
	if err := p.close("%}"); err != nil {
		return nil, err
	}
	body, _, err := p.statements(open, end)
	if err != nil {
		return nil, err
	}
	return body, p.close("%}")
}

func (p *parser) statement(name token) (stmt, error) {
	switch name.text {
	case "if":
		return p.ifStatement(name.place)
	case "for":
		return p.forStatement(name.place)
	case "set":
		return p.setStatement(name.place)
	case "macro":
		return p.macroStatement(name.place)
	case "call":
		return p.callStatement(name.place)
	case "filter":
		f, err := p.filterChain()
		if err != nil {
			return nil, err
		}
		body, err := p.body(name.place, "endfilter")
		return filterStmt{name.place, f, body}, err
	case "with":
		return p.withStatement(name.place)
	case "generation": // marks training data; no effect here
		body, err := p.body(name.place, "endgeneration")
		return blockStmt{body}, err
	case "break", "continue":
		if p.loops == 0 {
			return nil, name.fail(Syntax, "'%s' outside of a loop", name.text)
		}
		leave := errBreak
		if name.text == "continue" {
			leave = errContinue
		}
		return loopStmt{leave}, p.close("%}")
	case "include", "import", "from", "extends", "block":
		return nil, name.fail(Syntax, "'%s' is not supported: a chat template stands alone", name.text)
	}
	return nil, name.fail(Syntax, "unknown statement '%s'", name.text)
}

func (p *parser) ifStatement(open place) (stmt, error) {
	var s ifStmt
	for end := "elif"; end == "elif"; {
		cond, err := p.tuple(false)
		if err != nil {
			return nil, err
		}
		if err := p.close("%}"); err != nil {
			return nil, err
		}
		var body []stmt
		if body, end, err = p.statements(open, "elif", "else", "endif"); err != nil {
			return nil, err
		}
		s.conds, s.then = append(s.conds, cond), append(s.then, body)
		if end == "else" {
			s.other, err = p.body(open, "endif")
			return s, err
		}
	}
	return s, p.close("%}")
}

func (p *parser) forStatement(open place) (stmt, error) {
	s := &forStmt{place: open}
	var err error
	if s.target, err = p.target(false); err != nil {
		return nil, err
	}
	if !p.skipName("in") {
		return nil, p.unexpected("'in'")
	}
	if s.over, err = p.tupleNoCond(); err != nil {
		return nil, err
	}
	if p.skipName("if") {
		if s.filter, err = p.expression(); err != nil {
			return nil, err
		}
	}
	s.recursive = p.skipName("recursive")
	if err := p.close("%}"); err != nil {
		return nil, err
	}
	p.loops++
	body, end, err := p.statements(open, "else", "endfor")
	p.loops--
	if err != nil {
		return nil, err
	}
	s.body = body
	if end == "else" {
		s.other, err = p.body(open, "endfor")
		return s, err
	}
	return s, p.close("%}")
}

// target parses names; several with commas between them are unpacked.
// attributes allows ns.name.
func (p *parser) target(attributes bool) (target, error) {
	var parts []target
	first := p.peek().place
	for {
		t, err := p.oneTarget(attributes)
		if err != nil {
			return target{}, err
		}
		parts = append(parts, t)
		if !p.skip(",") {
			break
		}
		if p.isName("in") || p.is("=") || p.is(")") {
			return target{place: first, parts: parts}, nil
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return target{place: first, parts: parts}, nil
}

func (p *parser) oneTarget(attributes bool) (target, error) {
	if err := p.enter(); err != nil {
		return target{}, err
	}
	defer p.leave()
	at := p.peek().place
	if p.skip("(") {
		t, err := p.target(attributes)
		if err != nil {
			return t, err
		}
		return t, p.expect(")")
	}
	name, err := p.expectName()
	if err != nil {
		return target{}, err
	}
	switch name.text {
	case "true", "false", "none", "True", "False", "None":
		return target{}, at.fail(Syntax, "'%s' can't be assigned to", name.text)
	}
	t := target{place: at, name: name.text}
	if attributes && p.skip(".") {
		attr, err := p.expectName()
		if err != nil {
			return t, err
		}
		t.attr = attr.text
	}
	return t, nil
}

func (p *parser) setStatement(open place) (stmt, error) {
	t, err := p.target(true)
	if err != nil {
		return nil, err
	}
	if p.skip("=") {
		x, err := p.tuple(true)
		if err != nil {
			return nil, err
		}
		return setStmt{open, t, x}, p.close("%}")
	}
	s := setBlockStmt{place: open, target: t}
	if p.skip("|") {
		if s.filter, err = p.filterChain(); err != nil {
			return nil, err
		}
	}
	s.body, err = p.body(open, "endset")
	return s, err
}

func (p *parser) macroStatement(open place) (stmt, error) {
	name, err := p.expectName()
	if err != nil {
		return nil, err
	}
	m := &macro{place: open, name: name.text}
	if !p.is("(") {
		return nil, p.unexpected("'('")
	}
	if err := p.parameters(m); err != nil {
		return nil, err
	}
	m.body, err = p.macroBody(m, open, "endmacro")
	return macroStmt{open, m}, err
}

// parameters parses "(a, b=1)".
func (p *parser) parameters(m *macro) error {
	p.pos++ // "("
	for !p.skip(")") {
		if len(m.params) > 0 {
			if err := p.expect(","); err != nil {
				return err
			}
		}
		name, err := p.expectName()
		if err != nil {
			return err
		}
		m.params = append(m.params, name.text)
		if p.skip("=") {
			x, err := p.expression()
			if err != nil {
				return err
			}
			m.defaults = append(m.defaults, x)
		} else if len(m.defaults) > 0 {
			return name.fail(Syntax, "parameter '%s' has no default value, but one before it has", name.text)
		}
	}
	return nil
}

// macroBody parses a macro's body and determines which of the optional names
// of a call it reads.
func (p *parser) macroBody(m *macro, open place, end string) ([]stmt, error) {
	loops := p.loops
	p.loops = 0
	begin := p.pos
	body, err := p.body(open, end)
	p.loops = loops
	for _, t := range p.list[begin:p.pos] {
		if t.kind == tokName {
			m.catches.caller = m.catches.caller || t.text == "caller"
			m.catches.varargs = m.catches.varargs || t.text == "varargs"
			m.catches.kwargs = m.catches.kwargs || t.text == "kwargs"
		}
	}
	return body, err
}

func (p *parser) callStatement(open place) (stmt, error) {
	m := &macro{place: open, name: "caller"}
	if p.is("(") {
		if err := p.parameters(m); err != nil {
			return nil, err
		}
	}
	x, err := p.expression()
	if err != nil {
		return nil, err
	}
	call, ok := x.(*callExpr)
	if !ok {
		return nil, x.where().fail(Syntax, "expected a call")
	}
	m.body, err = p.macroBody(m, open, "endcall")
	return callStmt{open, call, m}, err
}

func (p *parser) withStatement(open place) (stmt, error) {
	s := withStmt{place: open}
	for p.peek().kind != tokClose {
		if len(s.targets) > 0 {
			if err := p.expect(","); err != nil {
				return nil, err
			}
		}
		t, err := p.oneTarget(false)
		if err != nil {
			return nil, err
		}
		if err := p.expect("="); err != nil {
			return nil, err
		}
		x, err := p.expression()
		if err != nil {
			return nil, err
		}
		s.targets, s.values = append(s.targets, t), append(s.values, x)
	}
	var err error
	s.body, err = p.body(open, "endwith")
	return s, err
}
