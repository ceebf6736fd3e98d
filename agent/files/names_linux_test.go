package files

import (
	"strings"
	"testing"
)

// TestNames checks that ambiguous names are quoted. Other systems require names in
// UTF-8.
func TestNames(t *testing.T) {
	b := open(t, tree(t, map[string]string{
		"bad\xff.txt": "needle\n", "two\nlines": "needle\n", "\"quoted\"": "needle\n", "tab\there/x": "needle\n", "sp ace": "needle\n", "日本": "needle\n", "bidi\u202etxt": "needle\n",
	}), Options{})
	names := []string{`"\"quoted\""`, `"bad\xff.txt"`, `"bidi\u202etxt"`, "sp ace", `"tab\there/x"`, `"two\nlines"`, "日本"}
	check(t, "glob", call(b, "glob_files", "pattern", "**/{*[!e],*[!r]e}"), strings.Join(names, "\n"))
	check(t, "grep", call(b, "grep_files", "pattern", "needle"), strings.Join(names, ":1: needle\n")+":1: needle")
	check(t, "list", call(b, "list_dir"), strings.NewReplacer(`"tab\there/x" (7 bytes)`, `"tab\there"/`).Replace(strings.Join(names, " (7 bytes)\n")+" (7 bytes)"))
	for _, name := range []string{"two\nlines", "\"quoted\"", "tab\there/x", "日本", "bidi\u202etxt"} {
		check(t, name, call(b, "read_file", "path", name), "needle")
	}
}
