package stencil

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// toolbox creates a folder of programs: the tools that scripts/need uses, and stand-ins that print a
// line.
func toolbox(t *testing.T, standIns map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"sh", "sed", "awk", "printf"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("there is no %s", name)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, prints := range standIns {
		script := "#!/bin/sh\necho '" + prints + "'\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestNeed checks that scripts/need reports the missing tools of a build, with the command that installs
// them on the system.
func TestNeed(t *testing.T) {
	debian := map[string]string{"uname": "Linux", "apt-get": ""}
	fedora := map[string]string{"uname": "Linux", "dnf": ""}
	mac := map[string]string{"uname": "Darwin"}
	with := func(system map[string]string, more map[string]string) map[string]string {
		all := map[string]string{}
		for _, m := range []map[string]string{system, more} {
			for name, prints := range m {
				all[name] = prints
			}
		}
		return all
	}
	const curl = "curl -fsSL https://go.dev/dl/go1."
	for _, test := range []struct {
		name  string
		tools map[string]string
		ask   []string
		want  []string // in this order; empty: nothing is missing
	}{
		{"nothing is missing", with(debian, map[string]string{"go": "go1.26.3", "git": "", "c++": ""}), []string{"git"}, nil},
		{"Go is new enough", with(debian, map[string]string{"go": "go1.30"}), []string{"go"}, nil},
		{"no Go", debian, []string{"go"}, []string{"missing: Go 1.", curl, "linux-amd64.tar.gz", "export PATH="}},
		{"no Go on Arm", with(debian, map[string]string{"uname": "aarch64"}), []string{"go"}, []string{curl, "linux-arm64.tar.gz"}},
		{"an old Go", with(debian, map[string]string{"go": "go1.19.8"}), []string{"go"}, []string{"there is 1.19.8", curl}},
		{"no Go on a Mac", mac, []string{"go"}, []string{"missing: Go 1.", "brew install go"}},
		{"no git and no compiler", debian, []string{"git", "c++"}, []string{"missing: git", "sudo apt-get install -y git", "missing: a C++ compiler", "sudo apt-get install -y g++"}},
		{"no compiler on Fedora", fedora, []string{"c++"}, []string{"sudo dnf install -y gcc-c++"}},
		{"no compiler on a Mac", mac, []string{"c++"}, []string{"xcode-select --install"}},
		{"no compiler elsewhere", map[string]string{"uname": "Linux"}, []string{"c++"}, []string{"your package manager (g++)"}},
		{"the compiler that is set", with(debian, map[string]string{"go": "my-c++ -flag", "my-c++": ""}), []string{"c++"}, nil},
		{"for back ends", debian, []string{"npm", "cmake", "glslc", "vulkan", "nvcc"},
			[]string{"apt-get install -y npm", "apt-get install -y cmake", "apt-get install -y glslc", "apt-get install -y libvulkan-dev", "apt-get install -y nvidia-cuda-toolkit"}},
		{"CUDA on a Mac", mac, []string{"nvcc"}, []string{"no CUDA on macOS", "LLAMA=system"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := os.Stat("/usr/local/cuda/bin/nvcc"); err == nil && strings.Contains(strings.Join(test.ask, " "), "nvcc") {
				t.Skip("CUDA is where it is looked for without PATH")
			}
			cmd := exec.Command("scripts/need", test.ask...)
			cmd.Env = []string{"PATH=" + toolbox(t, test.tools)}
			out, err := cmd.CombinedOutput()
			if (err != nil) != (len(test.want) > 0) {
				t.Errorf("exit status: %v", err)
			}
			if len(test.want) == 0 && len(out) > 0 {
				t.Errorf("it said %q", out)
			}
			rest := string(out)
			for _, want := range test.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("no %q in %q", want, out)
				}
				rest = after
			}
		})
	}
}

// TestGoVersion checks that scripts/need requires the Go version of go.mod.
func TestGoVersion(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("scripts/need")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)
	if version == nil {
		t.Fatal("go.mod asks for no Go")
	}
	if !strings.Contains(string(script), "\ngo_version="+string(version[1])+" ") {
		t.Errorf("go.mod asks for Go %s, scripts/need for another", version[1])
	}
}

// TestScriptsAreUsed checks that the Makefile or a test uses every script, and that Go tests run the
// tests for Node.js.
func TestScriptsAreUsed(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob("scripts/*")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, s := range scripts {
		if !strings.Contains(string(makefile), s) {
			t.Errorf("%s: the Makefile does not run it", s)
		}
	}
	for _, named := range regexp.MustCompile(`scripts/\w+`).FindAllString(string(makefile), -1) {
		if _, err := os.Stat(named); err != nil {
			t.Errorf("the Makefile runs %s: %v", named, err)
		}
	}
	for _, glob := range []string{"server/clients/js/*.test.mjs", "*/*.test.js", "*/*/*.test.mjs"} {
		if found, err := filepath.Glob(glob); err != nil || found != nil {
			t.Errorf("%s: nothing runs tests of that name: %v", found, err)
		}
	}
}

// TestNoTestUnseen holds that make test runs nothing but tests whose skips are counted, and that every script is called
// from somewhere: one that finds nothing to do would look like one that has passed.
func TestNoTestUnseen(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	ci, err := os.ReadFile(".ci/run")
	if err != nil || !regexp.MustCompile(`(?m)^(exec )?make .*test$`).Match(ci) {
		t.Errorf(".ci/run does not run make test: %s %v", ci, err)
	}
	recipe := regexp.MustCompile(`(?m)^test:.*\n((?:\t.*\n)+)`).FindStringSubmatch(string(makefile))
	if recipe == nil {
		t.Fatal("the Makefile has no tests")
	}
	counted := 0
	for line := range strings.Lines(recipe[1]) {
		if strings.Contains(line, "scripts/") || strings.Contains(line, "$(GO) test") && !strings.Contains(line, "$(SKIPS) $(GO) test -json") {
			t.Errorf("nobody counts what is skipped by %s", line)
		}
		if strings.Contains(line, "$(SKIPS)") {
			counted++
		}
	}
	if counted != 2 {
		t.Errorf("skips are counted %d times, with llama.cpp and without are two", counted)
	}
	entries, err := os.ReadDir("scripts")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := "scripts/" + e.Name(); !e.IsDir() && !strings.Contains(string(makefile), name) {
			t.Errorf("make has no target for %s", name)
		}
	}
}
