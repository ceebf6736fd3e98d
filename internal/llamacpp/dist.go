package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// dist writes an archive with the program, llama.cpp's libraries, licences,
// completions and manual pages, which runs from any folder.
func (t *tree) dist(kind, archive string) error {
	b, err := t.build(kind)
	if err != nil {
		return err
	}
	if kind == "system" {
		return fmt.Errorf("an archive carries its llama.cpp; LLAMA=system uses the one of this machine")
	}
	name := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
	if name == filepath.Base(archive) {
		return fmt.Errorf("%s: the name must end in .tar.gz", archive)
	}
	tmp, err := os.MkdirTemp("", "llamacpp-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	at := func(elem ...string) string { return filepath.Join(append([]string{tmp}, elem...)...) }

	b.cppflags += " -DSTENCIL_DIST"
	program := at("bin", "stencil")
	if err := b.run([]string{"go", "build", "-trimpath", "-ldflags", "-s -w " + os.Getenv("LDFLAGS_GO"), "-o", program, "./cmd/stencil"}); err != nil {
		return err
	}
	if b.lib != "" {
		libs, err := libraries(b.lib)
		if err != nil {
			return err
		}
		for _, lib := range libs {
			if err := copyTo(lib, at("lib", filepath.Base(lib))); err != nil {
				return err
			}
		}
	}
	for _, file := range []string{"LICENSE", "LICENSES.md"} {
		if err := copyTo(filepath.Join(t.root, file), at(file)); err != nil {
			return err
		}
	}
	if err := t.otherLicences(at("licences")); err != nil {
		return err
	}
	for _, l := range b.licences {
		if err := copyTo(l, at("licences", filepath.Base(l))); err != nil {
			return err
		}
	}
	if err := t.moduleLicences(b, at("licences")); err != nil {
		return err
	}
	for shell, file := range map[string]string{"bash": "stencil.bash", "zsh": "_stencil", "fish": "stencil.fish"} {
		out, err := exec.Command(program, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("completion for %s: %w", shell, err)
		}
		if err := write(at("share", "completions", file), strings.NewReader(string(out))); err != nil {
			return err
		}
	}
	if out, err := exec.Command(program, "man", at("share", "man", "man1")).CombinedOutput(); err != nil {
		return fmt.Errorf("manual pages: %w: %s", err, strings.TrimSpace(string(out)))
	}
	if err := os.MkdirAll(filepath.Dir(archive), 0o755); err != nil {
		return err
	}
	if err := tarball(archive, tmp, name); err != nil {
		return err
	}
	say("%s", archive)
	return nil
}

// otherLicences copies the licences of what is linked in without being a module:
// Unicode's tables, and Go's runtime and standard library.
func (t *tree) otherLicences(dir string) error {
	const tables = "LICENSE.Unicode"
	if err := copyTo(filepath.Join(t.root, "internal", "unicodegen", tables), filepath.Join(dir, tables)); err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	text := filepath.Join(strings.TrimSpace(string(root)), "LICENSE")
	if _, err := os.Stat(text); err != nil {
		return nil // a distribution's Go; the licences of golang.org/x have the same text
	}
	return copyTo(text, filepath.Join(dir, "LICENSE.go"))
}

// moduleLicences copies the licences of the Go modules that the program is linked
// with.
func (t *tree) moduleLicences(b build, dir string) error {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", "./cmd/stencil")
	cmd.Dir = t.root
	cmd.Env = os.Environ()
	for _, p := range b.environment() {
		cmd.Env = append(cmd.Env, p.name+"="+p.value)
	}
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		path, folder, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || seen[path] {
			continue
		}
		seen[path] = true
		var found []string
		for _, pattern := range []string{"LICEN[CS]E*", "COPYING*", "NOTICE*"} {
			list, _ := filepath.Glob(filepath.Join(folder, pattern))
			found = append(found, list...)
		}
		if len(found) == 0 {
			return fmt.Errorf("the module %s has no licence file", path)
		}
		for _, file := range found {
			to := strings.ReplaceAll(path, "/", "_") + "." + filepath.Base(file)
			if err := copyTo(file, filepath.Join(dir, to)); err != nil {
				return err
			}
		}
	}
	return nil
}
