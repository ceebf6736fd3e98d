package bench

import (
	"testing"

	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

// benchSchemas are schemas with a document, named after the main cost of their
// masks.
var benchSchemas = []struct{ name, schema, document string }{
	{"flat",
		`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0},"kind":{"enum":["new","used"]},"ok":{"type":"boolean"}},"required":["name","age","kind","ok"],"additionalProperties":false}`,
		`{"name":"Grace Hopper","age":85,"kind":"new","ok":true}`},
	{"json-string", `{"type":"string"}`, `"The quick brown fox jumps over the lazy dog, twice."`},
	{"bounded-string", `{"type":"string","maxLength":80}`, `"The quick brown fox jumps over the lazy dog, twice."`},
	{"pattern", `{"type":"string","pattern":"^[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{12}$"}`, `"550e8400-e29b-41d4-a716-446655440000"`},
	{"any", `true`, `{"a":[1,-2.5e-7,{"b":null}],"c":"text"}`},
}

// preparedVocab returns llama3's vocabulary with its tables prepared.
func preparedVocab(b *testing.B) *vocab.Vocab {
	b.Helper()
	v := realVocab(b, "llama3.gguf")
	if _, err := Prepare(v); err != nil {
		b.Fatal(err)
	}
	return v
}

// BenchmarkWarm measures masks and Accept when all states have been visited before.
func BenchmarkWarm(b *testing.B) {
	v := preparedVocab(b)
	for _, c := range benchSchemas {
		b.Run(c.name+"/128k", func(b *testing.B) {
			s, err := schema.Compile([]byte(c.schema), schema.Options{})
			if err != nil {
				b.Fatal(err)
			}
			g := s.Grammar(v)
			tokens := v.TokenizeText(nil, []byte(c.document))
			m := g.NewMatcher()
			i := 0
			step := func() {
				if i == len(tokens) {
					i = 0
					if err := m.Rollback(len(tokens)); err != nil {
						b.Fatal(err)
					}
				}
				mask, err := m.Mask()
				if err != nil || !mask.Has(tokens[i]) {
					b.Fatalf("token %d of %s: %v", i, c.document, err)
				}
				if err := m.Accept(tokens[i]); err != nil {
					b.Fatal(err)
				}
				i++
			}
			for range tokens {
				step()
			}
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}

// BenchmarkFirstMask measures the time from the text of a schema to its first mask.
func BenchmarkFirstMask(b *testing.B) {
	v := preparedVocab(b)
	for _, c := range benchSchemas {
		b.Run(c.name+"/128k", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := schema.Compile([]byte(c.schema), schema.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := s.Grammar(v).NewMatcher().Mask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDocument measures a complete document under a new schema, per token.
func BenchmarkDocument(b *testing.B) {
	v := preparedVocab(b)
	for _, c := range benchSchemas {
		b.Run(c.name+"/128k", func(b *testing.B) {
			tokens := v.TokenizeText(nil, []byte(c.document))
			for b.Loop() {
				s, err := schema.Compile([]byte(c.schema), schema.Options{})
				if err != nil {
					b.Fatal(err)
				}
				m := s.Grammar(v).NewMatcher()
				for _, tok := range tokens {
					if _, err := m.Mask(); err != nil {
						b.Fatal(err)
					}
					if err := m.Accept(tok); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(tokens)), "ns/token")
		})
	}
}
