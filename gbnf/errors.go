package gbnf

import (
	"fmt"
	"strings"
)

// An Issue is one thing that is wrong with a grammar, or worth a warning.
type Issue struct {
	Line, Column int    // from 1; columns in characters; 0 when it has no place
	Rule         string // the rule it is in, if any
	Reason       string
	Source       string // the line, cut when it is long
}

// String returns place, rule and reason.
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

// Detail returns the issue with the source line and a mark below its place.
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

// An InvalidError says what is wrong with a grammar. A problem of syntax comes
// alone; others are all listed.
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

// A LimitError names the field of [Limits] that was exceeded.
type LimitError struct {
	Limit string
	Max   int
	Line  int // where in the grammar, if it has a place
}

// Error implements error.
func (e *LimitError) Error() string {
	where := ""
	if e.Line > 0 {
		where = fmt.Sprintf("%d: ", e.Line)
	}
	return fmt.Sprintf("gbnf: %slimit %s (%d) exceeded", where, e.Limit, e.Max)
}
