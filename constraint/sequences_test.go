package constraint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

// controlVocab is the built-in vocabulary with two additional tokens without text.
func controlVocab(t testing.TB) *vocab.Vocab {
	t.Helper()
	base := testVocab(t)
	var tokens []vocab.Token
	for id := range int32(base.Len()) {
		tokens = append(tokens, vocab.Token{Text: base.Text(id), Kind: base.Kind(id)})
	}
	for _, name := range []string{"<|tool|>", "<|over|>"} {
		tokens = append(tokens, vocab.Token{Text: name, Kind: vocab.Control})
	}
	bos, eos, unk, no := int32(1), int32(2), int32(0), false
	v, err := vocab.FromTokens(tokens, vocab.Options{BOS: &bos, EOS: &eos, UNK: &unk, AddSpacePrefix: &no})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPieces(t *testing.T) {
	v := controlVocab(t)
	over, _ := v.Find("<|over|>")
	for text, want := range map[string][]decoder.Piece{
		"":                   nil,
		"<|ov <[er|>":        {{Text: "<|ov <[er|>"}},
		"<|over|>":           {{Token: over}},
		"a<|over|><|over|>b": {{Text: "a"}, {Token: over}, {Token: over}, {Text: "b"}},
	} {
		if got := Pieces(v, text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// thoughtful is reasoning that ends with a token, a call that starts with one, and
// free text that continues with calls.
func thoughtful(t testing.TB, v *vocab.Vocab, all *Sequences, schemas *Schemas, thoughts int) engine.Constraint {
	t.Helper()
	s, err := schemas.Compile(t.Context(), []byte(`{"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":99},"s":{"type":"string"}},"required":["n"],"additionalProperties":false}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := all.Get(t.Context(), fmt.Append(nil, s.Document().Key, thoughts), func(context.Context) ([]Segment, error) {
		g, err := s.Document().Fresh(t.Context())
		return []Segment{
			{Segment: decoder.Segment{Free: &decoder.Free{Budget: thoughts, Stops: []decoder.Stop{{Mark: Pieces(v, "<|over|>so<|tool|>"), Next: 1}}}}},
			{Segment: decoder.Segment{Grammar: g, Next: 2}},
			{Segment: decoder.Segment{Free: &decoder.Free{MayEnd: true, Stops: []decoder.Stop{{Mark: Pieces(v, "<|tool|>"), Next: 1}}}}},
		}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A sequence that takes too much is not tried again for each request.
func TestImpossibleSequence(t *testing.T) {
	v := controlVocab(t)
	all := NewSequences(v, 8)
	tried := 0
	for range 3 {
		c, err := all.Get(t.Context(), []byte("k"), func(context.Context) ([]Segment, error) {
			tried++
			long := decoder.Step{Texts: []string{strings.Repeat("x", 1<<14)}}
			return []Segment{
				{Segment: decoder.Segment{Free: &decoder.Free{MayEnd: true, Stops: []decoder.Stop{{Steps: []decoder.Step{long}, Next: 1}}}}},
				{Segment: decoder.Segment{OneOf: []decoder.Stop{{Mark: Pieces(v, "!"), Next: decoder.End}}}},
			}, nil
		})
		if !errors.Is(err, decoder.ErrOpenings) || c != nil {
			t.Fatalf("%v, %v", c, err)
		}
	}
	if tried != 1 {
		t.Errorf("it was tried %d times", tried)
	}
}

// The parts of a text are distinguished as they arrive: with any budget, each
// document is complete, marks are in no part, and the parts reported piece by piece
// equal those reported as a whole.
func TestSequences(t *testing.T) {
	v := controlVocab(t)
	all, schemas := NewSequences(v, 8), NewSchemas(v, 8)
	call, _ := v.Find("<|tool|>")
	for seed := range uint64(30) {
		random := scripted.Random(seed)
		e, err := engine.New(scripted.New(v, func(history []int32, logits []float32) {
			random(history, logits)
			logits[call] += 4
		}, scripted.Options{}), engine.Config{Context: backend.ContextParams{Size: 512}})
		if err != nil {
			t.Fatal(err)
		}
		for _, budget := range []int{12, 14, 25, 60} {
			stream, err := e.Submit(t.Context(), engine.Request{
				Prompt: []int32{1}, MaxTokens: budget, Constraint: thoughtful(t, v, all, schemas, int(seed%4)*3), Measure: true,
				Sampling: sampling.Options{Temperature: 1, Seed: seed}, Stop: []string{"q"},
			})
			if err != nil {
				t.Fatalf("seed %d, budget %d: %v", seed, budget, err)
			}
			var parts []engine.Passage
			text := ""
			var tokens []engine.Token
			var done *engine.Result
			for done == nil {
				ev, err := stream.Next(t.Context())
				if err != nil {
					t.Fatalf("seed %d, budget %d: %v", seed, budget, err)
				}
				joined := ""
				for _, p := range ev.Passages {
					if n := len(parts); n > 0 && parts[n-1].Visit == p.Visit {
						parts[n-1].Text += p.Text
					} else {
						parts = append(parts, p)
					}
					joined += p.Text
				}
				if joined != ev.Text {
					t.Errorf("text %q in parts %v", ev.Text, ev.Passages)
				}
				text += ev.Text
				tokens = append(tokens, ev.Tokens...)
				done = ev.Done
			}
			if done.Text != text || done.CompletionTokens != len(tokens) || len(tokens) > budget {
				t.Errorf("seed %d: %d tokens %q, told %q", seed, len(tokens), done.Text, text)
			}
			documents := 0
			for i, p := range parts {
				if p.Segment == 1 {
					documents++
					s, _ := schemas.Compile(t.Context(), []byte(`{"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":99},"s":{"type":"string"}},"required":["n"],"additionalProperties":false}`), schema.Options{})
					if err := s.Validate(t.Context(), []byte(p.Text)); err != nil {
						t.Errorf("seed %d, budget %d: %q: %v", seed, budget, p.Text, err)
					}
				}
				if p.Segment == 2 && strings.Contains(p.Text, "q") {
					t.Errorf("seed %d: the stop string is in %q", seed, p.Text)
				}
				if p.Segment == 0 && i != 0 {
					t.Errorf("seed %d: thoughts in part %d", seed, i)
				}
			}
			if documents == 0 {
				t.Errorf("seed %d, budget %d: no document in %v", seed, budget, parts)
			}
			for _, tok := range tokens {
				if len(tok.Bytes) > 0 && (tok.Segment < 0 || tok.Segment > 2 || tok.Before > len(tok.Bytes)) {
					t.Errorf("seed %d: token %+v", seed, tok)
				}
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if all.cache.len() != 4 {
		t.Errorf("%d sequences are kept, want one for each", all.cache.len())
	}
}
