package server

// ollamaError is the body of an error answer, or the last line of a stream,
// in Ollama's dialect.
type ollamaError struct {
	Error string `json:"error"`
}

// ollamaErrorBody is the body of an error answer, and the last line of a stream.
func ollamaErrorBody(p *problem, _ string) any { return ollamaError{p.message} }
