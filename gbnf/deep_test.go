package gbnf

import (
	"bytes"
	"testing"
)

// TestDeepStacks completes and finishes texts nested millions of levels deep: nothing may recurse as deep.
func TestDeepStacks(t *testing.T) {
	v := byteVocab(t)
	const depth = 3_000_000
	for _, c := range []struct{ grammar, read, rest string }{
		{`root ::= "(" root ")" | "x"`, "(", "x)"},
		{`root ::= "a" (root "")?`, "a", ""},
	} {
		m := bind(t, c.grammar, v).NewMatcher()
		if n, err := m.AcceptBytes(bytes.Repeat([]byte(c.read), depth)); err != nil {
			t.Fatalf("%s: %d bytes: %v", c.grammar, n, err)
		}
		rest := m.ShortestCompletion()
		if len(rest) == 0 != (c.rest == "") || len(rest) > 1 && len(rest) != depth+1 || !bytes.HasPrefix(rest, []byte(c.rest[:min(1, len(c.rest))])) {
			t.Errorf("%s: a completion of %d bytes: %.20q", c.grammar, len(rest), rest)
		}
		if m.Accepting() != (c.rest == "") {
			t.Errorf("%s: accepting: %t", c.grammar, m.Accepting())
		}
	}
}
