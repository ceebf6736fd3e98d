//go:build unix

package console

import (
	"os"
	"syscall"
)

// Lock keeps other processes from writing the same file. The lock ends
// with the process.
func Lock(f *os.File) (unlock func(), err error) {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, err
	}
	return func() { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }, nil
}

// FreeBytes returns how much may still be written to the disk of a file.
func FreeBytes(f *os.File) (n int64, ok bool) {
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &st); err != nil {
		return 0, false
	}
	return int64(min(st.Bavail, 1<<40)) * int64(st.Bsize), true
}
