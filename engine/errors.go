package engine

import (
	"errors"
	"fmt"
)

// Errors of Submit and of streams, matched with errors.Is.
var (
	// ErrQueueFull: as many requests wait as Config.Queue allows.
	ErrQueueFull = errors.New("engine: the queue is full")

	// ErrClosed: the engine is shutting down or has.
	ErrClosed = errors.New("engine: shutting down")

	// ErrTimeout: the request's own time limit ended it.
	ErrTimeout = errors.New("engine: time limit exceeded")

	// ErrEmptyPrompt: the prompt has no tokens, and the model starts from at
	// least one.
	ErrEmptyPrompt = errors.New("engine: the prompt has no tokens")
)

// A BudgetError says that not even the shortest document that the constraint
// allows fits into the tokens that are there for it.
type BudgetError struct {
	Minimum int // tokens that the shortest document needs
	Budget  int // tokens that there are
}

// Error implements error.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("engine: the shortest document that fits the constraint needs %d tokens, the budget is %d", e.Minimum, e.Budget)
}

// A ContextError says that a prompt leaves no room in the model's context.
type ContextError struct {
	Prompt int // tokens of the prompt
	Limit  int // tokens that the context holds
}

// Error implements error.
func (e *ContextError) Error() string {
	return fmt.Sprintf("engine: the prompt has %d tokens, the context holds %d", e.Prompt, e.Limit)
}

// A ConstraintError says that the constraint could not be followed to the end:
// one of its limits was exceeded in the middle of a document.
type ConstraintError struct {
	Offset int // bytes of text before it
	Cause  error
}

// Error implements error.
func (e *ConstraintError) Error() string {
	return fmt.Sprintf("engine: constraint at byte %d of the text: %v", e.Offset, e.Cause)
}

// Unwrap returns the cause.
func (e *ConstraintError) Unwrap() error { return e.Cause }

// A LogitsError says that a model computes logits that are no numbers, because
// its weights or those of an adapter are none.
type LogitsError struct {
	Model string // its file, or its name if there is none
}

// Error implements error.
func (e *LogitsError) Error() string {
	return fmt.Sprintf("engine: the model %s computes logits that are not finite numbers: its weights or an adapter's are damaged", e.Model)
}
