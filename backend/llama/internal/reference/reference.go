//go:build llama && cgo

package reference

// #include <stdlib.h>
// #include "bare.h"
import "C"

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/stencil-json/stencil/backend/llama/internal/capi"
)

// open opens llama.cpp, unless package llama has done so. It panics without the
// library, since no test that needs llama.cpp can continue.
func open() {
	if _, err := capi.Open(nil); err != nil {
		panic(err)
	}
}

// Quiet silences llama.cpp's log for the whole process.
func Quiet() {
	open()
	C.bare_quiet()
}

// Bare is a model with a generation loop written in C.
type Bare struct{ b *C.struct_bare }

// OpenBare loads a model on the CPU with a context of the given number of
// tokens, with or without flash attention.
func OpenBare(path string, context, threads int, flash bool) (*Bare, error) {
	open()
	b := (*C.struct_bare)(C.calloc(1, C.sizeof_struct_bare))
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	if C.bare_open(b, cpath, C.int32_t(context), C.int32_t(threads), C.bool(flash)) != 0 {
		C.free(unsafe.Pointer(b))
		return nil, fmt.Errorf("reference: %s cannot be loaded", path)
	}
	return &Bare{b}, nil
}

// Close frees the model.
func (b *Bare) Close() {
	C.bare_close(b.b)
	C.free(unsafe.Pointer(b.b))
}

// Time is the duration of a run: wall time, and CPU time of the process, which
// other programs disturb less.
type Time struct{ Wall, CPU time.Duration }

// Greedy decodes a prompt and then generates n tokens greedily. It returns them
// and the time they took, without the prompt.
func (b *Bare) Greedy(prompt []int32, n int) ([]int32, Time, error) {
	out := make([]int32, n)
	var wall, cpu C.int64_t
	if C.bare_greedy(b.b, ints(prompt), C.int32_t(len(prompt)), ints(out), C.int32_t(n), &wall, &cpu) != 0 {
		return nil, Time{}, errors.New("reference: decode failed")
	}
	return out, Time{time.Duration(wall), time.Duration(cpu)}, nil
}

// CPU returns the CPU time of the process.
func CPU() time.Duration { return time.Duration(C.bare_cpu_ns()) }

func ints(s []int32) *C.int32_t { return (*C.int32_t)(unsafe.SliceData(s)) }

// Quantise returns row in the ggml format with the given number.
func Quantise(ggmlType uint32, row []float32) []byte {
	open()
	t := C.int(ggmlType)
	out := make([]byte, int(C.ref_row_size(t, C.int64_t(len(row)))))
	C.ref_quantise(t, (*C.float)(&row[0]), unsafe.Pointer(&out[0]), C.int64_t(len(row)))
	return out
}

// Half returns x in half precision.
func Half(x float32) uint16 {
	open()
	return uint16(C.ref_half(C.float(x)))
}

// Vocab is a vocabulary as llama.cpp reads it.
type Vocab struct{ v *C.struct_ref_vocab }

// OpenVocab reads the vocabulary of a GGUF file.
func OpenVocab(path string) (*Vocab, error) {
	open()
	C.ref_init()
	v := (*C.struct_ref_vocab)(C.calloc(1, C.sizeof_struct_ref_vocab))
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	if !C.ref_open(v, cpath) {
		C.free(unsafe.Pointer(v))
		return nil, fmt.Errorf("reference: %s cannot be loaded", path)
	}
	return &Vocab{v}, nil
}

// Close frees the vocabulary.
func (v *Vocab) Close() {
	C.ref_free(v.v)
	C.free(unsafe.Pointer(v.v))
}

// Len returns the number of tokens.
func (v *Vocab) Len() int { return int(C.ref_n_tokens(v.v)) }

// Tokenize calls llama_tokenize: addSpecial adds BOS and EOS as the file says,
// parseSpecial parses control tokens written in the text.
func (v *Vocab) Tokenize(text string, addSpecial, parseSpecial bool) []int32 {
	data := append([]byte(text), 0) // room for a pointer to an empty text
	dst := make([]int32, len(text)+8)
	for {
		n := C.ref_tokenize(v.v, (*C.char)(unsafe.Pointer(&data[0])), C.int32_t(len(text)),
			ints(dst), C.int32_t(len(dst)), C.bool(addSpecial), C.bool(parseSpecial))
		if n >= 0 {
			return dst[:n]
		}
		dst = make([]int32, -n)
	}
}

// Piece calls llama_token_to_piece without stripping spaces: it returns the text
// of a token, and that of control tokens if special is set.
func (v *Vocab) Piece(id int32, special bool) []byte {
	dst := make([]byte, 64)
	for {
		n := C.ref_piece(v.v, C.int32_t(id), (*C.char)(unsafe.Pointer(&dst[0])), C.int32_t(len(dst)), C.bool(special))
		if n >= 0 {
			return dst[:n]
		}
		dst = make([]byte, -n)
	}
}

// Detokenize calls llama_detokenize.
func (v *Vocab) Detokenize(ids []int32, removeSpecial, unparseSpecial bool) []byte {
	if len(ids) == 0 {
		return nil
	}
	dst := make([]byte, 16*len(ids)+16)
	for {
		n := C.ref_detokenize(v.v, ints(ids), C.int32_t(len(ids)), (*C.char)(unsafe.Pointer(&dst[0])), C.int32_t(len(dst)),
			C.bool(removeSpecial), C.bool(unparseSpecial))
		if n >= 0 {
			return dst[:n]
		}
		dst = make([]byte, -n)
	}
}

// Text returns the text of a token in the file.
func (v *Vocab) Text(id int32) string {
	return C.GoString(C.ref_text(v.v, C.int32_t(id)))
}

// Attr returns the token's attributes, a bitwise or of LLAMA_TOKEN_ATTR_
// constants.
func (v *Vocab) Attr(id int32) int {
	return int(C.ref_attr(v.v, C.int32_t(id)))
}

// IsEOG reports whether a token ends generation.
func (v *Vocab) IsEOG(id int32) bool { return bool(C.ref_is_eog(v.v, C.int32_t(id))) }

// Special returns the IDs of the BOS, EOS and EOT tokens, -1 if there is none.
func (v *Vocab) Special() (bos, eos, eot int32) {
	return int32(C.ref_bos(v.v)), int32(C.ref_eos(v.v)), int32(C.ref_eot(v.v))
}

// AddBOS reports whether texts begin with the BOS token.
func (v *Vocab) AddBOS() bool { return bool(C.ref_add_bos(v.v)) }

// AddEOS reports whether texts end with the EOS token.
func (v *Vocab) AddEOS() bool { return bool(C.ref_add_eos(v.v)) }
