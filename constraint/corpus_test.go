package constraint_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/bench"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

// TestBudgetsOnRealSchemas generates documents of real schemas with budgets
// from 1 to 60 tokens on a model that writes at random: documents that are not
// refused up front are complete and valid, and refused ones are accepted with
// the minimum that the refusal names.
func TestBudgetsOnRealSchemas(t *testing.T) {
	const archive = "../../shared/maskbench/maskbench-dev.tar.xz"
	if _, err := os.Stat(archive); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("shared data are not there: %v", err)
	}
	every := 25
	if testing.Short() {
		every = 200
	}
	cases, err := (&bench.Corpus{Paths: []string{archive}, Every: every}).All()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Layers: 1, Width: 16}); err != nil {
		t.Fatal(err)
	}
	v, err := vocab.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(scripted.New(v, scripted.Random(17), scripted.Options{}), engine.Config{
		Parallel: 8, Queue: 100, Context: backend.ContextParams{Size: 1 << 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	schemas := constraint.NewSchemas(v, 64)

	var mu sync.Mutex
	count := map[string]int{}
	tally := func(what string) {
		mu.Lock()
		count[what]++
		mu.Unlock()
	}
	one := func(s *constraint.CompiledSchema, maxTokens int, seed uint64) error {
		stream, err := e.Submit(t.Context(), engine.Request{
			Prompt: v.Encode("x"), MaxTokens: maxTokens, Constraint: s.Constraint,
			Sampling: sampling.Options{Temperature: 1, Seed: seed}, NoForced: seed%4 == 0,
		})
		if err != nil {
			return err
		}
		results, err := stream.Collect(t.Context())
		if err != nil {
			return err
		}
		r := results[0]
		if r.Finish != engine.FinishStop || r.CompletionTokens > maxTokens {
			return fmt.Errorf("finish %s with %d of %d tokens: %q", r.Finish, r.CompletionTokens, maxTokens, r.Text)
		}
		if r.Constraint.BudgetClosed {
			tally("closed by the budget")
		}
		switch err := s.Validate(t.Context(), []byte(r.Text)); {
		case err == nil:
			tally("valid")
		case errors.As(err, new(*constraint.InvalidDocumentError)):
			return fmt.Errorf("%q: %w", r.Text, err)
		default:
			tally("no verdict: " + err.Error())
		}
		return nil
	}
	work := make(chan bench.Case)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(worker), 3))
			for c := range work {
				s, err := schemas.Compile(t.Context(), c.Schema, schema.Options{})
				if err != nil {
					tally("schema refused")
					continue
				}
				for range 3 {
					seed, maxTokens := rng.Uint64(), 1+rng.IntN(60)
					err := one(s, maxTokens, seed)
					var tooSmall *engine.BudgetError
					if errors.As(err, &tooSmall) {
						tally("budget refused")
						if tooSmall.Minimum <= maxTokens {
							t.Errorf("%s: a budget of %d is refused, the minimum is said to be %d", c.ID, maxTokens, tooSmall.Minimum)
						}
						err = one(s, tooSmall.Minimum, seed)
					}
					if err != nil {
						t.Errorf("%s, %d tokens, seed %d: %v", c.ID, maxTokens, seed, err)
					}
				}
			}
		})
	}
	for _, c := range cases {
		work <- c
	}
	close(work)
	wg.Wait()
	t.Logf("%d schemas: %v", len(cases), count)
	if count["valid"] < len(cases) || count["closed by the budget"] == 0 {
		t.Errorf("%v of %d schemas: too little was tried", count, len(cases))
	}
}
