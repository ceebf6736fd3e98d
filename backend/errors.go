package backend

import "errors"

// Errors of a context. They are matched with errors.Is; the text that wraps
// them says which sequence, entry or size it was about.
var (
	// ErrNoSlot: the KV cache has no room for the batch. Removing a sequence
	// makes room; nothing else about the context changed.
	ErrNoSlot = errors.New("backend: no room left in the KV cache")

	// ErrAborted: the context.Context of a Decode ended before it did.
	ErrAborted = errors.New("backend: decode aborted")

	// ErrBatch: the batch breaks a rule; a mistake of the caller.
	ErrBatch = errors.New("backend: invalid batch")

	// ErrState: the bytes given to SetSeqState are not a state of this model.
	ErrState = errors.New("backend: not a saved sequence of this model")

	// ErrClosed: the model or context was closed.
	ErrClosed = errors.New("backend: closed")

	// ErrBusy: a model was closed while contexts over it are open.
	ErrBusy = errors.New("backend: contexts of the model are still open")
)

// Errors of loading a model or making a context.
var (
	// ErrNotModel: the file is not of the format that the backend reads.
	ErrNotModel = errors.New("backend: not a model file")

	// ErrTruncated: the file ends before what its header announces.
	ErrTruncated = errors.New("backend: the model file is truncated")

	// ErrDamaged: the file is well-formed, but what it says contradicts itself
	// or ends the process that computes with it.
	ErrDamaged = errors.New("backend: the model file is damaged")

	// ErrArchitecture: the file is well-formed but of an architecture that
	// the backend does not know.
	ErrArchitecture = errors.New("backend: unknown model architecture")

	// ErrMemory: weights or cache do not fit into memory.
	ErrMemory = errors.New("backend: not enough memory")

	// ErrNotBuilt: this program was built without the backend.
	ErrNotBuilt = errors.New("backend: not built in")
)
