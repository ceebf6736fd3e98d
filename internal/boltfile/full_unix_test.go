//go:build unix

package boltfile

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// childVariable makes the test binary create the file that it names, with a limit on file sizes.
const childVariable = "STENCIL_BOLTFILE_CHILD"

func TestMain(m *testing.M) {
	path := os.Getenv(childVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit)
	if limit.Cur = 9000; err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	}
	if err == nil {
		_, err = Open(path)
	}
	if err != nil {
		os.Stdout.WriteString(err.Error())
		os.Exit(1)
	}
}

// TestNothingLeft checks that if a file can't be created, for example because the disk becomes full, nothing is left
// that the next start would take for a damaged file.
func TestNothingLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+path)
	if out, err := cmd.Output(); err == nil || !strings.Contains(string(out), "file too large") || !strings.Contains(string(out), path) {
		t.Fatalf("%v %s", err, out)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	write(t, path, 3, 1)
}
