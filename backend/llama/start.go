//go:build llama && cgo

package llama

// #include <dlfcn.h>
// #include <stdlib.h>
// #include "shim.h"
//
// static const char * open_error(const char * path) {
//     void * handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
//     if (!handle) {
//         return dlerror();
//     }
//     dlclose(handle);
//     return NULL;
// }
import "C"

import (
	"cmp"
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

// library is the state of llama.cpp in this process.
var library struct {
	mu      sync.Mutex
	started bool
	err     error           // why it is unusable
	dir     string          // where it was looked for first
	loaded  map[string]bool // folders whose backends are loaded
}

// Version returns the version of llama.cpp that this program was built for,
// such as "0.5.0".
func Version() string { return capi.Version() }

// start opens llama.cpp for the whole process, on first use: programs that load
// no model don't pay for it and work without it.
func start() error {
	library.mu.Lock()
	defer library.mu.Unlock()
	return startFrom("")
}

// startFrom is start with a folder to search first. library must be locked.
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
		// The CPU kernels are loadable backends too.
		loadBackends(from)
	}
	// Without any backend so far, llama.cpp searches the folder that a
	// distribution's package has for them, and the current one, which is / here.
	C.stencil_backend_init()
	if len(devices()) == 0 {
		library.err = fmt.Errorf("llama: %s has no kernels for this CPU: build llama.cpp for it with `make build LLAMA=source`", from)
	}
	return library.err
}

// firstFolder returns the folder that is searched first.
func firstFolder() string {
	library.mu.Lock()
	defer library.mu.Unlock()
	return library.dir
}

// libraryFolders lists the folders to search for the library: dir if given, and
// where `make dist` puts it. Package capi adds the folder that the program was
// built with.
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

// loadBackends loads the backends in a folder, once. library must be locked.
func loadBackends(dir string) {
	key := dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		key = real
	}
	if library.loaded[key] {
		return
	}
	library.loaded[key] = true
	if other := otherVersion(dir, Version()); other != "" {
		log().Warn("the back ends in this folder aren't used: they are of another llama.cpp; run make again for them, such as make vulkan", "folder", dir, "for", other, "want", Version())
		return
	}
	cdir := C.CString(dir)
	defer C.free(unsafe.Pointer(cdir))
	C.stencil_load_backends(cdir)
	for _, failed := range warnOfBackends(dir) {
		// The same for older GPUs and drivers, which make cuda puts there.
		again := filepath.Join(dir, "fallback", filepath.Base(failed))
		cagain, cfallback := C.CString(again), C.CString(filepath.Dir(again))
		if _, err := os.Stat(again); err == nil && C.open_error(cagain) == nil {
			log().Info("its fallback is used instead", "file", again)
			C.stencil_load_backends(cfallback)
		}
		C.free(unsafe.Pointer(cagain))
		C.free(unsafe.Pointer(cfallback))
	}
}

// otherVersion returns a version of llama.cpp for which back ends in a folder were made, if it isn't the wanted one: with that,
// they would crash. The build notes it beside each that it puts there; others are trusted.
func otherVersion(dir, want string) string {
	notes, _ := filepath.Glob(filepath.Join(dir, "libggml-*.version"))
	for _, note := range notes {
		if data, err := os.ReadFile(note); err == nil && strings.TrimSpace(string(data)) != want {
			return cmp.Or(strings.TrimSpace(string(data)), "an unknown version")
		}
	}
	return ""
}

// warnOfBackends logs and returns which GPU back ends in a folder can't be opened, most often
// because a driver is missing. ggml says nothing about them.
func warnOfBackends(dir string) (failed []string) {
	list, _ := filepath.Glob(filepath.Join(dir, "libggml-*.so"))
	for _, path := range list {
		if name := filepath.Base(path); strings.HasPrefix(name, "libggml-cpu") || strings.HasPrefix(name, "libggml-base") {
			continue // kernels for other CPUs, and the common part
		}
		cpath := C.CString(path)
		if why := C.open_error(cpath); why != nil {
			log().Warn("a GPU back end can't be used", "file", path, "error", C.GoString(why))
			failed = append(failed, path)
		}
		C.free(unsafe.Pointer(cpath))
	}
	return failed
}

// LoadBackends makes dir the first folder that is searched for llama.cpp's
// library, and loads the dynamic ggml backends in it that work on this machine.
// A folder that does not exist is not an error. Call it once, before the first
// model is loaded. It returns the available backends besides the CPU's, such as
// "CUDA".
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
