package files

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// canary is the content outside of the folder, which must never appear in results.
const canary = "canary-7f3a"

// tree creates a folder of files, next to a folder that contains the canary. It
// returns the path of the first, which is called in; the other one is called out. A
// value that starts with "->" creates a link; a name that ends with a slash creates
// a folder.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "in")
	write(t, filepath.Join(top, "out", canary+".txt"), canary+" content\n")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		at := filepath.Join(dir, name)
		target, link := strings.CutPrefix(content, "->")
		switch {
		case strings.HasSuffix(name, "/"):
			if err := os.MkdirAll(at, 0o755); err != nil {
				t.Fatal(err)
			}
		case link:
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(strings.ReplaceAll(target, "TOP", top), at); err != nil {
				t.Fatal(err)
			}
		default:
			write(t, at, content)
		}
	}
	return dir
}

func write(t testing.TB, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string, o Options) *Box {
	t.Helper()
	b, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// call calls a tool with arguments given as pairs of name and value.
func call(b *Box, name string, pairs ...any) string {
	a := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		a[pairs[i].(string)] = pairs[i+1]
	}
	src, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return b.Call(context.Background(), name, src)
}

// check compares a result. If want ends with "...", it is a prefix; if it starts
// with "...", a substring.
func check(t *testing.T, what, got, want string) {
	t.Helper()
	if part, ok := strings.CutPrefix(want, "..."); ok {
		if !strings.Contains(got, part) {
			t.Errorf("%s:\n%s\nwhich has no %q", what, got, part)
		}
		return
	}
	if begin, ok := strings.CutSuffix(want, "..."); ok {
		if !strings.HasPrefix(got, begin) {
			t.Errorf("%s:\n%s\nwhich does not begin with %q", what, got, begin)
		}
		return
	}
	if got != want {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}
