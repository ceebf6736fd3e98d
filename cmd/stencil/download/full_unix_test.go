//go:build unix

package download

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// fullVariable makes TestPullFullDisk run in this process, whose writes to files can be made to fail.
const fullVariable = "STENCIL_FULL_DISK_CHILD"

// TestPullFullDisk checks that a download which fills the disk ends with an error that says so, keeps what has arrived,
// and goes on from there once there is room. A limit on the size of files stands for the full disk.
func TestPullFullDisk(t *testing.T) {
	if os.Getenv(fullVariable) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPullFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), fullVariable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestPullFullDisk") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	most := limit.Cur
	const room = 700_000
	limit.Cur = room
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	content := randomContent(3, 1_000_000)
	files := &fileServer{content: content, etag: `"a"`}
	srv := httptest.NewServer(files)
	defer srv.Close()
	dir := t.TempDir()
	for range 2 { // the second run finds the disk as full
		_, target, err := fetch(t, srv.URL+"/m.gguf", dir, sumOf(content))
		if !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), target) {
			t.Errorf("the error is %v", err)
		}
		absent(t, target)
		part, err := os.ReadFile(target + ".part")
		if err != nil || !bytes.Equal(part, content[:room]) {
			t.Errorf("%d bytes of %d are kept: %v", len(part), room, err)
		}
	}
	limit.Cur = most
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	_, target, err := fetch(t, srv.URL+"/m.gguf", dir, sumOf(content))
	if err != nil {
		t.Fatal(err)
	}
	whole(t, target, content)
	if got := files.ranges(); len(got) != 3 || got[1] != "bytes=700000-" || got[2] != "bytes=700000-" {
		t.Errorf("asked for %q", got)
	}
}
