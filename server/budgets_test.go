package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/bench"
	"github.com/stencil-json/stencil/engine"
)

// TestBudgets sends random requests with budgets from 1 to 60 tokens and
// schemas from a real collection: every 200 is complete and valid, and every
// refusal of a budget names a larger minimum. STENCIL_BUDGETS sets the
// number of requests, for example 10000.
func TestBudgets(t *testing.T) {
	const archive = "../../shared/maskbench/maskbench-dev.tar.xz"
	if _, err := os.Stat(archive); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("shared data are not there: %v", err)
	}
	requests := 200
	if s := os.Getenv("STENCIL_BUDGETS"); s != "" {
		var err error
		if requests, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	cases, err := (&bench.Corpus{Paths: []string{archive}, Every: max(1, 10000/requests)}).All()
	if err != nil {
		t.Fatal(err)
	}
	v := tinyVocab(t)
	site := listen(t, scripted.New(v, scripted.Random(31), scripted.Options{}), engine.Config{Parallel: 4, Queue: 100, Context: backend.ContextParams{Size: 1 << 18}})
	c := &tally{counts: map[string]int{}}
	work := make(chan int)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range work {
				rng := rand.New(rand.NewPCG(uint64(i), 5))
				if err := budgetRequest(t, site.url, cases[rng.IntN(len(cases))], rng, c); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range requests {
		work <- i
	}
	close(work)
	wg.Wait()
	t.Logf("%d requests: %v", requests, c.counts)
	if c.counts["valid"] < requests/8 {
		t.Errorf("%v: too few answers", c.counts)
	}
}

// budgetRequest sends one request with a random budget.
func budgetRequest(t *testing.T, url string, one bench.Case, rng *rand.Rand, c *tally) error {
	budget := 1 + rng.IntN(60)
	body := fmt.Sprintf(`{"prompt": "x", "max_tokens": %d, "seed": %d, "forced": %t, "temperature": %g, "strict": false, "on_unsupported": %q, "schema": %s}`,
		budget, rng.IntN(1<<30), rng.IntN(4) > 0, 0.5+rng.Float64(), []string{"error", "ignore"}[rng.IntN(2)], one.Schema)
	resp, text, err := post(t.Context(), url+"/generate_json", body)
	if err != nil {
		return err
	}
	var reply struct {
		JSON   json.RawMessage
		Finish string `json:"finish_reason"`
		Usage  struct {
			Completion int `json:"completion_tokens"`
		}
		Constraint struct {
			Validated *bool
			Closed    bool     `json:"budget_closed"`
			Ignored   []any    `json:"ignored"`
			Shortened []string `json:"shortened"`
		}
		Error struct {
			Code    string
			Minimum int
		}
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		return fmt.Errorf("%s: %w in %s", one.ID, err, text)
	}
	switch {
	case resp.StatusCode == 400 && reply.Error.Code == "budget_too_small":
		c.add(reply.Error.Code)
		if reply.Error.Minimum <= budget {
			return fmt.Errorf("%s: a budget of %d is refused, the minimum is said to be %d", one.ID, budget, reply.Error.Minimum)
		}
		return nil
	case resp.StatusCode == 400:
		c.add(reply.Error.Code)
		return nil
	case resp.StatusCode != 200:
		return fmt.Errorf("%s: %d %s", one.ID, resp.StatusCode, text)
	}
	if !json.Valid(reply.JSON) || reply.Finish != "stop" || reply.Usage.Completion > budget {
		return fmt.Errorf("%s: not complete within %d tokens: %s", one.ID, budget, text)
	}
	switch {
	case reply.Constraint.Validated == nil:
		c.add("no verdict")
	case *reply.Constraint.Validated:
		c.add("valid")
	case len(reply.Constraint.Ignored) > 0:
		c.add("valid but for ignored keywords")
	default:
		return fmt.Errorf("%s: not valid: %s", one.ID, text)
	}
	if reply.Constraint.Closed {
		c.add("closed by the budget")
		if len(reply.Constraint.Shortened) == 0 {
			return fmt.Errorf("%s: closed by the budget, and no pointer says where: %s", one.ID, text)
		}
	}
	return nil
}
