//go:build llama && cgo && !llama_module

package llama

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/llama/internal/capi"
	"github.com/stencil-json/stencil/models"
)

// TestLibrary checks that any library other than the llama.cpp that the
// program was built for is an error that says so, and never a crash. Each case
// has a separate process, since a library is opened once.
func TestLibrary(t *testing.T) {
	if dir := os.Getenv(libraryKey); dir != "" {
		_, err := LoadBackends(dir)
		fmt.Printf("first: %v\n", err)
		_, err = Load(context.Background(), os.Getenv(libraryKey+"_MODEL"), LoadOptions{})
		fmt.Printf("then: %v\n", err)
		return
	}
	name := "libllama.so"
	if runtime.GOOS == "darwin" {
		name = "libllama.dylib"
	}
	model := randomModel(t, models.RandomOptions{})
	for _, test := range []struct {
		name, source string // C source, or the file's content if it does not compile
		want         string
	}{
		{"another version", `const char * llama_version(void) { return "0.4.9"; }`, "it is llama.cpp 0.4.9, this program was built for " + Version()},
		{"a newer one", `const char * llama_version(void) { return "10.0.0-dev"; }`, "it is llama.cpp 10.0.0-dev"},
		{"no version", `int llama_decode(void) { return 0; }`, "does not say its version"},
		{"not all of it", `const char * llama_version(void) { return "` + Version() + `"; }`, "lacks the function"},
		{"no library", "this is text", name},
		{"an empty file", "", name},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			lib := filepath.Join(dir, name)
			if strings.Contains(test.source, "(void)") {
				source := filepath.Join(dir, "x.c")
				if err := os.WriteFile(source, []byte(test.source), 0o644); err != nil {
					t.Fatal(err)
				}
				if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", lib, source).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			} else if err := os.WriteFile(lib, []byte(test.source), 0o644); err != nil {
				t.Fatal(err)
			}
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(exe, "-test.run=^TestLibrary$")
			cmd.Env = append(os.Environ(), libraryKey+"="+dir, libraryKey+"_MODEL="+model)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			first, then, _ := strings.Cut(string(out), "then: ")
			for _, said := range []string{first, then} {
				if !strings.Contains(said, test.want) || !strings.Contains(said, lib) {
					t.Errorf("%q does not say %q about %s", said, test.want, lib)
				}
			}
		})
	}
}

// TestKernelsElsewhere checks that the CPU's kernels are found where ggml looks for them by itself, if
// they are not beside the library: Homebrew and Arch have a folder for them.
func TestKernelsElsewhere(t *testing.T) {
	if dir := os.Getenv(libraryKey); dir != "" {
		_, err := LoadBackends(dir)
		fmt.Printf("kernels %q, error %v\n", CPUFeatures(), err)
		return
	}
	if err := start(); err != nil {
		t.Fatal(err)
	}
	from, err := capi.Open(nil) // where it has been found
	if err != nil {
		t.Fatal(err)
	}
	kernels, _ := filepath.Glob(filepath.Join(from, "libggml-cpu*.so"))
	if len(kernels) == 0 {
		t.Skip("these kernels are part of the library")
	}
	lib, elsewhere := t.TempDir(), t.TempDir()
	all, _ := filepath.Glob(filepath.Join(from, "lib*.so*"))
	for _, file := range all {
		to := lib
		if slices.Contains(kernels, file) {
			to = elsewhere
		}
		b, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, filepath.Base(file)), b, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The program's own folder is one of the places where ggml looks.
	beside := filepath.Join(elsewhere, "program")
	if b, err := os.ReadFile(exe); err != nil {
		t.Fatal(err)
	} else if err := os.WriteFile(beside, b, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(beside, "-test.run=^TestKernelsElsewhere$")
	cmd.Env = append(os.Environ(), libraryKey+"="+lib)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "error <nil>") || strings.Contains(string(out), `kernels ""`) {
		t.Errorf("%v: %s", err, out)
	}
}

// openedLibrary compiles a library that writes a line when it is opened.
func openedLibrary(t *testing.T, to string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "x.c")
	if err := os.WriteFile(source, []byte("#include <unistd.h>\n__attribute__((constructor)) static void opened(void) { write(1, \"opened\\n\", 7); }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-w", "-o", to, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestOtherBackends checks that GPU back ends for another version of llama.cpp are not opened, and that a fallback is used where
// the usual one can't be.
func TestOtherBackends(t *testing.T) {
	if dir := os.Getenv(libraryKey); dir != "" {
		_, err := LoadBackends(dir)
		fmt.Printf("error %v\n", err)
		return
	}
	for _, c := range []struct {
		version string
		opened  bool
	}{{"", true}, {Version(), true}, {"0.4.9", false}} {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "libggml-cuda.so"), []byte("no library"), 0o755), os.Mkdir(filepath.Join(dir, "fallback"), 0o755)); err != nil {
			t.Fatal(err)
		}
		openedLibrary(t, filepath.Join(dir, "fallback", "libggml-cuda.so"))
		if c.version != "" {
			if err := os.WriteFile(filepath.Join(dir, "libggml-cuda.version"), []byte(c.version+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe, "-test.run=^TestOtherBackends$")
		cmd.Env = append(os.Environ(), libraryKey+"="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "error <nil>") || strings.Contains(string(out), "opened") != c.opened {
			t.Errorf("version %q: %v: %s", c.version, err, out)
		}
	}
}

// TestCurrentFolder checks that no library in the current folder is opened, not even without kernels elsewhere: it may be
// anybody's, or of another version.
func TestCurrentFolder(t *testing.T) {
	if dir := os.Getenv(libraryKey); dir != "" {
		_, err := LoadBackends(dir)
		fmt.Printf("error %v\n", err)
		return
	}
	from, err := capi.Open(nil) // where it has been found
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"libggml-cpu-other.so", "libggml-vulkan.so"} {
		openedLibrary(t, filepath.Join(dir, name))
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	says := map[string]string{from: "error <nil>"}
	if runtime.GOOS == "linux" && !capi.Static() {
		bare := t.TempDir()
		files, err := filepath.Glob(filepath.Join(from, "lib*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if data, err := os.ReadFile(file); err != nil || strings.HasPrefix(filepath.Base(file), "libggml-cpu") {
				continue
			} else if err := os.WriteFile(filepath.Join(bare, filepath.Base(file)), data, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		says[bare] = "no kernels for this CPU"
	}
	for folder, want := range says {
		cmd := exec.Command(exe, "-test.run=^TestCurrentFolder$")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), libraryKey+"="+folder)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "opened") {
			t.Errorf("%s: %v: %s", folder, err, out)
		}
	}
}

// TestUnusableBackend checks that a back end whose driver is missing is not passed over in silence.
func TestUnusableBackend(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("the linker refuses such a library")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "x.c")
	if err := os.WriteFile(source, []byte("int no_driver(void); int f(void) { return no_driver(); }"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"libggml-vulkan.so", "libggml-cpu-other.so"} {
		if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", filepath.Join(dir, name), source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	var said bytes.Buffer
	SetLogger(slog.New(slog.NewTextHandler(&said, nil)))
	defer SetLogger(nil)
	if _, err := LoadBackends(dir); err != nil {
		t.Fatal(err)
	}
	if got := said.String(); strings.Count(got, "level=WARN") != 1 || !strings.Contains(got, "libggml-vulkan.so") || !strings.Contains(got, "no_driver") {
		t.Errorf("it said %q", got)
	}
}

// TestUnknownArchitecture checks the wording of llama.cpp's answer for an
// architecture that it supports and for an unknown one.
func TestUnknownArchitecture(t *testing.T) {
	if err := start(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"llama", "qwen2", "qwen35", "gemma3", "gemma4", "mamba", "deepseek2", "bert", "lfm2", "gpt-oss"} {
		if !knownArch(name) {
			t.Errorf("%s is not known", name)
		}
	}
	for _, name := range []string{"", "no-such-thing", "llama\xff", strings.Repeat("x", 1000)} {
		if knownArch(name) {
			t.Errorf("%.20q is known", name)
		}
	}
}
