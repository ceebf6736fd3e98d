//go:build unix

package console

import (
	"os"
	"syscall"
)

// Lock prevents other processes from locking the same file. The lock is released
// with the process at the latest.
func Lock(f *os.File) (unlock func(), err error) {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, err
	}
	return func() { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }, nil
}

// FreeBytes returns the free space of a file's disk in bytes.
func FreeBytes(f *os.File) (n int64, ok bool) {
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &st); err != nil {
		return 0, false
	}
	return int64(min(st.Bavail, 1<<40)) * int64(st.Bsize), true
}
