package jinja

import (
	"slices"
	"strconv"
)

// tuple parses an expression, or several with commas between them. cond allows
// "a if b else c" at the top level.
func (p *expressions) tuple(cond bool) (expr, error) {
	parse := p.expression
	if !cond {
		parse = p.or
	}
	at := p.peek().place
	x, err := parse()
	if err != nil || !p.is(",") {
		return x, err
	}
	list := &listExpr{place: at, items: []expr{x}, tuple: true}
	for p.skip(",") {
		t := p.peek()
		if t.kind == tokClose || t.kind == tokOp && (t.text == ")" || t.text == "]" || t.text == "}" || t.text == "=") {
			break
		}
		if x, err = parse(); err != nil {
			return nil, err
		}
		list.items = append(list.items, x)
	}
	return list, nil
}

// tupleNoCond parses the iterable of a loop: a following "if" belongs to the
// loop.
func (p *expressions) tupleNoCond() (expr, error) { return p.tuple(false) }

// expression parses "a if b else c".
func (p *expressions) expression() (expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	x, err := p.or()
	for n := 0; err == nil && p.isName("if"); {
		if err := p.link(&n); err != nil {
			return nil, err
		}
		c := &condExpr{place: p.next().place, then: x}
		if c.cond, err = p.or(); err != nil {
			return nil, err
		}
		if p.skipName("else") {
			if c.other, err = p.expression(); err != nil {
				return nil, err
			}
		}
		x = c
	}
	return x, err
}

func (p *expressions) or() (expr, error) { return p.chain("or", p.and) }

func (p *expressions) and() (expr, error) { return p.chain("and", p.not) }

// chain parses operands joined by a name.
func (p *expressions) chain(op string, operand func() (expr, error)) (expr, error) {
	x, err := operand()
	for n := 0; err == nil && p.isName(op); {
		if err := p.link(&n); err != nil {
			return nil, err
		}
		b := &binaryExpr{place: p.next().place, op: op, x: x}
		b.y, err = operand()
		x = b
	}
	return x, err
}

func (p *expressions) not() (expr, error) {
	if !p.isName("not") {
		return p.compare()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	at := p.next().place
	x, err := p.not()
	return &unaryExpr{at, "not", x}, err
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

func (p *expressions) compare() (expr, error) {
	x, err := p.sum()
	c := &compareExpr{place: p.peek().place, first: x}
	for err == nil {
		op := ""
		switch t := p.peek(); {
		case t.kind == tokOp && slices.Contains(comparisons, t.text), p.isName("in"):
			op = p.next().text
		case p.isName("not") && p.list[p.pos+1].kind == tokName && p.list[p.pos+1].text == "in":
			p.pos += 2
			op = "not in"
		}
		if op == "" {
			break
		}
		var y expr
		if y, err = p.sum(); err != nil {
			return nil, err
		}
		c.ops, c.rest = append(c.ops, op), append(c.rest, y)
	}
	if len(c.ops) == 0 {
		return x, err
	}
	return c, err
}

// binary parses operands joined by operators of one precedence.
func (p *expressions) binary(operand func() (expr, error), ops ...string) (expr, error) {
	x, err := operand()
	for n := 0; err == nil && p.peek().kind == tokOp && slices.Contains(ops, p.peek().text); {
		if err := p.link(&n); err != nil {
			return nil, err
		}
		t := p.next()
		b := &binaryExpr{place: t.place, op: t.text, x: x}
		b.y, err = operand()
		x = b
	}
	return x, err
}

func (p *expressions) sum() (expr, error)     { return p.binary(p.concat, "+", "-") }
func (p *expressions) concat() (expr, error)  { return p.binary(p.product, "~") }
func (p *expressions) product() (expr, error) { return p.binary(p.power, "*", "/", "//", "%") }
func (p *expressions) power() (expr, error) {
	return p.binary(func() (expr, error) { return p.unary(true) }, "**")
}

// unary parses a sign or a primary expression, followed by filters and tests
// if filters is set: "-1|abs" is 1.
func (p *expressions) unary(filters bool) (expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var x expr
	var err error
	if t := p.peek(); p.is("-") || p.is("+") {
		p.pos++
		if x, err = p.unary(false); err != nil {
			return nil, err
		}
		x = &unaryExpr{t.place, t.text, x}
	} else if x, err = p.primary(); err != nil {
		return nil, err
	}
	if x, err = p.postfix(x); err != nil || !filters {
		return x, err
	}
	return p.filters(x)
}

func (p *expressions) primary() (expr, error) {
	t := p.peek()
	switch t.kind {
	case tokName:
		p.pos++
		switch t.text {
		case "true", "True":
			return &literal{t.place, true}, nil
		case "false", "False":
			return &literal{t.place, false}, nil
		case "none", "None":
			return &literal{t.place, nil}, nil
		}
		return &nameExpr{t.place, t.text}, nil
	case tokString:
		text := ""
		for p.peek().kind == tokString {
			text += p.next().text
		}
		return &literal{t.place, text}, nil
	case tokInt:
		p.pos++
		n, err := strconv.ParseInt(t.text, 0, 64)
		if err != nil { // also 007, which Python rejects
			return nil, t.fail(Syntax, "'%s' is not a whole number that can be handled", t.text)
		}
		return &literal{t.place, n}, nil
	case tokFloat:
		p.pos++
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			return nil, t.fail(Syntax, "'%s' is out of range", t.text)
		}
		return &literal{t.place, f}, nil
	}
	switch {
	case p.skip("("):
		if p.skip(")") {
			return &listExpr{place: t.place, tuple: true}, nil
		}
		x, err := p.tuple(true)
		if err != nil {
			return nil, err
		}
		return x, p.expect(")")
	case p.skip("["):
		list := &listExpr{place: t.place}
		for !p.skip("]") {
			if len(list.items) > 0 {
				if err := p.expect(","); err != nil {
					return nil, err
				}
				if p.skip("]") {
					break
				}
			}
			x, err := p.expression()
			if err != nil {
				return nil, err
			}
			list.items = append(list.items, x)
		}
		return list, nil
	case p.skip("{"):
		return p.dict(t.place)
	}
	return nil, p.unexpected("an expression")
}

func (p *expressions) dict(at place) (expr, error) {
	d := &dictExpr{place: at}
	for !p.skip("}") {
		if len(d.keys) > 0 {
			if err := p.expect(","); err != nil {
				return nil, err
			}
			if p.skip("}") {
				break
			}
		}
		key, err := p.expression()
		if err != nil {
			return nil, err
		}
		if err := p.expect(":"); err != nil {
			return nil, err
		}
		value, err := p.expression()
		if err != nil {
			return nil, err
		}
		d.keys, d.values = append(d.keys, key), append(d.values, value)
	}
	return d, nil
}

// postfix parses attributes, subscripts and calls after x.
func (p *expressions) postfix(x expr) (expr, error) {
	for n := 0; ; {
		if err := p.link(&n); err != nil {
			return nil, err
		}
		t := p.peek()
		switch {
		case p.skip("."):
			switch name := p.next(); name.kind {
			case tokName:
				x = &attrExpr{t.place, x, name.text}
			case tokInt:
				n, err := strconv.ParseInt(name.text, 10, 64)
				if err != nil {
					return nil, name.fail(Syntax, "'%s' is not an index", name.text)
				}
				x = &indexExpr{t.place, x, &literal{name.place, n}}
			default:
				return nil, name.fail(Syntax, "expected a name after '.', found %s", name)
			}
		case p.skip("["):
			var err error
			if x, err = p.subscript(t.place, x); err != nil {
				return nil, err
			}
		case p.is("("):
			args, err := p.arguments()
			if err != nil {
				return nil, err
			}
			x = &callExpr{t.place, x, args}
		default:
			return x, nil
		}
	}
}

func (p *expressions) subscript(at place, x expr) (expr, error) {
	var parts [3]expr
	n, slice := 0, false
	for !p.is("]") {
		if p.skip(":") {
			slice = true
			if n++; n == len(parts) {
				return nil, at.fail(Syntax, "too many parts in a slice")
			}
			continue
		}
		if parts[n] != nil {
			return nil, p.unexpected("']'")
		}
		var err error
		if parts[n], err = p.tuple(true); err != nil {
			return nil, err
		}
	}
	p.pos++
	if slice {
		return &sliceExpr{at, x, parts[0], parts[1], parts[2]}, nil
	}
	if parts[0] == nil {
		return nil, at.fail(Syntax, "expected an index")
	}
	return &indexExpr{at, x, parts[0]}, nil
}

// arguments parses the arguments of a call, in parentheses.
func (p *expressions) arguments() (args arguments, err error) {
	if err := p.expect("("); err != nil {
		return args, err
	}
	for first := true; !p.skip(")"); first = false {
		if !first {
			if err := p.expect(","); err != nil {
				return args, err
			}
			if p.skip(")") {
				break
			}
		}
		t := p.peek()
		switch {
		case p.skip("**"):
			args.dict, err = p.expression()
		case p.skip("*"):
			args.list, err = p.expression()
		case t.kind == tokName && p.list[p.pos+1].kind == tokOp && p.list[p.pos+1].text == "=":
			p.pos += 2
			var x expr
			x, err = p.expression()
			args.names, args.named = append(args.names, t.text), append(args.named, x)
		default:
			if len(args.named) > 0 || args.dict != nil {
				return args, t.fail(Syntax, "argument without a name after one with a name")
			}
			var x expr
			x, err = p.expression()
			args.positional = append(args.positional, x)
		}
		if err != nil {
			return args, err
		}
	}
	return args, nil
}

// filters parses filters, tests and calls after x.
func (p *expressions) filters(x expr) (expr, error) {
	for n := 0; ; {
		if err := p.link(&n); err != nil {
			return nil, err
		}
		t := p.peek()
		switch {
		case p.skip("|"):
			f, err := p.filter(x)
			if err != nil {
				return nil, err
			}
			x = f
		case p.isName("is"):
			p.pos++
			test, err := p.test(t.place, x)
			if err != nil {
				return nil, err
			}
			x = test
		case p.is("("):
			args, err := p.arguments()
			if err != nil {
				return nil, err
			}
			x = &callExpr{t.place, x, args}
		default:
			return x, nil
		}
	}
}

// filter parses a filter's name and arguments.
func (p *expressions) filter(x expr) (*filterExpr, error) {
	t, err := p.expectName()
	if err != nil {
		return nil, err
	}
	f := &filterExpr{place: t.place, x: x, name: t.text}
	var ok bool
	if f.fn, ok = filters[t.text]; !ok {
		return nil, t.fail(Syntax, "no filter named '%s'", t.text)
	}
	if p.is("(") {
		f.args, err = p.arguments()
	}
	return f, err
}

// filterChain parses filters of a block, "upper|trim".
func (p *expressions) filterChain() (*filterExpr, error) {
	f, err := p.filter(nil)
	for n := 0; err == nil && p.skip("|"); {
		if err := p.link(&n); err != nil {
			return nil, err
		}
		f, err = p.filter(f)
	}
	return f, err
}

// test parses what follows "is".
func (p *expressions) test(at place, x expr) (expr, error) {
	e := &testExpr{place: at, x: x, negate: p.skipName("not")}
	t, err := p.expectName()
	if err != nil {
		return nil, err
	}
	e.name = t.text
	var ok bool
	if e.fn, ok = tests[t.text]; !ok {
		return nil, t.fail(Syntax, "no test named '%s'", t.text)
	}
	switch next := p.peek(); {
	case p.is("("):
		e.args, err = p.arguments()
	case next.kind == tokString, next.kind == tokInt, next.kind == tokFloat, p.is("["), p.is("{"),
		next.kind == tokName && !slices.Contains([]string{"else", "or", "and", "if", "is", "in", "not", "recursive"}, next.text):
		var arg expr
		if arg, err = p.primary(); err != nil {
			return nil, err
		}
		if arg, err = p.postfix(arg); err != nil {
			return nil, err
		}
		e.args.positional = []expr{arg}
	}
	if p.isName("is") {
		return nil, p.peek().fail(Syntax, "tests can't be chained with 'is'")
	}
	return e, err
}
