package vocab

import (
	"cmp"
	"slices"
	"strings"
)

// Texts by which llama.cpp finds tokens with a role that a file does not name. If several of a
// list are in a vocabulary, llama.cpp takes the one that its hash table yields first; this
// package takes the first of the list.
var (
	eotTexts = []string{"<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|end_of_text|>",
		"<EOT>", "_<EOT>", "[EOT]", "<｜end▁of▁sentence｜>", "<end_of_utterance>"}
	eomTexts    = []string{"<|eom_id|>"}
	fimPreTexts = []string{"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>", "<|code_prefix|>", "<|prefix|>"}
	fimSufTexts = []string{"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>", "<|code_suffix|>", "<|suffix|>"}
	fimMidTexts = []string{"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>", "<|code_middle|>", "<|middle|>"}
	fimPadTexts = []string{"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"}
	fimRepTexts = []string{"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}
	fimSepTexts = []string{"<|file_sep|>"}

	// eogTexts end generation in any vocabulary that has them.
	eogTexts = []string{"<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>",
		"<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>", "<end_of_utterance>",
		"<eos>", "<turn|>", "<|tool_response>", "<｜end▁of▁sentence｜>", "[e~["}
	// shownTexts structure messages of gpt-oss, and the arguments of calls of Gemma 4 and MiniMax-M3, and are shown as text.
	shownTexts = []string{"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>", `<|"|>`, "]<]minimax[>["}
)

// findSpecials finds tokens with a role by their texts and determines the end-of-generation
// set. Tokens with a role become control tokens, regardless of the file.
func (v *Vocab) findSpecials() {
	sp := &v.special
	for _, r := range []struct {
		id    *int32
		texts []string
	}{
		{&sp.eot, eotTexts}, {&sp.eom, eomTexts}, {&sp.fimPre, fimPreTexts}, {&sp.fimSuf, fimSufTexts},
		{&sp.fimMid, fimMidTexts}, {&sp.fimPad, fimPadTexts}, {&sp.fimRep, fimRepTexts}, {&sp.fimSep, fimSepTexts},
	} {
		for _, text := range r.texts {
			if *r.id >= 0 {
				break
			}
			if id, ok := v.Find(text); ok {
				*r.id = id
				v.kinds[id] = Control
			}
		}
	}

	eog := map[int32]bool{}
	add := func(id int32) {
		if id >= 0 {
			eog[id] = true
		}
	}
	add(sp.fimPad)
	add(sp.fimRep)
	add(sp.fimSep)
	for _, text := range eogTexts {
		if id, ok := v.Find(text); ok {
			add(id)
			v.kinds[id] = Control
		}
	}
	for _, text := range shownTexts {
		if id, ok := v.Find(text); ok {
			v.kinds[id] = UserDefined
		}
	}
	add(sp.eos)
	add(sp.eot)
	add(sp.eom)

	// In gpt-oss and solar-open "<|end|>" ends a message, not the answer, and in gemma4 "</s>" is
	// text.
	ends := func(text string) bool {
		id, ok := v.Find(text)
		return ok && eog[id]
	}
	except := func(text string, kind Kind) {
		if id, ok := v.Find(text); ok && eog[id] {
			delete(eog, id)
			v.kinds[id] = kind
		}
	}
	if (ends("<|call|>") || ends("<|calls|>")) && (ends("<|return|>") || ends("<|flush|>")) {
		except("<|end|>", UserDefined)
	}
	if ends("<|tool_response>") {
		except("</s>", Normal)
	}
	for id := range eog {
		v.eog = append(v.eog, id)
	}
	slices.Sort(v.eog)
}

// addedTokens are the tokens that are searched for in a text before it is tokenized.
type addedTokens struct {
	v      *Vocab
	list   []int32 // longest text first
	trie   byteTrie
	lstrip map[int32]bool // those that also take the whitespace before them
	rstrip map[int32]bool // and after them
}

// newAddedTokens lists the added tokens of a vocabulary.
func newAddedTokens(v *Vocab) *addedTokens {
	a := &addedTokens{v: v}
	for id, kind := range v.kinds {
		if kind == Control || kind == UserDefined || kind == Unknown {
			a.list = append(a.list, int32(id))
		}
	}
	slices.SortStableFunc(a.list, func(x, y int32) int { return cmp.Compare(len(v.spelling(y)), len(v.spelling(x))) })
	for i, id := range a.list {
		a.trie.insert(v.spelling(id), int32(i))
	}

	contains := func(s string, parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
	}
	switch {
	case contains(v.pre, "jina-v2-de", "jina-v2-es", "jina-v2-code") || contains(v.arch, "nomic-bert-moe", "jina-bert-v3"):
		if id, ok := v.Find("<mask>"); ok {
			a.lstrip = map[int32]bool{id: true}
		}
	case contains(strings.ToLower(v.name), "phi-3", "phi3"):
		a.rstrip = map[int32]bool{}
		for _, id := range a.list {
			a.rstrip[id] = true
		}
		if id, ok := v.Find("</s>"); ok {
			a.rstrip[id] = true
		}
		for _, text := range []string{"<unk>", "<s>", "<|endoftext|>"} {
			if id, ok := v.Find(text); ok {
				delete(a.rstrip, id)
			}
		}
	case contains(strings.ToLower(v.name), "modern-bert"):
		if id, ok := v.Find("[MASK]"); ok {
			a.lstrip = map[int32]bool{id: true}
		}
	}
	return a
}

// fragment is a part of a text: an added token, or text to be tokenized if token is -1.
type fragment struct {
	text  string
	token int32
}

// partition splits a text at its added tokens. As in llama.cpp, it searches for the longest
// token in the whole text first, then for the next in what is left; control and unknown tokens
// count only if special is set.
func (a *addedTokens) partition(text string, special bool) []fragment {
	parts := []fragment{{text, -1}}
	for _, id := range a.occurring(text) {
		if !special && a.v.kinds[id] != UserDefined {
			continue
		}
		var next []fragment
		for _, f := range parts {
			if f.token >= 0 {
				next = append(next, f)
				continue
			}
			next = a.cut(next, f.text, id)
		}
		parts = next
	}
	return parts
}

// cut appends the fragments of text around the token id.
func (a *addedTokens) cut(dst []fragment, text string, id int32) []fragment {
	for text != "" {
		left, right, found := strings.Cut(text, a.v.spelling(id))
		if !found {
			return append(dst, fragment{text, -1})
		}
		if a.lstrip[id] {
			left = strings.TrimRight(left, asciiSpace)
		}
		if a.rstrip[id] {
			right = strings.TrimLeft(right, asciiSpace)
		}
		if left != "" {
			dst = append(dst, fragment{left, -1})
		}
		dst = append(dst, fragment{"", id})
		text = right
	}
	return dst
}

const asciiSpace = " \t\n\v\f\r"

// occurring returns the added tokens that occur in text, in the order of the list. One pass
// over the text saves a search for each of possibly thousands of tokens.
func (a *addedTokens) occurring(text string) []int32 {
	t := &a.trie
	var found []int32 // positions in the list
	var seen Bitset
	for i := 0; i < len(text); i++ {
		at := t.root[text[i]]
		for j := i + 1; at != 0; j++ {
			if n := t.nodes[at].value; n >= 0 {
				if seen == nil {
					seen = NewBitset(len(a.list))
				}
				if !seen.Has(n) {
					seen.Set(n)
					found = append(found, n)
				}
			}
			if j == len(text) {
				break
			}
			at = t.step(at, text[j])
		}
	}
	slices.Sort(found)
	for i, n := range found {
		found[i] = a.list[n]
	}
	return found
}
