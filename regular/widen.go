package regular

// Loosen returns a state equivalent to q for every text of at most n
// characters: the text is accepted, or can be continued, exactly if it is or
// can be after q. Counts too large for such a text to reach are dropped, so
// that the many states of one counter become one. The state may belong to
// another machine; it is q itself if none is known.
func (m *Machine) Loosen(q State, n int) (*Machine, State) {
	if q == Dead || n < 1 || n >= maxCount/4 {
		return m, q
	}
	out, ok := m.loosened(q, int32(n))
	if !ok {
		return m, q
	}
	to, err := m.compiled(out)
	if err != nil || to.Start() == Dead {
		return m, q
	}
	return to.Like(m), to.Start()
}

func (m *Machine) compiled(e Expr) (to *Machine, err error) {
	m.lock()
	defer m.store.doneWith(&err)
	return m.store.compile(e)
}

// loosened returns another expression for the state's, if there is one.
func (m *Machine) loosened(q State, n int32) (out Expr, ok bool) {
	s := m.store
	m.lock()
	defer s.done()
	e := m.at(q).expr
	l := loosener{s: s, n: n, done: map[Expr]Expr{}}
	out = l.top(e)
	return out, out != e && s.err == nil
}

type loosener struct {
	s    *Store
	n    int32
	done map[Expr]Expr
}

// top loosens an expression if the result contains no parts that may exclude
// each other later.
func (l *loosener) top(e Expr) Expr {
	if out := l.loosen(e); l.s.is(out, plain) {
		return out
	}
	return e
}

func (l *loosener) loosen(e Expr) Expr {
	if x, ok := l.done[e]; ok {
		return x
	}
	s := l.s
	out := e
	switch node := s.node(e); node.op {
	case opConcat:
		out = s.concat(l.loosen(Expr(node.a)), l.loosen(Expr(node.b)))
	case opOr:
		args := append([]Expr(nil), s.operands(e)...)
		for i, x := range args {
			args[i] = l.loosen(x)
		}
		out = s.or(args)
	case opAnd:
		// An upper bound on the length that leaves room for every required
		// completion of the text has no effect.
		if loop, core := s.splitLength(e); loop != exprAny && s.node(loop).least == 0 {
			if rest := l.loosen(core); s.is(rest, plain) && int64(s.node(loop).most) >= int64(l.n)+l.obligation(core) {
				out = rest
			}
		}
	case opRepeat:
		// As many repetitions as fit into n characters, and one more.
		enough := l.n/max(1, s.node(Expr(node.a)).lengths.lo) + 1
		least, most := min(node.least, enough), node.most
		if most >= enough {
			most = infinite
		}
		out = s.repeat(l.loosen(Expr(node.a)), least, most)
	}
	l.done[e] = out
	return out
}

// obligation bounds the length of the shortest completion after any prefix of
// an expression, which is plain except for bounds on the length.
func (l *loosener) obligation(e Expr) int64 {
	s := l.s
	const most = int64(maxCount)
	switch node := s.node(e); node.op {
	case opEmpty, opEpsilon:
		return 0
	case opClass:
		return 1
	case opConcat:
		return min(most, l.obligation(Expr(node.a))+l.obligation(Expr(node.b)))
	case opOr:
		var worst int64
		for _, x := range s.operands(e) {
			worst = max(worst, l.obligation(x))
		}
		return worst
	case opState:
		return int64(s.automata[node.a].obligation())
	case opAnd:
		if loop, core := s.splitLength(e); loop != exprAny && s.node(loop).least == 0 {
			return l.obligation(core)
		}
	case opRepeat:
		return min(most, l.obligation(Expr(node.a))*int64(max(1, node.least)))
	}
	return most
}
