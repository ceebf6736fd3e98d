package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"stencil/engine"
	"stencil/repair"
	"stencil/schema"
)

// A receipt says what was done about a request's constraint.
type receipt struct {
	Type         string        `json:"type"` // as rule.kind
	Hash         string        `json:"hash"`
	Enforced     []string      `json:"enforced"`
	Checked      []issueReply  `json:"checked"`
	Ignored      []issueReply  `json:"ignored"`
	Validated    *bool         `json:"validated"` // null: the validator has no verdict, a warning says why
	Errors       []errorDetail `json:"errors,omitempty"`
	ForcedTokens int           `json:"forced_tokens"`
	TokensSaved  int           `json:"tokens_saved"` // steps of the model that were not needed
	Mask         maskReply     `json:"mask_us"`
	Pressure     pressureReply `json:"pressure"`
	BudgetClosed bool          `json:"budget_closed"`
	Shortened    []string      `json:"shortened"` // pointers of what the budget made shorter
	Tries        int           `json:"tries"`

	// Of texts that no mask was laid over: how they were asked for, and what
	// was changed in them.
	Strategy string        `json:"strategy,omitempty"`
	Edits    []repair.Edit `json:"edits,omitempty"`
}

type issueReply struct {
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

func issues(list []schema.Issue) []issueReply {
	out := make([]issueReply, 0, len(list))
	for _, i := range list {
		out = append(out, issueReply{i.Pointer, i.Keyword, i.Reason})
	}
	return out
}

// receiptOf makes the receipt of a text, validating its message. The second result
// is set when the text is complete and yet does not fit.
func receiptOf(r *rule, c *choice, tries int) (*receipt, *engine.InvalidDocumentError, string) {
	result := c.result
	limits := result.Constraint
	if limits == nil || r.free {
		limits = &noConstraint
	}
	out := &receipt{
		Type: r.kind, Hash: r.report.Hash,
		Enforced: append([]string{}, r.report.Enforced...), // an empty list, not null
		Checked:  issues(r.report.Checked), Ignored: issues(r.report.Ignored),
		ForcedTokens: limits.ForcedTokens, TokensSaved: limits.SavedSteps,
		Mask:         maskReply{limits.MaskTotal.Microseconds(), limits.MaskMax.Microseconds()},
		BudgetClosed: limits.BudgetClosed, Shortened: []string{}, Tries: tries,
	}
	if c.said != nil && c.visible > 0 {
		// What was done to the signals is not what was done to the answer.
		out.ForcedTokens -= c.veiledForced
		out.TokensSaved = max(0, out.TokensSaved-c.veiledForced)
		out.BudgetClosed = out.BudgetClosed && limits.Closing < c.visible
	}
	if c.trace != nil {
		out.Pressure = c.trace.pressure()
		if out.BudgetClosed {
			out.Shortened = c.trace.shortened(limits.Closing)
		}
	}
	valid := false
	free := r.tags != nil || r.tools != nil && !r.must && len(c.message.Calls) == 0 // what was possible did not have to come
	if result.Finish != engine.FinishStop && !free && !r.free {                     // cut off by the budget, as was asked for
		out.Validated = &valid
		return out, nil, ""
	}
	err := r.check(&c.message)
	var bad *engine.InvalidDocumentError
	switch {
	case err == nil:
		valid = true
		out.Validated = &valid
	case errors.As(err, &bad):
		out.Validated = &valid
		out.Errors = details(bad.Issues)
	default:
		return out, nil, "the independent validator has no verdict: " + err.Error()
	}
	return out, bad, ""
}

// disagreement is logged when the validator refuses what the masks allowed: a
// mistake in one of the two, worth a report. The text itself is not logged.
func (s *service) disagreement(id string, rec *receipt) {
	attrs := []any{slog.String("id", id), slog.String("schema", rec.Hash)}
	for _, e := range rec.Errors {
		attrs = append(attrs, slog.String("keyword", e.Keyword))
	}
	s.log.Warn("the validator refuses what the masks allowed", attrs...)
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

func (e *validationError) problem() problem {
	return problem{
		status: http.StatusUnprocessableEntity, kind: kindInvalid, param: "schema", code: "validation_failed", message: e.Error(),
		details: e.details, text: &e.text,
	}
}

// count returns "1 try" or "3 tries".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
