package walk

import "github.com/stencil-json/stencil/vocab"

// Tokens finds the tokens of a vocabulary by their text. It is immutable and
// safe for concurrent use.
type Tokens struct {
	vocab   *vocab.Vocab
	byText  map[string]int32
	byFirst [256][]int32
	firsts  []byte // the bytes with which any token begins
	longest int
	silent  []int32 // tokens that add no text and don't end a generation
}

// NewTokens prepares a vocabulary for walks.
func NewTokens(v *vocab.Vocab) *Tokens {
	t := &Tokens{vocab: v, byText: make(map[string]int32, v.Len())}
	for id := range int32(v.Len()) {
		text := v.Bytes(id)
		if len(text) == 0 {
			if !v.IsEOG(id) {
				t.silent = append(t.silent, id)
			}
			continue
		}
		if _, known := t.byText[string(text)]; !known {
			t.byText[string(text)] = id
		}
		t.byFirst[text[0]] = append(t.byFirst[text[0]], id)
		t.longest = max(t.longest, len(text))
	}
	for b := range t.byFirst {
		if len(t.byFirst[b]) > 0 {
			t.firsts = append(t.firsts, byte(b))
		}
	}
	return t
}
