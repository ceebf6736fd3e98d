package regular

import (
	"fmt"
	"strings"
	"sync"

	"github.com/stencil-json/stencil/regular/formats"
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
	)
	// Counts of nested loops multiply, and package regexp allows 1000 in all.
	small, large := `|\{(?:`+formats.LoopCounts(false)+`)\}\??`, `|\{(?:`+formats.LoopCounts(true)+`)\}\??`
	class := of(`\[\^?-?(?:` + member + `|` + strings.Join(ranges, "|") + `)+-?\]`)
	atom := s.or([]Expr{of(`[^$(-+.?\[-^{-}\x00-\x1F]|\.|` + escapes), class})
	piece := s.or([]Expr{of(`[$^]|\\[Bb]`), seq(atom, s.maybe(of(simple+small+large)))})
	group := func(level Expr, loops string) Expr {
		return seq(of(`\((?:\?:)?`), alternatives(level), s.char(')'), s.maybe(of(loops)))
	}
	level := s.repeat(piece, 0, infinite)
	piece = s.or2(piece, group(level, simple+small))
	for range 3 {
		level = s.repeat(s.or2(piece, group(level, simple)), 0, infinite)
	}
	named := seq(level, of(`\(\?<[A-Z_a-z][0-9A-Z_a-z]{0,30}>`), level, s.char(')'), level)
	return s.or2(alternatives(level), named)
}
