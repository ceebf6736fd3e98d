package regular

import "fmt"

// Limits bounds the work of a Store and of the machines compiled in it. A zero
// field means its default.
type Limits struct {
	PatternBytes int // length of one pattern's text, bytes; default 64 KiB
	Nodes        int // expressions in the Store; default 1<<20, about 64 bytes each
	States       int // states of all machines; default 1<<18, about 600 bytes each once visited
	Text         int // characters of a shortest completion; default 4 Mi
	Work         int // alternatives and conjuncts combined by one operation; default 1<<24, about 0.1 µs each
	Steps        int // expressions visited by one search for a completion; default 1<<16, about 1 µs each
}

const (
	// maxDepth bounds the nesting of a pattern, because the parser and the
	// translation recurse on it.
	maxDepth = 500

	// maxCount is the bound from which a repetition count is unreasonable: no
	// text in memory could hold that many characters of several bytes each.
	maxCount = 1 << 30
)

func (l Limits) orDefaults() Limits {
	for _, x := range []struct {
		limit *int
		n     int
	}{
		{&l.PatternBytes, 64 << 10}, {&l.Nodes, 1 << 20}, {&l.States, 1 << 18},
		{&l.Text, 4 << 20}, {&l.Work, 1 << 24}, {&l.Steps, 1 << 16},
	} {
		if *x.limit <= 0 {
			*x.limit = x.n
		}
	}
	return l
}

// SyntaxError reports where a pattern is malformed.
type SyntaxError struct {
	Offset int // in bytes from the start of the pattern
	Reason string
}

// Error returns the offset and the reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("regular: pattern: offset %d: %s", e.Offset, e.Reason)
}

// UnsupportedError reports a construct of a well-formed pattern that denotes no
// regular language, or none that this package can build.
type UnsupportedError struct {
	Offset int // in bytes from the start of the pattern
	Reason string
}

// Error returns the offset and the reason.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("regular: pattern: offset %d: unsupported: %s", e.Offset, e.Reason)
}

// LimitError reports the field of Limits that was exceeded.
type LimitError struct {
	Limit string // name of the field of Limits
	Max   int    // its value
}

// Error returns the limit's name and value.
func (e *LimitError) Error() string {
	return fmt.Sprintf("regular: limit %s (%d) exceeded", e.Limit, e.Max)
}
