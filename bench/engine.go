package bench

import "github.com/stencil-json/stencil/decoder/walk"

// Engine compiles schemas to constraints over one vocabulary.
type Engine interface {
	// Compile does all that a server does before it can make a matcher.
	Compile(schema []byte) (Constraint, error)
}

// Constraint is a compiled schema.
type Constraint interface {
	NewMatcher() walk.Matcher
	// Draft names the draft by which the schema was read: "draft-04",
	// "draft-06", "draft-07", "2019-09" or "2020-12".
	Draft() string
}

// CompileError is an Engine's refusal of a schema.
type CompileError struct {
	Keyword string // what stopped it; empty when no single keyword did
	Err     error
}

// Error returns the engine's own message.
func (e *CompileError) Error() string { return e.Err.Error() }

// Unwrap returns the engine's own error.
func (e *CompileError) Unwrap() error { return e.Err }
