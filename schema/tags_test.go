package schema

import (
	"fmt"
	"strings"
	"testing"
)

// Alternatives that a member distinguishes are not tried in pairs, so that
// memory for hundreds of them grows linearly, not quadratically.
func TestTaggedAlternatives(t *testing.T) {
	v := byteVocab(t)
	size := map[int]int{}
	for _, n := range []int{100, 400} {
		for _, keyword := range []string{"oneOf", "anyOf"} {
			alternatives := make([]string, n)
			for i := range alternatives {
				alternatives[i] = fmt.Sprintf(`{"type": "object", "properties": {"type": {"enum": ["t%d", "u%d"]}, "value": {"type": "object", "properties": {"p%d": {"type": "integer"}}, "additionalProperties": false}}, "required": ["type"]}`, i, i, i)
			}
			g := grammar(t, v, `{"`+keyword+`": [`+strings.Join(alternatives, ",")+`]}`, lenient)
			for _, c := range []struct {
				text string
				want bool
			}{
				{`{"type": "t7", "value": {"p7": 1}}`, true}, {`{"value": {"p7": 1}, "type": "u7"}`, true}, {`{"value": {}, "type": "u99"}`, true},
				{`{"type": "t7", "value": {"p8": 1}}`, false}, {`{"value": {"p8": 1}, "type": "t7"}`, false}, {`{"value": {}, "type": "x"}`, false}, {`{"value": {}}`, false},
			} {
				if got := accepts(g, c.text); got != c.want {
					t.Errorf("%d %s: %s: accepted %v", n, keyword, c.text, got)
				}
			}
			size[n] += g.Stats().Bytes
		}
	}
	if size[400] > 6*size[100] {
		t.Errorf("100 alternatives take %d bytes, 400 take %d", size[100], size[400])
	}
}

// A tag that two alternatives share does not distinguish them.
func TestSharedTags(t *testing.T) {
	g := grammar(t, byteVocab(t), `{"oneOf": [
		{"type": "object", "properties": {"k": {"enum": ["a", "b"]}, "x": {"type": "integer"}}, "required": ["k"]},
		{"type": "object", "properties": {"k": {"enum": ["b", "c"]}, "x": {"type": "number", "minimum": 5}}, "required": ["k"]},
		{"type": "object", "properties": {"k": {"const": "d"}}},
		{"type": "object", "properties": {"x": {"const": 7}}, "required": ["x"]}]}`, lenient)
	for text, want := range map[string]bool{
		`{"k": "a"}`: true, `{"k": "b"}`: false, `{"k": "b", "x": 2}`: true, `{"x": 5.5, "k": "b"}`: true, `{"k": "b", "x": 6}`: false,
		`{"k": "c", "x": 2}`: false, `{"k": "c", "x": 6}`: true, `{"k": "c", "x": 7}`: false, `{"k": "d"}`: true, `{"k": "d", "x": 7}`: false,
		`{}`: true, `{"x": 7}`: false, `{"x": 7, "k": "e"}`: true, `{"x": 8, "k": "e"}`: false,
	} {
		if got := accepts(g, text); got != want {
			t.Errorf("%s: accepted %v", text, got)
		}
	}
}
