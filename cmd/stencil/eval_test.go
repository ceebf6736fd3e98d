package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

func TestEval(t *testing.T) {
	var asked atomic.Int32
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if strings.HasSuffix(r.URL.Path, "/chat/completions") {
			fmt.Fprint(w, "{\"choices\": [{\"message\": {\"content\": \"```json\\n{'a': 5}\\n```\"}, \"finish_reason\": \"stop\"}]}")
			return
		}
		fmt.Fprint(w, `{"json": {"a": 5}, "constraint": {"validated": true, "tries": 1}, "usage": {"completion_tokens": 4}}`)
	}))
	defer far.Close()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	cases := `{"id": "1", "task": "sums", "prompt": "x", "schema": {"type": "object", "properties": {"a": {"type": "integer"}}}, "expected": {"a": 5}}
{"id": "2", "task": "sums", "prompt": "y", "schema": {"type": "object"}, "expected": {"a": 6}}
`
	if err := os.WriteFile(path("cases"), []byte(cases), 0o666); err != nil {
		t.Fatal(err)
	}
	out, _, err := run(t, "eval", "--server", far.URL, "--out", path("out"), "--json", path("json"), "--html", path("html"), path("cases"))
	if err != nil || asked.Load() != 4 || !strings.Contains(out, "sums  constrained    2      100.0%  50.0%") {
		t.Fatalf("%d asked, %v\n%s", asked.Load(), err, out)
	}
	for name, want := range map[string]string{"json": `"exact": 1`, "html": "<svg", "out": `"id":"2"`} {
		if text, err := os.ReadFile(path(name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	// An interrupted run, with a partial last line, is continued.
	text, err := os.ReadFile(path("out"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("out"), text[:len(text)-20], 0o666); err != nil {
		t.Fatal(err)
	}
	again, _, err := run(t, "eval", "--server", far.URL, "--out", path("out"), path("cases"))
	if err != nil || asked.Load() != 5 || len(strings.Fields(again)) != len(strings.Fields(out)) {
		t.Errorf("%d asked, %v\n%s", asked.Load(), err, again)
	}
	if text, _ := os.ReadFile(path("out")); strings.Count(string(text), "\n") != 4 {
		t.Errorf("%s", text)
	}
	// With an upstream, through a local server.
	out, _, err = run(t, "eval", "--upstream", far.URL+"/v1", "--upstream-model", "m", "--upstream-capabilities", "none", "--modes", "constrained,repaired", "--log-level", "error", path("cases"))
	if err != nil || !strings.Contains(out, "sums  constrained  2      0.0%") || !strings.Contains(out, "sums  repaired     2      100.0%  50.0%") || !strings.Contains(out, "json_parse 2") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, args := range [][]string{
		{"--modes", "best", path("cases")}, {path("none")}, {"--server", "http://127.0.0.1:1", path("cases")}, {"--upstream", "nowhere", path("cases")},
		{"--upstream", far.URL, "--upstream-engine", "x", path("cases")}, {"--upstream", far.URL, "--upstream-capabilities", "x", path("cases")},
	} {
		if out, _, err := run(t, append([]string{"eval"}, args...)...); err == nil {
			t.Errorf("%v: %s", args, out)
		}
	}
}
