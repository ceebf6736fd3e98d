package backend

import "errors"

// Errors of a context, matched with errors.Is. The wrapping error names the
// sequence, entry or size.
var (
	// ErrNoSlot means that the KV cache has no room for the batch. Removing a
	// sequence makes room; the context is otherwise unchanged.
	ErrNoSlot = errors.New("backend: no room left in the KV cache")

	// ErrAborted means that the context.Context of a Decode ended before it
	// did.
	ErrAborted = errors.New("backend: decode aborted")

	// ErrBatch means that the batch violates a rule, a mistake of the caller.
	ErrBatch = errors.New("backend: invalid batch")

	// ErrState means that the bytes given to SetSeqState are not a state of
	// this model.
	ErrState = errors.New("backend: not a saved sequence of this model")

	// ErrClosed means that the model or context was closed.
	ErrClosed = errors.New("backend: closed")

	// ErrBusy means that a model can't be closed because contexts are open.
	ErrBusy = errors.New("backend: contexts of the model are still open")
)

// Errors of loading a model or creating a context.
var (
	// ErrNotModel means that the file is not in the format that the backend
	// reads.
	ErrNotModel = errors.New("backend: not a model file")

	// ErrTruncated means that the file is shorter than its header says.
	ErrTruncated = errors.New("backend: the model file is truncated")

	// ErrDamaged means that the file is well-formed, but its contents are
	// contradictory or crash the process that computes with it.
	ErrDamaged = errors.New("backend: the model file is damaged")

	// ErrArchitecture means that the file is well-formed but its architecture
	// is unknown to the backend.
	ErrArchitecture = errors.New("backend: unknown model architecture")

	// ErrMemory means that weights or cache do not fit into memory.
	ErrMemory = errors.New("backend: not enough memory")

	// ErrNotBuilt means that this program was built without the backend.
	ErrNotBuilt = errors.New("backend: not built in")
)
