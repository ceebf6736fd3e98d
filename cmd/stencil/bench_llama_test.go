//go:build llama && cgo

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBenchCommand checks that the command measures all modes, including llama.cpp's
// grammar sampler, and writes all requested files.
func TestBenchCommand(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if _, _, err := run(t, "mkmodel", path("m.gguf")); err != nil {
		t.Fatal(err)
	}
	out, _, err := run(t, "bench", "--model", path("m.gguf"), "--threads", "1", "--context", "512", "--cases", "calls", "--parallel", "1,2", "--temperature", "1",
		"--max-tokens", "300", "--rounds", "2",
		"--documents", "1", "--json", path("r.json"), "--benchstat", path("r.txt"), "--plot", path("r.svg"), "--trace", path("t.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"free", "mask", "forced", "gbnf", "judged", "llama.cpp", "calls", "forward"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	var result struct{ Results []struct{ Tokens int } }
	var trace struct{ TraceEvents []struct{ Name string } }
	for name, into := range map[string]any{"r.json": &result, "t.json": &trace} {
		data, err := os.ReadFile(path(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if len(result.Results) != 2*6 || result.Results[0].Tokens == 0 || len(trace.TraceEvents) < 100 {
		t.Errorf("%d results, %d events", len(result.Results), len(trace.TraceEvents))
	}
	out, _, err = run(t, "bench", "--model", path("m.gguf"), "--threads", "1", "--context", "512", "--cases", "calls", "--parallel", "1", "--modes", "mask",
		"--temperature", "1", "--max-tokens", "300", "--rounds", "1", "--documents", "1", "--json", "-")
	if err != nil || json.Unmarshal([]byte(out), &result) != nil || len(result.Results) != 1 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, name := range []string{"r.txt", "r.svg"} {
		if info, err := os.Stat(path(name)); err != nil || info.Size() < 500 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
