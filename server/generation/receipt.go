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

// A Receipt says what was done about a request's constraint.
type Receipt struct {
	Type         string        `json:"type"` // as rule.kind
	Hash         string        `json:"hash"`
	Enforced     []string      `json:"enforced"`
	Checked      []IssueReply  `json:"checked"`
	Ignored      []IssueReply  `json:"ignored"`
	Closed       bool          `json:"closed,omitempty"` // no members but those that the schema names
	Validated    *bool         `json:"validated"`        // null: the validator has no verdict, a warning says why
	Errors       []wire.Detail `json:"errors,omitempty"`
	Warnings     []wire.Detail `json:"warnings,omitempty"` // of what makes the schema costly, and what would help
	ForcedTokens int           `json:"forced_tokens"`
	TokensSaved  int           `json:"tokens_saved"` // steps of the model that were not needed
	Mask         maskReply     `json:"mask_us"`
	Pressure     pressureReply `json:"pressure"`
	BudgetClosed bool          `json:"budget_closed"`
	Shortened    []string      `json:"shortened"` // pointers of what the budget made shorter
	Tries        int           `json:"tries"`

	// ToolForm is the form in which calls were written, if it isn't the model's own.
	ToolForm string `json:"tool_form,omitempty"`

	// Of texts that no mask was laid over: how they were asked for, and what
	// was changed in them.
	Strategy string           `json:"strategy,omitempty"`
	Edits    []repair.Edit    `json:"edits,omitempty"`
	Attempts []asking.Attempt `json:"attempts,omitempty"` // where there was more than one
}

// IssueReply is a keyword of a schema that masks don't enforce, and why.
type IssueReply struct {
	Pointer string `json:"pointer"`
	Keyword string `json:"keyword"`
	Reason  string `json:"reason"`
}

type maskReply struct {
	Total int64 `json:"total"`
	Max   int64 `json:"max"`
}

// pressureReply is the probability that the masks took away from the model at
// each place where it was asked.
type pressureReply struct {
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
	At   string  `json:"at"` // pointer of the value where it was largest
}

// Issues returns issues as answers have them; an empty list, not null.
func Issues(list []schema.Issue) []IssueReply {
	out := make([]IssueReply, 0, len(list))
	for _, i := range list {
		out = append(out, IssueReply{i.Pointer, i.Keyword, i.Reason})
	}
	return out
}

// receiptOf makes the receipt of a text, validating its message. The second result
// is set when the text is complete and yet does not fit.
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
		BudgetClosed: limits.BudgetClosed, Shortened: []string{}, Tries: tries, ToolForm: c.Message.Form,
	}
	out.Warnings = problem.Details(costly(r))
	if c.Said != nil && c.visible > 0 {
		// What was done to the signals is not what was done to the answer.
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
	free := r.tags != nil || r.Tools != nil && !r.Must && len(c.Message.Calls) == 0 // what was possible did not have to come
	if result.Finish != engine.FinishStop && !free && !r.free {                     // cut off by the budget, as was asked for
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

// costly returns the warnings about what makes a schema costly.
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

// disagreement is logged when the validator refuses what the masks allowed: a
// mistake in one of the two, worth a report. The text itself is not logged.
func (s *Service) disagreement(id string, rec *Receipt) {
	attrs := []any{slog.String("id", id), slog.String("schema", rec.Hash)}
	for _, e := range rec.Errors {
		attrs = append(attrs, slog.String("keyword", e.Keyword))
	}
	s.Log.Warn("the validator refuses what the masks allowed", attrs...)
}

// A ValidationError says that a generated document does not fit the schema's
// keywords that masks can't enforce, after every try.
type ValidationError struct {
	text    string
	details []wire.Detail

	attempts []asking.Attempt
}

func (e *ValidationError) Error() string {
	return fmt.Sprintf("the document does not fit the schema after %s", count(len(e.attempts), "try", "tries"))
}

// Problem implements problem.Describer.
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

// count returns "1 try" or "3 tries".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
