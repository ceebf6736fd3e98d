package typescript

// objectType reads an object type or a mapped type in braces.
func (p *parser) objectType() (typ, error) {
	o := &object{origin: origin{place: p.tok.place}}
	if err := p.expect("{"); err != nil {
		return nil, err
	}
	for !p.tok.is("}") {
		if ok, err := p.accept(";"); err != nil {
			return nil, err
		} else if ok {
			continue
		}
		m, err := p.member(o)
		if err != nil {
			return nil, err
		}
		if m != nil { // a mapped type has no other members
			if len(o.members)+len(o.indexes) > 0 {
				return nil, m.errorf("a mapped type has no other members")
			}
			if _, err := p.accept(";"); err != nil {
				return nil, err
			}
			return m, p.expect("}")
		}
		if !p.tok.is("}") && !p.tok.is(";") && !p.tok.is(",") && !p.tok.newline {
			return nil, p.tok.errorf("expected the end of the member, got %s", p.tok)
		}
		if _, err := p.accept(","); err != nil {
			return nil, err
		}
	}
	return o, p.advance()
}

// member reads a member into o, or returns the mapped type that starts here.
func (p *parser) member(o *object) (*mapped, error) {
	doc := p.tok.doc
	name := p.tok
	minus, err := p.accept("-") // -readonly
	if err != nil {
		return nil, err
	}
	if p.tok.word("readonly") {
		name = p.tok
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.memberEnds() { // a property called readonly
			return nil, p.property(o, name, doc)
		}
	} else if minus {
		return nil, name.errorf("expected a member, got -")
	}
	if p.tok.is("[") {
		return p.bracket(o, doc)
	}
	name = p.tok
	switch name.kind {
	case tokName, tokString, tokNumber:
	default:
		return nil, name.errorf("expected a member, got %s", name)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if (name.word("get") || name.word("set")) && !p.memberEnds() {
		return nil, name.errorf("accessors are not supported")
	}
	return nil, p.property(o, name, doc)
}

// memberEnds reports whether the name of a member ends here.
func (p *parser) memberEnds() bool {
	return p.tok.is(":") || p.tok.is("?") || p.tok.is("(") || p.tok.is("<")
}

func (p *parser) property(o *object, name token, doc *comment) error {
	m := member{place: name.place, name: name.text, doc: doc}
	var err error
	if m.optional, err = p.accept("?"); err != nil {
		return err
	}
	if p.tok.is("(") || p.tok.is("<") {
		return name.errorf("method %s has no JSON form", name.text)
	}
	if err = p.expect(":"); err != nil {
		return err
	}
	if m.typ, err = p.typ(); err != nil {
		return err
	}
	if len(m.name) > maxName {
		return name.errorf("the name of the property has more than %d bytes", maxName)
	}
	if o.find(m.name) != nil {
		return name.errorf("property %q is declared twice", m.name)
	}
	o.add(m)
	return nil
}

// bracket reads an index signature or a mapped type.
func (p *parser) bracket(o *object, doc *comment) (*mapped, error) {
	open := p.tok
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokString { // ["computed"]: T with a literal name
		name := p.tok
		if err := p.advance(); err != nil {
			return nil, err
		}
		if err := p.expect("]"); err != nil {
			return nil, err
		}
		return nil, p.property(o, name, doc)
	}
	name, err := p.name("a key's name")
	if err != nil {
		return nil, err
	}
	if !p.tok.word("in") {
		return nil, p.indexSignature(o, doc)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	m := &mapped{origin: origin{place: open.place}, param: name.text}
	if m.keys, err = p.typ(); err != nil {
		return nil, err
	}
	if p.tok.word("as") {
		return nil, p.tok.errorf("renaming keys is not supported")
	}
	if err := p.expect("]"); err != nil {
		return nil, err
	}
	if m.required, err = p.accept("-"); err != nil {
		return nil, err
	}
	if _, err = p.accept("+"); err != nil {
		return nil, err
	}
	if m.optional, err = p.accept("?"); err != nil {
		return nil, err
	}
	if m.required && !m.optional {
		return nil, p.tok.errorf("expected ? after -, got %s", p.tok)
	}
	m.optional = m.optional && !m.required
	if err := p.expect(":"); err != nil {
		return nil, err
	}
	m.value, err = p.typ()
	return m, err
}

func (p *parser) indexSignature(o *object, doc *comment) (err error) {
	x := index{doc: doc}
	if err = p.expect(":"); err != nil {
		return err
	}
	if x.key, err = p.typ(); err != nil {
		return err
	}
	if err = p.expect("]"); err != nil {
		return err
	}
	if err = p.expect(":"); err != nil {
		return err
	}
	if x.value, err = p.typ(); err != nil {
		return err
	}
	o.indexes = append(o.indexes, x)
	return nil
}
