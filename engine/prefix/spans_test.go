package prefix

import (
	"fmt"
	"slices"
	"testing"
)

// TestCutting splits whole prompts and compares the batches.
func TestCutting(t *testing.T) {
	for _, c := range []struct {
		Cutting
		from, end, room int
		want            string
	}{
		{Cutting{1, 0}, 0, 100, 512, "[{100 written}]"},
		{Cutting{64, 0}, 0, 40, 512, "[{40 rest}]"},
		{Cutting{64, 0}, 0, 64, 512, "[{64 blocks}]"},
		{Cutting{64, 0}, 0, 300, 512, "[{256 blocks} {300 rest}]"},
		{Cutting{64, 0}, 0, 300, 150, "[{128 blocks} {256 blocks} {300 rest}]"},
		{Cutting{64, 0}, 0, 300, 63, "[{63 piece} {64 rest} {127 piece} {128 rest} {191 piece} {192 rest} {255 piece} {256 rest} {300 rest}]"},
		{Cutting{64, 100}, 0, 300, 512, "[{64 blocks} {100 rest} {292 blocks} {300 rest}]"},
		{Cutting{64, 100}, 0, 90, 512, "[{64 blocks} {90 rest}]"},
		{Cutting{64, 0}, 70, 300, 512, "[{128 rest} {256 blocks} {300 rest}]"},
		{Cutting{64, 0}, 70, 90, 512, "[{90 rest}]"},
	} {
		var got History
		for at := c.from; at < c.end; {
			n, kind := c.Next(at, c.end, c.room)
			if n < 1 || n > c.room {
				t.Fatalf("%+v: %d tokens at %d", c, n, at)
			}
			at += n
			got = append(got, Span{at, kind})
		}
		if s := fmt.Sprint(got); s != c.want {
			t.Errorf("%+v: %s, want %s", c, s, c.want)
		}
	}
}

func (x Span) String() string {
	return fmt.Sprintf("{%d %s}", x.End, [...]string{"blocks", "rest", "piece", "written"}[x.Kind])
}

// TestUsable checks how much of a slot another prompt can reuse.
func TestUsable(t *testing.T) {
	turn := History{{64, Blocks}, {100, Rest}, {164, Blocks}, {180, Rest}, {200, Written}, {230, Rest}, {240, Written}}
	for _, c := range []struct {
		Cutting
		h       History
		n, want int
	}{
		{Cutting{1, 0}, nil, 77, 77},
		{Cutting{64, 0}, nil, 77, 0}, // it is unknown how it was computed
		{Cutting{64, 0}, History{{256, Blocks}, {300, Rest}}, 300, 256},
		{Cutting{64, 0}, History{{256, Blocks}, {300, Rest}}, 255, 192},
		{Cutting{64, 0}, History{{256, Blocks}, {300, Rest}}, 63, 0},
		{Cutting{64, 0}, History{{40, Rest}, {60, Written}}, 39, 0},
		{Cutting{64, 0}, History{{40, Rest}, {60, Written}}, 41, 41},
		{Cutting{64, 0}, History{{40, Piece}, {60, Rest}}, 60, 0},
		{Cutting{64, 100}, turn, 99, 64},
		{Cutting{64, 100}, turn, 100, 100}, // up to the mark
		{Cutting{64, 100}, turn, 120, 100},
		{Cutting{64, 100}, turn, 170, 164},
		{Cutting{64, 100}, turn, 190, 190},
		{Cutting{64, 100}, turn, 210, 200},
		{Cutting{64, 100}, turn, 235, 235},
		{Cutting{64, 0}, turn, 120, 64}, // this prompt isn't split at 100
		{Cutting{64, 0}, turn, 164, 64},
	} {
		if got := c.Usable(c.h, c.n); got != c.want {
			t.Errorf("%+v: %d, want %d", c, got, c.want)
		}
	}
	if got := fmt.Sprint(slices.Clone(turn).Cut(170)); got != "[{64 blocks} {100 rest} {164 blocks} {170 piece}]" {
		t.Error(got)
	}
	if got := fmt.Sprint(slices.Clone(turn).Cut(164)); got != "[{64 blocks} {100 rest} {164 blocks}]" {
		t.Error(got)
	}
}
