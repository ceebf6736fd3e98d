package files

import (
	"strings"
	"testing"
	"time"
)

// TestSlowPatterns checks that patterns with exponential backtracking, which would
// exceed the time of the test, are matched quickly.
func TestSlowPatterns(t *testing.T) {
	line := strings.Repeat("a", maxLine)
	deep := strings.Repeat("aaaaaaaaaaaaaaaaaaaa/", 30)
	b := open(t, tree(t, map[string]string{"f": line + "\n" + line + "\n", deep + "aaaaaaaaaaaaaaaaaaaab": ""}), Options{Time: 2 * time.Second})
	for _, c := range [][]any{
		{"grep_files", "pattern", "(.{1,240}x|.{1,240}y)z"},
		{"grep_files", "pattern", "(a*)*b|(a+a+)+c|" + strings.Repeat("a?", 300) + "d"},
		{"grep_files", "pattern", strings.Repeat("(a|aa)+", 100) + "$b"},
		{"glob_files", "pattern", strings.Repeat("**/*a*a*a*", 60) + "x"},
		{"glob_files", "pattern", strings.Repeat("**/", 300) + "x"},
		{"glob_files", "pattern", strings.Repeat("*a", 500)},
		{"glob_files", "pattern", strings.Repeat("{*a,*}", 6) + strings.Repeat("*", 100) + "x"},
	} {
		got := call(b, c[0].(string), c[1:]...)
		if !strings.HasPrefix(got, "[no line matches") && !strings.HasPrefix(got, "[nothing matches") {
			t.Errorf("%.40q: %.60q", c[2], got)
		}
	}
}
