//go:build llama && cgo

package llama

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/llama/internal/reference"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/vocab"
)

// TestVocab compares package vocab with llama.cpp on real vocabularies.
func TestVocab(t *testing.T) {
	texts := 10500
	if testing.Short() {
		texts = 1000
	}
	for _, name := range []string{"llama2", "mistral3", "llama3", "llama4"} {
		t.Run(name, func(t *testing.T) {
			compareVocab(t, shared.File(t, "vocab", name+".gguf"), texts)
		})
	}
}

// compareVocab compares a vocabulary's tables, and its tokenizer's output for the given number
// of texts, with llama.cpp's.
func compareVocab(t *testing.T, path string, texts int) {
	t.Helper()
	ours, err := vocab.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	pre, _ := ours.Pre()
	theirs, err := reference.OpenVocab(path)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()

	faults := 0
	fault := func(format string, args ...any) {
		if faults++; faults > 10 {
			t.Fatal("too many differences")
		}
		t.Errorf(format, args...)
	}
	if ours.Len() != theirs.Len() {
		t.Fatalf("%d tokens, llama.cpp has %d", ours.Len(), theirs.Len())
	}
	var controls []string
	for id := range int32(ours.Len()) {
		if got, want := ours.Kind(id), attrKind(theirs.Attr(id)); got != want {
			fault("token %d %q is %s, llama.cpp has %s", id, ours.Text(id), got, want)
		}
		if got, want := ours.IsEOG(id), theirs.IsEOG(id); got != want {
			fault("token %d %q ends the generation: %v, llama.cpp says %v", id, ours.Text(id), got, want)
		}
		adds, shows := theirs.Piece(id, false), theirs.Piece(id, true)
		if pre == "whitespace" && ours.Kind(id) == vocab.Normal { // a deliberate difference
			adds, shows = []byte(ours.Text(id)), []byte(ours.Text(id))
		}
		if got := ours.Bytes(id); !bytes.Equal(got, adds) {
			fault("token %d adds %q, llama.cpp adds %q", id, got, adds)
		}
		if got := ours.Piece(id); got != string(shows) {
			fault("token %d is shown as %q, llama.cpp shows %q", id, got, shows)
		}
		switch ours.Kind(id) {
		case vocab.Control, vocab.UserDefined, vocab.Unknown:
			controls = append(controls, ours.Text(id))
		}
	}
	bos, eos, eot := theirs.Special()
	for _, c := range []struct {
		name string
		ours func() (int32, bool)
		want int32
	}{{"BOS", ours.BOS, bos}, {"EOS", ours.EOS, eos}, {"EOT", ours.EOT, eot}} {
		if id, ok := c.ours(); ok != (c.want >= 0) || ok && id != c.want {
			fault("%s is %d %v, llama.cpp has %d", c.name, id, ok, c.want)
		}
	}
	if ours.AddBOS() != theirs.AddBOS() || ours.AddEOS() != theirs.AddEOS() {
		fault("BOS and EOS are added: %v %v, llama.cpp says %v %v", ours.AddBOS(), ours.AddEOS(), theirs.AddBOS(), theirs.AddEOS())
	}

	for i, text := range newCorpus(7, controls).strings(texts) {
		special := i%2 == 0
		if slices.Contains(plainPre, pre) {
			text = strings.ReplaceAll(text, "\xe0\x80\xa0", "") // llama.cpp aborts on overlong spaces
		}
		want := theirs.Tokenize(text, false, special)
		if got := ours.Tokenize(nil, text, special); !slices.Equal(got, want) {
			fault("Tokenize(%q, %v)\n      is %v\nllama.cpp %v", text, special, got, want)
		}
		if i%10 == 0 {
			want := theirs.Tokenize(text, true, true)
			if got := ours.Encode(text); !slices.Equal(got, want) {
				fault("Encode(%q)\n      is %v\nllama.cpp %v", text, got, want)
			}
		}
		if pre == "whitespace" {
			continue // its tokens add different text
		}
		remove, show := i%4 < 2, i%8 < 4
		if got, want := ours.Detokenize(want, remove, show), string(theirs.Detokenize(want, remove, show)); got != want {
			fault("Detokenize(%v, %v, %v)\n      is %q\nllama.cpp %q", want, remove, show, got, want)
		}
	}
}

// attrKind returns the kind for a token's attributes in llama.cpp: a token that was made a
// control token keeps its original attribute, but is treated as a control token.
func attrKind(attr int) vocab.Kind {
	for _, a := range []struct {
		bit  int
		kind vocab.Kind
	}{{8, vocab.Control}, {1, vocab.Unknown}, {16, vocab.UserDefined}, {4, vocab.Normal}, {32, vocab.Byte}, {2, vocab.Unused}} {
		if attr&a.bit != 0 {
			return a.kind
		}
	}
	return vocab.Undefined
}

// plainPre are the pre-tokenizers of vocabularies whose texts are UTF-8 with marked spaces.
var plainPre = []string{"gemma4", "granite-embed-multi-311m", "sarvam-moe"}

// TestPreTokenizers compares every pre-tokenizer with a vocabulary in which many pairs of bytes
// merge, so that a split elsewhere shows.
func TestPreTokenizers(t *testing.T) {
	for _, name := range []string{"default", "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
		"deepseek-llm", "deepseek-coder", "deepseek-v3", "falcon", "mpt", "starcoder", "gpt-2", "phi-2", "jina-es", "jina-de",
		"gigachat", "jina-v2-es", "jina-v2-de", "a.x-4.0", "mellum", "jina-v1-en", "jina-v2-code", "roberta-bpe", "refact",
		"command-r", "qwen2", "deepseek-r1-qwen", "kormo", "stablelm2", "olmo", "dbrx", "smaug-bpe", "poro-chat", "glm4",
		"chatglm-bpe", "viking", "jais", "tekken", "smollm", "codeshell", "bloom", "gpt3-finnish", "exaone", "exaone4",
		"chameleon", "minerva-7b", "megrez", "gpt-4o", "llama4", "superbpe", "trillion", "granite-docling", "bailingmoe",
		"bailingmoe2", "llada-moe", "seed-coder", "hunyuan", "hunyuan-dense", "kimi-k2", "grok-2", "afmoe", "minimax-m2",
		"minicpm5", "jina-v5-nano", "spark2_5", "youtu", "modern-bert", "jais-2", "f2llmv2", "qwen35", "exaone-moe", "kanana2", "talkie",
		"granite-embed-multi-97m", "tiny_aya", "cohere2moe", "hy_v4", "joyai-llm", "ufakzeka", "laguna", "solar-open", "mellum2",
		"gemma4", "granite-embed-multi-311m", "sarvam-moe", ""} {
		t.Run(name, func(t *testing.T) {
			w := new(models.Writer)
			w.String("general.architecture", "llama")
			w.String("tokenizer.ggml.model", "gpt2")
			w.String("tokenizer.ggml.pre", name)
			tokens, merges := pairTokens()
			if slices.Contains(plainPre, name) {
				tokens, merges = plainTokens("▁")
			}
			n := uint32(len(tokens))
			tokens = append(tokens, vocab.Token{Text: "<s>", Kind: vocab.Control}, vocab.Token{Text: "</s>", Kind: vocab.Control},
				vocab.Token{Text: "<mask>", Kind: vocab.UserDefined}, vocab.Token{Text: "<|im_end|>", Kind: vocab.Control})
			writeTokens(w, tokens)
			w.Strings("tokenizer.ggml.merges", merges)
			w.Uint32("tokenizer.ggml.bos_token_id", n)
			w.Uint32("tokenizer.ggml.eos_token_id", n+1)
			compareVocab(t, vocabFile(t, w), 250)
		})
	}
}

// pairTokens returns a token for each byte, and merges of many pairs of them.
func pairTokens() (tokens []vocab.Token, merges []string) {
	spelling := make([]string, 256)
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if b < '!' || b > '~' && b < 0xa1 || b == 0xad {
			r, next = next, next+1
		}
		spelling[b] = string(r)
		tokens = append(tokens, vocab.Token{Text: spelling[b]})
	}
	for i := range 1 << 16 {
		i = i * 40503 % (1 << 16) // an odd number: every pair once, in mixed order
		a, b := spelling[i>>8], spelling[i&255]
		if i%5 != 0 {
			continue
		}
		tokens = append(tokens, vocab.Token{Text: a + b})
		merges = append(merges, a+" "+b)
	}
	for _, s := range []string{"the", " don", "123", "größe", "name"} {
		word := ""
		for _, b := range []byte(s) {
			word += spelling[b]
		}
		tokens = append(tokens, vocab.Token{Text: word}) // not reachable by merges
	}
	return tokens, merges
}

// TestUnknownPreTokenizer checks that names unknown to llama.cpp are rejected here too.
func TestUnknownPreTokenizer(t *testing.T) {
	w := new(models.Writer)
	w.String("general.architecture", "llama")
	w.String("tokenizer.ggml.model", "gpt2")
	w.String("tokenizer.ggml.pre", "unheard-of")
	tokens, merges := pairTokens()
	writeTokens(w, tokens)
	w.Strings("tokenizer.ggml.merges", merges)
	path := vocabFile(t, w)
	if _, err := vocab.Load(path); err == nil || !strings.Contains(err.Error(), `unknown pre-tokenizer "unheard-of"`) {
		t.Errorf("got %v", err)
	}
	if v, err := reference.OpenVocab(path); err == nil {
		v.Close()
		t.Error("llama.cpp reads the file")
	}
}

// plainTokens returns tokens and merges of UTF-8 text, for the most common characters of a
// corpus, with the given representation of a space, and tokens for most bytes.
func plainTokens(space string) (tokens []vocab.Token, merges []string) {
	seen := map[string]bool{}
	add := func(text string, kind vocab.Kind) {
		if !seen[text] {
			seen[text] = true
			tokens = append(tokens, vocab.Token{Text: text, Kind: kind})
		}
	}
	for b := range 256 {
		if b%29 != 5 {
			add(fmt.Sprintf("<0x%02X>", b), vocab.Byte)
		}
	}
	chars := strings.Split(space+"\nabcdefghijklmnopqrstuvwxyzABCDEFGSTIL0123456789.,:;'\"!?{}[]()<>/|_-+=#@\t\réßäößΣЖа文字値가คก\u0301\u0940😀\u200d。、", "")
	for i, c := range chars {
		if i%9 != 4 { // some characters have no token
			add(c, vocab.Normal)
		}
	}
	for n := range len(chars) * len(chars) {
		n = n * 7919 % (len(chars) * len(chars)) // a prime that does not divide it: every pair once
		if a, b := chars[n/len(chars)], chars[n%len(chars)]; n%3 == 0 {
			merges = append(merges, a+" "+b)
			if n%5 != 0 { // some pairs are not tokens
				add(a+b, vocab.Normal)
			}
		}
	}
	for _, n := range []int{3, 4, 8} {
		add(strings.Repeat("\n", n), vocab.Normal)
	}
	return tokens, merges
}

// dnaTokens returns the tokens of a vocabulary with bases, and its merges.
func dnaTokens() (tokens []vocab.Token, merges []string) {
	tokens, merges = pairTokens()
	for _, s := range []string{"<dna>", "</dna>", "<oov>", "CCCCCC"} {
		tokens = append(tokens, vocab.Token{Text: s})
	}
	for i := range 1 << 12 {
		kmer := make([]byte, 6)
		for k := range kmer {
			kmer[k] = "ACGT"[i>>(2*k)&3]
		}
		if i%9 != 5 { // some are missing
			tokens = append(tokens, vocab.Token{Text: string(kmer) + "\ue000"})
		}
	}
	return tokens, merges
}

// TestBPEModels compares the tokenizers that build on BPE.
func TestBPEModels(t *testing.T) {
	gemma, gemmaMerges := plainTokens("▁")
	words, wordMerges := plainTokens("_")
	pairs, pairMerges := pairTokens()
	dna, dnaMerges := dnaTokens()
	roles := func(tokens []vocab.Token, texts ...string) []vocab.Token {
		tokens = slices.Clone(tokens)
		for i, s := range texts {
			tokens = append(tokens, vocab.Token{Text: s, Kind: []vocab.Kind{vocab.Control, vocab.Normal, vocab.UserDefined, vocab.Unused}[i%4]})
		}
		return tokens
	}
	flag := func(key string, value bool) func(w *models.Writer) {
		return func(w *models.Writer) { w.Bool("tokenizer.ggml."+key, value) }
	}
	for _, c := range []struct {
		name, model, pre string
		tokens           []vocab.Token
		merges           []string
		more             func(w *models.Writer)
	}{
		{"gemma4", "gemma4", "", roles(gemma, "<bos>", "<turn|>", "<eos>"), gemmaMerges, func(w *models.Writer) {
			w.Bool("tokenizer.ggml.add_bos_token", false) // it is overridden
			w.Uint32("tokenizer.ggml.bos_token_id", uint32(len(gemma)))
			w.Int32s("tokenizer.ggml.suppress_tokens", []int32{7, -1, 5, 1 << 30})
		}},
		{"gemma4-roles", "gemma4", "", roles(gemma, "<|tool_response>", "</s>", "<turn|>"), gemmaMerges, func(w *models.Writer) {
			w.Uint32("tokenizer.ggml.bos_token_id", 3)
			w.Bool("tokenizer.ggml.add_eos_token", true)
			w.Uint32("tokenizer.ggml.eos_token_id", uint32(len(gemma)+1)) // "</s>", which does not end generation
		}},
		{"whitespace", "whitespace", "whitespace", words, wordMerges, nil},
		{"whitespace-small", "whitespace", "whitespace", words, wordMerges, flag("normalizer.lowercase", true)},
		{"whitespace-bytes", "whitespace", "qwen2", pairs, pairMerges, nil},
		{"dna", "hybriddna", "gpt-2", dna, dnaMerges, nil},
		{"dna-missing", "hybriddna", "gpt-2", slices.DeleteFunc(slices.Clone(dna), func(t vocab.Token) bool { return t.Text == "</dna>" }), dnaMerges, nil},
		{"kimi-k2", "gpt2", "kimi-k2", roles(pairs, "[EOT]", "[PAD]", "[EOS]"), nil, nil},
		{"solar-open", "gpt2", "solar-open", roles(pairs, "<|flush|>", "<|calls|>", "<|end|>"), pairMerges, nil},
		{"solar-open-half", "gpt2", "solar-open", roles(pairs, "<|flush|>", "<|end|>"), pairMerges, nil},
		{"minimax", "gpt2", "minimax-m2", roles(pairs, "[e~[", "<|prefix|>", "<|suffix|>", "<|middle|>", "<|unused|>"), pairMerges, nil},
		{"modern-bert", "gpt2", "modern-bert", roles(pairs, "[MASK]"), pairMerges, func(w *models.Writer) { w.String("general.name", "Modern-BERT") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := new(models.Writer)
			w.String("general.architecture", "llama")
			w.String("tokenizer.ggml.model", c.model)
			if c.pre != "" {
				w.String("tokenizer.ggml.pre", c.pre)
			}
			writeTokens(w, c.tokens)
			if c.name != "kimi-k2" { // its files need none
				w.Strings("tokenizer.ggml.merges", c.merges)
			}
			if c.more != nil {
				c.more(w)
			}
			compareVocab(t, vocabFile(t, w), 500)
		})
	}
}

// TestTokenizerModels compares the tokenizers other than BPE, with vocabularies derived from
// that of a SentencePiece model.
func TestTokenizerModels(t *testing.T) {
	control := func(texts ...string) (out []vocab.Token) {
		for _, s := range texts {
			out = append(out, vocab.Token{Text: s, Kind: vocab.Control})
		}
		return out
	}
	spaces := func(w *models.Writer) { w.Bool("tokenizer.ggml.add_space_prefix", true) }
	for _, c := range []struct {
		name, model string
		tokens      []vocab.Token
		more        func(w *models.Writer)
	}{
		{"ugm", "t5", control(), nil},
		{"ugm-space", "t5", control(), spaces},
		{"ugm-normalised", "t5", control(), func(w *models.Writer) {
			spaces(w)
			w.Bool("tokenizer.ggml.remove_extra_whitespaces", true)
			w.Value("tokenizer.ggml.precompiled_charsmap", bytesValue(t, charsMap))
		}},
		{"plamo2", "plamo2", control(), nil},
		{"rwkv", "rwkv", rwkvTokens(), nil},
		{"wordpiece", "bert", nil, nil},
		{"wordpiece-cased", "bert", nil, func(w *models.Writer) { w.Bool("tokenizer.ggml.normalizer.lowercase", false) }},
		{"wordpiece-accents", "bert", nil, func(w *models.Writer) { w.Bool("tokenizer.ggml.normalizer.strip_accents", false) }},
		{"ugm-roles", "t5", []vocab.Token{{Text: "<eos>", Score: -2}, {Text: "[EOS]", Kind: vocab.UserDefined, Score: -9},
			{Text: "<|channel|>", Score: -4}, {Text: "<turn|>", Kind: vocab.Unused}}, nil},
		{"sentencepiece-plain", "llama", control(), func(w *models.Writer) {
			w.Bool("tokenizer.ggml.add_space_prefix", false)
			w.Bool("tokenizer.ggml.add_eos_token", true)
		}},
		{"strip-after", "llama", control("<|endoftext|>", "<|user|>"), func(w *models.Writer) { w.String("general.name", "Phi-3") }},
		{"strip-before", "llama", control("<mask>"), func(w *models.Writer) { w.String("tokenizer.ggml.pre", "jina-v2-de") }},
		{"roles", "llama", append(control("<|return|>", "<|call|>", "<|channel|>"), vocab.Token{Text: "<|end|>"}, vocab.Token{Text: ""},
			vocab.Token{Text: "<|message|>"}, vocab.Token{Text: "<|endoftext|>", Kind: vocab.Undefined}, vocab.Token{Text: "<fim-repo>"},
			vocab.Token{Text: "<|fim_pad|>"}, vocab.Token{Text: "<|file_sep|>"}, vocab.Token{Text: "<hole>", Kind: vocab.Unused}), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tokens := c.tokens
			if c.model != "rwkv" {
				tokens = sharedTokens(t, c.model == "bert", c.tokens)
			}
			w := new(models.Writer)
			w.String("general.architecture", "llama")
			w.String("tokenizer.ggml.model", c.model)
			writeTokens(w, tokens)
			if c.more != nil {
				c.more(w)
			}
			compareVocab(t, vocabFile(t, w), 1500)
		})
	}
}

// sharedTokens returns the tokens of llama2, followed by more; for WordPiece only the normal
// ones, with a WordPiece model's control tokens in their usual places.
func sharedTokens(t *testing.T, wordPiece bool, more []vocab.Token) (out []vocab.Token) {
	v, err := vocab.Load(shared.File(t, "vocab", "llama2.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	if wordPiece {
		for i := range 104 {
			out = append(out, vocab.Token{Text: fmt.Sprintf("[unused%d]", i), Kind: vocab.Unused})
		}
		for i, s := range map[int]string{0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 102: "[SEP]", 103: "[MASK]"} {
			out[i] = vocab.Token{Text: s, Kind: vocab.Control}
		}
	}
	for id := range int32(v.Len()) {
		if wordPiece && (v.Kind(id) != vocab.Normal || id%7 == 0) {
			continue // leave gaps, so that some words can't be tokenized
		}
		out = append(out, vocab.Token{Text: v.Text(id), Kind: v.Kind(id), Score: v.Score(id)})
	}
	return append(out, more...)
}

// rwkvTokens returns every byte and some longer texts, in RWKV's notation.
func rwkvTokens() []vocab.Token {
	out := []vocab.Token{{Text: "<|eos|>", Kind: vocab.Control}}
	for b := range 256 {
		out = append(out, vocab.Token{Text: fmt.Sprintf(`\x%02x`, b)})
	}
	for _, s := range []string{`\n\n`, `\r\n`, `\t\t`, `  `, `    `, ` the`, `the`, ` th`, `\\\'`, `\xe6\x96`, `\xe6\x96\x87`, `func`, ` {\n`, `don\'t`, `12`, `123`} {
		out = append(out, vocab.Token{Text: s})
	}
	return out
}

func writeTokens(w *models.Writer, tokens []vocab.Token) {
	fileKind := map[vocab.Kind]int32{vocab.Normal: 1, vocab.Unknown: 2, vocab.Control: 3, vocab.UserDefined: 4, vocab.Unused: 5, vocab.Byte: 6}
	texts, kinds := make([]string, len(tokens)), make([]int32, len(tokens))
	scores := make([]byte, 0, 4*len(tokens))
	for i, t := range tokens {
		texts[i], kinds[i] = t.Text, fileKind[t.Kind]
		scores, _ = binary.Append(scores, binary.LittleEndian, t.Score)
	}
	w.Strings("tokenizer.ggml.tokens", texts)
	w.Int32s("tokenizer.ggml.token_type", kinds)
	w.Value("tokenizer.ggml.scores", arrayValue(vocab.TypeFloat32, len(tokens), scores))
}

// arrayValue returns an array of numbers as read from a file.
func arrayValue(elem vocab.ValueType, n int, data []byte) vocab.Value {
	le := binary.LittleEndian
	file := append([]byte("GGUF\x03\x00\x00\x00"), make([]byte, 8)...) // no tensors
	file = le.AppendUint64(file, 1)
	file = append(le.AppendUint64(file, 1), 'x')
	file = le.AppendUint32(file, uint32(vocab.TypeArray))
	file = le.AppendUint32(file, uint32(elem))
	file = append(le.AppendUint64(file, uint64(n)), data...)
	g, err := vocab.ReadGGUF(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		panic(err)
	}
	v, _ := g.Get("x")
	return v
}

func bytesValue(t *testing.T, rules map[string]string) vocab.Value {
	t.Helper()
	data := compileCharsMap(rules)
	return arrayValue(vocab.TypeUint8, len(data), data)
}

func vocabFile(t *testing.T, w *models.Writer) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vocab.gguf")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := w.Write(f, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

var charsMap = map[string]string{"ﬁ": "fi", "Ａ": "A", "\t": " ", "\u00a0": " ", "e\u0301": "é", "abc": "X", "ab": "", "\n": " ",
	"\r": "", "\u3000": " ", "…": "...", "½": "1⁄2", "²": "2"}

// compileCharsMap lays out replacements as SentencePiece does: a double array of 32-bit units
// that maps a text to the offset of its replacement, and the replacements. Each node's children
// are put into the first free places.
func compileCharsMap(rules map[string]string) []byte {
	units := make([]uint32, 1<<14)
	used := make([]bool, len(units))
	used[0] = true
	var replacements []byte
	var place func(prefix string, at uint32)
	place = func(prefix string, at uint32) {
		var labels []byte
		for c := range 256 {
			for from := range rules {
				if strings.HasPrefix(from+"\x00", prefix+string([]byte{byte(c)})) {
					labels = append(labels, byte(c))
					break
				}
			}
		}
		base := uint32(1)
		for slices.ContainsFunc(labels, func(c byte) bool { return used[base^uint32(c)] }) {
			base++
		}
		units[at] |= (base ^ at) << 10
		for _, c := range labels {
			used[base^uint32(c)] = true
		}
		for _, c := range labels {
			if c == 0 {
				units[at] |= 1 << 8
				units[base] = 1<<31 | uint32(len(replacements))
				replacements = append(append(replacements, rules[prefix]...), 0)
				continue
			}
			units[base^uint32(c)] = uint32(c)
			place(prefix+string([]byte{c}), base^uint32(c))
		}
	}
	place("", 0)
	out := binary.LittleEndian.AppendUint32(nil, uint32(4*len(units)))
	for _, u := range units {
		out = binary.LittleEndian.AppendUint32(out, u)
	}
	return append(out, replacements...)
}
