package llama

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/models"
)

// headerOf writes a model that consists of little more than a header.
func headerOf(t *testing.T, arch string, tensors []string, keys func(w *models.Writer)) *file {
	t.Helper()
	w := new(models.Writer)
	w.String("general.architecture", arch)
	w.Uint32(arch+".context_length", 700)
	if keys != nil {
		keys(w)
	}
	for _, name := range append(tensors, "token_embd.weight") {
		if err := w.Tensor(name, models.F32, []int64{8, 8}, func(row []float32) { clear(row) }); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "header.gguf")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(out, nil), out.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEmbeds(t *testing.T) {
	pooling := func(arch string, n uint32) func(*models.Writer) {
		return func(w *models.Writer) { w.Uint32(arch+".pooling_type", n) }
	}
	head := []string{"cls.output.weight"}
	for name, c := range map[string]struct {
		arch      string
		tensors   []string
		keys      func(w *models.Writer)
		pooling   backend.Pooling
		generates bool
		splits    bool
	}{
		"a decoder":              {"llama", nil, nil, backend.PoolingLast, true, true},
		"that says none":         {"llama", nil, pooling("llama", 0), backend.PoolingLast, true, true},
		"an encoder":             {"nomic-bert", nil, nil, backend.PoolingMean, false, false},
		"that says none either":  {"bert", nil, pooling("bert", 0), backend.PoolingMean, false, false},
		"cls":                    {"bert", nil, pooling("bert", 2), backend.PoolingCLS, false, false},
		"an embedding decoder":   {"qwen3", nil, pooling("qwen3", 3), backend.PoolingLast, false, true},
		"that takes the mean":    {"qwen3", nil, pooling("qwen3", 1), backend.PoolingMean, false, false},
		"a reranker":             {"bert", head, pooling("bert", 4), backend.PoolingRank, false, false},
		"with one layer":         {"bert", []string{"cls.weight"}, pooling("bert", 4), backend.PoolingRank, false, false},
		"a decoder that reranks": {"qwen3", head, pooling("qwen3", 4), backend.PoolingRank, false, true},
		"a decoder that looks ahead": {"llama", nil, func(w *models.Writer) {
			w.Bool("llama.attention.causal", false)
			w.Uint32("llama.pooling_type", 3)
		}, backend.PoolingLast, false, false},
		"and says no more": {"llama", nil, func(w *models.Writer) { w.Bool("llama.attention.causal", false) }, backend.PoolingMean, false, false},
	} {
		f := headerOf(t, c.arch, c.tensors, c.keys)
		got, err := f.embeds()
		if err != nil || got.Pooling != c.pooling || got.Generates != c.generates || got.MaxTokens != 700 || f.splits(got) != c.splits {
			t.Errorf("%s: %+v, splits %t, %v", name, got, f.splits(got), err)
		}
	}
	for name, c := range map[string]struct {
		arch string
		keys func(*models.Writer)
		is   error
		text string
	}{
		"unknown pooling":       {"bert", pooling("bert", 5), backend.ErrArchitecture, "bert.pooling_type is 5"},
		"reranker without head": {"bert", pooling("bert", 4), backend.ErrNotModel, "no classification head"},
		"sound":                 {"wavtokenizer-dec", nil, backend.ErrArchitecture, "makes sound"},
	} {
		if _, err := headerOf(t, c.arch, nil, c.keys).embeds(); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := headerOf(t, "qwen3", head, func(w *models.Writer) {
		w.Uint32("qwen3.pooling_type", 4)
		w.String("tokenizer.chat_template.rerank", "{query} {document}")
	})
	if got, err := f.embeds(); err != nil || got.Pair.Template != "{query} {document}" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Every batch is divisible by the number of sequences.
func TestEmbedShape(t *testing.T) {
	f := headerOf(t, "bert", nil, nil)
	for _, c := range []struct {
		tokens int
		splits bool
		want   embedShape
	}{
		{1, false, embedShape{1, 512, 512}}, {512, false, embedShape{512, 512, 512}}, {513, false, embedShape{513, 768, 768}},
		{8192, false, embedShape{8192, 8192, 8192}}, {600, true, embedShape{600, 512, 768}},
	} {
		if got := f.shape(c.tokens, c.splits); got != c.want {
			t.Errorf("%d tokens: %+v, want %+v", c.tokens, got, c.want)
		}
	}
	if !slices.Equal([]int{microBatch % embedInputs, cellBlock % embedInputs}, []int{0, 0}) {
		t.Error("batches that are no multiple of the sequences")
	}
	small := f.estimateEmbedder(f.shape(512, false), backend.FlashOff).Total()
	if large := f.estimateEmbedder(f.shape(8192, false), backend.FlashOff).Total(); large <= small {
		t.Errorf("8192 tokens take %d bytes, 512 take %d", large, small)
	}
}
