package schema

import (
	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/language"
	"github.com/stencil-json/stencil/schema/layout"
	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/syntax"
)

// base is what all parts of a source share: the document, options, goals and
// forms, and the first error.
type base struct {
	doc      *syntax.Document
	opt      Options
	lang     *language.Pool
	goals    logic.Goals
	forms    logic.Forms
	err      error
	meter    *meter.Meter // of all work on the schema; it may be nil
	machines logic.Memo[regular.Expr, *regular.Machine]

	guesses guesses
}

// guesses counts answers that relied on an assumption because their question came
// up again while it was being answered. Results that depend on such an answer are
// not remembered: elsewhere they may be wrong.
type guesses struct {
	views int // a view was needed while it was being computed
	goals int // a goal was assumed to have no value while that was being decided
}

// firm reports whether an answer may be remembered; since holds the guesses
// before it was sought. The answer yes does not depend on guesses about goals: if
// more goals have values, it remains yes.
func (b *base) firm(since guesses, answer bool) bool {
	return b.guesses.views == since.views && (answer || b.guesses.goals == since.goals)
}

func newBase(doc *syntax.Document, opt Options, lang *language.Pool, m *meter.Meter) *base {
	b := &base{doc: doc, opt: opt, goals: logic.NewGoals(), meter: m}
	b.lang = lang.Reporting(b.languages, b.exceeded)
	b.goals.Meter = m
	b.forms = logic.NewForms(&b.goals)
	return b
}

// fail keeps the first error.
func (b *base) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// machine returns the automaton of a language. If it exceeds a limit, the result
// accepts no strings.
func (b *base) machine(e regular.Expr) *regular.Machine {
	if m := b.machines[e]; m != nil && m.Err() == nil {
		return m
	}
	m, err := b.lang.Machine(e)
	b.meter.Step(16)
	b.machines.Put(e, m)
	if err == nil {
		err = m.Err()
	}
	if err != nil {
		b.fail(err)
	}
	return m
}

// languages meters n units of work on languages, with their store locked; 16 take about as long as a step of the meter.
func (b *base) languages(n int) { b.meter.StepLocked(1 + n/16) }

// exceeded ends the work at a limit of the languages, so that its consequences do not get into tables that schemas share.
func (b *base) exceeded(err *regular.LimitError) {
	b.fail(err)
	b.meter.Stop(err)
}

// limit records that a limit was exceeded.
func (b *base) limit(name string, n int) {
	b.fail(&LimitError{Limit: name, Max: n})
}

// place returns the initial place of a document.
func (b *base) place() layout.Place {
	switch b.opt.Whitespace.kind {
	case wsPretty:
		return layout.Pretty()
	case wsNatural:
		return layout.Natural()
	case wsNaturalNested:
		return layout.Nested()
	case wsSpaced:
		return layout.Spaced()
	}
	return layout.Compact()
}

// blanks returns how much whitespace may come in a new place, regardless of the
// layout.
func (b *base) blanks() int16 {
	if b.opt.Whitespace.kind == wsFlexible {
		return int16(b.opt.Whitespace.max)
	}
	return 0
}

// strictEscapes reports whether strings may have only those escapes that JSON
// requires.
func (b *base) strictEscapes() bool { return !b.opt.AnyNumberSpelling }
