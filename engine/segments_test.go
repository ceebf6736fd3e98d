package engine

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stencil/decoder/sampling"
	"stencil/schema"
	"stencil/vocab"
)

// graphs are texts constrained in parts, each with a check of its whole text.
func graphs(t *testing.T, v *vocab.Vocab) map[string]struct {
	c    Constraint
	fits func(text string) bool
} {
	t.Helper()
	s, err := NewSchemas(v, 4).Compile([]byte(`{"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":99}},"required":["n"],"additionalProperties":false}`), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	document := func(text string) bool { return s.Validate([]byte(text)) == nil }
	call := func(text string) bool { // <c>document</c>, once or more
		parts := strings.Split(text, "<c>")
		for _, p := range parts[1:] {
			inside, ok := strings.CutSuffix(p, "</c>")
			if !ok || !document(inside) {
				return false
			}
		}
		return parts[0] == "" && len(parts) > 1
	}
	calls := []Segment{
		{Kind: SegmentGiven, Text: "<c>", Next: 1}, {Kind: SegmentDocument, Grammar: s.Bound, Next: 2}, {Kind: SegmentGiven, Text: "</c>", Next: 3},
		{Kind: SegmentGiven, Text: "<c>", MayEnd: true, Next: 1},
	}
	shift := func(list []Segment, n int) []Segment {
		list = slices.Clone(list)
		for i := range list {
			list[i].Next += n
		}
		return list
	}
	return map[string]struct {
		c    Constraint
		fits func(text string) bool
	}{
		"calls": {Segments(v, calls), call},
		"free, then a call": {
			Segments(v, append([]Segment{{Kind: SegmentFree, Text: "<c>", MayEnd: true, Next: 2}}, shift(calls, 1)...)),
			func(text string) bool {
				i := strings.Index(text, "<c>")
				return i < 0 || call(text[i:])
			},
		},
		"a call or a document": {
			Segments(v, append([]Segment{{Kind: SegmentFork, Next: 1, Or: 5}}, append(shift(calls, 1), Segment{Kind: SegmentDocument, Grammar: s.Bound, MayEnd: true})...)),
			func(text string) bool { return call(text) || document(text) },
		},
		"thoughts, then a document": {
			Segments(v, []Segment{
				{Kind: SegmentFree, Text: "</t>", Tokens: 7, Next: 1}, {Kind: SegmentGiven, Text: "\n\n", Next: 2}, {Kind: SegmentDocument, Grammar: s.Bound, MayEnd: true},
			}),
			func(text string) bool {
				_, after, ok := strings.Cut(text, "</t>\n\n")
				return ok && document(after)
			},
		},
	}
}

// Random walks through masks and forced text end in texts that fit; what was
// taken back leaves no trace; and from everywhere the shortest completion is
// one.
func TestSegments(t *testing.T) {
	v := testVocab(t)
	for name, g := range graphs(t, v) {
		for seed := range uint64(150) {
			rng := rand.New(rand.NewPCG(seed, 1))
			m := g.c.NewMatcher()
			var tokens []int32
			take := func(token int32) {
				if err := m.Accept(token); err != nil {
					t.Fatalf("%s: %q, then %q: %v", name, v.Decode(tokens), v.Bytes(token), err)
				}
				tokens = append(tokens, token)
			}
			for ended := false; !ended && len(tokens) < 60; {
				if n := rng.IntN(4); n < len(tokens) && rng.IntN(5) == 0 {
					if err := m.Rollback(n); err != nil {
						t.Fatal(err)
					}
					tokens = tokens[:len(tokens)-n]
				}
				if m.Accepting() != g.fits(string(v.Decode(tokens))) {
					t.Fatalf("%s: %q: accepting %t", name, v.Decode(tokens), m.Accepting())
				}
				if rng.IntN(2) == 0 {
					for _, token := range slices.Clone(m.ForcedTokens()) {
						take(token)
					}
				}
				mask, err := m.Mask()
				if err != nil {
					t.Fatal(err)
				}
				list := allowed(mask)
				if len(list) == 0 {
					t.Fatalf("%s: nothing may follow %q", name, v.Decode(tokens))
				}
				token := list[rng.IntN(len(list))]
				if ended = v.IsEOG(token); ended {
					if err := m.Accept(token); err != nil || !g.fits(string(v.Decode(tokens))) {
						t.Fatalf("%s: %q ends: %v", name, v.Decode(tokens), err)
					}
					continue
				}
				take(token)
			}
			if m.Accepting() {
				continue
			}
			text := m.ShortestCompletion()
			for _, token := range spell(v, text) { // tokens may reach over the parts
				take(token)
			}
			if whole := string(v.Decode(tokens)); !m.Accepting() || !g.fits(whole) {
				t.Fatalf("%s: %q, completed with %q, does not fit", name, whole, text)
			}
		}
	}
}

// allowed returns the tokens of a mask.
func allowed(set sampling.Set) []int32 {
	base, extra := set.Parts()
	return base.AppendTo(slices.Clone(extra))
}

func TestMark(t *testing.T) {
	for _, test := range []struct {
		marker    string
		pos       int
		text      string
		after, at int
	}{
		{"", 0, "abc", 0, -1}, {"ab", 0, "xab", 2, 3}, {"ab", 0, "xa", 1, -1}, {"ab", 1, "b", 2, 1}, {"ab", 1, "ab", 2, 2}, {"ab", 1, "x", 0, -1},
		{"aab", 2, "ab", 3, 2}, {"aab", 2, "aaab", 3, 4}, {"abac", 3, "bac", 4, 3}, {"<c>", 0, "<<c>", 3, 4}, {"<c>", 2, "<c>x", 3, 3},
	} {
		if after, at := mark(test.marker, test.pos, []byte(test.text)); after != test.after || at != test.at {
			t.Errorf("mark(%q, %d, %q) = %d, %d, want %d, %d", test.marker, test.pos, test.text, after, at, test.after, test.at)
		}
	}
}
