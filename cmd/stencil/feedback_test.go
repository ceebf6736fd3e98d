package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/agent/outcomes"
	"github.com/stencil-json/stencil/server"
)

// TestFeedbackFlag checks where outcomes are stored, and what is logged at the start
// if they can't be.
func TestFeedbackFlag(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	usual := filepath.Join(cache, "stencil", "feedback.db")
	dir := t.TempDir()
	own, broken := filepath.Join(dir, "own.db"), filepath.Join(dir, "broken.db")
	if err := os.WriteFile(broken, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(args ...string) (log string, err error) {
		t.Helper()
		var f feedbackFlags
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.register(flags)
		if err := flags.Parse(args); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		_, closer, err := f.open(server.Config{}, slog.New(slog.NewTextHandler(&b, nil)))
		if err == nil {
			closer()
		}
		return b.String(), err
	}
	there := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	for _, off := range [][]string{{"--feedback", "off"}, {"--feedback="}} {
		if log, err := open(off...); err != nil || log != "" || there(usual) {
			t.Errorf("%v: %q %v", off, log, err)
		}
	}
	if log, err := open("--feedback", own); err != nil || log != "" || !there(own) || there(usual) {
		t.Errorf("a file: %q %v", log, err)
	}
	if log, err := open(); err != nil || log != "" || !there(usual) {
		t.Errorf("the usual file: %q %v", log, err)
	}
	if _, err := open("--feedback", broken); err == nil || !strings.Contains(err.Error(), broken) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a broken file: %v", err)
	}
	for _, path := range []string{own, usual} {
		s, err := outcomes.Open(path, outcomes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
	}
	if _, err := open("--feedback", own); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a file that is in use: %v", err)
	}
	// The default file, in use by another server on this machine.
	if log, err := open(); err != nil || !strings.Contains(log, "outcomes are not stored") || !strings.Contains(log, "another process") {
		t.Errorf("the usual file in use: %q %v", log, err)
	}
}
