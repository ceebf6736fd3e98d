package problem

import (
	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/server/wire"
)

// errorBody is the body of every error answer.
type errorBody struct {
	Error errorObject `json:"error"`
}

// errorObject has the shape that OpenAI's clients expect: the first four keys
// are always there, param and code a string or null.
type errorObject struct {
	Message string        `json:"message"`
	Type    string        `json:"type"`
	Param   *string       `json:"param"`
	Code    *string       `json:"code"`
	Details []wire.Detail `json:"details,omitempty"`
	Minimum int           `json:"minimum,omitempty"`         // of budget_too_small: the max_tokens that would do
	Prompt  int           `json:"n_prompt_tokens,omitempty"` // of context_length_exceeded, as llama-server calls them
	Context int           `json:"n_ctx,omitempty"`
	Text    *string       `json:"text,omitempty"` // of validation_failed: the document

	Failure *asking.FailureReason `json:"failure,omitempty"` // of a model that gave no answer
}

// kindNames are what OpenAI's clients call the kinds of problems.
var kindNames = map[kind]string{
	Invalid: "invalid_request_error", NotFound: "not_found_error", Denied: "authentication_error", Forbidden: "permission_error", Limited: "rate_limit_error", Server: "server_error",
}

// Reply is the error body of this server, which all dialects share that have none
// of their own. It has the shape that OpenAI's clients expect.
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

// ReplyTo is the reply to an error.
func ReplyTo(err error) any {
	p := Describe(err)
	return p.Reply()
}
