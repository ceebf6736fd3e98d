package shares

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// keeper stores things as a user of Shares does.
type keeper struct {
	Shares
	things []*Thing // oldest first
}

func (k *keeper) put(t Thing) bool {
	drop, ok := Room(&k.Shares, t.Owner, Share{1, t.Bytes}, func(yield func(*Thing, Thing) bool) {
		for _, t := range k.things {
			if !yield(t, *t) {
				return
			}
		}
	})
	if !ok {
		return false
	}
	for _, t := range drop {
		k.Remove(t.Owner, t.Bytes)
		k.things = slices.DeleteFunc(k.things, func(one *Thing) bool { return one == t })
	}
	k.Add(t.Owner, t.Bytes)
	k.things = append(k.things, &t)
	return true
}

func TestRoom(t *testing.T) {
	of := func(owner string, bytes ...int64) (out []Thing) {
		for _, b := range bytes {
			out = append(out, Thing{owner, b})
		}
		return out
	}
	for _, c := range []struct {
		name  string
		limit Share
		put   []Thing
		want  []Thing
		lost  int // things that were not stored
	}{
		{"one owner", Share{2, 100}, of("a", 1, 2, 3), of("a", 2, 3), 0},
		{"the one with most", Share{4, 100}, slices.Concat(of("b", 1), of("a", 2, 3, 4, 5, 6)), slices.Concat(of("b", 1), of("a", 4, 5, 6)), 0},
		{"another than the one who adds", Share{4, 100}, slices.Concat(of("a", 1, 2, 3, 4), of("b", 5)), slices.Concat(of("a", 2, 3, 4), of("b", 5)), 0},
		{"owners than there is room for", Share{2, 100}, slices.Concat(of("a", 1), of("b", 2), of("c", 3)), slices.Concat(of("b", 2), of("c", 3)), 0},
		{"bytes are scarce", Share{100, 10}, slices.Concat(of("a", 1, 1, 1), of("b", 7), of("a", 1)), of("a", 1, 1, 1, 1), 0},
		{"a large thing beside small ones", Share{100, 10}, slices.Concat(of("a", 1, 1, 1), of("b", 2, 8)), slices.Concat(of("a", 1, 1, 1), of("b", 2)), 1},
		{"larger than all", Share{100, 10}, of("a", 5, 11), of("a", 5), 1},
	} {
		k := &keeper{Shares: Shares{Limit: c.limit}}
		lost := 0
		for _, one := range c.put {
			if !k.put(one) {
				lost++
			}
		}
		var got []Thing
		for _, t := range k.things {
			got = append(got, *t)
		}
		if !slices.Equal(got, c.want) || lost != c.lost {
			t.Errorf("%s: %v, %d lost", c.name, got, lost)
		}
	}
}

// TestFairShare checks that an owner who never stores more than an equal share loses nothing, whatever the others do.
func TestFairShare(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		owners := 2 + rnd.IntN(4)
		limit := Share{owners * (1 + rnd.IntN(5)), int64(owners * (10 + rnd.IntN(50)))}
		k := &keeper{Shares: Shares{Limit: limit}}
		fair := Share{limit.Number / owners, limit.Bytes / int64(owners)}
		var modest Share
		for range 300 {
			who := Thing{string(rune('a' + rnd.IntN(owners))), int64(1 + rnd.IntN(20))}
			if who.Owner == "a" {
				if next := modest.plus(Share{1, who.Bytes}); next.Number > fair.Number || next.Bytes > fair.Bytes {
					continue
				}
				modest = modest.plus(Share{1, who.Bytes})
				if !k.put(who) {
					t.Fatalf("%v: no room for %v", limit, who)
				}
			} else {
				k.put(who)
			}
			if k.of["a"] != modest {
				t.Fatalf("%v: %v of %v are left", limit, k.of["a"], modest)
			}
			if !k.Fits(Share{}) {
				t.Fatalf("%v are used of %v", k.Used, limit)
			}
		}
	}
}
