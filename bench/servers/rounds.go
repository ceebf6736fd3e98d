package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// settle is the pause before each contender: after an answer, ggml's threads keep
// spinning for a tenth of a second in case more work arrives.
const settle = 700 * time.Millisecond

// inTurn returns the contenders with their indices, and waits before each. The first
// one changes from round to round, and every second round is reversed.
func inTurn(all []contender, round int) iter.Seq2[int, contender] {
	return func(yield func(int, contender) bool) {
		for k := range all {
			i := (k + round/2) % len(all)
			if round%2 == 1 {
				i = len(all) - 1 - i
			}
			time.Sleep(settle)
			if !yield(i, all[i]) {
				return
			}
		}
	}
}

// words returns a text of about n tokens that no server has seen before, so that
// prefixes cached in another round or for another contender don't help.
func words(n, round, contender int) string {
	list := strings.Fields("the river stone market paper window seven garden morning engine copper winter silver letter bridge table orange forest music doctor")
	rng := rand.New(rand.NewPCG(uint64(round), uint64(n*16+contender)))
	var b strings.Builder
	fmt.Fprintf(&b, "%d%d:", rng.IntN(1000), round)
	for range n - 4 {
		b.WriteString(" " + list[rng.IntN(len(list))])
	}
	return b.String()
}

// A task is a text and the schema of the data to extract from it.
type task struct {
	text   string
	schema string
}

// tasks are five everyday extractions. The prompt around them changes from round to
// round.
var tasks = []task{
	{"Maria Lopez, 34, from Bergen has chosen the team plan. Write to maria.lopez@example.com.",
		`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},"city":{"type":"string"},"email":{"type":"string"},"plan":{"enum":["free","pro","team"]}},"required":["name","age","city","email","plan"],"additionalProperties":false}`},
	{"Order 4711: two boxes of copper wire at 12.50 euros each and one lamp at 39 euros, to be sent to Tom Berg, Harbour Street 5, Oslo.",
		`{"type":"object","properties":{"order":{"type":"integer"},"customer":{"type":"string"},"address":{"type":"string"},"items":{"type":"array","items":{"type":"object","properties":{"product":{"type":"string"},"quantity":{"type":"integer"},"price":{"type":"number"}},"required":["product","quantity","price"],"additionalProperties":false},"minItems":1,"maxItems":4}},"required":["order","customer","address","items"],"additionalProperties":false}`},
	{"The meeting about the bridge is on Tuesday 14 May 2024 at 15:30 in room Silver; Anna, Paul and Ines will come.",
		`{"type":"object","properties":{"title":{"type":"string"},"date":{"type":"string"},"time":{"type":"string"},"room":{"type":"string"},"people":{"type":"array","items":{"type":"string"},"maxItems":6}},"required":["title","date","time","room","people"],"additionalProperties":false}`},
	{"I was charged twice for my order and nobody answers my mails. Please help quickly, this is the third time!",
		`{"type":"object","properties":{"category":{"enum":["billing","shipping","technical","account"]},"urgency":{"enum":["low","medium","high"]},"sentiment":{"enum":["positive","neutral","negative"]},"summary":{"type":"string","maxLength":80},"refund_requested":{"type":"boolean"}},"required":["category","urgency","sentiment","summary","refund_requested"],"additionalProperties":false}`},
	{"SUPERMARKET GARDEN LTD, 12 Forest Road. 19/10/2018 18:21. Milk 2.10, Bread 3.40, Apples 4.50. TOTAL 10.00 CASH 20.00 CHANGE 10.00",
		`{"type":"object","properties":{"company":{"type":"string"},"address":{"type":"string"},"date":{"type":"string"},"total":{"type":"number"},"cash":{"type":"number"},"change":{"type":"number"}},"required":["company","address","date","total","cash","change"],"additionalProperties":false}`},
}

// documents measures the total time of each document; every task gives one figure.
func documents(ctx context.Context, s settings, all []contender) ([][]float64, error) {
	got := make([][]float64, len(all))
	for round := range s.rounds + 1 {
		for _, t := range tasks {
			for i, c := range inTurn(all, round) {
				srv, ok := c.(*server)
				if !ok {
					continue
				}
				m, err := srv.post(ctx, "/v1/chat/completions", map[string]any{
					"messages": []any{map[string]any{"role": "user", "content": fmt.Sprintf("Message %d of the day: %s\nGive its data as JSON.", round*7+i, t.text)}},
					"response_format": map[string]any{"type": "json_schema",
						"json_schema": map[string]any{"name": "data", "strict": true, "schema": json.RawMessage(t.schema)}},
					"temperature": 0, "max_tokens": 300,
				})
				if err != nil {
					return nil, fmt.Errorf("%s: %w", c.name(), err)
				}
				if round > 0 {
					got[i] = append(got[i], m.last.Seconds())
				}
			}
		}
	}
	return got, nil
}

// together measures the throughput of four concurrent requests in tokens per second,
// prompt processing included.
func together(ctx context.Context, s settings, all []contender) ([][]float64, error) {
	got := make([][]float64, len(all))
	for round := range s.rounds + 1 {
		for i, c := range inTurn(all, round) {
			if _, ok := c.(*server); !ok {
				continue
			}
			var wait sync.WaitGroup
			results := make([]measurement, 4)
			errs := make([]error, 4)
			begun := time.Now()
			for k := range results {
				wait.Go(func() { results[k], errs[k] = c.run(ctx, words(128, round*4+k+1000, i), s.generate) })
			}
			wait.Wait()
			took := time.Since(begun)
			tokens := 0
			for k, m := range results {
				if errs[k] != nil {
					return nil, fmt.Errorf("%s: %w", c.name(), errs[k])
				}
				tokens += m.generated
			}
			if round > 0 {
				got[i] = append(got[i], float64(tokens)/took.Seconds())
			}
		}
	}
	return got, nil
}

// cells returns the figures of a row, and the median ratio of stencil to the best
// other contender of each round. faster means that larger figures are better.
func cells(all []contender, unit string, faster bool, got [][]float64) string {
	figure := map[string]string{}
	for i, c := range all {
		if len(got[i]) > 0 {
			figure[c.name()] = fmt.Sprintf("%.3g %s", median(got[i]), unit)
		}
	}
	var ratios []float64
	for round, own := range got[0] {
		best := 0.0
		for _, other := range got[1:] {
			if round < len(other) && (best == 0 || other[round] > best == faster) {
				best = other[round]
			}
		}
		if best > 0 {
			ratios = append(ratios, own/best)
		}
	}
	ratio := ""
	if len(ratios) > 0 {
		ratio = fmt.Sprintf("%.2f", median(ratios))
	}
	return strings.Join([]string{figure["stencil"], figure["llama-server"], figure["node-llama-cpp"], ratio}, " | ")
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
