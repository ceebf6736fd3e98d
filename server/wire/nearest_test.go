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
}
