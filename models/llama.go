package models

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/stencil-json/stencil/vocab"
)

// llama has the sizes of a model of the llama architecture.
type llama struct {
	layers, width, heads, kvHeads, ff, context int

	eps, base float32 // of the norms and of the rotary frequencies
}

// keys writes the keys that describe the model.
func (l llama) keys(k keys) {
	k.num("context_length", l.context)
	k.num("embedding_length", l.width)
	k.num("block_count", l.layers)
	k.num("feed_forward_length", l.ff)
	k.num("attention.head_count", l.heads)
	k.num("attention.head_count_kv", l.kvHeads)
	k.float("attention.layer_norm_rms_epsilon", l.eps)
	k.num("rope.dimension_count", l.width/l.heads)
	k.float("rope.freq_base", l.base)
}

// A namedShape is a tensor of a model; the fastest-varying dimension, the
// inputs of a matrix, is first.
type namedShape struct {
	name  string
	shape []int64
}

// tensors returns the tensors of a model in the order of the file. With tied,
// the output matrix is the embedding matrix.
func (l llama) tensors(tokens int64, tied bool) []namedShape {
	width, ff := int64(l.width), int64(l.ff)
	kv := width / int64(l.heads) * int64(l.kvHeads)
	var out []namedShape
	add := func(name string, shape ...int64) { out = append(out, namedShape{name + ".weight", shape}) }
	add("token_embd", width, tokens)
	for i := range l.layers {
		at := func(name string) string { return fmt.Sprintf("blk.%d.%s", i, name) }
		add(at("attn_norm"), width)
		add(at("attn_q"), width, width)
		add(at("attn_k"), width, kv)
		add(at("attn_v"), width, kv)
		add(at("attn_output"), width, width)
		add(at("ffn_norm"), width)
		add(at("ffn_gate"), width, ff)
		add(at("ffn_up"), width, ff)
		add(at("ffn_down"), ff, width)
	}
	add("output_norm", width)
	if !tied {
		add("output", width, tokens)
	}
	return out
}

// copyVocab copies the keys of a tokenizer and returns the number of tokens.
// path is for error messages.
func (w *Writer) copyVocab(from *vocab.GGUF, path string) (int, error) {
	for _, p := range from.Pairs {
		if strings.HasPrefix(p.Key, "tokenizer.") {
			if err := w.Value(p.Key, p.Value); err != nil {
				return 0, err
			}
		}
	}
	list, _ := from.Get("tokenizer.ggml.tokens")
	if list.Len() == 0 {
		return 0, fmt.Errorf("models: %s holds no vocabulary", path)
	}
	return list.Len(), nil
}

// create writes a file that appears only when it is complete.
func create(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	defer os.Remove(f.Name()) // fails once it has been renamed
	err = write(f)
	if err == nil {
		err = f.Chmod(0o644) // CreateTemp denies others read access
	}
	if e := f.Close(); err == nil && e != nil {
		err = fmt.Errorf("models: %w", e)
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("models: %w", err)
	}
	return nil
}
