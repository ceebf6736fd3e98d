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
			"<|im_end|>|<|endoftext|>|<|eom_id|>|</s>", map[string]Kind{"<|im_end|>": Control, "<|eom_id|>": Control, "</s>": Normal}},
		{"fill in the middle", plain("<|fim_pad|>", "<|repo_name|>", "<|file_sep|>", "<|fim_prefix|>"), Options{},
			"<|fim_pad|>|<|repo_name|>|<|file_sep|>", map[string]Kind{"<|fim_prefix|>": Control}},
		{"DeepSeek", plain("a", "<｜end▁of▁sentence｜>"), Options{}, "<｜end▁of▁sentence｜>", nil},
		{"Phi", plain("<|end|>", "<|call|>"), Options{}, "<|end|>|<|call|>", nil},
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
	tokens := append(plain("a", "▁", "b"), Token{Text: "<|user|>", Kind: Control}, Token{Text: "<s>", Kind: Control}, Token{Text: "<mask>", Kind: Control})
	for _, c := range []struct {
		opt  Options
		want string
	}{
		{Options{}, "a|▁|<|user|>|▁|b|▁|<s>|▁|b|▁|<mask>|▁|b"},
		{Options{ModelName: "Phi-3 mini"}, "a|▁|<|user|>|b|▁|<s>|▁|b|▁|<mask>|b"},
		{Options{ModelArchitecture: "jina-bert-v3"}, "a|▁|<|user|>|▁|b|▁|<s>|▁|b|<mask>|▁|b"},
	} {
		c.opt.AddSpacePrefix = new(false)
		v := mustTokens(t, tokens, c.opt)
		if got := texts(v, v.Tokenize(nil, "a <|user|> b <s> b <mask> b", true)); got != c.want {
			t.Errorf("%q %q: %s, want %s", c.opt.ModelName, c.opt.ModelArchitecture, got, c.want)
		}
	}
}

func TestBytesAndPieces(t *testing.T) {
	for _, c := range []struct {
		model       Model
		token       Token
		bytes, show string
	}{
		{SPM, Token{Text: "▁a▁"}, " a ", " a "},
		{SPM, Token{Text: "▁a", Kind: UserDefined}, "▁a", "▁a"},
		{SPM, Token{Text: "<0x0a>", Kind: Byte}, "\n", "\n"},
		{SPM, Token{Text: "<s>", Kind: Control}, "", "<s>"},
		{SPM, Token{Text: "<unk>", Kind: Unknown}, "", "<unk>"},
		{SPM, Token{Text: "free", Kind: Unused}, "", ""},
		{SPM, Token{Text: "free", Kind: Undefined}, "", ""},
		{SPM, Token{Text: ""}, "[EMPTY_0]", "[EMPTY_0]"},
		{BPE, Token{Text: "Ġa"}, " a", " a"},
		{BPE, Token{Text: "Ġa", Kind: UserDefined}, "Ġa", "Ġa"},
		{BPE, Token{Text: "a文"}, "a[UNK_BYTE_0xe69687a文]", "a[UNK_BYTE_0xe69687a文]"},
		{WPM, Token{Text: "▁a"}, " a", " a"},
		{UGM, Token{Text: "▁a"}, " a", " a"},
		{RWKV, Token{Text: `\n\x41\\`}, "\nA\\", "\nA\\"},
		{RWKV, Token{Text: `a\x4`}, "a", "a"},
	} {
		v := mustTokens(t, []Token{c.token}, Options{Model: c.model})
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
		{"EOS token 2: there are only 2 tokens", plain("a", "b"), Options{EOS: new(int32(2))}},
		{"BOS token -1", plain("a"), Options{BOS: new(int32(-1))}},
		{"unknown tokenizer model 9", plain("a"), Options{Model: 9}},
		{"token 0: kind 9 is no kind", []Token{{Text: "a", Kind: 9}}, Options{}},
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
	if name, known := v.Pre(); name != "glm4" || !known {
		t.Errorf("pre-tokenizer %q %v", name, known)
	}
	if id, ok := v.Find("b"); id != 1 || !ok {
		t.Errorf("Find gives %d %v", id, ok)
	}
	if _, ok := v.Find("c"); ok {
		t.Error("Find finds what is not there")
	}

	tokens := func(b *ggufBuilder) { b.strs("tokenizer.ggml.tokens", []string{"a", "b"}) }
	for want, edit := range map[string]func(b *ggufBuilder){
		ErrNoVocab.Error():             func(b *ggufBuilder) {},
		`unknown tokenizer "future"`:   func(b *ggufBuilder) { b.str("tokenizer.ggml.model", "future") },
		"no key tokenizer.ggml.tokens": func(b *ggufBuilder) { b.str("tokenizer.ggml.model", "llama") },
		"tokens is no array of strings": func(b *ggufBuilder) {
			b.str("tokenizer.ggml.model", "llama")
			b.ints("tokenizer.ggml.tokens", []int32{1})
		},
		"no key tokenizer.ggml.merges": func(b *ggufBuilder) { b.str("tokenizer.ggml.model", "gpt2"); tokens(b) },
		"scores is no array of 2 float32": func(b *ggufBuilder) {
			b.str("tokenizer.ggml.model", "llama")
			tokens(b)
			b.floats("tokenizer.ggml.scores", []float32{1})
		},
		"token_type is no array of 2 int32": func(b *ggufBuilder) {
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

// TestSharedVocabularies checks on real files what must hold for any vocabulary.
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
