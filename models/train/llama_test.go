//go:build llama && cgo

package main

import (
	"context"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/vocab"
)

// python returns an interpreter with the tensor library, or skips the test.
func python(t *testing.T) string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import torch").Run() == nil {
			return name
		}
	}
	t.Skip("no python3 with torch on this machine: llama.cpp can't be compared with it")
	return ""
}

// TestSameLogits checks that llama.cpp computes the same logits from an
// exported model as the tensor library.
func TestSameLogits(t *testing.T) {
	py := python(t)
	dir := t.TempDir()
	vocabulary, weights, path := filepath.Join(dir, "vocab.gguf"), filepath.Join(dir, "weights"), filepath.Join(dir, "model.gguf")
	if err := learn(vocabulary, 2100); err != nil {
		t.Fatal(err)
	}
	ids := []int32{3, 700, 41, 5, 700, 41, 990, 12, 500, 700, 41, 256, 3, 700}
	v, err := vocab.Load(vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	size := v.Len()
	args := []string{"sample.py", strconv.Itoa(size), weights}
	for i := range ids {
		ids[i] %= int32(size)
		args = append(args, strconv.Itoa(int(ids[i])))
	}
	out, err := exec.Command(py, args...).Output()
	if err != nil {
		t.Fatalf("sample.py: %v", err)
	}
	if err := models.WriteTrained(path, weights, models.TrainedOptions{Vocab: vocabulary, Name: "sample", Context: 64}); err != nil {
		t.Fatal(err)
	}
	m, err := llama.Load(context.Background(), path, llama.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c, err := m.NewContext(backend.ContextParams{Size: 64, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var b backend.Batch
	for i, id := range ids {
		b.Add(0, int32(i), id, true)
	}
	if err := c.Decode(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(rows) != len(ids) {
		t.Fatalf("%d rows of logits for %d tokens", len(rows), len(ids))
	}
	var worst, most float64
	for i, row := range rows {
		got := c.Logits(i)
		for j, s := range strings.Fields(row) {
			want, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			worst = max(worst, math.Abs(want-float64(got[j])))
			most = max(most, math.Abs(want))
		}
	}
	// llama.cpp stores keys and values in 16 bits.
	t.Logf("logits up to %.2f, differing by up to %.5f", most, worst)
	if worst > 0.005*most {
		t.Errorf("logits differ by up to %.5f, the largest is %.2f", worst, most)
	}
}
