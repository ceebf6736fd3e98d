package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// BERTOptions configures [WriteBERT].
type BERTOptions struct {
	Name string // general.name; default the folder's name
	Type Type   // of the matrices of the layers and the token embeddings

	Progress func(done float64) // called while writing, with values from 0 to 1
}

// WriteBERT converts a model of the BERT family, in the folder layout of the
// sentence-transformers library, to a GGUF file of the architecture bert. It reads
//
//	model.safetensors        weights as F32, F16 or BF16
//	config.json              the shape
//	tokenizer.json           a WordPiece vocabulary
//	modules.json             which parts there are: Transformer, Pooling, Normalize
//	1_Pooling/config.json    mean, cls or last token; the folder is named in modules.json
//
// It returns an error naming the feature for models that llama.cpp's architecture
// cannot compute (relative positions, another activation, a dense part after pooling, a
// classifier). Whether vectors are normalised is not recorded: GGUF has no key for it.
// The keys and tensor names are those that llama.cpp v0.5.0 reads (src/llama-arch.cpp,
// src/models/bert.cpp).
//
// The file is created only when it is complete. Equal folders and options give equal
// files.
func WriteBERT(path, folder string, opt BERTOptions) error {
	if int(opt.Type) >= len(types) {
		return errors.New("models: unknown type of weights")
	}
	var cfg bertConfig
	if err := readJSON(folder, "config.json", &cfg); err != nil {
		return err
	}
	if err := cfg.check(); err != nil {
		return fmt.Errorf("models: %s: %w", filepath.Join(folder, "config.json"), err)
	}
	pooling, err := readPooling(folder)
	if err != nil {
		return err
	}
	g := new(Writer)
	if opt.Name == "" {
		abs, err := filepath.Abs(folder)
		if err != nil {
			return fmt.Errorf("models: %w", err)
		}
		opt.Name = filepath.Base(abs)
	}
	cfg.describe(g, opt, pooling)
	if err := g.addWordPiece(folder, cfg.Tokens); err != nil {
		return err
	}
	weights := filepath.Join(folder, "model.safetensors")
	stored, err := readTensors(weights)
	if err != nil {
		return fmt.Errorf("models: %s: %w", weights, err)
	}
	if err := cfg.addTensors(g, stored, opt.Type); err != nil {
		return fmt.Errorf("models: %s: %w", weights, err)
	}
	return create(path, func(w io.Writer) error { return g.Write(w, opt.Progress) })
}

// readJSON reads a JSON file in a folder. Errors name the file.
func readJSON(folder, name string, to any) error {
	path := filepath.Join(folder, name)
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("models: %s: %w", path, err)
	}
	return nil
}

// bertConfig is the part of config.json about the shape.
type bertConfig struct {
	Kind          string   `json:"model_type"`
	Architectures []string `json:"architectures"`
	Tokens        int      `json:"vocab_size"`
	Width         int      `json:"hidden_size"`
	Layers        int      `json:"num_hidden_layers"`
	Heads         int      `json:"num_attention_heads"`
	FF            int      `json:"intermediate_size"`
	Positions     int      `json:"max_position_embeddings"`
	Types         int      `json:"type_vocab_size"`
	Eps           float32  `json:"layer_norm_eps"`
	Activation    string   `json:"hidden_act"`
	PositionKind  string   `json:"position_embedding_type"`
}

func (c *bertConfig) check() error {
	if c.Kind != "bert" {
		return fmt.Errorf("model_type is %q; only bert can be converted", c.Kind)
	}
	for _, a := range c.Architectures {
		if a != "BertModel" && a != "BertForMaskedLM" && a != "BertForPreTraining" {
			return fmt.Errorf("architecture %s; only BertModel, BertForMaskedLM and BertForPreTraining can be converted", a)
		}
	}
	const most = 1 << 20 // as in RandomOptions: far above any model
	for _, x := range []struct {
		key string
		n   int
	}{
		{"vocab_size", c.Tokens}, {"hidden_size", c.Width}, {"num_hidden_layers", c.Layers}, {"num_attention_heads", c.Heads},
		{"intermediate_size", c.FF}, {"max_position_embeddings", c.Positions}, {"type_vocab_size", c.Types},
	} {
		if x.n < 1 || x.n > most {
			return fmt.Errorf("%s must be between 1 and %d, not %d", x.key, most, x.n)
		}
	}
	switch {
	case c.Layers > 512: // llama.cpp's LLAMA_MAX_LAYERS
		return fmt.Errorf("num_hidden_layers is %d, llama.cpp reads at most 512", c.Layers)
	case c.Width%c.Heads != 0:
		return fmt.Errorf("hidden_size %d is not a multiple of the %d num_attention_heads", c.Width, c.Heads)
	case c.Eps <= 0:
		return fmt.Errorf("layer_norm_eps must be above 0, not %g", c.Eps)
	case c.Activation != "gelu" && c.Activation != "gelu_new":
		return fmt.Errorf("hidden_act is %q, llama.cpp computes gelu", c.Activation)
	case c.PositionKind != "" && c.PositionKind != "absolute":
		return fmt.Errorf("position_embedding_type is %q, llama.cpp computes absolute", c.PositionKind)
	}
	return nil
}

// describe writes the keys that describe the model.
func (c *bertConfig) describe(g *Writer, opt BERTOptions, pooling Pooling) {
	describeModel(g, "bert", opt.Name, opt.Type)
	k := keys{g, "bert"}
	k.num("context_length", c.Positions)
	k.num("embedding_length", c.Width)
	k.num("block_count", c.Layers)
	k.num("feed_forward_length", c.FF)
	k.num("attention.head_count", c.Heads)
	k.float("attention.layer_norm_epsilon", c.Eps)
	k.flag("attention.causal", false)
	k.num("pooling_type", poolingTypes[pooling])
	g.Uint32("tokenizer.ggml.token_type_count", uint32(c.Types))
}

// bertPoolings are the pooling modes in files of sentence-transformers.
var bertPoolings = map[string]Pooling{
	"pooling_mode_mean_tokens": PoolingMean,
	"pooling_mode_cls_token":   PoolingCLS,
	"pooling_mode_lasttoken":   PoolingLast,
}

// readPooling returns how the vectors of a text's tokens are combined.
func readPooling(folder string) (Pooling, error) {
	var modules []struct {
		Type string `json:"type"`
		Path string `json:"path"`
	}
	if err := readJSON(folder, "modules.json", &modules); err != nil {
		return "", err
	}
	at := filepath.Join(folder, "modules.json")
	where := ""
	for _, m := range modules {
		switch kind := m.Type[strings.LastIndexByte(m.Type, '.')+1:]; kind {
		case "Transformer", "Normalize":
		case "Pooling":
			if where != "" {
				return "", fmt.Errorf("models: %s: there are several pooling modules", at)
			}
			if !filepath.IsLocal(m.Path) {
				return "", fmt.Errorf("models: %s: the path %q of the pooling module is outside the folder", at, m.Path)
			}
			where = m.Path
		default:
			return "", fmt.Errorf("models: %s: a part of type %s, which the architecture bert does not have", at, m.Type)
		}
	}
	if where == "" {
		return "", fmt.Errorf("models: %s: no part of type Pooling", at)
	}
	var modes map[string]any
	name := filepath.Join(where, "config.json")
	if err := readJSON(folder, name, &modes); err != nil {
		return "", err
	}
	var on []string
	for _, key := range slices.Sorted(maps.Keys(modes)) {
		if strings.HasPrefix(key, "pooling_mode_") && modes[key] == true {
			on = append(on, key)
		}
	}
	if mode, ok := modes["pooling_mode"].(string); ok && len(on) == 0 { // newer files name it
		on = map[string][]string{"mean": {"pooling_mode_mean_tokens"}, "cls": {"pooling_mode_cls_token"}, "lasttoken": {"pooling_mode_lasttoken"}}[mode]
	}
	if len(on) != 1 || bertPoolings[on[0]] == "" {
		return "", fmt.Errorf("models: %s: pools by %v, want one of mean, cls and last token", filepath.Join(folder, name), on)
	}
	return bertPoolings[on[0]], nil
}

// The names of the tensors outside of the layers, and of those in a layer, in the
// folder and in GGUF.
var (
	bertOuter = [][2]string{
		{"embeddings.word_embeddings", "token_embd"},
		{"embeddings.position_embeddings", "position_embd"},
		{"embeddings.token_type_embeddings", "token_types"},
		{"embeddings.LayerNorm", "token_embd_norm"},
	}
	bertLayer = [][2]string{
		{"attention.self.query", "attn_q"},
		{"attention.self.key", "attn_k"},
		{"attention.self.value", "attn_v"},
		{"attention.output.dense", "attn_output"},
		{"attention.output.LayerNorm", "attn_output_norm"},
		{"intermediate.dense", "ffn_up"},
		{"output.dense", "ffn_down"},
		{"output.LayerNorm", "layer_output_norm"},
	}
)

// shape returns the shape of the weights with the given GGUF name, without the layer,
// and the length of their bias, 0 if they have none.
func (c *bertConfig) shape(name string) (weight []int64, bias int64) {
	width, ff := int64(c.Width), int64(c.FF)
	switch name {
	case "token_embd":
		return []int64{width, int64(c.Tokens)}, 0
	case "position_embd":
		return []int64{width, int64(c.Positions)}, 0
	case "token_types":
		return []int64{width, int64(c.Types)}, 0
	case "attn_q", "attn_k", "attn_v", "attn_output":
		return []int64{width, width}, width
	case "ffn_up":
		return []int64{width, ff}, ff
	case "ffn_down":
		return []int64{ff, width}, width
	}
	return []int64{width}, width // a norm
}

// names returns the names of all tensors in the folder and in GGUF, without the
// suffixes .weight and .bias.
func (c *bertConfig) names(prefix string) (out [][2]string) {
	for _, n := range bertOuter {
		out = append(out, [2]string{prefix + n[0], n[1]})
	}
	for i := range c.Layers {
		for _, n := range bertLayer {
			out = append(out, [2]string{fmt.Sprintf("%sencoder.layer.%d.%s", prefix, i, n[0]), fmt.Sprintf("blk.%d.%s", i, n[1])})
		}
	}
	return out
}

// addTensors adds all tensors. An unknown tensor is an error unless it is known to be
// unnecessary, since the result would be wrong without it.
func (c *bertConfig) addTensors(g *Writer, stored *tensorFile, typ Type) error {
	prefix := ""
	if _, ok := stored.header["bert.embeddings.word_embeddings.weight"]; ok {
		prefix = "bert." // models that were trained with a head
	}
	names := c.names(prefix)
	var weights []string
	for _, n := range names {
		weights = append(weights, n[1]+".weight")
	}
	pick := typePicker(typ, weights)
	used := map[string]bool{}
	add := func(from, to string, shape []int64) error {
		rows, err := stored.rows(from, shape)
		if err != nil {
			return err
		}
		used[from] = true
		t := F32
		if len(shape) == 2 && to != "position_embd.weight" && to != "token_types.weight" { // those are added to others unconverted
			t = pick(to, shape[0])
		}
		return g.Tensor(to, t, shape, rows)
	}
	for _, n := range names {
		weight, bias := c.shape(n[1][strings.LastIndexByte(n[1], '.')+1:])
		if err := add(n[0]+".weight", n[1]+".weight", weight); err != nil {
			return err
		}
		if bias == 0 {
			continue
		}
		if err := add(n[0]+".bias", n[1]+".bias", []int64{bias}); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stored.header)) {
		if !used[name] && !needless(strings.TrimPrefix(name, prefix)) {
			return fmt.Errorf("tensor %s has no place in the architecture bert", name)
		}
	}
	return nil
}

// needless reports whether a tensor does not influence embeddings: the table of
// position numbers, and the heads of BERT's two training tasks.
func needless(name string) bool {
	return name == "embeddings.position_ids" || strings.HasPrefix(name, "pooler.") || strings.HasPrefix(name, "cls.")
}
