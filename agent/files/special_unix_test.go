//go:build unix

package files

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestSpecialFiles checks that special files are refused without blocking.
func TestSpecialFiles(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": "inside\n", "sub/": "", "link": "->pipe"})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := open(t, dir, Options{Time: time.Hour}) // blocking would exceed the time limit of the test
	for _, c := range []struct{ path, read, list string }{
		{"pipe", "is a pipe; only regular files", "is a pipe; only regular files"},
		{"link", "is a pipe; only regular files", "is a pipe; only regular files"},
		{"sock", "is a socket; only regular files", "is a socket; only regular files"},
		{"sub", "is a folder; list_dir", "the folder is empty"},
	} {
		check(t, "read "+c.path, call(b, "read_file", "path", c.path), "..."+c.read)
		check(t, "list "+c.path, call(b, "list_dir", "path", c.path), "..."+c.list)
	}
	check(t, "list", call(b, "list_dir"), "a.txt (7 bytes)\nlink (link to a pipe)\npipe (pipe)\nsock (socket)\nsub/")
	check(t, "grep", call(b, "grep_files", "pattern", "."), "a.txt:1: inside")
	check(t, "grep", call(b, "grep_files", "pattern", ".", "glob", "pipe"), "...there is no text file that fits")
	check(t, "glob", call(b, "glob_files", "pattern", "{pipe,sock}"), "pipe\nsock")
	check(t, "glob", call(b, "glob_files", "pattern", "pipe/*"), "...is a pipe; only regular files")
	devices := open(t, "/dev", Options{Time: time.Hour})
	for _, name := range []string{"zero", "null", "random", "tty"} {
		if _, err := os.Lstat("/dev/" + name); err == nil {
			check(t, "/dev/"+name, call(devices, "read_file", "path", name), "...is a device; only regular files")
			check(t, "/dev/"+name, call(devices, "grep_files", "pattern", ".", "glob", name), "...there is no text file that fits")
		}
	}
}

// TestExchangedForPipe reads a file that is repeatedly replaced by a pipe and back.
// The pipe has no writer, so a blocking open would hang until the test is stopped.
func TestExchangedForPipe(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": "inside\n"})
	file, pipe, spare := filepath.Join(dir, "a.txt"), filepath.Join(dir, "pipe"), filepath.Join(dir, "spare")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	b := open(t, dir, Options{})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Rename(file, spare)
			os.Rename(pipe, file)
			os.Rename(file, pipe)
			os.Rename(spare, file)
		}
	})
	seen := map[string]bool{}
	for range 3000 {
		got := call(b, "read_file", "path", "a.txt")
		for _, word := range []string{"inside", "pipe", "there is no"} {
			if strings.Contains(got, word) {
				seen[word] = true
				got = ""
			}
		}
		if got != "" {
			t.Fatal(got)
		}
		call(b, "grep_files", "pattern", "x")
	}
	close(stop)
	wg.Wait()
	if !seen["inside"] || !seen["pipe"] {
		t.Logf("only %v were come by", seen)
	}
}
