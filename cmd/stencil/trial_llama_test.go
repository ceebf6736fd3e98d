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
	t.Setenv("STENCIL_THREADS", "1")
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	read, write := io.Pipe()
	cmd := newRootCommand()
	cmd.SetArgs(append([]string{"serve", "--port", "0", "--log-level", "error", "--model", model, "--models", dir}, more...))
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
	if url == "" {
		t.Fatalf("serve did not say where: %v", <-served)
	}
	return url, func() error { stop(); return <-served }
}

// TestServeMutants has damaged files inspected, and asked for at a server that answers others meanwhile. What is refused says why.
func TestServeMutants(t *testing.T) {
	count, first := 60, uint64(1)
	if s := os.Getenv("STENCIL_MUTANTS"); s != "" {
		var err error
		if count, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
		first = uint64(time.Now().UnixNano())
		os.Unsetenv("STENCIL_MUTANTS") // serve knows no such variable
	}
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
