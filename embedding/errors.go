package embedding

import (
	"errors"
	"fmt"
)

// Errors of Embed, matched with errors.Is.
var (
	// ErrQueueFull: as many requests wait as Config.Queue allows.
	ErrQueueFull = errors.New("embedding: the queue is full")

	// ErrClosed: the engine is shutting down or has.
	ErrClosed = errors.New("embedding: shutting down")

	// ErrTimeout: the request's own time limit ended it.
	ErrTimeout = errors.New("embedding: time limit exceeded")

	// ErrNotFinite: the model computed a number that is none. It is the model's
	// failure: of its weights, or of a number format that is too narrow.
	ErrNotFinite = errors.New("embedding: the model computed infinity or NaN")
)

// An InputError says what is wrong with one input.
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

// A SizeError says that a request is too large as a whole.
type SizeError struct {
	What  string // "inputs", "tokens"
	Count int
	Limit int
}

// Error implements error.
func (e *SizeError) Error() string {
	return fmt.Sprintf("embedding: %d %s in one request, at most %d are possible", e.Count, e.What, e.Limit)
}
