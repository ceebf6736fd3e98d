package vocab

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func parseGGUF(data []byte) (*GGUF, error) {
	return ReadGGUF(bytes.NewReader(data), int64(len(data)))
}

// sampleGGUF returns a file with one key of each type.
func sampleGGUF() []byte {
	var b ggufBuilder
	b.str("general.architecture", "llama")
	b.u32("general.alignment", 64)
	b.flag("yes", true)
	b.strs("names", []string{"", "a", "grün"})
	b.ints("numbers", []int32{-1, 0, 1 << 30})
	b.floats("floats", []float32{0.5, -2})
	b.bytes("bytes", []byte{1, 2})
	return b.file()
}

// withTensor appends a tensor's entry to a file built by ggufBuilder.
func withTensor(file []byte, name string, typ uint32, offset uint64, shape ...uint64) []byte {
	le := binary.LittleEndian
	out := slices.Clone(file)
	le.PutUint64(out[8:], le.Uint64(out[8:])+1)
	out = append(le.AppendUint64(out, uint64(len(name))), name...)
	out = le.AppendUint32(out, uint32(len(shape)))
	for _, n := range shape {
		out = le.AppendUint64(out, n)
	}
	return le.AppendUint64(le.AppendUint32(out, typ), offset)
}

func TestReadGGUF(t *testing.T) {
	file := withTensor(sampleGGUF(), "w", 8, 128, 64, 3)
	g, err := parseGGUF(file)
	if err != nil {
		t.Fatal(err)
	}
	if g.Version != 3 || g.Alignment != 64 || g.DataOffset%64 != 0 || g.DataOffset < int64(len(file)) {
		t.Errorf("version %d, alignment %d, data at %d of %d", g.Version, g.Alignment, g.DataOffset, len(file))
	}
	var shown []string
	for _, p := range g.Pairs {
		shown = append(shown, p.Key+"="+p.Value.String())
	}
	want := []string{"general.architecture=llama", "general.alignment=64", "yes=true", "names=3 × string [, a, grün]",
		"numbers=3 × int32 [-1, 0, 1073741824]", "floats=2 × float32 [0.5, -2]", "bytes=2 × uint8 [1, 2]"}
	if !slices.Equal(shown, want) {
		t.Errorf("got %q, want %q", shown, want)
	}
	if g.Str("general.architecture") != "llama" || g.Str("yes") != "" || g.Str("none") != "" {
		t.Error("Str")
	}
	if n, ok := g.Int("general.alignment"); n != 64 || !ok {
		t.Error("Int")
	}
	if _, ok := g.Int("yes"); ok {
		t.Error("a truth value is no integer")
	}
	if b, ok := g.Bool("yes"); !b || !ok {
		t.Error("Bool")
	}
	tensor := g.Tensors[0]
	if tensor.Name != "w" || tensor.Type.String() != "Q8_0" || tensor.Elements() != 192 || tensor.Size != 6*34 || tensor.Offset != 128 {
		t.Errorf("tensor %+v", tensor)
	}
	if err := g.CheckTensors(); !errors.Is(err, ErrTruncated) {
		t.Errorf("the tensor's data is missing, but CheckTensors says %v", err)
	}
	whole := append(file, make([]byte, g.DataOffset+128+6*34-int64(len(file)))...)
	if g, err = parseGGUF(whole); err != nil || g.CheckTensors() != nil {
		t.Errorf("the whole file is refused: %v", err)
	}
}

// TestTensorTypes compares sizes with those of ggml_type_size and ggml_blck_size in llama.cpp
// 0.5.0.
func TestTensorTypes(t *testing.T) {
	for _, c := range []struct {
		typ   TensorType
		name  string
		row   int64 // elements
		bytes int64
	}{
		{0, "F32", 3, 12}, {12, "Q4_K", 512, 288}, {39, "MXFP4", 64, 34}, {40, "NVFP4", 128, 72}, {41, "Q1_0", 256, 36}, {42, "Q2_0", 128, 36},
		{4, "type 4", 7, -1}, {38, "type 38", 7, -1}, {43, "type 43", 7, -1},
	} {
		size, err := c.typ.size([]int64{c.row, 5})
		if want := max(5*c.bytes, -1); c.typ.String() != c.name || size != want || err != nil {
			t.Errorf("type %d is %s, 5 rows of %d elements take %d (%v), want %s, %d", uint32(c.typ), c.typ, c.row, size, err, c.name, want)
		}
		if _, err := c.typ.size([]int64{c.row + 1}); (err == nil) != (c.bytes < 0 || c.name == "F32") {
			t.Errorf("%s: %d elements in a row: %v", c.typ, c.row+1, err)
		}
	}
}

func TestReadGGUFTruncated(t *testing.T) {
	file := withTensor(sampleGGUF(), "w", 8, 128, 64, 3)
	for n := range file {
		_, err := parseGGUF(file[:n])
		var ge *GGUFError
		if !errors.As(err, &ge) || !errors.Is(err, ErrTruncated) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		if ge.Offset < 0 || ge.Offset > int64(n) {
			t.Fatalf("cut to %d bytes: the error is at %d", n, ge.Offset)
		}
	}
}

func TestReadGGUFRefuses(t *testing.T) {
	edit := func(at int, with ...byte) []byte {
		file := sampleGGUF()
		copy(file[at:], with)
		return file
	}
	twice := func() []byte {
		var b ggufBuilder
		b.flag("a", true)
		b.flag("a", true)
		return b.file()
	}
	align := func(n uint32) []byte {
		var b ggufBuilder
		b.u32("general.alignment", n)
		return b.file()
	}
	const firstKey = 24
	const firstType = firstKey + 8 + len("general.architecture")
	huge := bytes.Repeat([]byte{0xff}, 8)
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"magic", `at byte 0: not a GGUF file: it begins with "PK\x03\x04"`, edit(0, []byte("PK\x03\x04")...)},
		{"version", "at byte 4: version 1 is not supported", edit(4, 1)},
		{"big-endian", "big-endian", edit(4, 0, 0, 0, 3)},
		{"tensors", "number of tensors", edit(8, huge...)},
		{"keys", "number of keys", edit(16, huge...)},
		{"keys within limits", "do not fit into the", edit(16, 0, 0, 1, 0, 0, 0, 0, 0)},
		{"key length", "at byte 24: length of a string", edit(firstKey, huge...)},
		{"value type", `key "general.architecture": unknown value type 99`, edit(firstType, 99)},
		{"array of arrays", "arrays of arrays", edit(firstType, 9, 0, 0, 0, 9)},
		{"array type", "unknown type 77", edit(firstType, 9, 0, 0, 0, 77)},
		{"array length", "length of an array", edit(firstType, append([]byte{9, 0, 0, 0, 4, 0, 0, 0}, huge...)...)},
		{"key twice", `duplicate key "a"`, twice()},
		{"alignment", "general.alignment is 3", align(3)},
		{"no alignment", "general.alignment is 0", align(0)},
		{"dimensions", `tensor "w": 5 dimensions`, withTensor(sampleGGUF(), "w", 0, 0, 1, 1, 1, 1, 1)},
		{"no dimensions", `tensor "w": 0 dimensions`, withTensor(sampleGGUF(), "w", 0, 0)},
		{"size overflow", "too large", withTensor(sampleGGUF(), "w", 0, 0, 1<<40, 1<<40)},
		{"bytes overflow", "too large", withTensor(sampleGGUF(), "w", 0, 0, 1<<62)},
		{"negative size", "too large", withTensor(sampleGGUF(), "w", 0, 0, 1<<63)},
		{"block", "not a multiple of the 32 in a block of Q4_0", withTensor(sampleGGUF(), "w", 2, 0, 33)},
		{"tensor offset", "not a multiple of the alignment", withTensor(sampleGGUF(), "w", 0, 7, 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseGGUF(c.file)
			var ge *GGUFError
			if !errors.As(err, &ge) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestReadGGUFAllocation checks that a file of a few bytes that announces large sizes does not
// cause large allocations.
func TestReadGGUFAllocation(t *testing.T) {
	le := binary.LittleEndian
	// The announced file size is 1 TB, so lengths up to that pass the first check.
	var b ggufBuilder
	b.array("tokens", TypeString, 1<<30)
	strs := b.file()
	b = ggufBuilder{}
	b.array("numbers", TypeInt64, 1<<30)
	numbers := b.file()
	b = ggufBuilder{}
	b.key("text", TypeString)
	b.keys = le.AppendUint64(b.keys, 1<<31-1)
	text := b.file()
	for _, file := range [][]byte{strs, numbers, text} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadGGUF(bytes.NewReader(file), 1<<40)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrTruncated) {
			t.Errorf("got %v", err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
			t.Errorf("%d bytes were allocated for a file of %d", n, len(file))
		}
	}
}

func TestOpenGGUF(t *testing.T) {
	if _, err := OpenGGUF(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := OpenGGUF(t.TempDir() + "/none"); err == nil {
		t.Error("a file that is not there")
	}
}

func FuzzGGUF(f *testing.F) {
	f.Add(sampleGGUF())
	f.Add(withTensor(sampleGGUF(), "w", 8, 128, 64, 3))
	for _, model := range []string{"gpt2", "llama", "bert", "t5", "rwkv", "plamo2"} {
		var b ggufBuilder
		b.str("tokenizer.ggml.model", model)
		b.str("tokenizer.ggml.pre", "llama-bpe")
		b.tokens([]Token{{Text: "<0x0A>", Kind: Byte}, {Text: "a"}, {Text: "▁b", Score: -1}, {Text: "</s>", Kind: Control}, {Text: `\x00`, Kind: UserDefined}})
		b.strs("tokenizer.ggml.merges", []string{"a b", "", "x"})
		b.bytes("tokenizer.ggml.precompiled_charsmap", []byte{4, 0, 0, 0, 1, 2, 3, 4, 'x', 0})
		f.Add(b.file())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := parseGGUF(data)
		if err != nil {
			var ge *GGUFError
			if !errors.As(err, &ge) {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		g.CheckTensors()
		for _, p := range g.Pairs {
			_ = p.Value.String()
		}
		v, err := FromGGUF(g)
		if err != nil {
			return
		}
		for id := range int32(v.Len()) {
			v.Bytes(id)
			v.Piece(id)
		}
		v.Detokenize(v.Encode("a b\n</s>\x00文"), true, true)
		v.TokenizeText(nil, []byte("a\xff"))
	})
}
