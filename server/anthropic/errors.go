package anthropic

import (
	"cmp"
	"net/http"

	"github.com/stencil-json/stencil/server/problem"
)

// anthropicError is the body of an error response in Anthropic's dialect, and the data of a stream's error event.
type anthropicError struct {
	Type      string               `json:"type"` // "error"
	Error     anthropicErrorObject `json:"error"`
	RequestID string               `json:"request_id,omitempty"`
}

type anthropicErrorObject struct {
	Type    string  `json:"type"`
	Message string  `json:"message"`
	Details any     `json:"details,omitempty"` // a list, or an object with an error_code
	Code    *string `json:"code,omitempty"`
	Param   *string `json:"param,omitempty"`
	Prompt  int     `json:"n_prompt_tokens,omitempty"`
	Context int     `json:"n_ctx,omitempty"`
	Minimum int     `json:"minimum,omitempty"`
	Text    *string `json:"text,omitempty"`
}

// anthropicTypes are the error types of Anthropic's specification, by HTTP status.
var anthropicTypes = map[int]string{
	http.StatusUnauthorized:          "authentication_error",
	http.StatusForbidden:             "permission_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	http.StatusInternalServerError:   "api_error",
	http.StatusServiceUnavailable:    "overloaded_error",
	http.StatusGatewayTimeout:        "timeout_error",
}

// ErrorBody returns the body of an error response, which is also the data of a stream's error event.
func ErrorBody(p *problem.Problem, id string) any {
	given := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	var details any
	switch {
	case p.Object != nil:
		details = p.Object
	case len(p.Details) > 0:
		details = p.Details
	}
	return anthropicError{"error", anthropicErrorObject{
		Type: cmp.Or(anthropicTypes[p.Status], "invalid_request_error"), Message: p.Message, Details: details, Code: given(p.Code), Param: given(p.Param),
		Minimum: p.Minimum, Prompt: p.Prompt, Context: p.Context, Text: p.Text,
	}, id}
}

// noThreads refuses a request that sends only the new part of a conversation. Anthropic's clients recognise the
// details and send it again in full.
func noThreads() error {
	return problem.New(problem.Problem{
		Status: http.StatusBadRequest, Kind: problem.Invalid, Param: "thread", Code: "thread_unsupported_request",
		Message: "message threads are not offered here; the whole conversation must be sent, without thread",
		Object:  map[string]any{"error_code": "thread_unsupported_request", "unsupported": []string{"thread"}},
	})
}
