//go:build llama && cgo

package llama

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unsafe"

	"stencil/backend"
)

var kinds = map[C.int32_t]string{
	C.GGML_BACKEND_DEVICE_TYPE_CPU:   "cpu",
	C.GGML_BACKEND_DEVICE_TYPE_GPU:   "gpu",
	C.GGML_BACKEND_DEVICE_TYPE_IGPU:  "igpu",
	C.GGML_BACKEND_DEVICE_TYPE_ACCEL: "accel",
}

// Devices lists what layers can be put on, the CPU included. Sizes of memory
// are those of the moment.
func Devices() ([]backend.Device, error) {
	start()
	return devices(), nil
}

func devices() []backend.Device {
	var out []backend.Device
	var d C.struct_stencil_device
	cpu := false
	for i := C.size_t(0); bool(C.stencil_device_get(i, &d)); i++ {
		kind := kinds[d._type]
		if kind == "cpu" {
			// The first is in force; a built-in one after it is not used.
			if cpu {
				continue
			}
			cpu = true
		}
		if m, ok := systemMemory(); ok && kind == "cpu" {
			// ggml counts all memory as free.
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

// gpus lists the GPUs among the devices of these names, all GPUs if there are
// no names.
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

// CPUFeatures returns the instruction sets that the CPU kernels in force use,
// such as "SSE3 AVX AVX2 FMA".
func CPUFeatures() string {
	start()
	var buf [1024]C.char
	C.stencil_features(&buf[0], C.size_t(len(buf)))
	return C.GoString(&buf[0])
}

// LoadBackends loads the dynamic back ends of ggml that are in the folder dir
// and work on this machine. A folder that does not exist is no error: nothing
// was built. Call it once, before the first model is loaded. It returns the
// libraries that were found, such as "CUDA".
func LoadBackends(dir string) ([]string, error) {
	start()
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("llama: back ends: %w", err)
	case !st.IsDir():
		return nil, fmt.Errorf("llama: back ends: %s is not a folder", dir)
	}
	before := int(C.ggml_backend_reg_count())
	cdir := C.CString(dir)
	defer C.free(unsafe.Pointer(cdir))
	C.stencil_load_backends(cdir)
	var found []string
	for i := before; i < int(C.ggml_backend_reg_count()); i++ {
		name := C.GoString(C.ggml_backend_reg_name(C.ggml_backend_reg_get(C.size_t(i))))
		found = append(found, strings.TrimSpace(name))
	}
	return found, nil
}
