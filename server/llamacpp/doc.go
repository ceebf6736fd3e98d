// Package llamacpp implements the dialect of llama.cpp's server, llama-server: native completions with token
// probabilities, tokenization and detokenization, rendering of chat templates, code infill, and the endpoints for
// programs that supervise such a server.
//
// Sampler options that are out of range are clamped with a warning; llama-server clamps them silently. Fields that
// would change a text but are not supported are refused by name.
package llamacpp

import (
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/registry"
)

// Handlers implements llama-server's dialect.
type Handlers struct {
	*generation.Service
	SlotFolder string // folder of saved slots; "": saving is refused
	SlotBytes  int64  // of all files in it
	SlotOwners bool   // each API key has slots and files of its own
	// Hold reserves memory for a client until the function that it returns is called.
	Hold func(client string, bytes int64) (release func(), err error)

	slotTurn chan struct{} // of capacity 1: who acts on a slot
}

// New returns handlers that save slots as far as the fields of h say.
func New(h Handlers) *Handlers {
	h.slotTurn = make(chan struct{}, 1)
	return &h
}

// Build returns the server's build name, where llama-server reports its build number.
func Build(version string) string { return "stencil-" + version }

// contextOf returns the context length of one text of a model.
func contextOf(m *registry.Model) int { return m.Text.ContextLimit() }
