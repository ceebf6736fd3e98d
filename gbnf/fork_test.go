package gbnf

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/vocab"
)

// fork is a text of either calls or an answer, which may have a common prefix.
func fork(t testing.TB, v *vocab.Vocab) *decoder.Sequence {
	return sequence(t, v,
		decoder.Segment{Fork: []int{1, 4}},
		decoder.Segment{Fixed: text("[f("), Next: 2},
		decoder.Segment{Grammar: constraint(t, v, `root ::= [0-9]+ "."`), Next: 3},
		decoder.Segment{OneOf: []decoder.Stop{{Mark: text(";"), Next: 2}, {Mark: text(")]"), Next: 5}}},
		decoder.Segment{Grammar: constraint(t, v, `root ::= "[f(" [a-z]* ")" | [a-z]+`), Next: decoder.End},
		decoder.Segment{Fixed: text("\n[f("), MayEnd: true, Next: 2})
}

// laterFork is reasoning, followed by such a fork.
func laterFork(t testing.TB, v *vocab.Vocab) *decoder.Sequence {
	return sequence(t, v,
		decoder.Segment{Free: &decoder.Free{Stops: []decoder.Stop{{Mark: text("</think>"), Next: 1}}}},
		decoder.Segment{Fork: []int{2, 3}},
		decoder.Segment{Fixed: text("(call)"), Next: decoder.End},
		decoder.Segment{Grammar: constraint(t, v, `root ::= [(a-z]+ "!"`), Next: decoder.End})
}

// unasked is free text that may start with reasoning. One of its marks is a
// prefix of another, and is read first wherever it may occur.
func unasked(t testing.TB, v *vocab.Vocab) *decoder.Sequence {
	return sequence(t, v,
		decoder.Segment{Free: &decoder.Free{MayEnd: true, Stops: []decoder.Stop{
			{Mark: text("<think>"), Next: 1, AtStart: true}, {Mark: text("<t"), Next: 3, AtStart: false}, {Mark: text("{th"), Next: 2, AtStart: true},
		}}},
		decoder.Segment{Free: &decoder.Free{MayEnd: true, Stops: []decoder.Stop{{Mark: text("</think>"), Next: 2}}}},
		decoder.Segment{Free: &decoder.Free{MayEnd: true}},
		decoder.Segment{Fixed: text("!"), MayEnd: true, Next: 2})
}

func TestForks(t *testing.T) {
	v := byteVocab(t)
	for _, c := range []struct {
		s               *decoder.Sequence
		whole, partial  []string
		refused         []string
		spans, shortest string // of the first whole text
	}{
		{
			fork(t, v), []string{"[f(12.;3.)]\n[f(4.)]", "[f(1.)]", "[f(ab)", "[f()", "xyz"}, []string{"", "[", "[f(", "[f(1", "[f(a", "[f(1.)]\n"}, []string{"[f(1a", "[f(a1", "x1", "[f(1.)]x", "[g", "[f()]"},
			"[{1 0 3 0} {2 3 6 0} {3 6 7 0} {2 7 9 0} {3 9 11 0} {5 11 15 0} {2 15 17 0} {3 17 19 0} {5 19 19 0}]", "a",
		},
		{
			laterFork(t, v), []string{"a</think>(call)", "</think>(call!", "</think>(call!"}, []string{"", "a", "</think>", "</think>(cal"}, []string{"</think>1", "</think>(call)!"},
			"[{0 0 9 8} {2 9 15 0}]", "</think>(!",
		},
		{
			unasked(t, v), []string{"<t", "{thx", "<t!x", "a<t!", "a{th<", ""}, nil, []string{"<tx", "a<tx", "<think>", "a<think>"},
			"[{0 0 2 2} {3 2 2 0}]", "",
		},
	} {
		for _, s := range append(slices.Clone(c.whole), c.partial...) {
			m := c.s.NewMatcher()
			if err := acceptAll(m, s); err != nil {
				t.Errorf("%q: %v", s, err)
				continue
			}
			if m.Accepting() != slices.Contains(c.whole, s) {
				t.Errorf("%q: accepting %t", s, m.Accepting())
			}
			rest := m.ShortestCompletion()
			if err := acceptAll(m, string(rest)); err != nil || !m.Accepting() {
				t.Errorf("%q and %q: accepting %t, %v", s, rest, m.Accepting(), err)
			}
		}
		for _, s := range c.refused {
			if err := acceptAll(c.s.NewMatcher(), s); err == nil {
				t.Errorf("%q is accepted", s)
			}
		}
		m := c.s.NewMatcher()
		if got := string(m.ShortestCompletion()); len(got) != len(c.shortest) {
			t.Errorf("shortest %q, want %q", got, c.shortest)
		}
		if err := acceptAll(m, c.whole[0]); err != nil {
			t.Errorf("%q: %v", c.whole[0], err)
		} else if got := fmt.Sprint(m.Spans()); got != c.spans {
			t.Errorf("%q: spans %s, want %s", c.whole[0], got, c.spans)
		}
	}
}

// TestSpansHeld checks the spans of a text that arrives byte by byte: a span
// never changes except for the bytes held back, and a rollback restores it.
func TestSpansHeld(t *testing.T) {
	v := byteVocab(t)
	for _, c := range []struct {
		s          *decoder.Sequence
		text, held string // number of bytes held back after each byte, in hexadecimal digits
	}{
		{fork(t, v), "[f(12.;3.)]", "12300000000"},
		{fork(t, v), "[f(ab)", "123000"},
		{laterFork(t, v), "a</x</think>(call)", "012012345670123450"},
		{laterFork(t, v), "</think>(call!", "12345670123450"},
		{calls(t, v), "a<call<call>f(1)</call>b", "012345123450000000000000"},
	} {
		m := c.s.NewMatcher()
		for i := range len(c.text) {
			for range 2 {
				if err := m.Accept(int32(c.text[i]) + 1); err != nil {
					t.Fatalf("%q: %v", c.text[:i+1], err)
				}
				if got := fmt.Sprintf("%x", m.Held()); got != c.held[i:i+1] {
					t.Errorf("%q: %s bytes are held, want %s", c.text[:i+1], got, c.held[i:i+1])
				}
				before := m.Clone()
				if err := m.Rollback(1); err != nil {
					t.Fatal(err)
				}
				again := m.Clone()
				if err := again.Accept(int32(c.text[i]) + 1); err != nil || fmt.Sprint(again.Spans()) != fmt.Sprint(before.Spans()) {
					t.Errorf("%q: spans %v after a rollback, %v before, %v", c.text[:i+1], again.Spans(), before.Spans(), err)
				}
			}
			if err := m.Accept(int32(c.text[i]) + 1); err != nil {
				t.Fatal(err)
			}
		}
	}
}
