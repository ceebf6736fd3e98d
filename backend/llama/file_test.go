package llama

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/models"
)

// TestLoadErrors loads invalid files. It works with and without llama.cpp, except for errors
// that only llama.cpp detects.
func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if err := models.Random(&b, models.RandomOptions{Layers: 1, Width: 32}); err != nil {
		t.Fatal(err)
	}
	good := b.Bytes()
	swap := func(old, new string) []byte {
		if len(old) != len(new) || !bytes.Contains(good, []byte(old)) {
			t.Fatalf("cannot replace %q by %q", old, new)
		}
		return bytes.Replace(good, []byte(old), []byte(new), 1)
	}
	var noArch, noTensors bytes.Buffer
	w := new(models.Writer)
	w.String("general.name", "nothing")
	if err := w.Write(&noArch, nil); err != nil {
		t.Fatal(err)
	}
	w.String("general.architecture", "llama")
	w.Strings("tokenizer.ggml.tokens", []string{"a"})
	if err := w.Write(&noTensors, nil); err != nil {
		t.Fatal(err)
	}
	bigEndian := append([]byte(nil), good...)
	binary.BigEndian.PutUint32(bigEndian[4:], 3)

	for _, c := range []struct {
		name string
		data []byte
		is   error
		text string
		real bool // needs llama.cpp
	}{
		{"empty.gguf", nil, backend.ErrNotModel, "empty.gguf", false},
		{"text.gguf", []byte("<html>404</html> and some more text to read"), backend.ErrNotModel, "not a GGUF file", false},
		{"short.gguf", []byte("GG"), backend.ErrNotModel, "short.gguf", false},
		{"version.gguf", append([]byte("GGUF\x09\x00\x00\x00"), good[8:]...), backend.ErrNotModel, "version 9", false},
		{"big-endian.gguf", bigEndian, backend.ErrNotModel, "big-endian", false},
		{"magic.gguf", good[:4], backend.ErrTruncated, "magic.gguf", false},
		{"header.gguf", good[:1000], backend.ErrTruncated, "1000 bytes", false},
		{"tensors.gguf", good[:len(good)-4000], backend.ErrTruncated, `tensor "output.weight"`, false},
		{"almost.gguf", good[:len(good)-1], backend.ErrTruncated, `tensor "output.weight"`, false},
		{"no-architecture.gguf", noArch.Bytes(), backend.ErrNotModel, "names no architecture", false},
		{"no-tensors.gguf", noTensors.Bytes(), backend.ErrNotModel, "no weights", false},
		{"architecture.gguf", swap("\x05\x00\x00\x00\x00\x00\x00\x00llama", "\x05\x00\x00\x00\x00\x00\x00\x00alpac"), backend.ErrArchitecture, `"alpac"`, true},
		{"missing-key.gguf", swap("llama.embedding_length", "llama.embedding_strength"[:22]), nil, "llama.embedding_length", true},
		{"missing-tensor.gguf", swap("blk.0.ffn_up.weight", "blk.0.ffn_UP.weight"), nil, "ffn_up.weight", true},
	} {
		if c.real && !Built {
			continue
		}
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, c.data, 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := Load(context.Background(), path, LoadOptions{})
		switch {
		case err == nil:
			m.Close()
			t.Errorf("%s was loaded", c.name)
		case c.is != nil && !errors.Is(err, c.is):
			t.Errorf("%s: %v, want %v", c.name, err, c.is)
		case !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), c.name):
			t.Errorf("%s: %v, want %q and the name in it", c.name, err, c.text)
		}
	}
	if _, err := Load(context.Background(), filepath.Join(dir, "none.gguf"), LoadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Load(context.Background(), dir, LoadOptions{}); !errors.Is(err, backend.ErrNotModel) {
		t.Errorf("a folder: %v", err)
	}
}

// TestSplitNames checks that the parts of a split model are checked before llama.cpp does so.
func TestSplitNames(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) string {
		w := new(models.Writer)
		w.String("general.architecture", "llama")
		w.Uint32("split.count", 3)
		if err := w.Tensor("x", models.F32, []int64{8}, func([]float32) {}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := w.Write(f, nil); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first, second := write("m-00001-of-00003.gguf"), write("m-00002-of-00003.gguf")
	if _, err := openFile(first); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "m-00003-of-00003.gguf") {
		t.Errorf("a missing part: %v", err)
	}
	write("m-00003-of-00003.gguf")
	f, err := openFile(first)
	if err != nil {
		t.Fatal(err)
	}
	if f.weights != 3*32 {
		t.Errorf("weights of all parts: %d bytes", f.weights)
	}
	if _, err := openFile(second); err == nil || !strings.Contains(err.Error(), "give the first") {
		t.Errorf("the second part: %v", err)
	}
	if _, err := openFile(write("renamed.gguf")); !errors.Is(err, backend.ErrNotModel) {
		t.Errorf("a renamed part: %v", err)
	}
}

func TestInfo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	opt := models.RandomOptions{Name: "the name", Layers: 3, Width: 64, Heads: 4, KVHeads: 2, FF: 128, Context: 999, Type: models.Q8_0}
	if err := models.WriteRandom(path, opt); err != nil {
		t.Fatal(err)
	}
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := f.info()
	params := uint64(2*640*64 + 64 + 3*(2*64+2*64*64+2*64*32+3*64*128))
	if got.Name != "the name" || got.Architecture != "llama" || got.Quantization != "Q8_0" || got.Layers != 3 || got.Width != 64 ||
		got.Heads != 4 || got.KVHeads != 2 || got.ContextLength != 999 || got.Parameters != params ||
		!strings.HasPrefix(got.Description, models.RandomDescription) {
		t.Errorf("%+v, want %d parameters", got, params)
	}
}

// written returns the file of a writer, with a tensor in it.
func written(t *testing.T, w *models.Writer) *file {
	t.Helper()
	if err := w.Tensor("x", models.F32, []int64{8}, func([]float32) {}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.gguf")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := w.Write(out, nil); err != nil {
		t.Fatal(err)
	}
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestSampling reads keys under general.sampling, including some with invalid types and values.
func TestSampling(t *testing.T) {
	w := new(models.Writer)
	w.String("general.architecture", "llama")
	w.Float32("general.sampling.temp", 0.5)
	w.Uint32("general.sampling.top_k", 20)
	w.Float32("general.sampling.penalty_repeat", 1.25)
	w.Uint32("general.sampling.penalty_last_n", 64)
	w.Float32("general.sampling.top_p", float32(math.NaN()))
	w.String("general.sampling.min_p", "0.1")
	w.Float32("general.sampling.unheard_of", 1)
	w.String("general.sampling.sequence", "top_k;temperature")
	f := written(t, w)
	want := map[string]any{
		"temperature": 0.5, "top_k": int64(20), "repeat_penalty": 1.25, "repeat_last_n": int64(64), "samplers": []string{"top_k", "temperature"},
	}
	if got := f.info().Sampling; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestMemoryFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	m := meminfo(write("meminfo", "MemTotal:       1000 kB\nMemFree:  1 kB\nMemAvailable:    600 kB\n"))
	if m.total != 1000<<10 || m.available != 600<<10 {
		t.Errorf("meminfo: %+v", m)
	}
	group, ok := cgroupPath(write("cgroup", "1:name=systemd:/x\n0::/a/b\n"))
	if !ok || group != "/a/b" {
		t.Errorf("cgroup: %q, %v", group, ok)
	}
	// The inner group is unlimited, the outer one has 500 KiB of which 300 are used, 100 of these
	// by cached files.
	write("fs/a/b/memory.max", "max\n")
	write("fs/a/memory.max", "512000\n")
	write("fs/a/memory.current", "307200\n")
	write("fs/a/memory.stat", "anon 5\ninactive_file 102400\nactive_file 0\n")
	got := m.within(filepath.Join(dir, "fs"), group)
	if got.total != 512000 || got.available != 512000-307200+102400 {
		t.Errorf("within: %+v", got)
	}
	if got := m.within(filepath.Join(dir, "fs"), "/none"); got != m {
		t.Errorf("no limits: %+v", got)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[Size]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536 << 20: "1.5 GiB", 5 << 50: "5.0 PiB"} {
		if got := n.String(); got != want {
			t.Errorf("%d: %s, want %s", int64(n), got, want)
		}
	}
}
