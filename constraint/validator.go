package constraint

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/validator"
)

// ErrUndecided is matched by the error of a validation that would take too much work.
var ErrUndecided = validator.ErrUndecided

// An InvalidDocumentError lists where a document does not fit its constraint.
type InvalidDocumentError struct {
	Issues []schema.Issue // Pointer refers to the document, Keyword to the schema
	Of     string         // the kind of constraint if it is no schema: grammar, regex, choice
}

// Places returns the issues, for callers that know the error only by an interface.
func (e *InvalidDocumentError) Places() []schema.Issue { return e.Issues }

// Error implements error. Clients receive this text, so its start must not change.
func (e *InvalidDocumentError) Error() string {
	var b strings.Builder
	if e.Of != "" {
		b.WriteString("the text does not fit the " + e.Of)
	} else {
		b.WriteString("engine: the document does not fit the schema")
	}
	for i, issue := range e.Issues {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		b.WriteString(issue.String())
	}
	return b.String()
}

// A Validator checks whole documents against a schema. It shares no code with the constraint
// engine, so that a bug in one does not hide a bug in the other. Formats are asserted, references
// to other documents are refused, and patterns have the syntax of ECMA-262. It is safe for
// concurrent use.
type Validator struct {
	schema *validator.Schema
}

// NewValidator compiles a schema as the named draft, with the names of schema.Report, regardless
// of its $schema.
func NewValidator(ctx context.Context, src []byte, draft string) (*Validator, error) {
	s, err := validator.Compile(ctx, src, draft)
	if err != nil {
		return nil, fmt.Errorf("constraint: %w", err)
	}
	return &Validator{s}, nil
}

// Validate returns nil if the document fits and an *InvalidDocumentError if it does not. Any
// other error is the reason why there is no verdict: ErrUndecided, or the cause of the context's
// end.
func (v *Validator) Validate(ctx context.Context, document []byte) error {
	err := v.schema.Validate(ctx, document)
	var invalid *validator.Error
	if !errors.As(err, &invalid) {
		return err
	}
	out := &InvalidDocumentError{}
	for _, i := range invalid.Issues {
		out.Issues = append(out.Issues, schema.Issue{Pointer: i.Pointer, Keyword: i.Keyword, Reason: i.Reason})
	}
	return out
}

// Together returns a context for the checks of several forms of one document: all of them together may take no more than
// twice the work that one may.
func Together(ctx context.Context) context.Context { return validator.Together(ctx, 2) }

// Issues returns the issues of a document, none if it fits. The error is the reason why there is
// no verdict.
func (v *Validator) Issues(ctx context.Context, document []byte) ([]schema.Issue, error) {
	err := v.Validate(ctx, document)
	var bad *InvalidDocumentError
	if errors.As(err, &bad) {
		return bad.Issues, nil
	}
	return nil, err
}
