package typescript

import "strings"

// typ is a type as written. Types are immutable.
type typ interface{ at() place }

func (p place) at() place { return p }

// An origin identifies a type that has no name: where it was written, and what replaced
// type parameters within it, in order.
type origin struct {
	place
	with []typ
}

func (o origin) from() origin { return o }

type (
	// keyword is one of the built-in type names.
	keyword struct {
		place
		name string
	}
	// literal is a string, number, boolean or null type.
	literal struct {
		place
		json string // as JSON
		text string // for a string its content, for a number its JSON
		str  bool
	}
	// template is a template literal type: texts[0] holes[0] texts[1] …
	template struct {
		origin
		texts []string
		holes []typ
	}
	array struct {
		place
		elem   typ
		unique bool
	}
	tuple struct {
		origin
		elems []tupleElem
	}
	tupleElem struct {
		typ      typ // the array type of a rest element
		optional bool
		rest     bool
	}
	object struct {
		origin
		members []member
		indexes []index
		byName  map[string]int // name → index of the member; nil until it is needed
	}
	member struct {
		place
		name     string
		typ      typ
		optional bool
		doc      *comment
	}
	index struct {
		key, value typ
		doc        *comment
	}
	mapped struct {
		origin
		param    string
		keys     typ
		value    typ
		optional bool // "?" was written
		required bool // "-?" was written
	}
	union struct {
		place
		of []typ
	}
	intersection struct {
		place
		of []typ
	}
	reference struct {
		place
		name string // "Enum.Member" for a member of an enum
		args []typ
	}
	keyOf struct {
		origin
		of typ
	}
	access struct {
		origin
		of, key typ
	}
)

// declaration is a named type.
type declaration struct {
	place
	name    string
	params  []typeParam
	extends []typ // of an interface
	body    typ
	doc     *comment
	export  bool
	enum    map[string]*literal // members of an enum
}

type typeParam struct {
	name    string
	without typ // the default, or nil
}

// parser parses declarations.
type parser struct {
	lex   lexer
	tok   token // the next token
	depth int
}

// enter counts a type that begins inside another one; leave ends it.
func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return p.tok.errorf("types are nested deeper than %d", maxDepth)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

func (p *parser) advance() (err error) {
	p.tok, err = p.lex.next()
	return err
}

// accept skips the next token if it is the given punctuation.
func (p *parser) accept(punct string) (bool, error) {
	if !p.tok.is(punct) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(punct string) error {
	if !p.tok.is(punct) {
		return p.tok.errorf("expected %q, got %s", punct, p.tok)
	}
	return p.advance()
}

func (p *parser) name(what string) (token, error) {
	t := p.tok
	if t.kind != tokName {
		return t, t.errorf("expected %s, got %s", what, t)
	}
	return t, p.advance()
}

// file parses all declarations.
func (p *parser) file() ([]*declaration, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	var all []*declaration
	for p.tok.kind != tokEnd {
		if ok, err := p.accept(";"); err != nil {
			return nil, err
		} else if ok {
			continue
		}
		d, err := p.declaration()
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

func (p *parser) declaration() (*declaration, error) {
	d := &declaration{doc: p.tok.doc}
	for p.tok.word("export") || p.tok.word("declare") || p.tok.word("default") || p.tok.word("const") {
		d.export = d.export || p.tok.text == "export"
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	word := p.tok
	if err := p.advance(); err != nil {
		return nil, err
	}
	read := p.interfaceBody
	switch {
	case word.word("interface"):
	case word.word("type"):
		read = p.aliasBody
	case word.word("enum"):
		read = p.enumBody
	default:
		return nil, word.errorf("expected interface, type or enum, got %s", word)
	}
	name, err := p.name("a type's name")
	if err != nil {
		return nil, err
	}
	d.place, d.name = name.place, name.text
	if d.params, err = p.typeParams(); err != nil {
		return nil, err
	}
	return d, read(d)
}

func (p *parser) typeParams() (params []typeParam, err error) {
	if ok, err := p.accept("<"); !ok {
		return nil, err
	}
	for {
		name, err := p.name("a type parameter")
		if err != nil {
			return nil, err
		}
		param := typeParam{name: name.text}
		if p.tok.word("extends") { // constraints on arguments don't affect the schema
			if err := p.advance(); err != nil {
				return nil, err
			}
			if _, err := p.typ(); err != nil {
				return nil, err
			}
		}
		if ok, err := p.accept("="); err != nil {
			return nil, err
		} else if ok {
			if param.without, err = p.typ(); err != nil {
				return nil, err
			}
		}
		params = append(params, param)
		if ok, err := p.accept(","); err != nil {
			return nil, err
		} else if !ok {
			return params, p.expect(">")
		}
	}
}

func (p *parser) interfaceBody(d *declaration) (err error) {
	if p.tok.word("extends") {
		for more := true; more; {
			if err = p.advance(); err != nil {
				return err
			}
			base, err := p.primary()
			if err != nil {
				return err
			}
			d.extends = append(d.extends, base)
			more = p.tok.is(",")
		}
	}
	d.body, err = p.objectType()
	return err
}

func (p *parser) aliasBody(d *declaration) (err error) {
	if err = p.expect("="); err != nil {
		return err
	}
	if d.body, err = p.typ(); err != nil {
		return err
	}
	if !p.tok.is(";") && !p.tok.newline && p.tok.kind != tokEnd {
		return p.tok.errorf("expected the end of type %s, got %s", d.name, p.tok)
	}
	return nil
}

func (p *parser) enumBody(d *declaration) error {
	d.enum = map[string]*literal{}
	all := &union{place: p.tok.place}
	if err := p.expect("{"); err != nil {
		return err
	}
	var counter int64
	known := true // the value of a member without an initialiser is known
	for !p.tok.is("}") {
		name := p.tok
		if name.kind != tokName && name.kind != tokString {
			return name.errorf("expected a member of enum %s, got %s", d.name, name)
		}
		if err := p.advance(); err != nil {
			return err
		}
		value := &literal{place: name.place}
		ok, err := p.accept("=")
		switch {
		case err != nil:
			return err
		case ok:
			t, err := p.typ()
			if err != nil {
				return err
			}
			given, isLiteral := t.(*literal)
			if !isLiteral {
				return t.at().errorf("the value of enum member %s is not a literal", name.text)
			}
			value = given
			counter, known = smallInt(given)
		case !known:
			return name.errorf("enum member %s needs a value", name.text)
		default:
			value.json = formatInt(counter)
			value.text = value.json
		}
		counter++
		d.enum[name.text] = value
		all.of = append(all.of, value)
		if ok, err := p.accept(","); err != nil {
			return err
		} else if !ok && !p.tok.is("}") {
			return p.tok.errorf("expected a comma or the end of enum %s, got %s", d.name, p.tok)
		}
	}
	d.body = all
	return p.advance()
}

// typ parses a type: a union of intersections.
func (p *parser) typ() (typ, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	start := p.tok.place
	of, err := p.separated("|", func() (typ, error) {
		at := p.tok.place
		of, err := p.separated("&", p.operator)
		if err != nil || len(of) == 1 {
			return first(of), err
		}
		return &intersection{at, of}, nil
	})
	if err != nil {
		return nil, err
	}
	if p.tok.word("extends") && !p.tok.newline {
		return nil, p.tok.errorf("conditional types are not supported")
	}
	if p.tok.is("=>") {
		return nil, start.errorf("functions have no JSON form")
	}
	if len(of) == 1 {
		return of[0], nil
	}
	return &union{start, of}, nil
}

func first(of []typ) typ {
	if len(of) == 0 {
		return nil
	}
	return of[0]
}

// separated parses types separated by punct, which may also precede the first one.
func (p *parser) separated(punct string, read func() (typ, error)) ([]typ, error) {
	if _, err := p.accept(punct); err != nil {
		return nil, err
	}
	var of []typ
	for {
		t, err := read()
		if err != nil {
			return nil, err
		}
		of = append(of, t)
		if ok, err := p.accept(punct); err != nil || !ok {
			return of, err
		}
	}
}

// operator parses a type with its prefix and postfix operators.
func (p *parser) operator() (typ, error) {
	start := p.tok
	if start.word("keyof") || start.word("readonly") {
		if err := p.enter(); err != nil {
			return nil, err
		}
		defer p.leave()
		if err := p.advance(); err != nil {
			return nil, err
		}
		of, err := p.operator()
		if start.word("keyof") {
			of = &keyOf{origin{place: start.place}, of}
		}
		return of, err
	}
	t, err := p.primary()
	depth := p.depth
	defer func() { p.depth = depth }()
	for err == nil && p.tok.is("[") && !p.tok.newline {
		if err = p.enter(); err != nil { // t is inside the next type
			break
		}
		at := p.tok.place
		if err = p.advance(); err != nil {
			break
		}
		var closed bool
		if closed, err = p.accept("]"); closed {
			t = &array{place: at, elem: t}
			continue
		}
		var key typ
		if key, err = p.typ(); err == nil {
			t, err = &access{origin{place: at}, t, key}, p.expect("]")
		}
	}
	return t, err
}

// primary parses a type that needs no parentheses.
func (p *parser) primary() (typ, error) {
	t := p.tok
	switch {
	case t.kind == tokName:
		return p.named()
	case t.kind == tokString:
		return stringLiteral(t.place, t.text), p.advance()
	case t.kind == tokNumber:
		return &literal{place: t.place, json: t.text, text: t.text}, p.advance()
	case t.kind == tokTemplate:
		return p.template()
	case t.is("-"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.tok.kind != tokNumber {
			return nil, p.tok.errorf("expected a number, got %s", p.tok)
		}
		text := "-" + p.tok.text
		return &literal{place: t.place, json: text, text: text}, p.advance()
	case t.is("("):
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.tok.is(")") || p.tok.is("...") {
			return nil, t.errorf("functions have no JSON form")
		}
		inner, err := p.typ()
		if err != nil {
			return nil, err
		}
		if p.tok.is(":") || p.tok.is(",") || p.tok.is("?") {
			return nil, t.errorf("functions have no JSON form")
		}
		return inner, p.expect(")")
	case t.is("["):
		return p.tuple()
	case t.is("{"):
		return p.objectType()
	default:
		return nil, t.errorf("expected a type, got %s", t)
	}
}

// keywords are the names that are types themselves.
const keywords = " string number boolean bigint null undefined void any unknown never object symbol Date "

// named parses a type that starts with a name.
func (p *parser) named() (typ, error) {
	t := p.tok
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch t.text {
	case "true", "false":
		return &literal{place: t.place, json: t.text, text: t.text}, nil
	case "typeof", "infer", "unique", "asserts", "new", "abstract", "import":
		return nil, t.errorf("%s is not supported", t.text)
	}
	if strings.Contains(keywords, " "+t.text+" ") {
		return &keyword{t.place, t.text}, nil
	}
	r := &reference{place: t.place}
	parts := []string{t.text}
	for p.tok.is(".") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		part, err := p.name("a name after the point")
		if err != nil {
			return nil, err
		}
		parts = append(parts, part.text)
	}
	r.name = strings.Join(parts, ".")
	if !p.tok.is("<") || p.tok.newline {
		return r, nil
	}
	for more := true; more; {
		if err := p.advance(); err != nil {
			return nil, err
		}
		arg, err := p.typ()
		if err != nil {
			return nil, err
		}
		r.args = append(r.args, arg)
		more = p.tok.is(",")
	}
	return r, p.expect(">")
}

func (p *parser) template() (typ, error) {
	t := &template{origin: origin{place: p.tok.place}}
	for {
		part := p.tok
		t.texts = append(t.texts, part.text)
		if !part.tail {
			return t, p.advance()
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		hole, err := p.typ()
		if err != nil {
			return nil, err
		}
		t.holes = append(t.holes, hole)
		if !p.tok.is("}") {
			return nil, p.tok.errorf("expected the end of the hole, got %s", p.tok)
		}
		// The text of the template continues right after the brace, at the lexer's
		// position.
		if p.tok, err = p.lex.templatePart(token{place: p.lex.here()}); err != nil {
			return nil, err
		}
	}
}

func (p *parser) tuple() (typ, error) {
	t := &tuple{origin: origin{place: p.tok.place}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	for !p.tok.is("]") {
		e := tupleElem{}
		var err error
		if e.rest, err = p.accept("..."); err != nil {
			return nil, err
		}
		at := p.tok.place
		if e.typ, err = p.typ(); err != nil {
			return nil, err
		}
		if e.optional, err = p.accept("?"); err != nil {
			return nil, err
		}
		if labelled, err := p.accept(":"); err != nil {
			return nil, err
		} else if labelled { // it was the label
			if e.typ, err = p.typ(); err != nil {
				return nil, err
			}
		}
		if n := len(t.elems); n > 0 && t.elems[n-1].rest {
			return nil, at.errorf("only the last element may be a rest element")
		} else if n > 0 && t.elems[n-1].optional && !e.optional && !e.rest {
			return nil, at.errorf("an element after an optional one must be optional")
		}
		t.elems = append(t.elems, e)
		if ok, err := p.accept(","); err != nil {
			return nil, err
		} else if !ok && !p.tok.is("]") {
			return nil, p.tok.errorf("expected a comma or the end of the tuple, got %s", p.tok)
		}
	}
	return t, p.advance()
}
