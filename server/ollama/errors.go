package ollama

import (
	"github.com/stencil-json/stencil/server/problem"
)

// ollamaError is the body of an error answer, or the last line of a stream,
// in Ollama's dialect.
type ollamaError struct {
	Error string `json:"error"`
}

// ErrorBody is the body of an error answer, and the last line of a stream.
func ErrorBody(p *problem.Problem, _ string) any { return ollamaError{p.Message} }
