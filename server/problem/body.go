package problem

import (
	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/server/wire"
)

// errorBody is the body of every error answer.
type errorBody struct {
	Error errorObject `json:"error"`
}

// errorObject has the shape that OpenAI's clients expect: the first four keys are always present; param and code are
// a string or null.
type errorObject struct {
	Message string        `json:"message"`
	Type    string        `json:"type"`
	Param   *string       `json:"param"`
	Code    *string       `json:"code"`
	Details []wire.Detail `json:"details,omitempty"`
	Minimum int           `json:"minimum,omitempty"`         // of budget_too_small: the smallest sufficient max_tokens
	Prompt  int           `json:"n_prompt_tokens,omitempty"` // of context_length_exceeded, under llama-server's name
	Context int           `json:"n_ctx,omitempty"`
	Text    *string       `json:"text,omitempty"` // of validation_failed: the document

	Failure *asking.FailureReason `json:"failure,omitempty"` // why a model gave no answer
}

// kindNames are OpenAI's names for the kinds of problems.
var kindNames = map[kind]string{
	Invalid: "invalid_request_error", NotFound: "not_found_error", Denied: "authentication_error", Forbidden: "permission_error", Limited: "rate_limit_error", Server: "server_error",
}

// Reply returns the problem as an error body in the shape that OpenAI's clients expect, for all dialects without an
// error body of their own.
func (p *Problem) Reply() any {
	given := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	return errorBody{errorObject{
		Message: p.Message, Type: kindNames[p.Kind], Param: given(p.Param), Code: given(p.Code), Details: p.Details, Minimum: p.Minimum, Prompt: p.Prompt, Context: p.Context, Text: p.Text,
		Failure: p.Failure,
	}}
}

// ReplyTo returns the error body for err.
func ReplyTo(err error) any {
	p := Describe(err)
	return p.Reply()
}
