//go:build llama && cgo && !linux

package llama

import (
	"io/fs"
	"syscall"
	"time"
)

// signalCPU stands for none: only Linux limits the time to compute.
const signalCPU = syscall.Signal(-1)

// inode would tell a file from another one that took its place.
func inode(fs.FileInfo) string { return "" }

// limitProcess limits nothing: what has no end is ended by the clock.
func limitProcess(int64, time.Duration) error { return nil }
