//go:build llama && cgo

package reference

// #cgo linux LDFLAGS: -lstdc++ -lm -ldl -lpthread -lrt
// #include <stdlib.h>
// #include "bare.h"
import "C"

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	// For their object files: libllama and ggml.
	_ "github.com/ollama/ollama/llama/llama.cpp/src"
	_ "github.com/ollama/ollama/ml/backend/ggml/ggml/src"
)

// Quiet silences llama.cpp's log for the whole process.
func Quiet() { C.bare_quiet() }

// Bare is a model in a generation loop written in C.
type Bare struct{ b *C.struct_bare }

// OpenBare loads a model on the CPU with a context of that many tokens, with
// flash attention or without.
func OpenBare(path string, context, threads int, flash bool) (*Bare, error) {
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

// Time is what a run took: on the clock, and of the process's CPU time, which
// other programs disturb less.
type Time struct{ Wall, CPU time.Duration }

// Greedy decodes a prompt and then n tokens, each the most probable one. It
// returns them and the time they took, the prompt not counted.
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

// Quantise returns row in one of ggml's formats, by its number.
func Quantise(ggmlType uint32, row []float32) []byte {
	t := C.enum_ggml_type(ggmlType)
	out := make([]byte, int(C.ggml_row_size(t, C.int64_t(len(row)))))
	C.ggml_quantize_chunk(t, (*C.float)(&row[0]), unsafe.Pointer(&out[0]), 0, 1, C.int64_t(len(row)), nil)
	return out
}

// Half returns x in half precision.
func Half(x float32) uint16 { return uint16(C.ggml_fp32_to_fp16(C.float(x))) }

// Vocab is a vocabulary as llama.cpp reads it.
type Vocab struct {
	model *C.struct_llama_model
	vocab *C.struct_llama_vocab
}

// OpenVocab reads the vocabulary of a GGUF file.
func OpenVocab(path string) (*Vocab, error) {
	C.llama_backend_init()
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	p := C.llama_model_default_params()
	p.vocab_only = true
	m := C.llama_model_load_from_file(cpath, p)
	if m == nil {
		return nil, fmt.Errorf("reference: %s cannot be loaded", path)
	}
	return &Vocab{m, C.llama_model_get_vocab(m)}, nil
}

// Close frees the vocabulary.
func (v *Vocab) Close() { C.llama_model_free(v.model) }

// Len returns the number of tokens.
func (v *Vocab) Len() int { return int(C.llama_vocab_n_tokens(v.vocab)) }

// Tokenize is llama_tokenize: addSpecial adds BOS and EOS as the file says,
// parseSpecial reads control tokens that are spelt out in the text.
func (v *Vocab) Tokenize(text string, addSpecial, parseSpecial bool) []int32 {
	data := append([]byte(text), 0) // room for a pointer to an empty text
	dst := make([]int32, len(text)+8)
	for {
		n := C.llama_tokenize(v.vocab, (*C.char)(unsafe.Pointer(&data[0])), C.int32_t(len(text)),
			ints(dst), C.int32_t(len(dst)), C.bool(addSpecial), C.bool(parseSpecial))
		if n >= 0 {
			return dst[:n]
		}
		dst = make([]int32, -n)
	}
}

// Piece is llama_token_to_piece without stripping spaces: what a token adds to
// a text, the spelling of control tokens if special is set.
func (v *Vocab) Piece(id int32, special bool) []byte {
	dst := make([]byte, 64)
	for {
		n := C.llama_token_to_piece(v.vocab, C.llama_token(id), (*C.char)(unsafe.Pointer(&dst[0])), C.int32_t(len(dst)), 0, C.bool(special))
		if n >= 0 {
			return dst[:n]
		}
		dst = make([]byte, -n)
	}
}

// Detokenize is llama_detokenize.
func (v *Vocab) Detokenize(ids []int32, removeSpecial, unparseSpecial bool) []byte {
	if len(ids) == 0 {
		return nil
	}
	dst := make([]byte, 16*len(ids)+16)
	for {
		n := C.llama_detokenize(v.vocab, ints(ids), C.int32_t(len(ids)), (*C.char)(unsafe.Pointer(&dst[0])), C.int32_t(len(dst)),
			C.bool(removeSpecial), C.bool(unparseSpecial))
		if n >= 0 {
			return dst[:n]
		}
		dst = make([]byte, -n)
	}
}

// Text returns the spelling of a token in the file.
func (v *Vocab) Text(id int32) string {
	return C.GoString(C.llama_vocab_get_text(v.vocab, C.llama_token(id)))
}

// Attr returns the token's attributes, an or of LLAMA_TOKEN_ATTR_ constants.
func (v *Vocab) Attr(id int32) int {
	return int(C.llama_vocab_get_attr(v.vocab, C.llama_token(id)))
}

// IsEOG tells whether a token ends the generation.
func (v *Vocab) IsEOG(id int32) bool { return bool(C.llama_vocab_is_eog(v.vocab, C.llama_token(id))) }

// Special returns the ids of the tokens with a role, -1 where there is none.
func (v *Vocab) Special() (bos, eos, eot int32) {
	return int32(C.llama_vocab_bos(v.vocab)), int32(C.llama_vocab_eos(v.vocab)), int32(C.llama_vocab_eot(v.vocab))
}

// AddBOS tells whether texts begin with the BOS token.
func (v *Vocab) AddBOS() bool { return bool(C.llama_vocab_get_add_bos(v.vocab)) }

// AddEOS tells whether texts end with the EOS token.
func (v *Vocab) AddEOS() bool { return bool(C.llama_vocab_get_add_eos(v.vocab)) }
