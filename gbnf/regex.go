package gbnf

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/vocab"
)

// Syntax is a dialect of regular expressions.
type Syntax uint8

const (
	// ECMA is the dialect of ECMAScript, which JSON Schema uses too.
	ECMA Syntax = iota
	// Go is the dialect of package regexp.
	Go
)

// Regex compiles a regular expression that the whole text has to match, as if
// it were between ^ and $. Errors are *InvalidError or *LimitError.
func Regex(pattern string, syntax Syntax, opt Options) (*Grammar, error) {
	return RegexContext(context.Background(), pattern, syntax, opt)
}

// RegexContext is [Regex] with a context: when it ends, the work stops, with its cause as the error.
func RegexContext(ctx context.Context, pattern string, syntax Syntax, opt Options) (g *Grammar, err error) {
	defer meter.Catch(&err)
	work := started(ctx)
	compile := (*regular.Store).Pattern
	anchored := "^(?:" + pattern + ")$"
	if syntax == Go {
		compile = (*regular.Store).GoPattern
		anchored = `\A(?:` + pattern + `)\z`
	}
	// The pattern must be valid by itself: a)(b would be valid only with the
	// anchors.
	alone := regular.NewStore(regular.Limits{})
	alone.Report(userOf(work, new(error)))
	if _, err := compile(alone, pattern); err != nil {
		return nil, regexError(pattern, err)
	}
	return ofLanguage(work, "regex "+pattern, opt, func(s *regular.Store) (regular.Expr, error) {
		e, err := compile(s, anchored)
		if err != nil {
			err = regexError(pattern, err)
		}
		return e, err
	})
}

// Choice compiles a list of texts, of which the whole text has to be one.
// Errors are *InvalidError or *LimitError.
func Choice(texts []string, opt Options) (*Grammar, error) {
	return ChoiceContext(context.Background(), texts, opt)
}

// ChoiceContext is [Choice] with a context: when it ends, the work stops, with its cause as the error.
func ChoiceContext(ctx context.Context, texts []string, opt Options) (g *Grammar, err error) {
	defer meter.Catch(&err)
	work := started(ctx)
	if len(texts) == 0 {
		return nil, &InvalidError{[]Issue{{Reason: "choice: there is nothing to choose from"}}}
	}
	var b strings.Builder
	b.WriteString("choice")
	for i, t := range texts {
		work.Step(1 + len(t)/64)
		if strings.ToValidUTF8(t, "") != t {
			return nil, &InvalidError{[]Issue{{Reason: fmt.Sprintf("choice: number %d is malformed UTF-8", i+1)}}}
		}
		b.WriteByte(' ')
		printLiteral(&b, t)
	}
	return ofLanguage(work, b.String(), opt, func(s *regular.Store) (regular.Expr, error) { return s.Strings(texts), nil })
}

// regexError adds a place to an error of package regular.
func regexError(pattern string, err error) error {
	at, reason := 0, err.Error()
	switch e := err.(type) {
	case *regular.SyntaxError:
		at, reason = e.Offset, e.Reason
	case *regular.UnsupportedError:
		at, reason = e.Offset, "unsupported: "+e.Reason
	case *regular.LimitError:
		return &LimitError{Limit: "regular expression: " + e.Limit, Max: e.Max}
	}
	return &InvalidError{[]Issue{issueAt(pattern, min(at, len(pattern)), "", "regex: "+reason)}}
}

// ofLanguage returns the constraint to a regular language.
func ofLanguage(work *meter.Meter, text string, opt Options, build func(*regular.Store) (regular.Expr, error)) (*Grammar, error) {
	limits := opt.Limits.withDefaults()
	machine := func(work *meter.Meter) (*regular.Machine, error) {
		store := regular.NewStore(regular.Limits{PatternBytes: limits.Source, Text: limits.Text})
		var failed error
		store.Report(userOf(work, &failed))
		defer store.Report(nil)
		e, err := build(store)
		if err = errors.Join(err, failed); err != nil {
			return nil, err
		}
		m, err := store.Compile(e)
		if err != nil {
			return nil, regexError("", err)
		}
		return m, nil
	}
	m, err := machine(work)
	if err != nil {
		return nil, err
	}
	if m.Start() == regular.Dead {
		return nil, &InvalidError{[]Issue{{Reason: "no text can satisfy it"}}}
	}
	g := &Grammar{text: text, limits: limits}
	var failed error
	g.report = Report{Hash: hashOf(text), Shortest: len(m.Reporting(userOf(work, &failed)).Shortest(m.Start()))}
	if failed != nil {
		return nil, failed
	}
	g.source = func(*meter.Meter, *vocab.Vocab) (decoder.Source, error) {
		return newSource(func(out *outcomes) automaton { return &language{make: machine, m: m, out: out} }), nil
	}
	return g, m.Err()
}

// language is the automaton of a regular language.
type language struct {
	make   func(work *meter.Meter) (*regular.Machine, error)
	out    *outcomes
	m      *regular.Machine
	edge   map[int32][]edge
	behind charSet // what may follow the whole text
	failed error
	meter  *meter.Meter
}

// setMeter implements metered.
func (l *language) setMeter(x *meter.Meter) { l.meter = x }

// reporting returns the machine as one that reports its work to the meter. An operation that is stopped, or exceeds a limit, is
// undone, so that the machine still serves others.
func (l *language) reporting(m *regular.Machine) *regular.Machine {
	return m.Reporting(regular.NewUser(func(n int) { l.meter.Step(1 + n/16) }, func(err *regular.LimitError) {
		l.failed = regexError("", err)
		l.meter.Stop(l.failed)
	}))
}

// userOf returns a user of languages that reports its work to a meter. An exceeded limit stops the work, and is kept in failed in
// case the meter is paused.
func userOf(work *meter.Meter, failed *error) *regular.User {
	return regular.NewUser(func(n int) { work.Step(1 + n/16) }, func(err *regular.LimitError) {
		*failed = regexError("", err)
		work.Stop(*failed)
	})
}

// reset implements automaton.
func (l *language) reset() { l.edge, l.failed = nil, nil }

// start implements automaton. The states belong to the machine, so a new
// machine discards them.
func (l *language) start() int32 {
	if l.edge == nil {
		l.edge = map[int32][]edge{}
		if m, err := l.make(l.meter); err != nil {
			l.failed = err
		} else {
			l.m = l.reporting(m)
		}
	}
	return l.m.Start()
}

// edges implements automaton.
func (l *language) edges(q int32) []edge {
	if list, ok := l.edge[q]; ok {
		return list
	}
	ranges := l.m.Ranges(q)
	list := make([]edge, 0, len(ranges))
	for _, r := range ranges {
		a := alt{n: 1, states: [2]int32{r.To}}
		if l.m.Accepting(r.To) && len(l.m.Ranges(r.To)) == 0 {
			a = alt{}
		}
		list = append(list, edge{lo: r.Lo, hi: r.Hi, out: l.out.intern([]alt{a})})
	}
	l.edge[q] = list
	return list
}

// mayEnd implements automaton.
func (l *language) mayEnd(q int32) bool { return l.m.Accepting(q) }

// follow implements automaton.
func (l *language) follow(int32) charSet { return l.behind }

// followed implements automaton.
func (l *language) followed() { l.behind = everyChar }

// finish implements automaton.
func (l *language) finish(q int32) []byte { return []byte(l.m.Shortest(q)) }

// describe implements automaton.
func (l *language) describe(q int32) string {
	var all []regular.Range
	for _, r := range l.m.Ranges(q) {
		all = append(all, regular.Range{Lo: r.Lo, Hi: r.Hi})
	}
	if len(all) == 0 {
		return ""
	}
	return classText(normal(all, false))
}

// loosen implements automaton.
func (l *language) loosen(q int32, n int32) int32 {
	_, to := l.m.Loosen(q, int(n))
	return to
}

// err implements automaton.
func (l *language) err() error {
	if l.failed == nil {
		if err := l.m.Err(); err != nil {
			l.failed = regexError("", err)
		}
	}
	return l.failed
}

// bytes implements automaton.
func (l *language) bytes() int {
	return l.m.Bytes() + 100*len(l.edge)
}
