//go:build !linux

package bench

import (
	"runtime"
	"time"
)

// lockThread ties the goroutine to its thread until the returned function is
// called.
func lockThread() func() {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// threadCPU is not measured here; the summary leaves the line out.
func threadCPU() time.Duration { return 0 }

// residentBytes returns what the Go heap and stacks hold, for want of the
// system's own figure.
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
