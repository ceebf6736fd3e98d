//go:build llama && cgo && !linux

package llama

import "runtime"

// A loadMeter can't measure other programs on this system.
type loadMeter struct{}

func newLoadMeter() *loadMeter { return &loadMeter{} }

func (m *loadMeter) close() {}

func (m *loadMeter) end() {}

// free returns all cores.
func (m *loadMeter) free(tokens int) (cores float64, fresh bool) {
	return float64(runtime.NumCPU()), false
}
