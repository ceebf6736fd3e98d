//go:build llama && cgo

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/internal/mutants"
	"github.com/stencil-json/stencil/models"
)

// The test binary runs itself for trials, like stencil.
func init() {
	trialMain = func() {
		if len(os.Args) > 1 && os.Args[1] == llama.TrialCommand {
			main()
			os.Exit(0)
		}
	}
}

// TestServeHostileModel checks that a file in --models that crashes the process that
// loads it does not end the server.
func TestServeHostileModel(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.gguf"), filepath.Join(dir, "bad.gguf")
	if _, _, err := run(t, "mkmodel", good); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, "mkmodel", bad, "--arch", "granitehybrid"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(bad)
	if err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(dir, "whole.gguf")
	if err := os.WriteFile(whole, data, 0o644); err != nil {
		t.Fatal(err)
	}
	const key = "granitehybrid.ssm.inner_size"
	data[bytes.Index(data, []byte(key))+len(key)+4] = 7 // after the type; llama.cpp asserts the value
	if err := os.WriteFile(bad, data, 0o644); err != nil {
		t.Fatal(err)
	}

	url, stopped := serveModels(t, good, dir)
	for _, c := range []struct {
		model, text string
		status      int
	}{
		{"bad", `the model \"bad\" can't be loaded: its file is damaged`, http.StatusUnprocessableEntity},
		{"good", `"text"`, http.StatusOK},
		{"whole", `"text"`, http.StatusOK},
	} {
		resp, err := http.Post(url+"/generate", "application/json", strings.NewReader(`{"model": "`+c.model+`", "prompt": "x", "max_tokens": 3}`))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || !strings.Contains(string(text), c.text) {
			t.Errorf("%s: %d %s %v", c.model, resp.StatusCode, text, err)
		}
	}
	if err := stopped(); err != nil {
		t.Errorf("serve: %v", err)
	}
}

// serveModels runs serve with a folder of models, and returns where it is and what ends it.
func serveModels(t *testing.T, model, dir string, more ...string) (url string, stopped func() error) {
	t.Helper()
	url, stopped = serveWith(t, append([]string{"--model", model, "--models", dir}, more...)...)
	if url == "" {
		t.Fatalf("serve did not say where: %v", stopped())
	}
	return url, stopped
}

// serveWith runs serve with some arguments; url is empty if it ended at once.
func serveWith(t *testing.T, args ...string) (url string, stopped func() error) {
	t.Helper()
	t.Setenv("STENCIL_THREADS", "1")
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	read, write := io.Pipe()
	cmd := newRootCommand()
	cmd.SetArgs(append([]string{"serve", "--port", "0", "--log-level", "error"}, args...))
	cmd.SetErr(io.Discard)
	cmd.SetOut(write)
	served := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		write.Close()
		served <- err
	}()
	for lines := bufio.NewScanner(read); url == "" && lines.Scan(); {
		if _, after, ok := strings.Cut(lines.Text(), " on http"); ok {
			url = "http" + after
		}
	}
	go io.Copy(io.Discard, read)
	return url, func() error { stop(); return <-served }
}

// TestServeMutants has damaged files inspected, and asked for at a server that answers others meanwhile. What is refused says why.
func TestServeMutants(t *testing.T) {
	count, first := mutantCount(t, "STENCIL_MUTANTS", 60)
	m := mutantFiles{first: first, counts: map[string]int{}}
	for _, a := range models.Architectures() {
		var b bytes.Buffer
		if err := models.Random(&b, models.RandomOptions{Arch: a.Name}); err != nil {
			t.Fatal(err)
		}
		m.seeds = append(m.seeds, mutantSeed{a.Name, b.Bytes(), mutants.Parts(b.Bytes())})
	}
	const batch = 250 // files that a server finds in its folder
	for from := 0; from < count && !t.Failed(); from += batch {
		m.serve(t, from, min(from+batch, count))
		if count > batch {
			t.Logf("%d files: %v", min(from+batch, count), m.counts)
		}
	}
	if m.counts["200"] == 0 || m.counts["422"] == 0 || m.counts["inspect refuses"] == 0 {
		t.Errorf("the damage is not of all kinds: %v", m.counts)
	}
}

// mutantCount returns how many mutants a variable asks for, and the seed of the first.
func mutantCount(t *testing.T, variable string, otherwise int) (count int, first uint64) {
	s := os.Getenv(variable)
	if s == "" {
		return otherwise, 1
	}
	count, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	os.Unsetenv(variable) // serve knows no such variable
	return count, uint64(time.Now().UnixNano())
}

// TestServeLoRAMutants has damaged adapters inspected, and served with a model. Where a server starts, it answers at
// every scale; otherwise it says which file is at fault.
func TestServeLoRAMutants(t *testing.T) {
	count, first := mutantCount(t, "STENCIL_LORA_MUTANTS", 12)
	dir := t.TempDir()
	var b bytes.Buffer
	if err := models.Random(&b, models.RandomOptions{}); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "model.gguf")
	if err := os.WriteFile(model, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	whole := writeLoRA(t)
	parts := mutants.Parts(whole)
	counts := map[string]int{}
	for i := -1; i < count; i++ { // the first is whole
		data, how := whole, "whole"
		if i >= 0 {
			data, how = mutants.Mutate(rand.New(rand.NewPCG(first, uint64(i))), whole, parts)
		}
		how = fmt.Sprintf("%d, seed %d, %s", i, first, how)
		name := fmt.Sprintf("adapter%d.gguf", i)
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		clear := func(err error) {
			text := err.Error()
			if !strings.Contains(text, name) || strings.Contains(text, "goroutine ") || strings.Contains(text, "panic") || len(text) > 2000 {
				t.Errorf("%s: no clear error that names the file: %q", how, text)
			}
		}
		if _, _, err := run(t, "inspect", path); err != nil {
			counts["inspect refuses"]++
			clear(err)
		}
		url, stopped := serveWith(t, "--model", model, "--lora", path)
		if url == "" {
			counts["serve refuses"]++
			clear(stopped())
		} else {
			counts["served"]++
			for _, scale := range []string{"1", "0.5", "0", "-3"} {
				for _, c := range [][2]string{{"/lora-adapters", `[{"id": 0, "scale": ` + scale + `}]`}, {"/generate", `{"prompt": "x", "max_tokens": 3}`}} {
					resp, err := http.Post(url+c[0], "application/json", strings.NewReader(c[1]))
					if err != nil {
						t.Fatalf("%s: the server is gone: %v", how, err)
					}
					text, err := io.ReadAll(resp.Body)
					resp.Body.Close()
					if err != nil {
						t.Fatalf("%s: %v", how, err)
					}
					counts[fmt.Sprintf("%s %d", c[0], resp.StatusCode)]++
					// Weights that are no numbers any more give logits that are none.
					if resp.StatusCode != http.StatusOK && !strings.Contains(string(text), "logits") {
						t.Errorf("%s: scale %s: %s: %d %s", how, scale, c[0], resp.StatusCode, text)
					}
				}
			}
			if err := stopped(); err != nil {
				t.Errorf("%s: serve: %v", how, err)
			}
		}
		if i == -1 && counts["/generate 200"] != 4 {
			t.Fatalf("the whole adapter: %v", counts)
		}
		if os.Remove(path); t.Failed() {
			break
		}
		if i%100 == 99 {
			t.Logf("%d adapters: %v", i+1, counts)
		}
	}
	if counts["served"] < 2 || counts["serve refuses"] == 0 || counts["inspect refuses"] == 0 {
		t.Errorf("the damage is not of all kinds: %v", counts)
	}
}

// writeLoRA returns an adapter of random numbers for a random model of the usual size.
func writeLoRA(t *testing.T) []byte {
	t.Helper()
	w := new(models.Writer)
	w.String("general.architecture", "llama")
	w.String("general.type", "adapter")
	w.String("adapter.type", "lora")
	w.Float32("adapter.lora.alpha", 4)
	rng := rand.New(rand.NewPCG(1, 2))
	fill := func(row []float32) {
		for i := range row {
			row[i] = float32(rng.NormFloat64()) / 8
		}
	}
	const rank, width, inner = 4, 64, 192
	for _, err := range []error{
		w.Tensor("blk.0.attn_q.weight.lora_a", models.F32, []int64{width, rank}, fill),
		w.Tensor("blk.0.attn_q.weight.lora_b", models.F32, []int64{rank, width}, fill),
		w.Tensor("blk.1.ffn_up.weight.lora_a", models.F32, []int64{width, rank}, fill),
		w.Tensor("blk.1.ffn_up.weight.lora_b", models.F32, []int64{rank, inner}, fill),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := w.Write(&b, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type mutantSeed struct {
	arch  string
	data  []byte
	parts []mutants.Part
}

// mutantFiles makes damaged files.
type mutantFiles struct {
	seeds []mutantSeed
	first uint64

	mu     sync.Mutex
	counts map[string]int
}

func (m *mutantFiles) count(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[what]++
}

// serve has a server find the files of some numbers in its folder, and asks for each.
func (m *mutantFiles) serve(t *testing.T, from, to int) {
	dir := t.TempDir()
	defer os.RemoveAll(dir)
	good := filepath.Join(dir, "good.gguf")
	if _, _, err := run(t, "mkmodel", good); err != nil {
		t.Fatal(err)
	}
	how := make([]string, to-from)
	name := func(i int) string { return fmt.Sprintf("mutant%d", i) }
	for i := from; i < to; i++ {
		s := m.seeds[i%len(m.seeds)]
		data, damage := mutants.Mutate(rand.New(rand.NewPCG(m.first, uint64(i))), s.data, s.parts)
		how[i-from] = fmt.Sprintf("%s, %d, seed %d, %s", s.arch, i, m.first, damage)
		path := filepath.Join(dir, name(i)+".gguf")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := run(t, "inspect", path)
		if err == nil {
			continue
		}
		m.count("inspect refuses")
		if text := err.Error(); !strings.Contains(text, name(i)) || strings.Contains(text, "goroutine ") || strings.Contains(text, "panic") {
			t.Errorf("%s: inspect: no clear error that names the file: %q", how[i-from], text)
		}
	}
	url, stopped := serveModels(t, good, dir, "--models-max", "2")
	ask := func(model string) (status int, text string) {
		resp, err := http.Post(url+"/generate", "application/json", strings.NewReader(`{"model": "`+model+`", "prompt": "x", "max_tokens": 2}`))
		if err != nil {
			t.Fatalf("the server is gone: %v", err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Errorf("%s: %v", model, err)
		}
		return resp.StatusCode, string(body)
	}
	work := make(chan int)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range work {
				status, text := ask(name(i))
				m.count(fmt.Sprint(status))
				if status != http.StatusOK && (strings.Contains(text, "internal_error") || !strings.Contains(text, name(i))) {
					t.Errorf("%s: status %d: %.500s", how[i-from], status, text)
				}
			}
		})
	}
	for i := from; i < to; i++ {
		work <- i
	}
	close(work)
	wg.Wait()
	if status, text := ask("good"); status != http.StatusOK {
		t.Errorf("afterwards: %d %s", status, text)
	}
	if err := stopped(); err != nil {
		t.Errorf("serve: %v", err)
	}
}
