//go:build llama && cgo && !linux

package llama

import (
	"runtime"
	"time"
)

// A loadMeter would say how many cores other programs leave.
type loadMeter struct{}

func newLoadMeter() *loadMeter { return &loadMeter{} }

func (m *loadMeter) close() {}

// free says that nobody else uses a core.
func (m *loadMeter) free(time.Time) (cores float64, fresh bool) {
	return float64(runtime.NumCPU()), false
}
