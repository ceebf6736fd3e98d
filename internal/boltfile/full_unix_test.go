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

// childVariable has the test binary make the file that it names, where files can't be large.
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

// Where a file can't be made, as on a disk that gets full in the middle, nothing is left that the next start would take
// for a damaged one.
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
