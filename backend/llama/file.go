package llama

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/vocab"
)

// file is the header of a model file; its weights include those of the other parts of a split
// model.
type file struct {
	path    string
	header  *vocab.GGUF
	arch    string
	weights int64 // bytes of all tensors
}

// openFile reads the header of the GGUF file at path and checks that all of its tensors are
// present. Overrides apply to every use of the header.
func openFile(path string, overrides ...Override) (*file, error) {
	g, err := openPart(path)
	if err != nil {
		return nil, err
	}
	for _, o := range overrides {
		value, err := o.value()
		if err != nil {
			return nil, fmt.Errorf("llama: override: %w", err)
		}
		if g, err = g.Override(o.Key, value); err != nil {
			return nil, fmt.Errorf("llama: %s: override: %w", path, err)
		}
	}
	f := &file{path: path, header: g, arch: g.Str("general.architecture"), weights: tensorBytes(g)}
	if f.arch == "" {
		return nil, fmt.Errorf("llama: %s: %w: it names no architecture", path, backend.ErrNotModel)
	}
	if len(g.Tensors) == 0 {
		return nil, fmt.Errorf("llama: %s: %w: it holds no weights", path, backend.ErrNotModel)
	}
	parts, err := otherParts(path, g)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		g, err := openPart(p)
		if err != nil {
			return nil, err
		}
		f.weights += tensorBytes(g)
	}
	return f, nil
}

func openPart(path string) (*vocab.GGUF, error) {
	// Errors of os.Stat, such as fs.ErrNotExist, are kept.
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("llama: %w", err)
	}
	if st.IsDir() {
		return nil, fmt.Errorf("llama: %s: %w: it is a folder", path, backend.ErrNotModel)
	}
	g, err := vocab.OpenGGUF(path)
	if err == nil {
		err = g.CheckTensors()
	}
	var pathErr *os.PathError
	switch {
	case err == nil:
		return g, nil
	case errors.As(err, &pathErr):
		return nil, fmt.Errorf("llama: %w", err)
	case errors.Is(err, vocab.ErrTruncated) && hasMagic(path):
		return nil, fmt.Errorf("llama: %s: %w: it has %d bytes: %w", path, backend.ErrTruncated, st.Size(), err)
	}
	return nil, fmt.Errorf("llama: %s: %w: %w", path, backend.ErrNotModel, err)
}

// hasMagic reports whether a file begins with the GGUF magic.
func hasMagic(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [4]byte
	n, _ := f.Read(b[:])
	return string(b[:n]) == "GGUF"
}

func tensorBytes(g *vocab.GGUF) int64 {
	var n int64
	for _, t := range g.Tensors {
		n += max(t.Size, 0)
	}
	return n
}

// partName matches llama.cpp's names for the parts of a split model.
var partName = regexp.MustCompile(`^(.*)-(\d{5})-of-(\d{5})\.gguf$`)

// otherParts returns the paths of the other parts, given the first one.
func otherParts(path string, g *vocab.GGUF) ([]string, error) {
	count, _ := g.Int("split.count")
	if count < 2 {
		return nil, nil
	}
	dir, base := filepath.Split(path)
	m := partName.FindStringSubmatch(base)
	if m == nil {
		return nil, fmt.Errorf("llama: %s: %w: one of %d parts, but not named NAME-00001-of-%05d.gguf", path, backend.ErrNotModel, count, count)
	}
	if no, _ := strconv.Atoi(m[2]); no != 1 {
		return nil, fmt.Errorf("llama: %s: %w: part %d of %d; give the first", path, backend.ErrNotModel, no, count)
	}
	if total, _ := strconv.ParseInt(m[3], 10, 64); total != count {
		return nil, fmt.Errorf("llama: %s: %w: its name and its header differ about the number of parts", path, backend.ErrNotModel)
	}
	var out []string
	for i := int64(2); i <= count; i++ {
		out = append(out, fmt.Sprintf("%s%s-%05d-of-%05d.gguf", dir, m[1], i, count))
	}
	return out, nil
}

// number returns the value of a key below the architecture's name; for an array with one number
// per layer, the largest.
func (f *file) number(key string) int64 {
	v, ok := f.header.Get(f.arch + "." + key)
	if !ok {
		return 0
	}
	if n, ok := v.Int(); ok {
		return n
	}
	var most int64
	for i := range v.Len() {
		n, _ := v.At(i).Int()
		most = max(most, n)
	}
	return most
}

// info describes the model as far as the header does.
func (f *file) info() backend.Info {
	g := f.header
	info := backend.Info{
		Backend:       "llama.cpp",
		Path:          f.path,
		Name:          g.Str("general.name"),
		Description:   g.Str("general.description"),
		Architecture:  f.arch,
		Quantization:  f.quantization(),
		Bytes:         uint64(f.weights),
		ContextLength: int(f.number("context_length")),
		Layers:        int(f.number("block_count")),
		Width:         int(f.number("embedding_length")),
		Heads:         int(f.number("attention.head_count")),
		KVHeads:       int(f.number("attention.head_count_kv")),
		Sampling:      f.sampling(),
	}
	for _, t := range g.Tensors {
		info.Parameters += uint64(t.Elements())
	}
	if info.Name == "" {
		base := filepath.Base(f.path)
		info.Name = base[:len(base)-len(filepath.Ext(base))]
	}
	if info.KVHeads == 0 {
		info.KVHeads = info.Heads
	}
	return info
}

// samplingKeys are the number keys under general.sampling that llama.cpp reads, with the names
// of options in requests.
var samplingKeys = map[string]string{
	"temp": "temperature", "top_k": "top_k", "top_p": "top_p", "min_p": "min_p",
	"penalty_repeat": "repeat_penalty", "penalty_last_n": "repeat_last_n",
	"xtc_probability": "xtc_probability", "xtc_threshold": "xtc_threshold",
	"mirostat": "mirostat", "mirostat_tau": "mirostat_tau", "mirostat_eta": "mirostat_eta",
}

// sampling returns the file's sampling defaults. Values that are not finite numbers are
// omitted.
func (f *file) sampling() map[string]any {
	out := map[string]any{}
	for key, name := range samplingKeys {
		v, ok := f.header.Get("general.sampling." + key)
		if !ok {
			continue
		}
		if n, ok := v.Int(); ok {
			out[name] = n
		} else if x, ok := v.Float(); ok && !math.IsNaN(x) && !math.IsInf(x, 0) {
			out[name] = x
		}
	}
	if order := f.header.Str("general.sampling.sequence"); order != "" {
		out["samplers"] = strings.Split(order, ";")
	}
	return out
}

// fileTypes are the values of general.file_type, from llama.h.
var fileTypes = map[int64]string{
	0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1",
	10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M",
	16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S",
	22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M",
	28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
	39: "NVFP4", 40: "Q1_0", 41: "Q2_0",
}

// quantization returns the type of the weights: the file's value, else the type with the most
// bytes.
func (f *file) quantization() string {
	if n, ok := f.header.Int("general.file_type"); ok && fileTypes[n] != "" {
		return fileTypes[n]
	}
	var best vocab.TensorType
	bytes := map[vocab.TensorType]int64{}
	for _, t := range f.header.Tensors {
		if bytes[t.Type] += max(t.Size, 0); bytes[t.Type] > bytes[best] {
			best = t.Type
		}
	}
	if len(bytes) == 0 {
		return ""
	}
	return best.String()
}
