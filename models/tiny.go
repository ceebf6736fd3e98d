package models

import (
	_ "embed"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
)

// tinyCorpus is what the merges of the built-in vocabulary are learnt from:
// JSON documents, schema words and plain English, written for this purpose.
//
//go:embed tiny_corpus.txt
var tinyCorpus string

// tinyMerges is the number of merges of the built-in vocabulary. With the 256
// bytes and the control tokens it makes 640 tokens.
const tinyMerges = 381

// The control tokens of the built-in vocabulary follow its ordinary ones.
var tinyControl = []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}

const tinyTemplate = `{%- for message in messages -%}
{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{ '<|im_start|>assistant\n' }}
{%- endif -%}`

// tinyTable is a byte-level BPE vocabulary: tokens in file spelling and merges.
type tinyTable struct {
	tokens []string
	merges []string
}

var tiny = sync.OnceValue(func() tinyTable {
	var t tinyTable
	for b := range 256 {
		t.tokens = append(t.tokens, string(byteRune(byte(b))))
	}
	for _, m := range learnMerges(tinyCorpus, tinyMerges) {
		t.tokens = append(t.tokens, m[0]+m[1])
		t.merges = append(t.merges, m[0]+" "+m[1])
	}
	t.tokens = append(t.tokens, tinyControl...)
	return t
})

// addTinyVocab writes the built-in vocabulary and returns its number of tokens.
func addTinyVocab(g *Writer) int {
	t := tiny()
	n := len(t.tokens)
	kinds := make([]int32, n)
	for i := range kinds {
		kinds[i] = 1 // normal
		if i >= n-len(tinyControl) {
			kinds[i] = 3 // control
		}
	}
	g.String("tokenizer.ggml.model", "gpt2")
	g.String("tokenizer.ggml.pre", "gpt-2")
	g.Strings("tokenizer.ggml.tokens", t.tokens)
	g.Int32s("tokenizer.ggml.token_type", kinds)
	g.Strings("tokenizer.ggml.merges", t.merges)
	g.Uint32("tokenizer.ggml.bos_token_id", uint32(n-3))
	g.Uint32("tokenizer.ggml.eos_token_id", uint32(n-3))
	g.Uint32("tokenizer.ggml.eot_token_id", uint32(n-1))
	g.Bool("tokenizer.ggml.add_bos_token", false)
	g.String("tokenizer.chat_template", tinyTemplate)
	return n
}

// byteRune returns the letter that byte-level BPE spells a byte with: itself
// where it is a visible Latin-1 character, else the next unused one from 256 on.
func byteRune(b byte) rune {
	visible := func(b byte) bool { return b > ' ' && b < 0x7f || b > 0xa0 && b != 0xad }
	if visible(b) {
		return rune(b)
	}
	n := rune(256)
	for c := range b {
		if !visible(c) {
			n++
		}
	}
	return n
}

// learnMerges learns byte pair encoding from a text (Sennrich, Haddow and
// Birch 2016): n times, the most frequent pair of neighbours becomes one; of
// several, the first in order of bytes.
func learnMerges(text string, n int) [][2]string {
	type word struct {
		parts []string
		count int
	}
	counts := map[string]int{}
	for _, w := range splitWords(text) {
		counts[w]++
	}
	var words []word
	for w, c := range counts {
		var parts []string
		for i := range len(w) {
			parts = append(parts, string(byteRune(w[i])))
		}
		words = append(words, word{parts, c})
	}
	var merges [][2]string
	for len(merges) < n {
		pairs := map[[2]string]int{}
		for _, w := range words {
			for i := 1; i < len(w.parts); i++ {
				pairs[[2]string{w.parts[i-1], w.parts[i]}] += w.count
			}
		}
		var best [2]string
		for p, c := range pairs {
			if b := pairs[best]; c > b || c == b && slices.Compare(p[:], best[:]) < 0 {
				best = p
			}
		}
		if pairs[best] == 0 {
			break
		}
		merges = append(merges, best)
		for k := range words {
			w := &words[k]
			var parts []string
			for i := 0; i < len(w.parts); i++ {
				if i+1 < len(w.parts) && w.parts[i] == best[0] && w.parts[i+1] == best[1] {
					parts = append(parts, best[0]+best[1])
					i++
				} else {
					parts = append(parts, w.parts[i])
				}
			}
			w.parts = parts
		}
	}
	return merges
}

// splitWords cuts a text where GPT-2's pre-tokenizer would: runs of letters,
// of digits and of other signs, each with a space before it if there is one,
// and whitespace. Merges that cross such a border could never be used.
func splitWords(text string) []string {
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r):
			return 1
		case unicode.IsDigit(r):
			return 2
		case unicode.IsSpace(r):
			return 3
		}
		return 4
	}
	var words []string
	var cur strings.Builder
	last := 0
	for _, r := range text {
		c := class(r)
		if c != last && !(last == 3 && cur.String() == " ") {
			if cur.Len() > 0 {
				words = append(words, cur.String())
				cur.Reset()
			}
		}
		cur.WriteRune(r)
		last = c
	}
	if cur.Len() > 0 {
		words = append(words, cur.String())
	}
	sort.Strings(words)
	return words
}
