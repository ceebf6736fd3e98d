package constraint

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/validator"
)

// ErrUndecided is matched by the verdict of a validation that was too much work.
var ErrUndecided = validator.ErrUndecided

// An InvalidDocumentError lists where a document does not fit its schema.
type InvalidDocumentError struct {
	Issues []schema.Issue // Pointer is into the document, Keyword into the schema
	Of     string         // what it does not fit, if that is no schema: grammar, regex, choice
}

// Places returns the issues, for those who know only error.
func (e *InvalidDocumentError) Places() []schema.Issue { return e.Issues }

// Error implements error. Clients get this text, so it begins as it always has.
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

// A Validator checks whole documents against a schema. It shares no code with
// the constraint engine, so that a mistake of one does not hide one of the
// other. Formats are asserted, references to other documents refused, patterns
// read as ECMA-262 has them. It is safe for concurrent use.
type Validator struct {
	schema *validator.Schema
}

// NewValidator compiles a schema as the named draft, as schema.Report names
// it, whatever its $schema says.
func NewValidator(ctx context.Context, src []byte, draft string) (*Validator, error) {
	s, err := validator.Compile(ctx, src, draft)
	if err != nil {
		return nil, fmt.Errorf("constraint: %w", err)
	}
	return &Validator{s}, nil
}

// Validate returns nil when the document fits, an *InvalidDocumentError when
// it does not. Any other error says why that can't be told: ErrUndecided, or the
// cause of the context's end.
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

// Issues returns what is wrong with a document, nothing where it fits, or why that can't be told.
func (v *Validator) Issues(ctx context.Context, document []byte) ([]schema.Issue, error) {
	err := v.Validate(ctx, document)
	var bad *InvalidDocumentError
	if errors.As(err, &bad) {
		return bad.Issues, nil
	}
	return nil, err
}
