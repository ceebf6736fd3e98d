package regular

import "unicode/utf8"

// letters is a set of characters: ASCII characters one by one, all others
// together.
type letters struct {
	low, high uint64
	beyond    bool
}

var allLetters = letters{^uint64(0), ^uint64(0), true}

func (l letters) or(m letters) letters {
	return letters{l.low | m.low, l.high | m.high, l.beyond || m.beyond}
}

func (l letters) and(m letters) letters {
	return letters{l.low & m.low, l.high & m.high, l.beyond && m.beyond}
}

func (l letters) empty() bool { return l == letters{} }

// add adds the characters from lo to hi.
func (l *letters) add(lo, hi rune) {
	l.beyond = l.beyond || hi >= utf8.RuneSelf
	for c := lo; c <= min(hi, utf8.RuneSelf-1); c++ {
		if c < 64 {
			l.low |= 1 << c
		} else {
			l.high |= 1 << (c - 64)
		}
	}
}

// maxLettersDepth bounds the nesting down to which letters are distinguished.
const maxLettersDepth = 200

// lettersOf returns a set that contains all characters of the strings of e.
func (s *exprs) lettersOf(e Expr, depth int) letters {
	if e == exprAny || depth == maxLettersDepth {
		return allLetters
	}
	n := s.node(e)
	var out letters
	switch n.op {
	case opEmpty, opEpsilon:
		return out
	case opClass:
		for _, r := range s.set(e) {
			out.add(r.Lo, r.Hi)
		}
		return out
	case opNot, opRec, opSwitch:
		return allLetters
	case opRepeat:
		return s.lettersOf(Expr(n.a), depth+1)
	}
	if known, ok := s.letters[e]; ok {
		return known
	}
	switch n.op {
	case opConcat:
		out = s.lettersOf(Expr(n.a), depth+1).or(s.lettersOf(Expr(n.b), depth+1))
	case opState:
		return s.lettersOfAutomaton(n.a)
	case opOr:
		for _, x := range s.operands(e) {
			if out = out.or(s.lettersOf(x, depth+1)); out == allLetters {
				break
			}
		}
	case opAnd:
		out = allLetters
		for _, x := range s.operands(e) {
			out = out.and(s.lettersOf(x, depth+1))
		}
	}
	if s.letters == nil {
		s.letters = map[Expr]letters{}
	}
	s.letters[e] = out
	return out
}

func (s *exprs) lettersOfAutomaton(index int32) letters {
	if int(index) >= len(s.autoLetters) {
		s.autoLetters = append(s.autoLetters, make([]letters, len(s.automata)-len(s.autoLetters))...)
	}
	l := &s.autoLetters[index]
	if l.empty() {
		*l = s.automata[index].letters()
	}
	return *l
}

// spells reports whether e may have a string of the given letters; the answer
// false is certain. It considers only the structure, and at most budget nodes.
func (s *exprs) spells(e Expr, given letters, budget *int) bool {
	if *budget--; *budget < 0 {
		return true
	}
	n := s.node(e)
	switch n.op {
	case opEmpty:
		return false
	case opClass:
		return !s.lettersOf(e, 0).and(given).empty()
	case opConcat:
		return s.spells(Expr(n.a), given, budget) && s.spells(Expr(n.b), given, budget)
	case opRepeat:
		return n.least == 0 || s.spells(Expr(n.a), given, budget)
	case opOr:
		for i := range s.operands(e) {
			if s.spells(s.operands(e)[i], given, budget) {
				return true
			}
		}
		return false
	case opAnd:
		for i := range s.operands(e) {
			if !s.spells(s.operands(e)[i], given, budget) {
				return false
			}
		}
	}
	return true
}

// maxSpelling bounds the nodes that clash visits.
const maxSpelling = 1000

// clash reports whether an intersection is empty because one operand requires
// letters that another does not have. This avoids a search through all states
// of the other, of which there are many in a language such as the time of day.
func (s *exprs) clash(e Expr) bool {
	given := s.lettersOf(e, 0)
	if given == allLetters {
		return false
	}
	budget := maxSpelling
	return !s.spells(e, given, &budget)
}
