package regular

import (
	"testing"
)

func TestFormatPatternsParse(t *testing.T) {
	formats, parts := formatPatterns()
	for _, m := range []map[string]string{formats, parts} {
		for name, text := range m {
			if _, err := parsePattern(text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
