package regular

import (
	"testing"

	"github.com/stencil-json/stencil/regular/formats"
)

func TestFormatPatternsParse(t *testing.T) {
	texts, parts := formats.Patterns()
	for _, m := range []map[string]string{texts, parts} {
		for name, text := range m {
			if _, err := parsePattern(text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
