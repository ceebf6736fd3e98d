package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestExamples runs the examples that need only our own clients or packages that other tests here fetch, against a
// model that generates random text: their output is nonsense of the right shape.
func TestExamples(t *testing.T) {
	url := startAnyName(t)
	run := func(dir, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		own, err := filepath.Abs("../../clients/python/src")
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), "STENCIL_URL="+url, "PYTHONPATH="+own, "PYTHONDONTWRITEBYTECODE=1", "PYTHONIOENCODING=utf-8")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	t.Run("go", func(t *testing.T) {
		if out := run(".", "go", "run", "../../examples/go-native"); !regexp.MustCompile(`(?s), \d+ \(enforced: \[type .*\]\)\n$`).MatchString(out) {
			t.Errorf("go-native prints %q", out)
		}
		if out := run(".", "go", "run", "../../examples/go-openai"); !regexp.MustCompile(`(?s), \d+\n$`).MatchString(out) {
			t.Errorf("go-openai prints %q", out)
		}
	})
	t.Run("python", func(t *testing.T) {
		program := pythonClients(t)
		out := run(".", program, "../../examples/form/main.py")
		if !strings.Contains(out, "complete: Form(") || !strings.Contains(out, "valid: True") || !regexp.MustCompile(`(?m)^ +email  `).MatchString(out) {
			t.Errorf("form prints %q", out)
		}
		csv, db := filepath.Join(t.TempDir(), "o.csv"), filepath.Join(t.TempDir(), "o.db")
		for range 2 { // the second time, everything is cached
			run(".", program, "../../examples/batch/main.py", "../../examples/batch/mails", csv, db)
		}
		rows, err := os.ReadFile(csv)
		row := `\.txt,(billing|shipping|technical),(low|medium|high),[\d.e-]+\n`
		if err != nil || !regexp.MustCompile(`^file,category,urgency,confidence\ncharged`+row+`parcel`+row+`$`).Match(rows) {
			t.Errorf("batch writes %q, %v", rows, err)
		}
	})
	t.Run("code-agent", func(t *testing.T) {
		out := run(".", pythonClients(t), "../../examples/code-agent/main.py", "../../examples/batch", "Where are the rows written?")
		if !regexp.MustCompile(`(?s)^(reads (README\.md|main\.py)\n){1,2}.*\nsources: (README\.md|main\.py)`).MatchString(out) {
			t.Errorf("code-agent prints %q", out)
		}
	})
	t.Run("vercel-ai", func(t *testing.T) {
		node := jsClients(t)
		src, err := os.ReadFile("../../examples/vercel-ai/main.mjs")
		if err != nil {
			t.Fatal(err)
		}
		// Imports are resolved from the folders above the file.
		dir, err := os.MkdirTemp("js", "tmp-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := os.WriteFile(filepath.Join(dir, "example.mjs"), src, 0o644); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Name *string
			Age  *int
		}
		if out := run(dir, node, "--no-warnings", "example.mjs"); json.Unmarshal([]byte(out), &got) != nil || got.Name == nil || got.Age == nil {
			t.Errorf("vercel-ai prints %q", out)
		}
	})
}
