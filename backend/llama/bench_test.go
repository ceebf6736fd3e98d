//go:build llama && cgo

package llama

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"stencil/backend"
	"stencil/backend/llama/internal/reference"
	"stencil/models"
)

// BenchmarkBareLoop generates greedily through the backend interface and
// through a loop written in C on the same file with the same threads, in turn,
// and reports the fastest run of each in tokens per second, and their ratio
// (1 is as fast, 0.95 is 5% slower): other programs can only slow a run down.
// On a busy machine the ratio of CPU times is the steadier figure.
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
	} {
		c.opt.Vocab = shared(b, c.opt.Vocab)
		path := randomModel(b, c.opt)
		for _, threads := range []int{1, 2} {
			for _, seqs := range []int{1, 8} { // a server's context has room for several
				name := fmt.Sprintf("%s/threads-%d/seqs-%d", c.name, threads, seqs)
				b.Run(name, func(b *testing.B) { bareLoop(b, path, threads, seqs) })
			}
		}
	}
}

func bareLoop(b *testing.B, path string, threads, seqs int) {
	const (
		size = 512
		n    = 32 // tokens a run: 10 to 200 ms, short enough to find an undisturbed moment
	)
	bare, err := reference.OpenBare(path, size, threads)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	m := load(b, path, LoadOptions{})
	c := newCtx(b, m, backend.ContextParams{Size: size, Threads: threads, MaxSeqs: seqs})
	prompt := m.Vocab().Encode("The quick brown fox")

	runtime.LockOSThread() // so that its CPU time is ours
	defer runtime.UnlockOSThread()
	fastest := func(a *reference.Time, t reference.Time) {
		if a.Wall == 0 {
			*a = t
		}
		a.Wall, a.CPU = min(a.Wall, t.Wall), min(a.CPU, t.CPU)
	}
	var ours, theirs reference.Time
	for b.Loop() {
		want, t, err := bare.Greedy(prompt, n)
		if err != nil {
			b.Fatal(err)
		}
		got, o := greedy(b, c, prompt, n)
		if !slices.Equal(got, want) {
			b.Fatalf("the loops wrote different tokens: %v and %v", got, want)
		}
		fastest(&ours, o)
		fastest(&theirs, t)
	}
	b.ReportMetric(n/ours.Wall.Seconds(), "stencil-tok/s")
	b.ReportMetric(n/theirs.Wall.Seconds(), "bare-tok/s")
	b.ReportMetric(theirs.Wall.Seconds()/ours.Wall.Seconds(), "ratio")
	if threads == 1 {
		b.ReportMetric(theirs.CPU.Seconds()/ours.CPU.Seconds(), "cpu-ratio")
	}
	b.ReportMetric(0, "ns/op") // the time of both together says nothing
}

// greedy is bare_greedy through the backend interface.
func greedy(b *testing.B, c backend.Context, prompt []int32, n int) ([]int32, reference.Time) {
	ctx, cancel := context.WithCancel(context.Background()) // can be stopped, as a request can
	defer cancel()
	c.SeqRemove(0, 0, -1)
	token := argmax(feed(b, c, 0, prompt...))
	out := make([]int32, 0, n)
	var batch backend.Batch
	wall, cpu := time.Now(), reference.ThreadCPU()
	for range n {
		out = append(out, token)
		batch.Reset()
		row := batch.Add(0, c.SeqLen(0), token, true)
		if err := c.Decode(ctx, &batch); err != nil {
			b.Fatal(err)
		}
		token = argmax(c.Logits(row))
	}
	return out, reference.Time{Wall: time.Since(wall), CPU: reference.ThreadCPU() - cpu}
}
