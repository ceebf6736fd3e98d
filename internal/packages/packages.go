// Package packages installs third-party packages for tests, from lock files with hashes, in the user's cache. An installation
// is shared by all checkouts; a changed lock file gets a new one.
package packages

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Python returns the python of a virtual environment with the packages of a lock file. Without python3, the test is skipped.
func Python(t testing.TB, lock string) (program string, err error) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3: the tests of Python clients are skipped")
	}
	pins, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := once(t, "python", pins, func(dir string) error {
		if err := run(t, dir, python, "-m", "venv", dir); err != nil {
			return err
		}
		pinned := filepath.Join(dir, "requirements.txt")
		if err := os.WriteFile(pinned, pins, 0o644); err != nil {
			return err
		}
		return run(t, dir, filepath.Join(dir, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", pinned)
	})
	return filepath.Join(dir, "bin", "python"), err
}

// Node returns the path of Node.js, and of a node_modules folder with the packages of the package-lock.json in a folder.
// Without node or npm, the test is skipped.
func Node(t testing.TB, folder string) (node, modules string, err error) {
	t.Helper()
	node, err = exec.LookPath("node")
	if err != nil {
		t.Skip("no node: the tests of JavaScript clients are skipped")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("no npm: the tests of JavaScript clients are skipped")
	}
	var files [2][]byte
	names := [2]string{"package.json", "package-lock.json"}
	for i, name := range names {
		if files[i], err = os.ReadFile(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := once(t, "node", bytes.Join(files[:], nil), func(dir string) error {
		for i, name := range names {
			if err := os.WriteFile(filepath.Join(dir, name), files[i], 0o644); err != nil {
				return err
			}
		}
		return run(t, dir, npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	})
	return node, filepath.Join(dir, "node_modules"), err
}

// once returns the folder for a lock file. If it does not exist, fill creates it under a temporary name, which is changed
// when it is complete: tests of several packages run concurrently and may be killed.
func once(t testing.TB, kind string, pinned []byte, fill func(dir string) error) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(pinned)
	dir := filepath.Join(cache, "stencil", kind, hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	unfinished, err := os.MkdirTemp(filepath.Dir(dir), "unfinished-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(unfinished)
	if err := fill(unfinished); err != nil {
		return "", err
	}
	if err := os.Rename(unfinished, dir); err != nil {
		if _, there := os.Stat(dir); there == nil {
			return dir, nil // another test was faster
		}
		return "", err
	}
	return dir, nil
}

// run runs a program in a folder.
func run(t testing.TB, dir, program string, args ...string) error {
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}
