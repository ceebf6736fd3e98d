//go:build llama && cgo

package llama

// #cgo CXXFLAGS: -std=c++17
// #cgo linux LDFLAGS: -lstdc++ -lm -lpthread
// #include <stdlib.h>
// #include "shim_embed.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime/cgo"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama/internal/capi"
	"github.com/stencil-json/stencil/vocab"
)

// Built tells whether llama.cpp is part of this program.
const Built = true

// model implements backend.Model.
type model struct {
	ptr   *C.struct_llama_model
	vocab *vocab.Vocab
	info  backend.Info
	file  *file
	opt   LoadOptions
	loras []lora

	recurrent bool // some layers have state that can't be truncated
	embedding backend.EmbeddingInfo

	mu     sync.Mutex // guards closed against NewContext
	open   atomic.Int32
	closed bool
}

type lora struct {
	ptr   *C.struct_llama_adapter_lora
	scale C.float
}

// Load loads the GGUF file at path. If ctx ends first, loading stops and the
// error matches backend.ErrAborted. Other errors match backend.ErrNotModel,
// ErrTruncated, ErrArchitecture or ErrMemory if one of these is the cause;
// their text includes llama.cpp's error lines.
func Load(ctx context.Context, path string, opt LoadOptions) (backend.Model, error) {
	if err := start(); err != nil {
		return nil, err
	}
	if err := errors.Join(opt.Rope.Check(), opt.Split.Check()); err != nil {
		return nil, fmt.Errorf("llama: %w", err)
	}
	if len(gpus(opt.Devices)) == 0 {
		opt.GPULayers = 0 // all layers are on the CPU, regardless of the request
	}
	f, stamp, err := openStamped(path, opt)
	if err != nil {
		return nil, err
	}
	if !knownArch(f.arch) {
		return nil, fmt.Errorf("llama: %s: %w: %.80q is not known to llama.cpp %s", path, backend.ErrArchitecture, f.arch, Version())
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	embedding, err := f.embeds()
	if err != nil {
		return nil, err
	}
	v, err := vocab.FromGGUF(f.header)
	if err != nil {
		return nil, fmt.Errorf("llama: %s: %w", path, err)
	}
	if !opt.NoMemoryCheck {
		if err := checkWeights(f, opt); err != nil {
			return nil, err
		}
	}

	if opt.Trial != nil {
		if err := (&trial{f}).try(ctx, opt, stamp); err != nil {
			return nil, err
		}
	}

	m := &model{vocab: v, file: f, opt: opt}
	if err := m.load(ctx, path); err != nil {
		return nil, err
	}
	if n := int(C.stencil_n_tokens(m.ptr)); n != v.Len() {
		m.Close()
		return nil, fmt.Errorf("llama: %s: llama.cpp counts %d tokens, the file lists %d", path, n, v.Len())
	}
	if C.stencil_has_encoder(m.ptr) && C.stencil_has_decoder(m.ptr) || C.stencil_is_diffusion(m.ptr) {
		m.Close()
		return nil, fmt.Errorf("llama: %s: %w: %.80q is not an autoregressive text model", path, backend.ErrArchitecture, f.arch)
	}
	m.describeEmbedding(embedding)
	m.recurrent = bool(C.stencil_is_recurrent(m.ptr))
	for _, l := range opt.LoRA {
		if err := m.addLoRA(l); err != nil {
			m.Close()
			return nil, err
		}
	}
	if opt.Trial != nil {
		// A file that changed meanwhile must not pass for the one that was tried.
		if err := f.unchanged(opt, stamp); err != nil {
			m.Close()
			return nil, err
		}
	}
	m.describe()
	return m, nil
}

// knownArchs caches llama.cpp's answers about architectures.
var knownArchs sync.Map // of string to bool

// knownArch reports whether llama.cpp supports an architecture. Its API has no
// list of them, so it is given a model that consists only of the name; a test
// checks the wording of its answer.
func knownArch(name string) bool {
	if known, ok := knownArchs.Load(name); ok {
		return known.(bool)
	}
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	said := collectErrors(func() { C.stencil_probe_arch(cname) })
	known := !slices.ContainsFunc(said, func(line string) bool {
		return strings.Contains(line, "unknown model architecture")
	})
	knownArchs.Store(name, known)
	return known
}

// CheckArchitecture returns an error that matches [backend.ErrArchitecture] if
// llama.cpp can't load models of an architecture.
func CheckArchitecture(name string) error {
	if err := start(); err != nil {
		return err
	}
	if !knownArch(name) {
		return fmt.Errorf("llama: %w: %.80q is not known to llama.cpp %s", backend.ErrArchitecture, name, Version())
	}
	return nil
}

// loading is the data of the progress callback.
type loading struct {
	ctx      context.Context
	progress func(float64)
}

//export stencilProgress
func stencilProgress(done C.float, handle C.uintptr_t) C.bool {
	l := cgo.Handle(handle).Value().(*loading)
	if l.progress != nil {
		l.progress(float64(done))
	}
	return C.bool(l.ctx.Err() == nil)
}

// avoidsAMX reports whether weights must not be packed as the CPU's kernels for AMX want them. Only packing as a whole
// can be turned off.
//
// Latent attention (MLA) has a matrix for each head: llama.cpp 0.5.0 packs only the first, and aborts because the
// products have an operand that isn't contiguous. The sources of the module, linked into the program, unpack the wrong
// half of two tiles of Q4_0 and Q4_1 where a batch has 32 tokens or more.
func avoidsAMX(f *file, features string, linked bool) bool {
	if !slices.Contains(strings.Fields(features), "AMX_INT8") {
		return false
	}
	return f.has("attention.key_length_mla") || linked && slices.ContainsFunc(f.header.Tensors, func(t vocab.TensorInfo) bool {
		return t.Type.String() == "Q4_0" || t.Type.String() == "Q4_1"
	})
}

// mostPlacements exceeds the number of tensors of any model that are worth placing.
const mostPlacements = 4096

func (m *model) load(ctx context.Context, path string) error {
	if ctx.Err() != nil {
		return fmt.Errorf("llama: %s: %w: %w", path, backend.ErrAborted, context.Cause(ctx))
	}
	handle := cgo.NewHandle(&loading{ctx, m.opt.Progress})
	defer handle.Delete()

	p := (*C.struct_stencil_load_params)(C.calloc(1, C.sizeof_struct_stencil_load_params))
	defer C.free(unsafe.Pointer(p))
	p.handle = C.uintptr_t(handle)
	p.n_gpu_layers = C.int32_t(m.opt.GPULayers)
	if m.opt.GPULayers < 0 {
		p.n_gpu_layers = 1 << 30 // more than any model has
	}
	p.use_mmap = C.bool(!m.opt.NoMMap)
	p.use_mlock = C.bool(m.opt.Lock)
	p.check_tensors = C.bool(m.opt.CheckTensors)
	p.no_extra = C.bool(m.opt.noCopies || avoidsAMX(m.file, CPUFeatures(), capi.Static()))
	p.split_mode = -1
	if n := len(m.opt.Devices); n > 0 {
		names := cStrings(m.opt.Devices)
		defer names.free()
		p.devices, p.n_devices = names.ptr, C.int32_t(n)
	}

	if m.opt.GPULayers != 0 {
		s := &m.opt.Split
		p.split_mode, p.main_gpu = C.int32_t(slices.Index(splitModes, s.Mode)), C.int32_t(s.Main)
		if n := len(s.Tensors); n > 0 {
			p.tensor_split, p.n_split = (*C.float)(C.malloc(C.size_t(n)*C.sizeof_float)), C.int32_t(n)
			defer C.free(unsafe.Pointer(p.tensor_split))
			for i, x := range s.Tensors {
				unsafe.Slice(p.tensor_split, n)[i] = C.float(x)
			}
		}
	}
	if n := len(m.opt.Tensors); n > mostPlacements {
		return fmt.Errorf("llama: %d patterns of tensors, at most %d are possible", n, mostPlacements)
	} else if n > 0 {
		var patterns, buffers []string
		for _, t := range m.opt.Tensors {
			patterns, buffers = append(patterns, t.Pattern), append(buffers, t.Buffer)
		}
		cpatterns, cbuffers := cStrings(patterns), cStrings(buffers)
		defer cpatterns.free()
		defer cbuffers.free()
		p.patterns, p.buffers, p.n_patterns = cpatterns.ptr, cbuffers.ptr, C.int32_t(n)
	}
	overrides, err := cOverrides(m.opt.Override)
	if err != nil {
		return err
	}
	defer overrides.free()
	p.overrides, p.n_overrides = overrides.ptr, C.int32_t(overrides.n)

	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	var cerr C.struct_stencil_error
	said := collectErrors(func() { m.ptr = C.stencil_load(cpath, p, &cerr) })
	switch {
	case m.ptr != nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("llama: %s: %w: %w", path, backend.ErrAborted, context.Cause(ctx))
	}
	err = failure(path, "cannot be loaded", &cerr, said)
	return shortage(err, m.file.weights, m.opt)
}

// failure returns an error for a failed C call.
func failure(what, did string, cerr *C.struct_stencil_error, said []string) error {
	if text := C.GoString(&cerr.text[0]); text != "" {
		said = append(said, text)
	}
	if len(said) == 0 {
		return fmt.Errorf("llama: %s: %s", what, did)
	}
	for i, line := range said {
		said[i] = clean(line)
	}
	return fmt.Errorf("llama: %s: %s: %s", what, did, strings.Join(said, "; "))
}

// cOverrideList is a C array of overrides.
type cOverrideList struct {
	ptr *C.struct_stencil_override
	n   int
}

func cOverrides(list []Override) (out cOverrideList, err error) {
	if len(list) == 0 {
		return out, nil
	}
	out = cOverrideList{(*C.struct_stencil_override)(C.calloc(C.size_t(len(list)), C.sizeof_struct_stencil_override)), len(list)}
	for i, o := range list {
		value, err := o.value()
		if err != nil {
			out.free()
			return cOverrideList{}, err
		}
		c := &unsafe.Slice(out.ptr, out.n)[i]
		c.key = C.CString(o.Key)
		switch x := value.(type) {
		case int64:
			c.kind, c.integer = 'i', C.int64_t(x)
		case float64:
			c.kind, c.number = 'f', C.double(x)
		case bool:
			c.kind, c.truth = 'b', C.bool(x)
		case string:
			c.kind, c.text = 's', C.CString(x)
		}
	}
	return out, nil
}

func (c cOverrideList) free() {
	for _, x := range unsafe.Slice(c.ptr, c.n) {
		C.free(unsafe.Pointer(x.key))
		C.free(unsafe.Pointer(x.text))
	}
	C.free(unsafe.Pointer(c.ptr))
}

// cRope converts to the shim's struct.
func (r *Rope) cRope() C.struct_stencil_rope {
	value := func(x *float32) C.float {
		if x == nil {
			return -1
		}
		return C.float(*x)
	}
	return C.struct_stencil_rope{
		scaling: C.int32_t(slices.Index(ropeTypes, r.Scaling)), freq_base: C.float(r.FreqBase), freq_scale: C.float(r.FreqScale), original: C.uint32_t(r.Original),
		ext: value(r.Ext), attn: value(r.Attn), beta_fast: value(r.BetaFast), beta_slow: value(r.BetaSlow),
	}
}

// cStringList is a C array of C strings.
type cStringList struct {
	ptr **C.char
	n   int
}

func cStrings(list []string) cStringList {
	c := cStringList{(**C.char)(C.malloc(C.size_t(len(list)) * C.size_t(unsafe.Sizeof((*C.char)(nil))))), len(list)}
	for i, s := range list {
		unsafe.Slice(c.ptr, c.n)[i] = C.CString(s)
	}
	return c
}

func (c cStringList) free() {
	for _, p := range unsafe.Slice(c.ptr, c.n) {
		C.free(unsafe.Pointer(p))
	}
	C.free(unsafe.Pointer(c.ptr))
}

func (m *model) addLoRA(l LoRA) error {
	if l.Scale == 0 {
		l.Scale = 1
	}
	// llama.cpp leaks the memory of a damaged adapter file; check it first.
	f, err := openFile(l.Path)
	if err == nil {
		err = f.checkAdapter()
	}
	if err != nil {
		return fmt.Errorf("llama: LoRA adapter: %w", err)
	}
	cpath := C.CString(l.Path)
	defer C.free(unsafe.Pointer(cpath))
	var ptr *C.struct_llama_adapter_lora
	said := collectErrors(func() { ptr = C.stencil_lora_load(m.ptr, cpath) })
	if ptr == nil {
		return failure(l.Path, "is not an adapter for this model", &C.struct_stencil_error{}, said)
	}
	m.loras = append(m.loras, lora{ptr, C.float(l.Scale)})
	return nil
}

func (m *model) describe() {
	m.info = m.file.info()
	m.info.Parameters = uint64(C.stencil_n_params(m.ptr))
	m.info.Bytes = uint64(C.stencil_model_size(m.ptr))
	m.info.Devices = []string{"CPU"}
	if m.opt.GPULayers != 0 {
		for _, d := range gpus(m.opt.Devices) {
			m.info.Devices = append(m.info.Devices, d.Name)
		}
	}
}

// Vocab implements backend.Model.
func (m *model) Vocab() *vocab.Vocab { return m.vocab }

// Info implements backend.Model.
func (m *model) Info() backend.Info { return m.info }

// Close implements backend.Model.
func (m *model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return nil
	case m.open.Load() > 0:
		return backend.ErrBusy
	}
	m.closed = true
	for _, l := range m.loras {
		C.stencil_lora_free(l.ptr)
	}
	C.stencil_model_free(m.ptr)
	return nil
}

// NewContext implements backend.Model.
func (m *model) NewContext(p backend.ContextParams) (backend.Context, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, backend.ErrClosed
	}
	if !m.embedding.Generates {
		return nil, fmt.Errorf("llama: %s: %w: the model gives embeddings and writes no text", m.file.path, backend.ErrArchitecture)
	}
	chosen := p.Size != 0
	p = withDefaults(p, m.info.ContextLength)
	if err := checkParams(p); err != nil {
		return nil, err
	}
	if !chosen {
		p = fitContext(m.file, m.opt, p)
	}
	if !m.opt.NoMemoryCheck {
		if err := checkContext(m.file, m.opt, p); err != nil {
			return nil, err
		}
	}
	c, err := newContext(m, p)
	if err != nil {
		return nil, err
	}
	m.open.Add(1)
	return c, nil
}

func checkParams(p backend.ContextParams) error {
	maxSeqs := int(C.stencil_max_seqs()) // LLAMA_MAX_SEQ, llama.cpp's limit
	switch {
	case p.Size < 1 || p.MaxSeqs < 1 || p.MaxBatch < 1 || p.Threads < 1 || p.BatchThreads < 1:
		return errors.New("llama: context: size, sequences, batch and threads must be positive")
	case p.MaxSeqs > maxSeqs:
		return fmt.Errorf("llama: context: %d sequences, at most %d are possible", p.MaxSeqs, maxSeqs)
	case p.Size > mostCells:
		return fmt.Errorf("llama: context: %d cells, at most %d are possible", p.Size, mostCells)
	case p.Threads > C.GGML_MAX_N_THREADS || p.BatchThreads > C.GGML_MAX_N_THREADS:
		return fmt.Errorf("llama: context: more than %d threads", C.GGML_MAX_N_THREADS)
	}
	if _, ok := cacheTypes[p.CacheType]; !ok {
		return fmt.Errorf("llama: context: unknown cache type %q", p.CacheType)
	}
	switch p.FlashAttention {
	case backend.FlashAuto, backend.FlashOn:
	case backend.FlashOff:
		if cacheTypes[p.CacheType].quantised {
			return fmt.Errorf("llama: context: cache type %s needs flash attention, which is off", p.CacheType)
		}
	default:
		return fmt.Errorf("llama: context: unknown flash attention setting %q", p.FlashAttention)
	}
	return nil
}

// adapterKeys are the values of an adapter whose type llama.cpp takes for granted.
var adapterKeys = map[string]vocab.ValueType{
	"general.type": vocab.TypeString, "general.architecture": vocab.TypeString, "adapter.type": vocab.TypeString,
	"adapter.lora.alpha": vocab.TypeFloat32, "adapter.alora.invocation_tokens": vocab.TypeArray,
}

// unmultiplied are the types of tensors that ggml can't multiply by: it calls a function that is not there.
var unmultiplied = []string{"Q8_1", "Q8_K", "I8", "I16", "I32", "I64", "F64"}

// checkAdapter is check for a LoRA adapter.
func (f *file) checkAdapter() error {
	for _, p := range f.header.Pairs {
		if want, ok := adapterKeys[p.Key]; ok && p.Value.Type != want {
			return fmt.Errorf("llama: %s: %w: %s is of type %v, not %v", f.path, backend.ErrDamaged, p.Key, p.Value.Type, want)
		}
	}
	for _, x := range f.header.Tensors {
		if slices.Contains(unmultiplied, x.Type.String()) {
			return fmt.Errorf("llama: %s: %w: %.80s is of type %v, which no weights have", f.path, backend.ErrDamaged, x.Name, x.Type)
		}
	}
	return nil
}
