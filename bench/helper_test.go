package bench

import (
	"sync"
	"testing"

	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/vocab"
)

var loaded sync.Map // path → *vocab.Vocab

// realVocab loads one of the shared vocabularies, once for all tests.
func realVocab(t testing.TB, name string) *vocab.Vocab {
	t.Helper()
	path := shared.File(t, "vocab", name)
	if v, ok := loaded.Load(path); ok {
		return v.(*vocab.Vocab)
	}
	v, err := vocab.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	loaded.Store(path, v)
	return v
}

// byteLevel encodes bytes like byte-level BPE vocabularies: printable bytes stand
// for themselves, the others are mapped to U+0100 and above.
func byteLevel(text string) string {
	var out []rune
	for i := range len(text) {
		out = append(out, byteRunes[text[i]])
	}
	return string(out)
}

var byteRunes = func() (table [256]rune) {
	next := rune(0x100)
	for b := range 256 {
		if '!' <= b && b <= '~' || 0xA1 <= b && b <= 0xAC || 0xAE <= b {
			table[b] = rune(b)
		} else {
			table[b] = next
			next++
		}
	}
	return table
}()

// vocabOf returns a byte-level vocabulary: an end-of-generation token (id 0), every
// single byte, and the given texts that are longer.
func vocabOf(t testing.TB, texts ...string) *vocab.Vocab {
	t.Helper()
	tokens := []vocab.Token{{Text: "<eos>", Kind: vocab.Control}}
	for b := range 256 {
		tokens = append(tokens, vocab.Token{Text: byteLevel(string([]byte{byte(b)}))})
	}
	seen := map[string]bool{}
	for _, s := range texts {
		if len(s) == 1 || seen[s] {
			continue
		}
		seen[s] = true
		tokens = append(tokens, vocab.Token{Text: byteLevel(s)})
	}
	eos := int32(0)
	v, err := vocab.FromTokens(tokens, vocab.Options{Model: vocab.BPE, Pre: "llama-bpe", EOS: &eos})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// nastyTokens are texts of tokens that are difficult for masks: several JSON tokens
// in one, partial characters, split escapes, whitespace runs, digits.
var nastyTokens = []string{
	`","`, `":"`, `"}]`, `"}`, `"]`, `"},{"`, `":{"`, `":[`, `":["`, `", "`, `": "`, `": `, `, "`, `: `, `{"`, `[{"`, `[[`, `]]`, `}}`,
	`[]`, `{}`, `""`, `"a"`, `"a":`, `"b":`, `"ab":`, `{"a":`, `,"b":`, `"a":1`, `true`, `false`, `null`, `tru`, `rue`, `als`, `ull`, `nul`,
	` `, `  `, `    `, "\n", "\n\n", "\n  ", "\t", "\r\n", ` "`, "\n\"", ` }`, ` {`, "}\n", `] `, ` ,`, ` :`,
	`0`, `00`, `1`, `10`, `12`, `123`, `-1`, `-`, `0.`, `.5`, `.0`, `1.5`, `e`, `e5`, `E+`, `1e`, `e-1`, `2,`, `3]`, `4}`, `5 `, `-0`, `0,`, `.50`, `000`,
	`a`, `ab`, `abc`, `b`, `foo`, `bar`, `oo`, `o"`, `a"`, `"foo"`, `foo":`, `x`, `xx`, `xxx`, `xxxx`, `xxxxxxxx`,
	`\`, `\"`, `\\`, `\n`, `\u`, `\u00`, `\u0061`, `\u006`, `u00`, `\ud83d`, `\ud83d\ude00`, `\ude00`, `\ud8`, `a\`, `\"a`, `\/`, `\b`,
	"é", "\xC3", "\xA9", "日本", "\xE6\x97", "\xA5", "\xF0\x9F", "\x98\x80", "😀", "a\xF0\x9F\x98", "\xA9\"", "\xC3\xA9a", "\xE2\x80\xA8",
	`2024-`, `2024-01-01`, `-01`, `T00:`, `:00`, `Z"`, `@`, `a@b`, `.com`, `://`, `http://`, `::`, `127.`, `1.1.1.1`,
	`-a`, `a-b`, `_`, `$`, `/`, `//`, `#`, `~0`, `%20`, `A`, `Z`, `z`, `"x`, `x"`, `"é`, `é"`,
}
