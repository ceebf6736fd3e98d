//go:build llama && cgo

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stencil/engine"
)

func TestGenerateCommand(t *testing.T) {
	dir := t.TempDir()
	model, schema := filepath.Join(dir, "m.gguf"), filepath.Join(dir, "s.json")
	if _, _, err := run(t, "mkmodel", model); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(schema, []byte(`{"type": "object", "properties": {"n": {"type": "integer", "maximum": 9, "minimum": 1}}, "required": ["n"], "additionalProperties": false}`), 0o644); err != nil {
		t.Fatal(err)
	}
	out, figures, err := run(t, "generate", "-m", model, "-t", "1", "--prompt", "Hello", "-n", "10", "--seed", "1")
	if err != nil || len(out) < 2 || !strings.Contains(figures, "tokens/s") || !strings.Contains(figures, "seed 1") {
		t.Errorf("%q, %q, %v", out, figures, err)
	}
	again, _, err := run(t, "generate", "-m", model, "-t", "1", "--prompt", "Hello", "-n", "10", "--seed", "1")
	if err != nil || again != out {
		t.Errorf("the same seed: %q and %q, %v", out, again, err)
	}
	for _, more := range [][]string{nil, {"--chat"}, {"--system", "Be brief."}, {"--prompt", "-"}, {"--no-forced"}} {
		args := append([]string{"generate", "-m", model, "-t", "1", "--prompt", "x", "--schema", schema}, more...)
		out, _, err := run(t, args...)
		if err != nil || !regexp.MustCompile(`^\{"n":[1-9]\}\n$`).MatchString(out) {
			t.Errorf("%q: %q, %v", more, out, err)
		}
	}
	var tooSmall *engine.BudgetError
	if _, _, err := run(t, "generate", "-m", model, "--prompt", "x", "--schema", schema, "-n", "2"); err == nil || !errors.As(err, &tooSmall) {
		t.Errorf("a budget of 2: %v", err)
	}
}

// The curl that serve prints, taken apart and sent, is answered with JSON that
// fits its schema; SIGTERM's context ends the server without an error.
func TestServeCommand(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // where the bundled model is written
	t.Setenv("STENCIL_THREADS", "1")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	read, write := io.Pipe()
	cmd := newRootCommand()
	cmd.SetArgs([]string{"serve", "--port", "0", "--log-level", "error", "--alias", "bundled"})
	cmd.SetOut(write)
	served := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		write.Close()
		served <- err
	}()
	var printed strings.Builder
	lines := bufio.NewScanner(read)
	for lines.Scan() {
		printed.WriteString(lines.Text() + "\n")
		if lines.Text() == "}'" {
			break
		}
	}
	go io.Copy(io.Discard, read)
	match := regexp.MustCompile(`(?s)curl -s (\S+) -d '(.*)'`).FindStringSubmatch(printed.String())
	if match == nil {
		t.Fatalf("serve printed %q", printed.String())
	}
	resp, err := http.Post(match[1], "application/x-www-form-urlencoded", strings.NewReader(match[2])) // as curl sends it
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got struct {
		Model string
		JSON  struct {
			Name string
			Age  *int
			Plan string
		}
		Constraint struct{ Validated bool }
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%d, %v", resp.StatusCode, err)
	}
	if got.Model != "bundled" || got.JSON.Name == "" || got.JSON.Age == nil || !got.Constraint.Validated || !strings.Contains("free pro team", got.JSON.Plan) {
		t.Errorf("%+v", got)
	}
	stop()
	select {
	case err := <-served:
		if err != nil {
			t.Errorf("serve: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("serve did not stop")
	}
}

func TestServePortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var out bytes.Buffer
	cmd := newRootCommand()
	cmd.SetOut(&out)
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	cmd.SetArgs([]string{"serve", "--port", port})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "another port: --port") {
		t.Errorf("%v", err)
	}
}
