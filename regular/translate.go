package regular

// Pattern returns the strings in which an ECMAScript pattern matches somewhere,
// as for the keyword "pattern" of JSON Schema. The error is a *SyntaxError, an
// *UnsupportedError or a *LimitError.
func (s *Store) Pattern(text string) (e Expr, err error) {
	s.lock()
	defer s.doneWith(&err)
	if e, ok := s.patterns[text]; ok {
		return e, nil
	}
	if len(text) > s.limits.PatternBytes {
		return exprEmpty, &LimitError{"PatternBytes", s.limits.PatternBytes}
	}
	t, err := parsePattern(text)
	if err != nil {
		return exprEmpty, err
	}
	e, err = s.found(t)
	if err == nil {
		err = s.err
	}
	if err != nil {
		return exprEmpty, err
	}
	if s.patterns == nil {
		s.patterns = make(map[string]Expr)
	}
	s.patterns[text] = e
	return e, nil
}

// found returns the strings in which t matches somewhere.
func (s *Store) found(t *tree) (Expr, error) {
	branches := []*tree{t}
	if t.kind == kindAlt {
		branches = t.subs
	}
	base := len(s.scratch.exprs)
	defer func() { s.scratch.exprs = s.scratch.exprs[:base] }()
	for _, b := range branches {
		e, ok := s.foundBranch(b)
		if !ok {
			var err error
			if e, err = s.foundAround(b, exprAny); err != nil {
				return exprEmpty, err
			}
		}
		s.scratch.exprs = append(s.scratch.exprs, e)
	}
	return s.orFactored(s.scratch.exprs[base:]), nil
}

// foundBranch is found for a sequence whose only assertions are ^ at its start
// and $ at its end.
func (s *Store) foundBranch(t *tree) (Expr, bool) {
	one := [1]*tree{t}
	list := one[:]
	if t.kind == kindSeq {
		list = t.subs
	}
	before, after := exprAny, exprAny
	for len(list) > 0 && list[0].kind == kindStart {
		before, list = exprEpsilon, list[1:]
	}
	for len(list) > 0 && list[len(list)-1].kind == kindEnd {
		after, list = exprEpsilon, list[:len(list)-1]
	}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].asserts {
			return exprEmpty, false
		}
		after = s.concat(s.matched(list[i]), after)
	}
	return s.concat(before, after), true
}

// matched returns the strings that a tree without assertions matches.
func (s *Store) matched(t *tree) Expr {
	switch t.kind {
	case kindText:
		return s.literal(t.text, exprEpsilon)
	case kindClass:
		return s.class(t.set)
	case kindRepeat:
		return s.repeat(s.matched(t.subs[0]), t.least, t.most)
	case kindSeq:
		e := exprEpsilon
		for i := len(t.subs) - 1; i >= 0; i-- {
			e = s.concat(s.matched(t.subs[i]), e)
		}
		return e
	case kindAlt:
		base := len(s.scratch.exprs)
		for _, sub := range t.subs {
			e := s.matched(sub)
			s.scratch.exprs = append(s.scratch.exprs, e)
		}
		e := s.orFactored(s.scratch.exprs[base:])
		s.scratch.exprs = s.scratch.exprs[:base]
		return e
	}
	return exprEmpty
}
