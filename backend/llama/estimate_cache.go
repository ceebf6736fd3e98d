package llama

import "slices"

// The memory that a context keeps for its sequences, computed from a model's
// header as llama.cpp 0.5.0 does (llama_model::create_memory, llama_hparams):
// cells of keys and values in some layers, recurrent states in others, or
// nothing. For layers with an indexer, and deepseek4, it follows the source code
// and was not compared with a real model.

// swaFull says whether layers with a sliding window keep all cells. The shim
// requests it, so that the end of a text can be removed and replaced.
const swaFull = true

// maxLayers is the most layers that llama.cpp supports, LLAMA_MAX_LAYERS.
const maxLayers = 512

// Architectures without a cache in llama.cpp: they read a text as a whole.
var withoutCache = []string{
	"bert", "modern-bert", "nomic-bert", "nomic-bert-moe", "neo-bert", "jina-bert-v2", "jina-bert-v3", "eurobert",
	"gemma-embedding", "wavtokenizer-dec", "dream", "llada", "llada-moe", "rnd1", "t5encoder",
}

// Architectures whose layers all have a recurrent state and no cells.
var recurrentOnly = []string{"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"}

// Architectures whose layers have a recurrent state if they have no key and
// value heads.
var recurrentWithoutHeads = []string{
	"jamba", "plamo2", "granitehybrid", "lfm2", "lfm2moe", "nemotron_h", "nemotron_h_moe", "kimi-linear", "kimi-k3", "bailingmoe3",
}

// Architectures that have attention in every n-th layer and a recurrent state in
// the others.
var recurrentByInterval = []string{"qwen3next", "qwen35", "qwen35moe", "qwen4exp", "minimax-01"}

// slidingPeriod has, for architectures with a default, the period of layers
// without a sliding window, negative if the first layer of a period is the one;
// 1 if no layer has a sliding window.
var slidingPeriod = map[string]int64{
	"gemma2": 2, "gemma3": 6, "gemma3n": 5, "gpt-oss": 2, "cohere2": 4, "cohere2moe": -4, "exaone4": 4, "exaone-moe": 4,
	"olmo2": 4, "afmoe": 4, "llama4": 4, "mellum": 4, "muse-glimmer": 4, "plamo3": 8, "smallthinker": -4, "laguna": -4, "phi3": 1,
}

// keptLayer is what one layer stores, as counts of numbers.
type keptLayer struct {
	keys, values int64 // per cell, in the cache's type
	sliding      bool
	state        int64 // per sequence, as F32
}

// layerNumbers returns a key's value in each of n layers: the file has one for
// all, or a list.
func (f *file) layerNumbers(key string, n int64) []int64 {
	out := make([]int64, n)
	v, ok := f.header.Get(f.arch + "." + key)
	if !ok {
		return out
	}
	one, all := v.Int()
	for i := range out {
		if out[i] = one; !all && i < v.Len() {
			x := v.At(i)
			if out[i], ok = x.Int(); !ok {
				if on, _ := x.Bool(); on {
					out[i] = 1
				}
			}
		}
	}
	return out
}

// has reports whether the header has a key below the architecture's name.
func (f *file) has(key string) bool {
	_, ok := f.header.Get(f.arch + "." + key)
	return ok
}

// readsWhole reports whether the model reads texts as a whole and has no cache.
func (f *file) readsWhole() bool { return slices.Contains(withoutCache, f.arch) }

// kept returns what the layers store.
func (f *file) kept(p cellParams) []keptLayer {
	// Layers for drafting are at the end and don't count.
	all := min(max(f.number("block_count"), 0), maxLayers)
	n := min(max(all-f.number("nextn_predict_layers"), 0), all)
	out := make([]keptLayer, n)
	if f.readsWhole() {
		return out
	}
	recurrent := f.recurrentLayers(n)
	state := f.stateNumbers()
	if slices.Contains(recurrentOnly, f.arch) {
		for i := range out {
			out[i].state = state
		}
		return out
	}

	heads, kvHeads := f.layerNumbers("attention.head_count", all), f.layerNumbers("attention.head_count_kv", all)
	if !f.has("attention.head_count_kv") {
		kvHeads = heads
	}
	keyLen, valueLen := f.headSizes()
	keySWA, valueSWA := f.numberOr("attention.key_length_swa", keyLen), f.numberOr("attention.value_length_swa", valueLen)
	sliding := f.slidingLayers(n)
	latent := f.has("attention.key_length_mla") // the values are part of the keys
	ff := f.layerNumbers("feed_forward_length", all)
	owned := f.ownedLayers(n)
	indexer := f.number("attention.indexer.key_length")
	var widest int64
	for i := range out {
		l := &out[i]
		l.sliding = sliding[i]
		k, v := keyLen, valueLen
		if l.sliding {
			k, v = keySWA, valueSWA
		}
		widest = max(widest, v*kvHeads[i])
		mixed := f.arch == "falcon-h1"
		if recurrent[i] || mixed {
			l.state = state
		}
		if recurrent[i] && !mixed || int64(i) >= owned {
			continue
		}
		if (f.arch == "nemotron_h" || f.arch == "nemotron_h_moe") && ff[i] != 0 {
			continue // a layer has one kind: attention, a state or feed-forward
		}
		l.keys, l.values = k*kvHeads[i], v*kvHeads[i]
	}
	for i := range out {
		l := &out[i]
		switch {
		case l.keys == 0:
			continue
		case latent:
			l.values = 0
		case !p.flash:
			// Values are stored in columns, the same number in all layers.
			l.values = widest
		}
		if indexer > 0 {
			l.keys += indexer
			if !latent && f.arch != "qwen4exp" {
				l.values += valueLen // allocated but never read
			}
		}
	}
	return out
}

// headSizes returns the sizes of a key and a value of one head.
func (f *file) headSizes() (key, value int64) {
	size := f.number("embedding_length") / max(f.number("attention.head_count"), 1)
	return f.numberOr("attention.key_length", size), f.numberOr("attention.value_length", size)
}

// numberOr is number with a default.
func (f *file) numberOr(key string, otherwise int64) int64 {
	if !f.has(key) {
		return otherwise
	}
	return f.number(key)
}

// recurrentLayers reports which layers have a recurrent state instead of cells.
func (f *file) recurrentLayers(n int64) []bool {
	out := make([]bool, n)
	switch {
	case slices.Contains(recurrentWithoutHeads, f.arch):
		kv, ff := f.layerNumbers("attention.head_count_kv", n), f.layerNumbers("feed_forward_length", n)
		for i := range out {
			out[i] = kv[i] == 0 && !((f.arch == "nemotron_h" || f.arch == "nemotron_h_moe") && ff[i] != 0)
		}
	case slices.Contains(recurrentByInterval, f.arch):
		listed := f.layerNumbers("attention.recurrent_layers", n)
		interval := max(f.numberOr("full_attention_interval", 4), 1)
		for i := range out {
			out[i] = (int64(i)+1)%interval != 0
			if f.has("attention.recurrent_layers") {
				out[i] = listed[i] != 0
			}
		}
	}
	return out
}

// stateNumbers returns the size of a layer's recurrent state, including that of
// the convolution or token shift before it.
func (f *file) stateNumbers() int64 {
	width := f.number("embedding_length")
	conv, inner, size := f.number("ssm.conv_kernel"), f.number("ssm.inner_size"), f.number("ssm.state_size")
	heads := f.number("attention.head_count")
	switch {
	case f.has("wkv.head_size"):
		return width * (f.numberOr("token_shift_count", 2) + f.number("wkv.head_size"))
	case f.has("shortconv.l_cache"):
		return width * max(f.number("shortconv.l_cache")-1, 0)
	case f.has("kda.head_dim"):
		dim := f.number("kda.head_dim")
		if conv == 0 {
			conv = 4
		}
		return 3*(conv-1)*heads*dim + heads*dim*dim
	case f.arch == "minimax-01":
		key, _ := f.headSizes()
		return heads * key * key
	}
	return max(conv-1, 0)*(inner+2*f.number("ssm.group_count")*size) + inner*size
}

// ownedLayers returns how many layers store their own keys and values; those
// above use the last of these.
func (f *file) ownedLayers(n int64) int64 {
	switch f.arch {
	case "gemma3n":
		return min(n, 20)
	case "gemma4":
		return n - f.number("attention.shared_kv_layers")
	}
	return n
}

// slidingLayers reports which layers have a sliding window.
func (f *file) slidingLayers(n int64) []bool {
	out := make([]bool, n)
	if f.number("attention.sliding_window") == 0 && f.arch != "llama4" {
		return out
	}
	const key = "attention.sliding_window_pattern"
	v, listed := f.header.Get(f.arch + "." + key)
	_, single := v.Int()
	if listed && !single {
		for i, x := range f.layerNumbers(key, n) {
			out[i] = x != 0
		}
		return out
	}
	if f.arch == "lfm2" {
		for i, x := range f.layerNumbers("attention.head_count_kv", n) {
			out[i] = x != 0
		}
		return out
	}
	period, known := slidingPeriod[f.arch]
	if !known {
		return out
	}
	first := period < 0
	period = f.numberOr(key, max(period, -period))
	for i := range out {
		switch at := int64(i); {
		case period == 0:
			out[i] = true
		case first:
			out[i] = at%period != 0
		default:
			out[i] = at%period < period-1
		}
	}
	return out
}

// cellParams are the parameters that the size of a cache depends on, besides the
// model.
type cellParams struct {
	cells, seqs, batch int64 // cells are rounded up
	block, bytes       int64 // of the cache's type
	flash              bool
	swaFull            bool
}

// cacheBytes returns the size of what all layers store.
func (f *file) cacheBytes(p cellParams) int64 {
	window := p.cells
	if !p.swaFull {
		// One window for each sequence, and room for a micro-batch.
		need := f.number("attention.sliding_window")*p.seqs + p.batch
		window = (min(p.cells, need) + cellBlock - 1) / cellBlock * cellBlock
	}
	var sum int64
	for _, l := range f.kept(p) {
		cells := p.cells
		if l.sliding {
			cells = window
		}
		sum += cells*(l.keys+l.values)/p.block*p.bytes + p.seqs*l.state*4
	}
	return sum
}
