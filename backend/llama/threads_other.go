//go:build !linux

package llama

import (
	"runtime"
	"time"
)

// defaultThreads is how many threads decode where nobody has said. What other
// programs use can't be told here, so one core stays free for them.
func defaultThreads() int { return max(1, runtime.GOMAXPROCS(0)-1) }

// A loadMeter would say how many cores other programs leave.
type loadMeter struct{}

func newLoadMeter() *loadMeter { return &loadMeter{} }

func (m *loadMeter) close() {}

// free says that nobody else uses a core.
func (m *loadMeter) free(time.Time) (cores float64, fresh bool) {
	return float64(runtime.NumCPU()), false
}
