package asking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/stencil-json/stencil/backend/remote"
	"github.com/stencil-json/stencil/schema"
)

// A Stage is the stage at which an answer failed.
type Stage string

// The stages.
const (
	StageUpstream   Stage = "upstream"
	StageEmpty      Stage = "response_empty"
	StageParse      Stage = "json_parse"
	StageValidation Stage = "schema_validation"
)

// A Failure is the internal error about an answer. It leaves this package only in the
// log.
type Failure struct {
	Parser  Strategy
	Model   string
	Stage   Stage
	Content string // output of the model, cut to maxContent
	Cause   error

	issues   []schema.Issue
	tries    int
	attempts []Attempt
	calls    bool // the failure is about tool calls
	hard     bool // the answer must not be returned, even in a lenient task
}

// maxContent is how many bytes of an answer a failure keeps.
const maxContent = 2 << 10

// Error implements error.
func (f *Failure) Error() string {
	return fmt.Sprintf("asking: %s at stage %s with strategy %s: %v", f.Model, f.Stage, f.Parser, f.Cause)
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// LogValue implements slog.LogValuer.
func (f *Failure) LogValue() slog.Value {
	return slog.GroupValue(slog.String("parser", string(f.Parser)), slog.String("model", f.Model), slog.String("stage", string(f.Stage)),
		slog.String("content", f.Content), slog.Any("cause", f.Cause), slog.Int("tries", f.tries))
}

// cut shortens a text at a character boundary.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// A Category classifies a failure for the client.
type Category string

// The categories.
const (
	EmptyAnswer    Category = "empty_answer"
	InvalidJSON    Category = "invalid_json"
	WrongDocument  Category = "schema_violation"
	RefusedAnswer  Category = "refused_by_model"
	RateLimited    Category = "rate_limited"
	Unavailable    Category = "unavailable"
	TookTooLong    Category = "timeout"
	NotAuthorized  Category = "not_authorized"
	RequestRefused Category = "request_refused"
	Protocol       Category = "protocol_error"
	Cancelled      Category = "cancelled"
)

// Categories lists all categories.
var Categories = []Category{
	EmptyAnswer, InvalidJSON, WrongDocument, RefusedAnswer, RateLimited, Unavailable, TookTooLong, NotAuthorized, RequestRefused, Protocol, Cancelled,
}

// A FailureReason is the error that clients see.
type FailureReason struct {
	Category         Category  `json:"category"`
	Description      string    `json:"description"`       // for users
	TechnicalDetails string    `json:"technical_details"` // for debugging
	OccurredAt       time.Time `json:"occurred_at"`
	Recoverable      bool      `json:"recoverable"` // the same request may succeed later

	Strategy   Strategy       `json:"strategy"`
	Stage      Stage          `json:"stage"`
	Attempts   []Attempt      `json:"attempts,omitempty"`
	Text       string         `json:"-"` // the last output of the model
	Issues     []schema.Issue `json:"-"` // validation errors
	Tries      int            `json:"tries"`
	RetryAfter time.Duration  `json:"-"` // 0: unknown
}

// Error implements error.
func (r *FailureReason) Error() string { return r.Description }

// LogValue implements slog.LogValuer.
func (r *FailureReason) LogValue() slog.Value {
	return slog.GroupValue(slog.String("category", string(r.Category)), slog.String("description", r.Description),
		slog.String("technical_details", r.TechnicalDetails), slog.Time("occurred_at", r.OccurredAt), slog.Bool("recoverable", r.Recoverable))
}

// TimeExceeded is the description of a failure by the time limit of a request.
const TimeExceeded = "the time limit of the request was exceeded"

// now is the clock, replaced in tests.
var now = time.Now

// errRefusal is the cause if the model refused to answer.
var errRefusal = errors.New("the model refused to answer")

// Translate converts an error into the FailureReason for the client, and logs both.
// An error that already is a FailureReason is returned unchanged.
func Translate(ctx context.Context, log *slog.Logger, err error, parser Strategy, model string) *FailureReason {
	var known *FailureReason
	if errors.As(err, &known) {
		return known
	}
	var f *Failure
	if !errors.As(err, &f) {
		f = &Failure{Parser: parser, Model: model, Stage: StageUpstream, Cause: err, tries: 1}
	}
	r := f.reason()
	log.LogAttrs(ctx, slog.LevelWarn, "answer rejected", slog.Any("failure", f), slog.Any("reason", r))
	return r
}

// reason converts the failure.
func (f *Failure) reason() *FailureReason {
	r := &FailureReason{OccurredAt: now().UTC(), Strategy: f.Parser, Stage: f.Stage, Attempts: f.attempts, Issues: f.issues, Tries: max(1, f.tries), TechnicalDetails: fmt.Sprintf("stage %s, strategy %s, model %s: %v", f.Stage, f.Parser, f.Model, f.Cause)}
	after := ""
	if r.Tries > 1 {
		after = fmt.Sprintf(" after %d tries", r.Tries)
	}
	var e *remote.Error
	switch {
	case errors.Is(f.Cause, errRefusal):
		r.Category, r.Description = RefusedAnswer, "the model refused to answer"
	case f.Stage == StageEmpty:
		r.Category, r.Description, r.Recoverable = EmptyAnswer, "the model answered with nothing"+after, true
	case f.Stage == StageParse:
		r.Category, r.Description, r.Recoverable = InvalidJSON, "the model's answer is not JSON"+after, true
	case f.Stage == StageValidation:
		r.Category, r.Description, r.Recoverable = WrongDocument, "the model's answer does not fit "+f.wanted()+after, true
	case errors.As(f.Cause, &e):
		r.RetryAfter, r.Recoverable = e.RetryAfter, e.Passes()
		r.Category, r.Description = upstreamReason(e)
	case errors.Is(f.Cause, context.Canceled):
		r.Category, r.Description, r.Recoverable = Cancelled, "the request was cancelled", true
	case errors.Is(f.Cause, context.DeadlineExceeded):
		r.Category, r.Description, r.Recoverable = TookTooLong, TimeExceeded, true
	default:
		r.Category, r.Description = Protocol, "the model could not be asked"
	}
	r.Description += fmt.Sprintf(" (strategy %s, stage %s)", f.Parser, f.Stage)
	return r
}

// wanted names the format that an answer violates and, for a text that is not JSON,
// where.
func (f *Failure) wanted() string {
	if len(f.issues) > 0 && f.issues[0].Line > 0 && (f.issues[0].Keyword == "grammar" || f.issues[0].Keyword == "regex" || f.issues[0].Keyword == "choice") {
		return fmt.Sprintf("the %s at line %d, column %d", f.issues[0].Keyword, f.issues[0].Line, f.issues[0].Column)
	}
	return "what was asked for"
}

func upstreamReason(e *remote.Error) (Category, string) {
	tries := ""
	if e.Tries > 1 {
		tries = fmt.Sprintf(" after %d tries", e.Tries)
	}
	switch e.Kind {
	case remote.Limited:
		return RateLimited, "the upstream takes no more requests for now"
	case remote.TimedOut:
		return TookTooLong, "the upstream took too long" + tries
	case remote.Denied:
		return NotAuthorized, "the upstream does not accept this server's key"
	case remote.Refused:
		return RequestRefused, "the upstream refused the request"
	case remote.Malformed:
		if e.Status != 0 && e.Status != http.StatusOK {
			return Protocol, fmt.Sprintf("the upstream answered with status %d, which is no answer to a chat", e.Status)
		}
		return Protocol, "the upstream's answer could not be read"
	case remote.Cut:
		return Unavailable, "the upstream broke off in the middle of its answer"
	case remote.Unavailable:
		if e.Status >= http.StatusInternalServerError {
			return Unavailable, fmt.Sprintf("the upstream fails with status %d%s", e.Status, tries)
		}
		return Unavailable, "the upstream reports an error" + tries
	}
	return Unavailable, "the upstream can't be reached" + tries
}
