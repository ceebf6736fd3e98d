//go:build unix

package main

import (
	"context"
	"os"
	"syscall"
	"time"
)

// lockFile waits until no other process has the file locked. busy is called once if
// it has to wait. The lock is released when the file is closed.
func lockFile(ctx context.Context, f *os.File, busy func()) error {
	for first := true; ; first = false {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EWOULDBLOCK {
			return err
		}
		if first {
			busy()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}
