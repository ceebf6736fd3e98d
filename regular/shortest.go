package regular

import "unicode/utf8"

// shortestLen is the length of a shortest string of a live expression.
func (s *Store) shortestLen(e Expr) int32 {
	if n := &s.nodes[e]; n.flags&plain != 0 {
		return n.lengths.lo
	}
	text, n := s.shortest(e)
	_ = text
	return n
}

// shortest returns a shortest string of a live expression and its length in
// characters. Among equals it prefers letters and digits.
func (s *Store) shortest(e Expr) (string, int32) {
	if s.is(e, plain) {
		return string(s.appendShortest(nil, e)), s.nodes[e].lengths.lo
	}
	w := walk{s: s, met: map[Expr]int32{}}
	w.meet(e, -1, 0)
	for len(w.queue.items) > 0 {
		at := w.queue.pop().visit
		v := w.visits[at]
		if s.is(v.e, plain|nullable) {
			rest := s.appendShortest(nil, v.e)
			var path []rune
			for i := at; w.visits[i].from >= 0; i = w.visits[i].from {
				path = append(path, w.visits[i].by)
			}
			var text []byte
			for i := len(path) - 1; i >= 0; i-- {
				text = utf8.AppendRune(text, path[i])
			}
			return string(append(text, rest...)), int32(len(path) + utf8.RuneCount(rest))
		}
		list := s.derive(v.e)
		for i, d := range list {
			if s.isLive(d.to) {
				w.meet(d.to, at, pick(list, i))
			}
		}
		if len(w.visits) > s.limits.Steps || s.err != nil {
			s.fail("Steps", s.limits.Steps)
			break
		}
	}
	return "", 0
}

// appendShortest appends a shortest string of a plain or nullable expression.
func (s *Store) appendShortest(dst []byte, e Expr) []byte {
	for {
		n := s.nodes[e]
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
				if s.nodes[x].lengths.lo < s.nodes[e].lengths.lo {
					e = x
				}
			}
		case opSwitch:
			best := 0
			for i, d := range n.edges {
				if s.nodes[d.to].lengths.lo < s.nodes[n.edges[best].to].lengths.lo {
					best = i
				}
			}
			dst = utf8.AppendRune(dst, pick(n.edges, best))
			e = n.edges[best].to
		default:
			return dst
		}
	}
}

// pick chooses a character among the edges that lead where the i-th leads.
func pick(list []edge, i int) rune {
	best := rune(-1)
	for _, d := range list {
		if d.to == list[i].to {
			best = prefer(best, d.lo, d.hi)
		}
	}
	return best
}

// taste orders characters by how well they read in a made-up string: letters,
// digits, then printable ASCII that JSON doesn't escape, then the rest.
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

// favourites start the groups of taste, so that a range holds the best of a
// group it meets at its own start or at one of these.
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
