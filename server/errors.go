package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"stencil/agent"
	"stencil/asking"
	"stencil/backend"
	"stencil/decoder/sampling"
	"stencil/embedding"
	"stencil/engine"
	"stencil/gbnf"
	"stencil/regular"
	"stencil/schema"
)

// A requestError is a mistake in a request: what is wrong, in which field, and
// what would be right.
type requestError struct {
	Param   string // the field, "" if none
	Code    string
	Message string
	Details []errorDetail
}

// Error implements error.
func (e *requestError) Error() string { return e.Message }

// invalid returns the error for a field with a value that it can't have.
func invalid(param, format string, args ...any) *requestError {
	return &requestError{Param: param, Code: "invalid_value", Message: fmt.Sprintf(format, args...)}
}

// Errors of requests that are not about a field's value.
var (
	errNoRoute  = errors.New("there is nothing at this path")
	errNoMethod = errors.New("this path does not take that method")
	errLoading  = errors.New("the model is still loading")
	errNoKey    = errors.New("the request bears no API key that is known here")
)

// A modelError says that a request names a model that is not served.
type modelError struct {
	asked  string
	served []string
}

func (e *modelError) Error() string {
	if len(e.served) == 1 {
		return fmt.Sprintf("the model %q is not served here; %q is", e.asked, e.served[0])
	}
	return fmt.Sprintf("the model %q is not served here; %s are", e.asked, quotedList(e.served))
}

// A validationError says that a generated document does not fit the schema's
// keywords that masks can't enforce, after every try.
type validationError struct {
	text    string
	details []errorDetail
	tries   int
}

func (e *validationError) Error() string {
	return fmt.Sprintf("the document does not fit the schema after %s", count(e.tries, "try", "tries"))
}

// errorBody is the body of every error answer.
type errorBody struct {
	Error errorObject `json:"error"`
}

// ollamaError is the body of an error answer, or the last line of a stream,
// in Ollama's dialect.
type ollamaError struct {
	Error string `json:"error"`
}

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
	Details []errorDetail `json:"details,omitempty"`
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

func (f *failure) anthropic(id string) anthropicError {
	kind := cmp.Or(anthropicTypes[f.status], typeInvalid)
	return anthropicError{"error", anthropicErrorObject{
		Type: kind, Message: f.body.Message, Details: f.body.Details, Code: f.body.Code, Param: f.body.Param,
		Minimum: f.body.Minimum, Text: f.body.Text,
	}, id}
}

// shape returns a failure as the dialect of a request has it.
func (f *failure) shape(r *http.Request, id string) any {
	switch path := r.URL.Path; {
	case path == "/api" || strings.HasPrefix(path, "/api/"):
		return ollamaError{f.body.Message}
	case path == "/v1/messages" || strings.HasPrefix(path, "/v1/messages/"), r.Header.Get("Anthropic-Version") != "":
		return f.anthropic(id)
	}
	return errorBody{f.body}
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

// errorDetail is one of several things that are wrong.
type errorDetail struct {
	Pointer string `json:"pointer"`
	Keyword string `json:"keyword,omitempty"`
	Reason  string `json:"reason"`
	Hint    string `json:"hint,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

func details(issues []schema.Issue) []errorDetail {
	out := make([]errorDetail, 0, len(issues))
	for _, i := range issues {
		out = append(out, errorDetail{Pointer: i.Pointer, Keyword: i.Keyword, Reason: i.Reason, Hint: i.Hint, Line: i.Line, Column: i.Column})
	}
	return out
}

func grammarDetails(issues []gbnf.Issue) []errorDetail {
	out := make([]errorDetail, 0, len(issues))
	for _, i := range issues {
		out = append(out, errorDetail{Reason: i.Reason, Line: i.Line, Column: i.Column})
	}
	return out
}

// statusClientGone is what logs say when the client hung up; no client sees
// it. nginx uses the same number.
const statusClientGone = 499

// A failure is an error as a client is told of it.
type failure struct {
	status     int
	retryAfter time.Duration // 0: trying again would not help
	body       errorObject
}

const (
	typeInvalid  = "invalid_request_error"
	typeNotFound = "not_found_error"
	typeAuth     = "authentication_error"
	typeLimited  = "rate_limit_error"
	typeServer   = "server_error"
)

// describe turns any error into what the client gets. It is the one place that
// maps kinds of error to status codes. What it does not know is the server's
// own failure, whose text stays in the log.
func describe(err error) failure {
	var (
		request       *requestError
		model         *modelError
		load          *loadError
		incapable     *purposeError
		validation    *validationError
		tooLarge      *http.MaxBytesError
		budget        *engine.BudgetError
		prompt        *engine.ContextError
		conversation  *engine.PromptError
		constraint    *engine.ConstraintError
		option        *sampling.OptionError
		syntax        *schema.SyntaxError
		invalidSchema *schema.InvalidError
		unsupported   *schema.UnsupportedError
		unsatisfiable *schema.UnsatisfiableError
		limit         *schema.LimitError
		place         *fieldError
		grammar       *gbnf.InvalidError
		grammarLimit  *gbnf.LimitError
		patternLimit  *regular.LimitError
		reason        *asking.FailureReason
		assessment    *unknownAssessmentError
		noFeedback    *feedbackError
		paused        *pausedError
	)
	schemaParam := "schema"
	if errors.As(err, &place) && place.param != "" {
		schemaParam = place.param
	}
	fail := func(status int, kind, param, code string) failure {
		f := failure{status: status, body: errorObject{Message: err.Error(), Type: kind}}
		if param != "" {
			f.body.Param = &param
		}
		if code != "" {
			f.body.Code = &code
		}
		return f
	}
	with := func(f failure, message string, details []errorDetail) failure {
		f.body.Details = details
		if message != "" {
			f.body.Message = message
		}
		return f
	}
	const bad = http.StatusBadRequest
	switch {
	case errors.As(err, &request):
		return with(fail(bad, typeInvalid, request.Param, request.Code), "", request.Details)
	case errors.As(err, &model):
		return fail(http.StatusNotFound, typeNotFound, "model", "model_not_found")
	case errors.As(err, &incapable):
		return fail(bad, typeInvalid, "model", "model_not_capable")
	case errors.As(err, &load) && errors.Is(err, backend.ErrMemory):
		return with(fail(http.StatusUnprocessableEntity, typeInvalid, "model", "not_enough_memory"), load.Error()+": there is not enough memory for it", nil)
	case errors.As(err, &load):
		return with(fail(http.StatusUnprocessableEntity, typeInvalid, "model", "model_not_loadable"), load.Error()+load.why(), nil)
	case errors.Is(err, errNoKey):
		return fail(http.StatusUnauthorized, typeAuth, "", "invalid_api_key")
	case errors.As(err, &reason):
		return describeReason(reason)
	case errors.As(err, &validation):
		f := with(fail(http.StatusUnprocessableEntity, typeInvalid, "schema", "validation_failed"), "", validation.details)
		f.body.Text = &validation.text
		return f
	case errors.As(err, &tooLarge):
		return with(fail(http.StatusRequestEntityTooLarge, typeInvalid, "", "body_too_large"),
			fmt.Sprintf("the body is longer than %d bytes", tooLarge.Limit), nil)
	case errors.Is(err, agent.ErrNoRoom):
		return describeNoRoom(err)
	case errors.Is(err, agent.ErrTime):
		return with(fail(http.StatusGatewayTimeout, typeServer, "bounds.seconds", "timeout"), "the run's time was over before there was an answer", nil)
	case errors.As(err, &paused) && paused.busy:
		return fail(http.StatusConflict, typeInvalid, "resume", "run_in_use")
	case errors.As(err, &paused):
		return fail(http.StatusNotFound, typeNotFound, "resume", "run_not_found")
	case errors.As(err, &budget):
		f := fail(bad, typeInvalid, "max_tokens", "budget_too_small")
		f.body.Message = fmt.Sprintf("the shortest document that fits the constraint needs %d tokens; max_tokens and the context leave %d", budget.Minimum, budget.Budget)
		f.body.Minimum = budget.Minimum
		return f
	case errors.As(err, &prompt):
		return with(fail(bad, typeInvalid, "prompt", "context_length_exceeded"),
			tooLong(prompt), nil)
	case errors.As(err, &conversation) && conversation.Refused:
		return with(fail(bad, typeInvalid, "messages", "refused_by_template"), "the model's chat template refuses this conversation: "+conversation.Message, nil)
	case errors.As(err, &conversation):
		return with(fail(bad, typeInvalid, "messages", "chat_template_failed"), "the model's chat template can't write this conversation: "+conversation.Message, nil)
	case errors.Is(err, backend.ErrNoSlot):
		return with(fail(http.StatusServiceUnavailable, typeServer, "", "out_of_memory"),
			"the machine has no memory left for a longer context; the server's flags --context and --parallel limit what is asked of it", nil)
	case errors.Is(err, engine.ErrEmptyPrompt):
		return with(fail(bad, typeInvalid, "prompt", "empty_prompt"), "the prompt is empty, and this model needs at least one token to start from", nil)
	case errors.As(err, &option):
		return with(fail(bad, typeInvalid, option.Option, "invalid_value"), option.Option+" "+option.Reason, nil)
	case errors.As(err, &syntax):
		return fail(bad, typeInvalid, schemaParam, "invalid_schema")
	case errors.As(err, &invalidSchema):
		return with(fail(bad, typeInvalid, schemaParam, "invalid_schema"), "", details(invalidSchema.Issues))
	case errors.As(err, &unsupported):
		return with(fail(bad, typeInvalid, schemaParam, "unsupported_schema_keyword"), "", details(unsupported.Issues))
	case errors.As(err, &unsatisfiable):
		return with(fail(bad, typeInvalid, schemaParam, "unsatisfiable_schema"), "", details(unsatisfiable.Issues))
	case errors.As(err, &limit):
		return fail(bad, typeInvalid, schemaParam, "schema_limit")
	case errors.As(err, &grammar):
		return with(fail(bad, typeInvalid, schemaParam, "invalid_grammar"), "", grammarDetails(grammar.Issues))
	case errors.As(err, &grammarLimit), errors.As(err, &patternLimit):
		return fail(bad, typeInvalid, schemaParam, "grammar_limit")
	case errors.As(err, &constraint):
		return fail(http.StatusUnprocessableEntity, typeInvalid, schemaParam, "constraint_limit")
	case errors.As(err, &assessment):
		return fail(http.StatusNotFound, typeNotFound, "id", "assessment_not_found")
	case errors.Is(err, errFeedbackOff):
		return fail(http.StatusNotFound, typeNotFound, "", "feedback_off")
	case errors.As(err, &noFeedback):
		return fail(http.StatusServiceUnavailable, typeServer, "", "feedback_unavailable")
	case errors.Is(err, errNoRoute):
		return fail(http.StatusNotFound, typeNotFound, "", "not_found")
	case errors.Is(err, errNoMethod):
		return fail(http.StatusMethodNotAllowed, typeInvalid, "", "method_not_allowed")
	case errors.Is(err, engine.ErrQueueFull), errors.Is(err, embedding.ErrQueueFull):
		f := with(fail(http.StatusTooManyRequests, typeLimited, "", "queue_full"), "too many requests wait already", nil)
		f.retryAfter = time.Second
		return f
	case errors.Is(err, errLoading):
		f := fail(http.StatusServiceUnavailable, typeServer, "", "loading")
		f.retryAfter = 2 * time.Second
		return f
	case errors.Is(err, engine.ErrClosed), errors.Is(err, embedding.ErrClosed):
		f := with(fail(http.StatusServiceUnavailable, typeServer, "", "shutting_down"), "the server is shutting down", nil)
		f.retryAfter = 5 * time.Second
		return f
	case errors.Is(err, engine.ErrTimeout), errors.Is(err, embedding.ErrTimeout):
		return with(fail(http.StatusGatewayTimeout, typeServer, "", "timeout"), "the time limit of the request was exceeded", nil)
	case errors.Is(err, context.Canceled):
		return fail(statusClientGone, typeServer, "", "cancelled")
	}
	return with(fail(http.StatusInternalServerError, typeServer, "", "internal_error"), "internal error; the log has it under this request's id", nil)
}

// reasons map what package asking calls failures to status, kind and code.
var reasons = map[asking.Category]struct {
	status     int
	kind, code string
	retryAfter time.Duration
}{
	asking.EmptyAnswer:    {http.StatusUnprocessableEntity, typeInvalid, "empty_answer", 0},
	asking.InvalidJSON:    {http.StatusUnprocessableEntity, typeInvalid, "validation_failed", 0},
	asking.WrongDocument:  {http.StatusUnprocessableEntity, typeInvalid, "validation_failed", 0},
	asking.RefusedAnswer:  {http.StatusUnprocessableEntity, typeInvalid, "refused_by_model", 0},
	asking.RateLimited:    {http.StatusTooManyRequests, typeLimited, "upstream_rate_limited", time.Second},
	asking.Unavailable:    {http.StatusServiceUnavailable, typeServer, "upstream_unavailable", 2 * time.Second},
	asking.TookTooLong:    {http.StatusGatewayTimeout, typeServer, "timeout", 0},
	asking.NotAuthorized:  {http.StatusBadGateway, typeServer, "upstream_denied", 0},
	asking.RequestRefused: {http.StatusBadRequest, typeInvalid, "upstream_refused", 0},
	asking.Protocol:       {http.StatusBadGateway, typeServer, "upstream_malformed", 0},
	asking.Cancelled:      {statusClientGone, typeServer, "cancelled", 0},
}

// describeReason is describe for a model that gave no answer.
func describeReason(r *asking.FailureReason) failure {
	as := reasons[r.Category]
	f := failure{status: as.status, body: errorObject{Message: r.Description, Type: as.kind, Code: &as.code, Failure: r, Details: details(r.Issues)}}
	if as.retryAfter > 0 {
		f.retryAfter = max(as.retryAfter, r.RetryAfter.Round(time.Second))
	}
	if as.status == http.StatusUnprocessableEntity {
		param := "schema"
		f.body.Param, f.body.Text = &param, &r.Text
	}
	return f
}

// tooLong says that a prompt does not fit, and what would change that.
func tooLong(e *engine.ContextError) string {
	return fmt.Sprintf("the prompt has %d tokens, the context holds %d with at least one to generate; the server's flag --context sets it", e.Prompt, e.Limit)
}

// describeNoRoom is describe for a run without an answer because its tokens were
// too few.
func describeNoRoom(err error) failure {
	var budget *engine.BudgetError
	var prompt *engine.ContextError
	param, code := "bounds", "budget_too_small"
	f := failure{status: http.StatusBadRequest, body: errorObject{Type: typeInvalid, Param: &param, Code: &code}}
	switch {
	case errors.As(err, &budget):
		f.body.Message = fmt.Sprintf("the shortest answer needs %d tokens; the bounds and the context leave %d", budget.Minimum, budget.Budget)
		f.body.Minimum = budget.Minimum
	case errors.As(err, &prompt):
		param, code = "query", "context_length_exceeded"
		f.body.Message = tooLong(prompt)
	default:
		f.body.Message = "bounds.tokens were used up before there was an answer"
	}
	return f
}

// header sets what goes beside the body. Clients of OpenAI's make retry a
// number of failures by themselves unless they are told not to.
func (f failure) header(h http.Header) {
	if f.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(f.retryAfter/time.Second)))
		h.Set("X-Should-Retry", "true")
		return
	}
	h.Set("X-Should-Retry", "false")
}

// count returns "1 try" or "3 tries".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
