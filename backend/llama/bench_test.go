//go:build llama && cgo

package llama

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama/internal/reference"
	"github.com/stencil-json/stencil/bench/interval"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/realmodels"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/models"
)

// BenchmarkBareLoop generates greedily through a loop written in C, through the
// backend interface, and through the engine as "stencil generate" and "stencil
// serve" do, in turn, with the same file and threads. It reports tokens per second
// and, for each round, the ratio to the bare loop's run of that round: the median
// of these ratios (1 is as fast, 0.95 is 5% slower) and the bounds of its 95%
// confidence interval. On a busy machine the ratio of CPU times is more stable.
//
//	go test -tags llama -run '^$' -bench BareLoop ./backend/llama
func BenchmarkBareLoop(b *testing.B) {
	for _, c := range []struct {
		name string
		opt  models.RandomOptions
	}{
		{"2x64/llama2", models.RandomOptions{Vocab: "vocab/llama2.gguf", Type: models.F16}},
		{"2x64/llama3", models.RandomOptions{Vocab: "vocab/llama3.gguf", Type: models.F16}},
		{"12x576/llama2", models.RandomOptions{Vocab: "vocab/llama2.gguf", Layers: 12, Width: 576, Heads: 9, KVHeads: 3, FF: 1536, Type: models.Q8_0}},
		{"6x1024/llama3", models.RandomOptions{Vocab: "vocab/llama3.gguf", Layers: 6, Width: 1024, Heads: 16, KVHeads: 4, FF: 2816, Type: models.Q4_0}},
	} {
		c.opt.Vocab = shared.File(b, c.opt.Vocab)
		path := randomModel(b, c.opt)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads-%d", c.name, threads), func(b *testing.B) { bareLoop(b, path, threads) })
		}
	}
	for _, m := range []realmodels.Model{realmodels.SmolLM2, realmodels.Qwen} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads-%d", m.Name, threads), func(b *testing.B) { bareLoop(b, realmodels.Path(b, m), threads) })
		}
	}
}

func bareLoop(b *testing.B, path string, threads int) {
	const size = 512
	bare, err := reference.OpenBare(path, size, threads, true)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	m := load(b, path, LoadOptions{})
	params := backend.ContextParams{Size: size, Threads: threads}
	c := newCtx(b, m, params)
	newEngine := func(parallel, cached int) *engine.Engine {
		e, err := engine.New(m, engine.Config{Parallel: parallel, CacheSlots: cached, Context: params})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { e.Close() })
		return e
	}
	one, four := newEngine(1, -1), newEngine(4, 4)
	prompt := m.Vocab().Encode("The quick brown fox")
	contenders := []*contender{
		{name: "bare", run: func(n int, _ bool) ([]int32, reference.Time) {
			out, t, err := bare.Greedy(prompt, n)
			if err != nil {
				b.Fatal(err)
			}
			return out, t
		}},
		{name: "backend", run: func(n int, _ bool) ([]int32, reference.Time) { return greedy(b, c, prompt, n) }},
		{name: "generate", run: func(n int, report bool) ([]int32, reference.Time) { return generate(b, one, prompt, n, report) }},
		{name: "serve", run: func(n int, report bool) ([]int32, reference.Time) { return generate(b, four, prompt, n, report) }},
	}
	const few, most = 16, 128
	var want []int32
	var took time.Duration
	for i, c := range contenders {
		got, t := c.run(few, true)
		if i == 0 {
			want, took = got, t.Wall
		} else if !slices.Equal(got, want) {
			b.Fatalf("%s wrote %v, the loop in C %v", c.name, got, want)
		}
	}
	// A run takes about 60 ms: short enough that a disturbance affects one or two
	// rounds, long enough that the fixed cost of a request is as small as in a real
	// text.
	n := min(max(few, int(few*60*time.Millisecond/took)), most)
	// With fewer rounds the interval is wider: it needs at least nine.
	for i, more := 0, true; ; i++ {
		if more = more && b.Loop(); !more && i >= 9 {
			break
		}
		for j := range contenders {
			c := contenders[(i+j)%len(contenders)] // each of them is first in turn
			_, t := c.run(n, false)
			c.times = append(c.times, reference.Time{Wall: t.Wall / time.Duration(n), CPU: t.CPU / time.Duration(n)})
		}
	}
	theirs := contenders[0]
	for _, c := range contenders {
		median, _, _ := c.compare(func(i int) float64 { return 1 / c.times[i].Wall.Seconds() })
		b.ReportMetric(median, c.name+"-tok/s")
		if c == theirs {
			continue
		}
		median, low, high := c.compare(func(i int) float64 { return theirs.times[i].Wall.Seconds() / c.times[i].Wall.Seconds() })
		b.ReportMetric(median, c.name+"-ratio")
		b.ReportMetric(low, c.name+"-low")
		b.ReportMetric(high, c.name+"-high")
		if threads == 1 { // waiting threads spin
			median, _, _ = c.compare(func(i int) float64 { return theirs.times[i].CPU.Seconds() / c.times[i].CPU.Seconds() })
			b.ReportMetric(median, c.name+"-cpu")
		}
	}
	b.ReportMetric(float64(len(theirs.times)), "rounds")
	b.ReportMetric(0, "ns/op") // the total time is meaningless
}

// A contender is a way to generate n tokens, with its time per token in each
// round.
type contender struct {
	name  string
	run   func(n int, report bool) ([]int32, reference.Time)
	times []reference.Time
}

// compare returns the median of a figure over the rounds and its bounds.
func (c *contender) compare(figure func(round int) float64) (median, low, high float64) {
	all := make([]float64, len(c.times))
	for i := range all {
		all[i] = figure(i)
	}
	return interval.Median(all)
}

// greedy does the work of bare_greedy through the backend interface.
func greedy(b *testing.B, c backend.Context, prompt []int32, n int) ([]int32, reference.Time) {
	ctx, cancel := context.WithCancel(context.Background()) // cancellable, like a request's
	defer cancel()
	c.SeqRemove(0, 0, -1)
	token := argmax(feed(b, c, 0, prompt...))
	out := make([]int32, 0, n)
	var batch backend.Batch
	wall, cpu := time.Now(), reference.CPU()
	for range n {
		out = append(out, token)
		batch.Reset()
		row := batch.Add(0, c.SeqLen(0), token, true)
		if err := c.Decode(ctx, &batch); err != nil {
			b.Fatal(err)
		}
		token = argmax(c.Logits(row))
	}
	return out, reference.Time{Wall: time.Since(wall), CPU: reference.CPU() - cpu}
}

// generate does the work of bare_greedy through the engine. The engine keeps all
// but the last token of the prompt between runs, so that n tokens are n decodes
// here too. It returns the tokens only with report, since that costs time.
func generate(b *testing.B, e *engine.Engine, prompt []int32, n int, report bool) ([]int32, reference.Time) {
	ctx := context.Background()
	wall, cpu := time.Now(), reference.CPU()
	stream, err := e.Submit(ctx, engine.Request{Prompt: prompt, MaxTokens: n, Logprobs: report})
	if err != nil {
		b.Fatal(err)
	}
	defer stream.Close()
	var out []int32
	for {
		ev, err := stream.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		for _, t := range ev.Tokens {
			out = append(out, t.ID)
		}
		if ev.Done == nil {
			continue
		}
		if ev.Done.CompletionTokens != n {
			b.Fatalf("%d tokens, not %d", ev.Done.CompletionTokens, n)
		}
		return out, reference.Time{Wall: time.Since(wall), CPU: reference.CPU() - cpu}
	}
}

// BenchmarkAttention prefills a prompt and generates after it, with flash
// attention and without: it measures the choice that FlashAuto makes on a CPU.
// "prompt-tok/s" is the speed of prefill, "tok/s" that of single tokens after it.
//
//	go test -tags llama -run '^$' -bench Attention ./backend/llama
func BenchmarkAttention(b *testing.B) {
	for _, shape := range []struct {
		name string
		opt  models.RandomOptions
	}{
		{"heads-16", models.RandomOptions{Layers: 4, Width: 128, Heads: 8, Type: models.Q8_0}},
		{"heads-64", models.RandomOptions{Layers: 12, Width: 576, Heads: 9, KVHeads: 3, FF: 1536, Type: models.Q8_0}},
		{"heads-128", models.RandomOptions{Layers: 4, Width: 1024, Heads: 8, KVHeads: 2, FF: 2816, Type: models.Q8_0}},
	} {
		m := load(b, randomModel(b, shape.opt), LoadOptions{})
		for _, fa := range []backend.FlashAttention{backend.FlashOn, backend.FlashOff} {
			b.Run(fmt.Sprintf("%s/flash-%s", shape.name, fa), func(b *testing.B) {
				const size, n = 1536, 32
				c := newCtx(b, m, backend.ContextParams{Size: 2048, FlashAttention: fa})
				tokens := someTokens(m, size, 1)
				var read, write time.Duration
				for b.Loop() {
					c.SeqRemove(0, 0, -1)
					start := time.Now()
					feed(b, c, 0, tokens...)
					read += time.Since(start)
					start = time.Now()
					for _, token := range tokens[:n] {
						feed(b, c, 0, token)
					}
					write += time.Since(start)
				}
				b.ReportMetric(float64(b.N)*size/read.Seconds(), "prompt-tok/s")
				b.ReportMetric(float64(b.N)*n/write.Seconds(), "tok/s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkBatchSizes decodes batches of several sizes after 200 tokens, in turn,
// with logits for each token. It reports the CPU time of a batch, which a busy
// machine affects least, as a multiple of that of one token: the minimum that a
// draft of that many tokens must save.
//
//	go test -tags llama -run '^$' -bench BatchSizes ./backend/llama
func BenchmarkBatchSizes(b *testing.B) {
	sizes := []int{1, 2, 3, 4, 5, 8, 16}
	for _, m := range []realmodels.Model{realmodels.SmolLM2, realmodels.Qwen} {
		b.Run(m.Name, func(b *testing.B) {
			model := load(b, realmodels.Path(b, m), LoadOptions{})
			c := newCtx(b, model, backend.ContextParams{Size: 512, Threads: 1})
			const before = 200
			var batch backend.Batch
			batch.AddTokens(0, 0, someTokens(model, before, 1), false)
			if err := c.Decode(context.Background(), &batch); err != nil {
				b.Fatal(err)
			}
			tokens := someTokens(model, slices.Max(sizes), 2)
			times := make([][]float64, len(sizes))
			for b.Loop() {
				for i, n := range sizes {
					batch.Reset()
					for j, t := range tokens[:n] {
						batch.Add(0, int32(before+j), t, true)
					}
					start := reference.CPU()
					if err := c.Decode(context.Background(), &batch); err != nil {
						b.Fatal(err)
					}
					times[i] = append(times[i], (reference.CPU() - start).Seconds())
					c.SeqRemove(0, before, -1)
				}
			}
			one := slices.Min(times[0])
			b.ReportMetric(one*1000, "1-ms")
			for i, n := range sizes[1:] {
				b.ReportMetric(slices.Min(times[i+1])/one, fmt.Sprintf("%d-ratio", n))
			}
		})
	}
}
