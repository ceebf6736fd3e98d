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

// A Grammar is llama.cpp's own grammar sampler at some place of a text. It is
// here to be measured beside this module's constraint engine, and used by one
// goroutine at a time.
type Grammar struct{ ptr *C.struct_stencil_grammar }

// NewGrammar reads a grammar in llama.cpp's format, whose rule "root" is where
// texts begin. The model must be one that Load returned, and stay open.
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

// Mask sets the bits of the tokens that may come next in dst, which is empty
// and has one for each token of the vocabulary.
func (g *Grammar) Mask(dst vocab.Bitset) error {
	defer runtime.KeepAlive(g)
	if !C.stencil_grammar_mask(g.ptr, (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(dst)))) {
		return errors.New("llama: grammar: " + C.GoString(&g.ptr.err.text[0]))
	}
	return nil
}

// Accept moves on by a token that may come next.
func (g *Grammar) Accept(token int32) error {
	defer runtime.KeepAlive(g)
	if !C.stencil_grammar_accept(g.ptr, C.int32_t(token)) {
		return errors.New("llama: grammar: " + C.GoString(&g.ptr.err.text[0]))
	}
	return nil
}
