// Package shared finds test data that are stored next to the repository: real
// vocabularies, and third-party test suites and corpora. Only tests import it. If
// data are missing, the test is skipped with a message that names them.
package shared

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ulikunitz/xz"
)

// Path returns the path of a file in the folder of shared data, which need not
// exist.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	return filepath.Join(append([]string{moduleRoot(t), "..", "shared"}, elem...)...)
}

// moduleRoot returns the folder of the repository.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = parent
	}
}

// File is like [Path], but skips the test if the file does not exist.
func File(t testing.TB, elem ...string) string {
	t.Helper()
	name := Path(t, elem...)
	if _, err := os.Stat(name); err != nil {
		if _, ok := t.(*testing.B); ok { // go test says nothing of benchmarks that are skipped
			fmt.Fprintf(os.Stderr, "%s is skipped: shared data are not there: %v\n", t.Name(), err)
		}
		t.Skipf("shared data are not there: %v", err)
	}
	return name
}

// Members calls visit for each file in a .tar.xz of the shared data, with its
// slash-separated name. visit may keep data.
func Members(t testing.TB, archive string, visit func(name string, data []byte)) {
	t.Helper()
	f, err := os.Open(File(t, filepath.FromSlash(archive)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := xz.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for members := tar.NewReader(unpacked); ; {
		h, err := members.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(members)
		if err != nil {
			t.Fatal(err)
		}
		visit(h.Name, data)
	}
}
