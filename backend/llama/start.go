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
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"github.com/stencil-json/stencil/backend/llama/internal/capi"
)

// library is llama.cpp as this process has it.
var library struct {
	mu      sync.Mutex
	started bool
	err     error           // why it can't be used
	dir     string          // where it was looked for first
	loaded  map[string]bool // folders whose back ends are loaded
}

// Version returns the version of llama.cpp that this program was built for,
// such as "0.5.0".
func Version() string { return capi.Version() }

// start opens llama.cpp for the whole process, on first use: programs that load
// no model don't pay for it, and work without it.
func start() error {
	library.mu.Lock()
	defer library.mu.Unlock()
	return startFrom("")
}

// startFrom is start with a folder to look into first. library is locked.
func startFrom(dir string) error {
	if library.started {
		return library.err
	}
	library.started, library.loaded, library.dir = true, map[string]bool{}, dir
	from, err := capi.Open(libraryFolders(dir))
	if err != nil {
		library.err = fmt.Errorf("llama: %w; `make build` fetches it", err)
		return library.err
	}
	C.stencil_init()
	if from != "" {
		// The CPU kernels too are back ends that are loaded.
		loadBackends(from)
	}
	if len(devices()) == 0 {
		library.err = fmt.Errorf("llama: %s has no kernels for this CPU: build llama.cpp for it with `make build LLAMA=source`", from)
	}
	return library.err
}

// firstFolder returns where the library is looked for before anywhere else.
func firstFolder() string {
	library.mu.Lock()
	defer library.mu.Unlock()
	return library.dir
}

// libraryFolders lists where the library is looked for: in dir if there is one,
// and where `make dist` puts it. The folder that the program was built with
// comes last, which package capi knows.
func libraryFolders(dir string) []string {
	var out []string
	if dir != "" {
		out = append(out, dir)
	}
	self, err := os.Executable()
	if err != nil {
		return out
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	if beside := filepath.Join(filepath.Dir(self), "..", "lib"); beside != dir {
		out = append(out, beside)
	}
	return out
}

// loadBackends loads the back ends in a folder, once. library is locked.
func loadBackends(dir string) {
	key := dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		key = real
	}
	if library.loaded[key] {
		return
	}
	library.loaded[key] = true
	cdir := C.CString(dir)
	defer C.free(unsafe.Pointer(cdir))
	C.stencil_load_backends(cdir)
}

// LoadBackends looks for llama.cpp's library in the folder dir before it looks
// elsewhere, and loads the dynamic back ends of ggml that are there and work on
// this machine. A folder that does not exist is no error: nothing was put there.
// Call it once, before the first model is loaded. It returns the libraries that
// are there beside the CPU's, such as "CUDA".
func LoadBackends(dir string) ([]string, error) {
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, start()
	case err != nil:
		return nil, fmt.Errorf("llama: back ends: %w", err)
	case !st.IsDir():
		return nil, fmt.Errorf("llama: back ends: %s is not a folder", dir)
	}
	library.mu.Lock()
	defer library.mu.Unlock()
	if err := startFrom(dir); err != nil {
		return nil, err
	}
	loadBackends(dir)
	var found []string
	for i := range int(C.stencil_reg_count()) {
		if name := strings.TrimSpace(C.GoString(C.stencil_reg_name(C.size_t(i)))); name != "CPU" {
			found = append(found, name)
		}
	}
	return found, nil
}
