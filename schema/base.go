package schema

import (
	"strconv"

	"stencil/regular"
	"stencil/schema/language"
	"stencil/schema/syntax"
)

func (b *base) colon() string {
	if b.pretty() {
		return ": "
	}
	return ":"
}

// blanks returns how much whitespace may come in a new place.
func (b *base) blanks() int16 {
	if b.opt.Whitespace.kind == wsFlexible {
		return int16(b.opt.Whitespace.max)
	}
	return 0
}

func (b *base) pretty() bool { return b.opt.Whitespace.kind == wsPretty }

func (b *base) inner(depth int16) int16 {
	if b.pretty() {
		return depth + 1
	}
	return 0
}

// strictEscapes reports whether strings may not have escapes that JSON
// doesn't need.
func (b *base) strictEscapes() bool { return !b.opt.AnyNumberSpelling }

// base is what all parts of a source share: the document, options, goals and
// forms, and the first error.
type base struct {
	doc   *syntax.Document
	opt   Options
	lang  *language.Pool
	goals goalTable
	forms formTable
	err   error

	// What rests on an assumption is not remembered. reentries counts how often
	// a view was needed while it was made, assumed the decisions that rest on a
	// guess about a goal being decided.
	reentries, assumed int
}

func newBase(doc *syntax.Document, opt Options, lang *language.Pool) *base {
	b := &base{doc: doc, opt: opt, lang: lang, goals: newGoalTable()}
	b.forms = newFormTable(&b.goals)
	return b
}

func (b *base) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *base) machine(e regular.Expr) *regular.Machine {
	m, err := b.lang.Machine(e)
	if err == nil {
		err = m.Err()
	}
	if err != nil {
		b.fail(err)
	}
	return m
}

func (b *base) limit(name string, n int) {
	b.fail(&LimitError{Limit: name, Max: n})
}

func keyOf(parts ...int32) string {
	b := make([]byte, 0, 8*len(parts))
	for _, p := range parts {
		b = strconv.AppendInt(b, int64(p), 36)
		b = append(b, ',')
	}
	return string(b)
}
