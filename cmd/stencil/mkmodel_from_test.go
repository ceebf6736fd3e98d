package main

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/vocab"
)

// bertFolder writes a sentence-transformers model with one layer of width 2 and four
// tokens.
func bertFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny-bert")
	put := func(name string, data []byte) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("config.json", []byte(`{"model_type": "bert", "vocab_size": 4, "hidden_size": 2, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 3, "max_position_embeddings": 8, "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu"}`))
	put("modules.json", []byte(`[{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}]`))
	put("1_Pooling/config.json", []byte(`{"pooling_mode_mean_tokens": true}`))
	put("tokenizer.json", []byte(`{"normalizer": {"type": "BertNormalizer", "lowercase": true}, "pre_tokenizer": {"type": "BertPreTokenizer"}, "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3}}}`))
	shapes := map[string][]int{
		"embeddings.word_embeddings.weight": {4, 2}, "embeddings.position_embeddings.weight": {8, 2}, "embeddings.token_type_embeddings.weight": {2, 2},
	}
	for name, shape := range map[string][]int{
		"embeddings.LayerNorm":                       {2},
		"encoder.layer.0.attention.self.query":       {2, 2},
		"encoder.layer.0.attention.self.key":         {2, 2},
		"encoder.layer.0.attention.self.value":       {2, 2},
		"encoder.layer.0.attention.output.dense":     {2, 2},
		"encoder.layer.0.attention.output.LayerNorm": {2},
		"encoder.layer.0.intermediate.dense":         {3, 2},
		"encoder.layer.0.output.dense":               {2, 3},
		"encoder.layer.0.output.LayerNorm":           {2},
	} {
		shapes[name+".weight"], shapes[name+".bias"] = shape, shape[:1]
	}
	header, size := map[string]any{}, 0
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		n := 4
		for _, d := range shapes[name] {
			n *= d
		}
		header[name] = map[string]any{"dtype": "F32", "shape": shapes[name], "data_offsets": []int{size, size + n}}
		size += n
	}
	raw, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	put("model.safetensors", slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))), raw, make([]byte, size)))
	return dir
}

func TestMkmodelFrom(t *testing.T) {
	folder, path := bertFolder(t), filepath.Join(t.TempDir(), "m.gguf")
	out, _, err := run(t, "mkmodel", path, "--from", folder, "--type", "f16")
	if err != nil || !strings.HasPrefix(out, path+": ") {
		t.Fatalf("%q, %v", out, err)
	}
	g, err := vocab.OpenGGUF(path)
	if err != nil {
		t.Fatal(err)
	}
	if arch, name := g.Str("general.architecture"), g.Str("general.name"); arch != "bert" || name != "tiny-bert" || g.Tensors[0].Type.String() != "F16" {
		t.Errorf("architecture %q, name %q, weights of type %s", arch, name, g.Tensors[0].Type)
	}
	if _, _, err := run(t, "mkmodel", path, "--from", folder, "--name", "another"); err != nil {
		t.Fatal(err)
	}
	if g, err := vocab.OpenGGUF(path); err != nil || g.Str("general.name") != "another" {
		t.Errorf("%v, %v", g, err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--from", folder, "--width", "8", "--arch", "bert"}, "cannot be combined with --width, --arch"},
		{[]string{"--from", folder, "--type", "F8"}, `unknown type "F8"`},
		{[]string{"--from", filepath.Dir(folder)}, "config.json: no such file"},
	} {
		if _, _, err := run(t, append([]string{"mkmodel", path}, c.args...)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}
