package models

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Kinds of tokens, with GGUF's numbers.
const (
	kindNormal  = 1
	kindControl = 3
	kindUser    = 4
	kindUnused  = 5
)

// wordPiece is the content of a tokenizer.json with a WordPiece vocabulary.
type wordPiece struct {
	Added []struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
		Special bool   `json:"special"`
	} `json:"added_tokens"`
	Normalizer struct {
		Type         string `json:"type"`
		CleanText    *bool  `json:"clean_text"`
		ChineseChars *bool  `json:"handle_chinese_chars"`
		Lowercase    bool   `json:"lowercase"`
		StripAccents *bool  `json:"strip_accents"` // absent or null: as Lowercase
	} `json:"normalizer"`
	PreTokenizer struct {
		Type string `json:"type"`
	} `json:"pre_tokenizer"`
	Model struct {
		Type    string         `json:"type"`
		Unknown string         `json:"unk_token"`
		Prefix  string         `json:"continuing_subword_prefix"`
		Vocab   map[string]int `json:"vocab"`
	} `json:"model"`
}

// check returns an error for settings that llama.cpp's tokenizer does not
// support.
func (p *wordPiece) check() error {
	for _, x := range []struct{ key, got, want string }{
		{"model.type", p.Model.Type, "WordPiece"},
		{"model.continuing_subword_prefix", p.Model.Prefix, "##"},
		{"normalizer.type", p.Normalizer.Type, "BertNormalizer"},
		{"pre_tokenizer.type", p.PreTokenizer.Type, "BertPreTokenizer"},
	} {
		if x.got != x.want {
			return fmt.Errorf("%s is %q, want %q", x.key, x.got, x.want)
		}
	}
	for _, x := range []struct {
		key string
		on  *bool
	}{{"clean_text", p.Normalizer.CleanText}, {"handle_chinese_chars", p.Normalizer.ChineseChars}} {
		if x.on != nil && !*x.on {
			return fmt.Errorf("normalizer.%s is off, llama.cpp has it on", x.key)
		}
	}
	return nil
}

// texts returns the text and the kind of n tokens. GGUF marks the tokens that
// start a word, WordPiece those that do not.
func (p *wordPiece) texts(n int) (texts []string, kinds []int32, err error) {
	texts, kinds = make([]string, n), make([]int32, n)
	set := func(id int, text string, kind int32) error {
		if id < 0 || id >= n {
			return fmt.Errorf("token %q has the id %d, config.json announces %d tokens", text, id, n)
		}
		if kinds[id] != 0 {
			return fmt.Errorf("tokens %q and %q have the same id %d", texts[id], text, id)
		}
		texts[id], kinds[id] = text, kind
		return nil
	}
	for _, a := range p.Added {
		kind := int32(kindUser)
		if a.Special {
			kind = kindControl
		}
		if err := set(a.ID, a.Content, kind); err != nil {
			return nil, nil, err
		}
	}
	for text, id := range p.Model.Vocab {
		if id >= 0 && id < n && kinds[id] >= kindControl && texts[id] == text {
			continue // also among the added ones
		}
		spelt, inside := strings.CutPrefix(text, "##")
		if !inside {
			spelt = "▁" + text
		}
		if err := set(id, spelt, kindNormal); err != nil {
			return nil, nil, err
		}
	}
	for id, kind := range kinds {
		if kind == 0 {
			texts[id], kinds[id] = fmt.Sprintf("[PAD%d]", id), kindUnused
		}
	}
	return texts, kinds, nil
}

// addWordPiece adds the keys of the vocabulary of n tokens in tokenizer.json.
func (w *Writer) addWordPiece(folder string, n int) error {
	var p wordPiece
	if err := readJSON(folder, "tokenizer.json", &p); err != nil {
		return err
	}
	err := p.check()
	if err == nil {
		err = p.write(w, n)
	}
	if err != nil {
		return fmt.Errorf("models: %s: %w", filepath.Join(folder, "tokenizer.json"), err)
	}
	return nil
}

func (p *wordPiece) write(w *Writer, n int) error {
	texts, kinds, err := p.texts(n)
	if err != nil {
		return err
	}
	w.String("tokenizer.ggml.model", "bert")
	w.Strings("tokenizer.ggml.tokens", texts)
	w.Int32s("tokenizer.ggml.token_type", kinds)
	for _, s := range []struct {
		key, text string
		optional  bool
	}{
		{"bos", "[CLS]", false}, {"seperator", "[SEP]", false}, {"unknown", p.Model.Unknown, false}, // this is GGUF's spelling
		{"padding", "[PAD]", true}, {"mask", "[MASK]", true},
	} {
		id, ok := p.Model.Vocab[s.text]
		if ok {
			w.Uint32("tokenizer.ggml."+s.key+"_token_id", uint32(id))
		} else if !s.optional {
			return fmt.Errorf("the vocabulary has no token %q", s.text)
		}
	}
	strip := p.Normalizer.Lowercase
	if p.Normalizer.StripAccents != nil {
		strip = *p.Normalizer.StripAccents
	}
	w.Bool("tokenizer.ggml.add_bos_token", true)
	w.Bool("tokenizer.ggml.add_sep_token", true)
	w.Bool("tokenizer.ggml.normalizer.lowercase", p.Normalizer.Lowercase)
	w.Bool("tokenizer.ggml.normalizer.strip_accents", strip)
	return nil
}
