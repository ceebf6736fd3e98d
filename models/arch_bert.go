package models

// segmentTypes is the number of segment types of a BERT model; llama.cpp
// uses the first for all tokens.
const segmentTypes = 2

var archBERT = architecture{
	name: "bert", about: "nothing: it reads whole texts and makes an embedding, or a score with --pooling rank",
	uses: attention | feedForward | pooling, wordPiece: true,
	pooling: PoolingMean, poolings: []Pooling{PoolingNone, PoolingCLS, PoolingRank},
	keys: func(o RandomOptions, k keys) {
		k.size(o)
		k.num("feed_forward_length", o.FF)
		k.num("attention.head_count", o.Heads)
		k.float("attention.layer_norm_epsilon", 1e-12)
		k.flag("attention.causal", false)
		k.num("pooling_type", poolingTypes[o.Pooling])
	},
	tensors: func(o RandomOptions, l *tensorList) {
		const bias = 0.1
		l.embedding(0.5)
		l.small("token_types.weight", 0, bias, o.Width, segmentTypes)
		l.small("position_embd.weight", 0, bias, o.Width, o.Context)
		l.layerNorm("token_embd_norm", o.Width)
		biased := func(name string, in, out int) {
			l.matrix(name, in, out)
			l.small(name+".bias", 0, bias, out)
		}
		for i := range o.Layers {
			at := layer(i)
			biased(at("attn_q"), o.Width, o.Width)
			biased(at("attn_k"), o.Width, o.Width)
			biased(at("attn_v"), o.Width, o.Width)
			biased(at("attn_output"), o.Width, o.Width)
			l.layerNorm(at("attn_output_norm"), o.Width)
			biased(at("ffn_up"), o.Width, o.FF)
			biased(at("ffn_down"), o.FF, o.Width)
			l.layerNorm(at("layer_output_norm"), o.Width)
		}
		if o.Pooling == PoolingRank {
			biased("cls", o.Width, o.Width)
			l.small("cls.output.weight", 0, 4*fromInputs(o.Width), o.Width, 1)
			l.small("cls.output.bias", 0, bias, 1)
		}
	},
}
