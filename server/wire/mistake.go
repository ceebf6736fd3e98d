package wire

import (
	"fmt"
	"strconv"
	"strings"
)

// An Error is a mistake in a request: what is wrong, in which field, and how to
// correct it.
type Error struct {
	Param   string // the field, "" if none
	Code    string
	Message string
	Details []Detail
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Invalid returns the error for a field with an invalid value.
func Invalid(param, format string, args ...any) *Error {
	return &Error{Param: param, Code: "invalid_value", Message: fmt.Sprintf(format, args...)}
}

// Shortened returns a text of at most so many bytes: of a longer one the beginning and the end.
func Shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const gap = " … "
	end := (most - len(gap)) / 4
	return strings.ToValidUTF8(text[:most-len(gap)-end], "") + gap + strings.ToValidUTF8(text[len(text)-end:], "")
}

// Quoted returns an identifier that a client sent in a form that is safe in a message.
func Quoted(id string) string {
	return strconv.Quote(strings.ToValidUTF8(id[:min(len(id), LongestName)], ""))
}

// A Detail is one of several issues.
type Detail struct {
	Pointer string `json:"pointer"`
	Keyword string `json:"keyword,omitempty"`
	Value   string `json:"value,omitempty"` // the keyword's value as JSON, shortened
	Reason  string `json:"reason"`
	Hint    string `json:"hint,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}
