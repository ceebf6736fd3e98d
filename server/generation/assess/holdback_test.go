package assess

import (
	"slices"
	"testing"
)

// TestHoldbackShowsEarly checks that a line that can't be signals is released as
// it arrives.
func TestHoldbackShowsEarly(t *testing.T) {
	for _, c := range []struct {
		exact, asked bool
		pieces       []string
		want         []string
	}{
		{pieces: []string{"It ", "is", " Paris.\n", "So"}, want: []string{"It", " is", " Paris.", "\nSo"}},
		{pieces: []string{"a\n``", "`go\n", "x\n"}, want: []string{"a", "\n```go", "\nx"}},
		{pieces: []string{"a\n```cor", "tes"}, want: []string{"a", "\n```cortes"}},
		{pieces: []string{"a\n{", `"conf`, `id":`}, want: []string{"a", "", "\n{\"confid\":"}},
		{pieces: []string{"a\n{\n  \"con", "fidence\": 1}", "b"}, want: []string{"a", "", ""}},
		{asked: true, pieces: []string{`{"con`, `fidence":1}`}, want: []string{`{"con`, `fidence":1}`}},
		{asked: true, pieces: []string{`{"a":1}`, "\n{\"confidence\"", ":1}"}, want: []string{`{"a":1}`, "", ""}},
		{exact: true, pieces: []string{"a\n", "{\"conf", "x\n"}, want: []string{"a", "", "\n{\"confx"}},
		{exact: true, pieces: []string{"a\n", "```cortex-signals\n"}, want: []string{"a", "\n```cortex-signals"}},
	} {
		v := &Holdback{Exact: c.exact, Asked: c.asked}
		var got []string
		for _, p := range c.pieces {
			got = append(got, v.Add(p))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.pieces, got, c.want)
		}
	}
}
