package models

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stencil-json/stencil/vocab"
)

// random writes a model to memory and reads its header.
func random(t *testing.T, opt RandomOptions) ([]byte, *vocab.GGUF) {
	t.Helper()
	var b bytes.Buffer
	if err := Random(&b, opt); err != nil {
		t.Fatal(err)
	}
	g, err := vocab.ReadGGUF(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.CheckTensors(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), g
}

func TestRandomIsReproducible(t *testing.T) {
	opt := RandomOptions{Layers: 1, Width: 32, Type: Q8_0, Seed: 7}
	a, _ := random(t, opt)
	b, _ := random(t, opt)
	if !bytes.Equal(a, b) {
		t.Error("same options and seed, different files")
	}
	opt.Seed++
	if c, _ := random(t, opt); bytes.Equal(a, c) {
		t.Error("another seed, same file")
	}
}

func TestRandomHeader(t *testing.T) {
	for typ := range types {
		opt := RandomOptions{Layers: 3, Width: 256, Heads: 4, KVHeads: 2, FF: 512, Context: 777, Type: Type(typ)}
		data, g := random(t, opt)
		if got := g.Str("general.description"); !strings.HasPrefix(got, RandomDescription) {
			t.Errorf("description %q does not say that the weights are random", got)
		}
		for key, want := range map[string]int64{
			"llama.block_count": 3, "llama.embedding_length": 256, "llama.attention.head_count": 4,
			"llama.attention.head_count_kv": 2, "llama.feed_forward_length": 512, "llama.context_length": 777,
			"llama.rope.dimension_count": 64, "llama.vocab_size": 640,
		} {
			if got, _ := g.Int(key); got != want {
				t.Errorf("%s: %s is %d, want %d", Type(typ), key, got, want)
			}
		}
		if want := 3*9 + 3; len(g.Tensors) != want {
			t.Errorf("%s: %d tensors, want %d", Type(typ), len(g.Tensors), want)
		}
		last := g.Tensors[len(g.Tensors)-1]
		if end := g.DataOffset + last.Offset + last.Size; align(end) != int64(len(data)) {
			t.Errorf("%s: data ends at %d, the file at %d", Type(typ), end, len(data))
		}
	}
}

// TestRandomSpread measures the standard deviations in the package comment.
func TestRandomSpread(t *testing.T) {
	data, g := random(t, RandomOptions{Layers: 1, Width: 64})
	want := map[string]float64{"token_embd.weight": 0.5, "output.weight": 0.5 /* 4/√64 */, "blk.0.ffn_up.weight": 0.125, "output_norm.weight": 0}
	seen := 0
	for _, info := range g.Tensors {
		std, ok := want[info.Name]
		if !ok {
			continue
		}
		seen++
		var sum, squares float64
		raw := data[g.DataOffset+info.Offset:][:info.Size]
		n := float64(len(raw) / 4)
		for ; len(raw) > 0; raw = raw[4:] {
			x := float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
			sum += x
			squares += x * x
		}
		mean := sum / n
		if got := math.Sqrt(squares/n - mean*mean); math.Abs(got-std) > 0.03*std+1e-9 {
			t.Errorf("%s: standard deviation %.4f, want %.4f", info.Name, got, std)
		}
	}
	if seen != len(want) {
		t.Errorf("%d of %d tensors found", seen, len(want))
	}
}

func TestRandomRefuses(t *testing.T) {
	for _, c := range []struct {
		opt  RandomOptions
		want string
	}{
		{RandomOptions{Layers: -1}, "layers must be between"},
		{RandomOptions{Width: 64, Heads: 5}, "cannot be cut into 5 heads"},
		{RandomOptions{Width: 6, Heads: 2}, "cannot be cut into 2 heads"}, // 3 each: odd
		{RandomOptions{Heads: 4, KVHeads: 3}, "3 KV heads do not divide 4"},
		{RandomOptions{Width: 48, Type: Q4_0}, "not a multiple of the 32"},
		{RandomOptions{Vocab: "does/not/exist.gguf"}, "no such file"},
		{RandomOptions{HeadSize: 32}, "the architecture llama takes no option for a head size"},
		{RandomOptions{Arch: "lama"}, `unknown architecture "lama", expected one of llama, qwen3`},
		{RandomOptions{Arch: "qwen3", HeadSize: 7}, "head size must be even"},
		{RandomOptions{Arch: "qwen3moe", Experts: 2, ExpertUsed: 3}, "3 experts are used of 2"},
		{RandomOptions{Arch: "qwen3moe", Experts: 2000}, "at most 1024"},
		{RandomOptions{Arch: "gemma3", Window: -1}, "window must be between"},
		{RandomOptions{Arch: "gemma4", Layers: 2}, "gemma4 takes at least 3 layers"},
		{RandomOptions{Arch: "deepseek2", HeadSize: 6}, "4 divides, not 6"},
		{RandomOptions{Arch: "deepseek2", Layers: 27}, "27 layers"},
		{RandomOptions{Arch: "mamba", Heads: 2}, "the architecture mamba takes no option for heads"},
		{RandomOptions{Arch: "rwkv7", State: 48}, "heads of 48"},
		{RandomOptions{Arch: "qwen35", State: 48}, "heads of 48"},
		{RandomOptions{Arch: "falcon-h1", Width: 96}, "heads of 64"},
		{RandomOptions{Arch: "bert", Pooling: PoolingLast}, `pooling "last" with the architecture bert, expected one of mean, none, cls, rank`},
		{RandomOptions{Width: 128, Type: Q4_K_M}, "Q4_K_M needs a width that is a multiple of the 256"},
		{RandomOptions{Width: 256, FF: 700, Type: Q4_K_M}, "a ff that is a multiple"},
	} {
		err := Random(new(bytes.Buffer), c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one with %q", c.opt, err, c.want)
		}
	}
}

func TestTinyVocab(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := WriteRandom(path, BundledOptions()); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st.Size() >= 2<<20 {
		t.Errorf("the bundled model has %d bytes, it is to stay under 2 MB", st.Size())
	}
	v, err := vocab.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if v.Len() != 640 {
		t.Errorf("%d tokens, want 640", v.Len())
	}
	var ends []string
	for _, id := range v.EOG() {
		ends = append(ends, v.Text(id))
	}
	if got := strings.Join(ends, " "); got != "<|endoftext|> <|im_end|>" {
		t.Errorf("end-of-generation tokens: %s", got)
	}
	if v.ChatTemplate() != tinyTemplate {
		t.Error("the chat template was not written")
	}
	for b := range 256 {
		if got := v.Bytes(int32(b)); len(got) != 1 || int(got[0]) != b {
			t.Errorf("token %d is %q, not the byte %#x", b, got, b)
		}
	}
	for _, text := range []string{`{"name": "Ann", "age": 42}`, "déjà vu 漢字 \x00 🙂", "  \n\t[]{}", "The model reads a question."} {
		ids := v.Tokenize(nil, text, false)
		if got := string(v.Decode(ids)); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	// The merges are effective: texts like the corpus take few tokens.
	text := `{"name":"","type":"string"}`
	if ids := v.Tokenize(nil, text, false); len(ids) > 9 {
		t.Errorf("%s takes %d tokens", text, len(ids))
	}
}

func TestBundledRewritesDamage(t *testing.T) {
	var model bytes.Buffer
	if err := Random(&model, RandomOptions{Layers: 1, Width: 32}); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for what, from := range map[string]fs.FS{
		"none":    fstest.MapFS{"weights/README.md": {}},
		"trained": fstest.MapFS{"weights/README.md": {}, "weights/small.gguf": {Data: model.Bytes()}},
		"other":   fstest.MapFS{"weights/small.gguf": {Data: append(model.Bytes(), 0)}},
		"own":     weights,
	} {
		dir := filepath.Join(t.TempDir(), "made", "on", "demand")
		path, err := bundled(dir, from)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		good, err := os.ReadFile(path)
		if err != nil || !whole(path) {
			t.Fatalf("%s: not whole: %v", what, err)
		}
		if what != "own" {
			names[filepath.Base(path)] = true
		}
		if err := os.WriteFile(path, good[:len(good)/2], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := bundled(dir, from); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		again, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(again, good) {
			t.Errorf("%s: a truncated file was not replaced", what)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 {
			t.Errorf("%s: files left behind: %v, %v", what, left, err)
		}
	}
	if len(names) != 3 || !names[randomName] {
		t.Errorf("names in the cache: %v, want three, one of them %s", names, randomName)
	}
	two := fstest.MapFS{"weights/a.gguf": {Data: model.Bytes()}, "weights/b.gguf": {Data: model.Bytes()}}
	if _, err := bundled(t.TempDir(), two); err == nil || !strings.Contains(err.Error(), "weights/a.gguf, weights/b.gguf") {
		t.Errorf("two models: %v", err)
	}
}

// TestTrained writes a model from a weights file, and rejects damaged ones.
func TestTrained(t *testing.T) {
	dir := t.TempDir()
	vocabulary, path := filepath.Join(dir, "vocab.gguf"), filepath.Join(dir, "trained.gguf")
	if err := WriteRandom(vocabulary, RandomOptions{Layers: 1, Width: 32}); err != nil {
		t.Fatal(err)
	}
	shape := llama{layers: 2, width: 32, heads: 4, kvHeads: 2, ff: 64}
	header := map[string]any{"__metadata__": map[string]string{"heads": "4", "kv_heads": "2", "eps": "1e-05", "base": "10000000.0"}}
	var data []byte
	for _, n := range shape.tensors(640, true) {
		from, size := len(data), int64(1)
		dims := slices.Clone(n.shape)
		slices.Reverse(dims)
		for _, d := range dims {
			size *= d
		}
		for i := range size {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(i%7)+float32(from%5)))
		}
		header[n.name] = tensorInfo{"F32", dims, [2]int64{int64(from), int64(len(data))}}
	}
	file := func(header map[string]any) string {
		head, err := json.Marshal(header)
		if err != nil {
			t.Fatal(err)
		}
		raw := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
		name := filepath.Join(t.TempDir(), "weights.safetensors")
		if err := os.WriteFile(name, append(append(raw, head...), data...), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	opt := TrainedOptions{Vocab: vocabulary, Name: "small", Description: "what it is", License: "MIT", Context: 99}
	if err := WriteTrained(path, file(header), opt); err != nil {
		t.Fatal(err)
	}
	g, err := vocab.OpenGGUF(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.CheckTensors(); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]int64{"llama.block_count": 2, "llama.attention.head_count_kv": 2, "llama.context_length": 99, "llama.vocab_size": 640} {
		if got, _ := g.Int(key); got != want {
			t.Errorf("%s is %d, want %d", key, got, want)
		}
	}
	if got := g.Str("general.license"); got != "MIT" {
		t.Errorf("license %q", got)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range g.Tensors {
		h := header[info.Name].(tensorInfo)
		if !bytes.Equal(raw[g.DataOffset+info.Offset:][:info.Size], data[h.Offsets[0]:h.Offsets[1]]) {
			t.Errorf("%s: other numbers than in the file of weights", info.Name)
		}
	}

	name := "blk.1.ffn_down.weight"
	for what, entry := range map[string]any{
		"no tensor " + name: nil,
		"[64 32]":           tensorInfo{"F32", []int64{64, 32}, header[name].(tensorInfo).Offsets},
		"want 8192 bytes":   tensorInfo{"F32", []int64{32, 64}, [2]int64{0, 4}},
		"F16":               tensorInfo{"F16", []int64{32, 64}, header[name].(tensorInfo).Offsets},
	} {
		bad := maps.Clone(header)
		if bad[name] = entry; entry == nil {
			delete(bad, name)
		}
		if err := WriteTrained(path, file(bad), opt); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("error %v, want one with %q", err, what)
		}
	}
	delete(header, "__metadata__")
	if err := WriteTrained(path, file(header), opt); err == nil || !strings.Contains(err.Error(), "metadata") {
		t.Errorf("no metadata: error %v", err)
	}
	short := filepath.Join(dir, "short")
	if err := os.WriteFile(short, []byte("\xff\x00\x00\x00\x00\x00\x00\x00{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteTrained(path, short, opt); err == nil || !strings.Contains(err.Error(), "a header of 255 bytes in a file of 10") {
		t.Errorf("short file: error %v", err)
	}
}

// TestCopiedVocab checks that every key of the tokenizer arrives unchanged.
func TestCopiedVocab(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "from.gguf")
	if err := WriteRandom(dir, RandomOptions{Layers: 1, Width: 32}); err != nil {
		t.Fatal(err)
	}
	from, err := vocab.OpenGGUF(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, g := random(t, RandomOptions{Vocab: dir, Layers: 1, Width: 32, Name: "copy"})
	n := 0
	for _, p := range from.Pairs {
		if !strings.HasPrefix(p.Key, "tokenizer.") {
			continue
		}
		n++
		got, ok := g.Get(p.Key)
		if !ok || got.String() != p.Value.String() || got.Len() != p.Value.Len() {
			t.Errorf("%s: %v became %v", p.Key, p.Value, got)
		}
	}
	if n < 8 {
		t.Errorf("only %d keys of a tokenizer", n)
	}
}

func TestHalf(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		x    float32
		want uint16
	}{
		{0, 0}, {float32(math.Copysign(0, -1)), 0x8000}, {1, 0x3c00}, {-2, 0xc000}, {65504, 0x7bff}, {65519, 0x7bff}, {65520, 0x7c00},
		{inf, 0x7c00}, {-inf, 0xfc00}, {float32(math.NaN()), 0x7e00},
		{6.1035156e-05, 0x0400},                        // smallest normal number
		{5.9604645e-08, 0x0001},                        // smallest number
		{2.9802322e-08, 0x0000},                        // half of it: rounded to even
		{2.9802326e-08, 0x0001},                        // slightly more
		{1 + 1.0/2048, 0x3c00}, {1 + 3.0/2048, 0x3c02}, // ties, to even
		{0.33325195, 0x3555},
	} {
		if got := half(c.x); got != c.want {
			t.Errorf("half(%g) = %#04x, want %#04x", c.x, got, c.want)
		}
	}
}

func TestQuantise(t *testing.T) {
	row := make([]float32, 64)
	for i := range row {
		row[i] = float32(i%32) - 16
	}
	row[40] = 0
	q8 := Q8_0.Append(nil, row)
	if len(q8) != 68 {
		t.Fatalf("Q8_0: %d bytes", len(q8))
	}
	if d := binary.LittleEndian.Uint16(q8); d != half(16.0/127) {
		t.Errorf("Q8_0: scale %#x", d)
	}
	if got := int8(q8[2]); got != -127 {
		t.Errorf("Q8_0: -16 became %d", got)
	}
	q4 := Q4_0.Append(nil, row)
	if len(q4) != 36 {
		t.Fatalf("Q4_0: %d bytes", len(q4))
	}
	if d := binary.LittleEndian.Uint16(q4); d != half(2) {
		t.Errorf("Q4_0: scale %#x", d)
	}
	// -16 is -8 scales, stored as 0; 0, sixteen positions later, is stored as 8.
	if q4[2] != 0x80 {
		t.Errorf("Q4_0: first byte %#x", q4[2])
	}
	if zero := Q4_0.Append(nil, make([]float32, 32)); zero[2] != 0x88 {
		t.Errorf("Q4_0: zeros became %#x", zero[2])
	}
}

func TestBrainHalf(t *testing.T) {
	for _, c := range []struct {
		x    float32
		want uint16
	}{
		{0, 0}, {1, 0x3f80}, {-2, 0xc000}, {float32(math.Inf(1)), 0x7f80}, {math.MaxFloat32, 0x7f80},
		{1 + 1.0/256, 0x3f80}, {1 + 3.0/256, 0x3f82}, // ties, to even
		{1 + 1.1/256, 0x3f81},
	} {
		if got := brainHalf(c.x); got != c.want {
			t.Errorf("brainHalf(%g) = %#04x, want %#04x", c.x, got, c.want)
		}
	}
	if got := brainHalf(math.Float32frombits(0x7f800001)); got&0x7f80 != 0x7f80 || got&0x7f == 0 {
		t.Errorf("not a number became %#04x", got)
	}
}

func TestParseType(t *testing.T) {
	for typ := range types {
		got, err := ParseType(strings.ToLower(Type(typ).String()))
		if err != nil || got != Type(typ) {
			t.Errorf("%s: %v, %v", Type(typ), got, err)
		}
	}
	if _, err := ParseType("Q9"); err == nil {
		t.Error("Q9 was accepted")
	}
}
