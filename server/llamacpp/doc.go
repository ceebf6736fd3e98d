// Package llamacpp speaks the dialect of llama.cpp's server, llama-server: native completions with the probabilities of
// tokens, tokens of texts and texts of tokens, prompts as the chat template writes them, code filled in between two texts,
// and what programs that supervise such a server ask for.
//
// Out-of-range values of sampler options are brought into their range with a warning, as that server does without one.
// What would change a text and isn't offered is refused by name.
package llamacpp

import (
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/registry"
)

// Handlers answers in llama-server's dialect.
type Handlers struct {
	*generation.Service
	SlotFolder string // for slots that are saved; "": none are
}

// Build is what the server calls itself where llama-server has the number of its build.
func Build(version string) string { return "stencil-" + version }

// contextOf returns the tokens that one text of a model may have.
func contextOf(m *registry.Model) int { return m.Text.ContextLimit() }
