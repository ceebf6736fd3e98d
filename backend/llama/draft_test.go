//go:build llama && cgo

package llama

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/realmodels"
	"github.com/stencil-json/stencil/schema"
)

// nearTie is the difference in nats between two tokens within which a batch of
// another size may choose the other one. llama.cpp rounds a batch of one token
// differently from larger ones: with SmolLM2 the differences between the six most
// likely tokens change by 0.17 in the median and by up to 0.46, regardless of the
// larger size and of discarded guesses.
const nearTie = 0.5

// A trained model generates the same text with drafts as without, or differs from
// a position on at which two tokens are nearly equal.
func TestDraftsOnRealModels(t *testing.T) {
	for _, x := range []struct {
		model     realmodels.Model
		documents int
	}{{realmodels.SmolLM2, 12}, {realmodels.Qwen, 4}} {
		m, documents := x.model, x.documents
		t.Run(m.Name, func(t *testing.T) {
			model, err := Load(context.Background(), realmodels.Path(t, m), LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer model.Close()
			engines := map[bool]*engine.Engine{}
			for _, drafts := range []bool{true, false} {
				cfg := engine.Config{Parallel: 1, CacheSlots: -1, CheckpointBytes: -1, Context: backend.ContextParams{Size: 1024, FlashAttention: backend.FlashOff}}
				if drafts {
					cfg.Draft = 8
				}
				if engines[drafts], err = engine.New(model, cfg); err != nil {
					t.Fatal(err)
				}
				defer engines[drafts].Close()
			}
			prompts, schemas := chat.NewPrompts(model.Vocab()), constraint.NewSchemas(model.Vocab(), 8)
			same, drafted, accepted := 0, 0, 0
			for i := range documents {
				c, err := schemas.Compile(t.Context(), []byte(draftSchema), schema.Options{})
				if err != nil {
					t.Fatal(err)
				}
				text := fmt.Sprintf("%s %s, born on %d.%d.19%d, lives at %d %s and writes from %s.%d@example.com.",
					draftNames[i%7], draftNames[i%5+2], 1+i%28, 1+i%12, 50+i, 3+i*7, draftStreets[i%4], draftNames[i%7], i)
				p, err := prompts.Chat(t.Context(), chat.Input{Messages: []chat.Message{{Role: "system", Content: c.Instruction()}, {Role: "user", Content: text}}})
				if err != nil {
					t.Fatal(err)
				}
				req := engine.Request{Prompt: p, MaxTokens: 100, Constraint: c.Constraint, Logprobs: true, Alternatives: 8}
				with, r := draftTokens(t, engines[true], req)
				without, _ := draftTokens(t, engines[false], req)
				drafted, accepted = drafted+r.DraftTokens, accepted+r.AcceptedTokens
				n := 0
				for n < min(len(with), len(without)) && with[n].ID == without[n].ID {
					n++
				}
				if n == len(with) && n == len(without) {
					same++
					continue
				}
				if n == min(len(with), len(without)) {
					t.Errorf("document %d: %d tokens with drafts, %d without", i, len(with), len(without))
					continue
				}
				gap := float32(99)
				for _, x := range without[n].Top {
					if x.Token == with[n].ID {
						gap = without[n].Logprob - x.Logprob
					}
				}
				if gap > nearTie {
					t.Errorf("document %d: at token %d %q with drafts, %q without, which is %.3f likelier", i, n, with[n].Bytes, without[n].Bytes, gap)
				}
				t.Logf("document %d: token %d, %.3f apart: %q %q", i, n, gap, with[n].Bytes, without[n].Bytes)
			}
			t.Logf("%d of %d documents are the same; %d of %d guesses came true", same, documents, accepted, drafted)
			if accepted < documents {
				t.Errorf("%d of %d guesses came true, which proves little", accepted, drafted)
			}
		})
	}
}

const draftSchema = `{"type":"object","properties":{"name":{"type":"string"},"born":{"type":"string"},"address":{"type":"string"},"email":{"type":"string"}},"required":["name","born","address","email"],"additionalProperties":false}`

var (
	draftNames   = []string{"Maria", "Lopez", "Henrik", "Berg", "Anna", "Lindqvist", "Okafor"}
	draftStreets = []string{"Harbour Street, Oslo", "Rue de la Paix, Lyon", "Forest Road, Leeds", "Alte Gasse, Bern"}
)

// draftTokens returns the tokens of an answer.
func draftTokens(t *testing.T, e *engine.Engine, req engine.Request) (tokens []engine.Token, r *engine.Result) {
	stream, err := e.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	for {
		ev, err := stream.Next(t.Context())
		if err == io.EOF {
			return tokens, r
		}
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, ev.Tokens...)
		if ev.Done != nil {
			r = ev.Done
		}
	}
}
