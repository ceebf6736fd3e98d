//go:build llama && cgo

package llama

// #include "shim.h"
import "C"

import (
	"slices"
	"strings"

	"github.com/stencil-json/stencil/backend"
)

var kinds = map[C.int32_t]string{
	C.GGML_BACKEND_DEVICE_TYPE_CPU:   "cpu",
	C.GGML_BACKEND_DEVICE_TYPE_GPU:   "gpu",
	C.GGML_BACKEND_DEVICE_TYPE_IGPU:  "igpu",
	C.GGML_BACKEND_DEVICE_TYPE_ACCEL: "accel",
}

// Devices lists the devices that can hold layers, including the CPU. Memory
// sizes are current values.
func Devices() ([]backend.Device, error) {
	if err := start(); err != nil {
		return nil, err
	}
	return devices(), nil
}

func devices() []backend.Device {
	var out []backend.Device
	var d C.struct_stencil_device
	cpu := false
	for i := C.size_t(0); bool(C.stencil_device_get(i, &d)); i++ {
		kind := kinds[d._type]
		if kind == "cpu" {
			// The first is in use; a built-in one after it is not.
			if cpu {
				continue
			}
			cpu = true
		}
		if m, ok := systemMemory(); ok && kind == "cpu" {
			// ggml reports all memory as free.
			d.free, d.total = C.size_t(m.available), C.size_t(m.total)
		}
		out = append(out, backend.Device{
			Name:        C.GoString(d.name),
			Description: C.GoString(d.description),
			Kind:        kind,
			Library:     C.GoString(d.library),
			MemoryFree:  uint64(d.free),
			MemoryTotal: uint64(d.total),
		})
	}
	return out
}

// gpus lists the GPUs with these names, or all GPUs if names is empty.
func gpus(names []string) []backend.Device {
	var out []backend.Device
	for _, d := range devices() {
		wanted := len(names) == 0 || slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, d.Name) })
		if wanted && (d.Kind == "gpu" || d.Kind == "igpu") {
			out = append(out, d)
		}
	}
	return out
}

// CPUFeatures returns the instruction sets used by the active CPU kernels,
// such as "SSE3 AVX AVX2 FMA", or "" if there are none.
func CPUFeatures() string {
	if start() != nil {
		return ""
	}
	var buf [1024]C.char
	C.stencil_features(&buf[0], C.size_t(len(buf)))
	return C.GoString(&buf[0])
}
