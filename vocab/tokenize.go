package vocab

import "context"

// tokenizer tokenizes text without added tokens. Implementations are immutable and safe for
// concurrent use.
type tokenizer interface {
	// tokenize appends the tokens of text to dst.
	tokenize(dst []int32, text string, mode tokenizeMode) []int32
}

type tokenizeMode struct {
	prefix bool // at the start of a text: add the model's leading space
	exact  bool // keep invalid UTF-8 instead of replacing it

	ctx context.Context // nil, or the work stops when it ends, with tokens that mean nothing
}

// workPerLook is how many words or merges are made between looks at the context: a millisecond or less.
const workPerLook = 1 << 12

// stops reports, at every workPerLook-th step, whether the context has ended.
func (m tokenizeMode) stops(step int) bool {
	return m.ctx != nil && step%workPerLook == workPerLook-1 && m.ctx.Err() != nil
}

// tokenizer returns the vocabulary's tokenizer, which is built on the first call.
func (v *Vocab) tokenizer() tokenizer {
	v.engineOnce.Do(func() {
		switch v.model {
		case BPE:
			v.engine = newBPE(v)
		case HybridDNA:
			v.engine = newHybridDNA(v)
		case WordBPE:
			v.engine = &wordBPE{newBPE(v)}
		case SPM:
			v.engine = newSPM(v)
		case WPM:
			v.engine = newWPM(v)
		case UGM:
			v.engine = newUGM(v)
		case RWKV:
			v.engine = newRWKV(v)
		case PLaMo2:
			v.engine = newPLaMo2(v)
		}
	})
	return v.engine
}

// Tokenize appends the tokens of text to dst, without BOS and EOS. With special set, the texts
// of control tokens become those tokens. It equals llama_tokenize with add_special=false and
// parse_special=special: SentencePiece's leading space is added, and invalid UTF-8 becomes
// U+FFFD where it does in llama.cpp.
func (v *Vocab) Tokenize(dst []int32, text string, special bool) []int32 {
	return v.tokenize(dst, text, special, tokenizeMode{prefix: true})
}

// TokenizeContext is [Vocab.Tokenize] for texts that may take long, about a second a megabyte: it fails with the context's cause when that
// ends.
func TokenizeContext(ctx context.Context, v *Vocab, dst []int32, text string, special bool) ([]int32, error) {
	out := v.tokenize(dst, text, special, tokenizeMode{prefix: true, ctx: ctx})
	return unlessEnded(ctx, out)
}

// TokenizeTextContext is [Vocab.TokenizeText] with the context of [TokenizeContext].
func TokenizeTextContext(ctx context.Context, v *Vocab, dst []int32, text []byte) ([]int32, error) {
	out := v.tokenize(dst, string(text), false, tokenizeMode{exact: true, ctx: ctx})
	return unlessEnded(ctx, out)
}

// EncodeContext is [Vocab.Encode] with the context of [TokenizeContext].
func EncodeContext(ctx context.Context, v *Vocab, text string) ([]int32, error) {
	return unlessEnded(ctx, encode(v, text, tokenizeMode{prefix: true, ctx: ctx}))
}

func unlessEnded(ctx context.Context, tokens []int32) ([]int32, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return tokens, nil
}

// TokenizeText appends the tokens of a text that continues another one: without a leading space
// and without recognising control tokens. Unlike Tokenize it keeps every byte, as far as the
// vocabulary can represent it.
func (v *Vocab) TokenizeText(dst []int32, text []byte) []int32 {
	return v.tokenize(dst, string(text), false, tokenizeMode{exact: true})
}

// Encode returns the tokens of text with the BOS, EOS and SEP tokens that the model expects,
// and with control tokens recognised.
func (v *Vocab) Encode(text string) []int32 { return encode(v, text, tokenizeMode{prefix: true}) }

func encode(v *Vocab, text string, mode tokenizeMode) []int32 {
	var out []int32
	add := func(wanted bool, id int32) {
		if wanted && id >= 0 {
			out = append(out, id)
		}
	}
	switch v.model {
	case BPE, HybridDNA, WordBPE, SPM, UGM:
		add(v.addBOS, v.special.bos)
		out = v.tokenize(out, text, true, mode)
		add(v.addEOS, v.special.eos)
	case WPM:
		add(true, v.special.bos)
		out = v.tokenize(out, text, true, mode)
		add(true, v.special.sep)
	default:
		out = v.tokenize(out, text, true, mode)
	}
	return out
}

func (v *Vocab) tokenize(dst []int32, text string, special bool, mode tokenizeMode) []int32 {
	if text == "" {
		return dst
	}
	t := v.tokenizer()
	first := mode
	for _, f := range v.added.partition(text, special) {
		if f.token >= 0 {
			dst = append(dst, f.token)
			first = mode // text after an added token counts as a start
			continue
		}
		dst = t.tokenize(dst, f.text, first)
		first.prefix = false
	}
	return dst
}
