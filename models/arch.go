package models

import (
	"fmt"
	"slices"
	"strings"
)

// An architecture defines how to write a random-weight model of one of
// llama.cpp's architectures. Its keys and tensors are those that llama.cpp
// 0.5.0 reads.
type architecture struct {
	name  string
	about string // its particularity, for the table

	uses      use
	layers    int  // default; 0: 2
	window    int  // default
	state     int  // default
	wordPiece bool // the built-in vocabulary is one of words rather than bytes
	pooling   Pooling
	poolings  []Pooling // alternatives to pooling

	check   func(RandomOptions) error // additional checks; may be nil
	keys    func(RandomOptions, keys)
	tensors func(RandomOptions, *tensorList)
}

// use is a set of options.
type use uint

const (
	attention use = 1 << iota
	kvHeads       // number of key and value heads, if fewer than query heads
	headSize      // may differ from width/heads
	feedForward
	experts
	window
	state
	pooling
)

// architectures are in the order of the table.
var architectures = []*architecture{
	&archLlama, &archQwen3, &archQwen3MoE,
	&archGemma3, &archGemma4, &archGPTOSS, &archDeepSeek2,
	&archMamba, &archRWKV7,
	&archQwen35, &archLFM2, &archGraniteHybrid, &archFalconH1,
	&archBERT,
}

// ArchitectureInfo describes an architecture for [RandomOptions].
type ArchitectureInfo struct {
	Name    string
	About   string   // one line: what its layers store
	Options []string // options that not every architecture has, as on the command line
}

// Architectures lists the architectures of random-weight models.
func Architectures() []ArchitectureInfo {
	var out []ArchitectureInfo
	for _, a := range architectures {
		info := ArchitectureInfo{Name: a.name, About: a.about}
		for _, x := range []struct {
			use   use
			names []string
		}{
			{attention, []string{"heads"}}, {kvHeads, []string{"kv-heads"}}, {headSize, []string{"head-size"}}, {feedForward, []string{"ff"}},
			{experts, []string{"experts", "experts-used"}}, {window, []string{"window"}}, {state, []string{"state"}}, {pooling, []string{"pooling"}},
		} {
			if a.uses&x.use != 0 {
				info.Options = append(info.Options, x.names...)
			}
		}
		out = append(out, info)
	}
	return out
}

func findArchitecture(name string) (*architecture, error) {
	var all []string
	for _, a := range architectures {
		if a.name == name {
			return a, nil
		}
		all = append(all, a.name)
	}
	return nil, fmt.Errorf("models: unknown architecture %q, expected one of %s", name, strings.Join(all, ", "))
}

// Pooling is how the embeddings of all tokens are combined into one embedding
// or score.
type Pooling string

// The poolings. Rank is not an embedding but the score of a separate head.
const (
	PoolingNone Pooling = "none" // an embedding for each token
	PoolingMean Pooling = "mean"
	PoolingCLS  Pooling = "cls" // the embedding of the first token
	PoolingLast Pooling = "last"
	PoolingRank Pooling = "rank"
)

// poolingTypes are llama.cpp's values, enum llama_pooling_type.
var poolingTypes = map[Pooling]int{PoolingNone: 0, PoolingMean: 1, PoolingCLS: 2, PoolingLast: 3, PoolingRank: 4}

// checkPooling returns an error if the architecture does not have the
// pooling.
func (a *architecture) checkPooling(p Pooling) error {
	if p == a.pooling || slices.Contains(a.poolings, p) {
		return nil
	}
	all := slices.Clone(a.poolings)
	if a.pooling != "" {
		all = append([]Pooling{a.pooling}, all...)
	}
	var names []string
	for _, p := range all {
		names = append(names, string(p))
	}
	return fmt.Errorf("models: pooling %q with the architecture %s, expected one of %s", p, a.name, strings.Join(names, ", "))
}

// keys writes keys below the architecture's name.
type keys struct {
	w    *Writer
	arch string
}

func (k keys) num(key string, n int)           { k.w.Uint32(k.arch+"."+key, uint32(n)) }
func (k keys) float(key string, x float32)     { k.w.Float32(k.arch+"."+key, x) }
func (k keys) flag(key string, v bool)         { k.w.Bool(k.arch+"."+key, v) }
func (k keys) nums(key string, n []int32)      { k.w.Int32s(k.arch+"."+key, n) }
func (k keys) flags(key string, v []bool)      { k.w.Bools(k.arch+"."+key, v) }
func (k keys) strings(key string, s ...string) { k.w.Strings(k.arch+"."+key, s) }

// size writes the keys common to all architectures.
func (k keys) size(o RandomOptions) {
	k.num("context_length", o.Context)
	k.num("embedding_length", o.Width)
	k.num("block_count", o.Layers)
}

// attention writes the keys of attention with heads of one size.
func (k keys) attention(o RandomOptions) {
	k.num("attention.head_count", o.Heads)
	k.num("attention.head_count_kv", o.KVHeads)
	k.num("attention.key_length", o.HeadSize)
	k.num("attention.value_length", o.HeadSize)
}

// experts writes the keys of a mixture of experts.
func (k keys) experts(o RandomOptions) {
	k.num("expert_count", o.Experts)
	k.num("expert_used_count", o.ExpertUsed)
	k.num("expert_feed_forward_length", o.FF)
}

// layer returns a function that returns the names of the tensors of layer i.
func layer(i int) func(name string) string {
	return func(name string) string { return fmt.Sprintf("blk.%d.%s", i, name) }
}

// attention adds the matrices of attention with heads of one size.
func (l *tensorList) attention(at func(string) string, o RandomOptions) {
	q, kv := o.HeadSize*o.Heads, o.HeadSize*o.KVHeads
	l.matrix(at("attn_q"), o.Width, q)
	l.matrix(at("attn_k"), o.Width, kv)
	l.matrix(at("attn_v"), o.Width, kv)
	l.matrix(at("attn_output"), q, o.Width)
}

// headNorms adds the norms of queries and keys.
func (l *tensorList) headNorms(at func(string) string, size int) {
	l.norm(at("attn_q_norm"), size)
	l.norm(at("attn_k_norm"), size)
}

// gated adds a feed-forward part with a gate.
func (l *tensorList) gated(at func(string) string, suffix string, width, ff int) {
	l.matrix(at("ffn_gate"+suffix), width, ff)
	l.matrix(at("ffn_up"+suffix), width, ff)
	l.matrix(at("ffn_down"+suffix), ff, width)
}

// mixture adds a feed-forward part of gated experts and their router.
func (l *tensorList) mixture(at func(string) string, o RandomOptions) {
	l.small(at("ffn_gate_inp.weight"), 0, fromInputs(o.Width), o.Width, o.Experts)
	l.perExpert(at("ffn_gate_exps"), o.Width, o.FF)
	l.perExpert(at("ffn_up_exps"), o.Width, o.FF)
	l.perExpert(at("ffn_down_exps"), o.FF, o.Width)
}
