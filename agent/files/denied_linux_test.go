package files

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// TestDenied reads without the necessary permissions.
func TestDenied(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": "inside\n", "no.txt": "secret\n", "shut/b.txt": "secret\n"})
	for name, mode := range map[string]os.FileMode{"no.txt": 0, "shut": 0} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "shut"), 0o755) })
	b := open(t, dir, Options{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Root may read everything, so this thread, which ends with the goroutine,
		// accesses files as nobody.
		runtime.LockOSThread()
		if os.Geteuid() == 0 {
			const nobody = 65534
			syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0)
		}
		if f, err := os.Open(filepath.Join(dir, "no.txt")); err == nil {
			f.Close()
			t.Log("files without permissions can be read here")
			return
		}
		check(t, "read", call(b, "read_file", "path", "no.txt"), `error: "no.txt" may not be read: permission denied; go on without it`)
		check(t, "read", call(b, "read_file", "path", "shut/b.txt"), `error: "shut/b.txt" may not be read: permission denied; go on without it`)
		check(t, "list", call(b, "list_dir", "path", "shut"), `error: "shut" may not be read: permission denied; go on without it`)
		check(t, "list", call(b, "list_dir"), "a.txt (7 bytes)\nno.txt (7 bytes)\nshut/")
		check(t, "grep", call(b, "grep_files", "pattern", "s"), "a.txt:1: inside\n[files or folders that can't be read were left out: 2]")
		check(t, "glob", call(b, "glob_files", "pattern", "**"), "a.txt\nno.txt\nshut/\n[files or folders that can't be read were left out: 1]")
	}()
	<-done
}
