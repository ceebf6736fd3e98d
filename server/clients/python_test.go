package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stencil-json/stencil/internal/packages"
)

// TestPython runs the tests in python, which use the clients published for Python and our own (clients/python), in a
// virtual environment outside the repository.
func TestPython(t *testing.T) {
	program := pythonClients(t)
	// Our own is installed as a wheel, so that a file missing in the package is noticed. Its build tools are in the
	// lock file.
	own := t.TempDir()
	install := exec.CommandContext(t.Context(), program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index",
		"--no-build-isolation", "--no-deps", "--target", own, "../../clients/python")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(own, "stencil_client", "py.typed")); err != nil {
		t.Error("type checkers don't look into the package:", err)
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

// pythonClients returns the Python of the virtual environment, which it creates if necessary.
func pythonClients(t *testing.T) string {
	t.Helper()
	program, err := packages.Python(t, "python/requirements.txt")
	if err != nil {
		t.Skip("the Python clients can't be fetched:", err)
	}
	return program
}
