package logic

import (
	"fmt"
	"testing"
)

func TestRivals(t *testing.T) {
	const kind, other = 3, 4
	got := fmt.Sprint(Rivals([]Tags{
		{kind: {1, 2}}, {kind: {2, 3}, other: {9}}, {kind: {4}}, nil, {kind: {}}, {other: {9}},
	}))
	const want = "[[1 3 5] [0 3 5] [3 5] [0 1 2 4 5] [3 5] [0 1 2 3 4]]"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := fmt.Sprint(Rivals([]Tags{nil, nil})); got != "[[1] [0]]" {
		t.Errorf("without tags: %s", got)
	}
}
