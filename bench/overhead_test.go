package bench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/bench/overhead"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/vocab"
)

var overheadModel = flag.String("overhead.model", "", "model for BenchmarkOverhead (default: a tiny one with random weights, the worst case)")

// BenchmarkOverhead measures the end-to-end cost of constraints: the time per token
// with a schema's masks, with forced text too, with a grammar's masks, with
// validation of each document, and with llama.cpp's grammar sampler, in percent more
// than without a constraint, as the median over rounds in which all take turns, with
// bounds. "stencil bench" measures the same with more schemas. It does so with the
// small built-in vocabulary and with one of 128,000 tokens, generated, since masks cost
// more the more tokens there are; and with llama3's, if that is next to the repository.
// Without llama.cpp, a scripted model is used that takes a millisecond per batch.
//
//	go test -run '^$' -bench Overhead ./bench
//	go test -tags llama -run '^$' -bench Overhead ./bench
func BenchmarkOverhead(b *testing.B) {
	if path := *overheadModel; path != "" {
		if !llama.Built {
			b.Fatal("-overhead.model needs llama.cpp: go test -tags llama …, with the environment of `make env`")
		}
		benchOverhead(b, openModel(b, path))
		return
	}
	for _, v := range vocabularies(b) {
		b.Run("vocab-"+v.name, func(b *testing.B) { benchOverhead(b, benchModel(b, v.path)) })
	}
}

// A vocabulary is a GGUF file with one; path is "" for the built-in one.
type vocabulary struct{ name, path string }

// vocabularies returns those to measure with.
func vocabularies(t testing.TB) []vocabulary {
	generated := filepath.Join(t.TempDir(), "generated.gguf")
	writeVocab(t, generated, 128_000)
	list := []vocabulary{{"small", ""}, {"128k", generated}}
	if path := shared.Path(t, "vocab", "llama3.gguf"); exists(path) {
		list = append(list, vocabulary{"llama3", path})
	}
	return list
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// writeVocab writes a byte-level vocabulary of so many tokens, the same each time: the bytes, and merges as large
// vocabularies have them: words of many lengths, with and without a blank in front, numbers of up to three digits, runs of blanks and
// what stands between the values of JSON.
func writeVocab(t testing.TB, path string, tokens int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	known := map[string]bool{}
	var merges [][2]string
	join := func(a, b string) string {
		if both := a + b; !known[both] {
			known[both] = true
			merges = append(merges, [2]string{a, b})
		}
		return a + b
	}
	const blank, line = "Ġ", "Ċ" // as a blank and a line feed are written in such files
	for _, mark := range []string{`":`, `",`, `{"`, `"}`, `[{`, `},`, `}]`, `":"`, `","`, `"},`, "],", "...", "--", "//"} {
		at := mark[:1]
		for i := 1; i < len(mark); i++ {
			at = join(at, mark[i:i+1])
		}
		join(blank, mark[:1])
	}
	for _, of := range []string{blank, line} {
		for run, n := of, 1; n < 32; n++ {
			run = join(run, of)
		}
	}
	for n := range 1000 {
		digits := fmt.Sprint(n)
		for at, i := digits[:1], 1; i < len(digits); i++ {
			at = join(at, digits[i:i+1])
		}
	}
	// Words are joined from syllables, and a blank goes before most of them.
	var syllables []string
	for _, c := range []string{"b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr", "ch"} {
		for _, v := range "aeiou" {
			at := c[:1]
			if len(c) > 1 {
				at = join(at, c[1:])
			}
			syllables = append(syllables, join(at, string(v)))
		}
	}
	for len(merges) < tokens-256-1 {
		word := syllables[rng.IntN(len(syllables))]
		if rng.IntN(3) > 0 {
			word = join(blank, word)
		}
		for range 1 + rng.IntN(4) {
			word = join(word, syllables[rng.IntN(len(syllables))])
		}
	}
	g := new(models.Writer)
	g.String("general.architecture", "llama")
	if n := g.AddVocab(merges[:tokens-256-1], []string{"<|end|>"}, ""); n != tokens {
		t.Fatalf("%d tokens", n)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g.Write(f, nil), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func benchOverhead(b *testing.B, model backend.Model) {
	for _, c := range overhead.Cases()[:4] {
		for _, parallel := range []int{1, 4} {
			for _, temperature := range []float32{1} {
				b.Run(fmt.Sprintf("%s/seqs-%d/temp-%g", c.Name, parallel, temperature), func(b *testing.B) {
					rounds := 0
					for b.Loop() {
						rounds++
					}
					// Use separate rounds: modes are only comparable within a round.
					run := overhead.Bench{
						Model: model, Context: backend.ContextParams{Threads: 1}, Cases: []overhead.Case{c},
						Parallel: []int{parallel}, Temperatures: []float32{temperature},
						Rounds: max(6, min(rounds, 99)), Documents: 1, LlamaTokens: 2, MaxTokens: 80,
					}
					results, err := run.Run(context.Background())
					if err != nil {
						b.Fatal(err)
					}
					for _, r := range results {
						b.ReportMetric(r.TimePerToken.Median, string(r.Mode)+"-µs/token")
						if r.Mode != overhead.ModeFree {
							b.ReportMetric(100*r.Overhead.Median, string(r.Mode)+"-%")
							b.ReportMetric(100*r.Overhead.Low, string(r.Mode)+"-low-%")
							b.ReportMetric(100*r.Overhead.High, string(r.Mode)+"-high-%")
						}
					}
					b.ReportMetric(float64(model.Vocab().Len()), "vocabulary")
					b.ReportMetric(0, "ns/op") // meaningless here
				})
			}
		}
	}
}

// benchModel returns a model with a vocabulary: a tiny one with random weights or, without llama.cpp, a scripted one.
func benchModel(b *testing.B, vocabulary string) backend.Model {
	if !llama.Built {
		return noise(b, vocabulary)
	}
	path := filepath.Join(b.TempDir(), "tiny.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Vocab: vocabulary, Type: models.F16}); err != nil {
		b.Fatal(err)
	}
	return openModel(b, path)
}

func openModel(b *testing.B, path string) backend.Model {
	m, err := llama.Load(context.Background(), path, llama.LoadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { m.Close() })
	return m
}

// noise returns a scripted model that returns one of a few rows of random logits,
// chosen by its history, after a millisecond.
func noise(t testing.TB, path string) backend.Model {
	if path == "" {
		path = filepath.Join(t.TempDir(), "tiny.gguf")
		if err := models.WriteRandom(path, models.RandomOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	v, err := vocab.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([][]float32, 16)
	for i := range rows {
		rows[i] = make([]float32, v.Len())
		for j := range rows[i] {
			rows[i][j] = float32(rng.NormFloat64())
		}
	}
	return scripted.New(v, func(history []int32, logits []float32) {
		h := uint32(len(history))
		for _, t := range history[max(0, len(history)-4):] {
			h = h*16777619 ^ uint32(t)
		}
		copy(logits, rows[h%uint32(len(rows))])
	}, scripted.Options{Delay: time.Millisecond})
}

// From a clone alone, with nothing beside it, the benchmark measures all that it names and says of which vocabulary.
func TestBenchmarkOfClone(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	clone := t.TempDir()
	if err := os.WriteFile(filepath.Join(clone, "go.mod"), []byte("module clone\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	bench := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), program, append([]string{"-test.run=^$", "-test.bench=^BenchmarkOverhead$/vocab/" + overhead.Cases()[0].Name + "/seqs-1", "-test.benchtime=1x"}, args...)...)
		cmd.Dir = clone
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := bench()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"vocab-small/", " 640.0 vocabulary", "vocab-128k/", "128000 vocabulary"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if !llama.Built {
		if out, err := bench("-overhead.model=m.gguf"); err == nil || !strings.Contains(out, "-overhead.model needs llama.cpp") {
			t.Errorf("a model without llama.cpp: %v\n%s", err, out)
		}
	}
	for _, want := range []string{"free-µs/token", "mask-%", "forced-%", "gbnf-%", "judged-%", "judged-high-%", "vocabulary"} {
		if !strings.Contains(out, " "+want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// TestOverhead checks that the harness runs all modes and counts their tokens.
func TestOverhead(t *testing.T) {
	b := overhead.Bench{
		Model: noise(t, ""), Cases: overhead.Cases()[:2], Modes: []overhead.Mode{overhead.ModeFree, overhead.ModeMask, overhead.ModeForced, overhead.ModeGBNF, overhead.ModeJudged},
		Parallel: []int{1, 2}, Temperatures: []float32{1}, Rounds: 2, Documents: 1, MaxTokens: 60, Trace: true,
	}
	results, err := b.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * 2 * 5; len(results) != want {
		t.Fatalf("%d results, want %d", len(results), want)
	}
	for _, r := range results {
		if r.Rounds != 2 || r.Documents != 2*r.Parallel || r.Tokens < 10 || r.TimePerToken.Median <= 0 || r.Parts["forward"] <= 0 || r.Parts["sample"] <= 0 {
			t.Errorf("%+v", r)
		}
		if forced := r.Mode == overhead.ModeForced; (r.Forced > 0.2) != forced {
			t.Errorf("%s of %s: a share of %g was forced", r.Mode, r.Case, r.Forced)
		}
		if constrained := r.Mode != overhead.ModeFree; (r.Parts["mask"] > 0) != constrained || (r.Parts["accept"] > 0) != constrained {
			t.Errorf("%s of %s: parts %v", r.Mode, r.Case, r.Parts)
		}
	}
	b.Modes = []overhead.Mode{"quick"}
	if _, err := b.Run(t.Context()); err == nil {
		t.Error("a mode that there is not was measured")
	}
	all := overhead.Cases()
	if size := len(all[len(all)-1].Schema); size < 180_000 || size > 250_000 {
		t.Errorf("the largest schema has %d bytes", size)
	}
	if !slices.ContainsFunc(all, func(c overhead.Case) bool { return c.Name == "calls" }) {
		t.Error("no function calls")
	}
}
