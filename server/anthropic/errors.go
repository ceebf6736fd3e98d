package anthropic

import (
	"cmp"
	"net/http"

	"stencil/server/problem"
	"stencil/server/wire"
)

// anthropicError is the body of an error answer in Anthropic's dialect, and the
// data of the error event of a stream.
type anthropicError struct {
	Type      string               `json:"type"` // "error"
	Error     anthropicErrorObject `json:"error"`
	RequestID string               `json:"request_id,omitempty"`
}

type anthropicErrorObject struct {
	Type    string        `json:"type"`
	Message string        `json:"message"`
	Details []wire.Detail `json:"details,omitempty"`
	Code    *string       `json:"code,omitempty"`
	Param   *string       `json:"param,omitempty"`
	Minimum int           `json:"minimum,omitempty"`
	Text    *string       `json:"text,omitempty"`
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
	return anthropicError{"error", anthropicErrorObject{
		Type: cmp.Or(anthropicTypes[p.Status], "invalid_request_error"), Message: p.Message, Details: p.Details, Code: given(p.Code), Param: given(p.Param),
		Minimum: p.Minimum, Text: p.Text,
	}, id}
}
