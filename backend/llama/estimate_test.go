package llama

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/models"
)

// families has a model of every architecture that package models writes.
var families = map[string]models.RandomOptions{
	"llama":         {Width: 256, Heads: 16, KVHeads: 4},
	"qwen3":         {Width: 256, Heads: 16, KVHeads: 4, HeadSize: 32},
	"qwen3moe":      {Width: 256, Heads: 16, KVHeads: 4, HeadSize: 32, FF: 128, Experts: 16, ExpertUsed: 4},
	"gemma3":        {Width: 256, Heads: 16, KVHeads: 4, HeadSize: 32},
	"gemma4":        {Width: 256, Heads: 16, KVHeads: 4, HeadSize: 32},
	"gpt-oss":       {Width: 256, Heads: 16, KVHeads: 4, FF: 128, Experts: 16, ExpertUsed: 4},
	"deepseek2":     {Width: 256, Heads: 16, HeadSize: 32, FF: 128, Experts: 16, ExpertUsed: 4},
	"mamba":         {Width: 256},
	"rwkv7":         {Width: 256},
	"qwen35":        {Width: 256, Heads: 16, KVHeads: 4, HeadSize: 32},
	"lfm2":          {Width: 256, Heads: 16, KVHeads: 4},
	"granitehybrid": {Width: 256, Heads: 16, KVHeads: 4},
	"falcon-h1":     {Width: 256, Heads: 16, KVHeads: 4},
	"bert":          {Width: 256, Heads: 16},
}

// recordedParams are the parameters of the contexts recorded from llama.cpp.
var recordedParams = []backend.ContextParams{
	{Size: 4096, MaxSeqs: 1, MaxBatch: 512, FlashAttention: backend.FlashOff},
	{Size: 16384, MaxSeqs: 8, MaxBatch: 512, FlashAttention: backend.FlashOn},
	{Size: 4096, MaxSeqs: 256, MaxBatch: 512, FlashAttention: backend.FlashOn},
}

// recorded has the sizes that llama.cpp 0.5.0 logged for the families, in MiB
// and in the order of recordedParams: the sum of KV and RS buffers, and the
// compute buffer, with two decimals.
var recorded = map[string]struct{ cache, compute [3]float64 }{
	"llama":         {[3]float64{2, 8, 2}, [3]float64{138.76, 22.51, 10.51}},
	"qwen3":         {[3]float64{4, 16, 4}, [3]float64{140.01, 21.51, 9.51}},
	"qwen3moe":      {[3]float64{4, 16, 4}, [3]float64{140.01, 21.51, 9.51}},
	"gemma3":        {[3]float64{12, 48, 12}, [3]float64{148.51, 38.52, 14.52}},
	"gemma4":        {[3]float64{10, 32, 8}, [3]float64{151.45, 39.77, 15.77}},
	"gpt-oss":       {[3]float64{2, 8, 2}, [3]float64{147.01, 34.52, 10.52}},
	"deepseek2":     {[3]float64{3.38, 13.5, 3.38}, [3]float64{148.6, 29.01, 17.01}},
	"mamba":         {[3]float64{0.07, 0.59, 19}, [3]float64{6.55, 6.85, 16.5}},
	"rwkv7":         {[3]float64{0.13, 1.03, 33}, [3]float64{9.16, 9.55, 41.04}},
	"qwen35":        {[3]float64{2.22, 9.78, 59}, [3]float64{141.02, 23.71, 48.52}},
	"lfm2":          {[3]float64{1.01, 4.05, 2.5}, [3]float64{138.76, 22.03, 10.51}},
	"granitehybrid": {[3]float64{1.11, 4.9, 29.78}, [3]float64{139.26, 23.06, 20.31}},
	"falcon-h1":     {[3]float64{2.07, 8.6, 21.19}, [3]float64{139.26, 23.57, 19.69}},
	"bert":          {[3]float64{0, 0, 0}, [3]float64{20.01, 3.52, 4.01}},
}

// writeFamily writes a family's model.
func writeFamily(t testing.TB, name string) string {
	t.Helper()
	opt, ok := families[name]
	if !ok {
		t.Fatalf("no family %s", name)
	}
	opt.Arch = name
	path := filepath.Join(t.TempDir(), name+".gguf")
	if err := models.WriteRandom(path, opt); err != nil {
		t.Fatal(err)
	}
	return path
}

const mebibyte = 1 << 20

// nearCache reports whether an estimate is within 2% of a logged size with two
// decimals.
func nearCache(got int64, want float64) bool {
	return math.Abs(float64(got)/mebibyte-want) <= 0.02*want+0.005
}

// enoughCompute reports whether an estimate is at least the actual size and,
// if that is large, at most twice it.
func enoughCompute(got int64, taken float64) bool {
	x := float64(got) / mebibyte
	return x >= taken-0.005 && x <= 2*taken+4
}

// TestRecorded compares estimates with recorded sizes; with the tag llama,
// TestFamilies compares with llama.cpp itself.
func TestRecorded(t *testing.T) {
	for _, a := range models.Architectures() {
		t.Run(a.Name, func(t *testing.T) {
			want, ok := recorded[a.Name]
			if !ok {
				t.Fatal("nothing was recorded")
			}
			path := writeFamily(t, a.Name)
			for i, p := range recordedParams {
				e, err := EstimateMemory(path, p)
				if err != nil {
					t.Fatal(err)
				}
				if !nearCache(e.Cache, want.cache[i]) {
					t.Errorf("%+v: cache %.3f MiB, it was %.2f", p, float64(e.Cache)/mebibyte, want.cache[i])
				}
				if !enoughCompute(e.Compute, want.compute[i]) {
					t.Errorf("%+v: compute %.2f MiB, it was %.2f", p, float64(e.Compute)/mebibyte, want.compute[i])
				}
			}
		})
	}
}

// TestRecordedWindow is the same for caches of sliding-window layers that keep
// only the window, which the shim does not request.
func TestRecordedWindow(t *testing.T) {
	for name, want := range map[string][2]float64{"gemma3": {4.5, 19.25}, "gemma4": {5.5, 20.5}, "gpt-oss": {1.19, 4.38}} {
		f, err := openFile(writeFamily(t, name))
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range recordedParams[:2] {
			c := cellParams{cells: int64(p.Size), seqs: int64(p.MaxSeqs), batch: 512, block: 1, bytes: 2, flash: p.FlashAttention == backend.FlashOn}
			if got := f.cacheBytes(c); !nearCache(got, want[i]) {
				t.Errorf("%s, %+v: %.3f MiB, it was %.2f", name, p, float64(got)/mebibyte, want[i])
			}
		}
	}
}

// TestKeptLayers compares with sizes computed by hand for architectures
// without a model to test, as numbers for each cell and for each sequence.
func TestKeptLayers(t *testing.T) {
	for name, c := range map[string]struct {
		nums  map[string]int
		lists map[string][]int32
		cells int64
		state int64
	}{
		"gemma3n": { // keys and values in the first 20 layers
			nums:  map[string]int{"block_count": 30, "embedding_length": 2048, "attention.head_count": 8, "attention.head_count_kv": 2, "attention.key_length": 256, "attention.value_length": 256, "attention.sliding_window": 512},
			cells: 20 * 2 * 2 * 256,
		},
		"glm4moe": { // the last layer is for drafting
			nums:  map[string]int{"block_count": 5, "nextn_predict_layers": 1, "embedding_length": 64, "attention.head_count": 4, "attention.head_count_kv": 2},
			cells: 4 * 2 * 2 * 16,
		},
		"kimi-linear": { // one layer of four with a latent vector, the others with a state
			nums:  map[string]int{"block_count": 4, "embedding_length": 64, "attention.head_count": 2, "kda.head_dim": 8, "ssm.conv_kernel": 4, "attention.key_length": 40, "attention.value_length": 32, "attention.key_length_mla": 24, "attention.value_length_mla": 16},
			lists: map[string][]int32{"attention.head_count_kv": {0, 0, 0, 1}},
			cells: 40,
			state: 3 * (3*3*16 + 2*8*8),
		},
		"nemotron_h": { // a state, feed-forward, attention
			nums:  map[string]int{"block_count": 3, "embedding_length": 64, "attention.head_count": 4, "ssm.conv_kernel": 4, "ssm.inner_size": 128, "ssm.state_size": 16, "ssm.group_count": 2},
			lists: map[string][]int32{"attention.head_count_kv": {0, 0, 2}, "feed_forward_length": {0, 256, 0}},
			cells: 2 * 2 * 16,
			state: 3*(128+2*2*16) + 128*16,
		},
		"qwen3next": { // the layers with a state are listed
			nums:  map[string]int{"block_count": 3, "embedding_length": 64, "attention.head_count": 4, "attention.head_count_kv": 2, "ssm.conv_kernel": 4, "ssm.inner_size": 128, "ssm.state_size": 16, "ssm.group_count": 2},
			lists: map[string][]int32{"attention.recurrent_layers": {1, 0, 1}},
			cells: 2 * 2 * 16,
			state: 2 * (3*(128+2*2*16) + 128*16),
		},
		"gpt-oss": { // numbers far beyond any model
			nums:  map[string]int{"block_count": 1<<32 - 1, "embedding_length": 64, "attention.head_count": 4, "attention.sliding_window": 8, "attention.sliding_window_pattern": 0, "nextn_predict_layers": 1},
			lists: map[string][]int32{"attention.head_count_kv": {1, 1}},
			cells: 2 * 2 * 16,
		},
		"modern-bert": {
			nums: map[string]int{"block_count": 3, "embedding_length": 64, "attention.head_count": 4, "attention.sliding_window": 128},
		},
	} {
		w := new(models.Writer)
		w.String("general.architecture", name)
		for key, n := range c.nums {
			w.Uint32(name+"."+key, uint32(n))
		}
		for key, list := range c.lists {
			w.Int32s(name+"."+key, list)
		}
		f := written(t, w)
		var cells, state int64
		for _, l := range f.kept(cellParams{flash: true, swaFull: true}) {
			cells, state = cells+l.keys+l.values, state+l.state
		}
		if cells != c.cells || state != c.state {
			t.Errorf("%s: %d numbers a cell and %d a sequence, want %d and %d", name, cells, state, c.cells, c.state)
		}
	}
}
