package models

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/internal/realmodels"
	"github.com/stencil-json/stencil/vocab"
)

// A bertFolder is a model in the layout of sentence-transformers, before it is
// written: files as values for JSON, and tensors.
type bertFolder struct {
	files   map[string]any
	tensors map[string]storedTensor
}

type storedTensor struct {
	typ   string
	shape []int64
	data  []byte
}

type object = map[string]any

// Words of the small model's vocabulary; 9 to 11 have none.
var bertWords = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hello", "wor", "##ld", ","}

// smallBERT returns a model with 2 layers of width 8 and 12 tokens. Number i of
// a tensor is i/8, and the tensors are stored in all three formats.
func smallBERT() bertFolder {
	const width, ff, tokens, positions, types, layers = 8, 16, 12, 10, 2, 2
	words := object{}
	var added []object
	for id, w := range bertWords {
		words[w] = id
		if w[0] == '[' {
			added = append(added, object{"id": id, "content": w, "special": true})
		}
	}
	b := bertFolder{
		files: map[string]any{
			"config.json": object{
				"model_type": "bert", "architectures": []string{"BertModel"}, "vocab_size": tokens, "hidden_size": width,
				"num_hidden_layers": layers, "num_attention_heads": 2, "intermediate_size": ff, "max_position_embeddings": positions,
				"type_vocab_size": types, "layer_norm_eps": 1e-12, "hidden_act": "gelu",
			},
			"modules.json": []object{
				{"path": "", "type": "sentence_transformers.models.Transformer"},
				{"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
				{"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
			},
			"1_Pooling/config.json": object{"word_embedding_dimension": width, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true},
			"tokenizer.json": object{
				"added_tokens":  added,
				"normalizer":    object{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
				"pre_tokenizer": object{"type": "BertPreTokenizer"},
				"model":         object{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "vocab": words},
			},
		},
		tensors: map[string]storedTensor{},
	}
	formats := []string{"F32", "F16", "BF16"}
	add := func(name string, shape ...int64) {
		n := int64(1)
		for _, d := range shape {
			n *= d
		}
		t := storedTensor{typ: formats[len(b.tensors)%3], shape: shape}
		for i := range n {
			bits := math.Float32bits(float32(i) / 8)
			switch t.typ {
			case "F32":
				t.data = binary.LittleEndian.AppendUint32(t.data, bits)
			case "F16":
				t.data = binary.LittleEndian.AppendUint16(t.data, half(float32(i)/8))
			case "BF16":
				t.data = binary.LittleEndian.AppendUint16(t.data, uint16(bits>>16))
			}
		}
		b.tensors[name] = t
	}
	both := func(name string, shape ...int64) {
		add(name+".weight", shape...)
		add(name+".bias", shape[0])
	}
	add("embeddings.word_embeddings.weight", tokens, width)
	add("embeddings.position_embeddings.weight", positions, width)
	add("embeddings.token_type_embeddings.weight", types, width)
	both("embeddings.LayerNorm", width)
	for i := range layers {
		p := fmt.Sprintf("encoder.layer.%d.", i)
		both(p+"attention.self.query", width, width)
		both(p+"attention.self.key", width, width)
		both(p+"attention.self.value", width, width)
		both(p+"attention.output.dense", width, width)
		both(p+"attention.output.LayerNorm", width)
		both(p+"intermediate.dense", ff, width)
		both(p+"output.dense", width, ff)
		both(p+"output.LayerNorm", width)
	}
	both("pooler.dense", width, width)
	b.tensors["embeddings.position_ids"] = storedTensor{"I64", []int64{1, positions}, make([]byte, 8*positions)}
	return b
}

// write writes the folder.
func (b bertFolder) write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, data []byte) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range b.files {
		if value == nil {
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		put(name, raw)
	}
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data []byte
	for _, name := range slices.Sorted(maps.Keys(b.tensors)) {
		s := b.tensors[name]
		at := int64(len(data))
		data = append(data, s.data...)
		header[name] = tensorInfo{s.typ, s.shape, [2]int64{at, int64(len(data))}}
	}
	raw, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	put("model.safetensors", slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))), raw, data))
	return dir
}

// convertBERT returns the converted file of a folder, and its header.
func convertBERT(t *testing.T, folder string, opt BERTOptions) ([]byte, *vocab.GGUF) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bert.gguf")
	if err := WriteBERT(path, folder, opt); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g, err := vocab.OpenGGUF(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.CheckTensors(); err != nil {
		t.Fatal(err)
	}
	return raw, g
}

func TestBERTHeader(t *testing.T) {
	_, g := convertBERT(t, smallBERT().write(t), BERTOptions{Name: "small"})
	var got strings.Builder
	for _, p := range g.Pairs {
		if p.Key != "tokenizer.ggml.tokens" && p.Key != "tokenizer.ggml.token_type" {
			fmt.Fprintf(&got, "%s %s %v\n", p.Key, p.Value.Type, p.Value)
		}
	}
	const want = `general.architecture string bert
general.type string model
general.name string small
general.quantization_version uint32 2
general.file_type uint32 0
bert.context_length uint32 10
bert.embedding_length uint32 8
bert.block_count uint32 2
bert.feed_forward_length uint32 16
bert.attention.head_count uint32 2
bert.attention.layer_norm_epsilon float32 9.999999960041972e-13
bert.attention.causal bool false
bert.pooling_type uint32 1
tokenizer.ggml.token_type_count uint32 2
tokenizer.ggml.model string bert
tokenizer.ggml.bos_token_id uint32 2
tokenizer.ggml.seperator_token_id uint32 3
tokenizer.ggml.unknown_token_id uint32 1
tokenizer.ggml.padding_token_id uint32 0
tokenizer.ggml.mask_token_id uint32 4
tokenizer.ggml.add_bos_token bool true
tokenizer.ggml.add_sep_token bool true
tokenizer.ggml.normalizer.lowercase bool true
tokenizer.ggml.normalizer.strip_accents bool true
`
	if got.String() != want {
		t.Errorf("keys:\n%s\nwant:\n%s", &got, want)
	}
	got.Reset()
	for _, info := range g.Tensors[:14] {
		fmt.Fprintf(&got, "%s %v\n", info.Name, info.Shape)
	}
	const tensors = `token_embd.weight [8 12]
position_embd.weight [8 10]
token_types.weight [8 2]
token_embd_norm.weight [8]
token_embd_norm.bias [8]
blk.0.attn_q.weight [8 8]
blk.0.attn_q.bias [8]
blk.0.attn_k.weight [8 8]
blk.0.attn_k.bias [8]
blk.0.attn_v.weight [8 8]
blk.0.attn_v.bias [8]
blk.0.attn_output.weight [8 8]
blk.0.attn_output.bias [8]
blk.0.attn_output_norm.weight [8]
`
	if got.String() != tensors || len(g.Tensors) != 5+2*16 {
		t.Errorf("%d tensors:\n%s\nwant:\n%s", len(g.Tensors), &got, tensors)
	}
}

func TestBERTVocabulary(t *testing.T) {
	_, g := convertBERT(t, smallBERT().write(t), BERTOptions{})
	v, err := vocab.FromGGUF(g)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "▁hello", "▁wor", "ld", "▁,", "[PAD9]", "[PAD10]", "[PAD11]"} {
		kind := vocab.Normal
		switch {
		case id < 5:
			kind = vocab.Control
		case id > 8:
			kind = vocab.Unused
		}
		if got := v.Text(int32(id)); got != want || v.Kind(int32(id)) != kind {
			t.Errorf("token %d is %q, %v; want %q, %v", id, got, v.Kind(int32(id)), want, kind)
		}
	}
	if got, want := v.Encode("Hello, WÖRLD wor x"), []int32{2, 5, 8, 6, 7, 6, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("tokens %v, want %v", got, want)
	}
}

// Numbers written as i/8 are read back in any format; F16 represents them
// exactly.
func TestBERTNumbers(t *testing.T) {
	folder := smallBERT().write(t)
	for _, typ := range []Type{F32, F16} {
		raw, g := convertBERT(t, folder, BERTOptions{Type: typ})
		for _, info := range g.Tensors {
			want := "F32"
			switch {
			case info.Name == "position_embd.weight", info.Name == "token_types.weight":
			case len(info.Shape) == 2:
				want = typ.String()
			}
			if info.Type.String() != want {
				t.Errorf("%s: %s is of type %s, want %s", typ, info.Name, info.Type, want)
			}
			for i, x := range tensorNumbers(t, raw, g, info.Name) {
				if x != float32(i)/8 {
					t.Fatalf("%s: %s: number %d is %g, want %g", typ, info.Name, i, x, float32(i)/8)
				}
			}
		}
	}
	a, _ := convertBERT(t, folder, BERTOptions{})
	b, _ := convertBERT(t, folder, BERTOptions{})
	if !bytes.Equal(a, b) {
		t.Error("same folder, different files")
	}
}

// tensorNumbers returns all numbers of a tensor of type F32 or F16.
func tensorNumbers(t *testing.T, raw []byte, g *vocab.GGUF, name string) []float32 {
	t.Helper()
	at := slices.IndexFunc(g.Tensors, func(i vocab.TensorInfo) bool { return i.Name == name })
	if at < 0 {
		t.Fatalf("no tensor %s", name)
	}
	info := g.Tensors[at]
	out := make([]float32, info.Elements())
	readNumbers(out, raw[g.DataOffset+info.Offset:], info.Type.String())
	return out
}

// Models that were trained with a head have names with the prefix bert.
func TestBERTWithHead(t *testing.T) {
	plain, headed := smallBERT(), smallBERT()
	headed.tensors = map[string]storedTensor{"cls.predictions.bias": {"F32", []int64{1}, make([]byte, 4)}}
	for name, s := range plain.tensors {
		headed.tensors["bert."+name] = s
	}
	headed.files["config.json"].(object)["architectures"] = []string{"BertForMaskedLM"}
	a, _ := convertBERT(t, plain.write(t), BERTOptions{Name: "x"})
	b, _ := convertBERT(t, headed.write(t), BERTOptions{Name: "x"})
	if !bytes.Equal(a, b) {
		t.Error("another file than without a head")
	}
}

func TestBERTPooling(t *testing.T) {
	for _, c := range []struct {
		pooling object
		want    int64
	}{
		{object{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}, 2},
		{object{"pooling_mode_lasttoken": true}, 3},
		{object{"pooling_mode": "cls"}, 2},
	} {
		b := smallBERT()
		b.files["1_Pooling/config.json"] = c.pooling
		_, g := convertBERT(t, b.write(t), BERTOptions{})
		if got, _ := g.Int("bert.pooling_type"); got != c.want {
			t.Errorf("%v: %d, want %d", c.pooling, got, c.want)
		}
	}
}

func TestBERTRefuses(t *testing.T) {
	inConfig := func(key string, value any) func(bertFolder) {
		return func(b bertFolder) { b.files["config.json"].(object)[key] = value }
	}
	inTokenizer := func(part, key string, value any) func(bertFolder) {
		return func(b bertFolder) { b.files["tokenizer.json"].(object)[part].(object)[key] = value }
	}
	module := func(path, kind string) func(bertFolder) {
		return func(b bertFolder) {
			b.files["modules.json"] = append(b.files["modules.json"].([]object), object{"path": path, "type": kind})
		}
	}
	const query = "encoder.layer.1.attention.self.query.weight"
	for _, c := range []struct {
		want   string
		change func(bertFolder)
	}{
		{`config.json: model_type is "roberta"`, inConfig("model_type", "roberta")},
		{"architecture BertForSequenceClassification", inConfig("architectures", []string{"BertForSequenceClassification"})},
		{"num_hidden_layers must be between 1", inConfig("num_hidden_layers", 0)},
		{"num_hidden_layers is 513", inConfig("num_hidden_layers", 513)},
		{"vocab_size must be between 1", inConfig("vocab_size", 1<<20+1)},
		{"not a multiple of the 3 num_attention_heads", inConfig("num_attention_heads", 3)},
		{"layer_norm_eps must be above 0", inConfig("layer_norm_eps", 0)},
		{`hidden_act is "relu"`, inConfig("hidden_act", "relu")},
		{`position_embedding_type is "relative_key"`, inConfig("position_embedding_type", "relative_key")},
		{"config.json: json: cannot unmarshal", inConfig("hidden_size", "8")},
		{"config.json: no such file", func(b bertFolder) { b.files["config.json"] = nil }},

		{"modules.json: no such file", func(b bertFolder) { b.files["modules.json"] = nil }},
		{"modules.json: a part of type sentence_transformers.models.Dense", module("3_Dense", "sentence_transformers.models.Dense")},
		{"there are several pooling modules", module("3_Pooling", "sentence_transformers.models.Pooling")},
		{`the path "../1_Pooling" of the pooling module is outside the folder`, func(b bertFolder) {
			b.files["modules.json"] = []object{{"path": "../1_Pooling", "type": "Pooling"}}
		}},
		{"no part of type Pooling", func(b bertFolder) { b.files["modules.json"] = []object{{"path": "", "type": "Transformer"}} }},
		{"pools by [pooling_mode_cls_token pooling_mode_mean_tokens]", func(b bertFolder) {
			b.files["1_Pooling/config.json"].(object)["pooling_mode_cls_token"] = true
		}},
		{"pools by [pooling_mode_max_tokens]", func(b bertFolder) {
			b.files["1_Pooling/config.json"] = object{"pooling_mode_max_tokens": true}
		}},
		{"pools by []", func(b bertFolder) { b.files["1_Pooling/config.json"] = object{"pooling_mode": "max"} }},

		{`tokenizer.json: model.type is "BPE"`, inTokenizer("model", "type", "BPE")},
		{"model.continuing_subword_prefix", inTokenizer("model", "continuing_subword_prefix", "")},
		{"normalizer.type", inTokenizer("normalizer", "type", "NFC")},
		{"normalizer.handle_chinese_chars is off", inTokenizer("normalizer", "handle_chinese_chars", false)},
		{"pre_tokenizer.type", inTokenizer("pre_tokenizer", "type", "Whitespace")},
		{`the vocabulary has no token "[SEP]"`, func(b bertFolder) {
			delete(b.files["tokenizer.json"].(object)["model"].(object)["vocab"].(object), "[SEP]")
		}},
		{`the vocabulary has no token "<unk>"`, inTokenizer("model", "unk_token", "<unk>")},
		{`token "▁far" has the id 12`, func(b bertFolder) {
			b.files["tokenizer.json"].(object)["model"].(object)["vocab"].(object)["far"] = 12
		}},
		{"have the same id 5", func(b bertFolder) {
			b.files["tokenizer.json"].(object)["model"].(object)["vocab"].(object)["twice"] = 5
		}},

		{"model.safetensors: no tensor " + query, func(b bertFolder) { delete(b.tensors, query) }},
		{"tensor " + query + ": shape [8 4], want [8 8]", func(b bertFolder) {
			b.tensors[query] = storedTensor{"F32", []int64{8, 4}, make([]byte, 128)}
		}},
		{"numbers of type I8", func(b bertFolder) { b.tensors[query] = storedTensor{"I8", []int64{8, 8}, make([]byte, 64)} }},
		{"want 256 bytes", func(b bertFolder) { b.tensors[query] = storedTensor{"F32", []int64{8, 8}, make([]byte, 252)} }},
		{"tensor encoder.layer.2.output.dense.bias has no place", func(b bertFolder) {
			b.tensors["encoder.layer.2.output.dense.bias"] = storedTensor{"F32", []int64{8}, make([]byte, 32)}
		}},
	} {
		b := smallBERT()
		c.change(b)
		path := filepath.Join(t.TempDir(), "out.gguf")
		if err := WriteBERT(path, b.write(t), BERTOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a file was written", c.want)
		}
	}
	if err := WriteBERT(filepath.Join(t.TempDir(), "x"), smallBERT().write(t), BERTOptions{Type: Q8_0}); err == nil || !strings.Contains(err.Error(), "not a multiple of the 32") {
		t.Errorf("rows of 8 in blocks of 32: %v", err)
	}
}

func TestFromHalf(t *testing.T) {
	for h := range uint32(1 << 16) {
		x := fromHalf(uint16(h))
		if back := half(x); x == x && back != uint16(h) {
			t.Fatalf("%#04x became %g, which is %#04x", h, x, back)
		}
		if nan := h&0x7fff > 0x7c00; nan != (x != x) {
			t.Fatalf("%#04x became %g", h, x)
		}
	}
}

// The real model, computed with the weights of the converted file, gives the
// vectors that were computed with the original ones. This checks names, shapes,
// orders and numbers, and the vocabulary, without llama.cpp.
func TestBERTReal(t *testing.T) {
	path := realmodels.Path(t, realmodels.MiniLM)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	g, err := vocab.OpenGGUF(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := vocab.FromGGUF(g)
	if err != nil {
		t.Fatal(err)
	}
	m := bertForward{t, raw, g, map[string][]float64{}}
	var vectors [][]float64
	for _, s := range realmodels.MiniLMSentences {
		if got := v.Encode(s.Text); !slices.Equal(got, s.Tokens) {
			t.Errorf("%q: tokens %v, want %v", s.Text, got, s.Tokens)
		}
		u := m.run(s.Tokens)
		norm := math.Sqrt(dot(u, u))
		if math.Abs(norm-s.Norm) > 2e-3 {
			t.Errorf("%q: length %.6f, want %.6f", s.Text, norm, s.Norm)
		}
		for i := range u {
			u[i] /= norm
		}
		for i, want := range s.First {
			if math.Abs(u[i]-want) > 2e-4 {
				t.Errorf("%q: component %d is %.6f, want %.6f", s.Text, i, u[i], want)
			}
		}
		vectors = append(vectors, u)
	}
	for i, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		if got, want := dot(vectors[pair[0]], vectors[pair[1]]), realmodels.MiniLMCosines[i]; math.Abs(got-want) > 2e-4 {
			t.Errorf("similarity of %v: %.6f, want %.6f", pair, got, want)
		}
	}
}

// bertForward computes a model's vector for a text, straightforwardly.
type bertForward struct {
	t    *testing.T
	raw  []byte
	g    *vocab.GGUF
	read map[string][]float64 // tensors
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func (m bertForward) tensor(name string) []float64 {
	if m.read[name] == nil {
		numbers := tensorNumbers(m.t, m.raw, m.g, name)
		m.read[name] = make([]float64, len(numbers))
		for i, x := range numbers {
			m.read[name][i] = float64(x)
		}
	}
	return m.read[name]
}

func (m bertForward) key(name string) int {
	n, ok := m.g.Int("bert." + name)
	if !ok {
		m.t.Fatalf("no key bert.%s", name)
	}
	return int(n)
}

// linear multiplies each row by a matrix.
func (m bertForward) linear(x [][]float64, name string) [][]float64 {
	w, bias := m.tensor(name+".weight"), m.tensor(name+".bias")
	out := make([][]float64, len(x))
	for i, row := range x {
		out[i] = make([]float64, len(bias))
		for j := range bias {
			out[i][j] = dot(row, w[j*len(row):(j+1)*len(row)]) + bias[j]
		}
	}
	return out
}

// norm adds b to a and normalises each row to mean 0 and variance 1.
func (m bertForward) norm(a, b [][]float64, name string) [][]float64 {
	w, bias := m.tensor(name+".weight"), m.tensor(name+".bias")
	out := make([][]float64, len(a))
	for i := range a {
		n := float64(len(a[i]))
		row := make([]float64, len(a[i]))
		mean, variance := 0.0, 0.0
		for j := range row {
			row[j] = a[i][j] + b[i][j]
			mean += row[j] / n
		}
		for j := range row {
			row[j] -= mean
			variance += row[j] * row[j] / n
		}
		for j := range row {
			row[j] = row[j]/math.Sqrt(variance+1e-12)*w[j] + bias[j]
		}
		out[i] = row
	}
	return out
}

func (m bertForward) run(tokens []int32) []float64 {
	width, heads := m.key("embedding_length"), m.key("attention.head_count")
	words, places, types := m.tensor("token_embd.weight"), m.tensor("position_embd.weight"), m.tensor("token_types.weight")
	var x, first [][]float64
	for i, id := range tokens {
		row := slices.Clone(words[int(id)*width:][:width])
		for j := range row {
			row[j] += places[i*width+j]
		}
		x, first = append(x, row), append(first, types[:width])
	}
	x = m.norm(x, first, "token_embd_norm")
	for l := range m.key("block_count") {
		at := func(name string) string { return fmt.Sprintf("blk.%d.%s", l, name) }
		mixed := attend(m.linear(x, at("attn_q")), m.linear(x, at("attn_k")), m.linear(x, at("attn_v")), heads)
		x = m.norm(m.linear(mixed, at("attn_output")), x, at("attn_output_norm"))
		up := m.linear(x, at("ffn_up"))
		for _, row := range up {
			for j, u := range row {
				row[j] = u * (1 + math.Erf(u/math.Sqrt2)) / 2
			}
		}
		x = m.norm(m.linear(up, at("ffn_down")), x, at("layer_output_norm"))
	}
	mean := make([]float64, width)
	for _, row := range x {
		for j := range row {
			mean[j] += row[j] / float64(len(x))
		}
	}
	return mean
}

// attend computes attention between all rows.
func attend(q, k, v [][]float64, heads int) [][]float64 {
	width := len(q[0])
	size := width / heads
	out := make([][]float64, len(q))
	for i := range q {
		out[i] = make([]float64, width)
		for from := 0; from < width; from += size {
			weights, sum := make([]float64, len(k)), 0.0
			for j := range k {
				weights[j] = math.Exp(dot(q[i][from:from+size], k[j][from:from+size]) / math.Sqrt(float64(size)))
				sum += weights[j]
			}
			for j, weight := range weights {
				for c := from; c < from+size; c++ {
					out[i][c] += weight / sum * v[j][c]
				}
			}
		}
	}
	return out
}
