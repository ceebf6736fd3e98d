package embedding

import (
	"errors"
	"fmt"
)

// Errors of Embed, matched with errors.Is.
var (
	// ErrQueueFull: Config.Queue requests are waiting already.
	ErrQueueFull = errors.New("embedding: the queue is full")

	// ErrClosed: the engine is shutting down or closed.
	ErrClosed = errors.New("embedding: shutting down")

	// ErrTimeout: the time limit of the request was exceeded.
	ErrTimeout = errors.New("embedding: time limit exceeded")

	// ErrNotFinite: the model computed infinity or NaN, because of its weights or
	// of a data type with too small a range.
	ErrNotFinite = errors.New("embedding: the model computed infinity or NaN")
)

// An InputError reports an invalid input.
type InputError struct {
	Index  int // of the input in its request
	Tokens int // its length; 0: it is empty
	Limit  int // the length that it may have
	Token  int32
	Vocab  int // tokens of the vocabulary, which Token is not in; 0: the length is wrong
}

// Error implements error.
func (e *InputError) Error() string {
	switch {
	case e.Vocab > 0:
		return fmt.Sprintf("embedding: input %d has the token %d, the vocabulary ends at %d", e.Index, e.Token, e.Vocab-1)
	case e.Tokens == 0:
		return fmt.Sprintf("embedding: input %d has no tokens", e.Index)
	}
	return fmt.Sprintf("embedding: input %d has %d tokens, the model reads at most %d", e.Index, e.Tokens, e.Limit)
}

// A SizeError means that a request is too large as a whole.
type SizeError struct {
	What  string // "inputs", "tokens"
	Count int
	Limit int
}

// Error implements error.
func (e *SizeError) Error() string {
	return fmt.Sprintf("embedding: %d %s in one request, at most %d are possible", e.Count, e.What, e.Limit)
}
