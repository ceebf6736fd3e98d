package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

func TestEvalArms(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var asked atomic.Int32
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"data": [{"id": "m"}]}`)
			return
		}
		asked.Add(1)
		fmt.Fprint(w, `{"choices": [{"message": {"content": "{\"name\": \"Bob\", \"age\": 5}"}}], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}`)
	}))
	defer far.Close()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	receipt := `{"id": "%d", "text": "Bob 5", "want": {"company": "Bob", "date": "5", "address": "x", "total": "5"}}` + "\n"
	if err := os.WriteFile(path("receipts.jsonl"), []byte(fmt.Sprintf(receipt+receipt, 1, 2)), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"eval", "--sets", "json-libraries,receipts", "--data", dir, "--arm", "one=" + far.URL, "--arm", "two=" + far.URL + `/v1,{"mode": "free", "seed": 5}`, "--out", path("out"), "--json", path("json"), "--html", path("html")}
	out, _, err := run(t, args...)
	if err != nil || asked.Load() != 18 || !strings.Contains(out, "json-libraries  two  7      100.0 (100.0–100.0)") || !strings.Contains(out, "Differences to one") {
		t.Fatalf("%d asked, %v\n%s", asked.Load(), err, out)
	}
	for name, want := range map[string]string{"json": `"base": "one"`, "html": "<svg", "out": `"arm":"two"`} {
		if text, err := os.ReadFile(path(name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	// The rest of an interrupted run, with a partial last line.
	text, err := os.ReadFile(path("out"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("out"), text[:len(text)-20], 0o666); err != nil {
		t.Fatal(err)
	}
	if again, _, err := run(t, append(args, "--base", "two")...); err != nil || asked.Load() != 19 || !strings.Contains(again, "Differences to two") {
		t.Errorf("%d asked, %v\n%s", asked.Load(), err, again)
	}
	// A file of cases instead of sets.
	if err := os.WriteFile(path("cases"), []byte(`{"id": "1", "task": "t", "prompt": "x", "schema": {}, "expected": {"name": "Bob", "age": 6}}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, _, err := run(t, "eval", "--arm", "one="+far.URL, path("cases")); err != nil || !strings.Contains(out, "t    one  1      50.0") {
		t.Errorf("%v\n%s", err, out)
	}

	out, _, err = run(t, "eval", "sets", "--data", dir)
	if err != nil || !strings.Contains(out, "2 cases\n  receipts.jsonl  present") || !strings.Contains(out, "openai/grade-school-math") || !strings.Contains(out, "missing") || !strings.Contains(out, "SHA-256 5214") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, _, err := run(t, "eval", "--arm", "one="+far.URL, path("cases"), "--json", "-"); err != nil || !json.Valid([]byte(out)) || !strings.Contains(out, `"base": "one"`) {
		t.Errorf("%v\n%s", err, out)
	}
	one := "one=" + far.URL
	for want, args := range map[string][]string{
		"either CASES.jsonl or --sets": {"--arm", one}, "CASES.jsonl is missing": {}, "--sets needs --arm": {"--sets", "news"}, "--modes cannot be combined": {"--arm", one, "--modes", "repaired", "--sets", "news"},
		"two arms are named one": {"--arm", one, "--arm", one, "--sets", "news"}, "no arm is named x": {"--arm", one, "--base", "x", "--sets", "news"}, "no set \"x\"": {"--arm", one, "--sets", "x"},
		"mhjabreel/CharCnn_Keras": {"--arm", one, "--sets", "news"}, "NAME=URL": {"--arm", "x", "--sets", "news"}, "-1 is negative": {"--arm", one, "--sets", "news", "--limit", "-1"},
		"is given twice": {"--arm", one, "--sets", "json-mode,json-mode"}, "schema, which json-mode": {"--arm", one + `,{"mode": "tools"}`, "--sets", "json-mode"},
	} {
		if out, _, err := run(t, append([]string{"eval"}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}
