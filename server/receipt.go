package server

import (
	"errors"
	"log/slog"

	"stencil/engine"
	"stencil/schema"
)

// A receipt says what was done about a request's constraint.
type receipt struct {
	Type         string        `json:"type"` // schema, json
	Hash         string        `json:"hash"`
	Enforced     []string      `json:"enforced"`
	Checked      []issueReply  `json:"checked"`
	Ignored      []issueReply  `json:"ignored"`
	Validated    *bool         `json:"validated"` // null: the validator has no verdict, a warning says why
	Errors       []errorDetail `json:"errors,omitempty"`
	ForcedTokens int           `json:"forced_tokens"`
	Mask         maskReply     `json:"mask_us"`
	BudgetClosed bool          `json:"budget_closed"`
	Tries        int           `json:"tries"`
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

func issues(list []schema.Issue) []issueReply {
	out := make([]issueReply, 0, len(list))
	for _, i := range list {
		out = append(out, issueReply{i.Pointer, i.Keyword, i.Reason})
	}
	return out
}

// receiptOf makes the receipt of a text, validating it. The second result is
// set when the text is complete and yet does not fit.
func receiptOf(kind string, c *engine.CompiledSchema, r *engine.Result, tries int) (*receipt, *engine.InvalidDocumentError, string) {
	out := &receipt{
		Type: kind, Hash: c.Report.Hash,
		Enforced: append([]string{}, c.Report.Enforced...), // an empty list, not null
		Checked:  issues(c.Report.Checked), Ignored: issues(c.Report.Ignored),
		ForcedTokens: r.Constraint.ForcedTokens,
		Mask:         maskReply{r.Constraint.MaskTotal.Microseconds(), r.Constraint.MaskMax.Microseconds()},
		BudgetClosed: r.Constraint.BudgetClosed, Tries: tries,
	}
	valid := false
	if r.Finish != engine.FinishStop { // cut off by the budget, as was asked for
		out.Validated = &valid
		return out, nil, ""
	}
	err := c.Validate([]byte(r.Text))
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
func (s *Server) disagreement(id string, rec *receipt) {
	attrs := []any{slog.String("id", id), slog.String("schema", rec.Hash)}
	for _, e := range rec.Errors {
		attrs = append(attrs, slog.String("keyword", e.Keyword))
	}
	s.cfg.Log.Warn("the validator refuses what the masks allowed", attrs...)
}
