package shared

import (
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// Templates returns the chat templates in the llama.cpp sources that the build
// downloads, by name. If there are none, the test is skipped.
func Templates(t testing.TB) map[string]string {
	t.Helper()
	repos, _ := filepath.Glob(filepath.Join(moduleRoot(t), ".llama.cpp", "*", "sources.git"))
	if len(repos) == 0 {
		t.Skip("no sources of llama.cpp, which make build downloads: their chat templates are not tested")
	}
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"--git-dir", repos[len(repos)-1]}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %s: %v", args[0], err)
		}
		return string(out)
	}
	out := map[string]string{}
	for _, name := range strings.Fields(git("ls-tree", "-r", "--name-only", "HEAD", "models/templates")) {
		if base, ok := strings.CutSuffix(path.Base(name), ".jinja"); ok {
			out[base] = git("show", "HEAD:"+name)
		}
	}
	return out
}
