package problem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/gbnf"
	"github.com/stencil-json/stencil/internal/boltfile"
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/wire"
)

// A kind classifies a problem.
type kind uint8

// The kinds of problems.
const (
	Server    kind = iota // an error of the server or its upstream
	Invalid               // an invalid request
	NotFound              // the request names something that does not exist
	Denied                // no valid API key
	Forbidden             // the origin of the request is not permitted
	Limited               // too many requests
)

// A Problem is an error as reported to a client, independent of the dialect.
type Problem struct {
	Status     int           // HTTP status
	RetryAfter time.Duration // 0: a retry would not help
	Kind       kind
	Message    string
	Param      string // the field at fault, "" if none
	Code       string // machine-readable
	Details    []wire.Detail
	Object     map[string]any // replaces Details in dialects whose clients expect an object
	Minimum    int            // of budget_too_small: the smallest sufficient max_tokens
	Prompt     int            // of context_length_exceeded: tokens of the prompt
	Context    int            // of context_length_exceeded: tokens of the context
	Text       *string        // of validation_failed: the document

	Failure *asking.FailureReason // why a model gave no answer
}

// A describer is an error that describes itself to clients. Packages above this one define such errors.
type describer interface {
	error
	Problem() Problem
}

// known is a describer whose text is its problem's message.
type known struct{ is Problem }

// New returns an error with p's message as its text, for which Describe returns p.
func New(p Problem) error { return &known{p} }

// Error implements error.
func (e *known) Error() string { return e.is.Message }

func (e *known) Problem() Problem { return e.is }

// A fieldError names the field of the request that holds the schema or grammar at fault.
type fieldError struct {
	param string
	cause error
}

// InField returns err as an error about the schema or grammar in the field param.
func InField(err error, param string) error { return &fieldError{param, err} }

// Error implements error.
func (e *fieldError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *fieldError) Unwrap() error { return e.cause }

// Details returns a schema's issues as they are reported to clients.
func Details(issues []schema.Issue) []wire.Detail {
	out := make([]wire.Detail, 0, len(issues))
	for _, i := range issues {
		out = append(out, wire.Detail{Pointer: i.Pointer, Keyword: i.Keyword, Value: i.Value, Reason: i.Reason, Hint: i.Hint, Line: i.Line, Column: i.Column})
	}
	return shortened(out)
}

// GrammarDetails is Details for a grammar.
func GrammarDetails(issues []gbnf.Issue) []wire.Detail {
	out := make([]wire.Detail, 0, len(issues))
	for _, i := range issues {
		out = append(out, wire.Detail{Reason: (gbnf.Issue{Rule: i.Rule, Reason: i.Reason}).String(), Line: i.Line, Column: i.Column})
	}
	return shortened(out)
}

// statusClientGone is logged when the client disconnected; no client sees it. nginx uses the same number.
const statusClientGone = 499

// Describe returns the problem that an error is to the client, in words of bounded length: errors quote what they were about.
func Describe(err error) Problem {
	p := describe(err)
	p.Message, p.Param = wire.Shortened(p.Message, maxMessage), wire.Shortened(p.Param, maxParam)
	p.Details = shortened(p.Details[:min(len(p.Details), maxDetails)])
	return p
}

// Maximum sizes, in bytes, of what an error says, and of the number of its details.
const (
	maxMessage = 4 << 10
	maxParam   = 256
	maxReason  = 1 << 10
	maxDetails = 1000
)

// shortened returns details with texts of bounded length.
func shortened(details []wire.Detail) []wire.Detail {
	for i := range details {
		d := &details[i]
		for _, text := range []*string{&d.Pointer, &d.Keyword, &d.Value, &d.Reason, &d.Hint} {
			*text = wire.Shortened(*text, maxReason)
		}
	}
	return details
}

// describe is Describe without bounds. It is the only place that maps kinds of errors to status codes. An unknown error is an
// internal one, whose text goes only to the log.
func describe(err error) Problem {
	var (
		request       *wire.Error
		knows         describer
		tooLarge      *http.MaxBytesError
		budget        *engine.BudgetError
		prompt        *engine.ContextError
		conversation  *chat.PromptError
		length        *chat.LengthError
		constraint    *engine.ConstraintError
		logits        *engine.LogitsError
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
	fail := func(status int, kind kind, param, code string) Problem {
		return Problem{Status: status, Kind: kind, Param: param, Code: code, Message: err.Error()}
	}
	with := func(p Problem, message string, details []wire.Detail) Problem {
		p.Details = details
		if message != "" {
			p.Message = message
		}
		return p
	}
	const bad = http.StatusBadRequest
	switch {
	case errors.As(err, &request):
		return with(fail(bad, Invalid, request.Param, request.Code), "", request.Details)
	case errors.As(err, &knows):
		return knows.Problem()
	case errors.As(err, &reason):
		return describeReason(reason)
	case errors.As(err, &tooLarge):
		return with(fail(http.StatusRequestEntityTooLarge, Invalid, "", "body_too_large"),
			fmt.Sprintf("the body is longer than %d bytes", tooLarge.Limit), nil)
	case errors.Is(err, agent.ErrNoRoom):
		return describeNoRoom(err)
	case errors.Is(err, agent.ErrTime):
		return with(fail(http.StatusGatewayTimeout, Server, "bounds.seconds", "timeout"), "the run's time was over before there was an answer", nil)
	case errors.As(err, &budget):
		f := fail(bad, Invalid, "max_tokens", "budget_too_small")
		f.Message = fmt.Sprintf("the shortest document that fits the constraint needs %d tokens; max_tokens leaves %d", budget.Minimum, budget.Budget)
		if budget.Context {
			f.Message = fmt.Sprintf("the shortest document that fits the constraint needs %d tokens; the context leaves %d; the server's flag --context sets it", budget.Minimum, budget.Budget)
		}
		f.Minimum = budget.Minimum
		return f
	case errors.As(err, &prompt):
		f := with(fail(bad, Invalid, "prompt", "context_length_exceeded"), tooLong(prompt), nil)
		f.Prompt, f.Context = prompt.Prompt, prompt.Limit
		return f
	case errors.As(err, &length):
		f := with(fail(bad, Invalid, "prompt", "context_length_exceeded"),
			fmt.Sprintf("prompt is too long: this model's maximum context length is %d tokens, and the prompt has more than %d; the server's flag --context sets it", length.Context, length.Least), nil)
		f.Prompt, f.Context = length.Least, length.Context
		return f
	case errors.As(err, &conversation) && conversation.Refused:
		return with(fail(bad, Invalid, "messages", "refused_by_template"), "the model's chat template refuses this conversation: "+conversation.Message, nil)
	case errors.As(err, &conversation):
		return with(fail(bad, Invalid, "messages", "chat_template_failed"), "the model's chat template can't write this conversation: "+conversation.Message, nil)
	case errors.Is(err, sampling.ErrEmpty):
		return with(fail(http.StatusUnprocessableEntity, Invalid, "logit_bias", "no_token_allowed"),
			"no token is left to be sampled: logit_bias bans all that the constraint allows at some place", nil)
	case errors.Is(err, backend.ErrNoSlot):
		return with(fail(http.StatusServiceUnavailable, Server, "", "out_of_memory"),
			"the machine has no memory left for a longer context; the server's flags --context and --parallel limit what is asked of it", nil)
	case boltfile.Unwritable(err):
		return with(fail(http.StatusServiceUnavailable, Server, "", "storage_unwritable"), "the server can't store this: its disk is full or can't be written", nil)
	case errors.As(err, &logits):
		return with(fail(http.StatusUnprocessableEntity, Invalid, "model", "model_damaged"),
			fmt.Sprintf("the model %s computes logits that are not finite numbers: its weights or an adapter's are damaged", logits.Model), nil)
	case errors.Is(err, engine.ErrEmptyPrompt):
		return with(fail(bad, Invalid, "prompt", "empty_prompt"), "the prompt is empty, and this model needs at least one token to start from", nil)
	case errors.As(err, &option):
		return with(fail(bad, Invalid, option.Option, "invalid_value"), option.Option+" "+option.Reason, nil)
	case errors.As(err, &syntax):
		return fail(bad, Invalid, schemaParam, "invalid_schema")
	case errors.As(err, &invalidSchema):
		return with(fail(bad, Invalid, schemaParam, "invalid_schema"), "", Details(invalidSchema.Issues))
	case errors.As(err, &unsupported):
		return with(fail(bad, Invalid, schemaParam, "unsupported_schema_keyword"), "", Details(unsupported.Issues))
	case errors.As(err, &unsatisfiable):
		return with(fail(bad, Invalid, schemaParam, "unsatisfiable_schema"), "", Details(unsatisfiable.Issues))
	case errors.As(err, &limit):
		return with(fail(bad, Invalid, schemaParam, "schema_limit"), "", []wire.Detail{{Pointer: limit.Pointer, Keyword: limit.Limit, Reason: err.Error(), Hint: limit.Hint}})
	case errors.As(err, &grammar):
		return with(fail(bad, Invalid, schemaParam, "invalid_grammar"), "", GrammarDetails(grammar.Issues))
	case errors.As(err, &grammarLimit), errors.As(err, &patternLimit):
		return fail(bad, Invalid, schemaParam, "grammar_limit")
	case errors.As(err, &constraint):
		return fail(http.StatusUnprocessableEntity, Invalid, schemaParam, "constraint_limit")
	case errors.Is(err, engine.ErrQueueFull), errors.Is(err, embedding.ErrQueueFull):
		f := with(fail(http.StatusTooManyRequests, Limited, "", "queue_full"), "too many requests wait already", nil)
		f.RetryAfter = time.Second
		return f
	case errors.Is(err, engine.ErrClosed), errors.Is(err, embedding.ErrClosed):
		f := with(fail(http.StatusServiceUnavailable, Server, "", "shutting_down"), "the server is shutting down", nil)
		f.RetryAfter = 5 * time.Second
		return f
	case errors.Is(err, engine.ErrTimeout), errors.Is(err, embedding.ErrTimeout):
		return with(fail(http.StatusGatewayTimeout, Server, "", "timeout"), asking.TimeExceeded, nil)
	case errors.Is(err, context.Canceled):
		return with(fail(statusClientGone, Server, "", "cancelled"), "the client hung up: its side of the connection must stay open until the answer is complete", nil)
	}
	return with(fail(http.StatusInternalServerError, Server, "", "internal_error"), "internal error; the log has it under this request's id", nil)
}

// reasons map the failure categories of package asking to status, kind and code.
var reasons = map[asking.Category]struct {
	status     int
	kind       kind
	code       string
	retryAfter time.Duration
}{
	asking.EmptyAnswer:    {http.StatusUnprocessableEntity, Invalid, "empty_answer", 0},
	asking.InvalidJSON:    {http.StatusUnprocessableEntity, Invalid, "validation_failed", 0},
	asking.WrongDocument:  {http.StatusUnprocessableEntity, Invalid, "validation_failed", 0},
	asking.RefusedAnswer:  {http.StatusUnprocessableEntity, Invalid, "refused_by_model", 0},
	asking.RateLimited:    {http.StatusTooManyRequests, Limited, "upstream_rate_limited", time.Second},
	asking.Unavailable:    {http.StatusServiceUnavailable, Server, "upstream_unavailable", 2 * time.Second},
	asking.TookTooLong:    {http.StatusGatewayTimeout, Server, "timeout", 0},
	asking.NotAuthorized:  {http.StatusBadGateway, Server, "upstream_denied", 0},
	asking.RequestRefused: {http.StatusBadRequest, Invalid, "upstream_refused", 0},
	asking.Protocol:       {http.StatusBadGateway, Server, "upstream_malformed", 0},
	asking.Cancelled:      {statusClientGone, Server, "cancelled", 0},
}

// maxText is how much of an invalid answer an error repeats, in bytes.
const maxText = 64 << 10

// describeReason is Describe for a model that gave no answer.
func describeReason(r *asking.FailureReason) Problem {
	as := reasons[r.Category]
	p := Problem{Status: as.status, Kind: as.kind, Code: as.code, Message: r.Description, Failure: r, Details: Details(r.Issues)}
	if as.retryAfter > 0 {
		p.RetryAfter = max(as.retryAfter, r.RetryAfter.Round(time.Second))
	}
	if as.status == http.StatusUnprocessableEntity {
		text := r.Text
		if len(text) > maxText {
			text = strings.ToValidUTF8(text[:maxText], "") + fmt.Sprintf("… (%d bytes)", len(r.Text))
		}
		p.Param, p.Text = "schema", &text
		if len(r.Issues) > 0 && slices.Contains([]string{"grammar", "regex", "choice"}, r.Issues[0].Keyword) {
			p.Param = r.Issues[0].Keyword
		}
	}
	return p
}

// tooLong returns the message for a prompt that does not fit, and what would change that. Clients that shorten
// conversations recognise it by its first words, some by those of OpenAI's message, some by those of Anthropic's.
func tooLong(e *engine.ContextError) string {
	return fmt.Sprintf("prompt is too long: this model's maximum context length is %d tokens, of which at least one is generated, and the prompt has %d; the server's flag --context sets it", e.Limit, e.Prompt)
}

// describeNoRoom is Describe for an agent run whose tokens did not suffice for an answer.
func describeNoRoom(err error) Problem {
	var budget *engine.BudgetError
	var prompt *engine.ContextError
	p := Problem{Status: http.StatusBadRequest, Kind: Invalid, Param: "bounds", Code: "budget_too_small"}
	switch {
	case errors.As(err, &budget):
		p.Message = fmt.Sprintf("the shortest answer needs %d tokens; the bounds and the context leave %d", budget.Minimum, budget.Budget)
		p.Minimum = budget.Minimum
	case errors.As(err, &prompt):
		p.Param, p.Code = "query", "context_length_exceeded"
		p.Prompt, p.Context = prompt.Prompt, prompt.Limit
		p.Message = tooLong(prompt)
	default:
		p.Message = "bounds.tokens were used up before there was an answer"
	}
	return p
}

// Internal reports whether err is an internal error, which is any that this package does not know.
func Internal(err error) bool { return Describe(err).Status == http.StatusInternalServerError }

// Busy reports whether the same request may succeed soon because it failed only for lack of capacity, and the wait that
// an upstream asked for; 0: none.
func Busy(err error) (wait time.Duration, is bool) {
	p := Describe(err)
	if p.Kind != Limited {
		return 0, false
	}
	if p.Failure != nil {
		wait = p.RetryAfter
	}
	return wait, true
}

// Header sets Retry-After and X-Should-Retry. OpenAI's clients retry some failures unless X-Should-Retry is false.
func (p *Problem) Header(h http.Header) {
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(p.RetryAfter/time.Second)))
		h.Set("X-Should-Retry", "true")
		return
	}
	h.Set("X-Should-Retry", "false")
}
