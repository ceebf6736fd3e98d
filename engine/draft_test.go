package engine

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/gbnf"
	"github.com/stencil-json/stencil/schema"
)

// copying is a model with random output that mostly continues with what followed the
// last token before: some guesses come true and some don't.
func copying(seed uint64) scripted.Func {
	random := scripted.Random(seed)
	return func(history []int32, logits []float32) {
		random(history, logits)
		n := len(history) - 1
		if (uint64(history[n])+uint64(n)+seed)%5 == 0 {
			return
		}
		for i := n - 1; i >= 0; i-- {
			if history[i] == history[n] {
				logits[history[i+1]] += 12
				return
			}
		}
	}
}

// An outcome is all that a reader sees of a request except its duration.
type outcome struct {
	texts   []string
	tokens  [][]Token
	results []Result
	err     string
}

// outcomeOf reads a request to its end. The numbers of drafted and accepted tokens
// are returned separately, not as part of the outcome.
func outcomeOf(t *testing.T, e *Engine, req Request) (o outcome, drafted, accepted int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stream, err := e.Submit(ctx, req)
	if err != nil {
		return outcome{err: err.Error()}, 0, 0
	}
	n := max(1, req.Choices)
	o = outcome{texts: make([]string, n), tokens: make([][]Token, n), results: make([]Result, n)}
	for {
		ev, err := stream.Next(ctx)
		if err == io.EOF {
			return o, drafted, accepted
		}
		if err != nil {
			return outcome{err: err.Error()}, 0, 0
		}
		o.texts[ev.Choice] += ev.Text
		o.tokens[ev.Choice] = append(o.tokens[ev.Choice], ev.Tokens...)
		if ev.Done != nil {
			r := *ev.Done
			drafted, accepted = drafted+r.DraftTokens, accepted+r.AcceptedTokens
			if r.AcceptedTokens > r.DraftTokens || r.DraftTokens > 0 && r.CompletionTokens < r.AcceptedTokens {
				t.Errorf("%d of %d guesses came true in %d tokens", r.AcceptedTokens, r.DraftTokens, r.CompletionTokens)
			}
			r.Timings, r.CachedTokens, r.DraftTokens, r.AcceptedTokens, r.Place = Timings{}, 0, 0, 0, 0
			if r.Constraint != nil {
				r.Constraint.MaskTotal, r.Constraint.MaskMax = 0, 0
			}
			o.results[ev.Choice] = r
		}
	}
}

// randomRequest returns a request with random options.
func randomRequest(t *testing.T, e *Engine, rng *rand.Rand) Request {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	bind := func(g *gbnf.Grammar) Constraint {
		bound, err := g.Bind(e.Vocab())
		must(err)
		return Grammar(bound)
	}
	text := "one two three name aaaa {\"name\":\"one two\"} "
	req := Request{
		Prompt:    prompt(e, strings.Repeat(text, 1+rng.IntN(3))+fmt.Sprint(rng.IntN(9))),
		MaxTokens: 12 + rng.IntN(60),
		Choices:   1 + rng.IntN(2)*rng.IntN(3),
		Logprobs:  rng.IntN(2) == 0, Alternatives: rng.IntN(3), Measure: rng.IntN(3) == 0,
		NoForced: rng.IntN(4) == 0, Truncate: rng.IntN(4) == 0,
	}
	if rng.IntN(2) == 0 {
		req.Sampling = sampling.Options{Temperature: 0.7, TopP: 0.95, Seed: rng.Uint64()}
	}
	if rng.IntN(3) == 0 {
		req.Sampling.RepeatPenalty, req.Sampling.FrequencyPenalty = 1.1, 0.2
	}
	switch rng.IntN(6) {
	case 0:
		req.Stop = []string{"two", "aa"}[:1+rng.IntN(2)]
	case 1:
		s, err := schema.Compile([]byte(`{"type":"object","properties":{"name":{"type":"string"},"one":{"enum":["one","two","three"]},"no":{"type":["integer","null"]}},"required":["name","one","no"],"additionalProperties":false}`), schema.Options{})
		must(err)
		req.Constraint = Grammar(s.Grammar(e.Vocab()))
	case 2:
		s, err := schema.Compile([]byte(`{"type":"array","items":{"type":"object","properties":{"name":{"type":"string","maxLength":9}},"required":["name"],"additionalProperties":false},"maxItems":4}`), schema.Options{Whitespace: schema.Flexible(2)})
		must(err)
		req.Constraint = Grammar(s.Grammar(e.Vocab()))
	case 3:
		g, err := gbnf.Compile(`root ::= ("one" | "two" | "name: " [a-e]+ "\n")+ "end"`, gbnf.Options{})
		must(err)
		req.Constraint = bind(g)
	case 4:
		g, err := gbnf.Regex(`(aa|one two|[nm]{2,5} )*x`, gbnf.ECMA, gbnf.Options{})
		must(err)
		req.Constraint = bind(g)
	case 5:
		g, err := gbnf.Choice([]string{"one two three", "one two two", "name"}, gbnf.Options{})
		must(err)
		req.Constraint = bind(g)
	}
	return req
}

// With drafts and without, texts, events and counts are the same for all kinds of
// requests: alone, and together with others of which some hang up.
func TestDraftsChangeNothing(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 60
	}
	configs := []Config{
		{Parallel: 1, CacheSlots: -1},
		{Parallel: 4},
		{Parallel: 3, Context: backend.ContextParams{Size: 360, MaxBatch: 16}}, // too small for all of them
	}
	for at, cfg := range configs {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(at), 7))
			model := copying(uint64(at))
			with, without := cfg, cfg
			with.Draft, with.draftAll = 8, true
			on := newEngine(t, model, scripted.Options{}, with)
			off := newEngine(t, model, scripted.Options{}, without)
			drafted, accepted := 0, 0
			for round := 0; round < rounds; round += 4 {
				var wait sync.WaitGroup
				var requests [4]Request
				var got, want [4]outcome
				var mu sync.Mutex
				for i := range requests {
					requests[i] = randomRequest(t, on, rng)
					late := rng.IntN(20)
					wait.Go(func() {
						o, d, a := outcomeOf(t, on, requests[i])
						mu.Lock()
						got[i], drafted, accepted = o, drafted+d, accepted+a
						mu.Unlock()
					})
					if late >= 5 {
						continue
					}
					wait.Go(func() { // another request, which hangs up
						stream, err := on.Submit(t.Context(), requests[i])
						if err != nil {
							return
						}
						for range late {
							if _, err := stream.Next(t.Context()); err != nil {
								break
							}
						}
						stream.Close()
					})
				}
				wait.Wait()
				for i := range requests {
					want[i], _, _ = outcomeOf(t, off, requests[i])
					if !reflect.DeepEqual(got[i], want[i]) {
						t.Fatalf("round %d.%d, request %+v\nwith drafts    %+v\nwithout drafts %+v", round, i, requests[i], got[i], want[i])
					}
				}
			}
			if accepted < rounds || drafted-accepted < rounds {
				t.Errorf("%d of %d guesses came true, which proves little", accepted, drafted)
			}
			stats := on.Stats()
			t.Logf("%d of %d guesses came true, %d steps", accepted, drafted, stats.Decodes)
			if stats.DraftTokens < uint64(drafted) || off.Stats().DraftTokens != 0 {
				t.Errorf("counted %d drafted tokens of %d, and %d without drafts", stats.DraftTokens, drafted, off.Stats().DraftTokens)
			}
		})
	}
}

// A text that repeats parts of the prompt takes few steps, and more without drafts;
// models that can't rewind and solo requests have no drafts.
func TestDraftsSaveSteps(t *testing.T) {
	const reply = "one two three one two one three three two one"
	steps := func(opt scripted.Options, cfg Config, solo bool) (uint64, int) {
		v := testVocab(t)
		e := newEngine(t, scripted.Say(v, reply), opt, cfg)
		r := collect(t, e, Request{Prompt: prompt(e, "say: "+reply+"."), MaxTokens: 50, Solo: solo})[0]
		if r.Text != reply {
			t.Fatalf("text %q", r.Text)
		}
		return e.Stats().Decodes, r.DraftTokens
	}
	with, drafted := steps(scripted.Options{}, Config{Draft: 8, draftAll: true}, false)
	without, none := steps(scripted.Options{}, Config{}, false)
	if with > without/2 || drafted == 0 || none != 0 {
		t.Errorf("%d steps with %d drafted tokens, %d with %d", with, drafted, without, none)
	}
	for name, cfg := range map[string]func() (uint64, int){
		"recurrent": func() (uint64, int) {
			return steps(scripted.Options{Recurrent: true}, Config{Draft: 8, draftAll: true}, false)
		},
		"deterministic": func() (uint64, int) { return steps(scripted.Options{}, Config{Draft: 8, draftAll: true}, true) },
	} {
		if n, drafted := cfg(); n != without || drafted != 0 {
			t.Errorf("%s: %d steps and %d drafted tokens, want %d and none", name, n, drafted, without)
		}
	}
}

// If a batch of two costs as much as two batches, nothing is drafted; if it costs as
// much as one, all likely guesses are.
func TestPrices(t *testing.T) {
	list := []guess{{token: 5, chance: 0.9}, {token: 6, forced: true, chance: 0.9}, {token: 7, chance: 0.6}, {token: 8, chance: 0.1}}
	for _, test := range []struct {
		name string
		more float64 // cost of each further token
		want int
	}{{"GPU", 0.01, 4}, {"CPU", 0.45, 3}, {"compute bound", 1, 0}} {
		var p prices
		for range 50 {
			for n := 1; n <= 8; n++ {
				p.learn(n, time.Duration((1+test.more*float64(n-1))*float64(time.Millisecond)))
			}
		}
		if got := p.worth(list, 1, 1); got != test.want {
			t.Errorf("%s: %d guesses, want %d", test.name, got, test.want)
		}
	}
	var p prices
	p.learn(1, time.Millisecond)
	p.learn(4, 100*time.Millisecond) // another program took the time
	if got := p.price(4); got > outlier*hoped(4) {
		t.Errorf("one bad moment made the price %.1f", got)
	}
	// With more sequences in a batch there is less to save.
	for n := 1; n <= 16; n++ {
		p = prices{one: 1}
		for i := 2; i <= maxPriced; i++ {
			p.of[i] = 1 + 0.4*float64(i-1)
		}
	}
	one := []guess{{token: 5, chance: 0.55}}
	if alone, crowd := p.worth(one, 1, 1), p.worth(one, 8, 8); alone != 1 || crowd != 0 {
		t.Errorf("alone %d guesses, among eight %d, want 1 and 0", alone, crowd)
	}
}
