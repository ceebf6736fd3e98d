package regular

// Loosen returns a state that treats every text of at most n characters like
// q does: it is accepted, or can be gone on with, exactly when that holds
// after q. Counts too large for such a text to reach are given up, so that
// the many states of one counter become one. The state may be of another
// machine; it is q itself where that can't be told.
func (m *Machine) Loosen(q State, n int) (*Machine, State) {
	if q == Dead || n < 1 || n >= maxCount/4 {
		return m, q
	}
	s := m.store
	s.mu.Lock()
	e := m.at(q).expr
	l := loosener{s: s, n: int32(n), done: map[Expr]Expr{}}
	out := l.top(e)
	bad := s.err != nil
	s.mu.Unlock()
	if out == e || bad {
		return m, q
	}
	to, err := s.Compile(out)
	if err != nil || to.Start() == Dead {
		return m, q
	}
	return to, to.Start()
}

type loosener struct {
	s    *Store
	n    int32
	done map[Expr]Expr
}

// top loosens a plain expression, or the conjunction of one with an upper
// bound on the length that leaves room for whatever the text obliges to.
// Other conjunctions are left alone: their parts may exclude each other
// further on.
func (l *loosener) top(e Expr) Expr {
	s := l.s
	if s.is(e, plain) {
		return l.loosen(e)
	}
	if s.op(e) != opAnd {
		return e
	}
	args := s.operands(e)
	if len(args) != 2 {
		return e
	}
	bound, rest := args[0], args[1]
	if !s.isLength(bound) {
		bound, rest = rest, bound
	}
	if !s.isLength(bound) || !s.is(rest, plain) {
		return e
	}
	_, least, most := s.counted(bound)
	if least > 0 || most == infinite || int64(most) < int64(l.n)+l.obligation(rest) {
		return e
	}
	return l.loosen(rest)
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
	case opRepeat:
		least, most := node.least, node.most
		if most != infinite && most > l.n {
			most = infinite
		}
		if least > l.n+1 {
			least = l.n + 1
		}
		out = s.repeat(l.loosen(Expr(node.a)), least, most)
	}
	l.done[e] = out
	return out
}

// obligation bounds the length of the shortest completion after any text
// that a plain expression lets begin.
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
	case opRepeat:
		return min(most, l.obligation(Expr(node.a))*int64(max(1, node.least)))
	}
	return most
}
