//go:build llama && cgo

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/llama"
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

	t.Setenv("STENCIL_THREADS", "1")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	read, write := io.Pipe()
	cmd := newRootCommand()
	cmd.SetArgs([]string{"serve", "--port", "0", "--log-level", "error", "--model", good, "--models", dir})
	cmd.SetOut(write)
	served := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		write.Close()
		served <- err
	}()
	url := ""
	for lines := bufio.NewScanner(read); url == "" && lines.Scan(); {
		if _, after, ok := strings.Cut(lines.Text(), "Serving good on "); ok {
			url = after
		}
	}
	go io.Copy(io.Discard, read)
	if url == "" {
		t.Fatalf("serve did not say where: %v", <-served)
	}
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
	stop()
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
}
