//go:build llama && cgo

package llama

import (
	"strings"
	"testing"

	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/vocab"
)

// llama.cpp's grammar sampler follows a text, and errors in a grammar are
// reported.
func TestGrammar(t *testing.T) {
	m := load(t, randomModel(t, models.RandomOptions{}), LoadOptions{})
	v := m.Vocab()
	if _, err := NewGrammar(m, "root ::= nothing"); err == nil || !strings.Contains(err.Error(), "grammar") {
		t.Errorf("a rule that there is not: %v", err)
	}
	g, err := NewGrammar(m, `root ::= "ab" [0-9]`)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, want := range []string{"ab", "b0", "0123456789"} {
		set := vocab.NewBitset(v.Len())
		if err := g.Mask(set); err != nil {
			t.Fatal(err)
		}
		allowed := set.AppendTo(nil)
		for _, token := range allowed {
			if b := string(v.Bytes(token)); b == "" || !strings.Contains(want, b[:1]) {
				t.Errorf("after %q: token %q", text, b)
			}
		}
		if len(allowed) == 0 {
			t.Fatalf("after %q: nothing is allowed", text)
		}
		token := allowed[len(allowed)-1]
		for _, x := range allowed { // one byte at a time
			if len(v.Bytes(x)) == 1 {
				token = x
			}
		}
		if err := g.Accept(token); err != nil {
			t.Fatal(err)
		}
		text += string(v.Bytes(token))
	}
	set := vocab.NewBitset(v.Len())
	if err := g.Mask(set); err != nil || len(text) != 3 {
		t.Fatalf("%v, text %q", err, text)
	}
	for _, token := range set.AppendTo(nil) {
		if !v.IsEOG(token) {
			t.Errorf("after %q: token %q", text, v.Bytes(token))
		}
	}
	if err := g.Accept(v.TokenizeText(nil, []byte("b"))[0]); err == nil {
		t.Error("a token that does not fit was accepted")
	}
}
