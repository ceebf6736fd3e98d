package models

import (
	"slices"
	"strings"
	"unicode"
)

// The control tokens of the built-in vocabulary of words come first, in this
// order.
var wordControl = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}

// wordStart marks the start of a word in GGUF files.
const wordStart = "▁"

// addTinyWordPiece writes a WordPiece vocabulary, as BERT models have, and
// returns its number of tokens: printable ASCII, at the start of a word and
// within one, and the words of the built-in corpus.
func addTinyWordPiece(g *Writer) int {
	tokens := slices.Clone(wordControl)
	for c := rune('!'); c < unicode.MaxASCII; c++ {
		if unicode.IsUpper(c) {
			continue // words are in lower case
		}
		tokens = append(tokens, wordStart+string(c))
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			tokens = append(tokens, string(c))
		}
	}
	seen := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(tinyCorpus), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if len(word) > 1 && !seen[word] {
			seen[word] = true
			tokens = append(tokens, wordStart+word)
		}
	}
	kinds := make([]int32, len(tokens))
	for i := range kinds {
		kinds[i] = kindNormal
		if i < len(wordControl) {
			kinds[i] = kindControl
		}
	}
	g.String("tokenizer.ggml.model", "bert")
	g.Strings("tokenizer.ggml.tokens", tokens)
	g.Int32s("tokenizer.ggml.token_type", kinds)
	for i, key := range []string{"padding", "unknown", "cls", "seperator", "mask"} { // the misspelling is part of the format
		g.Uint32("tokenizer.ggml."+key+"_token_id", uint32(i))
	}
	g.Uint32("tokenizer.ggml.bos_token_id", 2)
	g.Uint32("tokenizer.ggml.eos_token_id", 3)
	return len(tokens)
}
