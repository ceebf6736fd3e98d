package scripted

import (
	"fmt"

	"github.com/stencil-json/stencil/vocab"
)

// Vocabulary returns a SentencePiece vocabulary for small models: three special
// tokens, all single bytes, and a few words.
func Vocabulary() (*vocab.Vocab, error) {
	tokens := []vocab.Token{
		{Text: "<unk>", Kind: vocab.Unknown},
		{Text: "<s>", Kind: vocab.Control},
		{Text: "</s>", Kind: vocab.Control},
	}
	for b := range 256 {
		tokens = append(tokens, vocab.Token{Text: fmt.Sprintf("<0x%02X>", b), Kind: vocab.Byte})
	}
	words := []string{"a", "b", "c", "d", "e", "{", "}", `"`, ":", ",", "[", "]", "▁", "o", "n", "m", "x",
		"on", "one", "▁one", "▁two", "▁three", "name", `{"`, `":`, `"}`, `":"`, "aa", "aaaa", "é", "日", "STOP", "ST"}
	for i, w := range words {
		tokens = append(tokens, vocab.Token{Text: w, Score: float32(len(w)*10 - i)})
	}
	bos, eos, unk, no := int32(1), int32(2), int32(0), false
	return vocab.FromTokens(tokens, vocab.Options{BOS: &bos, EOS: &eos, UNK: &unk, AddSpacePrefix: &no})
}
