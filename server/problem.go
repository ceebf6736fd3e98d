package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
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

// A kind is what sort of problem a request has met.
type kind uint8

// The kinds of problems.
const (
	kindServer   kind = iota // the server's, or its upstream's
	kindInvalid              // the request's
	kindNotFound             // what the request names is not there
	kindAuth                 // the request may not ask
	kindLimited              // there are too many requests
)

// A problem is an error as a client is told of it, in no dialect yet.
type problem struct {
	status     int           // of HTTP
	retryAfter time.Duration // 0: trying again would not help
	kind       kind
	message    string
	param      string // the field it is about, "" if none
	code       string // a word for programs
	details    []errorDetail
	minimum    int     // of budget_too_small: the max_tokens that would do
	text       *string // of validation_failed: the document

	failure *asking.FailureReason // of a model that gave no answer
}

// A describer is an error that knows what clients are told of it: one of a
// package above this one.
type describer interface {
	error
	problem() problem
}

// known is a describer for errors without any more to say.
type known struct{ is problem }

// newKnown returns an error with that text and problem.
func newKnown(p problem) error { return &known{p} }

// Error implements error.
func (e *known) Error() string { return e.is.message }

func (e *known) problem() problem { return e.is }

// A fieldError says in which field of the request the schema stands that an
// error is about.
type fieldError struct {
	param string
	cause error
}

func inField(err error, param string) error { return &fieldError{param, err} }

// Error implements error.
func (e *fieldError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *fieldError) Unwrap() error { return e.cause }

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

// describe turns any error into what the client gets. It is the one place that
// maps kinds of error to status codes. What it does not know is the server's
// own failure, whose text stays in the log.
func describe(err error) problem {
	var (
		request       *requestError
		knows         describer
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
	)
	schemaParam := "schema"
	if errors.As(err, &place) && place.param != "" {
		schemaParam = place.param
	}
	fail := func(status int, kind kind, param, code string) problem {
		return problem{status: status, kind: kind, param: param, code: code, message: err.Error()}
	}
	with := func(p problem, message string, details []errorDetail) problem {
		p.details = details
		if message != "" {
			p.message = message
		}
		return p
	}
	const bad = http.StatusBadRequest
	switch {
	case errors.As(err, &request):
		return with(fail(bad, kindInvalid, request.Param, request.Code), "", request.Details)
	case errors.As(err, &knows):
		return knows.problem()
	case errors.As(err, &reason):
		return describeReason(reason)
	case errors.As(err, &tooLarge):
		return with(fail(http.StatusRequestEntityTooLarge, kindInvalid, "", "body_too_large"),
			fmt.Sprintf("the body is longer than %d bytes", tooLarge.Limit), nil)
	case errors.Is(err, agent.ErrNoRoom):
		return describeNoRoom(err)
	case errors.Is(err, agent.ErrTime):
		return with(fail(http.StatusGatewayTimeout, kindServer, "bounds.seconds", "timeout"), "the run's time was over before there was an answer", nil)
	case errors.As(err, &budget):
		f := fail(bad, kindInvalid, "max_tokens", "budget_too_small")
		f.message = fmt.Sprintf("the shortest document that fits the constraint needs %d tokens; max_tokens and the context leave %d", budget.Minimum, budget.Budget)
		f.minimum = budget.Minimum
		return f
	case errors.As(err, &prompt):
		return with(fail(bad, kindInvalid, "prompt", "context_length_exceeded"),
			tooLong(prompt), nil)
	case errors.As(err, &conversation) && conversation.Refused:
		return with(fail(bad, kindInvalid, "messages", "refused_by_template"), "the model's chat template refuses this conversation: "+conversation.Message, nil)
	case errors.As(err, &conversation):
		return with(fail(bad, kindInvalid, "messages", "chat_template_failed"), "the model's chat template can't write this conversation: "+conversation.Message, nil)
	case errors.Is(err, backend.ErrNoSlot):
		return with(fail(http.StatusServiceUnavailable, kindServer, "", "out_of_memory"),
			"the machine has no memory left for a longer context; the server's flags --context and --parallel limit what is asked of it", nil)
	case errors.Is(err, engine.ErrEmptyPrompt):
		return with(fail(bad, kindInvalid, "prompt", "empty_prompt"), "the prompt is empty, and this model needs at least one token to start from", nil)
	case errors.As(err, &option):
		return with(fail(bad, kindInvalid, option.Option, "invalid_value"), option.Option+" "+option.Reason, nil)
	case errors.As(err, &syntax):
		return fail(bad, kindInvalid, schemaParam, "invalid_schema")
	case errors.As(err, &invalidSchema):
		return with(fail(bad, kindInvalid, schemaParam, "invalid_schema"), "", details(invalidSchema.Issues))
	case errors.As(err, &unsupported):
		return with(fail(bad, kindInvalid, schemaParam, "unsupported_schema_keyword"), "", details(unsupported.Issues))
	case errors.As(err, &unsatisfiable):
		return with(fail(bad, kindInvalid, schemaParam, "unsatisfiable_schema"), "", details(unsatisfiable.Issues))
	case errors.As(err, &limit):
		return fail(bad, kindInvalid, schemaParam, "schema_limit")
	case errors.As(err, &grammar):
		return with(fail(bad, kindInvalid, schemaParam, "invalid_grammar"), "", grammarDetails(grammar.Issues))
	case errors.As(err, &grammarLimit), errors.As(err, &patternLimit):
		return fail(bad, kindInvalid, schemaParam, "grammar_limit")
	case errors.As(err, &constraint):
		return fail(http.StatusUnprocessableEntity, kindInvalid, schemaParam, "constraint_limit")
	case errors.Is(err, engine.ErrQueueFull), errors.Is(err, embedding.ErrQueueFull):
		f := with(fail(http.StatusTooManyRequests, kindLimited, "", "queue_full"), "too many requests wait already", nil)
		f.retryAfter = time.Second
		return f
	case errors.Is(err, engine.ErrClosed), errors.Is(err, embedding.ErrClosed):
		f := with(fail(http.StatusServiceUnavailable, kindServer, "", "shutting_down"), "the server is shutting down", nil)
		f.retryAfter = 5 * time.Second
		return f
	case errors.Is(err, engine.ErrTimeout), errors.Is(err, embedding.ErrTimeout):
		return with(fail(http.StatusGatewayTimeout, kindServer, "", "timeout"), "the time limit of the request was exceeded", nil)
	case errors.Is(err, context.Canceled):
		return fail(statusClientGone, kindServer, "", "cancelled")
	}
	return with(fail(http.StatusInternalServerError, kindServer, "", "internal_error"), "internal error; the log has it under this request's id", nil)
}

// reasons map what package asking calls failures to status, kind and code.
var reasons = map[asking.Category]struct {
	status     int
	kind       kind
	code       string
	retryAfter time.Duration
}{
	asking.EmptyAnswer:    {http.StatusUnprocessableEntity, kindInvalid, "empty_answer", 0},
	asking.InvalidJSON:    {http.StatusUnprocessableEntity, kindInvalid, "validation_failed", 0},
	asking.WrongDocument:  {http.StatusUnprocessableEntity, kindInvalid, "validation_failed", 0},
	asking.RefusedAnswer:  {http.StatusUnprocessableEntity, kindInvalid, "refused_by_model", 0},
	asking.RateLimited:    {http.StatusTooManyRequests, kindLimited, "upstream_rate_limited", time.Second},
	asking.Unavailable:    {http.StatusServiceUnavailable, kindServer, "upstream_unavailable", 2 * time.Second},
	asking.TookTooLong:    {http.StatusGatewayTimeout, kindServer, "timeout", 0},
	asking.NotAuthorized:  {http.StatusBadGateway, kindServer, "upstream_denied", 0},
	asking.RequestRefused: {http.StatusBadRequest, kindInvalid, "upstream_refused", 0},
	asking.Protocol:       {http.StatusBadGateway, kindServer, "upstream_malformed", 0},
	asking.Cancelled:      {statusClientGone, kindServer, "cancelled", 0},
}

// describeReason is describe for a model that gave no answer.
func describeReason(r *asking.FailureReason) problem {
	as := reasons[r.Category]
	p := problem{status: as.status, kind: as.kind, code: as.code, message: r.Description, failure: r, details: details(r.Issues)}
	if as.retryAfter > 0 {
		p.retryAfter = max(as.retryAfter, r.RetryAfter.Round(time.Second))
	}
	if as.status == http.StatusUnprocessableEntity {
		p.param, p.text = "schema", &r.Text
	}
	return p
}

// tooLong says that a prompt does not fit, and what would change that.
func tooLong(e *engine.ContextError) string {
	return fmt.Sprintf("the prompt has %d tokens, the context holds %d with at least one to generate; the server's flag --context sets it", e.Prompt, e.Limit)
}

// describeNoRoom is describe for a run without an answer because its tokens were
// too few.
func describeNoRoom(err error) problem {
	var budget *engine.BudgetError
	var prompt *engine.ContextError
	p := problem{status: http.StatusBadRequest, kind: kindInvalid, param: "bounds", code: "budget_too_small"}
	switch {
	case errors.As(err, &budget):
		p.message = fmt.Sprintf("the shortest answer needs %d tokens; the bounds and the context leave %d", budget.Minimum, budget.Budget)
		p.minimum = budget.Minimum
	case errors.As(err, &prompt):
		p.param, p.code = "query", "context_length_exceeded"
		p.message = tooLong(prompt)
	default:
		p.message = "bounds.tokens were used up before there was an answer"
	}
	return p
}

// internal reports whether an error is the server's own failure: none that is
// known here.
func internal(err error) bool { return describe(err).status == http.StatusInternalServerError }

// busy reports whether the same request may well succeed a little later, for want
// of nothing but a place in a queue, and how long an upstream wants to be left
// alone; 0: it doesn't say.
func busy(err error) (wait time.Duration, is bool) {
	p := describe(err)
	if p.kind != kindLimited {
		return 0, false
	}
	if p.failure != nil {
		wait = p.retryAfter
	}
	return wait, true
}

// header sets what goes beside the body. Clients of OpenAI's make retry a
// number of failures by themselves unless they are told not to.
func (p *problem) header(h http.Header) {
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(p.retryAfter/time.Second)))
		h.Set("X-Should-Retry", "true")
		return
	}
	h.Set("X-Should-Retry", "false")
}
