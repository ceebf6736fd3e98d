// Package vocab reads a language model's vocabulary and provides what a constraint engine
// needs: the bytes that a token adds to the text, the control and end-of-generation tokens, and
// the model's own tokenizer.
//
// A vocabulary comes from the metadata of a GGUF file ([Load]), without reading tensor data, or
// from a table ([FromTokens]). All kinds that llama.cpp 0.5.0 supports are supported:
// byte-level BPE with its pre-tokenizers, BPE over plain text, SentencePiece with byte
// fallback, WordPiece, Unigram, RWKV and PLaMo-2. Token bytes, kinds, the end-of-generation set
// and the output of [Vocab.Tokenize] equal llama.cpp's; the few deliberate differences are
// documented at the functions concerned.
//
// Token texts and token bytes are stored in one block each, with an array of end offsets:
//
//	texts  "<s>" "Ġthe" …   Vocab.Text(id)  the spelling in the file
//	bytes  ""    " the" …   Vocab.Bytes(id) what the token adds to the text
//
// so that a vocabulary of 128k tokens is a handful of allocations. The tokenizer's tables are
// built when a text is first tokenized.
//
// # Why not a library
//
// Model files come from unknown sources, so what a reader allocates must be bounded by what it
// has read, not by a length in the file. github.com/ollama/ollama/fs/ggml (0.24) allocates 6 GB
// for a file of 45 bytes that announces a string of 6 GB, 8 GB for one of 49 bytes with an array
// of 2^31 numbers, and panics on a string of 2^62 bytes. The reader here grows lists as they are
// read, and its errors name the byte offset and the key. Ollama's tokenizers lack RWKV and
// PLaMo-2; those for Hugging Face's models read tokenizer.json, which a GGUF file does not
// contain.
package vocab

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Kind is the role of a token.
type Kind uint8

// The kinds of tokens. Control, Unknown, Unused and Undefined tokens add no bytes to the text.
const (
	Normal      Kind = iota // ordinary text
	Unknown                 // stands for text that the vocabulary can't represent
	Control                 // steers the model, such as the start of a text; never text
	UserDefined             // added text, recognised before the rest is tokenized
	Unused                  // a reserved token
	Byte                    // one byte, for text without a token of its own
	Undefined               // a type number without a meaning
)

var kindNames = [...]string{"normal", "unknown", "control", "user-defined", "unused", "byte", "undefined"}

// String returns the name of the kind, such as "user-defined".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Model is the algorithm of a vocabulary's tokenizer.
type Model uint8

// The tokenizer algorithms, with their names in GGUF files in parentheses.
const (
	SPM       Model = iota // SentencePiece's BPE with scores and byte fallback ("llama")
	BPE                    // BPE with merges, byte-level ("gpt2") or of plain text ("gemma4")
	WPM                    // WordPiece ("bert")
	UGM                    // SentencePiece's unigram model ("t5")
	RWKV                   // longest match ("rwkv")
	PLaMo2                 // PLaMo-2's unigram model ("plamo2")
	HybridDNA              // BPE, and runs of six bases between <dna> and </dna> ("hybriddna")
	WordBPE                // BPE of the words between whitespace ("whitespace")
)

var modelNames = [...]string{"SentencePiece", "BPE", "WordPiece", "Unigram", "RWKV", "PLaMo-2", "hybrid DNA", "word BPE"}

// bpe reports whether the algorithm is BPE with merges and a pre-tokenizer.
func (m Model) bpe() bool { return m == BPE || m == HybridDNA || m == WordBPE }

// String returns the algorithm's usual name.
func (m Model) String() string {
	if int(m) < len(modelNames) {
		return modelNames[m]
	}
	return fmt.Sprintf("model %d", uint8(m))
}

// Token is one entry of an explicit table.
type Token struct {
	Text  string // as in a GGUF file: "▁the" for SPM, "Ġthe" for BPE, "<0x0A>" for a Byte
	Kind  Kind
	Score float32 // used by SPM, UGM and PLaMo2
}

// Options completes an explicit table to a vocabulary. Its zero value means a SentencePiece
// vocabulary without special tokens. A nil pointer means "none" for a token and the model's
// default for a switch.
type Options struct {
	Model  Model
	Pre    string   // BPE: name of the pre-tokenizer as in GGUF files, such as "llama-bpe"; "" is "default"
	Merges []string // BPE: "left right", best first

	BOS, EOS, EOT, EOM, UNK, SEP, PAD          *int32
	AddBOS, AddEOS, AddSEP, AddSpacePrefix     *bool
	Lowercase, StripAccents                    *bool  // WPM; Lowercase also WordBPE
	RemoveExtraWhitespace                      bool   // UGM
	CharsMap                                   []byte // UGM: SentencePiece's compiled normalisation
	ChatTemplate, ModelName, ModelArchitecture string
}

// Vocab is a model's vocabulary. It is immutable and safe for concurrent use.
type Vocab struct {
	model Model
	pre   string // name of the pre-tokenizer in the file
	spec  preSpec

	texts  Strings
	scores []float32 // nil: all zero
	kinds  []Kind
	index  textIndex
	bytes  []byte
	ends   []uint32 // end of each token's bytes

	special specials
	eog     []int32 // ascending
	added   *addedTokens

	addBOS, addEOS, addSEP bool
	addSpacePrefix         bool
	cleanSpaces            bool
	ignoreMerges           bool
	lowercase, stripMarks  bool
	removeExtraWhitespace  bool
	maxText                int // bytes of the longest token text
	template               string
	name, arch             string

	suppressed []int32
	fileKinds  []Kind // UGM: the kinds in the file
	kmers      int32  // the first token for bases; -1: none
	merges     Strings
	charsMap   []byte
	engineOnce sync.Once
	engine     tokenizer

	derived
}

// specials are the IDs of tokens with a role; -1: none.
type specials struct {
	bos, eos, eot, eom, unk, sep, pad, mask        int32
	fimPre, fimSuf, fimMid, fimPad, fimRep, fimSep int32
}

// source is the data of a vocabulary, from a file or a table.
type source struct {
	model                                  Model
	pre                                    string
	texts                                  Strings
	scores                                 []float32
	kinds                                  []Kind
	merges                                 Strings
	special                                specials
	addBOS, addEOS, addSEP, addSpacePrefix *bool
	lowercase, stripAccents                *bool
	removeExtraWhitespace                  bool
	charsMap                               []byte
	suppressed                             []int32
	template, name, arch                   string
}

// FromTokens returns a vocabulary for an explicit table. The end-of-generation set is
// determined as for a file: the EOS token and the well-known texts. Token texts must differ.
func FromTokens(tokens []Token, opt Options) (*Vocab, error) {
	s := source{
		model: opt.Model, pre: opt.Pre, special: noSpecials(),
		addBOS: opt.AddBOS, addEOS: opt.AddEOS, addSEP: opt.AddSEP, addSpacePrefix: opt.AddSpacePrefix,
		lowercase: opt.Lowercase, stripAccents: opt.StripAccents,
		removeExtraWhitespace: opt.RemoveExtraWhitespace, charsMap: slices.Clone(opt.CharsMap),
		template: opt.ChatTemplate, name: opt.ModelName, arch: opt.ModelArchitecture,
		scores: make([]float32, len(tokens)), kinds: make([]Kind, len(tokens)),
	}
	texts := make([]string, len(tokens))
	for i, t := range tokens {
		if t.Kind > Undefined {
			return nil, fmt.Errorf("vocab: token %d: %s is not a token kind", i, t.Kind)
		}
		texts[i], s.kinds[i], s.scores[i] = t.Text, t.Kind, t.Score
	}
	s.texts, s.merges = makeStrings(texts), makeStrings(opt.Merges)
	for _, r := range []struct {
		name string
		from *int32
		to   *int32
	}{
		{"BOS", opt.BOS, &s.special.bos}, {"EOS", opt.EOS, &s.special.eos}, {"EOT", opt.EOT, &s.special.eot},
		{"EOM", opt.EOM, &s.special.eom}, {"UNK", opt.UNK, &s.special.unk}, {"SEP", opt.SEP, &s.special.sep},
		{"PAD", opt.PAD, &s.special.pad},
	} {
		if r.from == nil {
			continue
		}
		if *r.from < 0 || int(*r.from) >= len(tokens) {
			return nil, fmt.Errorf("vocab: %s token %d is out of range: the vocabulary has %d tokens", r.name, *r.from, len(tokens))
		}
		*r.to = *r.from
	}
	return newVocab(s)
}

func noSpecials() specials {
	return specials{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}
}

func makeStrings(list []string) Strings {
	s := Strings{ends: make([]uint32, len(list))}
	var data []byte
	for i, t := range list {
		data = append(data, t...)
		s.ends[i] = uint32(len(data))
	}
	s.data = string(data)
	return s
}

func newVocab(s source) (*Vocab, error) {
	if int(s.model) >= len(modelNames) {
		return nil, fmt.Errorf("vocab: unknown tokenizer %s", s.model)
	}
	if s.texts.Len() == 0 {
		return nil, errors.New("vocab: no tokens")
	}
	v := &Vocab{
		model: s.model, pre: s.pre, scores: s.scores, kinds: s.kinds, special: s.special,
		template: s.template, name: s.name, arch: s.arch, merges: s.merges, charsMap: s.charsMap,
		removeExtraWhitespace: s.removeExtraWhitespace, suppressed: s.suppressed,
	}
	if v.model == UGM {
		v.fileKinds = slices.Clone(s.kinds)
	}
	v.texts = nameEmpty(s.texts)
	for i := range v.texts.Len() {
		v.maxText = max(v.maxText, len(v.texts.At(i)))
	}
	var err error
	if v.index, err = newTextIndex(v.texts); err != nil {
		return nil, err
	}
	v.kmers = findKmers(v)
	if err := v.setDefaults(); err != nil {
		return nil, err
	}
	v.setSwitches(s)
	v.findSpecials()
	v.added = newAddedTokens(v)
	if err := v.decodeTexts(); err != nil {
		return nil, err
	}
	switch v.model {
	case UGM:
		_, err = parseCharsMap(v.charsMap)
	case PLaMo2:
		err = checkPLaMo2(v)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// setDefaults sets the switches that follow from the model and the pre-tokenizer's name.
func (v *Vocab) setDefaults() error {
	v.lowercase = true
	switch v.model {
	case BPE, HybridDNA, WordBPE:
		var known bool
		if v.spec, known = lookupPre(v.pre); !known {
			return fmt.Errorf("vocab: tokenizer.ggml.pre: unknown pre-tokenizer %.80q", v.pre)
		}
		v.cleanSpaces, v.lowercase = !v.spec.keepSpaces, !v.spec.keepCase
		v.ignoreMerges, v.addBOS, v.addSEP = v.spec.ignoreMerges, v.spec.addBOS, v.spec.addSEP
	case SPM:
		v.addSpacePrefix, v.addBOS = true, true
	case WPM:
		v.cleanSpaces, v.addBOS, v.addSEP = true, true, true
	case UGM:
		v.addEOS = true
	}
	return nil
}

// setSwitches sets the switches that the source specifies.
func (v *Vocab) setSwitches(s source) {
	set := func(to, from *bool) {
		if from != nil {
			*to = *from
		}
	}
	set(&v.addBOS, s.addBOS)
	set(&v.addEOS, s.addEOS)
	set(&v.addSEP, s.addSEP)
	set(&v.addSpacePrefix, s.addSpacePrefix)
	v.addBOS = v.addBOS || v.spec.alwaysBOS
	set(&v.lowercase, s.lowercase)
	v.stripMarks = v.lowercase
	set(&v.stripMarks, s.stripAccents)
}

// nameEmpty gives tokens without a text llama.cpp's name for them, "[EMPTY_5]".
func nameEmpty(s Strings) Strings {
	empty := false
	for i := range s.Len() {
		empty = empty || s.At(i) == ""
	}
	if !empty {
		return s
	}
	list := make([]string, s.Len())
	for i := range list {
		if list[i] = s.At(i); list[i] == "" {
			list[i] = fmt.Sprintf("[EMPTY_%d]", i)
		}
	}
	return makeStrings(list)
}

// Len returns the number of tokens; IDs are in [0, Len()).
func (v *Vocab) Len() int { return len(v.kinds) }

// has reports whether id is a token of the vocabulary.
func (v *Vocab) has(id int32) bool { return id >= 0 && int(id) < len(v.kinds) }

// Bytes returns the bytes that a token adds to the text, nil for tokens that add none: control,
// unknown and unused ones, and IDs outside of the vocabulary. The bytes are shared and
// read-only. Several tokens may have the same bytes.
func (v *Vocab) Bytes(id int32) []byte {
	if !v.has(id) {
		return nil
	}
	var start uint32
	if id > 0 {
		start = v.ends[id-1]
	}
	end := v.ends[id]
	if start == end {
		return nil
	}
	return v.bytes[start:end:end]
}

// Text returns the token's text in the file, "" for IDs outside of the vocabulary.
func (v *Vocab) Text(id int32) string {
	if !v.has(id) {
		return ""
	}
	return v.texts.At(int(id))
}

// Piece returns what llama_token_to_piece prints with special tokens shown: the bytes of a
// token that adds text, the text of a control or unknown token.
func (v *Vocab) Piece(id int32) string {
	switch v.Kind(id) {
	case Control, Unknown:
		if v.model != RWKV {
			return v.spelling(id)
		}
		return string(unescapeRWKV(nil, v.Text(id)))
	}
	return string(v.Bytes(id))
}

// Kind returns the token's kind, Undefined for IDs outside of the vocabulary.
func (v *Vocab) Kind(id int32) Kind {
	if !v.has(id) {
		return Undefined
	}
	return v.kinds[id]
}

// Score returns the token's score in the file, 0 if there is none.
func (v *Vocab) Score(id int32) float32 {
	if !v.has(id) || int(id) >= len(v.scores) {
		return 0
	}
	return v.scores[id]
}

// Find returns the token with that text in the file.
func (v *Vocab) Find(text string) (int32, bool) {
	id := v.index.find(v.texts, text)
	return id, id >= 0
}

// Model returns the algorithm of the vocabulary's tokenizer.
func (v *Vocab) Model() Model { return v.model }

// Pre returns the file's name of the pre-tokenizer, and whether it has one if it should:
// without a name BPE splits like "default", which degrades the output of most models.
func (v *Vocab) Pre() (name string, named bool) { return v.pre, !v.model.bpe() || v.pre != "" }

// IsEOG reports whether the token ends generation.
func (v *Vocab) IsEOG(id int32) bool {
	_, ok := slices.BinarySearch(v.eog, id)
	return ok
}

// EOG returns the tokens that end generation, ascending. The slice is read-only.
func (v *Vocab) EOG() []int32 { return v.eog }

// Suppressed returns the tokens that must never be sampled according to the file, such as those
// that the model was not trained on. The slice is read-only.
func (v *Vocab) Suppressed() []int32 { return v.suppressed }

// BOS returns the beginning-of-sequence token.
func (v *Vocab) BOS() (int32, bool) { return v.special.bos, v.special.bos >= 0 }

// EOS returns the end-of-sequence token.
func (v *Vocab) EOS() (int32, bool) { return v.special.eos, v.special.eos >= 0 }

// EOT returns the token that ends a turn of a conversation.
func (v *Vocab) EOT() (int32, bool) { return v.special.eot, v.special.eot >= 0 }

// UNK returns the token for text that the vocabulary can't represent.
func (v *Vocab) UNK() (int32, bool) { return v.special.unk, v.special.unk >= 0 }

// PAD returns the token that pads batches.
func (v *Vocab) PAD() (int32, bool) { return v.special.pad, v.special.pad >= 0 }

// AddBOS reports whether Encode begins with the BOS token.
func (v *Vocab) AddBOS() bool { return v.addBOS }

// AddEOS reports whether Encode ends with the EOS token.
func (v *Vocab) AddEOS() bool { return v.addEOS }

// AddSpacePrefix reports whether Tokenize adds a space before the text.
func (v *Vocab) AddSpacePrefix() bool { return v.addSpacePrefix }

// ChatTemplate returns the model's own chat template, "" if it has none.
func (v *Vocab) ChatTemplate() string { return v.template }

// Decode returns the concatenated bytes of the tokens. It is exact, unlike Detokenize.
func (v *Vocab) Decode(ids []int32) []byte {
	var out []byte
	for _, id := range ids {
		out = append(out, v.Bytes(id)...)
	}
	return out
}
