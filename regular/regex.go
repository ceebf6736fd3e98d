package regular

import (
	"fmt"
	"strings"
	"sync"
)

// regexAutomaton accepts the regular expressions of the format "regex". It has
// too many states for a table, and is built as it is walked.
var regexAutomaton = sync.OnceValue(func() *recoded {
	s := NewStore(Limits{})
	return newRecoded(s, regexLanguage(s), nil)
})

func regexLanguage(s *Store) Expr {
	of := func(pattern string) Expr {
		t, err := parsePattern(pattern)
		if err != nil {
			panic(err) // can't happen: a test covers it
		}
		return s.matched(t)
	}
	seq := func(list ...Expr) Expr {
		e := exprEpsilon
		for i := len(list) - 1; i >= 0; i-- {
			e = s.concat(list[i], e)
		}
		return e
	}
	alternatives := func(e Expr) Expr { return seq(e, s.repeat(seq(s.char('|'), e), 0, infinite)) }

	var ranges []string
	for _, set := range []string{"09", "AZ", "az"} {
		for c := set[0]; c <= set[1]; c++ {
			ranges = append(ranges, fmt.Sprintf(`%c-[%c-%c]`, c, c, set[1]))
		}
	}
	const (
		escapes = `\\[DSWdsw]|\\[Pp]\{(?:[LMNPSZ]|L[lmotu]|N[dlo])\}|\\[$(-+./?\[-^{-}fnrtv]|\\x[0-9A-Fa-f]{2}`
		member  = `[^\]\\^\[\-\x00-\x1F]|\\-|` + escapes
		simple  = `[*+?]\??`
		// Counts of nested loops multiply, and package regexp allows 1000 in all.
		small = `|\{(?:[0-9](?:,)?|0,[0-9]|[1-4],[4-9])\}\??`
		large = `|\{(?:[0-9]{1,2}(?:,)?|[0-9],[1-9][0-9])\}\??`
	)
	class := of(`\[\^?-?(?:` + member + `|` + strings.Join(ranges, "|") + `)+-?\]`)
	atom := s.or([]Expr{of(`[^$(-+.?\[-^{-}\x00-\x1F]|\.|` + escapes), class})
	piece := s.or([]Expr{of(`[$^]|\\[Bb]`), seq(atom, s.maybe(of(simple+small+large)))})
	level := s.repeat(piece, 0, infinite)
	for depth := range 3 {
		loops := of(simple)
		if depth == 0 {
			loops = of(simple + small)
		}
		group := seq(of(`\((?:\?:)?`), alternatives(level), s.char(')'), s.maybe(loops))
		level = s.repeat(s.or2(piece, group), 0, infinite)
	}
	named := seq(level, of(`\(\?<[A-Z_a-z][0-9A-Z_a-z]{0,30}>`), level, s.char(')'), level)
	return s.or2(alternatives(level), named)
}
