package decoder

import (
	"slices"
	"strings"
	"testing"
)

// An opening is found at the start of a text or of a line, in all of its spellings,
// and holds back only the bytes that belong to it.
func TestOpenings(t *testing.T) {
	v := testVocab(t)
	body := []Step{{Blanks: true}, {Texts: []string{"{"}}, {Blanks: true}, {Texts: []string{`"name"`, `"tool"`}}, {Blanks: true}, {Texts: []string{":"}}, {Blanks: true}}
	name := func(before Step, name string, atLine bool, next int) Stop {
		return Stop{Steps: append(append([]Step{before}, body...), Step{Texts: []string{`"` + name + `"`}}), AtLine: atLine, Next: next}
	}
	fence := Step{Texts: []string{"```json\n", "```\n"}}
	segments := []Segment{
		{Free: &Free{MayEnd: true, Stops: []Stop{
			{Mark: []Piece{{Text: "<call>"}}, Next: 1},
			name(Step{Blanks: true}, "get", false, 1), name(Step{Blanks: true}, "get_all", false, 2),
			name(fence, "get", true, 1), name(fence, "get_all", true, 2),
		}}},
		{OneOf: []Stop{{Mark: []Piece{{Text: "!"}}, Next: End}}},
		{OneOf: []Stop{{Mark: []Piece{{Text: "?"}}, Next: End}}},
	}
	s, err := NewSequence(v, segments, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text    string
		segment int // after the text
		content string
		held    int
	}{
		{"hello", 0, "hello", 0},
		{`{"name": "get"`, 1, "", 0},
		{"  {\n\t\"tool\" :\"get_all\"", 2, "", 0},
		{"Well:\n```json\n{\"name\": \"get\"", 1, "Well:\n", 0},
		{"Well:\n```\n { \"name\": \"get\"", 1, "Well:\n", 0},
		{"Well: ```json\n{\"name\": \"get\"", 0, "Well: ```json\n{\"name\": \"get\"", 0},
		{"Well:\n{\"name\": \"get\"", 0, "Well:\n{\"name\": \"get\"", 0},
		{`{"name": "got"`, 0, `{"name": "got"`, 0},
		{`{"name": "ge`, 0, "", 12},
		{"x\n```js", 0, "x\n", 5},
		{"x\n```jsx", 0, "x\n```jsx", 0},
		{"x\n```json\n{\n```json\n{\"name\": \"get\"", 1, "x\n```json\n{\n", 0},
		{"{<call>", 1, "{", 0},
		{`{"name": "get_all"`, 2, "", 0},
		{"```json\n```json\n{\"name\": \"get\"", 1, "```json\n", 0},
	} {
		m := s.NewMatcher()
		for _, b := range []byte(c.text) {
			tok := int32(b)
			mask, err := m.Mask()
			if err != nil || !mask.Has(tok) {
				t.Fatalf("%q: %q is not allowed, %v", c.text, b, err)
			}
			if err := m.Accept(tok); err != nil {
				t.Fatal(err)
			}
		}
		spans := slices.Clone(m.Spans())
		content := c.text[:spans[0].End-spans[0].Mark]
		if len(spans) == 1 {
			content = c.text[:len(c.text)-m.Held()]
		}
		if m.Segment() != c.segment || content != c.content || len(spans) == 1 && m.Held() != c.held {
			t.Errorf("%q: segment %d, content %q, held %d, %+v", c.text, m.Segment(), content, m.Held(), spans)
		}
		// Rolling back and accepting the text again leads to the same state.
		n := min(len(c.text), 9)
		if err := m.Rollback(n); err != nil {
			t.Fatal(err)
		}
		for _, b := range []byte(c.text[len(c.text)-n:]) {
			if err := m.Accept(int32(b)); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(spans, m.Spans()) {
			t.Errorf("%q: after a rollback %+v, before %+v", c.text, m.Spans(), spans)
		}
	}
	// Many names share the steps before them.
	var stops []Stop
	for i := range 100 {
		stops = append(stops, name(fence, strings.Repeat("x", 8)+string(rune('a'+i%26))+string(rune('a'+i/26)), true, 1))
	}
	segments[0].Free.Stops = stops
	if s, err = NewSequence(v, segments, Limits{}); err != nil {
		t.Fatal(err)
	}
	if n := len(s.source.parts[0].free.next); n > 400 {
		t.Errorf("%d states", n)
	}
}
