package models

import "fmt"

// Architectures with a recurrent state of fixed size for each sequence, with or
// without attention.

// convolution is the width in tokens of the convolutions before a state.
const convolution = 4

var archMamba = architecture{
	name: "mamba", about: "a recurrent state and nothing else",
	uses: state, state: 16,
	keys: func(o RandomOptions, k keys) {
		k.size(o)
		k.num("feed_forward_length", 0)
		k.num("attention.head_count", 0)
		k.num("ssm.conv_kernel", convolution)
		k.num("ssm.inner_size", 2*o.Width)
		k.num("ssm.state_size", o.State)
		k.num("ssm.time_step_rank", mambaRank(o))
		k.float("attention.layer_norm_rms_epsilon", 1e-5)
	},
	tensors: func(o RandomOptions, l *tensorList) {
		inner, rank := 2*o.Width, mambaRank(o)
		l.embedding(0.5)
		for i := range o.Layers {
			at := layer(i)
			l.norm(at("attn_norm"), o.Width)
			l.matrix(at("ssm_in"), o.Width, 2*inner)
			l.small(at("ssm_conv1d.weight"), 0, 0.5, convolution, inner)
			l.small(at("ssm_conv1d.bias"), 0, 0, inner)
			l.matrix(at("ssm_x"), inner, rank+2*o.State)
			l.inner(at("ssm_dt"), rank, inner)
			l.small(at("ssm_dt.bias"), -2, 0.1, inner)
			l.small(at("ssm_a"), -1, 0.1, o.State, inner)
			l.small(at("ssm_d"), 1, 0, inner)
			l.matrix(at("ssm_out"), inner, o.Width)
		}
		l.norm("output_norm", o.Width)
		l.output()
	},
}

// mambaRank is the rank of the projection for time steps.
func mambaRank(o RandomOptions) int { return max(o.Width/16, 8) }

// rwkv7 stores a matrix of State by State for each head.
var archRWKV7 = architecture{
	name: "rwkv7", about: "a recurrent state and nothing else; --state is the size of a head",
	uses: feedForward | state, state: 64,
	check: func(o RandomOptions) error {
		if o.Width%o.State != 0 {
			return fmt.Errorf("models: a width of %d cannot be cut into heads of %d, the state size", o.Width, o.State)
		}
		return nil
	},
	keys: func(o RandomOptions, k keys) {
		rank := rwkv7Rank(o)
		k.size(o)
		k.num("feed_forward_length", o.FF)
		k.num("attention.head_count", 0)
		k.num("wkv.head_size", o.State)
		for _, what := range []string{"decay", "iclr", "value_residual_mix", "gate"} {
			k.num("attention."+what+"_lora_rank", rank)
		}
		k.float("attention.layer_norm_epsilon", 1e-5)
	},
	tensors: func(o RandomOptions, l *tensorList) {
		w, rank := o.Width, rwkv7Rank(o)
		l.embedding(0.5)
		l.layerNorm("token_embd_norm", w)
		for i := range o.Layers {
			at := layer(i)
			l.layerNorm(at("attn_norm"), w)
			l.layerNorm(at("attn_norm_2"), w)
			// Decay w, learning rate a and residual v of the state are a constant plus
			// the product of two small matrices.
			for _, x := range []struct {
				name string
				mean float64
			}{{"w", -2}, {"a", 0}, {"v", 0}} {
				l.small(at("time_mix_"+x.name+"0.weight"), x.mean, 0.5, w)
				l.small(at("time_mix_"+x.name+"1.weight"), 0, fromInputs(w), w, rank)
				l.small(at("time_mix_"+x.name+"2.weight"), 0, fromInputs(rank), rank, w)
			}
			l.small(at("time_mix_g1.weight"), 0, fromInputs(w), w, rank)
			l.small(at("time_mix_g2.weight"), 0, fromInputs(rank), rank, w)
			l.small(at("time_mix_lerp_fused.weight"), 0.5, 0.2, w, 1, 1, 6)
			l.small(at("time_mix_k_k.weight"), 0.85, 0.1, w)
			l.small(at("time_mix_k_a.weight"), 1, 0.1, w)
			l.small(at("time_mix_r_k.weight"), 0, 0.1, w)
			l.matrix(at("time_mix_key"), w, w)
			l.matrix(at("time_mix_value"), w, w)
			l.matrix(at("time_mix_receptance"), w, w)
			l.layerNorm(at("time_mix_ln"), w)
			l.matrix(at("time_mix_output"), w, w)
			l.small(at("channel_mix_lerp_k.weight"), 0.5, 0.2, w, 1, 1)
			l.matrix(at("channel_mix_key"), w, o.FF)
			l.matrix(at("channel_mix_value"), o.FF, w)
		}
		l.layerNorm("output_norm", w)
		l.output()
	},
}

func rwkv7Rank(o RandomOptions) int { return max(o.Width/16, 8) }

// attends reports whether a layer has attention, in architectures that also
// have recurrent layers: the last of every four, as in Qwen3.5.
func attends(i int) bool { return i%fullInterval == fullInterval-1 }

const fullInterval = 4

// kvHeadsOf returns the key and value heads of all layers, 0 in those with a
// state, by which some architectures distinguish the kinds.
func kvHeadsOf(o RandomOptions) []int32 {
	out := make([]int32, o.Layers)
	for i := range out {
		if attends(i) {
			out[i] = int32(o.KVHeads)
		}
	}
	return out
}

// deltaNet has the sizes of a gated delta net: value heads, each with a state
// of State by State, share key heads in pairs.
type deltaNet struct{ size, values, keys int }

func (o RandomOptions) deltaNet() deltaNet {
	d := deltaNet{size: o.State, values: 2 * o.Width / o.State}
	d.keys = d.values
	if d.values%2 == 0 {
		d.keys /= 2
	}
	return d
}

var archQwen35 = architecture{
	name: "qwen35", about: "keys and values in every fourth layer, a recurrent state (gated delta net) in the others",
	uses: attention | kvHeads | headSize | feedForward | state, layers: fullInterval, state: 32,
	check: func(o RandomOptions) error {
		switch {
		case 2*o.Width%o.State != 0:
			return fmt.Errorf("models: twice a width of %d cannot be cut into heads of %d, the state size", o.Width, o.State)
		case o.HeadSize%4 != 0:
			return fmt.Errorf("models: qwen35 takes heads of a size that 4 divides, not %d", o.HeadSize)
		}
		return nil
	},
	keys: func(o RandomOptions, k keys) {
		d := o.deltaNet()
		k.size(o)
		k.attention(o)
		k.num("feed_forward_length", o.FF)
		k.num("full_attention_interval", fullInterval)
		k.num("ssm.conv_kernel", convolution)
		k.num("ssm.inner_size", d.size*d.values)
		k.num("ssm.state_size", d.size)
		k.num("ssm.time_step_rank", d.values)
		k.num("ssm.group_count", d.keys)
		k.float("attention.layer_norm_rms_epsilon", 1e-6)
		// Half of a head is rotated, by the positions in time, height and width,
		// which are equal in text.
		pairs := int32(o.HeadSize / 4)
		k.num("rope.dimension_count", o.HeadSize/2)
		k.nums("rope.dimension_sections", []int32{pairs - 2*(pairs/3), pairs / 3, pairs / 3, 0})
		k.float("rope.freq_base", 1e7)
	},
	tensors: func(o RandomOptions, l *tensorList) {
		d := o.deltaNet()
		keys, values := d.size*d.keys, d.size*d.values
		l.embedding(0.5)
		for i := range o.Layers {
			at := layer(i)
			l.norm(at("attn_norm"), o.Width)
			if attends(i) {
				q, kv := o.HeadSize*o.Heads, o.HeadSize*o.KVHeads
				l.matrix(at("attn_q"), o.Width, 2*q) // queries and gates
				l.matrix(at("attn_k"), o.Width, kv)
				l.matrix(at("attn_v"), o.Width, kv)
				l.matrix(at("attn_output"), q, o.Width)
				l.headNorms(at, o.HeadSize)
			} else {
				l.matrix(at("attn_qkv"), o.Width, 2*keys+values)
				l.matrix(at("attn_gate"), o.Width, values)
				l.small(at("ssm_conv1d.weight"), 0, 0.5, convolution, 2*keys+values)
				l.small(at("ssm_dt.bias"), -2, 1, d.values)
				l.small(at("ssm_a"), -1, 0.1, d.values)
				l.matrix(at("ssm_beta"), o.Width, d.values)
				l.matrix(at("ssm_alpha"), o.Width, d.values)
				l.norm(at("ssm_norm"), d.size)
				l.matrix(at("ssm_out"), values, o.Width)
			}
			l.norm(at("post_attention_norm"), o.Width)
			l.gated(at, "", o.Width, o.FF)
		}
		l.norm("output_norm", o.Width)
		l.output()
	},
}

// lfm2Cache is the width in tokens of LFM2's convolutions.
const lfm2Cache = 3

var archLFM2 = architecture{
	name: "lfm2", about: "keys and values in every fourth layer, two tokens (a short convolution) in the others",
	uses: attention | kvHeads | feedForward, layers: fullInterval,
	keys: func(o RandomOptions, k keys) {
		k.size(o)
		k.num("attention.head_count", o.Heads)
		k.nums("attention.head_count_kv", kvHeadsOf(o))
		k.num("feed_forward_length", o.FF)
		k.num("shortconv.l_cache", lfm2Cache)
		k.float("attention.layer_norm_rms_epsilon", 1e-5)
		k.float("rope.freq_base", 1e6)
	},
	tensors: func(o RandomOptions, l *tensorList) {
		l.embedding(0.5)
		for i := range o.Layers {
			at := layer(i)
			l.norm(at("attn_norm"), o.Width)
			if attends(i) {
				l.attention(at, o)
				l.headNorms(at, o.HeadSize)
			} else {
				l.small(at("shortconv.conv.weight"), 0, fromInputs(lfm2Cache), lfm2Cache, o.Width)
				l.matrix(at("shortconv.in_proj"), o.Width, 3*o.Width)
				l.matrix(at("shortconv.out_proj"), o.Width, o.Width)
			}
			l.norm(at("ffn_norm"), o.Width)
			l.gated(at, "", o.Width, o.FF)
		}
		l.norm("token_embd_norm", o.Width) // the last norm, under a legacy name
		l.output()
	},
}

// mamba2Heads returns the number of heads of a Mamba-2 state whose inner size
// is twice the width: of 64 channels each, or fewer in small models.
func mamba2Heads(o RandomOptions) int { return 2 * o.Width / min(64, o.Width) }

func checkMamba2(o RandomOptions) error {
	if o.Width%min(64, o.Width) != 0 {
		return fmt.Errorf("models: twice a width of %d cannot be cut into heads of 64, those of the state", o.Width)
	}
	return nil
}

// mamba2 writes the keys of a Mamba-2 state.
func (k keys) mamba2(o RandomOptions) {
	k.num("ssm.conv_kernel", convolution)
	k.num("ssm.inner_size", 2*o.Width)
	k.num("ssm.state_size", o.State)
	k.num("ssm.time_step_rank", mamba2Heads(o))
	k.num("ssm.group_count", 1)
}

// mamba2 adds the tensors of a Mamba-2 state.
func (l *tensorList) mamba2(at func(string) string, o RandomOptions) {
	inner, heads := 2*o.Width, mamba2Heads(o)
	l.matrix(at("ssm_in"), o.Width, 2*inner+2*o.State+heads)
	l.small(at("ssm_conv1d.weight"), 0, 0.5, convolution, inner+2*o.State)
	l.small(at("ssm_conv1d.bias"), 0, 0, inner+2*o.State)
	l.small(at("ssm_dt.bias"), -2, 0.5, heads)
	l.small(at("ssm_a"), -1, 0.1, 1, heads)
	l.small(at("ssm_d"), 1, 0, 1, heads)
	l.small(at("ssm_norm.weight"), 1, 0, inner, 1)
	l.matrix(at("ssm_out"), inner, o.Width)
}

var archGraniteHybrid = architecture{
	name: "granitehybrid", about: "keys and values in every fourth layer, a recurrent state (Mamba-2) in the others",
	uses: attention | kvHeads | headSize | feedForward | state, layers: fullInterval, state: 16,
	check: checkMamba2,
	keys: func(o RandomOptions, k keys) {
		k.size(o)
		k.num("attention.head_count", o.Heads)
		k.nums("attention.head_count_kv", kvHeadsOf(o))
		k.num("attention.key_length", o.HeadSize)
		k.num("attention.value_length", o.HeadSize)
		k.num("feed_forward_length", o.FF)
		k.mamba2(o)
		k.float("attention.layer_norm_rms_epsilon", 1e-5)
		k.flag("rope.scaling.finetuned", false) // no rotation: the states encode the order
	},
	tensors: func(o RandomOptions, l *tensorList) {
		l.embedding(0.5)
		for i := range o.Layers {
			at := layer(i)
			l.norm(at("attn_norm"), o.Width)
			if attends(i) {
				l.attention(at, o)
			} else {
				l.mamba2(at, o)
			}
			l.norm(at("ffn_norm"), o.Width)
			l.gated(at, "", o.Width, o.FF)
		}
		l.norm("output_norm", o.Width)
		l.output()
	},
}

var archFalconH1 = architecture{
	name: "falcon-h1", about: "keys and values and a recurrent state (Mamba-2) in every layer",
	uses: attention | kvHeads | headSize | feedForward | state, state: 16,
	check: checkMamba2,
	keys: func(o RandomOptions, k keys) {
		k.size(o)
		k.attention(o)
		k.num("feed_forward_length", o.FF)
		k.mamba2(o)
		k.float("attention.layer_norm_rms_epsilon", 1e-5)
		k.float("rope.freq_base", 1e11)
	},
	tensors: func(o RandomOptions, l *tensorList) {
		l.embedding(0.5)
		for i := range o.Layers {
			at := layer(i)
			l.norm(at("attn_norm"), o.Width)
			l.attention(at, o)
			l.mamba2(at, o)
			l.small(at("ffn_norm"), 1, 0, o.Width) // without the usual suffix
			l.gated(at, "", o.Width, o.FF)
		}
		l.norm("output_norm", o.Width)
		l.output()
	},
}
