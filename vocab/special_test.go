package vocab

import (
	"slices"
	"strings"
	"testing"
)

func TestEndOfGeneration(t *testing.T) {
	for _, c := range []struct {
		name   string
		tokens []Token
		opt    Options
		want   string
		kinds  map[string]Kind
	}{
		{"none", plain("a", "b"), Options{}, "", nil},
		{"by id", plain("a", "b"), Options{EOS: new(int32(1)), EOT: new(int32(0))}, "a|b", nil},
		{"by text", plain("a", "<|im_end|>", "<|endoftext|>", "<|eom_id|>", "</s>"), Options{EOS: new(int32(4))},
			"<|im_end|>|<|endoftext|>|<|eom_id|>|</s>", map[string]Kind{"<|im_end|>": Control, "<|eom_id|>": Control, "</s>": Control}},
		{"fill in the middle", plain("<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<|fim_prefix|>"), Options{},
			"<|fim_pad|>|<|repo_name|>|<|file_sep|>", map[string]Kind{"<|fim_prefix|>": Control}},
		{"DeepSeek", plain("a", "<｜end▁of▁sentence｜>"), Options{}, "<｜end▁of▁sentence｜>", nil},
		{"Phi", plain("<|end|>", "<|call|>"), Options{}, "<|end|>|<|call|>", nil},
		{"solar-open", plain("<|end|>", "<|flush|>", "<|calls|>"), Options{}, "<|flush|>|<|calls|>", map[string]Kind{"<|end|>": UserDefined}},
		{"half of solar-open", plain("<|end|>", "<|flush|>"), Options{}, "<|end|>|<|flush|>", map[string]Kind{"<|end|>": Control}},
		{"gemma4", plain("<eos>", "<turn|>", "<|tool_response>", "</s>"), Options{EOS: new(int32(3))}, "<eos>|<turn|>|<|tool_response>",
			map[string]Kind{"</s>": Normal, "<turn|>": Control}},
		{"Kimi", plain("[EOT]", "[EOS]", "[PAD]"), Options{}, "[EOT]|[EOS]|[PAD]", nil},
		{"MiniMax", plain("[e~["), Options{}, "[e~[", nil},
		{"gpt-oss", plain("<|end|>", "<|return|>", "<|call|>", "<|channel|>", "<|start|>"), Options{EOS: new(int32(1))}, "<|return|>|<|call|>",
			map[string]Kind{"<|end|>": UserDefined, "<|channel|>": UserDefined, "<|start|>": UserDefined, "<|return|>": Control}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := mustTokens(t, c.tokens, c.opt)
			if got := texts(v, v.EOG()); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			for id := range int32(v.Len()) {
				if v.IsEOG(id) != slices.Contains(v.EOG(), id) {
					t.Errorf("IsEOG(%d) is %v", id, v.IsEOG(id))
				}
				if kind, ok := c.kinds[v.Text(id)]; ok && v.Kind(id) != kind {
					t.Errorf("%q is %s, want %s", v.Text(id), v.Kind(id), kind)
				}
			}
			if v.IsEOG(-1) || v.IsEOG(int32(v.Len())) {
				t.Error("ids outside of the vocabulary end the generation")
			}
		})
	}
}

func TestStripping(t *testing.T) {
	tokens := append(plain("a", "▁", "b"), Token{Text: "<|user|>", Kind: Control}, Token{Text: "<s>", Kind: Control},
		Token{Text: "<mask>", Kind: Control}, Token{Text: "[MASK]", Kind: Control})
	for _, c := range []struct {
		opt  Options
		want string
	}{
		{Options{}, "a|▁|<|user|>|▁|b|▁|<s>|▁|b|▁|<mask>|▁|[MASK]|▁|b"},
		{Options{ModelName: "Phi-3 mini"}, "a|▁|<|user|>|b|▁|<s>|▁|b|▁|<mask>|[MASK]|b"},
		{Options{ModelArchitecture: "jina-bert-v3"}, "a|▁|<|user|>|▁|b|▁|<s>|▁|b|<mask>|▁|[MASK]|▁|b"},
		{Options{ModelName: "Modern-BERT base"}, "a|▁|<|user|>|▁|b|▁|<s>|▁|b|▁|<mask>|[MASK]|▁|b"},
	} {
		c.opt.AddSpacePrefix = new(false)
		v := mustTokens(t, tokens, c.opt)
		if got := texts(v, v.Tokenize(nil, "a <|user|> b <s> b <mask> [MASK] b", true)); got != c.want {
			t.Errorf("%q %q: %s, want %s", c.opt.ModelName, c.opt.ModelArchitecture, got, c.want)
		}
	}
}

func TestBytesAndPieces(t *testing.T) {
	for _, c := range []struct {
		model       Model
		token       Token
		bytes, show string
		pre         string
	}{
		{SPM, Token{Text: "▁a▁"}, " a ", " a ", ""},
		{SPM, Token{Text: "▁a", Kind: UserDefined}, "▁a", "▁a", ""},
		{SPM, Token{Text: "<0x0a>", Kind: Byte}, "\n", "\n", ""},
		{SPM, Token{Text: "<s>", Kind: Control}, "", "<s>", ""},
		{SPM, Token{Text: "<unk>", Kind: Unknown}, "", "<unk>", ""},
		{SPM, Token{Text: "free", Kind: Unused}, "", "", ""},
		{SPM, Token{Text: "free", Kind: Undefined}, "", "", ""},
		{SPM, Token{Text: ""}, "[EMPTY_0]", "[EMPTY_0]", ""},
		{BPE, Token{Text: "Ġa"}, " a", " a", ""},
		{BPE, Token{Text: "Ġa", Kind: UserDefined}, "Ġa", "Ġa", ""},
		{BPE, Token{Text: "a文"}, "a[UNK_BYTE_0xe69687a文]", "a[UNK_BYTE_0xe69687a文]", ""},
		{BPE, Token{Text: "<0x0a>", Kind: Byte}, "\n", "\n", ""},
		{BPE, Token{Text: "▁a文"}, " a文", " a文", "gemma4"},
		{WordBPE, Token{Text: "a文"}, "a文", "a文", "whitespace"},
		{PLaMo2, Token{Text: "<0x0G>", Kind: Byte}, "<0x0G>", "<0x0G>", ""},
		{WPM, Token{Text: "▁a"}, " a", " a", ""},
		{UGM, Token{Text: "▁a"}, " a", " a", ""},
		{RWKV, Token{Text: `\n\x41\\`}, "\nA\\", "\nA\\", ""},
		{RWKV, Token{Text: `a\x4`}, "a", "a", ""},
	} {
		tokens := []Token{c.token}
		if c.model == PLaMo2 {
			tokens = append(tokens, byteTokenList()...)
		}
		v := mustTokens(t, tokens, Options{Model: c.model, Pre: c.pre})
		if got := string(v.Bytes(0)); got != c.bytes {
			t.Errorf("%s %s %q adds %q, want %q", c.model, c.token.Kind, c.token.Text, got, c.bytes)
		}
		if got := v.Piece(0); got != c.show {
			t.Errorf("%s %s %q is shown as %q, want %q", c.model, c.token.Kind, c.token.Text, got, c.show)
		}
	}
	v := mustTokens(t, []Token{{Text: "<s>", Kind: Control}}, Options{})
	if v.Bytes(0) != nil || v.Bytes(-1) != nil || v.Bytes(1) != nil || v.Text(1) != "" || v.Kind(7) != Undefined || v.Score(9) != 0 {
		t.Error("a control token, or an id outside of the vocabulary, has bytes")
	}
}

func TestFromTokensRefuses(t *testing.T) {
	long := strings.Repeat("文", 10_000) // each character would be followed by the whole text
	for _, c := range []struct {
		want   string
		tokens []Token
		opt    Options
	}{
		{"no tokens", nil, Options{}},
		{`tokens 1 and 3 have the same text "b"`, plain("a", "b", "c", "b"), Options{}},
		{"EOS token 2 is out of range: the vocabulary has 2 tokens", plain("a", "b"), Options{EOS: new(int32(2))}},
		{"BOS token -1", plain("a"), Options{BOS: new(int32(-1))}},
		{"unknown tokenizer model 9", plain("a"), Options{Model: 9}},
		{`tokenizer.ggml.pre: unknown pre-tokenizer "unheard-of"`, plain("a"), Options{Model: BPE, Pre: "unheard-of"}},
		{"the last replacement has no end", plain("a"), Options{Model: UGM, CharsMap: []byte{0, 0, 0, 0, 'x'}}},
		{`token 0: byte token "x" is not spelled as <0x00>`, []Token{{Text: "x", Kind: Byte}}, Options{Model: BPE}},
		{"token 0: kind 9 is not a token kind", []Token{{Text: "a", Kind: 9}}, Options{}},
		{`token 0: byte token "xx" is not spelled as <0x00>`, []Token{{Text: "xx", Kind: Byte}}, Options{}},
		{"token 0: byte-level texts hold characters that stand for no byte", []Token{{Text: long}}, Options{Model: BPE}},
	} {
		_, err := FromTokens(c.tokens, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "vocab: ") {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestFromGGUF(t *testing.T) {
	build := func(edit func(b *ggufBuilder)) (*Vocab, error) {
		var b ggufBuilder
		edit(&b)
		g, err := parseGGUF(b.file())
		if err != nil {
			t.Fatal(err)
		}
		return FromGGUF(g)
	}
	v, err := build(func(b *ggufBuilder) {
		b.str("tokenizer.ggml.model", "gpt2")
		b.str("tokenizer.ggml.pre", "glm4")
		b.strs("tokenizer.ggml.tokens", []string{"a", "b", "<|end|>"})
		b.strs("tokenizer.ggml.merges", []string{"a b"})
		b.u32("tokenizer.ggml.eos_token_id", 1)
		b.u32("tokenizer.ggml.padding_token_id", 99) // outside of the vocabulary
		b.flag("tokenizer.ggml.add_eos_token", true)
		b.str("tokenizer.chat_template", "{{ x }}")
		b.ints("tokenizer.ggml.scores", []int32{-3, 2, 1, 99})
		b.ints("tokenizer.ggml.suppress_tokens", []int32{2, -1, 3, 0})
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := v.BOS(); ok {
		t.Error("there is a BOS token")
	}
	if _, ok := v.PAD(); ok {
		t.Error("there is a PAD token")
	}
	if eos, _ := v.EOS(); eos != 1 || !v.AddEOS() || v.AddBOS() || v.ChatTemplate() != "{{ x }}" || texts(v, v.EOG()) != "b|<|end|>" {
		t.Errorf("EOS %d, AddEOS %v, AddBOS %v, EOG %v", eos, v.AddEOS(), v.AddBOS(), v.EOG())
	}
	if name, named := v.Pre(); name != "glm4" || !named {
		t.Errorf("pre-tokenizer %q %v", name, named)
	}
	if got := v.Suppressed(); !slices.Equal(got, []int32{2, 0}) || v.Score(0) != -3 || v.Score(1) != 2 {
		t.Errorf("suppressed are %v, scores %v %v", got, v.Score(0), v.Score(1))
	}
	if id, ok := v.Find("b"); id != 1 || !ok {
		t.Errorf("Find gives %d %v", id, ok)
	}
	if _, ok := v.Find("c"); ok {
		t.Error("Find finds what is not there")
	}

	if v, err = build(func(b *ggufBuilder) {
		b.str("tokenizer.ggml.model", "gpt2")
		b.strs("tokenizer.ggml.tokens", []string{"a\x00b", "b", "", "ab\x00"})
		b.strs("tokenizer.ggml.merges", []string{"a b\x00c"})
	}); err != nil {
		t.Fatal(err)
	}
	if name, named := v.Pre(); name != "" || named {
		t.Errorf("pre-tokenizer %q %v, the file names none", name, named)
	}
	if got := texts(v, v.Tokenize(nil, "aab", false)) + "|" + v.Text(2); got != "a|ab|[EMPTY_2]" {
		t.Errorf("texts with zero bytes are read as %s", got)
	}
	if v, err = build(func(b *ggufBuilder) {
		b.str("tokenizer.ggml.model", "gemma4")
		b.strs("tokenizer.ggml.tokens", []string{"a", "▁", "<bos>"})
		b.strs("tokenizer.ggml.merges", nil)
		b.u32("tokenizer.ggml.bos_token_id", 2)
		b.flag("tokenizer.ggml.add_bos_token", false)
	}); err != nil {
		t.Fatal(err)
	}
	if name, _ := v.Pre(); name != "gemma4" || v.Model() != BPE || texts(v, v.Encode("a a")) != "<bos>|a|▁|a" || len(v.EOG()) > 0 {
		t.Errorf("gemma4: pre-tokenizer %q, %s, %s", name, v.Model(), texts(v, v.Encode("a a")))
	}
	if _, err = build(func(b *ggufBuilder) {
		b.str("tokenizer.ggml.model", "gpt2")
		b.str("tokenizer.ggml.pre", "kimi-k2")
		b.strs("tokenizer.ggml.tokens", []string{"a"})
	}); err != nil {
		t.Errorf("kimi-k2 without merges: %v", err)
	}

	tokens := func(b *ggufBuilder) { b.strs("tokenizer.ggml.tokens", []string{"a", "b"}) }
	for want, edit := range map[string]func(b *ggufBuilder){
		ErrNoVocab.Error():           func(b *ggufBuilder) {},
		`unknown tokenizer "future"`: func(b *ggufBuilder) { b.str("tokenizer.ggml.model", "future") },
		`tokenizer "test"`:           func(b *ggufBuilder) { b.str("tokenizer.ggml.model", "test") },
		`unknown pre-tokenizer "future"`: func(b *ggufBuilder) {
			b.str("tokenizer.ggml.model", "gpt2")
			b.str("tokenizer.ggml.pre", "future")
			tokens(b)
			b.strs("tokenizer.ggml.merges", nil)
		},
		"tokenizer.ggml.pre is uint32": func(b *ggufBuilder) {
			b.str("tokenizer.ggml.model", "gpt2")
			b.u32("tokenizer.ggml.pre", 1)
		},
		"suppress_tokens is not an array of int32": func(b *ggufBuilder) {
			b.str("tokenizer.ggml.model", "llama")
			tokens(b)
			b.floats("tokenizer.ggml.suppress_tokens", []float32{1})
		},
		"no key tokenizer.ggml.tokens": func(b *ggufBuilder) { b.str("tokenizer.ggml.model", "llama") },
		"tokens is not an array of strings": func(b *ggufBuilder) {
			b.str("tokenizer.ggml.model", "llama")
			b.ints("tokenizer.ggml.tokens", []int32{1})
		},
		"no key tokenizer.ggml.merges": func(b *ggufBuilder) { b.str("tokenizer.ggml.model", "gpt2"); tokens(b) },
		"scores is not an array of 2 float32": func(b *ggufBuilder) {
			b.str("tokenizer.ggml.model", "llama")
			tokens(b)
			b.floats("tokenizer.ggml.scores", []float32{1})
		},
		"token_type is not an array of 2 int32": func(b *ggufBuilder) {
			b.str("tokenizer.ggml.model", "llama")
			tokens(b)
			b.floats("tokenizer.ggml.token_type", []float32{1, 2})
		},
		"charsmap is truncated": func(b *ggufBuilder) {
			b.str("tokenizer.ggml.model", "t5")
			tokens(b)
			b.bytes("tokenizer.ggml.precompiled_charsmap", []byte{9, 0, 0, 0})
		},
	} {
		if _, err := build(edit); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestSharedVocabularies checks properties of all vocabularies on real files.
func TestSharedVocabularies(t *testing.T) {
	for _, name := range []string{"llama2", "mistral3", "llama3", "llama4"} {
		t.Run(name, func(t *testing.T) {
			v := loadShared(t, name)
			var single Bitset = NewBitset(256)
			for id := range int32(v.Len()) {
				b := v.Bytes(id)
				if (v.Kind(id) == Control || v.Kind(id) == Unknown) != (b == nil) {
					t.Fatalf("token %d, %s, adds %q", id, v.Kind(id), b)
				}
				if len(b) == 1 {
					single.Set(int32(b[0]))
				}
				if found, ok := v.Find(v.Text(id)); !ok || found != id {
					t.Fatalf("token %d is found as %d %v", id, found, ok)
				}
			}
			if single.Count() != 256 {
				t.Errorf("%d bytes have a token of their own", single.Count())
			}
		})
	}
}
