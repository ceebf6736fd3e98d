package backend

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestBatchRows(t *testing.T) {
	var b Batch
	if got := b.AddTokens(0, 5, []int32{7, 8, 9}, true); got != 0 {
		t.Errorf("first row is %d", got)
	}
	if got := b.AddTokens(1, 0, []int32{1, 2}, false); got != -1 {
		t.Errorf("a row nobody asked for: %d", got)
	}
	if got := b.Add(2, 3, 4, true); got != 1 {
		t.Errorf("second row is %d", got)
	}
	if got := b.AddTokens(3, 0, nil, true); got != -1 {
		t.Errorf("row of no tokens: %d", got)
	}
	if !slices.Equal(b.Tokens, []int32{7, 8, 9, 1, 2, 4}) || !slices.Equal(b.Pos, []int32{5, 6, 7, 0, 1, 3}) ||
		!slices.Equal(b.Seqs, []int32{0, 0, 0, 1, 1, 2}) || !slices.Equal(b.Want, []int8{0, 0, 1, 0, 0, 1}) || b.Rows() != 2 {
		t.Errorf("%+v", b)
	}
	next := make([]int32, 4)
	if err := b.Check(10, 4, 6, next); err != nil || !slices.Equal(next, []int32{8, 2, 4, -1}) {
		t.Errorf("%v, next %v", err, next)
	}
	b.Reset()
	if b.Len() != 0 || b.Rows() != 0 || cap(b.Tokens) == 0 {
		t.Errorf("after Reset: %+v", b)
	}
}

func TestBatchCheck(t *testing.T) {
	for _, c := range []struct {
		text string // part of the error
		b    Batch
	}{
		{"empty", Batch{}},
		{"4 entries, at most 3", Batch{Tokens: make([]int32, 4), Pos: []int32{0, 1, 2, 3}, Seqs: make([]int32, 4), Want: make([]int8, 4)}},
		{"differ in length", Batch{Tokens: make([]int32, 2), Pos: []int32{0}, Seqs: make([]int32, 2), Want: make([]int8, 2)}},
		{"differ in length", Batch{Tokens: make([]int32, 2), Pos: []int32{0, 1}, Seqs: make([]int32, 2), Want: make([]int8, 1)}},
		{"entry 1: token 10", Batch{Tokens: []int32{9, 10}, Pos: []int32{0, 1}, Seqs: []int32{0, 0}, Want: []int8{0, 0}}},
		{"entry 0: sequence 2", Batch{Tokens: []int32{0}, Pos: []int32{0}, Seqs: []int32{2}, Want: []int8{0}}},
		{"negative position -1", Batch{Tokens: []int32{0}, Pos: []int32{-1}, Seqs: []int32{0}, Want: []int8{0}}},
		{"entry 2: sequence 0 continues at position 5, not 6", Batch{Tokens: []int32{0, 0, 0}, Pos: []int32{4, 4, 6}, Seqs: []int32{0, 1, 0}, Want: []int8{0, 0, 0}}},
	} {
		err := c.b.Check(10, 2, 3, make([]int32, 2))
		if !errors.Is(err, ErrBatch) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v, want %q", err, c.text)
		}
	}
}
