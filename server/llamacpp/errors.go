package llamacpp

import (
	"fmt"
	"net/http"

	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

// errorReply has the fields of llama-server's errors; code is the HTTP status. The error code of other dialects is in
// reason.
type errorReply struct {
	Error errorObject `json:"error"`
}

type errorObject struct {
	Code    int           `json:"code"`
	Message string        `json:"message"`
	Type    string        `json:"type"`
	Reason  string        `json:"reason,omitempty"`
	Param   string        `json:"param,omitempty"`
	Details []wire.Detail `json:"details,omitempty"`
	Prompt  int           `json:"n_prompt_tokens,omitempty"` // of a prompt that is too long
	Context int           `json:"n_ctx,omitempty"`
}

// ErrorBody returns the body of an error response.
func ErrorBody(p *problem.Problem, _ string) any {
	out := errorObject{
		Code: p.Status, Message: p.Message, Type: typeOf(p), Reason: p.Code, Param: p.Param, Details: p.Details, Prompt: p.Prompt, Context: p.Context,
	}
	if p.Code == "context_length_exceeded" {
		out.Message = fmt.Sprintf("request (%d tokens) exceeds the available context size (%d tokens), try increasing it with --context", p.Prompt, p.Context)
	}
	return errorReply{out}
}

func typeOf(p *problem.Problem) string {
	switch {
	case p.Code == "context_length_exceeded":
		return "exceed_context_size_error"
	case p.Status == http.StatusNotImplemented:
		return "not_supported_error"
	case p.Status == http.StatusServiceUnavailable:
		return "unavailable_error"
	}
	switch p.Kind {
	case problem.NotFound:
		return "not_found_error"
	case problem.Denied:
		return "authentication_error"
	case problem.Forbidden:
		return "permission_error"
	case problem.Server:
		return "server_error"
	}
	return "invalid_request_error"
}

// notSupported returns the error for something that this server or a model does not support.
func notSupported(code, format string, args ...any) error {
	return problem.New(problem.Problem{Status: http.StatusNotImplemented, Kind: problem.Invalid, Code: code, Message: fmt.Sprintf(format, args...)})
}

// ErrNoProxy is the error at the path at which llama-server, if configured to, proxies requests to other servers.
var ErrNoProxy = problem.New(problem.Problem{Status: http.StatusForbidden, Kind: problem.Forbidden, Code: "no_proxy", Message: "this server does not proxy requests"})

// NotOffered returns a handler for paths of llama-server that have no equivalent here; what names the alternative.
func NotOffered(what string) wire.Handler {
	return func(*http.Request) (wire.Answer, error) { return nil, notSupported("not_offered", "%s", what) }
}
