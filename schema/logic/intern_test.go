package logic

import (
	"slices"
	"strconv"
	"testing"
)

func TestLists(t *testing.T) {
	lists, want := NewLists(), [][]int32{nil}
	var numbers []int32
	buf := make([]int32, 0, 3)
	for i := range int32(200) {
		for n := range 3 {
			buf = append(buf[:0], i, i^1, i>>1)[:n+1]
			id := lists.Number(buf)
			if int(id) == len(want) {
				want = append(want, slices.Clone(buf))
			}
			numbers = append(numbers, id)
			if !slices.Equal(lists.All[id], buf) {
				t.Fatalf("list %d is %v, want %v", id, lists.All[id], buf)
			}
		}
	}
	if len(lists.All) != 601 || len(want) != 601 || lists.Number(nil) != 0 {
		t.Errorf("%d lists, want 601", len(lists.All))
	}
	for i, id := range numbers {
		if got := lists.Number(want[id]); got != id || int(id) != i+1 {
			t.Errorf("list %d has number %d, then %d", i, id, got)
		}
	}
}

// A conjunction is the same however it is built, also once it is long enough to be
// remembered, and contains no contradiction.
func TestAndOfMany(t *testing.T) {
	g := NewGoals()
	var atoms []Goal
	for i := range 40 {
		atoms = append(atoms, g.Not(constant(t, &g, strconv.Itoa(i))))
	}
	all := g.And(atoms...)
	up, down := Always, Always
	for i := range atoms {
		up, down = g.And(up, atoms[i]), g.And(atoms[len(atoms)-1-i], down)
	}
	halves := g.And(g.And(atoms[:25]...), g.And(atoms[15:]...))
	if up != all || down != all || halves != all || g.And(all, atoms[7]) != all || g.And(up, down) != all {
		t.Errorf("%d, %d, %d, want %d", up, down, halves, all)
	}
	no := g.Not(atoms[20])
	if got := g.And(all, no); got != Never {
		t.Errorf("a contradiction is %d", got)
	}
	rest := g.And(atoms[:20]...)
	if got := g.And(rest, no); got == Never || !g.Includes(got, rest) || !g.Includes(got, no) || g.Includes(got, atoms[20]) {
		t.Errorf("a conjunction of %v", g.Info[got].List)
	}
}
