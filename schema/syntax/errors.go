package syntax

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// An Issue is a finding about a schema document, with its place.
type Issue struct {
	Pointer string `json:"pointer"` // JSON pointer to the keyword or schema
	Keyword string `json:"keyword,omitempty"`
	Value   string `json:"value,omitempty"` // the keyword's value, shortened
	Reason  string `json:"reason"`
	Hint    string `json:"hint,omitempty"`
	Line    int    `json:"line,omitempty"` // from 1
	Column  int    `json:"column,omitempty"`
}

// String returns the issue on one line.
func (i Issue) String() string {
	var b strings.Builder
	if i.Line > 0 {
		fmt.Fprintf(&b, "%d:%d: ", i.Line, i.Column)
	}
	if i.Line == 0 || i.Pointer != "" || i.Keyword != "" { // else it is about a place in a grammar
		fmt.Fprintf(&b, "%q", i.Pointer)
	}
	if i.Keyword != "" {
		fmt.Fprintf(&b, ": %s", i.Keyword)
		if v := i.Value; v != "" && v[0] != '{' && v[0] != '[' {
			fmt.Fprintf(&b, " %s", v)
		}
	}
	if !strings.HasSuffix(b.String(), ": ") {
		b.WriteString(": ")
	}
	b.WriteString(i.Reason)
	if i.Hint != "" {
		fmt.Fprintf(&b, " (%s)", i.Hint)
	}
	return b.String()
}

func joinIssues(list []Issue) string {
	s := make([]string, len(list))
	for i := range list {
		s[i] = list[i].String()
	}
	return strings.Join(s, "; ")
}

// An InvalidError lists what makes a document an invalid schema: keywords with
// invalid values, references without a target.
type InvalidError struct{ Issues []Issue }

// Error implements error.
func (e *InvalidError) Error() string { return "schema: invalid: " + joinIssues(e.Issues) }

// An UnsupportedError lists every keyword that can't be enforced.
type UnsupportedError struct{ Issues []Issue }

// Error implements error.
func (e *UnsupportedError) Error() string { return "schema: unsupported: " + joinIssues(e.Issues) }

// An UnsatisfiableError reports that no JSON value fits the schema, and which
// parts contradict each other as far as that is known.
type UnsatisfiableError struct{ Issues []Issue }

// Error implements error.
func (e *UnsatisfiableError) Error() string { return "schema: unsatisfiable: " + joinIssues(e.Issues) }

// A LimitError reports which limit a schema exceeds.
type LimitError struct {
	Limit   string // the name of the field in Limits, in lower case
	Max     int    // for time, in milliseconds
	Pointer string // the place, if there is a single one
	Hint    string // a possible remedy
}

// Error implements error.
func (e *LimitError) Error() string {
	most := fmt.Sprintf("%d %s", e.Max, e.Limit)
	switch e.Limit {
	case "time":
		most = fmt.Sprintf("%v of computing", time.Duration(e.Max)*time.Millisecond)
	case "memory":
		most = fmt.Sprintf("%d bytes of memory", e.Max)
	case "depth":
		most = fmt.Sprintf("%d levels of nesting", e.Max)
	}
	text := "schema: more than " + most
	if e.Pointer != "" {
		text = fmt.Sprintf("schema: %q: more than %s", e.Pointer, most)
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	if slices.Contains([]string{"bytes", "depth", "states", "steps", "time", "memory"}, e.Limit) {
		text += "; the server's flag --schema-" + e.Limit + " sets this limit"
	}
	return text
}
