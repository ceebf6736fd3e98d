package generation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/stencil-json/stencil/asking"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/repair"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

// A Receipt reports how a request's constraint was applied.
type Receipt struct {
	Type         string        `json:"type"` // as Constraint.kind
	Hash         string        `json:"hash"`
	Enforced     []string      `json:"enforced"`
	Checked      []IssueReply  `json:"checked"`
	Ignored      []IssueReply  `json:"ignored"`
	Closed       bool          `json:"closed,omitempty"` // only members that the schema names are allowed
	Validated    *bool         `json:"validated"`        // null: the validator has no verdict; a warning says why
	Errors       []wire.Detail `json:"errors,omitempty"`
	Warnings     []wire.Detail `json:"warnings,omitempty"` // what makes the schema costly, and what would help
	ForcedTokens int           `json:"forced_tokens"`
	TokensSaved  int           `json:"tokens_saved"` // model steps saved
	Mask         maskReply     `json:"mask_us"`
	Pressure     pressureReply `json:"pressure"`
	BudgetClosed bool          `json:"budget_closed"`
	Shortened    []string      `json:"shortened"` // pointers of values that the budget shortened
	Tries        int           `json:"tries"`

	// ToolForm is the form of the calls, if not the model's own.
	ToolForm string `json:"tool_form,omitempty"`
	// CallConfidence is how sure the model was of a first call in another form than its own, as in [engine.Doubt]. A
	// call that was taken back for it is text.
	CallConfidence *float64 `json:"call_confidence,omitempty"`
	// CallRelevance is how relevant the model found the tool of that call, if it was asked, and CallConfidence is in view of it.
	CallRelevance *float64 `json:"call_relevance,omitempty"`
	// CallRepeated reports that the text takes the place of one that began with a call that had been made and answered.
	CallRepeated bool `json:"call_repeated,omitempty"`
	// CallProbability is the probability that the model gave to beginning a call, with tool_confidence.
	CallProbability *float64 `json:"call_probability,omitempty"`

	// Of texts without masks: how they were requested, and what was changed in them.
	Strategy string           `json:"strategy,omitempty"`
	Edits    []repair.Edit    `json:"edits,omitempty"`
	Attempts []asking.Attempt `json:"attempts,omitempty"` // if there was more than one
}

// An IssueReply is a schema keyword that masks don't enforce, and the reason.
type IssueReply struct {
	Pointer string `json:"pointer"`
	Keyword string `json:"keyword"`
	Reason  string `json:"reason"`
}

type maskReply struct {
	Total int64 `json:"total"`
	Max   int64 `json:"max"`
}

// pressureReply reports the probability that masks removed from the model's distribution, over all sampled tokens.
type pressureReply struct {
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
	At   string  `json:"at"` // pointer of the value with the largest
}

// Issues returns issues in the form of answers; never nil.
func Issues(list []schema.Issue) []IssueReply {
	out := make([]IssueReply, 0, len(list))
	for _, i := range list {
		out = append(out, IssueReply{i.Pointer, i.Keyword, i.Reason})
	}
	return out
}

// receiptOf validates a text's message and returns its receipt. The second result is set if the text is complete but
// does not fit.
func receiptOf(ctx context.Context, r *Constraint, c *Choice, tries int) (*Receipt, *constraint.InvalidDocumentError, string) {
	result := c.Result
	limits := result.Constraint
	if limits == nil || r.free {
		limits = &noConstraint
	}
	out := &Receipt{
		Type: r.kind, Hash: r.report.Hash,
		Enforced: append([]string{}, r.report.Enforced...), // an empty list, not null
		Checked:  Issues(r.report.Checked), Ignored: Issues(r.report.Ignored), Closed: r.report.Closed,
		ForcedTokens: limits.ForcedTokens, TokensSaved: limits.SavedSteps,
		Mask:         maskReply{limits.MaskTotal.Microseconds(), limits.MaskMax.Microseconds()},
		BudgetClosed: limits.BudgetClosed, Shortened: []string{}, Tries: tries, ToolForm: c.Message.Form, CallProbability: limits.Gated, CallConfidence: limits.Doubted, CallRelevance: limits.Asked, CallRepeated: c.repeated,
	}
	out.Warnings = problem.Details(costly(r))
	if c.Said != nil && c.visible > 0 {
		// The budget and forced tokens of the signals don't count for the answer.
		out.ForcedTokens -= c.signalsForced
		out.TokensSaved = max(0, out.TokensSaved-c.signalsForced)
		out.BudgetClosed = out.BudgetClosed && limits.Closing < c.visible
	}
	if c.Trace != nil {
		out.Pressure = c.Trace.pressure()
		if out.BudgetClosed {
			out.Shortened = c.Trace.shortened(limits.Closing)
		}
	}
	valid := false
	free := r.tags != nil || r.Tools != nil && !r.Must && len(c.Message.Calls) == 0 // tags and calls were optional
	if result.Finish != engine.FinishStop && !free && !r.free {                     // cut off by the budget
		out.Validated = &valid
		return out, nil, ""
	}
	err := r.check(ctx, &c.Message)
	var bad *constraint.InvalidDocumentError
	switch {
	case err == nil:
		valid = true
		out.Validated = &valid
	case errors.As(err, &bad):
		out.Validated = &valid
		out.Errors = problem.Details(bad.Issues)
	default:
		return out, nil, "the independent validator has no verdict: " + err.Error()
	}
	return out, bad, ""
}

// costly returns the warnings about a costly schema.
func costly(r *Constraint) (list []schema.Issue) {
	if r == nil {
		return nil
	}
	for _, w := range r.report.Warnings {
		if w.Keyword == "complexity" {
			list = append(list, w)
		}
	}
	return list
}

// disagreement logs that the validator refused what the masks allowed, which is a bug in one of the two. The text
// itself is not logged.
func (s *Service) disagreement(id string, rec *Receipt) {
	attrs := []any{slog.String("id", id), slog.String("schema", rec.Hash)}
	for _, e := range rec.Errors {
		attrs = append(attrs, slog.String("keyword", e.Keyword))
	}
	s.Log.Warn("the validator refuses what the masks allowed", attrs...)
}

// A ValidationError means that a document still violates keywords that masks can't enforce, after all attempts.
type ValidationError struct {
	text    string
	details []wire.Detail

	attempts []asking.Attempt
}

func (e *ValidationError) Error() string {
	return fmt.Sprintf("the document does not fit the schema after %s", count(len(e.attempts), "try", "tries"))
}

// Problem returns the problem that clients see.
func (e *ValidationError) Problem() problem.Problem {
	return problem.Problem{
		Status: http.StatusUnprocessableEntity, Kind: problem.Invalid, Param: "schema", Code: "validation_failed", Message: e.Error(),
		Details: e.details, Text: &e.text,
		Failure: &asking.FailureReason{
			Category: asking.WrongDocument, Description: fmt.Sprintf("%s (strategy %s, stage %s)", e.Error(), asking.Masks, asking.StageValidation),
			TechnicalDetails: "keywords that masks don't enforce were left to the validator", OccurredAt: time.Now().UTC(), Recoverable: true,
			Strategy: asking.Masks, Stage: asking.StageValidation, Attempts: e.attempts, Tries: len(e.attempts),
		},
	}
}

// count returns a number with its noun: "1 try" or "3 tries".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
