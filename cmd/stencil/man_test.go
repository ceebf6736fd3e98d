package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMan checks that each command has a manual page with its flags.
func TestMan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	root := newRootCommand()
	root.SetArgs([]string{"man", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]string{"stencil.1": "serve", "stencil-serve.1": "model", "stencil-pull.1": "hf:"} {
		text, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Error(err)
		} else if !strings.HasPrefix(string(text), ".") || !strings.Contains(string(text), want) {
			t.Errorf("%s does not speak of %s", page, want)
		}
	}
}
