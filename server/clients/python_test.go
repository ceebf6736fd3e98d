package clients

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPython runs the tests in python, which drive the clients that are published for Python and our own (clients/python),
// in a virtual environment outside of the repository.
func TestPython(t *testing.T) {
	program := pythonClients(t)
	own, err := filepath.Abs("../../clients/python/src")
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PYTHONPATH="+own, "PYTHONDONTWRITEBYTECODE=1",
		"STENCIL_RANDOM="+start(t, ""), "STENCIL_HELLO="+start(t, "hello wörld"), "STENCIL_ANSWERING="+startAnswering(t, saveCall),
		"STENCIL_THINKER="+startThinking(t, "<think>\nhmm</think>\n\nhello wörld"))
	for _, file := range []string{"clients.py", "own.py"} {
		t.Run(file, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), program, filepath.Join("python", file))
			cmd.Env = env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// pythonClients returns the Python of the virtual environment, which it makes if there is none yet.
func pythonClients(t *testing.T) string {
	t.Helper()
	program, err := pythonWith(t, "python/requirements.txt")
	if err != nil {
		t.Skip("the Python clients can't be fetched:", err)
	}
	return program
}

// pythonWith returns the python of a virtual environment with what a lock file pins, in the user's cache. Without a
// python3 the test is skipped.
func pythonWith(t *testing.T, lock string) (program string, err error) {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3: the tests of Python clients are skipped")
	}
	pins, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(pins)
	dir := filepath.Join(cache, "stencil", "python", hex.EncodeToString(sum[:6]))
	program, installed := filepath.Join(dir, "bin", "python"), filepath.Join(dir, "installed")
	if _, err := os.Stat(installed); err == nil {
		return program, nil
	}
	for _, command := range [][]string{
		{python, "-m", "venv", "--clear", dir},
		{program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", lock},
	} {
		if out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
	}
	if err := os.WriteFile(installed, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return program, nil
}
