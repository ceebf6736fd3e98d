package regular

import "fmt"

// Limits bounds the work of a Store and of the machines compiled in it. A zero
// field means its default.
type Limits struct {
	PatternBytes int // length of one pattern's text, bytes; default 64 KiB
	Nodes        int // expressions in the Store; default 1<<20, about 64 bytes each
	States       int // states of all machines; default 1<<18, about 600 bytes each once visited
	Text         int // characters of a shortest completion; default 4 Mi
	Steps        int // expressions visited by one search for a completion; default 1<<16, about 1 µs each
}

const (
	defaultPatternBytes = 64 << 10
	defaultNodes        = 1 << 20
	defaultStates       = 1 << 18
	defaultText         = 4 << 20
	defaultSteps        = 1 << 16

	// maxDepth bounds the nesting of a pattern, because the parser and the
	// translation recurse on it.
	maxDepth = 500

	// maxCount is where a repetition count counts as unreasonable: no text in
	// memory could hold that many characters of several bytes each.
	maxCount = 1 << 30
)

func (l Limits) orDefaults() Limits {
	if l.PatternBytes <= 0 {
		l.PatternBytes = defaultPatternBytes
	}
	if l.Nodes <= 0 {
		l.Nodes = defaultNodes
	}
	if l.States <= 0 {
		l.States = defaultStates
	}
	if l.Text <= 0 {
		l.Text = defaultText
	}
	if l.Steps <= 0 {
		l.Steps = defaultSteps
	}
	return l
}

// SyntaxError says where a pattern is not well formed.
type SyntaxError struct {
	Offset int // in bytes from the start of the pattern
	Reason string
}

// Error returns the offset and the reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("regular: pattern: offset %d: %s", e.Offset, e.Reason)
}

// UnsupportedError names a construct of a pattern that is well formed but
// denotes no regular language, or none that this package can build.
type UnsupportedError struct {
	Offset int // in bytes from the start of the pattern
	Reason string
}

// Error returns the offset and the reason.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("regular: pattern: offset %d: unsupported: %s", e.Offset, e.Reason)
}

// LimitError names the field of Limits that was exceeded.
type LimitError struct {
	Limit string // name of the field of Limits
	Max   int    // its value
}

// Error returns the limit's name and value.
func (e *LimitError) Error() string {
	return fmt.Sprintf("regular: limit %s (%d) exceeded", e.Limit, e.Max)
}
