package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/cmd/stencil/config"
)

// TestLlamaServerOptions checks that every option of llama-server b11434 is either accepted, so that the flags it is replaced
// by exist and accept its value, or an error that says what to use instead. testdata/llama-server-options.txt lists the
// options, one per line: their names, and a valid value, "-" if they take none.
func TestLlamaServerOptions(t *testing.T) {
	text, err := os.ReadFile("testdata/llama-server-options.txt")
	if err != nil {
		t.Fatal(err)
	}
	instead := regexp.MustCompile(`^llama-server's option (\S+) is not one of stencil's: \S.{10,}$`)
	taken, refused := 0, 0
	for line := range strings.Lines(string(text)) {
		names, value, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			t.Fatalf("%q", line)
		}
		for name := range strings.FieldsSeq(names) {
			args := []string{"serve", name}
			if value != "-" {
				args = append(args, value)
			}
			got, err := config.LlamaServer(args)
			if err != nil {
				if m := instead.FindStringSubmatch(err.Error()); m == nil || m[1] != name {
					t.Errorf("%s: %v", name, err)
				}
				refused++
				continue
			}
			taken++
			if name == "-h" || name == "--help" || name == "--version" {
				continue // these flags exist in every command
			}
			cmd := newServeCommand()
			if err := cmd.ParseFlags(got[1:]); err != nil || len(cmd.Flags().Args()) > 0 {
				t.Errorf("%s: %q: %v", name, got, err)
			}
		}
	}
	if taken < 200 || refused < 100 {
		t.Errorf("%d taken, %d refused", taken, refused)
	}
	t.Logf("%d taken, %d refused by name", taken, refused)
}

var optionName = regexp.MustCompile(`(?:^|, )(--?[a-zA-Z0-9][^ ,]*)`)

// TestLlamaServerOptionsListed checks the list of options against llama-server's README, in the source folder
// STENCIL_TEST_LLAMACPP.
func TestLlamaServerOptionsListed(t *testing.T) {
	source := os.Getenv("STENCIL_TEST_LLAMACPP")
	if source == "" {
		t.Skip("llama.cpp's source is read only where STENCIL_TEST_LLAMACPP names it")
	}
	readme, err := os.ReadFile(filepath.Join(source, "tools", "server", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/llama-server-options.txt")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for line := range strings.Lines(string(readme)) {
		row, ok := strings.CutPrefix(line, "| `-")
		if !ok {
			continue
		}
		head, _, _ := strings.Cut("-"+row, "`")
		for _, m := range optionName.FindAllStringSubmatch(head, -1) {
			want = append(want, m[1])
		}
	}
	for line := range strings.Lines(string(text)) {
		names, _, _ := strings.Cut(line, "\t")
		for name := range strings.FieldsSeq(names) {
			got = append(got, name)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d options in the README, %d in the list", len(want), len(got))
	}
}
