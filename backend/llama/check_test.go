package llama

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/internal/mutants"
	"github.com/stencil-json/stencil/models"
)

// TestCheck sets one thing in a model file to what llama.cpp would end the process
// over, or read beyond the end of something.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	number := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	fraction := func(x float64) []byte { return number(math.Float32bits(float32(x))) }
	for _, c := range []struct {
		arch  string
		what  string
		value []byte
		text  string // "": it is valid
	}{
		{"llama", "llama.block_count", number(2), ""},
		{"llama", "llama.block_count", number(0), "llama.block_count is 0, not from 1 to 512"},
		{"llama", "llama.block_count", number(513), "llama.block_count is 513"},
		{"llama", "llama.attention.head_count_kv", number(3), "llama.attention.head_count_kv is 3 in layer 0, no divisor of the 4 heads"},
		{"llama", "llama.attention.layer_norm_rms_epsilon", fraction(-1), "llama.attention.layer_norm_rms_epsilon is -1"},
		{"llama", "llama.attention.layer_norm_rms_epsilon", fraction(math.NaN()), "llama.attention.layer_norm_rms_epsilon is NaN"},
		{"llama", "llama.rope.freq_base", fraction(math.Inf(1)), "llama.rope.freq_base is +Inf"},
		{"llama", "dimension 1 of token_embd.weight", number(639), "token_embd.weight has rows for 639 tokens, tokenizer.ggml.tokens lists 640"},
		{"llama", "dimension 0 of output_norm.weight", number(0), `tensor "output_norm.weight" has a dimension of 0`},
		{"qwen35", "qwen35.full_attention_interval", number(0), "qwen35.full_attention_interval is 0, not positive"},
		{"qwen35", "qwen35.ssm.inner_size", number(0), "qwen35.ssm.inner_size is 0, not positive"},
		{"qwen35", "qwen35.ssm.inner_size", number(7), "qwen35.ssm.inner_size is 7, no multiple"},
		{"qwen35", "qwen35.rope.dimension_count", number(0), "qwen35.rope.dimension_count is 0"},
		{"llama", "llama.rope.dimension_count", number(0), "llama.rope.dimension_count is 0"},
		{"gemma4", "gemma4.rope.dimension_count", number(7), "gemma4.rope.dimension_count is 7: "},
		{"qwen3moe", "qwen3moe.expert_count", number(1025), "qwen3moe.expert_count is 1025, not from 0 to 1024"},
		{"qwen3moe", "qwen3moe.expert_used_count", number(0), "qwen3moe.expert_used_count is 0, of 8 experts"},
		{"qwen3moe", "qwen3moe.expert_used_count", number(9), "qwen3moe.expert_used_count is 9, of 8 experts"},
	} {
		var b bytes.Buffer
		if err := models.Random(&b, models.RandomOptions{Arch: c.arch}); err != nil {
			t.Fatal(err)
		}
		data := b.Bytes()
		parts := mutants.Parts(data)
		i := slices.IndexFunc(parts, func(p mutants.Part) bool { return p.What == c.what })
		if i < 0 {
			t.Errorf("%s has no %s", c.arch, c.what)
			continue
		}
		copy(data[parts[i].At:], c.value)
		path := filepath.Join(dir, "checked.gguf")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := openFile(path)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		err = f.check()
		if c.text == "" {
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		if err == nil || !errors.Is(err, backend.ErrDamaged) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", c.what, err, c.text)
		}
	}
}

// TestCheckKeys writes keys that random models don't have.
func TestCheckKeys(t *testing.T) {
	for text, add := range map[string]func(w *models.Writer){
		"": func(w *models.Writer) {
			w.Strings("tokenizer.ggml.tokens", []string{"a", "b", ""})
			w.String("llama.rope.scaling.type", "yarn")
		},
		`tokens 1 and 3 are both "b"`:           func(w *models.Writer) { w.Strings("tokenizer.ggml.tokens", []string{"a", "b", "c", "b"}) },
		`tokens 0 and 1 are both "x"`:           func(w *models.Writer) { w.Strings("tokenizer.ggml.tokens", []string{"x\x00y", "x"}) },
		`tokens 0 and 1 are both "[EMPTY_1]"`:   func(w *models.Writer) { w.Strings("tokenizer.ggml.tokens", []string{"[EMPTY_1]", ""}) },
		`llama.rope.scaling.type is "sideways"`: func(w *models.Writer) { w.String("llama.rope.scaling.type", "sideways") },
		"llama.nextn_predict_layers is 3": func(w *models.Writer) {
			w.Uint32("llama.block_count", 2)
			w.Uint32("llama.nextn_predict_layers", 3)
		},
		"llama.attention.head_count_kv is 3 in layer 1": func(w *models.Writer) {
			w.Uint32("llama.block_count", 2)
			w.Uint32("llama.attention.head_count", 8)
			w.Int32s("llama.attention.head_count_kv", []int32{0, 3})
		},
		"llama.expert_group_count is 3, no divisor of the 8 experts": func(w *models.Writer) {
			w.Uint32("llama.expert_count", 8)
			w.Uint32("llama.expert_used_count", 2)
			w.Uint32("llama.expert_group_count", 3)
		},
		"llama.expert_group_used_count is 4, of 4 groups": func(w *models.Writer) {
			w.Uint32("llama.expert_count", 8)
			w.Uint32("llama.expert_used_count", 2)
			w.Uint32("llama.expert_group_count", 4)
			w.Uint32("llama.expert_group_used_count", 4)
		},
	} {
		w := new(models.Writer)
		w.String("general.architecture", "llama")
		add(w)
		if err := w.Tensor("x", models.F32, []int64{8}, func([]float32) {}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "m.gguf")
		var b bytes.Buffer
		if err := w.Write(&b, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := openFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.check(); (err == nil) != (text == "") || err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
}

func TestClean(t *testing.T) {
	long := strings.Repeat("ä", 400)
	for in, want := range map[string]string{
		"plain": "plain", "a\x00b\nc\x7f\xff": "a?b?c??", long: long[:600] + "…",
	} {
		if got := clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
