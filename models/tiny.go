package models

import (
	_ "embed"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
)

// tinyCorpus is the text from which the merges of the built-in vocabulary are
// learnt: JSON documents, schema words and plain English, written for this
// purpose.
//
//go:embed tiny_corpus.txt
var tinyCorpus string

// tinyMerges is the number of merges of the built-in vocabulary. With the 256
// bytes and the control tokens it has 640 tokens.
const tinyMerges = 381

// The control tokens of the built-in vocabulary come after the others.
var tinyControl = []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}

const tinyTemplate = `{%- for message in messages -%}
{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{ '<|im_start|>assistant\n' }}
{%- endif -%}`

// tinyTable is a byte-level BPE vocabulary: tokens and merges as in GGUF files.
type tinyTable struct {
	tokens []string
	merges []string
}

var tiny = sync.OnceValue(func() tinyTable {
	counts := map[string]int{}
	for _, w := range splitWords(tinyCorpus) {
		counts[w]++
	}
	t := byteTable(LearnMerges(counts, tinyMerges, 1))
	t.tokens = append(t.tokens, tinyControl...)
	return t
})

// addTinyVocab writes the built-in vocabulary and returns its number of tokens.
func addTinyVocab(g *Writer) int {
	t := tiny()
	n := len(t.tokens)
	g.bytePairs(t, len(tinyControl), n-3, n-1, tinyTemplate)
	return n
}

// bytePairs writes the keys of a byte-level BPE vocabulary whose last tokens are
// control tokens, one of which ends a text and one a turn.
func (w *Writer) bytePairs(t tinyTable, controls, end, turn int, template string) {
	n := len(t.tokens)
	kinds := make([]int32, n)
	for i := range kinds {
		kinds[i] = 1 // normal
		if i >= n-controls {
			kinds[i] = 3 // control
		}
	}
	w.String("tokenizer.ggml.model", "gpt2")
	w.String("tokenizer.ggml.pre", "gpt-2")
	w.Strings("tokenizer.ggml.tokens", t.tokens)
	w.Int32s("tokenizer.ggml.token_type", kinds)
	w.Strings("tokenizer.ggml.merges", t.merges)
	w.Uint32("tokenizer.ggml.bos_token_id", uint32(end))
	w.Uint32("tokenizer.ggml.eos_token_id", uint32(end))
	w.Uint32("tokenizer.ggml.eot_token_id", uint32(turn))
	w.Bool("tokenizer.ggml.add_bos_token", false)
	w.String("tokenizer.chat_template", template)
}

// AddVocab writes the keys of a byte-level BPE vocabulary: the 256 bytes, the
// results of the merges, in their order, and control tokens, the first of which
// ends texts and turns. Pairs of merges are as in GGUF files. It returns the
// number of tokens.
func (w *Writer) AddVocab(merges [][2]string, controls []string, template string) int {
	t := byteTable(merges)
	end := len(t.tokens)
	t.tokens = append(t.tokens, controls...)
	w.bytePairs(t, len(controls), end, end, template)
	return len(t.tokens)
}

// byteTable returns the bytes and the tokens of the merges.
func byteTable(merges [][2]string) tinyTable {
	var t tinyTable
	for b := range 256 {
		t.tokens = append(t.tokens, string(byteRune(byte(b))))
	}
	for _, m := range merges {
		t.tokens = append(t.tokens, m[0]+m[1])
		t.merges = append(t.merges, m[0]+" "+m[1])
	}
	return t
}

// byteRune returns the character that represents a byte in byte-level BPE:
// itself if it is a visible Latin-1 character, else the next unused one from
// 256.
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

// LearnMerges learns byte pair encoding (Sennrich, Haddow and Birch 2016) from
// words and their counts: up to n times, it merges the most frequent adjacent
// pair; of several, the first in byte order. Pairs with a count below least are
// not merged. Parts are as in GGUF files.
func LearnMerges(counts map[string]int, n, least int) [][2]string {
	type word struct {
		parts []string
		count int
	}
	words := make([]word, 0, len(counts))
	pairs := map[[2]string]int{}
	where := map[[2]string][]int{} // words that have or had the pair
	note := func(k int, sign int) {
		w := &words[k]
		for i := 1; i < len(w.parts); i++ {
			p := [2]string{w.parts[i-1], w.parts[i]}
			pairs[p] += sign * w.count
			if sign > 0 {
				where[p] = append(where[p], k)
			}
		}
	}
	for text, count := range counts {
		var parts []string
		for i := range len(text) {
			parts = append(parts, string(byteRune(text[i])))
		}
		words = append(words, word{parts, count})
		note(len(words)-1, 1)
	}
	var merges [][2]string
	for len(merges) < n {
		var best [2]string
		for p, c := range pairs {
			if b := pairs[best]; c > b || c == b && slices.Compare(p[:], best[:]) < 0 {
				best = p
			}
		}
		if pairs[best] < max(least, 1) {
			break
		}
		merges = append(merges, best)
		for _, k := range where[best] {
			note(k, -1)
			words[k].parts = joinPair(words[k].parts, best)
			note(k, 1)
		}
		delete(pairs, best)
		delete(where, best)
	}
	return merges
}

// joinPair merges every occurrence of a pair, from the left.
func joinPair(parts []string, pair [2]string) []string {
	var out []string
	for i := 0; i < len(parts); i++ {
		if i+1 < len(parts) && parts[i] == pair[0] && parts[i+1] == pair[1] {
			out = append(out, pair[0]+pair[1])
			i++
		} else {
			out = append(out, parts[i])
		}
	}
	return out
}

// splitWords splits a text as GPT-2's pre-tokenizer does: runs of letters, of
// digits and of other characters, each with one preceding space, and whitespace.
// Merges across such a boundary could never be used.
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
