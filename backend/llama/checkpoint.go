//go:build llama && cgo

package llama

// #include "shim.h"
import "C"

import (
	"encoding/json"

	"github.com/stencil-json/stencil/backend"
)

// Rewinds implements backend.Context. Sliding windows keep all their cells, see
// stencil_ctx_new.
func (c *cContext) Rewinds() bool { return !c.model.recurrent }

// StateKey implements backend.Context.
func (c *cContext) StateKey() (string, error) {
	// llama.cpp doesn't document whether other versions can read its states, so
	// every version has its own key.
	rope, err := json.Marshal(c.model.opt.Rope)
	if err != nil {
		return "", err
	}
	return stateKey(c.model.file.path, c.model.opt.LoRA, string(rope), c.model.opt.Override,
		stateMagic, Version(), int(C.LLAMA_STATE_SEQ_VERSION), c.p.CacheType, c.p.FlashAttention == backend.FlashOff, c.rotation())
}
