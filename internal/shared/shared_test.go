package shared

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkMissing needs data that there are not.
func BenchmarkMissing(b *testing.B) { File(b, "no", "such") }

// A benchmark whose data are missing says so, where go test itself prints PASS alone.
func TestSkippedBenchmark(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	clone := t.TempDir()
	if err := os.WriteFile(filepath.Join(clone, "go.mod"), []byte("module clone\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^$", "-test.bench=Missing")
	cmd.Dir = clone
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "BenchmarkMissing is skipped: shared data are not there") {
		t.Errorf("%v %s", err, out)
	}
}
