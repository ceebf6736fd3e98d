//go:build !linux

package bench

import (
	"runtime"
	"time"
)

// lockThread locks the goroutine to its thread until the returned function is
// called.
func lockThread() func() {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// threadCPU is not available on these systems; the summary omits it.
func threadCPU() time.Duration { return 0 }

// residentBytes returns the memory that the Go runtime holds, as the system's own
// figure is not available.
func residentBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// peakResidentBytes returns the memory obtained from the system so far.
func peakResidentBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
