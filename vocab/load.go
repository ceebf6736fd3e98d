package vocab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// ErrNoVocab is returned for files without a vocabulary.
var ErrNoVocab = errors.New("vocab: file holds no vocabulary")

// Load reads the vocabulary of the GGUF file at path from its metadata. Errors in the file's
// structure are *GGUFError.
func Load(path string) (*Vocab, error) {
	g, err := OpenGGUF(path)
	if err != nil {
		return nil, err
	}
	v, err := FromGGUF(g)
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, path)
	}
	return v, nil
}

// defaultBPEToken is llama.cpp's default for the BOS and EOS token of a BPE vocabulary if the
// file does not name them.
const defaultBPEToken = 11

// FromGGUF returns the vocabulary in a GGUF file's metadata.
func FromGGUF(g *GGUF) (*Vocab, error) {
	name := g.Str("tokenizer.ggml.model")
	s := source{
		pre: g.Str("tokenizer.ggml.pre"), template: g.Str("tokenizer.chat_template"),
		name: g.Str("general.name"), arch: g.Str("general.architecture"), special: noSpecials(),
	}
	if v, ok := g.Get("tokenizer.ggml.pre"); ok && v.Type != TypeString {
		return nil, fmt.Errorf("vocab: tokenizer.ggml.pre is %s, not a string", v.Type)
	}
	sp := &s.special
	switch name {
	case "llama":
		s.model = SPM
		sp.bos, sp.eos, sp.unk = 1, 2, 0
	case "gpt2", "hybriddna", "whitespace":
		s.model = map[string]Model{"gpt2": BPE, "hybriddna": HybridDNA, "whitespace": WordBPE}[name]
		sp.bos, sp.eos = defaultBPEToken, defaultBPEToken
		if spec, _ := lookupPre(s.pre); spec.noBOS {
			sp.bos = -1
		}
	case "gemma4":
		s.model, s.pre = BPE, name
	case "bert":
		s.model = WPM
		sp.bos, sp.unk, sp.sep, sp.pad, sp.mask = 101, 100, 102, 0, 103
	case "t5":
		s.model = UGM
		sp.eos, sp.unk, sp.pad = 1, 2, 0
	case "rwkv":
		s.model = RWKV
	case "plamo2":
		s.model = PLaMo2
		sp.bos, sp.eos, sp.unk, sp.pad = 1, 2, 0, 3
	case "no_vocab", "none", "":
		return nil, ErrNoVocab
	case "test":
		return nil, errors.New(`vocab: tokenizer "test" is for tests of llama.cpp: its tokens spell no text`)
	default:
		return nil, fmt.Errorf("vocab: unknown tokenizer %.80q, expected one of llama, gpt2, gemma4, bert, t5, rwkv, plamo2, hybriddna, whitespace", name)
	}
	if err := s.readTables(g); err != nil {
		return nil, err
	}
	s.readSpecials(g)
	if err := s.readSuppressed(g); err != nil {
		return nil, err
	}
	return newVocab(s)
}

// readTables reads the arrays of a file: texts, scores, kinds, merges.
func (s *source) readTables(g *GGUF) error {
	var ok bool
	list, found := g.Get("tokenizer.ggml.tokens")
	if !found {
		return errors.New("vocab: the file has no key tokenizer.ggml.tokens")
	}
	if s.texts, ok = list.Strings(); !ok {
		return errors.New("vocab: tokenizer.ggml.tokens is not an array of strings")
	}
	s.texts = cutAtNUL(s.texts)
	n := s.texts.Len()
	if scores, ok := g.Get("tokenizer.ggml.scores"); ok {
		raw, ok := scores.Raw()
		if !ok || (scores.Elem != TypeFloat32 && scores.Elem != TypeInt32) || scores.Len() < n {
			return fmt.Errorf("vocab: tokenizer.ggml.scores is not an array of %d float32 or int32", n)
		}
		s.scores = make([]float32, n)
		for i := range s.scores {
			bits := binary.LittleEndian.Uint32(raw[i*4:])
			if s.scores[i] = math.Float32frombits(bits); scores.Elem == TypeInt32 {
				s.scores[i] = float32(int32(bits))
			}
		}
	}
	s.kinds = make([]Kind, n)
	if kinds, ok := g.Get("tokenizer.ggml.token_type"); ok {
		raw, ok := kinds.Raw()
		if !ok || kinds.Elem != TypeInt32 || kinds.Len() < n {
			return fmt.Errorf("vocab: tokenizer.ggml.token_type is not an array of %d int32", n)
		}
		fileKinds := [...]Kind{Undefined, Normal, Unknown, Control, UserDefined, Unused, Byte}
		for i := range s.kinds {
			t := binary.LittleEndian.Uint32(raw[i*4:])
			s.kinds[i] = Undefined
			if int64(t) < int64(len(fileKinds)) {
				s.kinds[i] = fileKinds[t]
			}
		}
	}
	if s.model.bpe() {
		merges, found := g.Get("tokenizer.ggml.merges")
		if !found && s.pre != "kimi-k2" { // kimi-k2's files need none
			return errors.New("vocab: the file has no key tokenizer.ggml.merges")
		}
		if s.merges, ok = merges.Strings(); found && !ok {
			return errors.New("vocab: tokenizer.ggml.merges is not an array of strings")
		}
		s.merges = cutAtNUL(s.merges)
	}
	if m, ok := g.Get("tokenizer.ggml.precompiled_charsmap"); ok && s.model == UGM {
		if s.charsMap, ok = m.Raw(); !ok || (m.Elem != TypeUint8 && m.Elem != TypeInt8) {
			return errors.New("vocab: tokenizer.ggml.precompiled_charsmap is not an array of bytes")
		}
	}
	return nil
}

// cutAtNUL truncates strings at their first zero byte, as llama.cpp does.
func cutAtNUL(s Strings) Strings {
	if strings.IndexByte(s.data, 0) < 0 {
		return s
	}
	list := make([]string, s.Len())
	for i := range list {
		list[i], _, _ = strings.Cut(s.At(i), "\x00")
	}
	return makeStrings(list)
}

// readSpecials reads the token IDs and switches of a file. IDs outside of the vocabulary are
// ignored, as in llama.cpp.
func (s *source) readSpecials(g *GGUF) {
	sp := &s.special
	for _, k := range []struct {
		key string
		id  *int32
	}{
		{"bos_token_id", &sp.bos}, {"eos_token_id", &sp.eos}, {"eot_token_id", &sp.eot}, {"eom_token_id", &sp.eom},
		{"unknown_token_id", &sp.unk}, {"seperator_token_id", &sp.sep}, {"padding_token_id", &sp.pad}, {"mask_token_id", &sp.mask},
		{"fim_pre_token_id", &sp.fimPre}, {"fim_suf_token_id", &sp.fimSuf}, {"fim_mid_token_id", &sp.fimMid},
		{"fim_pad_token_id", &sp.fimPad}, {"fim_rep_token_id", &sp.fimRep}, {"fim_sep_token_id", &sp.fimSep},
		{"prefix_token_id", &sp.fimPre}, {"suffix_token_id", &sp.fimSuf}, {"middle_token_id", &sp.fimMid}, // older names
	} {
		if id, ok := g.Int("tokenizer.ggml." + k.key); ok && id >= 0 && id < int64(s.texts.Len()) {
			*k.id = int32(id)
		}
		if int(*k.id) >= s.texts.Len() {
			*k.id = -1 // the default is outside of this vocabulary
		}
	}
	flag := func(key string) *bool {
		if b, ok := g.Bool("tokenizer.ggml." + key); ok {
			return &b
		}
		return nil
	}
	s.addBOS, s.addEOS, s.addSEP = flag("add_bos_token"), flag("add_eos_token"), flag("add_sep_token")
	s.addSpacePrefix = flag("add_space_prefix")
	s.lowercase, s.stripAccents = flag("normalizer.lowercase"), flag("normalizer.strip_accents")
	if b := flag("remove_extra_whitespaces"); b != nil {
		s.removeExtraWhitespace = *b
	}
}

// readSuppressed reads the tokens that must never be sampled. IDs outside of the vocabulary are
// ignored, as in llama.cpp.
func (s *source) readSuppressed(g *GGUF) error {
	list, found := g.Get("tokenizer.ggml.suppress_tokens")
	if !found {
		return nil
	}
	raw, ok := list.Raw()
	if !ok || list.Elem != TypeInt32 {
		return errors.New("vocab: tokenizer.ggml.suppress_tokens is not an array of int32")
	}
	for ; len(raw) > 0; raw = raw[4:] {
		if id := int32(binary.LittleEndian.Uint32(raw)); id >= 0 && int(id) < s.texts.Len() {
			s.suppressed = append(s.suppressed, id)
		}
	}
	return nil
}

// decodeTexts computes the table of token bytes from the token texts.
func (v *Vocab) decodeTexts() error {
	v.bytes = make([]byte, 0, len(v.texts.data))
	v.ends = make([]uint32, v.Len())
	for i := range v.kinds {
		var err error
		if v.bytes, err = v.appendBytes(v.bytes, v.spelling(int32(i)), v.kinds[i]); err != nil {
			return fmt.Errorf("vocab: token %d: %w", i, err)
		}
		if len(v.bytes) > math.MaxUint32 {
			return errors.New("vocab: tokens are longer than 4 GiB together")
		}
		v.ends[i] = uint32(len(v.bytes))
	}
	return nil
}

// appendBytes appends what a token adds to the text. It differs from llama.cpp for the
// pre-tokenizer "whitespace", whose token texts are plain but are decoded by llama.cpp as
// byte-level.
func (v *Vocab) appendBytes(dst []byte, text string, kind Kind) ([]byte, error) {
	if kind == Control || kind == Unknown {
		return dst, nil
	}
	switch v.model {
	case BPE, HybridDNA, WordBPE, SPM, WPM, UGM:
		switch kind {
		case UserDefined:
			return append(dst, text...), nil
		case Normal:
			switch {
			case !v.model.bpe() || v.spec.markSpaces:
				return appendUnmarked(dst, text), nil
			case v.spec.plainText:
				return append(dst, text...), nil
			}
			return appendByteLevel(dst, text, 4*len(v.texts.data)+1<<20)
		case Byte:
			if len(text) < 3 || v.model == WPM {
				return dst, fmt.Errorf("byte token %.80q is not spelled as <0x00>", text)
			}
			return append(dst, leadingHex(text[3:min(5, len(text))])), nil
		}
	case RWKV:
		return unescapeRWKV(dst, text), nil
	case PLaMo2:
		if b, ok := plamoByte(text); ok && kind == Byte {
			return append(dst, b), nil
		}
		return append(dst, text...), nil
	}
	return dst, nil
}

// spaceMark is SentencePiece's representation of a space: U+2581.
const spaceMark = "▁"

// appendUnmarked appends text with its marks replaced by spaces.
func appendUnmarked(dst []byte, text string) []byte {
	for {
		before, after, found := strings.Cut(text, spaceMark)
		dst = append(dst, before...)
		if !found {
			return dst
		}
		dst = append(dst, ' ')
		text = after
	}
}

// leadingHex parses hexadecimal digits up to the first other character, as strtol does.
func leadingHex(s string) byte {
	var n byte
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			n = n<<4 | (c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n<<4 | (c | 0x20 - 'a' + 10)
		default:
			return n
		}
	}
	return n
}
