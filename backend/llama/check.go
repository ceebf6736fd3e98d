package llama

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/vocab"
)

// llama.cpp ends the process (GGML_ASSERT) over some properties of a file that it
// assumes. Those that hold for all architectures are checked here before it sees
// the file. What it rejects with an error of its own, such as a tensor of the
// wrong shape, is left to it.

// maxExperts is the most experts that llama.cpp supports, LLAMA_MAX_EXPERTS.
const maxExperts = 1024

// ropeScalings are the valid values of ARCH.rope.scaling.type.
var ropeScalings = []string{"none", "linear", "yarn", "longrope"}

// check looks for contradictions in the header. Its errors match
// backend.ErrDamaged.
func (f *file) check() error {
	for _, check := range []func() error{f.checkLayers, f.checkExperts, f.checkNumbers, f.checkTexts, f.checkShapes} {
		if err := check(); err != nil {
			return fmt.Errorf("llama: %s: %w: %w", f.path, backend.ErrDamaged, err)
		}
	}
	return nil
}

// wrong returns the error for the value of a key below the architecture's name.
func (f *file) wrong(key, format string, args ...any) error {
	return fmt.Errorf("%.80s.%s is %s", f.arch, key, fmt.Sprintf(format, args...))
}

// turning are prefixes of architectures with rotary positions in any case.
var turning = []string{"llama", "qwen", "gemma", "phi3", "mistral"}

func (f *file) checkLayers() error {
	if !f.has("block_count") {
		return nil // llama.cpp reports it
	}
	n := f.number("block_count")
	if n < 1 || n > maxLayers {
		return f.wrong("block_count", "%d, not from 1 to %d", n, maxLayers)
	}
	if drafting := f.number("nextn_predict_layers"); drafting < 0 || drafting > n {
		return f.wrong("nextn_predict_layers", "%d, the model has %d layers", drafting, n)
	}
	for _, key := range []string{"rope.dimension_count", "rope.dimension_count_swa"} {
		if n := f.number(key); n%2 != 0 {
			return f.wrong(key, "%d: what is turned comes in pairs", n)
		}
	}
	for _, key := range []string{"full_attention_interval", "ssm.inner_size"} {
		if f.has(key) && f.number(key) < 1 {
			return f.wrong(key, "%d, not positive", f.number(key))
		}
	}
	if inner, states := f.number("ssm.inner_size"), f.number("ssm.time_step_rank"); strings.HasPrefix(f.arch, "qwen3") && states > 0 && inner%states != 0 {
		return f.wrong("ssm.inner_size", "%d, no multiple of the %d heads", inner, states)
	}
	if f.has("rope.dimension_count") && f.number("rope.dimension_count") == 0 && slices.ContainsFunc(turning, func(arch string) bool { return strings.HasPrefix(f.arch, arch) }) {
		return f.wrong("rope.dimension_count", "0: llama.cpp would not end")
	}
	heads := f.layerNumbers("attention.head_count", n)
	for i, kv := range f.layerNumbers("attention.head_count_kv", n) {
		if kv != 0 && heads[i]%kv != 0 {
			return f.wrong("attention.head_count_kv", "%d in layer %d, no divisor of the %d heads", kv, i, heads[i])
		}
	}
	return nil
}

func (f *file) checkExperts() error {
	if f.arch == "hunyuan_vl" || f.arch == "hunyuan-dense" {
		return nil // one expert means none
	}
	n, used := f.number("expert_count"), f.number("expert_used_count")
	groups, groupsUsed := f.number("expert_group_count"), f.number("expert_group_used_count")
	switch {
	case n < 0 || n > maxExperts:
		return f.wrong("expert_count", "%d, not from 0 to %d", n, maxExperts)
	case used < 0 || used > n || used == 0 && n > 0:
		return f.wrong("expert_used_count", "%d, of %d experts", used, n)
	case groups < 0 || groups > 0 && groups >= n:
		return f.wrong("expert_group_count", "%d, of %d experts", groups, n)
	case groups > 1 && n%groups != 0:
		return f.wrong("expert_group_count", "%d, no divisor of the %d experts", groups, n)
	case groups > 1 && (groupsUsed < 1 || groupsUsed >= groups):
		return f.wrong("expert_group_used_count", "%d, of %d groups", groupsUsed, groups)
	}
	return nil
}

// checkNumbers checks the floating-point values below the architecture's name, and
// the names among them.
func (f *file) checkNumbers() error {
	for _, p := range f.header.Pairs {
		key, own := strings.CutPrefix(p.Key, f.arch+".")
		if !own {
			continue
		}
		if s, ok := p.Value.Str(); ok && key == "rope.scaling.type" && !slices.Contains(ropeScalings, s) {
			return f.wrong(key, "%.80q, none of %s", s, strings.Join(ropeScalings, ", "))
		}
		numbers := []vocab.Value{p.Value}
		if p.Value.Elem == vocab.TypeFloat32 || p.Value.Elem == vocab.TypeFloat64 {
			for i := range p.Value.Len() {
				numbers = append(numbers, p.Value.At(i))
			}
		}
		for _, v := range numbers {
			x, ok := v.Float()
			switch {
			case !ok:
			case math.IsNaN(x) || math.IsInf(x, 0) && !strings.Contains(key, "clamp"):
				return f.wrong(key, "%g", x)
			case x < 0 && strings.HasSuffix(key, "epsilon"):
				return f.wrong(key, "%g, less than 0", x)
			}
		}
	}
	return nil
}

// checkTexts looks for duplicate token texts.
func (f *file) checkTexts() error {
	v, _ := f.header.Get("tokenizer.ggml.tokens")
	list, ok := v.Strings()
	if !ok {
		return nil
	}
	seen := make(map[string]int32, list.Len())
	for i := range list.Len() {
		text, _, _ := strings.Cut(list.At(i), "\x00") // as C reads it
		if text == "" {
			text = fmt.Sprintf("[EMPTY_%d]", i) // as llama.cpp calls it
		}
		if first, twice := seen[text]; twice {
			return fmt.Errorf("tokenizer.ggml.tokens: tokens %d and %d are both %.80q", first, i, text)
		}
		seen[text] = int32(i)
	}
	return nil
}

func (f *file) checkShapes() error {
	for _, t := range f.header.Tensors {
		if slices.Min(t.Shape) < 1 {
			return fmt.Errorf("tensor %.80q has a dimension of %d", t.Name, slices.Min(t.Shape))
		}
		if t.Name == "token_embd.weight" {
			if err := f.checkEmbedding(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkEmbedding compares the embedding table with the list of tokens: llama.cpp
// would read beyond its end.
func (f *file) checkEmbedding(t vocab.TensorInfo) error {
	v, ok := f.header.Get("tokenizer.ggml.tokens")
	if !ok {
		return nil
	}
	if len(t.Shape) < 2 {
		return errors.New("token_embd.weight is not a matrix")
	}
	if rows := t.Shape[1]; rows != int64(v.Len()) {
		return fmt.Errorf("token_embd.weight has rows for %d tokens, tokenizer.ggml.tokens lists %d", rows, v.Len())
	}
	return nil
}

// clean returns a line that llama.cpp logged as one printable line, since it may
// contain names from the file.
func clean(line string) string {
	const longest = 300
	n := 0
	out := strings.Map(func(r rune) rune {
		switch n++; {
		case n > longest:
			return -1
		case r < ' ' || r == 0x7f || r == '\uFFFD':
			return '?'
		}
		return r
	}, strings.ToValidUTF8(line, "?"))
	if n > longest {
		out += "…"
	}
	return out
}
