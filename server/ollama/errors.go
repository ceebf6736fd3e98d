package ollama

import (
	"github.com/stencil-json/stencil/server/problem"
)

// ollamaError is the body of an error response, or the last line of a
// failed stream.
type ollamaError struct {
	Error string `json:"error"`
}

// ErrorBody returns the body of an error response, which is also the last
// line of a failed stream.
func ErrorBody(p *problem.Problem, _ string) any { return ollamaError{p.Message} }
