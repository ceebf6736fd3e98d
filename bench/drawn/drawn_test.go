package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/bench"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/vocab"
)

// TestSample compares the engine with documents that were drawn and judged earlier:
// a subset of scripts/drawn that needs no installation.
func TestSample(t *testing.T) {
	v, err := vocab.Load(shared.File(t, "vocab", "llama3.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	explained, err := os.ReadFile("explained.json")
	if err != nil {
		t.Fatal(err)
	}
	sample, err := os.ReadFile("testdata/sample.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	c, err := newComparison(v, explained)
	if err != nil {
		t.Fatal(err)
	}
	corpus := &bench.Corpus{Paths: []string{shared.File(t, "maskbench", "maskbench-dev.tar.xz")}}
	if err := c.run(corpus, bytes.NewReader(sample)); err != nil {
		t.Fatal(err)
	}
	for _, f := range c.faults {
		t.Error(f)
	}
	if c.documents != bytes.Count(sample, []byte("\n")) || c.valid < 100 || c.invalid < 100 {
		t.Errorf("%d documents, %d valid, %d invalid", c.documents, c.valid, c.invalid)
	}
}

// TestDisagreements checks that disagreements are reported unless they are
// explained.
func TestDisagreements(t *testing.T) {
	corpus := t.TempDir() + "/small.json"
	if err := os.WriteFile(corpus, []byte(`{"schema": {"type": "integer"}, "tests": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	v := smallVocab(t)
	const documents = `{"id": "small", "text": "1", "ajv": "", "jsonschema": ""}
{"id": "small", "text": "12.0", "ajv": "", "jsonschema": "type: no integer"}
{"id": "small", "text": "1.5", "ajv": "", "jsonschema": null}
`
	for _, test := range []struct{ explained, want string }{
		{`[]`, "jsonschema: type: no integer; accepted: 12.0\nsmall: : ajv: valid; refused: "},
		{`[{"judge": "jsonschema", "engine": "accepts", "says": "^type", "why": "x"}]`, "small: : ajv: valid; refused: "},
		{`[{"judge": "jsonschema", "engine": "accepts", "text": "0$", "why": "x"}, {"schemas": "sm*", "judge": "ajv", "engine": "refuses", "why": "y"}]`, ""},
	} {
		c, err := newComparison(v, []byte(test.explained))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.run(&bench.Corpus{Paths: []string{corpus}}, strings.NewReader(documents)); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(c.faults, "\n")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.explained, got, test.want)
		}
	}
	if _, err := newComparison(v, []byte(`[{"judge": "ajv", "engine": "accepts"}]`)); err == nil {
		t.Error("an explanation that says nothing is read")
	}
}

func smallVocab(t *testing.T) *vocab.Vocab {
	t.Helper()
	tokens := []vocab.Token{{Text: "<eos>", Kind: vocab.Control}}
	for _, text := range strings.Split("0 1 2 5 . 12 .0", " ") {
		tokens = append(tokens, vocab.Token{Text: text})
	}
	eos := int32(0)
	v, err := vocab.FromTokens(tokens, vocab.Options{Model: vocab.BPE, Pre: "llama-bpe", EOS: &eos})
	if err != nil {
		t.Fatal(err)
	}
	return v
}
