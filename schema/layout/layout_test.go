package layout_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/schema/layout"
)

// document writes a document with the given choices: the n-th choice takes the
// n-th answer; choices with a single option take none.
func document(at layout.Place, answers []int) string {
	var b strings.Builder
	pick := func(list []layout.Choice) layout.Place {
		c := list[0]
		if len(list) > 1 {
			c, answers = list[answers[0]], answers[1:]
		}
		b.WriteString(c.Text)
		return c.Place
	}
	open := func(at layout.Place) layout.Place {
		list, indent := at.Openings()
		if indent && answers[0] == len(list) {
			answers = answers[1:]
			b.WriteString("\n" + layout.Spaces(3).String())
			return at.Indented(3)[0]
		}
		return pick(list)
	}
	b.WriteString("{")
	at = open(at)
	b.WriteString(`"a"`)
	at = pick(at.Colons())
	b.WriteString("[")
	in := open(at.Value())
	b.WriteString("1")
	in = pick(in.Commas())
	b.WriteString("2")
	in = pick(in.Commas())
	b.WriteString("3" + in.Closing() + "]")
	at = pick(at.Commas())
	b.WriteString(`"b"`)
	at = pick(at.Colons())
	b.WriteString("{")
	in = open(at.Value())
	b.WriteString(`"c"`)
	in = pick(in.Colons())
	b.WriteString("null" + in.Closing() + "}" + at.Closing() + "}")
	if len(answers) > 0 {
		b.WriteString(fmt.Sprint(" unasked: ", answers))
	}
	return b.String()
}

func TestDocuments(t *testing.T) {
	for _, c := range []struct {
		name    string
		at      layout.Place
		answers []int
		want    string
	}{
		{"compact", layout.Compact(), nil, `{"a":[1,2,3],"b":{"c":null}}`},
		{"pretty", layout.Pretty(), nil, "{\n  \"a\": [\n    1,\n    2,\n    3\n  ],\n  \"b\": {\n    \"c\": null\n  }\n}"},
		{"natural, tight", layout.Natural(), []int{0, 0, 0, 0, 0, 0}, `{"a":[1,2,3],"b":{"c":null}}`},
		{"natural, as Python", layout.Natural(), []int{0, 1, 0, 1, 1, 0}, `{"a": [1, 2, 3], "b": {"c": null}}`},
		{"natural, padded", layout.Natural(), []int{1, 1, 0, 1, 1, 1}, `{ "a": [1, 2, 3], "b": { "c": null } }`},
		{"natural, lines", layout.Natural(), []int{2, 1, 0, 1, 2}, "{\n   \"a\": [1, 2, 3],\n   \"b\": {\n      \"c\": null\n   }\n}"},
		{"natural, lines for items", layout.Natural(), []int{2, 0, 2, 0}, "{\n   \"a\":[\n      1,\n      2,\n      3\n   ],\n   \"b\":{\"c\":null}\n}"},
	} {
		if got := document(c.at, c.answers); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestUnits(t *testing.T) {
	if got := layout.Tab.String(); got != "\t" {
		t.Errorf("tab: %q", got)
	}
	for n := range layout.MaxSpaces + 1 {
		if got := layout.Spaces(n).String(); got != strings.Repeat(" ", n) {
			t.Errorf("%d spaces: %q", n, got)
		}
	}
}
