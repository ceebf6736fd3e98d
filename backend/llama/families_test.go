//go:build llama && cgo

package llama

import (
	"math"
	"regexp"
	"strconv"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/models"
)

// generating lists the families that generate text.
func generating() (names []string) {
	for _, a := range models.Architectures() {
		if a.Name != "bert" {
			names = append(names, a.Name)
		}
	}
	return names
}

// spread returns the standard deviation of logits, NaN if one is not finite.
func spread(row []float32) float64 {
	var sum, squares float64
	for _, x := range row {
		sum += float64(x)
		squares += float64(x) * float64(x)
	}
	n := float64(len(row))
	return math.Sqrt(squares/n - sum/n*sum/n)
}

// TestFamilies prefills a prompt with a model of each family, in two parts,
// and generates greedily. The logits must look like those of a trained model:
// finite, with a standard deviation near 4, and different at each step.
func TestFamilies(t *testing.T) {
	for _, name := range generating() {
		t.Run(name, func(t *testing.T) {
			m := load(t, writeFamily(t, name), LoadOptions{})
			c := newCtx(t, m, backend.ContextParams{Size: 1024})
			prompt := someTokens(m, 600, 1)
			feed(t, c, 0, prompt[:400]...)
			row := feed(t, c, 0, prompt[400:]...)
			seen := map[int32]int{}
			for step := range 50 {
				if s := spread(row); !(s > 3 && s < 5) {
					t.Fatalf("step %d: standard deviation %g", step, s)
				}
				token := argmax(row)
				if seen[token]++; seen[token] > 25 {
					t.Fatalf("step %d: token %d for the 26th time", step, token)
				}
				last := row
				row = feed(t, c, 0, token)
				if r := correlation(last, row); r > 0.9999 {
					t.Errorf("step %d: the same logits again, correlation %g", step, r)
				}
			}
			if n := c.SeqLen(0); n != 650 {
				t.Errorf("%d tokens in the sequence, want 650", n)
			}
		})
	}
}

// TestFamiliesEstimate compares the estimates with the sizes that llama.cpp
// logs.
func TestFamiliesEstimate(t *testing.T) {
	size := func(lines []string, what string) (mib float64, found bool) {
		re := regexp.MustCompile(what + ` buffer size = +([0-9.]+) MiB`)
		for _, line := range lines {
			if m := re.FindStringSubmatch(line); m != nil {
				x, err := strconv.ParseFloat(m[1], 64)
				if err != nil {
					t.Fatal(err)
				}
				mib, found = mib+x, true
			}
		}
		return mib, found
	}
	for _, name := range generating() {
		t.Run(name, func(t *testing.T) {
			path := writeFamily(t, name)
			m := load(t, path, LoadOptions{})
			for _, p := range recordedParams {
				e, err := EstimateMemory(path, p)
				if err != nil {
					t.Fatal(err)
				}
				l := captureLog(t)
				c := newCtx(t, m, p)
				grown(t, c, l)
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				kv, cells := size(l.lines, "KV")
				rs, states := size(l.lines, "RS")
				compute, computes := size(l.lines, "compute")
				if !cells && !states || !computes {
					t.Fatal("llama.cpp did not say what it takes")
				}
				t.Logf("%d cells, %d sequences: %v; cache %.2f MiB, compute %.2f MiB", p.Size, p.MaxSeqs, e, kv+rs, compute)
				if !nearCache(e.Cache, kv+rs) {
					t.Errorf("%+v: cache %.3f MiB, it is %.2f", p, float64(e.Cache)/mebibyte, kv+rs)
				}
				if !enoughCompute(e.Compute, compute) {
					t.Errorf("%+v: compute %.2f MiB, it is %.2f", p, float64(e.Compute)/mebibyte, compute)
				}
			}
		})
	}
}
