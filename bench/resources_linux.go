package bench

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// lockThread locks the goroutine to its thread until the returned function is
// called.
func lockThread() func() {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// threadCPU returns the CPU time that the calling thread has used.
func threadCPU() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// residentBytes returns the resident memory of the process, 0 if unknown.
func residentBytes() int64 { return statusField("VmRSS:") }

// peakResidentBytes returns the peak resident memory of the process.
func peakResidentBytes() int64 { return statusField("VmHWM:") }

// statusField reads a size in kB from /proc/self/status.
func statusField(name string) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		rest, found := bytes.CutPrefix(line, []byte(name))
		if !found {
			continue
		}
		fields := bytes.Fields(rest)
		if len(fields) == 0 {
			return 0
		}
		kb, err := strconv.ParseInt(string(fields[0]), 10, 64)
		if err != nil {
			return 0
		}
		return kb << 10
	}
	return 0
}
