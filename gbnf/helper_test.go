package gbnf

import (
	"sync"
	"testing"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/vocab"
)

var loaded sync.Map // file name → *vocab.Vocab

// realVocab loads one of the vocabularies of the shared folder beside the
// repository. It skips the test if the file is missing.
func realVocab(t testing.TB, name string) *vocab.Vocab {
	t.Helper()
	if v, ok := loaded.Load(name); ok {
		return v.(*vocab.Vocab)
	}
	v, err := vocab.Load(shared.File(t, "vocab", name))
	if err != nil {
		t.Fatal(err)
	}
	Prepare(v)
	loaded.Store(name, v)
	return v
}

// taken returns the tokens that accept accepts, each tried separately.
func taken(v *vocab.Vocab, accept func(id int32) error) (list []int32) {
	for id := range int32(v.Len()) {
		if accept(id) == nil {
			list = append(list, id)
		}
	}
	return list
}

// byteVocab has a token for each byte.
func byteVocab(t testing.TB) *vocab.Vocab {
	t.Helper()
	v, err := walk.ByteTokens()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// thinVocab keeps every n-th token of a byte-level vocabulary, the short ones
// that contain punctuation, and those of single bytes.
func thinVocab(t testing.TB, v *vocab.Vocab, n int32) *vocab.Vocab {
	t.Helper()
	eos, _ := v.EOS()
	var tokens []vocab.Token
	var end int32
	for id := range int32(v.Len()) {
		b := v.Bytes(id)
		signs := 0
		for _, c := range b {
			if c < '0' || c > '9' && c < 'A' || c >= 0x80 {
				signs++
			}
		}
		if id == eos {
			end = int32(len(tokens))
		}
		if id == eos || len(b) > 0 && (id%n == 0 || len(b) == 1 || len(b) < 4 && signs > 1) {
			tokens = append(tokens, vocab.Token{Text: v.Text(id), Kind: v.Kind(id)})
		}
	}
	thin, err := vocab.FromTokens(tokens, vocab.Options{Model: vocab.BPE, Pre: "llama-bpe", EOS: &end})
	if err != nil {
		t.Fatal(err)
	}
	return thin
}

func bind(t testing.TB, src string, v *vocab.Vocab) *decoder.Grammar {
	t.Helper()
	g, err := Compile(src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return bound(t, g, v)
}

func bound(t testing.TB, g *Grammar, v *vocab.Vocab) *decoder.Grammar {
	t.Helper()
	d, err := g.Bind(v)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// accepts reports whether a whole text belongs to a grammar.
func accepts(g *decoder.Grammar, text string) bool {
	m := g.NewMatcher()
	_, err := m.AcceptBytes([]byte(text))
	return err == nil && m.Accepting()
}
