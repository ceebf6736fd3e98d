package gbnf

import (
	"fmt"
	"strings"
)

// An Issue is a problem of a grammar, or a warning about it.
type Issue struct {
	Line, Column int    // from 1; columns in characters; 0 if the issue has no place
	Rule         string // the rule it is in, if any
	Reason       string
	Source       string // the line, shortened if it is long
}

// String returns the place, the rule and the reason.
func (i Issue) String() string {
	var b strings.Builder
	if i.Line > 0 {
		fmt.Fprintf(&b, "%d:%d: ", i.Line, i.Column)
	}
	if i.Rule != "" {
		fmt.Fprintf(&b, "rule %q: ", i.Rule)
	}
	return b.String() + i.Reason
}

// Detail returns the issue with the source line and a marker below its place.
func (i Issue) Detail() string {
	if i.Line == 0 {
		return i.String()
	}
	mark := []rune(i.Source)
	for k, r := range mark {
		if r != '\t' {
			mark[k] = ' '
		}
	}
	return fmt.Sprintf("%s\n\t%s\n\t%s^", i, i.Source, string(mark[:min(i.Column-1, len(mark))]))
}

// An InvalidError reports the problems of a grammar: either a single syntax
// error, or all other problems.
type InvalidError struct {
	Issues []Issue // at least one
}

// Error implements error.
func (e *InvalidError) Error() string {
	var b strings.Builder
	for i, issue := range e.Issues {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString("gbnf: " + issue.String())
	}
	return b.String()
}

// A LimitError reports the field of [Limits] that was exceeded.
type LimitError struct {
	Limit string
	Max   int
	Line  int // line of the grammar, if known
}

// Error implements error.
func (e *LimitError) Error() string {
	where := ""
	if e.Line > 0 {
		where = fmt.Sprintf("%d: ", e.Line)
	}
	return fmt.Sprintf("gbnf: %slimit %s (%d) exceeded", where, e.Limit, e.Max)
}
