//go:build llama && cgo

package capi

// #cgo linux LDFLAGS: -ldl
// #include <stdlib.h>
// #include "capi.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unsafe"
)

// Version returns the version of llama.cpp that the program was built for.
func Version() string { return C.GoString(C.capi_built()) }

// Static reports whether llama.cpp is linked into the program.
func Static() bool { return bool(C.capi_static()) }

var opened struct {
	once sync.Once
	dir  string
	err  error
}

// Open loads llama.cpp from the first of the folders that contains its library;
// the folder that the program was built with is tried last. It returns the
// folder, or "" if llama.cpp is linked into the program. A library of another
// version than the program was built for is an error that names both; only its
// version function has been called then. Later calls return the result of the
// first.
func Open(folders []string) (string, error) {
	opened.once.Do(func() { opened.dir, opened.err = open(folders) })
	return opened.dir, opened.err
}

func open(folders []string) (string, error) {
	if Static() {
		C.capi_open(nil)
		return "", nil
	}
	if dir := C.GoString(C.capi_dir()); dir != "" {
		folders = append(folders[:len(folders):len(folders)], dir)
	}
	for _, dir := range folders {
		for _, name := range names(Version()) {
			path := filepath.Join(dir, name)
			if _, err := os.Stat(path); err != nil {
				continue
			}
			cpath := C.CString(path)
			defer C.free(unsafe.Pointer(cpath))
			if wrong := C.capi_open(cpath); wrong != nil {
				return "", fmt.Errorf("%s cannot be used: %s", path, C.GoString(wrong))
			}
			return dir, nil
		}
	}
	if len(folders) == 0 {
		return "", errors.New("no folder with llama.cpp's libraries is known")
	}
	return "", fmt.Errorf("there is no library of llama.cpp %s (%s) in %s", Version(), names(Version())[0], strings.Join(folders, " or "))
}

// names returns the possible file names of libllama: the prebuilt packages have
// the version in the name, other builds use the linker name.
func names(version string) []string {
	if runtime.GOOS == "darwin" {
		return []string{"libllama.v" + version + ".dylib", "libllama.dylib"}
	}
	return []string{"libllama.v" + version + ".so", "libllama.so", "libllama.so.0"}
}
