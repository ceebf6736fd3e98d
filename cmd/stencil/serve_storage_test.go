package main

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server"
)

// A file that was named is counted on: a server that can't write to it does not start, and says what would do. A cache is
// only a cache, so that without it the answers go on; the log says so, and so do the metrics.
func TestUnwritable(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full and /sys")
	}
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	srv := server.New(server.Config{})
	for _, path := range []string{"/dev/full", "/sys/f"} { // a full disk, a folder that can't be written
		if _, _, err := (&feedbackFlags{path: path, given: true}).open(server.Config{}, log); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "with --feedback off") {
			t.Errorf("--feedback %s: %v", path, err)
		}
		if _, err := openResponses(server.New(server.Config{ResponsesFile: path}), log); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "without --responses-store") {
			t.Errorf("--responses-store %s: %v", path, err)
		}
	}
	prompts := promptFlags{dir: "/sys/stencil-test", bytes: 1 << 20}
	closePrompts, err := prompts.open(srv, new(engine.Config), log)
	if err != nil {
		t.Fatal(err)
	}
	defer closePrompts()
	if !strings.Contains(text.String(), "--prompt-cache can't be written") {
		t.Errorf("the log does not say that --prompt-cache failed: %s", text.String())
	}
	checkStores(t, srv, `stencil_store_open{store="prompts"} 0`)
}

func checkStores(t *testing.T, srv *server.Server, want ...string) {
	t.Helper()
	w := httptest.NewRecorder()
	srv.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/metrics", nil))
	for _, line := range want {
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("the metrics lack %s: %d", line, w.Code)
		}
	}
}

// TestDamagedStores checks that the server does not start with a damaged file, which its owner has to repair or move.
func TestDamagedStores(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(strings.Repeat("something else ", 3000)), 0o600); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	feedback := feedbackFlags{path: path, given: true}
	if _, _, err := feedback.open(server.Config{}, log); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("--feedback: %v", err)
	}
	srv := server.New(server.Config{ResponsesFile: path})
	if _, err := openResponses(srv, log); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("--responses-store: %v", err)
	}
}

// TestHomeless checks that there is no default file for feedback without a home folder that can be written.
func TestHomeless(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	for _, home := range []string{"", file, "/dev/null"} {
		t.Setenv("HOME", home)
		var text bytes.Buffer
		srv, closeFeedback, err := new(feedbackFlags).open(server.Config{}, slog.New(slog.NewTextHandler(&text, nil)))
		if err != nil {
			t.Errorf("%q: %v", home, err)
			continue
		}
		if !strings.Contains(text.String(), "outcomes are not stored") {
			t.Errorf("%q: the log says %q", home, text.String())
		}
		checkStores(t, srv, `stencil_store_open{store="feedback"} 0`)
		closeFeedback()
	}
}
