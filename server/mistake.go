package server

import (
	"fmt"
)

// A requestError is a mistake in a request: what is wrong, in which field, and
// what would be right.
type requestError struct {
	Param   string // the field, "" if none
	Code    string
	Message string
	Details []errorDetail
}

// Error implements error.
func (e *requestError) Error() string { return e.Message }

// invalid returns the error for a field with a value that it can't have.
func invalid(param, format string, args ...any) *requestError {
	return &requestError{Param: param, Code: "invalid_value", Message: fmt.Sprintf(format, args...)}
}

// errorDetail is one of several things that are wrong.
type errorDetail struct {
	Pointer string `json:"pointer"`
	Keyword string `json:"keyword,omitempty"`
	Reason  string `json:"reason"`
	Hint    string `json:"hint,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}
