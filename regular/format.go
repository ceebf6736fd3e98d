package regular

import (
	"sync"

	"github.com/stencil-json/stencil/regular/formats"
	"github.com/stencil-json/stencil/regular/runes"
)

// Format returns the strings of a format of JSON Schema, or false if the format is
// unknown. The languages are those of the RFCs that JSON Schema names, narrowed
// where common validators are stricter. It also knows Pydantic's uuid1 to uuid8,
// base64, base64url, ipv4network and ipv4interface.
//
//   - uri, uri-reference and their iri variants: no percent-encoded ASCII in a
//     host name; no address of a future version in brackets, except in the iri
//     variants; no characters outside ASCII in the user's name.
//   - email: at most 64 characters before the @ and 254 in all; no backslash in
//     quoted local parts. idn-email: the same, with any characters outside ASCII.
//   - hostname, idn-hostname: no dot at the end. Labels that start with xn-- are
//     checked for alphabet and length only, not for valid Punycode. The length of
//     an international label is counted in its own characters.
//   - idn-hostname: the characters of RFC 5892 for Unicode 15.0 and the rules of
//     its appendix A and of RFC 5893. Labels need not be in normalisation form C.
//   - uri-template: without the reserved operators = , ! @ |.
//   - date, date-time: years from 0001, as in most libraries.
//   - regex: the syntax that ECMAScript with the u flag and package regexp share,
//     with at most three levels of groups, no look-around, counts up to 99 and at
//     most one named group.
func (s *Store) Format(name string) (Expr, bool) {
	s.lock()
	defer s.done()
	return s.format(name)
}

// PrepareFormats builds the automata of all formats, which otherwise are built when a format is first asked for: up
// to some milliseconds each, once in a process.
func PrepareFormats() {
	s := NewStore(Limits{})
	for name := range formatTables {
		s.Format(name)
	}
	for name := range composed {
		s.Format(name)
	}
}

func (s *Store) format(name string) (Expr, bool) {
	if e, ok := s.formats[name]; ok {
		return e, true
	}
	var e Expr
	if build, ok := composed[name]; ok {
		e = build(s)
	} else if table, ok := formatTables[name]; ok {
		e = s.state(table(), 0)
	} else {
		return exprEmpty, false
	}
	if s.formats == nil {
		s.formats = make(map[string]Expr)
	}
	s.formats[name] = e
	return e, true
}

// composed holds the formats that are not a single pattern. It is filled by init,
// because building one format uses others.
var composed map[string]func(*Store) Expr

func init() {
	composed = map[string]func(*Store) Expr{
		"time": func(s *Store) Expr { return s.state(clock{}, 0) },
		"date-time": func(s *Store) Expr {
			date, _ := s.format("date")
			t := s.class(runes.Of('T', 'T', 't', 't'))
			return s.concat(date, s.concat(t, s.state(clock{}, 0)))
		},
		"hostname": func(s *Store) Expr { return s.and2(s.length(1, 253), s.part("hostname labels")) },
		"email": func(s *Store) Expr {
			return s.emailFormat(s.part("local part"), s.part("hostname labels"))
		},
		"idn-email": func(s *Store) Expr {
			return s.emailFormat(s.part("idn local part"), s.state(idnAutomaton(), 0))
		},
		"idn-hostname": func(s *Store) Expr { return s.and2(s.length(1, 253), s.state(idnAutomaton(), 0)) },
		"regex":        func(s *Store) Expr { return s.state(regexAutomaton(), 0) },
	}
}

// formatTables holds the automata of the formats that are single patterns,
// formatParts those of the patterns that the other formats are composed from. Each
// is built once in a process, on first use.
var formatTables, formatParts = func() (tables, parts map[string]func() *table) {
	texts, partTexts := formats.Patterns()
	return tabulatedLater(texts), tabulatedLater(partTexts)
}()

func tabulatedLater(texts map[string]string) map[string]func() *table {
	tables := map[string]func() *table{}
	for name, text := range texts {
		tables[name] = sync.OnceValue(func() *table {
			s := NewStore(Limits{})
			t, err := parsePattern(text)
			if err != nil {
				return &table{{}} // can't happen: a test parses them all
			}
			return tabulate(s, s.matched(t))
		})
	}
	return tables
}

// part returns a pattern that formats are composed from.
func (s *Store) part(name string) Expr { return s.state(formatParts[name](), 0) }

// emailFormat returns a mailbox. Only the lengths of its two parts and of the whole
// are bounded.
func (s *Store) emailFormat(local, host Expr) Expr {
	local = s.and2(s.length(1, 64), local)
	host = s.or2(host, s.part("address"))
	return s.and2(s.length(3, 254), s.concat(local, s.concat(s.char('@'), host)))
}
