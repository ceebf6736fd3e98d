package vocab

import "sync"

// preSpec is what follows from the name of a pre-tokenizer.
type preSpec struct {
	known  bool
	stages []splitter

	ignoreMerges bool // a word that is a token is taken whole
	addBOS       bool
	addSEP       bool
	keepSpaces   bool // Detokenize leaves spaces before punctuation alone
	noBOS        bool // no default BOS token
}

// splitter cuts the code points from to to of a text into words: it appends where each ends. The
// words must cover everything, so the last number appended is to.
type splitter func(t *runeText, from, to int, ends []int32) []int32

var preSpecs = sync.OnceValue(func() map[string]preSpec {
	llama3 := preSpec{known: true, stages: []splitter{splitLlama3}, ignoreMerges: true, addBOS: true}
	gpt2 := preSpec{known: true, stages: []splitter{splitGPT2}}
	return map[string]preSpec{"llama-bpe": llama3, "gpt-2": gpt2}
})

func lookupPre(name string) preSpec {
	return preSpecs()[name]
}
