package jinja

import "fmt"

// Kind is the category of an error.
type Kind uint8

// The kinds of errors.
const (
	Syntax  Kind = iota // the template can't be parsed
	Runtime             // an operation failed while rendering
	Raised              // the template called raise_exception
	Limit               // rendering exceeded its limits
)

// Error is an error at a position in a template.
type Error struct {
	Line, Column int // from 1; in characters; 0 if the position is unknown
	Kind         Kind
	Message      string
}

// Error returns the position and the message.
func (e *Error) Error() string {
	if e.Line == 0 {
		return "jinja: " + e.Message
	}
	return fmt.Sprintf("jinja: %d:%d: %s", e.Line, e.Column, e.Message)
}

// place is the position where a token begins.
type place struct{ line, col int }

func (p place) fail(kind Kind, format string, args ...any) *Error {
	return &Error{p.line, p.col, kind, fmt.Sprintf(format, args...)}
}

// within adds the position p to an error without one.
func (p place) within(err error) error {
	if e, ok := err.(*Error); ok {
		if e.Line == 0 {
			e.Line, e.Column = p.line, p.col
		}
		return e
	}
	return p.fail(Runtime, "%v", err)
}

// failf returns a runtime error; the node being evaluated adds the
// position.
func failf(format string, args ...any) error {
	return place{}.fail(Runtime, format, args...)
}
