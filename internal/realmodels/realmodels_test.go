package realmodels

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// small is a model of a few bytes.
var small = Model{
	Name: "small", File: "small.gguf", Size: 5, InCI: true,
	SHA256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", // of "hello"
}

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), small.File)
	write := func(text string, age time.Duration) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(what, want string) {
		t.Helper()
		if got := fmt.Sprint(small.Check(path)); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %q", what, got, want)
		}
	}
	if err := small.Check(path); !errors.Is(err, ErrMissing) {
		t.Errorf("no file: %v", err)
	}
	write("hello", time.Hour)
	expect("right, no stamp", "<nil>")
	write("jello", time.Hour)
	expect("wrong, no stamp", "the sha256 of "+path+" is ")
	write("hello!", time.Hour)
	expect("too long", "has 6 bytes, want 5")

	if err := small.Stamp(path); err != nil {
		t.Fatal(err)
	}
	write("jello", time.Hour)
	expect("not looked into: the stamp is younger", "<nil>")
	write("hello!", time.Hour)
	expect("too long, with a stamp", "has 6 bytes, want 5")
	write("jello", -time.Hour)
	expect("written after the stamp", "the sha256 of ")
	write("jello", time.Hour)
	if err := os.WriteFile(stampPath(path), []byte(strings.Repeat("0", 64)+"  small.gguf\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	expect("a stamp of another version", "the sha256 of ")

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	expect("a folder", "is not a file")
}

// outcome records how a test that calls Path ends.
type outcome struct {
	testing.TB
	skipped, failed string
}

func (o *outcome) Helper() {}

func (o *outcome) Skipf(format string, args ...any) {
	o.skipped = fmt.Sprintf(format, args...)
	panic(o)
}

func (o *outcome) Fatalf(format string, args ...any) {
	o.failed = fmt.Sprintf(format, args...)
	panic(o)
}

func (o *outcome) Fatal(args ...any) { o.Fatalf("%s", fmt.Sprint(args...)) }

func ask(m Model) (path string, o *outcome) {
	o = new(outcome)
	defer func() {
		if stopped := recover(); stopped != nil && stopped != any(o) {
			panic(stopped)
		}
	}()
	return Path(o, m), o
}

func TestPath(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(folderVariable, dir)
	t.Setenv("CI", "")
	later := small
	later.InCI = false
	if _, o := ask(small); !strings.Contains(o.skipped, "the real model small is not in the cache") || !strings.Contains(o.skipped, "make models") {
		t.Errorf("missing: %+v", o)
	}
	t.Setenv("CI", "true")
	if _, o := ask(small); !strings.Contains(o.failed, "the real model small is not in the cache") {
		t.Errorf("missing on CI: %+v", o)
	}
	if _, o := ask(later); !strings.Contains(o.skipped, "is not in the cache") {
		t.Errorf("missing on CI, which does not fetch it: %+v", o)
	}
	path := filepath.Join(dir, small.File)
	if err := os.WriteFile(path, []byte("jello"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, o := ask(later); !strings.Contains(o.failed, "the sha256 of ") {
		t.Errorf("wrong: %+v", o)
	}
	if err := os.WriteFile(path, []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, o := ask(small); got != path {
		t.Errorf("right: %q, %+v", got, o)
	}
	t.Setenv(folderVariable, "models")
	if _, o := ask(small); !strings.Contains(o.failed, "not an absolute path") {
		t.Errorf("a relative folder: %+v", o)
	}
}

func TestTable(t *testing.T) {
	files := map[string]bool{}
	for _, m := range All() {
		if found, err := Find(strings.ToUpper(m.Name)); err != nil || found.File != m.File {
			t.Errorf("%s: found %q, %v", m.Name, found.File, err)
		}
		if files[m.File] || m.Size < 1 || len(m.SHA256) != 64 || m.SHA256 != strings.ToLower(m.SHA256) || m.Licence == "" || len(m.Packages) == 0 {
			t.Errorf("%s: %+v", m.Name, m)
		}
		files[m.File] = true
		for _, p := range m.Packages {
			if (p.Path == "") != (m.Convert != "") || m.Convert != "" && (len(m.Packages) != 1 || m.Hub != "") {
				t.Errorf("%s: %+v", m.Name, m)
			}
		}
	}
	if _, err := Find("GPT"); err == nil || !strings.Contains(err.Error(), "SmolLM2, Qwen, Gemma, MiniLM") {
		t.Errorf("an unknown name: %v", err)
	}
}
