package bench

import (
	"math/rand/v2"

	"github.com/stencil-json/stencil/vocab"
)

// Split splits a text into random tokens of a vocabulary that contains every byte.
// About half of them are the longest that fit.
func Split(r *rand.Rand, v *vocab.Vocab, text []byte) (tokens []int32) {
	trie := v.Trie()
	for len(text) > 0 {
		var fits []int32
		var sizes []int
		node := trie.Child[text[0]]
		for depth := 1; node >= 0; depth++ {
			for _, tok := range trie.At(node) {
				fits, sizes = append(fits, tok), append(sizes, depth)
			}
			if depth == len(text) {
				break
			}
			next := int32(-1)
			for i := node + 1; i < trie.Nodes[node].End; i = trie.Nodes[i].End {
				if trie.Nodes[i].Byte == text[depth] {
					next = i
				}
			}
			node = next
		}
		i := r.IntN(len(fits))
		if r.IntN(2) == 0 {
			i = len(fits) - 1
		}
		tokens, text = append(tokens, fits[i]), text[sizes[i]:]
	}
	return tokens
}
