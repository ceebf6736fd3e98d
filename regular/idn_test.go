package regular

import (
	"slices"
	"testing"
	"unicode"

	"golang.org/x/net/idna"

	"github.com/stencil-json/stencil/regular/runes"
)

// inRanges reports whether a character is in one of the ranges.
func inRanges(set []runes.Range, r rune) bool {
	return slices.ContainsFunc(set, func(x runes.Range) bool { return x.Lo <= r && r <= x.Hi })
}

// TestIDNLabel compares the characters of labels with those that x/net/idna accepts,
// which follows UTS 46: that allows symbols too, and leaves to the registries what RFC
// 5892 disallows by name.
func TestIDNLabel(t *testing.T) {
	byName := runes.Of(0x640, 0x640, 0x7FA, 0x7FA, 0x302E, 0x302F, 0x3031, 0x3035, 0x303B, 0x303B, // exceptions
		0x1100, 0x11FF, 0xA960, 0xA97C, 0xD7B0, 0xD7C6, 0xD7CB, 0xD7FB, // old Hangul
		0x20D0, 0x20FF, 0x1D100, 0x1D24F) // blocks of marks for symbols
	others := runes.Of('-', '-', 0xB7, 0xB7, 0x375, 0x375, 0x5F3, 0x5F4, 0x6FD, 0x6FE, 0xF0B, 0xF0B, 0x3007, 0x3007, 0x30FB, 0x30FB, 0x200C, 0x200D) // no letters, marks or digits, and allowed
	allowed := make([]bool, unicode.MaxRune+1)
	for _, x := range idnLabel {
		for r := x.Lo; r <= x.Hi; r++ {
			allowed[r] = true
		}
	}
	n := 0
	for r := range rune(unicode.MaxRune + 1) {
		want := inRanges(others, r)
		if !want && !inRanges(byName, r) && unicode.In(r, unicode.Ll, unicode.Lo, unicode.Lm, unicode.Mn, unicode.Mc, unicode.Nd) {
			for _, around := range []string{"a", "\u0628"} { // a mark needs something before it, a letter from right to left its like
				_, err := idna.Registration.ToASCII(around + string(r) + around)
				want = want || err == nil
			}
		}
		if allowed[r] != want {
			if n++; n < 20 {
				t.Errorf("%U: in a label %t, want %t", r, allowed[r], want)
			}
		}
	}
	if n > 0 {
		t.Errorf("%d differences", n)
	}
}

// TestIDNNames compares whole names with idna's profile for registration, where both
// follow the same rules.
func TestIDNNames(t *testing.T) {
	s := NewStore(Limits{})
	e, ok := s.Format("idn-hostname")
	if !ok {
		t.Fatal("no such format")
	}
	m, err := s.Compile(e)
	if err != nil {
		t.Fatal(err)
	}
	matches := func(text string) bool {
		q := m.Start()
		for _, r := range text {
			q = m.Step(q, r)
		}
		return q != Dead && m.Accepting(q)
	}
	for text, want := range map[string]bool{
		"bücher.example": true, "a\u0308": true, "Bücher": false, "ﬁ": false, "straße": true, "ςa": true,
		"נס": true, "נס1": true, "1נס": false, "נaס": false, "نامه\u200cای": true, "क्\u200cष": true, "क्\u200dष": true, "a\u200cb": false,
		"ܐ\u200cب": false, "ب\u200cܐ": true, "ب\u0301\u200c\u0301ب": true, // Syriac alaph joins to what precedes alone
		"𐴀𐴰": true, "𐴰𐴀": false, "𞤢𞤣": true, "𞤀": false, // beyond the basic plane
		"\u0301a": false, "𑀓": true, "ａ": false, "ⅷ": false, "a\u034fb": false,
	} {
		_, err := idna.Registration.ToASCII(text)
		if got := matches(text); got != want || (err == nil) != want {
			if text == "a\u0308" && got { // idna asks for normalisation form C as well
				continue
			}
			t.Errorf("%+q: %t, want %t; idna: %v", text, got, want, err)
		}
	}
	// A letter that joins to nothing after a non-joiner: idna accepts it, RFC 5892 does
	// not.
	if matches("ب\u200cא") || matches("ب\u200c٠") {
		t.Error("a non-joiner stands before what does not join")
	}
}
