package logic

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSets(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		words := rnd.IntN(4)
		set := make([]uint64, words)
		for range rnd.IntN(6) {
			if words > 0 {
				i := rnd.IntN(64 * words)
				set[i>>6] |= 1 << (i & 63)
			}
		}
		has := func(i int) bool { return i>>6 < words && set[i>>6]>>(i&63)&1 != 0 }
		from := rnd.IntN(64*words + 70)
		want := int32(math.MaxInt32)
		for i := from; i < 64*words; i++ {
			if has(i) {
				want = int32(i)
				break
			}
		}
		if got := Next(set, int32(from)); got != want {
			t.Fatalf("%b from %d: %d, want %d", set, from, got, want)
		}
		left := Drop(slices.Clone(set), int32(from))
		for i := range 64 * words {
			if left[i>>6]>>(i&63)&1 != 0 != (has(i) && i >= from) {
				t.Fatalf("%b without those below %d: %b", set, from, left)
			}
		}
	}
}
