package wire

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"schema", "grammar", "regex", "choice", "whitespace", "on_unsupported"}
	for name, want := range map[string]string{
		"shcema": "schema", "schemas": "schema", "chema": "schema", "gramar": "grammar", "regexp": "regex", "on_unsuported": "on_unsupported",
		"seed": "", "prompt": "", "x": "", "space": "", "schema": "", strings.Repeat("a", 300): "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
	for _, d := range []struct {
		a, b string
		n    int
	}{{"", "", 0}, {"", "abc", 3}, {"ab", "ba", 1}, {"abc", "ca", 3}, {"kitten", "sitting", 3}} {
		if got := editDistance(d.a, d.b); got != d.n {
			t.Errorf("distance of %q and %q is %d, want %d", d.a, d.b, got, d.n)
		}
		if got := editDistance(d.b, d.a); got != d.n {
			t.Errorf("distance of %q and %q is %d, want %d", d.b, d.a, got, d.n)
		}
	}
}
