package generation

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestYesOf(t *testing.T) {
	inf := math.Inf(-1)
	for _, c := range []struct {
		scores []float64
		want   float64
	}{
		{[]float64{-1, -1, -1, -1}, 0.5},
		{[]float64{-2000, -3000, -2000, -3000}, 0.5},
		{[]float64{-1, inf, -2000, inf}, 1},
		{[]float64{-2000, inf, -1, inf}, 0},
		{[]float64{inf, inf, inf, inf}, 0},
	} {
		if got := yesOf(c.scores); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %g, want %g", c.scores, got, c.want)
		}
	}
}

func TestClipped(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("a", 100), strings.Repeat("é€𝄞", 50), strings.Repeat("\x80", 100)} {
		got := clipped(text, 20)
		if utf8.ValidString(text) && !utf8.ValidString(got) || len(got) > 20+len(" … ") || len(text) <= 20 && got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
