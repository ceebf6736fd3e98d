package anthropic

import (
	"cmp"
	"net/http"

	"github.com/stencil-json/stencil/server/problem"
)

// anthropicError is the body of an error answer in Anthropic's dialect, and the
// data of the error event of a stream.
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

// anthropicTypes are what Anthropic's specification calls failures.
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

// ErrorBody is the body of an error answer, and the data of the error
// event of a stream.
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

// noThreads refuses a conversation of which the client sends only what is new. Anthropic's clients go by the details:
// they send it again, whole.
func noThreads() error {
	return problem.New(problem.Problem{
		Status: http.StatusBadRequest, Kind: problem.Invalid, Param: "thread", Code: "thread_unsupported_request",
		Message: "message threads are not offered here; the whole conversation must be sent, without thread",
		Object:  map[string]any{"error_code": "thread_unsupported_request", "unsupported": []string{"thread"}},
	})
}
