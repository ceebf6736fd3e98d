package engine

import (
	"errors"
	"fmt"
)

// Errors of Submit and of streams, matched with errors.Is.
var (
	// ErrQueueFull means that Config.Queue requests are waiting already, or that
	// the request has made room for one of a client with fewer waiting.
	ErrQueueFull = errors.New("engine: the queue is full")

	// ErrClosed means that the engine is shutting down or closed.
	ErrClosed = errors.New("engine: shutting down")

	// ErrTimeout means that the request exceeded its own time limit.
	ErrTimeout = errors.New("engine: time limit exceeded")

	// ErrEmptyPrompt means that the prompt has no tokens; the model needs at
	// least one to start from.
	ErrEmptyPrompt = errors.New("engine: the prompt has no tokens")
)

// A BudgetError reports that even the shortest document that the constraint
// allows exceeds the available tokens.
type BudgetError struct {
	Minimum int  // tokens that the shortest document needs
	Budget  int  // tokens available
	Context bool // they are what the prompt leaves of the context, less than Request.MaxTokens
}

// Error implements error.
func (e *BudgetError) Error() string {
	return fmt.Sprintf("engine: the shortest document that fits the constraint needs %d tokens, the budget is %d", e.Minimum, e.Budget)
}

// A ContextError reports that a prompt leaves no room in the model's context.
type ContextError struct {
	Prompt int // tokens of the prompt
	Limit  int // tokens that the context holds
}

// Error implements error.
func (e *ContextError) Error() string {
	return fmt.Sprintf("engine: the prompt has %d tokens, the context holds %d", e.Prompt, e.Limit)
}

// A ConstraintError reports that the constraint could not be followed to the
// end because one of its limits was exceeded within a document.
type ConstraintError struct {
	Offset int // bytes of text before it; -1: it is at no place of the text
	Cause  error
}

// Error implements error.
func (e *ConstraintError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("engine: constraint: %v", e.Cause)
	}
	return fmt.Sprintf("engine: constraint at byte %d of the text: %v", e.Offset, e.Cause)
}

// Unwrap returns the cause.
func (e *ConstraintError) Unwrap() error { return e.Cause }

// A LogitsError reports that a model computes logits that are not finite
// numbers, because its weights or those of an adapter are damaged.
type LogitsError struct {
	Model string // file name, or the name of the model if it has no file
}

// Error implements error.
func (e *LogitsError) Error() string {
	return fmt.Sprintf("engine: the model %s computes logits that are not finite numbers: its weights or an adapter's are damaged", e.Model)
}
