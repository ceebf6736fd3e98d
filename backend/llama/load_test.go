//go:build llama && cgo

package llama

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama/internal/reference"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/models"
)

func TestProgress(t *testing.T) {
	path := randomModel(t, models.RandomOptions{Layers: 4, Width: 256})
	for _, noMMap := range []bool{false, true} {
		var seen []float64
		load(t, path, LoadOptions{NoMMap: noMMap, CheckTensors: true, Progress: func(x float64) { seen = append(seen, x) }})
		if len(seen) < 2 || !slices.IsSorted(seen) || seen[len(seen)-1] != 1 {
			t.Errorf("progress %v", seen)
		}
		ctx, cancel := context.WithCancel(context.Background())
		m, err := Load(ctx, path, LoadOptions{NoMMap: noMMap, Progress: func(float64) { cancel() }})
		if m != nil || !errors.Is(err, backend.ErrAborted) || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled while loading: %v", err)
		}
		if _, err := Load(ctx, path, LoadOptions{}); !errors.Is(err, backend.ErrAborted) {
			t.Errorf("cancelled before loading: %v", err)
		}
	}
}

func TestCheckTensors(t *testing.T) {
	var b bytes.Buffer
	if err := models.Random(&b, models.RandomOptions{}); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	copy(data[len(data)-64:], bytes.Repeat([]byte{0xff}, 64)) // NaNs
	path := filepath.Join(t.TempDir(), "nan.gguf")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(context.Background(), path, LoadOptions{CheckTensors: true}); err == nil || !strings.Contains(err.Error(), "output.weight") {
		t.Errorf("invalid numbers: %v", err)
	}
}

// rss returns the resident memory of the process in bytes, 0 if unknown.
func rss(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("resident memory can only be read on Linux")
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// TestLoadCycles loads, uses and unloads a model 200 times.
func TestLoadCycles(t *testing.T) {
	path := randomModel(t, models.RandomOptions{})
	cycle := func() {
		m, err := Load(context.Background(), path, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := m.NewContext(backend.ContextParams{Size: 512, MaxSeqs: 2, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		feed(t, c, 0, 1, 2, 3)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	settle := func() int64 {
		runtime.GC()
		debug.FreeOSMemory()
		return rss(t)
	}
	for range 40 { // until allocators and pools have reached their size
		cycle()
	}
	before := settle()
	for range 200 {
		cycle()
	}
	grown := settle() - before
	t.Logf("resident memory grew by %d KiB in 200 cycles", grown>>10)
	// llama.cpp itself leaks about 100 bytes for each tensor that it loads (a dummy
	// buffer that is never deleted), and the C library's heaps vary. A leaked cache
	// would be 50 MB, a vocabulary 30.
	if grown > 5<<20 {
		t.Errorf("resident memory grew by %s in 200 cycles", Size(grown))
	}
}

// logLines is a slog handler that records the messages.
type logLines struct {
	mu     sync.Mutex
	lines  []string
	levels []slog.Level
}

func (l *logLines) Enabled(context.Context, slog.Level) bool { return true }
func (l *logLines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines, l.levels = append(l.lines, r.Message), append(l.levels, r.Level)
	return nil
}
func (l *logLines) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *logLines) WithGroup(string) slog.Handler      { return l }

// captureLog collects llama.cpp's log for the rest of the test.
func captureLog(t *testing.T) *logLines {
	l := new(logLines)
	old := logger.Load()
	SetLogger(slog.New(l))
	t.Cleanup(func() { SetLogger(old) })
	return l
}

func TestLog(t *testing.T) {
	l := captureLog(t)
	load(t, randomModel(t, models.RandomOptions{Name: "seen in the log"}), LoadOptions{})
	found := false
	for _, line := range l.lines {
		found = found || strings.Contains(line, "seen in the log")
		if line == "" || strings.ContainsAny(line, "\n\r") || line != strings.TrimSpace(line) {
			t.Errorf("not a whole line: %q", line)
		}
	}
	if !found {
		t.Errorf("%d lines, none with the model's name", len(l.lines))
	}
}

// TestLogFull fills the cells of models with each kind of memory: that is returned
// as an error and not logged.
func TestLogFull(t *testing.T) {
	for _, name := range []string{"llama", "gemma3", "lfm2", "granitehybrid"} {
		m := load(t, writeFamily(t, name), LoadOptions{})
		c := newCtx(t, m, backend.ContextParams{Size: 256})
		l := captureLog(t)
		var b backend.Batch
		b.AddTokens(0, 0, someTokens(m, 256, 1), false)
		if err := c.Decode(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
		b.Reset()
		b.Add(0, 256, 1, true)
		if err := c.Decode(context.Background(), &b); !errors.Is(err, backend.ErrNoSlot) {
			t.Errorf("%s: %v, want %v", name, err, backend.ErrNoSlot)
		}
		found := false
		for i, line := range l.lines {
			found = found || isHandled(line)
			if l.levels[i] > slog.LevelDebug {
				t.Errorf("%s: at level %v: %s", name, l.levels[i], line)
			}
		}
		if !found {
			t.Errorf("%s: llama.cpp says it in other words: %q", name, l.lines)
		}
	}
}

// grown grows a context to its size and leaves in l what llama.cpp logged when it
// created the last one.
func grown(t *testing.T, c backend.Context, l *logLines) {
	t.Helper()
	for g := c.(*cContext); g.Cells() < g.Size(); {
		l.lines = nil
		if !g.Grow(true) {
			t.Fatalf("%d cells do not become %d", g.Cells(), g.Size())
		}
	}
}

// TestEstimate compares the estimate with what llama.cpp reports.
func TestEstimate(t *testing.T) {
	for name, c := range map[string]struct {
		opt models.RandomOptions
		p   backend.ContextParams
	}{
		"small":        {models.RandomOptions{}, backend.ContextParams{}},
		"large vocab":  {models.RandomOptions{Vocab: "vocab/llama3.gguf", Type: models.Q8_0}, backend.ContextParams{Size: 2048, MaxSeqs: 4}},
		"wide":         {models.RandomOptions{Layers: 3, Width: 1024, FF: 4096, KVHeads: 8, Type: models.Q4_0}, backend.ContextParams{Size: 8192, MaxBatch: 256}},
		"long":         {models.RandomOptions{Layers: 2, Width: 512, Heads: 32, Context: 1 << 16}, backend.ContextParams{Size: 8192}},
		"too long":     {models.RandomOptions{Layers: 2, Width: 512, Heads: 32, Context: 1 << 16}, backend.ContextParams{Size: 1 << 15}},
		"many heads":   {models.RandomOptions{Layers: 2, Width: 512, Heads: 32, KVHeads: 4}, backend.ContextParams{MaxBatch: 2048, MaxSeqs: 8}},
		"flash":        {models.RandomOptions{Layers: 2, Width: 256, Heads: 8}, backend.ContextParams{Size: 8192, FlashAttention: backend.FlashOn}},
		"no flash":     {models.RandomOptions{Layers: 2, Width: 256, Heads: 8}, backend.ContextParams{Size: 8192, FlashAttention: backend.FlashOff}},
		"q8 cache":     {models.RandomOptions{Layers: 2, Width: 256, Heads: 8}, backend.ContextParams{Size: 10000, CacheType: backend.CacheQ8_0}},
		"tiny batches": {models.RandomOptions{Layers: 2, Width: 256}, backend.ContextParams{Size: 512, MaxBatch: 8, CacheType: backend.CacheF32}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.opt.Vocab != "" {
				c.opt.Vocab = shared.File(t, c.opt.Vocab)
			}
			path := randomModel(t, c.opt)
			e, err := EstimateMemory(path, c.p)
			if err != nil {
				t.Fatal(err)
			}
			m := load(t, path, LoadOptions{})
			l := captureLog(t)
			grown(t, newCtx(t, m, c.p), l)
			sum := func(what string) (n float64) {
				re := regexp.MustCompile(what + `.*size = +([0-9.]+) MiB`)
				for _, line := range l.lines {
					if m := re.FindStringSubmatch(line); m != nil {
						x, _ := strconv.ParseFloat(m[1], 64)
						n += x * (1 << 20)
					}
				}
				return n
			}
			cache, compute, output := sum("KV buffer"), sum("compute buffer"), sum("output buffer")
			t.Logf("estimate %v; compute %s, cache %s, output %s", e, Size(compute), Size(cache), Size(output))
			near := func(what string, got int64, want, below, above float64) {
				if f := float64(got); f < want*below-1<<20 || f > want*above+16<<20 {
					t.Errorf("%s: estimated %s, it is %s", what, Size(got), Size(want))
				}
			}
			if cache == 0 || compute == 0 {
				t.Fatal("llama.cpp did not say what it takes")
			}
			near("weights", e.Weights, float64(m.Info().Bytes), 1, 1)
			near("cache", e.Cache, cache, 0.99, 1.01)
			near("output", e.Output, output, 0.99, 1.01)
			near("compute", e.Compute, compute, 0.9, 2)
			if e.Total() != e.Weights+e.Cache+e.Compute+e.Output {
				t.Error("the total is not the sum")
			}
		})
	}
}

func TestMemoryRefused(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory is known on Linux only")
	}
	path := randomModel(t, models.RandomOptions{Layers: 16, Width: 1024, Heads: 16, FF: 32, Context: 1 << 20})
	m := load(t, path, LoadOptions{})
	// 32 KiB × 2 a cell, so 16 Mi cells take a terabyte.
	_, err := m.NewContext(backend.ContextParams{Size: 16 << 20})
	if !errors.Is(err, backend.ErrMemory) || !strings.Contains(err.Error(), "1.0 TiB") {
		t.Errorf("a terabyte of cache: %v", err)
	}
	feed(t, newCtx(t, m, backend.ContextParams{Size: 256}), 0, 1, 2, 3) // the model still works

	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f.weights = 1 << 50
	for _, opt := range []LoadOptions{{}, {NoMMap: true}, {Lock: true}} {
		if err := checkWeights(f, opt); !errors.Is(err, backend.ErrMemory) || !strings.Contains(err.Error(), "1.0 PiB") {
			t.Errorf("%+v: %v", opt, err)
		}
	}
}

// writeAdapter writes an adapter of random numbers for a model with two layers of
// width 64.
func writeAdapter(t *testing.T, path, arch string, width int64) {
	t.Helper()
	w := new(models.Writer)
	w.String("general.architecture", arch)
	w.String("general.type", "adapter")
	w.String("adapter.type", "lora")
	w.Float32("adapter.lora.alpha", 4)
	rng := rand.New(rand.NewPCG(1, 2))
	fill := func(row []float32) {
		for i := range row {
			row[i] = float32(rng.NormFloat64()) / 8
		}
	}
	const rank = 4
	for _, e := range []error{
		w.Tensor("blk.0.attn_q.weight.lora_a", models.F32, []int64{width, rank}, fill),
		w.Tensor("blk.0.attn_q.weight.lora_b", models.F32, []int64{rank, width}, fill),
		w.Tensor("blk.1.ffn_up.weight.lora_a", models.F32, []int64{width, rank}, fill),
		w.Tensor("blk.1.ffn_up.weight.lora_b", models.F32, []int64{rank, 192}, fill),
	} {
		if e != nil {
			t.Fatal(e)
		}
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := w.Write(f, nil); err != nil {
		t.Fatal(err)
	}
}

// TestLoRA applies an adapter of random numbers.
func TestLoRA(t *testing.T) {
	dir := t.TempDir()
	adapter := func(name, arch string, width int64) string {
		path := filepath.Join(dir, name)
		writeAdapter(t, path, arch, width)
		return path
	}
	good := adapter("good.gguf", "llama", 64)
	path := randomModel(t, models.RandomOptions{})
	logits := func(l ...LoRA) []float32 {
		m := load(t, path, LoadOptions{LoRA: l})
		return feed(t, newCtx(t, m, backend.ContextParams{}), 0, 1, 2, 3)
	}
	plain := logits()
	full := logits(LoRA{Path: good})
	if r := correlation(plain, full); r > 0.9999 {
		t.Errorf("the adapter changes nothing: correlation %g", r)
	}
	sameLogits(t, "scale 1 is the default", logits(LoRA{Path: good, Scale: 1}), full)
	sameLogits(t, "an adapter and its opposite", logits(LoRA{good, 0.5}, LoRA{good, -0.5}), plain)

	// Scales of a context.
	m := load(t, path, LoadOptions{LoRA: []LoRA{{Path: good}}})
	adapted := func(scales ...float32) []float32 {
		c := newCtx(t, m, backend.ContextParams{})
		a := c.(backend.Adaptable)
		if list := a.Adapters(); len(list) != 1 || list[0].Scale != 1 || list[0].Path != good {
			t.Errorf("%v", list)
		}
		for _, scale := range scales {
			if err := a.Adapt([]float32{scale}); err != nil {
				t.Fatal(err)
			}
		}
		return feed(t, c, 0, 1, 2, 3)
	}
	sameLogits(t, "as loaded", adapted(), full)
	sameLogits(t, "none of it", adapted(0), plain)
	sameLogits(t, "none of it, and all again", adapted(0, 1), full)
	sameLogits(t, "half of it", adapted(0.5), logits(LoRA{good, 0.5}))
	if err := newCtx(t, m, backend.ContextParams{}).(backend.Adaptable).Adapt(nil); err == nil {
		t.Error("no scale for an adapter")
	}

	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	// What ends the process in llama.cpp: a type that it asserts, and one that ggml has no function for.
	typed := func(name, text string, after int, typ byte) string {
		data, path := bytes.Clone(whole), filepath.Join(dir, name)
		data[bytes.Index(data, []byte(text))+len(text)+after] = typ
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}

	for _, bad := range []struct {
		path string
		text string
	}{
		{filepath.Join(dir, "none.gguf"), "no such file"},
		{typed("alpha.gguf", "adapter.lora.alpha", 0, 4), "adapter.lora.alpha is of type uint32, not float32"},
		{typed("i32.gguf", "blk.0.attn_q.weight.lora_a", 4+8+8, 26), "blk.0.attn_q.weight.lora_a is of type I32"},
		{path, "not an adapter"},
		{adapter("width.gguf", "llama", 32), "not an adapter"},
		{adapter("arch.gguf", "qwen2", 64), "not an adapter"},
	} {
		if _, err := Load(context.Background(), path, LoadOptions{LoRA: []LoRA{{Path: bad.path}}}); err == nil || !strings.Contains(err.Error(), bad.text) {
			t.Errorf("%s: %v, want %q", bad.path, err, bad.text)
		}
	}
}

func TestDevices(t *testing.T) {
	list, err := Devices()
	if err != nil {
		t.Fatal(err)
	}
	cpus := 0
	for _, d := range list {
		if d.Kind == "cpu" {
			cpus++
			if d.Name == "" || d.Description == "" || d.MemoryTotal == 0 {
				t.Errorf("%+v", d)
			}
		}
	}
	if cpus != 1 {
		t.Errorf("%d CPUs in %+v", cpus, list)
	}
	if f := CPUFeatures(); runtime.GOARCH == "amd64" && !strings.Contains(f, "SSE3") || f == "" {
		t.Errorf("features %q", f)
	}
	if found, err := LoadBackends(filepath.Join(t.TempDir(), "none")); err != nil || found != nil {
		t.Errorf("no folder: %v, %v", found, err)
	}
	if found, err := LoadBackends(t.TempDir()); err != nil || found != nil {
		t.Errorf("an empty folder: %v, %v", found, err)
	}
	path := randomModel(t, models.RandomOptions{})
	if _, err := Load(context.Background(), path, LoadOptions{GPULayers: AllLayers, Devices: []string{"Toaster0"}}); err == nil || !strings.Contains(err.Error(), "Toaster0") {
		t.Errorf("a device that is not there: %v", err)
	}
	m := load(t, path, LoadOptions{GPULayers: AllLayers}) // falls back to the CPU if there is no GPU
	feed(t, newCtx(t, m, backend.ContextParams{}), 0, 1, 2)
}

// TestQuantise compares the formats that package models writes with ggml's
// own reference.
func TestQuantise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, typ := range []struct {
		t    models.Type
		ggml uint32
	}{{models.Q8_0, 8}, {models.Q4_0, 2}} {
		differ, blocks := 0, 0
		for round := range 2000 {
			row := make([]float32, 128)
			for i := range row {
				switch round % 4 {
				case 0:
					row[i] = float32(rng.NormFloat64())
				case 1:
					row[i] = float32(rng.NormFloat64()) * 1e-6 // scales below normal half precision
				case 2:
					row[i] = float32(rng.IntN(5) - 2) // many equal magnitudes
				case 3:
					row[i] = float32(rng.NormFloat64()) * float32(i%3) * 1000
				}
			}
			got, want := typ.t.Append(nil, row), reference.Quantise(typ.ggml, row)
			if len(got) != len(want) {
				t.Fatalf("%s: %d bytes, want %d", typ.t, len(got), len(want))
			}
			size := len(want) / 4
			for i := range 4 {
				blocks++
				if !bytes.Equal(got[i*size:(i+1)*size], want[i*size:(i+1)*size]) {
					differ++
				}
			}
		}
		if differ > 0 {
			t.Errorf("%s: %d of %d blocks differ from ggml's", typ.t, differ, blocks)
		}
	}
	for range 200000 {
		x := float32(rng.NormFloat64()) * float32(int(1)<<rng.IntN(30)) / (1 << 20)
		got := models.F16.Append(nil, []float32{x})
		if want := reference.Half(x); uint16(got[0])|uint16(got[1])<<8 != want {
			t.Fatalf("half precision of %g is %#x, want %#x", x, got, want)
		}
	}
}

// TestLoadBackends loads what `make cuda` or `make vulkan` has put into lib/, in a
// separate process, since backends cannot be unloaded.
func TestLoadBackends(t *testing.T) {
	const key = "STENCIL_TEST_BACKENDS"
	if os.Getenv(key) == "" {
		lib := filepath.Join(filepath.Dir(filepath.Dir(mustGetwd(t))), "lib")
		if _, err := os.Stat(lib); err != nil {
			t.Skip("there is no lib/: run make cuda or make vulkan")
		}
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe, "-test.run=^TestLoadBackends$", "-test.v")
		cmd.Env = append(os.Environ(), key+"="+lib)
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
		return
	}
	// Logits of the CPU's kernels first, then of the loaded ones: those of another
	// device differ by rounding.
	path := randomModel(t, models.RandomOptions{Type: models.Q8_0})
	logits := func(opt LoadOptions) []float32 {
		m := load(t, path, opt)
		c := newCtx(t, m, backend.ContextParams{Threads: 2})
		t.Logf("on %v", m.Info().Devices)
		feed(t, c, 0, someTokens(m, 40, 1)...)
		return feed(t, c, 0, 7)
	}
	want := logits(LoadOptions{})
	l := captureLog(t)
	found, err := LoadBackends(os.Getenv(key))
	if err != nil {
		t.Fatal(err)
	}
	list, _ := Devices()
	t.Logf("found %v, devices %+v, CPU %s", found, list, CPUFeatures())
	if len(found) == 0 {
		t.Error("nothing in lib/ works here")
	}
	for _, opt := range []LoadOptions{{}, {GPULayers: AllLayers}} {
		if r := correlation(logits(opt), want); !(r > 0.995) {
			t.Errorf("%d layers on GPUs: correlation %g with the logits of the CPU's kernels", opt.GPULayers, r)
		} else {
			t.Logf("%d layers on GPUs: correlation %g with the logits of the CPU's kernels", opt.GPULayers, r)
		}
	}
	for _, line := range l.lines {
		if strings.Contains(line, "backend") || strings.HasPrefix(line, "ggml_") {
			t.Log("log:", line)
		}
	}
}

// TestAvoidsAMX looks at the decision; CPUs with AMX are rare, and there TestFamilies aborts without it.
func TestAvoidsAMX(t *testing.T) {
	const with, without = "SSE3 AVX512_VNNI AMX_INT8 REPACK", "SSE3 AVX512_VNNI REPACK"
	for _, c := range []struct {
		opt      models.RandomOptions
		features string
		linked   bool
		want     bool
	}{
		{models.RandomOptions{Arch: "deepseek2"}, with, false, true},
		{models.RandomOptions{Arch: "deepseek2"}, without, false, false},
		{models.RandomOptions{Arch: "deepseek2"}, "", false, false},
		{models.RandomOptions{Type: models.Q4_0}, with, true, true},
		{models.RandomOptions{Type: models.Q4_0}, with, false, false},
		{models.RandomOptions{Type: models.Q4_0}, without, true, false},
		{models.RandomOptions{Type: models.Q8_0}, with, true, false},
	} {
		f, err := openFile(randomModel(t, c.opt))
		if err != nil {
			t.Fatal(err)
		}
		if got := avoidsAMX(f, c.features, c.linked); got != c.want {
			t.Errorf("%s %s on a CPU with %q, linked %t: %t, want %t", c.opt.Arch, c.opt.Type, c.features, c.linked, got, c.want)
		}
	}
}

func mustGetwd(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
