package vocab_test

import (
	"fmt"

	"github.com/stencil-json/stencil/vocab"
)

// A vocabulary is loaded from a GGUF file with Load, or built from a table.
func ExampleFromTokens() {
	end := int32(5)
	v, err := vocab.FromTokens([]vocab.Token{
		{Text: "▁", Score: -1}, {Text: "a", Score: -2}, {Text: "b", Score: -3}, {Text: "ab", Score: -4}, {Text: "▁ab", Score: -5},
		{Text: "</s>", Kind: vocab.Control},
	}, vocab.Options{Model: vocab.SPM, EOS: &end})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range v.Tokenize(nil, "ab b</s>", true) {
		fmt.Printf("%d %q adds %q, ends the generation: %v\n", id, v.Text(id), v.Bytes(id), v.IsEOG(id))
	}
	// Output:
	// 4 "▁ab" adds " ab", ends the generation: false
	// 0 "▁" adds " ", ends the generation: false
	// 2 "b" adds "b", ends the generation: false
	// 5 "</s>" adds "", ends the generation: true
}
