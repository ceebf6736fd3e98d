//go:build llama && cgo && !linux

package llama

import (
	"io/fs"
	"syscall"
	"time"
)

// signalCPU is unused here: only Linux limits CPU time.
const signalCPU = syscall.Signal(-1)

// inode returns "": files are identified by size and time alone.
func inode(fs.FileInfo) string { return "" }

// limitProcess does nothing; the wall time limit still applies.
func limitProcess(int64, time.Duration) error { return nil }
