package models

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"stencil/vocab"
)

// llama is the shape of a model of the llama architecture.
type llama struct {
	layers, width, heads, kvHeads, ff, context int

	eps, base float32 // of the norms and of the rotary frequencies
}

// describe writes the keys that say what a model is.
func (l llama) describe(g *Writer, name string, typ Type) {
	g.String("general.architecture", "llama")
	g.String("general.type", "model")
	g.String("general.name", name)
	g.Uint32("general.quantization_version", 2)
	g.Uint32("general.file_type", types[typ].file)
	g.Uint32("llama.context_length", uint32(l.context))
	g.Uint32("llama.embedding_length", uint32(l.width))
	g.Uint32("llama.block_count", uint32(l.layers))
	g.Uint32("llama.feed_forward_length", uint32(l.ff))
	g.Uint32("llama.attention.head_count", uint32(l.heads))
	g.Uint32("llama.attention.head_count_kv", uint32(l.kvHeads))
	g.Float32("llama.attention.layer_norm_rms_epsilon", l.eps)
	g.Uint32("llama.rope.dimension_count", uint32(l.width/l.heads))
	g.Float32("llama.rope.freq_base", l.base)
}

// A namedShape is a tensor of a model; the fastest running dimension, the
// inputs of a matrix, stands first.
type namedShape struct {
	name  string
	shape []int64
}

// tensors returns the tensors of a model in the order of the file. With tied,
// the output's matrix is the embedding's.
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
// path is for errors.
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

// create writes a file that appears only when it is whole.
func create(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	defer os.Remove(f.Name()) // fails once it has been renamed
	err = write(f)
	if err == nil {
		err = f.Chmod(0o644) // CreateTemp makes it unreadable for others
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
