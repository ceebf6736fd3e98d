package embedding

import (
	"errors"
	"fmt"
)

// Errors of Embed, matched with errors.Is.
var (
	// ErrQueueFull means that Config.Queue requests are waiting already, or that the
	// request gave way to one of a client with fewer.
	ErrQueueFull = errors.New("embedding: the queue is full")

	// ErrClosed means that the engine is shutting down or closed.
	ErrClosed = errors.New("embedding: shutting down")

	// ErrTimeout means that the request exceeded its time limit.
	ErrTimeout = errors.New("embedding: time limit exceeded")

	// ErrNotFinite means that the model computed infinity or NaN, because of its
	// weights or of a data type with too small a range.
	ErrNotFinite = errors.New("embedding: the model computed infinity or NaN")
)

// An InputError reports an invalid input.
type InputError struct {
	Index  int // of the input in its request
	Tokens int // its length; 0: empty
	Limit  int // the maximum length
	Token  int32
	Vocab  int // size of the vocabulary, if Token is outside of it; 0: the length is wrong
	Bytes  int // length of the text, if that alone is too much, so that it was not tokenized
}

// Error implements error.
func (e *InputError) Error() string {
	switch {
	case e.Vocab > 0:
		return fmt.Sprintf("embedding: input %d has the token %d, the vocabulary ends at %d", e.Index, e.Token, e.Vocab-1)
	case e.Bytes > 0:
		return fmt.Sprintf("embedding: input %d has %d bytes, more than any text of at most %d tokens", e.Index, e.Bytes, e.Limit)
	case e.Tokens == 0:
		return fmt.Sprintf("embedding: input %d has no tokens", e.Index)
	}
	return fmt.Sprintf("embedding: input %d has %d tokens, the model reads at most %d", e.Index, e.Tokens, e.Limit)
}

// A SizeError reports that a request is too large as a whole.
type SizeError struct {
	What  string // "inputs", "tokens"
	Count int
	Limit int
}

// Error implements error.
func (e *SizeError) Error() string {
	return fmt.Sprintf("embedding: %d %s in one request, at most %d are possible", e.Count, e.What, e.Limit)
}
