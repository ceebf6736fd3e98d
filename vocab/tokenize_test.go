package vocab

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func mustTokens(t testing.TB, tokens []Token, opt Options) *Vocab {
	t.Helper()
	v, err := FromTokens(tokens, opt)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// plain returns normal tokens with decreasing scores, like SentencePiece's.
func plain(texts ...string) (out []Token) {
	for i, s := range texts {
		out = append(out, Token{Text: s, Score: -float32(i)})
	}
	return out
}

// byteTokenList returns the 256 byte tokens of SentencePiece.
func byteTokenList() (out []Token) {
	for b := range 256 {
		out = append(out, Token{Text: fmt.Sprintf("<0x%02X>", b), Kind: Byte})
	}
	return out
}

// smallBPE returns a byte-level vocabulary: all bytes, a few merges and added tokens.
func smallBPE(t testing.TB, pre string) *Vocab {
	var tokens []Token
	for _, s := range byteText {
		tokens = append(tokens, Token{Text: s})
	}
	tokens = append(tokens, plain("he", "ll", "llo", "hello", "Ġhello", "Ġh", "Ġhe", "12", "123", "ĠĠ")...)
	eos, bos := int32(len(tokens)), int32(len(tokens)+1)
	tokens = append(tokens, Token{Text: "</s>", Kind: Control}, Token{Text: "<s>", Kind: Control},
		Token{Text: "<tool>", Kind: UserDefined}, Token{Text: "<tool>x", Kind: UserDefined}, Token{Text: "<hole>", Kind: Unused})
	return mustTokens(t, tokens, Options{Model: BPE, Pre: pre, EOS: &eos, BOS: &bos,
		// "l o" is not a token; "lo x" is unreachable.
		Merges: []string{"h e", "l l", "ll o", "l o", "he llo", "Ġ h", "Ġh e", "Ġhe llo", "1 2", "12 3", "Ġ Ġ", "h e"}})
}

func byteLevelTokens() []Token { return plain(byteText[:]...) }

// plainBPE returns a vocabulary of plain texts with all bytes and a few merges.
func plainBPE(t testing.TB, pre string, model Model) *Vocab {
	tokens := append(byteTokenList(), plain("h", "e", "s", "a", "i", "d", "▁", "é", "he", "▁▁", "xyz", "\n\n\n")...)
	return mustTokens(t, tokens, Options{Model: model, Pre: pre,
		// "x", "y", "z" and "x y" are not tokens.
		Merges: []string{"h e", "▁ ▁", "x y", "xy z"}})
}

func texts(v *Vocab, ids []int32) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = v.Text(id)
	}
	return strings.Join(list, "|")
}

func TestTokenize(t *testing.T) {
	bpe := smallBPE(t, "gpt-2")
	whole := smallBPE(t, "llama-bpe")
	unk := int32(0)
	spm := mustTokens(t, append(append([]Token{{Text: "<unk>", Kind: Unknown}}, byteTokenList()...),
		append(plain("▁t", "he", "▁the", "▁", "t", "h", "e", "r", "er"), Token{Text: "[INST]", Kind: Control}, Token{Text: "T!", Kind: UserDefined})...),
		Options{Model: SPM, UNK: &unk, BOS: new(unk + 1)})
	wpm := mustTokens(t, append([]Token{{Text: "[UNK]", Kind: Unknown}}, plain("▁play", "ing", "▁,", "▁文", "▁a", "▁u", "b")...), Options{Model: WPM, UNK: &unk})
	ugm := mustTokens(t, []Token{{Text: "<unk>", Kind: Unknown}, {Text: "▁a", Score: -1}, {Text: "▁ab", Score: -5}, {Text: "b", Score: -2},
		{Text: "bc", Score: -9}, {Text: "c", Score: -8}, {Text: "▁", Score: -3}, {Text: "U!", Kind: UserDefined}},
		Options{Model: UGM, UNK: &unk, AddSpacePrefix: new(true)})
	rwkv := mustTokens(t, plain(`\x00`, "a", "ab", "abcd", `\n`, `\\`, `\xe6\x96`, "b", "c"), Options{Model: RWKV})
	cased := mustTokens(t, append([]Token{{Text: "[UNK]", Kind: Unknown}}, plain("▁A", "▁a", "▁Ü", "▁ü", "▁A\u0301")...),
		Options{Model: WPM, UNK: &unk, Lowercase: new(false)})
	accents := mustTokens(t, plain("▁a", "▁ü", "▁a\u0301"), Options{Model: WPM, StripAccents: new(false)})
	gemma := plainBPE(t, "gemma4", BPE)
	words := plainBPE(t, "whitespace", WordBPE)
	smallWords := mustTokens(t, append(byteTokenList(), plain("h", "e", "he")...),
		Options{Model: WordBPE, Pre: "whitespace", Lowercase: new(true), Merges: []string{"h e"}})
	dna := mustTokens(t, append(byteLevelTokens(), plain("<dna>", "</dna>", "<oov>", "CC", "ACGTAC\ue000", "GGAAAA\ue000")...),
		Options{Model: HybridDNA, Pre: "gpt-2", Merges: []string{"C C"}})
	noDNA := mustTokens(t, append(byteLevelTokens(), plain("<dna>", "</dna>", "ACGTAC\ue000")...), Options{Model: HybridDNA, Pre: "gpt-2"})

	for _, c := range []struct {
		name    string
		v       *Vocab
		special bool
		text    string
		want    string
	}{
		{"merges", bpe, false, "hello", "hello"},
		{"merges by rank", bpe, false, " hello", "Ġ|hello"}, // "he llo" comes before "Ġ h"
		{"whole word", whole, false, " hello", "Ġhello"},    // not reachable by merges
		{"symbol that is no token", bpe, false, "loh", "l|o|h"},
		{"numbers", bpe, false, "1234 12", "123|4|Ġ|12"},
		{"spaces", bpe, false, "   h", "ĠĠ|Ġh"},
		{"bytes", bpe, false, "é\x00", "Ã|©|Ā"},
		{"invalid UTF-8", bpe, false, "\xffa", "ï|¿|½|a"},
		{"control spelling as text", bpe, false, "<s>", "<|s|>"},
		{"control token", bpe, true, "a<s>he</s>", "a|<s>|he|</s>"},
		{"user-defined", bpe, false, "a<tool>b", "a|<tool>|b"},
		{"longest added token", bpe, false, "<tool>xx<tool>", "<tool>x|x|<tool>"},
		{"unused is not looked for", bpe, true, "<hole>", "<|h|o|l|e|>"},
		{"empty", bpe, true, "", ""},

		{"leading space", spm, false, "the", "▁the"},
		{"best score first", spm, false, "ther", "▁the|r"}, // "he" is better than "er"
		{"byte fallback", spm, false, "é", "▁|<0xC3>|<0xA9>"},
		{"cut character", spm, false, "\xc3", "▁|<0xC3>"},
		{"space after added token", spm, true, "t[INST]the", "▁t|[INST]|▁the"},
		{"only after it", spm, false, "T!the", "T!|▁the"},

		{"words", wpm, false, "Playing, 文 a", "▁play|ing|▁,|▁文|▁a"},
		{"accents", wpm, false, "Übb", "▁u|b|b"},
		{"unknown word", wpm, false, "a playx", "▁a|[UNK]"},
		{"control characters", wpm, false, "a\x00\u200bb", "▁a|b"},
		{"no words", wpm, false, " \u00a0", ""},

		{"capitals", cased, false, "A a Ü A\u0301", "▁A|▁a|▁Ü|▁A\u0301"},
		{"small letters with accents", accents, false, "A Ü A\u0301", "▁a|▁ü|▁a\u0301"},
		{"combining marks", wpm, false, "a\u0301 u\u0308b", "▁a|▁u|b"},

		{"plain text", gemma, false, "he  said", "he|▁▁|s|a|i|d"},
		{"line ends that are a token", gemma, false, "\n\n\n", "\n\n\n"},
		{"line ends that are none", gemma, false, "\n\n\n\n", "<0x0A>|<0x0A>|<0x0A>|<0x0A>"},
		{"bytes of a character", gemma, false, "文é", "<0xE6>|<0x96>|<0x87>|é"},
		{"symbol that is no token", gemma, false, "xyxyz", "<0x78>|<0x79>|xyz"},
		{"invalid UTF-8", gemma, false, "\xff", "<0xEF>|<0xBF>|<0xBD>"},
		{"between whitespace", words, false, " He\u00a0said\n\nhe ", "<0x48>|e|s|a|i|d|he"},

		{"small letters", smallWords, false, "HE hE", "he|he"},

		{"bases", dna, false, "CC<dna>acgtacGGCC</dna>CC<dna>gg", "CC|<dna>|ACGTAC\ue000|<oov>|</dna>|CC|<dna>|GGAAAA\ue000"},
		{"no bases", dna, false, "<dna></dna>", "<dna>|</dna>"},
		{"a token missing", noDNA, false, "<dna>A", "<|d|n|a|>|A"},

		{"best sum", ugm, false, "ab", "▁a|b"},
		{"unknown run", ugm, false, "axyc", "▁a|<unk>|c"},
		{"user-defined wins", ugm, false, "aU!", "▁a|U!"},
		{"two spaces", ugm, false, "a  a", "▁a|▁|▁a"},

		{"longest", rwkv, false, "abcd", "abcd"},
		{"longest so far", rwkv, false, "abc", "ab|c"},
		{"escapes", rwkv, false, "\n\\\x00\xe6\x96", `\n|\\|\x00|\xe6\x96`},
	} {
		t.Run(c.v.Model().String()+"/"+c.name, func(t *testing.T) {
			if got := texts(c.v, c.v.Tokenize(nil, c.text, c.special)); got != c.want {
				t.Errorf("%q is %s, want %s", c.text, got, c.want)
			}
		})
	}

	t.Run("continued", func(t *testing.T) {
		for _, c := range []struct {
			v          *Vocab
			text, want string
		}{
			{spm, "the", "t|he"}, {spm, "T!the", "T!|t|he"}, {spm, "[INST]", "<0x5B>|<0x49>|<0x4E>|<0x53>|<0x54>|<0x5D>"},
			{bpe, "\xffa", "ÿ|a"}, {bpe, "<s>", "<|s|>"}, {bpe, "\xc3", "Ã"}, {ugm, "ab", "<unk>|b"},
			{gemma, "\xffhe ", "<0xFF>|he|▁"}, {words, "He ", "<0x48>|e|<0x20>"}, {dna, "<dna>C", "<|d|n|a|>|C"},
		} {
			if got := texts(c.v, c.v.TokenizeText(nil, []byte(c.text))); got != c.want {
				t.Errorf("%q is %s, want %s", c.text, got, c.want)
			}
		}
	})
	t.Run("encode", func(t *testing.T) {
		for _, c := range []struct {
			v          *Vocab
			text, want string
		}{{bpe, "he", "he"}, {whole, "he</s>", "<s>|he|</s>"}, {spm, "the", "<0x00>|▁the"}} {
			if got := texts(c.v, c.v.Encode(c.text)); got != c.want {
				t.Errorf("%q is %s, want %s", c.text, got, c.want)
			}
		}
	})
}

// TestPreTokenizerSwitches checks which pre-tokenizers do not split a word that is a token, and
// which add a BOS token.
func TestPreTokenizerSwitches(t *testing.T) {
	llama3 := []string{"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"}
	whole := append([]string{"tekken", "minicpm5", "youtu", "granite-embed-multi-97m"}, llama3...)
	bos := append([]string{"tekken", "chameleon", "gemma4", "granite-embed-multi-311m"}, llama3...)
	for name, spec := range preSpecs() {
		v := smallBPE(t, name)
		if v.AddBOS() != slices.Contains(bos, name) {
			t.Errorf("%s adds a BOS token: %v", name, v.AddBOS())
		}
		want := "Ġ|hello"
		switch {
		case spec.plainText:
			want = "hello"
		case slices.Contains(whole, name):
			want = "Ġhello"
		}
		if got := texts(v, v.Tokenize(nil, " hello", false)); got != want {
			t.Errorf("%s tokenizes %s, want %s", name, got, want)
		}
	}
}

// TestUnigramKinds checks that the file's kind of a token counts, even if the token's text
// makes it a control token.
func TestUnigramKinds(t *testing.T) {
	v := mustTokens(t, []Token{{Text: "<unk>", Kind: Unknown}, {Text: "a", Score: -1}, {Text: "<eos>", Score: -2},
		{Text: "[EOS]", Kind: UserDefined, Score: -90}, {Text: "[", Score: -1}, {Text: "EOS]", Score: -1}},
		Options{Model: UGM, UNK: new(int32(0))})
	if got := texts(v, v.Tokenize(nil, "a<eos>[EOS]", false)); got != "a|<eos>|[EOS]" || v.Kind(2) != Control || v.Kind(3) != Control {
		t.Errorf("got %s, kinds %s and %s", got, v.Kind(2), v.Kind(3))
	}
}

// TestTokenizePLaMo2 checks that the cheapest tokens are chosen, and bytes if there are none.
func TestTokenizePLaMo2(t *testing.T) {
	tokens := append([]Token{{Text: "<unk>", Kind: Unknown}}, byteTokenList()...)
	tokens = append(tokens, Token{Text: "a", Score: -1}, Token{Text: "ab", Score: -3}, Token{Text: "b", Score: -1}, Token{Text: "abc", Score: -2},
		Token{Text: "bcd", Score: -9}, Token{Text: "d", Score: -20})
	v := mustTokens(t, tokens, Options{Model: PLaMo2})
	for text, want := range map[string]string{
		"ab": "a|b", "abc": "abc", "abcd": "a|bcd", "é": "<0xC3>|<0xA9>", "\ufeffa": "a", "axb": "a|<0x78>|b", "": "",
	} {
		if got := texts(v, v.Tokenize(nil, text, false)); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
	if _, err := FromTokens(tokens[:200], Options{Model: PLaMo2}); err == nil || !strings.Contains(err.Error(), "no token for the byte 0x") {
		t.Errorf("byte tokens are missing: %v", err)
	}
}

// TestCharsMap normalises with a compiled map that replaces "A" by "a" and "AB" by nothing.
func TestCharsMap(t *testing.T) {
	units := make([]uint32, 1024)
	link := func(from, base uint32) { units[from] |= (from ^ base) << 10 }
	const root, a, ab = 0, 0x100 ^ 'A', 0x200 ^ 'B'
	link(root, 0x100)
	units[a] = 'A' | 1<<8 // a replacement ends here
	link(a, 0x200)
	units[0x200] = 1 << 31 // at 0: "a"
	units[ab] = 'B' | 1<<8
	link(ab, 0x300)
	units[0x300] = 1<<31 | 2 // at 2: ""
	data := []byte{0, 16, 0, 0}
	for _, u := range units {
		data = append(data, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
	}
	data = append(data, "a\x00\x00"...)
	unk := int32(0)
	tokens := append([]Token{{Text: "<unk>", Kind: Unknown}}, plain("a", "b", "B", "▁")...)
	v := mustTokens(t, tokens, Options{Model: UGM, UNK: &unk, CharsMap: data})
	for text, want := range map[string]string{"Ab": "a|b", "ABb": "b", "aA": "a|a", "BA B": "B|a|▁|B", "AB": ""} {
		if got := texts(v, v.Tokenize(nil, text, false)); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
	for _, bad := range [][]byte{{1}, {0, 0, 0, 0}, {255, 255, 255, 255, 0}, data[:4096]} {
		if _, err := FromTokens(tokens, Options{Model: UGM, CharsMap: bad}); err == nil {
			t.Errorf("a map of %d bytes that is cut off is accepted", len(bad))
		}
	}
	// A map with offsets out of range replaces nothing.
	for i := 4; i < 4100; i++ {
		data[i] |= 0xf0
	}
	v = mustTokens(t, tokens, Options{Model: UGM, UNK: &unk, CharsMap: data})
	if got := texts(v, v.Tokenize(nil, "ab", false)); got != "a|b" {
		t.Errorf("broken map: %s", got)
	}
}

// TestTokenizeLong tokenizes a million equal characters. With quadratic time, it would take
// hours.
func TestTokenizeLong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	v := smallBPE(t, "gpt-2")
	spm := mustTokens(t, append(byteTokenList(), plain("aa", "aaaa", "▁", "a")...), Options{Model: SPM})
	for _, part := range []string{"l", "h", " ", "<", "</s>"} {
		text := strings.Repeat(part, 1_000_000/len(part))
		n, m := len(v.Tokenize(nil, text, true)), len(spm.Tokenize(nil, text, true))
		if n == 0 || m == 0 {
			t.Errorf("a million bytes of %q are %d and %d tokens", part, n, m)
		}
	}
}

func TestDetokenize(t *testing.T) {
	spm := mustTokens(t, append(plain("▁the", "▁", "!"), Token{Text: "</s>", Kind: Control}, Token{Text: "<s>", Kind: Control}),
		Options{Model: SPM, EOS: new(int32(3)), BOS: new(int32(4)), AddEOS: new(true)})
	bpe := smallBPE(t, "gpt-2")
	for _, c := range []struct {
		v            *Vocab
		ids          []int32
		remove, show bool
		want         string
	}{
		{spm, []int32{0, 1, 2}, false, false, "the !"},
		{spm, []int32{4, 0, 3}, true, false, " the"},
		{spm, []int32{4, 0, 3}, false, true, "<s> the</s>"},
		{spm, []int32{4, 0, 3}, false, false, " the"},
		{bpe, bpe.Tokenize(nil, "a , b ! it 's ' x 're 'll don 't", false), false, false, "a, b! it's'x're 'll don 't"},
		{bpe, nil, false, false, ""},
	} {
		if got := c.v.Detokenize(c.ids, c.remove, c.show); got != c.want {
			t.Errorf("Detokenize(%s, %v, %v) is %q, want %q", texts(c.v, c.ids), c.remove, c.show, got, c.want)
		}
	}
}

func TestTokenizeConcurrently(t *testing.T) {
	v := smallBPE(t, "gpt-2")
	want := texts(v, v.Tokenize(nil, "hello hello 123", false))
	v = smallBPE(t, "gpt-2") // the tokenizer is built by the first caller
	done := make(chan string)
	for range 8 {
		go func() {
			var last string
			for range 50 {
				last = texts(v, v.Tokenize(nil, "hello hello 123", false))
			}
			done <- last
		}()
	}
	for range 8 {
		if got := <-done; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// FuzzTokenize checks that the tokens concatenate to the text.
func FuzzTokenize(f *testing.F) {
	for _, s := range []string{"", "hello  hello12345", "<s></s>[INST]", "é文\xff\xc0\x80", " \n\t '\u00a0'S", "<0x0A>▁", "\xff 0"} {
		f.Add(s)
	}
	var bpes []*Vocab
	for _, pre := range []string{"gpt-2", "llama-bpe", "llama4", "qwen2", "deepseek-llm", "kimi-k2", "afmoe", "chameleon", "superbpe", "bloom",
		"qwen35", "jais-2", "exaone-moe", "spark2_5", "youtu", "tiny_aya", "laguna"} {
		bpes = append(bpes, smallBPE(f, pre))
	}
	more := append(byteTokenList(), plain("▁", "he", "▁he", "llo", "  ", "é")...)
	more = append(more, Token{Text: "<tool>", Kind: UserDefined})
	spm := mustTokens(f, more, Options{Model: SPM})
	rwkvTokens := plain("hello", `\n\n`, "he")
	for b := range 256 {
		rwkvTokens = append(rwkvTokens, Token{Text: fmt.Sprintf(`\x%02x`, b)})
	}
	rwkv := mustTokens(f, rwkvTokens, Options{Model: RWKV})
	plamo := mustTokens(f, append([]Token{{Text: "<unk>", Kind: Unknown}}, more...), Options{Model: PLaMo2})
	dna := mustTokens(f, append(byteLevelTokens(), plain("<dna>", "</dna>", "<oov>", "AAAAAA\ue000")...), Options{Model: HybridDNA})
	gemma, words := plainBPE(f, "gemma4", BPE), plainBPE(f, "whitespace", WordBPE)
	f.Fuzz(func(t *testing.T, s string) {
		for _, v := range append(slices.Clone(bpes), spm, rwkv, plamo, dna, gemma, words) {
			want := s
			if v.model == SPM || v == gemma {
				want = strings.ReplaceAll(s, spaceMark, " ") // the two are the same in SentencePiece
			}
			if got := v.Decode(v.TokenizeText(nil, []byte(s))); string(got) != want {
				t.Errorf("%s %s: %q comes back as %q", v.model, v.pre, s, got)
			}
			if v.model == BPE && utf8.ValidString(s) {
				if got := v.Decode(v.Tokenize(nil, s, false)); string(got) != want {
					t.Errorf("%s %s: %q comes back as %q", v.model, v.pre, s, got)
				}
			}
		}
	})
}
