package models

import "fmt"

// Architectures with attention in all layers: a cache of keys and values, and
// nothing else.

var archLlama = architecture{
	name: "llama", about: "keys and values in every layer",
	uses: attention | kvHeads | feedForward,
	keys: func(o RandomOptions, k keys) { o.llama().keys(k) },
	tensors: func(o RandomOptions, l *tensorList) {
		for _, t := range o.llama().tensors(l.tokens, false) {
			switch {
			case len(t.shape) == 1:
				l.add(randomTensor{namedShape: t, mean: 1})
			case t.name == "token_embd.weight":
				l.embedding(0.5)
			case t.name == "output.weight":
				l.output()
			default:
				l.add(randomTensor{t, true, false, 0, fromInputs(int(t.shape[0]))})
			}
		}
	},
}

func (o RandomOptions) llama() llama {
	return llama{layers: o.Layers, width: o.Width, heads: o.Heads, kvHeads: o.KVHeads, ff: o.FF, context: o.Context, eps: 1e-5, base: 10000}
}

var archQwen3 = architecture{
	name: "qwen3", about: "keys and values in every layer; embeddings and reranking with --pooling",
	uses:     attention | kvHeads | headSize | feedForward | pooling,
	poolings: []Pooling{PoolingNone, PoolingMean, PoolingLast, PoolingRank},
	keys: func(o RandomOptions, k keys) {
		k.qwen3(o)
		k.num("feed_forward_length", o.FF)
		if o.Pooling != "" {
			k.num("pooling_type", poolingTypes[o.Pooling])
		}
		if o.Pooling == PoolingRank {
			k.strings("classifier.output_labels", "yes", "no")
		}
	},
	tensors: func(o RandomOptions, l *tensorList) {
		l.qwen3(o, func(at func(string) string) { l.gated(at, "", o.Width, o.FF) })
		if o.Pooling == PoolingRank {
			l.small("cls.output.weight", 0, fromInputs(o.Width), o.Width, 2)
		}
	},
}

var archQwen3MoE = architecture{
	name: "qwen3moe", about: "keys and values in every layer, a mixture of experts",
	uses: attention | kvHeads | headSize | feedForward | experts,
	keys: func(o RandomOptions, k keys) {
		k.qwen3(o)
		k.num("feed_forward_length", o.FF)
		k.experts(o)
	},
	tensors: func(o RandomOptions, l *tensorList) {
		l.qwen3(o, func(at func(string) string) { l.mixture(at, o) })
	},
}

func (k keys) qwen3(o RandomOptions) {
	k.size(o)
	k.attention(o)
	k.float("attention.layer_norm_rms_epsilon", 1e-6)
	k.float("rope.freq_base", 1e6)
}

func (l *tensorList) qwen3(o RandomOptions, feedForward func(at func(string) string)) {
	l.embedding(0.5)
	for i := range o.Layers {
		at := layer(i)
		l.norm(at("attn_norm"), o.Width)
		l.attention(at, o)
		l.headNorms(at, o.HeadSize)
		l.norm(at("ffn_norm"), o.Width)
		feedForward(at)
	}
	l.norm("output_norm", o.Width)
	l.output()
}

// gemma3Period is the period of the layers with full attention, as in the
// published models.
const gemma3Period = 6

var archGemma3 = architecture{
	name: "gemma3", about: "a sliding window in five layers of six",
	uses: attention | kvHeads | headSize | feedForward | window, layers: gemma3Period, window: 512,
	keys: func(o RandomOptions, k keys) {
		k.size(o)
		k.attention(o)
		k.num("feed_forward_length", o.FF)
		k.num("attention.sliding_window", o.Window)
		k.float("attention.layer_norm_rms_epsilon", 1e-6)
		k.float("rope.freq_base", 1e6)
	},
	tensors: func(o RandomOptions, l *tensorList) {
		// Embeddings are multiplied by √width at the input.
		l.embedding(0.5 * fromInputs(o.Width))
		for i := range o.Layers {
			at := layer(i)
			l.norm(at("attn_norm"), o.Width)
			l.attention(at, o)
			l.headNorms(at, o.HeadSize)
			l.afterAttention(at, o)
			l.norm(at("ffn_norm"), o.Width)
			l.gated(at, "", o.Width, o.FF)
			l.norm(at("post_ffw_norm"), o.Width)
		}
		l.norm("output_norm", o.Width)
		l.output()
	},
}

// afterAttention adds the norm after attention. Over a long text values
// average out, and the rest is nearly the same at every position: at full size
// it would dominate the input of the layers above.
func (l *tensorList) afterAttention(at func(string) string, o RandomOptions) {
	l.small(at("post_attention_norm.weight"), 0.2, 0, o.Width)
}

// gemma4Period is the period of gemma4's layers with full attention; the
// published models have 5 or 6, which would make small ones large.
const gemma4Period = 3

// gemma4Own returns how many layers store keys and values. Those above use
// what the last two of them store, one for each kind of layer; so it is a
// multiple of the period.
func gemma4Own(layers int) int { return (layers/gemma4Period + 1) / 2 * gemma4Period }

var archGemma4 = architecture{
	name: "gemma4", about: "a sliding window in two layers of three; the upper half shares keys and values",
	uses: attention | kvHeads | headSize | feedForward | window, layers: 2 * gemma4Period, window: 512,
	check: func(o RandomOptions) error {
		if o.Layers < gemma4Period {
			return fmt.Errorf("models: gemma4 takes at least %d layers, not %d", gemma4Period, o.Layers)
		}
		return nil
	},
	keys: func(o RandomOptions, k keys) {
		k.size(o)
		k.num("attention.head_count", o.Heads)
		k.num("attention.head_count_kv", o.KVHeads)
		k.num("attention.key_length", 2*o.HeadSize)
		k.num("attention.value_length", 2*o.HeadSize)
		k.num("attention.key_length_swa", o.HeadSize)
		k.num("attention.value_length_swa", o.HeadSize)
		k.num("rope.dimension_count", 2*o.HeadSize)
		k.num("rope.dimension_count_swa", o.HeadSize)
		k.num("feed_forward_length", o.FF)
		k.num("attention.sliding_window", o.Window)
		sliding := make([]bool, o.Layers)
		for i := range sliding {
			sliding[i] = gemma4Slides(i)
		}
		k.flags("attention.sliding_window_pattern", sliding)
		k.num("attention.shared_kv_layers", o.Layers-gemma4Own(o.Layers))
		k.num("embedding_length_per_layer_input", gemma4PerLayer(o))
		k.float("attention.layer_norm_rms_epsilon", 1e-6)
		k.float("final_logit_softcapping", 30)
		k.float("rope.freq_base", 1e6)
		k.float("rope.freq_base_swa", 1e4)
	},
	tensors: func(o RandomOptions, l *tensorList) {
		perLayer := gemma4PerLayer(o)
		// Embeddings are multiplied by the root of their size at the input.
		l.embedding(0.5 * fromInputs(o.Width))
		l.add(randomTensor{namedShape{"per_layer_token_embd.weight", []int64{int64(perLayer * o.Layers), l.tokens}}, true, true, 0, fromInputs(perLayer)})
		l.small("per_layer_model_proj.weight", 0, 1, o.Width, perLayer*o.Layers) // divided by √width
		l.norm("per_layer_proj_norm", perLayer)
		l.norm("rope_freqs", o.HeadSize)
		for i := range o.Layers {
			at, size := layer(i), 2*o.HeadSize
			if gemma4Slides(i) {
				size = o.HeadSize
			}
			l.norm(at("attn_norm"), o.Width)
			l.matrix(at("attn_q"), o.Width, size*o.Heads)
			l.matrix(at("attn_output"), size*o.Heads, o.Width)
			// Scores are not divided by the root of the head size.
			l.small(at("attn_q_norm.weight"), fromInputs(size), 0, size)
			if i < gemma4Own(o.Layers) {
				l.matrix(at("attn_k"), o.Width, size*o.KVHeads)
				l.matrix(at("attn_v"), o.Width, size*o.KVHeads)
				l.norm(at("attn_k_norm"), size)
			}
			l.afterAttention(at, o)
			l.norm(at("ffn_norm"), o.Width)
			l.gated(at, "", o.Width, o.FF)
			l.norm(at("post_ffw_norm"), o.Width)
			l.matrix(at("inp_gate"), o.Width, perLayer)
			l.inner(at("proj"), perLayer, o.Width)
			l.norm(at("post_norm"), o.Width)
			l.norm(at("layer_output_scale"), 1)
		}
		l.norm("output_norm", o.Width)
		l.output()
	},
}

func gemma4Slides(i int) bool { return i%gemma4Period != gemma4Period-1 }

// gemma4PerLayer returns the size of the embeddings of each layer.
func gemma4PerLayer(o RandomOptions) int { return max(o.Width/8, 8) }

var archGPTOSS = architecture{
	name: "gpt-oss", about: "a sliding window in every other layer, attention sinks, a mixture of experts",
	uses: attention | kvHeads | headSize | feedForward | experts | window, window: 128,
	keys: func(o RandomOptions, k keys) {
		k.size(o)
		k.attention(o)
		k.experts(o)
		k.num("attention.sliding_window", o.Window)
		k.float("attention.layer_norm_rms_epsilon", 1e-5)
		k.float("rope.freq_base", 150000)
	},
	tensors: func(o RandomOptions, l *tensorList) {
		const bias = 0.1
		l.embedding(0.5)
		for i := range o.Layers {
			at, kv := layer(i), o.HeadSize*o.KVHeads
			l.norm(at("attn_norm"), o.Width)
			l.attention(at, o)
			l.small(at("attn_q.bias"), 0, bias, o.HeadSize*o.Heads)
			l.small(at("attn_k.bias"), 0, bias, kv)
			l.small(at("attn_v.bias"), 0, bias, kv)
			l.small(at("attn_output.bias"), 0, bias, o.Width)
			l.small(at("attn_sinks.weight"), 0, 1, o.Heads)
			l.norm(at("post_attention_norm"), o.Width)
			l.mixture(at, o)
			l.small(at("ffn_gate_inp.bias"), 0, bias, o.Experts)
			l.small(at("ffn_gate_exps.bias"), 0, bias, o.FF, o.Experts)
			l.small(at("ffn_up_exps.bias"), 0, bias, o.FF, o.Experts)
			l.small(at("ffn_down_exps.bias"), 0, bias, o.Width, o.Experts)
		}
		l.norm("output_norm", o.Width)
		l.output()
	},
}

// deepSeek2Size has the sizes of multi-head latent attention, in the
// proportions of DeepSeek-V3.
type deepSeek2Size struct{ plain, rotary, value, latent, query int }

func (o RandomOptions) deepSeek2() deepSeek2Size {
	return deepSeek2Size{plain: o.HeadSize, rotary: o.HeadSize / 2, value: o.HeadSize, latent: 4 * o.HeadSize, query: max(o.Width/4, 8)}
}

var archDeepSeek2 = architecture{
	name: "deepseek2", about: "one latent vector a token for keys and values (MLA), experts above the first layer",
	uses: attention | headSize | feedForward | experts, layers: 3,
	check: func(o RandomOptions) error {
		switch {
		case o.HeadSize%4 != 0:
			return fmt.Errorf("models: deepseek2 takes heads of a size that 4 divides, not %d", o.HeadSize)
		case o.Layers == 26 || o.Layers == 27 || o.Layers == 48:
			// llama.cpp recognises the smaller models, without compressed queries, by
			// their number of layers.
			return fmt.Errorf("models: deepseek2 with %d layers is read as one of the models without compressed queries", o.Layers)
		}
		return nil
	},
	keys: func(o RandomOptions, k keys) {
		s := o.deepSeek2()
		k.size(o)
		k.num("attention.head_count", o.Heads)
		k.num("attention.head_count_kv", 1)
		k.num("attention.key_length", s.latent+s.rotary)
		k.num("attention.value_length", s.latent)
		k.num("attention.key_length_mla", s.plain+s.rotary)
		k.num("attention.value_length_mla", s.value)
		k.num("attention.q_lora_rank", s.query)
		k.num("attention.kv_lora_rank", s.latent)
		k.num("rope.dimension_count", s.rotary)
		k.num("feed_forward_length", o.ExpertUsed*o.FF)
		k.num("leading_dense_block_count", 1)
		k.experts(o)
		k.num("expert_shared_count", 1)
		k.num("expert_gating_func", 2) // a sigmoid
		k.flag("expert_weights_norm", true)
		k.float("expert_weights_scale", 1)
		k.float("attention.layer_norm_rms_epsilon", 1e-6)
		k.float("rope.freq_base", 10000)
	},
	tensors: func(o RandomOptions, l *tensorList) {
		s := o.deepSeek2()
		l.embedding(0.5)
		for i := range o.Layers {
			at := layer(i)
			l.norm(at("attn_norm"), o.Width)
			l.matrix(at("attn_q_a"), o.Width, s.query)
			l.norm(at("attn_q_a_norm"), s.query)
			l.inner(at("attn_q_b"), s.query, o.Heads*(s.plain+s.rotary))
			l.matrix(at("attn_kv_a_mqa"), o.Width, s.latent+s.rotary)
			l.norm(at("attn_kv_a_norm"), s.latent)
			l.inner(at("attn_k_b"), s.plain, s.latent, o.Heads)
			l.inner(at("attn_v_b"), s.latent, s.value, o.Heads)
			l.matrix(at("attn_output"), o.Heads*s.value, o.Width)
			l.norm(at("ffn_norm"), o.Width)
			if i == 0 {
				l.gated(at, "", o.Width, o.ExpertUsed*o.FF)
				continue
			}
			l.mixture(at, o)
			l.small(at("exp_probs_b.bias"), 0, 0.1, o.Experts)
			l.gated(at, "_shexp", o.Width, o.FF)
		}
		l.norm("output_norm", o.Width)
		l.output()
	},
}
