//go:build llama && cgo

package llama

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// signalCPU ends a process that has computed for too long.
const signalCPU = syscall.SIGXCPU

// inode tells a file from another one that took its place, and from itself
// before it was written to.
func inode(st fs.FileInfo) string {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(s.Dev, s.Ino, s.Ctim)
}

// limitProcess bounds what the process may take from now on: so many bytes of
// address space, weights in mapped files included, and time to compute. It leaves
// no core file.
func limitProcess(bytes int64, cpu time.Duration) error {
	if m, ok := systemMemory(); ok && (bytes < 0 || bytes > 2*m.total) {
		bytes = 2 * m.total // numbers that overflow, or nearly
	}
	used, err := addressSpace()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		what  int
		limit uint64
	}{
		{syscall.RLIMIT_AS, uint64(used + bytes)},
		{syscall.RLIMIT_CPU, uint64(max(cpu, time.Second) / time.Second)},
		{syscall.RLIMIT_CORE, 0},
	} {
		var old syscall.Rlimit
		if err := syscall.Getrlimit(l.what, &old); err != nil {
			return os.NewSyscallError("getrlimit", err)
		}
		// Go raises nothing back, and a limit that is set already stays.
		limit := min(l.limit, old.Max)
		if err := syscall.Setrlimit(l.what, &syscall.Rlimit{Cur: limit, Max: old.Max}); err != nil {
			return os.NewSyscallError("setrlimit", err)
		}
	}
	return nil
}

// addressSpace returns how many bytes of it the process uses.
func addressSpace() (int64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	field := strings.Fields(string(text))
	if len(field) == 0 {
		return 0, errors.New("/proc/self/statm is empty")
	}
	pages, err := strconv.ParseInt(field[0], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
