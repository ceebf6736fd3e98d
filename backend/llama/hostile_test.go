//go:build llama && cgo

package llama

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/internal/mutants"
	"github.com/stencil-json/stencil/models"
)

// hostileTrial is how the tests try files.
func hostileTrial() *Trial {
	return &Trial{Context: backend.ContextParams{MaxSeqs: 2, MaxBatch: 64, Threads: 1}, CPU: 10 * time.Second, ran: new(int)}
}

// loadHostile loads a file and computes with it, as after a request for it. what
// describes how far it got.
func loadHostile(path string, adapters ...LoRA) (what string, err error) {
	trial := hostileTrial()
	m, err := Load(context.Background(), path, LoadOptions{Trial: trial, LoRA: adapters})
	if err == nil {
		defer m.Close()
		own := m.(*model)
		if own.embedding.Generates {
			err = own.tryText(trial.Context, true)
		} else {
			err = own.tryEmbedding(trial.Context, true)
		}
		if err != nil {
			return "failed after a trial that did not", err
		}
		return "loaded", nil
	}
	switch {
	case *trial.ran == 0:
		return "refused in Go", err
	case strings.Contains(err.Error(), "when the file was tried out"):
		return "crashed", err
	}
	return "refused by llama.cpp", err
}

// setting returns a number from the environment.
func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestHostile loads damaged files of every family, as a server does that must
// survive: checks, a trial in another process, and those that passed in this one.
func TestHostile(t *testing.T) {
	count, first := setting(t, "STENCIL_HOSTILE", 300), setting(t, "STENCIL_HOSTILE_SEED", 1)
	type seed struct {
		name  string
		data  []byte
		parts []mutants.Part
	}
	var seeds []seed
	for _, a := range models.Architectures() {
		var b bytes.Buffer
		if err := models.Random(&b, models.RandomOptions{Arch: a.Name}); err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, seed{a.Name, b.Bytes(), mutants.Parts(b.Bytes())})
	}
	dir := t.TempDir()
	adapter, model := filepath.Join(dir, "adapter.gguf"), randomModel(t, models.RandomOptions{})
	writeAdapter(t, adapter, "llama", 64)
	data, err := os.ReadFile(adapter)
	if err != nil {
		t.Fatal(err)
	}
	seeds = append(seeds, seed{"an adapter", data, mutants.Parts(data)})
	var mu sync.Mutex
	counts, crashes := map[string]int{}, map[string]int{}
	one := func(i int) {
		s := seeds[i%len(seeds)]
		data, how := mutants.Mutate(rand.New(rand.NewPCG(uint64(first), uint64(i))), s.data, s.parts)
		name := fmt.Sprintf("hostile-%d.gguf", i)
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Error(err)
			return
		}
		var what string
		var err error
		if s.name == "an adapter" {
			what, err = loadHostile(model, LoRA{Path: path})
		} else {
			what, err = loadHostile(path)
		}
		mu.Lock()
		defer mu.Unlock()
		counts[what]++
		if err == nil {
			os.Remove(path)
			return
		}
		text := err.Error()
		if !strings.Contains(text, name) || strings.Contains(text, "goroutine ") || strings.Contains(text, "panic") || strings.ContainsAny(text, "\n\r") || len(text) > 2000 {
			t.Errorf("%s, %d, %s: no clear error that names the file: %q", s.name, i, how, text)
		}
		if what == "crashed" {
			t.Logf("%s, %d, %s: %s", s.name, i, how, text)
			_, kind, _ := strings.Cut(text, "llama.cpp ")
			crashes[s.name+" "+strings.Replace(kind, " when the file was tried out", "", 1)]++
		}
		os.Remove(path)
	}
	work := make(chan int)
	var wg sync.WaitGroup
	if count > 1000 { // a process takes 20 ms of a core, and waits for it far longer where others compute too
		turn := trials.turn
		trials.turn = make(chan struct{}, 4*runtime.NumCPU())
		defer func() { trials.turn = turn }()
	}
	for range 4 * runtime.NumCPU() {
		wg.Go(func() {
			for i := range work {
				one(i)
			}
		})
	}
	for i := range count {
		work <- i
	}
	close(work)
	wg.Wait()
	t.Logf("%d files: %v", count, counts)
	for _, c := range slices.Sorted(maps.Keys(crashes)) {
		t.Logf("%4d × %s", crashes[c], c)
	}
	for _, what := range []string{"refused in Go", "loaded"} {
		if counts[what] == 0 {
			t.Errorf("%s: none of %d files; the damage is not of all kinds", what, count)
		}
	}
	if n := counts["failed after a trial that did not"]; n > 0 {
		t.Errorf("%d files failed only after their trial", n)
	}
}

// A file may say that it was trained for two tokens, which is less than the sequences that are to run. llama.cpp ends the
// process over a batch without room for one token of each.
func TestTinyContext(t *testing.T) {
	m := load(t, randomModel(t, models.RandomOptions{Context: 2}), LoadOptions{})
	c, err := m.NewContext(backend.ContextParams{MaxSeqs: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var b backend.Batch
	for seq := range int32(4) {
		b.Add(seq, 0, 5, true)
	}
	if err := c.Decode(t.Context(), &b); err != nil {
		t.Error(err)
	}
}
