package server

import (
	"stencil/asking"
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
	Details []errorDetail `json:"details,omitempty"`
	Minimum int           `json:"minimum,omitempty"` // of budget_too_small: the max_tokens that would do
	Text    *string       `json:"text,omitempty"`    // of validation_failed: the document

	Failure *asking.FailureReason `json:"failure,omitempty"` // of a model that gave no answer
}

// kindNames are what OpenAI's clients call the kinds of problems.
var kindNames = map[kind]string{
	kindInvalid: "invalid_request_error", kindNotFound: "not_found_error", kindAuth: "authentication_error", kindLimited: "rate_limit_error", kindServer: "server_error",
}

// reply is the error body of this server, which all dialects share that have none
// of their own. It has the shape that OpenAI's clients expect.
func (p *problem) reply() any {
	given := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	return errorBody{errorObject{
		Message: p.message, Type: kindNames[p.kind], Param: given(p.param), Code: given(p.code), Details: p.details, Minimum: p.minimum, Text: p.text,
		Failure: p.failure,
	}}
}

// replyTo is the reply to an error.
func replyTo(err error) any {
	p := describe(err)
	return p.reply()
}
