//go:build unix

package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stencil-json/stencil/cmd/stencil/console"
	"github.com/stencil-json/stencil/vocab"
)

// TestPullNoModel checks that a file that does not start like a model is not written
// to disk.
func TestPullNoModel(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
				return
			}
		}
	}))
	defer h.Close()
	dir := t.TempDir()
	_, _, err := run(t, "pull", h.URL+"/endless.gguf", "--out", dir)
	if err == nil || !strings.Contains(err.Error(), "does not send a GGUF file") {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// TestPullNoRoom checks that a file that is larger than any disk is refused before
// anything is written.
func TestPullNoRoom(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "4611686018427387904")
		w.Write([]byte("GGUF"))
	}))
	defer h.Close()
	_, _, err := run(t, "pull", h.URL+"/huge.gguf", "--out", t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "free on the disk") {
		t.Errorf("error %v", err)
	}
}

// TestPipeAsModel checks that pipes are refused: opening one would block and ignore
// signals.
func TestPipeAsModel(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.gguf")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{{"inspect", pipe}, {"generate", "--model", pipe, "--prompt", "x"}, {"serve", "--model", pipe, "--port", "0"}} {
		if _, _, err := run(t, args...); err == nil || !strings.Contains(err.Error(), "pipe") {
			t.Errorf("%v: %v", args, err)
		}
	}
	if _, err := vocab.Load(pipe); err == nil {
		t.Error("a pipe is a vocabulary")
	}
}

// TestPlainWriter checks that untrusted text can't control the terminal.
func TestPlainWriter(t *testing.T) {
	var b bytes.Buffer
	if _, err := (console.Writer{Writer: &b}).Write([]byte("a\x1b[31mb\x07\u202ec\xff\td\n")); err != nil || b.String() != "a [31mb  c\uFFFD\td\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
