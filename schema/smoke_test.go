package schema

import (
	"fmt"
	"testing"

	"stencil/vocab"
)

func TestSmoke(t *testing.T) {
	v, err := vocab.Load("../../shared/vocab/llama3.gguf")
	if err != nil {
		t.Skip(err)
	}
	c, err := Compile([]byte(`{"type":"object","properties":{"name":{"type":"string","maxLength":5},"age":{"type":"integer","minimum":0},"tags":{"type":"array","items":{"enum":["a","b"]},"uniqueItems":true}},"required":["name"]}`), Options{Order: OrderAny, Whitespace: Flexible(0)})
	if err != nil {
		t.Fatal(err)
	}
	g := c.Grammar(v)
	for _, text := range []string{`{"name": "Ann", "age": 42}`, `{"name": "Annabe"}`, `{"age": 4}`, `{"name": "x", "tags": ["a", "a"]}`, `{"name": "x", "tags": ["a", "b"], "u": {"z": [1, 2.5e3, null]}, "v": "\n"}`, `{"name": "x", "u": 1, "u": 2}`} {
		m := g.NewMatcher()
		toks := v.TokenizeText(nil, []byte(text))
		for i, tok := range toks {
			mask, err := m.Mask()
			if err != nil {
				t.Fatal(err)
			}
			has := mask.Has(tok)
			naive := m.Clone().Accept(tok) == nil
			if has != naive {
				t.Errorf("%s: token %d %q: mask %v naive %v", text, i, v.Bytes(tok), has, naive)
			}
			if err := m.Accept(tok); err != nil {
				fmt.Printf("%s: %d %q: %v\n   complete: %s\n", text, i, v.Bytes(tok), err, m.ShortestCompletion())
				break
			}
		}
		fmt.Println(text, m.Accepting(), string(m.ShortestCompletion()), g.Stats())
	}
}
