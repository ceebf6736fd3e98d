package python

import (
	"testing"
	"time"
)

func TestWriting(t *testing.T) {
	for text, want := range map[string]string{"it's": `"it's"`, `a"b'c` + "\n\x01é\U0001f600": `'a"b\'c\n\x01é😀'`} {
		if got := string(AppendQuoted(nil, text)); got != want {
			t.Errorf("%q is written as %s, want %s", text, got, want)
		}
	}
	for x, want := range map[float64]string{1: "1.0", 1e16: "1e+16", 0.00001: "1e-05", -2.5: "-2.5"} {
		if got := string(AppendFloat(nil, x)); got != want {
			t.Errorf("%g is written as %s, want %s", x, got, want)
		}
	}
	if got := Strftime(time.Date(2026, 1, 3, 4, 5, 6, 0, time.UTC), "%d %b %Y %-d %j %%"); got != "03 Jan 2026 3 003 %" {
		t.Errorf("time %q", got)
	}
	if got, err := Unescape(`\x41\u00e9\n\q`); got != "Aé\n\\q" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if _, err := Unescape(`\u00`); err == nil {
		t.Error("an escape that is cut off")
	}
}
