package main

import (
	"slices"
	"testing"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/models/lessons"
)

// TestSwap checks that replacing parts of words keeps the rest of a lesson:
// the same marks, the same schema, and values that still occur in the text.
func TestSwap(t *testing.T) {
	_, v := learned(t)
	p := chat.NewPrompts(v)
	s := newSwapper(v, 1)
	g := lessons.New(8, lessons.Unseen{})
	g.Only("people", "contacts", "orders")
	changed := 0
	for range 200 {
		l := g.Next()
		before, asked, err := encode(v, p, l)
		if err != nil {
			t.Fatal(err)
		}
		ids := slices.Clone(before)
		s.swap(ids, asked)
		from := slices.Index(before[:asked], s.user) + 1
		if !slices.Equal(ids[:from], before[:from]) {
			t.Fatalf("the schema of %s was changed", l.Schema)
		}
		to := map[uint16]uint16{}
		back := map[uint16]uint16{}
		for i := from; i < len(ids); i++ {
			was, is := before[i]&token, ids[i]&token
			if before[i]&^token != ids[i]&^token {
				t.Fatalf("marks of %s were changed", l.Answer)
			}
			if n, ok := to[was]; ok && n != is {
				t.Fatalf("%s became %s and %s", v.Text(int32(was)), v.Text(int32(n)), v.Text(int32(is)))
			}
			if n, ok := back[is]; ok && n != was {
				t.Fatalf("%s and %s became %s", v.Text(int32(was)), v.Text(int32(n)), v.Text(int32(is)))
			}
			to[was], back[is] = is, was
			if was != is {
				changed++
				if s.class[was] == 0 || s.class[was] != s.class[is] {
					t.Errorf("%s became %s", v.Text(int32(was)), v.Text(int32(is)))
				}
				if ids[i]&key != 0 {
					t.Errorf("in %s a name was changed", l.Answer)
				}
			}
		}
	}
	if changed < 500 {
		t.Errorf("%d tokens were changed in 200 lessons", changed)
	}
}
