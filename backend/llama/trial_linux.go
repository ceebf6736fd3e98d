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

// signalCPU ends a process that exceeds its CPU time limit.
const signalCPU = syscall.SIGXCPU

// inode distinguishes a file from one that replaced it, and from earlier versions
// of itself.
func inode(st fs.FileInfo) string {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(s.Dev, s.Ino, s.Ctim)
}

// limitProcess limits the process from now on: the given number of bytes of
// address space, including mapped weights, and CPU time. It disables core files.
func limitProcess(bytes int64, cpu time.Duration) error {
	if m, ok := systemMemory(); ok && (bytes < 0 || bytes > 2*m.total) {
		bytes = 2 * m.total // the number overflowed, or nearly
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
		// Go doesn't raise limits back, and a lower existing limit stays.
		limit := min(l.limit, old.Max)
		if err := syscall.Setrlimit(l.what, &syscall.Rlimit{Cur: limit, Max: old.Max}); err != nil {
			return os.NewSyscallError("setrlimit", err)
		}
	}
	return nil
}

// addressSpace returns the bytes of address space in use.
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
