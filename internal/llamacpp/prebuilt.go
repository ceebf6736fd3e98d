package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// build prepares a kind of llama.cpp and returns the settings for compiling against
// it.
func (t *tree) build(kind string) (build, error) {
	switch kind {
	case "prebuilt":
		return t.prebuilt()
	case "source":
		return t.source()
	case "module":
		return t.module()
	case "system":
		return t.system()
	}
	return build{}, fmt.Errorf("LLAMA must be prebuilt, source, module or system, not %q", kind)
}

// shared returns the settings for libraries in dir/lib and headers in dir/include.
func (t *tree) shared(dir string) build {
	return build{
		tags:     "llama",
		cppflags: "-I" + filepath.Join(dir, "include"),
		cflags:   "-O2 -w",
		lib:      filepath.Join(dir, "lib"),
		licences: licences(dir),
		version:  t.lock.LlamaCPP,
	}
}

func licences(dir string) []string {
	list, _ := filepath.Glob(filepath.Join(dir, "LICENSE*"))
	return list
}

// once creates a folder unless it exists. The folder is always complete: make fills
// a temporary folder next to it, which is then renamed.
func once(dir string, make func(tmp string) error) error {
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := make(tmp); err != nil {
		return err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, e := os.Stat(dir); e == nil {
			return nil // another process was faster
		}
		return err
	}
	return nil
}

// bundle returns the path of a git repository with the sources of the pinned
// version.
func (t *tree) bundle() (string, error) {
	dir := t.at("sources.git")
	return dir, once(dir, func(tmp string) error {
		pkg, err := os.MkdirTemp("", "llamacpp-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(pkg)
		if err := t.unpack(sourcePackage, pkg); err != nil {
			return err
		}
		return git("clone", "--quiet", "--bare", filepath.Join(pkg, "llama", "gitRelease.bundle"), tmp)
	})
}

func git(args ...string) error {
	cmd := exec.Command("git", append([]string{"-c", "advice.detachedHead=false"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}

// checkout copies paths of the sources to dir; without paths, all of them.
func (t *tree) checkout(dir string, paths ...string) error {
	repo, err := t.bundle()
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	return git(append([]string{"--git-dir", repo, "--work-tree", dir, "checkout", "HEAD", "--"}, paths...)...)
}

// headers copies the C headers and the licence of llama.cpp to dir, and writes the
// header that identifies the libraries.
func (t *tree) headers(dir, lib string) error {
	src, err := os.MkdirTemp("", "llamacpp-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(src)
	if err := t.checkout(src, "include", "ggml/include", "LICENSE"); err != nil {
		return err
	}
	for _, from := range []string{"include", "ggml/include"} {
		list, _ := filepath.Glob(filepath.Join(src, filepath.FromSlash(from), "*.h"))
		for _, h := range list {
			if err := copyTo(h, filepath.Join(dir, "include", filepath.Base(h))); err != nil {
				return err
			}
		}
	}
	if err := copyTo(filepath.Join(src, "LICENSE"), filepath.Join(dir, "LICENSE.llama.cpp")); err != nil {
		return err
	}
	return writeBuildHeader(dir, t.lock.LlamaCPP, lib)
}

func copyTo(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return copyFile(from, to)
}

// writeBuildHeader writes a header with the version of llama.cpp and the folder of
// its libraries.
func writeBuildHeader(dir, version, lib string) error {
	text := fmt.Sprintf("#define STENCIL_LLAMA_VERSION %q\n#define STENCIL_LLAMA_DIR %q\n", version, lib)
	path := filepath.Join(dir, "include", "stencil-build.h")
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	return write(path, strings.NewReader(text))
}

func (t *tree) prebuilt() (build, error) {
	name, err := t.platformPackage()
	if err != nil {
		return build{}, err
	}
	dir := t.at(runtime.GOOS + "-" + runtime.GOARCH)
	err = once(dir, func(tmp string) error {
		pkg, err := os.MkdirTemp("", "llamacpp-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(pkg)
		if err := t.unpack(name, pkg); err != nil {
			return err
		}
		libs, err := libraries(filepath.Join(pkg, "bins", "*"))
		if err != nil {
			return err
		}
		for _, lib := range libs {
			if err := copyTo(lib, filepath.Join(tmp, "lib", filepath.Base(lib))); err != nil {
				return err
			}
		}
		if err := copyTo(filepath.Join(pkg, "LICENSE"), filepath.Join(tmp, "LICENSE.node-llama-cpp")); err != nil {
			return err
		}
		return t.headers(tmp, filepath.Join(dir, "lib"))
	})
	if err != nil {
		return build{}, err
	}
	// The module's folder may have been moved since.
	return t.shared(dir), writeBuildHeader(dir, t.lock.LlamaCPP, filepath.Join(dir, "lib"))
}

// libraries lists the shared libraries in the folders that match a pattern, except
// the parts of llama.cpp that only its own programs use.
func libraries(folders string) ([]string, error) {
	var out []string
	for _, ending := range []string{".so", ".so.*", ".dylib", ".metallib"} {
		list, err := filepath.Glob(filepath.Join(folders, "lib*"+ending))
		if err != nil {
			return nil, err
		}
		for _, lib := range list {
			if base := filepath.Base(lib); !strings.HasPrefix(base, "libllama-") && !strings.HasPrefix(base, "libmtmd") {
				out = append(out, lib)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no libraries in %s", folders)
	}
	return out, nil
}

// gpu copies a GPU back end into the folder lib, next to existing files.
func (t *tree) gpu(llama, kind, lib string) error {
	if llama == "source" {
		return t.gpuFromSource(kind, lib)
	}
	if llama != "prebuilt" {
		return fmt.Errorf("GPU back ends come with LLAMA=prebuilt and LLAMA=source, not with LLAMA=%s", llama)
	}
	packages := gpuPackages[runtime.GOOS+"/"+runtime.GOARCH+" "+kind]
	if len(packages) == 0 {
		return fmt.Errorf("there is no prebuilt back end for %s on %s/%s; use LLAMA=source", kind, runtime.GOOS, runtime.GOARCH)
	}
	for i, name := range packages {
		pkg, err := os.MkdirTemp("", "llamacpp-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(pkg)
		if err := t.unpack("@node-llama-cpp/"+name, pkg); err != nil {
			return err
		}
		var found string
		err = filepath.WalkDir(pkg, func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasPrefix(d.Name(), "libggml-"+kind+".") {
				found = path
			}
			return err
		})
		if err != nil {
			return err
		}
		if found == "" {
			return fmt.Errorf("%s has no back end for %s", name, kind)
		}
		to := filepath.Join(lib, filepath.Base(found))
		if i > 0 { // for GPUs that the first one doesn't support
			to = filepath.Join(lib, "fallback", filepath.Base(found))
		}
		if err := copyTo(found, to); err != nil {
			return err
		}
		say("%s", to)
	}
	return t.noteVersion(kind, lib)
}

// noteVersion notes the version of llama.cpp beside a GPU back end, which works with no other.
func (t *tree) noteVersion(kind, lib string) error {
	return write(filepath.Join(lib, "libggml-"+kind+".version"), strings.NewReader(t.lock.LlamaCPP+"\n"))
}
