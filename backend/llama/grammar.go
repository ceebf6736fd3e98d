//go:build llama && cgo

package llama

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/vocab"
)

// A Grammar is llama.cpp's own grammar sampler at a position in a text. It
// exists for comparison with this module's constraint engine. It is not safe
// for concurrent use.
type Grammar struct{ ptr *C.struct_stencil_grammar }

// NewGrammar parses a grammar in llama.cpp's format, whose start rule is
// "root". The model must come from Load and stay open.
func NewGrammar(m backend.Model, text string) (*Grammar, error) {
	own, ok := m.(*model)
	if !ok {
		return nil, errors.New("llama: grammar: the model is not llama.cpp's")
	}
	ctext := C.CString(text)
	defer C.free(unsafe.Pointer(ctext))
	var g Grammar
	said := collectErrors(func() { g.ptr = C.stencil_grammar_new(own.ptr, ctext) })
	if g.ptr == nil {
		return nil, failure("grammar", "cannot be read", new(C.struct_stencil_error), said)
	}
	runtime.AddCleanup(&g, func(p *C.struct_stencil_grammar) { C.stencil_grammar_free(p) }, g.ptr)
	return &g, nil
}

// Mask sets the bits of the tokens that may come next in dst, which must be
// zero and have one bit for each token of the vocabulary.
func (g *Grammar) Mask(dst vocab.Bitset) error {
	defer runtime.KeepAlive(g)
	if !C.stencil_grammar_mask(g.ptr, (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(dst)))) {
		return errors.New("llama: grammar: " + C.GoString(&g.ptr.err.text[0]))
	}
	return nil
}

// Accept advances by a token that may come next.
func (g *Grammar) Accept(token int32) error {
	defer runtime.KeepAlive(g)
	if !C.stencil_grammar_accept(g.ptr, C.int32_t(token)) {
		return errors.New("llama: grammar: " + C.GoString(&g.ptr.err.text[0]))
	}
	return nil
}
