package regular

import "unicode/utf8"

// knownShortest returns the length of a shortest string of a live expression,
// if it is known without a search.
func (s *exprs) knownShortest(e Expr) (int32, bool) {
	n := s.node(e)
	switch {
	case n.shortest > 0:
		return n.shortest - 1, true
	case n.flags&(plain|nullable) != 0, n.lengths.exact() && n.lengths.inLo == n.lengths.lo:
		return n.lengths.lo, true
	}
	return 0, false
}

// shortestLen returns the length of a shortest string of a live expression.
func (s *searches) shortestLen(e Expr) int32 {
	if n, ok := s.knownShortest(e); ok {
		return n
	}
	w := walk{s: s, steps: s.limits.Steps}
	at, _ := w.run(e, func(x Expr) bool { _, ok := s.knownShortest(x); return ok })
	if at < 0 {
		s.fail("Steps", s.limits.Steps)
		return 0
	}
	rest, _ := s.knownShortest(w.visits[at].e)
	for i := at; i >= 0; i = w.visits[i].from {
		s.node(w.visits[i].e).shortest = rest + w.visits[at].depth - w.visits[i].depth + 1
	}
	return s.node(e).shortest - 1
}

// shortest returns a shortest string of a live expression. Among strings of
// equal length it prefers letters and digits.
func (s *searches) shortest(e Expr) string {
	var text []byte
	for !s.is(e, plain|nullable) {
		n := s.shortestLen(e)
		list := s.derive(e)
		next := s.nearer(list, n-1, false)
		if next < 0 {
			next = s.nearer(list, n-1, true)
		}
		if next < 0 || s.err != nil {
			return "" // a limit was exceeded
		}
		text = utf8.AppendRune(text, pick(list, next))
		e = list[next].to
	}
	return string(s.appendShortest(text, e))
}

// nearer returns the index of an edge to an expression whose shortest string
// has n characters, or -1. With search, it searches for unknown lengths.
func (s *searches) nearer(list []edge, n int32, search bool) int {
	for i, d := range list {
		if i > 0 && d.to == list[i-1].to || s.node(d.to).lengths.lo > n {
			continue
		}
		known, ok := s.knownShortest(d.to)
		if !s.isLive(d.to) {
			continue
		}
		if !ok && search {
			known, ok = s.shortestLen(d.to), true
		}
		if ok && known == n {
			return i
		}
	}
	return -1
}

// appendShortest appends a shortest string of a plain or nullable expression.
func (s *searches) appendShortest(dst []byte, e Expr) []byte {
	for {
		n := s.node(e)
		if n.flags&nullable != 0 {
			return dst
		}
		switch n.op {
		case opClass:
			best := rune(-1)
			for _, r := range s.set(e) {
				best = prefer(best, r.Lo, r.Hi)
			}
			return utf8.AppendRune(dst, best)
		case opConcat:
			dst = s.appendShortest(dst, Expr(n.a))
			e = Expr(n.b)
		case opRepeat:
			for range n.least {
				dst = s.appendShortest(dst, Expr(n.a))
			}
			return dst
		case opOr:
			ops := s.operands(e)
			e = ops[0]
			for _, x := range ops[1:] {
				if s.node(x).lengths.lo < s.node(e).lengths.lo {
					e = x
				}
			}
		case opSwitch, opState:
			list, best := s.derive(e), 0
			for i, d := range list {
				if s.node(d.to).lengths.lo < s.node(list[best].to).lengths.lo {
					best = i
				}
			}
			dst = utf8.AppendRune(dst, pick(list, best))
			e = list[best].to
		default:
			return dst
		}
	}
}

// pick chooses a character among the edges that lead to the target of the i-th.
func pick(list []edge, i int) rune {
	best := rune(-1)
	for _, d := range list {
		if d.to == list[i].to {
			best = prefer(best, d.lo, d.hi)
		}
	}
	return best
}

// taste ranks characters by readability in a generated string: letters, digits,
// then printable ASCII that JSON doesn't escape, then the rest.
func taste(r rune) int {
	switch {
	case r >= 'a' && r <= 'z':
		return 0
	case r >= 'A' && r <= 'Z':
		return 1
	case r >= '0' && r <= '9':
		return 2
	case r > ' ' && r < 0x7F && r != '"' && r != '\\':
		return 3
	case r == ' ':
		return 4
	case r >= 0xA1 && r < 0xD800:
		return 5
	case r == '"' || r == '\\':
		return 6
	case r > 0x7F:
		return 7
	}
	return 8
}

// favourites are the first characters of the groups of taste, so that the best
// character of a range is its own start or one of these.
var favourites = [...]rune{'a', 'A', '0', '!', '#', '[', '{', '_', ' ', 0xA1}

// prefer returns the better of best (-1 for none) and the best of lo..hi.
func prefer(best, lo, hi rune) rune {
	better := func(r rune) {
		if best < 0 || taste(r) < taste(best) {
			best = r
		}
	}
	better(lo)
	for _, r := range favourites {
		if lo < r && r <= hi {
			better(r)
		}
	}
	return best
}
