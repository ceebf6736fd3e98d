package vocab

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
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

// plain returns ordinary tokens; the scores fall from the first on, as SentencePiece's do.
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

// smallBPE is a byte-level vocabulary: all bytes, a few merges and added tokens.
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
		// "l o" is no token; "lo x" can never come about.
		Merges: []string{"h e", "l l", "ll o", "l o", "he llo", "Ġ h", "Ġh e", "Ġhe llo", "1 2", "12 3", "Ġ Ġ", "h e"}})
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

	for _, c := range []struct {
		name    string
		v       *Vocab
		special bool
		text    string
		want    string
	}{
		{"merges", bpe, false, "hello", "hello"},
		{"merges by rank", bpe, false, " hello", "Ġ|hello"}, // "he llo" comes before "Ġ h"
		{"whole word", whole, false, " hello", "Ġhello"},    // no merge leads there
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

// TestTokenizePLaMo2 spells with the cheapest tokens, and with bytes where there are none.
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

// TestCharsMap normalises with a compiled map that turns "A" into "a" and "AB" into nothing.
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
	// A map that leads out of itself replaces nothing.
	for i := 4; i < 4100; i++ {
		data[i] |= 0xf0
	}
	v = mustTokens(t, tokens, Options{Model: UGM, UNK: &unk, CharsMap: data})
	if got := texts(v, v.Tokenize(nil, "ab", false)); got != "a|b" {
		t.Errorf("broken map: %s", got)
	}
}

// TestTokenizeLong tokenizes a million times the same character. Quadratic, it would take hours.
func TestTokenizeLong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	v := smallBPE(t, "gpt-2")
	spm := mustTokens(t, append(byteTokenList(), plain("aa", "aaaa", "▁", "a")...), Options{Model: SPM})
	for _, part := range []string{"l", "h", " ", "<", "</s>"} {
		begin := time.Now()
		text := strings.Repeat(part, 1_000_000/len(part))
		n, m := len(v.Tokenize(nil, text, true)), len(spm.Tokenize(nil, text, true))
		if took := time.Since(begin); took > 20*time.Second || n == 0 || m == 0 {
			t.Errorf("a million bytes of %q are %d and %d tokens, after %v", part, n, m, took)
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
	v = smallBPE(t, "gpt-2") // the tokenizer is built by whoever comes first
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

// FuzzTokenize checks that tokens put together are the text again.
func FuzzTokenize(f *testing.F) {
	for _, s := range []string{"", "hello  hello12345", "<s></s>[INST]", "é文\xff\xc0\x80", " \n\t '\u00a0'S", "<0x0A>▁", "\xff 0"} {
		f.Add(s)
	}
	var bpes []*Vocab
	for _, pre := range []string{"gpt-2", "llama-bpe", "llama4", "qwen2", "deepseek-llm", "kimi-k2", "afmoe", "chameleon", "superbpe", "bloom"} {
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
	f.Fuzz(func(t *testing.T, s string) {
		for _, v := range append(slices.Clone(bpes), spm, rwkv, plamo) {
			want := s
			if v.model == SPM {
				want = strings.ReplaceAll(s, spaceMark, " ") // the two are one in SentencePiece
			}
			if got := v.Decode(v.TokenizeText(nil, []byte(s))); string(got) != want {
				t.Errorf("%s %s: %q comes back as %q", v.model, v.pre, s, got)
			}
			if v.model == BPE && utf8.ValidString(s) {
				if got := v.Decode(v.Tokenize(nil, s, false)); string(got) != s {
					t.Errorf("%s %s: %q comes back as %q", v.model, v.pre, s, got)
				}
			}
		}
	})
}
