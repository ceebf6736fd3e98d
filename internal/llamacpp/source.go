package main

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// cmakeFlags returns the flags in CMAKE_FLAGS, such as
// -DCMAKE_CUDA_ARCHITECTURES=native.
func cmakeFlags() []string { return strings.Fields(os.Getenv("CMAKE_FLAGS")) }

// lacking returns the first of the tools that is not installed, "" if all are.
func lacking(tools ...string) string {
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			return tool
		}
	}
	return ""
}

// forSource returns the tools that compiling needs: npm only to fetch the sources.
func (t *tree) forSource() []string {
	if _, err := os.Stat(t.at("sources.git")); err == nil {
		return []string{"cmake"}
	}
	return []string{"npm", "cmake"}
}

// source compiles the pinned version for this machine's CPU. Without npm or cmake,
// it uses the sources in the Go module instead.
func (t *tree) source() (build, error) {
	dir := t.at("source")
	if _, err := os.Stat(dir); err != nil {
		if tool := lacking(t.forSource()...); tool != "" {
			say("%s is missing: compiling the older llama.cpp of the Go module instead", tool)
			return t.module()
		}
	}
	err := once(dir, func(tmp string) error {
		src := filepath.Join(tmp, "src")
		if err := os.MkdirAll(src, 0o755); err != nil {
			return err
		}
		if err := t.checkout(src); err != nil {
			return err
		}
		say("compiling llama.cpp %s (some minutes)", t.lock.LlamaCPP)
		flags := append([]string{
			"-DGGML_NATIVE=ON", "-DLLAMA_BUILD_COMMON=OFF", "-DLLAMA_BUILD_TOOLS=OFF",
		}, cmakeFlags()...)
		out := filepath.Join(tmp, "out")
		if err := cmake(src, out, "llama", t.amx(), flags...); err != nil {
			return err
		}
		libs, err := libraries(filepath.Join(out, "bin"))
		if err != nil {
			return err
		}
		for _, lib := range libs {
			if err := copyTo(lib, filepath.Join(tmp, "lib", filepath.Base(lib))); err != nil {
				return err
			}
		}
		if err := errors.Join(os.RemoveAll(out), os.RemoveAll(src)); err != nil {
			return err
		}
		return t.headers(tmp, filepath.Join(dir, "lib"))
	})
	if err != nil {
		return build{}, err
	}
	return t.shared(dir), writeBuildHeader(dir, t.lock.LlamaCPP, filepath.Join(dir, "lib"))
}

// amx returns the compiler flags that keep GCC from breaking code for AMX.
func (t *tree) amx() string {
	if runtime.GOARCH != "amd64" || runtime.GOOS != "linux" {
		return ""
	}
	return "-include " + quote(filepath.Join(t.root, "backend", "llama", "amx.h"))
}

// cmake configures the sources in src and builds one target in out. C++ is compiled
// with cxx, besides the flags in CXXFLAGS.
func cmake(src, out, target, cxx string, flags ...string) error {
	args := append([]string{
		"-S", src, "-B", out, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=ON",
		"-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", "-DCMAKE_INSTALL_RPATH=" + origin(),
		"-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF", "-DLLAMA_BUILD_SERVER=OFF",
		"-DGGML_OPENMP=OFF", // use ggml's own threads, which the shim creates and owns
	}, flags...)
	if lacking("ninja") == "" {
		args = append(args, "-G", "Ninja")
	}
	for _, step := range [][]string{args, {"--build", out, "--target", target, "--parallel", fmt.Sprint(runtime.NumCPU())}} {
		cmd := exec.Command("cmake", step...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		cmd.Env = append(os.Environ(), "CXXFLAGS="+join(os.Getenv("CXXFLAGS"), cxx))
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("cmake: %w", err)
		}
	}
	return nil
}

// origin returns the run-time path that stands for the folder of a library.
func origin() string {
	if runtime.GOOS == "darwin" {
		return "@loader_path"
	}
	return "$ORIGIN"
}

// gpuFromSource compiles a GPU back end of the pinned version. The back end finds
// the base library that it shares with the CPU back end by name, in the folder from
// which that one was loaded.
func (t *tree) gpuFromSource(kind, lib string) error {
	if tool := lacking(t.forSource()...); tool != "" {
		return fmt.Errorf("%s is missing, which compiling a GPU back end needs", tool)
	}
	src, err := os.MkdirTemp("", "llamacpp-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(src)
	if err := t.checkout(src); err != nil {
		return err
	}
	flags := append([]string{
		"-DGGML_BACKEND_DL=ON", "-DGGML_NATIVE=OFF", "-DGGML_CPU=OFF", "-DLLAMA_BUILD_COMMON=OFF", "-DLLAMA_BUILD_TOOLS=OFF",
		"-DGGML_" + strings.ToUpper(kind) + "=ON",
	}, cmakeFlags()...)
	out := filepath.Join(src, "out")
	if err := cmake(src, out, "ggml-"+kind, "", flags...); err != nil {
		return err
	}
	found, _ := filepath.Glob(filepath.Join(out, "bin", "libggml-"+kind+".*"))
	if len(found) == 0 {
		return fmt.Errorf("cmake made no back end for %s", kind)
	}
	for _, f := range found {
		if err := copyTo(f, filepath.Join(lib, filepath.Base(f))); err != nil {
			return err
		}
		say("%s", filepath.Join(lib, filepath.Base(f)))
	}
	return t.noteVersion(kind, lib)
}

// oldModule is the Go module that contains an older llama.cpp in packages for cgo.
const oldModule = "github.com/ollama/ollama"

// module compiles llama.cpp into the program, from the sources in a Go module. It
// needs only a C++ compiler.
func (t *tree) module() (build, error) {
	get := exec.Command("go", "mod", "download", oldModule)
	get.Dir = t.root
	if out, err := get.CombinedOutput(); err != nil {
		return build{}, fmt.Errorf("cannot fetch %s, which carries llama.cpp: %w: %s", oldModule, err, strings.TrimSpace(string(out)))
	}
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", oldModule)
	list.Dir = t.root
	out, err := list.Output()
	if err != nil {
		return build{}, fmt.Errorf("cannot find %s: %w", oldModule, err)
	}
	dir := strings.TrimSpace(string(out))
	ggml := filepath.Join(dir, "ml", "backend", "ggml", "ggml")
	say("compiling the llama.cpp of %s into the program (the first time takes some minutes)", oldModule)
	return build{
		tags: "llama,llama_module",
		// Without GGML_USE_CPU_REPACK, the kernels for interleaved weights are not
		// compiled. The source folders are on the include path because the module's
		// packages omit the folder amx.
		cppflags: fmt.Sprintf("-I%s -I%s -I%s -I%s -DGGML_USE_CPU_REPACK", filepath.Join(dir, "llama", "llama.cpp", "include"),
			filepath.Join(ggml, "include"), filepath.Join(ggml, "src"), filepath.Join(ggml, "src", "ggml-cpu")),
		cflags:   join(join(moduleFlags(), t.amx()), "-w"),
		licences: licences(dir),
		version:  "of " + oldModule,
	}, nil
}

// moduleFlags returns the optimisation flags of LLAMA=module: for this machine,
// unless CFLAGS_LLAMA sets others.
func moduleFlags() string {
	if flags := os.Getenv("CFLAGS_LLAMA"); flags != "" {
		return flags
	}
	if runtime.GOARCH == "arm64" {
		return "-O3 -mcpu=native"
	}
	return "-O3 -march=native"
}

// oldestSystem is the oldest release that LLAMA=system accepts: earlier libraries don't say their version.
const oldestSystem = "0.5.0"

// system uses the llama.cpp that pkg-config finds.
func (t *tree) system() (build, error) {
	if lacking("pkg-config") != "" {
		return build{}, errors.New("LLAMA=system needs pkg-config, which is missing")
	}
	ask := func(args ...string) (string, error) {
		cmd := exec.Command("pkg-config", append(args, "llama")...)
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("pkg-config does not find llama.cpp: %w: %s", err, strings.TrimSpace(said.String()))
		}
		return strings.TrimSpace(string(out)), nil
	}
	version, err := ask("--modversion")
	if err != nil {
		return build{}, err
	}
	if _, err := ask("--atleast-version=" + oldestSystem); err != nil {
		return build{}, fmt.Errorf("pkg-config finds llama.cpp %s; LLAMA=system needs %s or newer", version, oldestSystem)
	}
	cflags, err := ask("--cflags", "--keep-system-cflags")
	if err != nil {
		return build{}, err
	}
	lib, err := ask("--variable=libdir")
	if err != nil {
		return build{}, err
	}
	// Go's build cache doesn't track the content of system headers, only flags. A
	// folder per version and library path gives different flags.
	dir := filepath.Join(t.root, ".llama.cpp", fmt.Sprintf("system-%s-%08x", version, crc32.ChecksumIEEE([]byte(lib))))
	if err := writeBuildHeader(dir, version, lib); err != nil {
		return build{}, err
	}
	b := t.shared(dir)
	b.cppflags = join(b.cppflags, cflags)
	b.lib, b.version = lib, version
	return b, nil
}
