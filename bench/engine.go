package bench

import "github.com/stencil-json/stencil/decoder/walk"

// Engine compiles schemas to constraints over one vocabulary.
type Engine interface {
	// Compile does everything that a server does before it can create a matcher.
	Compile(schema []byte) (Constraint, error)
}

// Constraint is a compiled schema.
type Constraint interface {
	NewMatcher() walk.Matcher
	// Draft returns the draft that the schema was read as: "draft-04", "draft-06",
	// "draft-07", "2019-09" or "2020-12".
	Draft() string
}

// CompileError is the error for a schema that an Engine refuses.
type CompileError struct {
	Keyword string // the cause; empty if no single keyword is
	Err     error
}

// Error returns the engine's own message.
func (e *CompileError) Error() string { return e.Err.Error() }

// Unwrap returns the engine's own error.
func (e *CompileError) Unwrap() error { return e.Err }
