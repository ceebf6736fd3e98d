package gbnf

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/vocab"
)

func text(s string) []decoder.Piece { return []decoder.Piece{{Text: s}} }

func sequence(t testing.TB, v *vocab.Vocab, segments ...decoder.Segment) *decoder.Sequence {
	t.Helper()
	s, err := decoder.NewSequence(v, segments, decoder.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func constraint(t testing.TB, v *vocab.Vocab, src string) *decoder.Grammar { return bind(t, src, v) }

// reasoning is a sequence of reasoning and an answer.
func reasoning(t testing.TB, v *vocab.Vocab, budget int) *decoder.Sequence {
	return sequence(t, v,
		decoder.Segment{Fixed: text("<think>"), Next: 1},
		decoder.Segment{Free: &decoder.Free{Stops: []decoder.Stop{{Mark: text("</think>"), Next: 2}}, Budget: budget}},
		decoder.Segment{Grammar: constraint(t, v, `root ::= "{" [a-z]* "}"`), Next: decoder.End})
}

// calls is free text with calls of two tools.
func calls(t testing.TB, v *vocab.Vocab) *decoder.Sequence {
	return sequence(t, v,
		decoder.Segment{Free: &decoder.Free{MayEnd: true, Stops: []decoder.Stop{
			{Mark: text("<call>"), Next: 1}, {Mark: text("[["), Next: 3},
		}}},
		decoder.Segment{Grammar: constraint(t, v, `root ::= "f(" [0-9]+ ")"`), Next: 2},
		decoder.Segment{Fixed: text("</call>"), Next: 0},
		decoder.Segment{Grammar: constraint(t, v, `root ::= [0-9]+ ("," [0-9]+)*`), Next: 0})
}

// tools is a call of one of several tools, each with its own arguments, followed by
// free text.
func tools(t testing.TB, v *vocab.Vocab) *decoder.Sequence {
	return sequence(t, v,
		decoder.Segment{OneOf: []decoder.Stop{{Mark: text("f("), Next: 1}, {Mark: text("fg("), Next: 2}, {Mark: text("none"), Next: 4}, {Mark: text("none!"), Next: decoder.End}}},
		decoder.Segment{Grammar: constraint(t, v, `root ::= [0-9]+`), Next: 3},
		decoder.Segment{Grammar: constraint(t, v, `root ::= [a-z]{2}`), Next: 3},
		decoder.Segment{Fixed: text(");"), Next: 0},
		decoder.Segment{Free: &decoder.Free{MayEnd: true}})
}

// noted is an answer and a note, each under a constraint, with nothing before.
func noted(t testing.TB, v *vocab.Vocab) *decoder.Sequence {
	return sequence(t, v,
		decoder.Segment{Grammar: constraint(t, v, `root ::= "{" [a-z]* "}" | [0-9]*`), Next: 1},
		decoder.Segment{Fixed: text("\n"), Next: 2},
		decoder.Segment{Grammar: constraint(t, v, `root ::= "{" [0-9] "}"`), Next: decoder.End})
}

// notedFork is noted with a call instead of the answer.
func notedFork(t testing.TB, v *vocab.Vocab) *decoder.Sequence {
	return sequence(t, v,
		decoder.Segment{Fork: []int{1, 3}},
		decoder.Segment{Fixed: text("{call}("), Next: 2},
		decoder.Segment{Grammar: constraint(t, v, `root ::= [a-z]+`), Next: 4},
		decoder.Segment{Grammar: constraint(t, v, `root ::= "{" [a-z]* "}" | [0-9]+`), Next: 5},
		decoder.Segment{Fixed: text(")\n"), Next: 6},
		decoder.Segment{Fixed: text("\n"), Next: 6},
		decoder.Segment{Grammar: constraint(t, v, `root ::= "{" [0-9] "}"`), Next: decoder.End})
}

// acceptAll feeds a text byte by byte, as tokens of one byte each.
func acceptAll(m *decoder.SequenceMatcher, s string) error {
	for i := range len(s) {
		if err := m.Accept(int32(s[i]) + 1); err != nil {
			return fmt.Errorf("after %q: %w", s[:i], err)
		}
	}
	return nil
}

func TestSequenceTexts(t *testing.T) {
	v := byteVocab(t)
	for _, b := range []string{"a", "~"} {
		if got := v.Bytes(int32(b[0]) + 1); string(got) != b {
			t.Fatalf("token %d is %q", b[0]+1, got)
		}
	}
	for _, c := range []struct {
		s              *decoder.Sequence
		whole, partial []string
		refused        []string
	}{
		{
			reasoning(t, v, 0),
			[]string{"<think></think>{}", "<think>hm <\xff/think> </thin</think>{abc}"},
			[]string{"", "<thi", "<think>a", "<think></think>", "<think></think>{a"},
			[]string{"a", "<think></think>x", "<think>a</think>{1}", "<think></think>{}a"},
		},
		{
			calls(t, v),
			[]string{"", "a <cal b", "<call>f(1)</call>", "x<call>f(12)</call> y [[1,2 and so on", "[[1[[2", "a[[1,2,"[:6]},
			[]string{"<call>", "<call>f(", "<call>f(1)", "a[[", "a[[1,[["},
			[]string{"<call>g", "<call>f()", "<call>f(1)x", "[[a"},
		},
		{
			tools(t, v),
			[]string{"none", "none!", "none of these", "f(12);fg(ab);f(0);none"},
			[]string{"", "f(", "f(1", "f(1)", "fg(a", "fg(ab", "no", "f(1);"},
			[]string{"f()", "g", "fg(a)", "f(1);x", "noone"},
		},
		{
			noted(t, v),
			[]string{"{}\n{1}", "{abc}\n{1}", "12\n{3}", "\n{4}"},
			[]string{"", "{", "{}", "{a}\n", "7", "{}\n{1"},
			[]string{"{a}{1}", "{}\n{a}", "{}\n\n", "{}\n{1}x", "x"},
		},
		{
			notedFork(t, v),
			[]string{"{call}\n{1}", "{call}(a)\n{1}", "{}\n{1}", "12\n{3}"},
			[]string{"", "{", "{call", "{call}", "{call}(", "{call}(a)", "{call}\n"},
			[]string{"{call}(a)\n{a}", "{called}(a", "\n", "{call}()"},
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
			if (len(rest) == 0) != m.Accepting() {
				t.Errorf("%q: completion %q", s, rest)
			}
			if err := acceptAll(m, string(rest)); err != nil || !m.Accepting() {
				t.Errorf("%q and %q: accepting %t, %v", s, rest, m.Accepting(), err)
			}
		}
		for _, s := range c.refused {
			if err := acceptAll(c.s.NewMatcher(), s); err == nil {
				t.Errorf("%q is accepted", s)
			}
		}
	}
}

func TestSequenceSpans(t *testing.T) {
	v := byteVocab(t)
	for _, c := range []struct {
		s    *decoder.Sequence
		text string
		want string
	}{
		{noted(t, v), "{abc}\n{1}", "[{0 0 5 0} {1 5 6 0} {2 6 9 0}]"},
		{noted(t, v), "12\n{1}", "[{0 0 2 0} {1 2 3 0} {2 3 6 0}]"},
		{noted(t, v), "\n{1}", "[{0 0 0 0} {1 0 1 0} {2 1 4 0}]"},
		{notedFork(t, v), "{call}\n{1}", "[{3 0 6 0} {5 6 7 0} {6 7 10 0}]"},
		{notedFork(t, v), "{cab}\n{1}", "[{3 0 5 0} {5 5 6 0} {6 6 9 0}]"},
	} {
		m := c.s.NewMatcher()
		if err := acceptAll(m, c.text); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(m.Spans()); got != c.want {
			t.Errorf("%q: spans %s, want %s", c.text, got, c.want)
		}
	}
	m := calls(t, v).NewMatcher()
	if err := acceptAll(m, "ab<call>f(1)</call>c[[1,2d"); err != nil {
		t.Fatal(err)
	}
	want := "[{0 0 8 6} {1 8 12 0} {2 12 19 0} {0 19 22 2} {3 22 25 0} {0 25 26 0}]"
	if got := fmt.Sprint(m.Spans()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if m.Segment() != 0 {
		t.Errorf("in segment %d", m.Segment())
	}
}

// TestSequenceBudget checks that reasoning ends once its budget is used up, at any
// position in the stop, also after a rollback.
func TestSequenceBudget(t *testing.T) {
	v := byteVocab(t)
	s := reasoning(t, v, 5)
	for _, c := range []struct{ thought, closing string }{
		{"abcde", "</think>"}, {"abc</", "think>"}, {"a</</", "think>"}, {"</thi", "nk>"},
	} {
		m := s.NewMatcher()
		if err := acceptAll(m, "<think>"+c.thought); err != nil {
			t.Fatal(err)
		}
		if got := v.Decode(m.ForcedTokens()); string(got) != c.closing+"{" {
			t.Errorf("after %q %q is forced", c.thought, got)
		}
		mask, err := m.Mask()
		if err != nil || mask.Len() != 1 || !mask.Has(int32(c.closing[0])+1) {
			t.Errorf("after %q: mask %v, %v", c.thought, mask.AppendTokens(nil), err)
		}
		if err := m.Rollback(1); err != nil {
			t.Fatal(err)
		}
		if mask, _ := m.Mask(); mask.Len() != 256 {
			t.Errorf("after a rollback %d tokens are allowed", mask.Len())
		}
		if err := acceptAll(m, c.thought[4:]+c.closing+"{x}"); err != nil || !m.Accepting() {
			t.Errorf("after %q: %v", c.thought, err)
		}
	}
	// Without a stop the text ends.
	free := sequence(t, v, decoder.Segment{Free: &decoder.Free{MayEnd: true, Budget: 3}})
	m := free.NewMatcher()
	if err := acceptAll(m, "abc"); err != nil {
		t.Fatal(err)
	}
	if mask, _ := m.Mask(); !mask.EOG() || mask.Len() != len(v.EOG()) {
		t.Errorf("%v is allowed", mask.AppendTokens(nil))
	}
}

// TestSequenceControls checks that stops may be tokens without text.
func TestSequenceControls(t *testing.T) {
	var tokens []vocab.Token
	eos := int32(0)
	for _, name := range []string{"<eos>", "<channel>", "<over>", "<start>", "<message>"} {
		tokens = append(tokens, vocab.Token{Text: name, Kind: vocab.Control})
	}
	for _, word := range []string{"a", "b", "f", "final", "analysis", "assistant", "i", "n", "l", "s", "y", "t", "{", "}", "{}"} {
		tokens = append(tokens, vocab.Token{Text: word})
	}
	v, err := vocab.FromTokens(tokens, vocab.Options{Model: vocab.BPE, Pre: "llama-bpe", EOS: &eos})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]int32{}
	for i, tok := range tokens {
		ids[tok.Text] = int32(i)
	}
	token := func(name string) decoder.Piece { return decoder.Piece{Token: ids[name]} }
	s := sequence(t, v,
		decoder.Segment{Fixed: []decoder.Piece{token("<channel>"), {Text: "analysis"}, token("<message>")}, Next: 1},
		decoder.Segment{Free: &decoder.Free{Budget: 4, Stops: []decoder.Stop{{Mark: []decoder.Piece{token("<over>")}, Next: 2}}}},
		decoder.Segment{Fixed: []decoder.Piece{token("<start>"), {Text: "assistant"}, token("<channel>"), {Text: "final"}, token("<message>")}, Next: 3},
		decoder.Segment{Grammar: constraint(t, v, `root ::= "{" "a"* "}"`), Next: decoder.End})
	m := s.NewMatcher()
	accept := func(names ...string) {
		t.Helper()
		for _, n := range names {
			mask, err := m.Mask()
			if err != nil || !mask.Has(ids[n]) {
				t.Fatalf("after %q: %q is not allowed: %v, %v", m.Text(), n, mask.AppendTokens(nil), err)
			}
			if err := m.Accept(ids[n]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := m.ForcedTokens(); !slices.Equal(got, []int32{ids["<channel>"], ids["analysis"], ids["<message>"]}) {
		t.Errorf("%v is forced", got)
	}
	accept("<channel>", "analysis", "<message>", "a", "b")
	if err := m.Accept(ids["<start>"]); err == nil {
		t.Error("a control token that ends nothing is accepted")
	}
	accept("<over>")
	if got := m.ForcedTokens(); !slices.Equal(got, []int32{ids["<start>"], ids["assistant"], ids["<channel>"], ids["final"], ids["<message>"]}) {
		t.Errorf("%v is forced", got)
	}
	if err := m.Rollback(1); err != nil {
		t.Fatal(err)
	}
	accept("a", "b")
	// The budget is used up.
	if mask, _ := m.Mask(); mask.Len() != 1 || !mask.Has(ids["<over>"]) {
		t.Errorf("%v is allowed", mask.AppendTokens(nil))
	}
	var words []string
	for _, p := range m.Remaining() {
		if p.Text == "" {
			p.Text = v.Text(p.Token)
		}
		words = append(words, p.Text)
	}
	if got := strings.Join(words, " "); got != "<over> <start> assistant <channel> final <message> {}" {
		t.Errorf("completion %s", got)
	}
	accept("<over>", "<start>", "assistant", "<channel>", "final", "<message>", "{", "a", "}")
	if !m.Accepting() || string(m.Text()) != "analysisababassistantfinal{a}" {
		t.Errorf("accepting %t, %q", m.Accepting(), m.Text())
	}
	if got := fmt.Sprint(m.Spans()); got != "[{0 0 8 0} {1 8 12 0} {2 12 26 0} {3 26 29 0}]" {
		t.Errorf("spans %s", got)
	}
}

// TestSequenceMasks compares masks with the results of trying every token.
func TestSequenceMasks(t *testing.T) {
	v := thinVocab(t, realVocab(t, "llama3.gguf"), 40)
	rng := rand.New(rand.NewPCG(8, 8))
	for name, s := range map[string]*decoder.Sequence{
		"reasoning": reasoning(t, v, 9), "calls": calls(t, v), "tools": tools(t, v), "fork": fork(t, v), "later": laterFork(t, v), "unasked": unasked(t, v), "noted": noted(t, v), "noted fork": notedFork(t, v),
	} {
		m := s.NewMatcher()
		for range 40 {
			mask, err := m.Mask()
			if err != nil {
				t.Fatal(err)
			}
			want := taken(v, func(id int32) error { return m.Clone().Accept(id) })
			got := mask.AppendTokens(nil)
			if reason := difference(got, want, v); reason != "" {
				t.Fatalf("%s after %q: %s", name, m.Text(), reason)
			}
			// Marks are rare among all tokens: occasionally go towards one.
			next := got[rng.IntN(len(got))]
			for _, hint := range []string{"<", "[[", "/", "call", "th", ">", "1", ")"} {
				if rng.IntN(3) == 0 {
					for _, id := range got {
						if strings.HasPrefix(string(v.Bytes(id)), hint) {
							next = id
						}
					}
				}
			}
			if v.IsEOG(next) {
				m = s.NewMatcher()
			} else if err := m.Accept(next); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestSequenceErrors(t *testing.T) {
	v := byteVocab(t)
	g := func() *decoder.Grammar { return constraint(t, v, `root ::= "a"`) }
	for _, c := range []struct {
		segments []decoder.Segment
		want     string
	}{
		{nil, "0 segments"},
		{[]decoder.Segment{{}}, "want one of free text, fixed texts, a grammar and a fork"},
		{[]decoder.Segment{{Free: &decoder.Free{}}}, "free text without a stop has to be allowed to end"},
		{[]decoder.Segment{{Fixed: text("a"), Next: 1}}, "there is no segment 1"},
		{[]decoder.Segment{{Free: &decoder.Free{Stops: []decoder.Stop{{Mark: text("a"), Next: 7}}}}}, "there is no segment 7"},
		{[]decoder.Segment{{Free: &decoder.Free{Stops: []decoder.Stop{{Next: decoder.End}}}}}, "a mark without text"},
		{[]decoder.Segment{{Fixed: []decoder.Piece{{Token: 4000}}, Next: decoder.End}}, "token 4000 is not in the vocabulary"},
		{[]decoder.Segment{{Fixed: text("a"), Next: 1}, {OneOf: []decoder.Stop{{Mark: text("b"), Next: 0}}}}, "the text never ends"},
		{[]decoder.Segment{{Fixed: text("a"), Next: 1}, {Grammar: g(), Next: 2}, {Grammar: g(), Next: 3}, {Grammar: g(), Next: 4}, {Grammar: g(), Next: decoder.End}}, "more than two constraints"},
	} {
		_, err := decoder.NewSequence(v, c.segments, decoder.Limits{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// A constraint that could go on with the beginning of what follows it ends where that begins, and what may be its beginning is held.
func TestConstraintLikeMark(t *testing.T) {
	v := byteVocab(t)
	for _, c := range []struct{ root, inside string }{
		{`root ::= [a-z<\n/]{0,6}`, "ab"}, {`root ::= [a-z<\n/]{0,6}`, ""}, {`root ::= [a-z<\n/]{0,6}`, "ab\n"}, {`root ::= [a-z<\n/]{0,6}`, "abcde<"},
		{`root ::= [a-z<\n/]{2,3}`, "ab"}, {`root ::= [^;]*`, "ab\n<"}, {`root ::= [a-z]* "\n"?`, "ab"},
	} {
		s := sequence(t, v,
			decoder.Segment{Fixed: text("("), Next: 1},
			decoder.Segment{Grammar: constraint(t, v, c.root), Next: 2},
			decoder.Segment{Fixed: text("\n</x>;"), Next: decoder.End})
		m := s.NewMatcher()
		whole := "(" + c.inside + "\n</x>;"
		for i := range len(whole) {
			if err := m.Accept(tokenOf(t, v, whole[i:i+1])); err != nil {
				t.Fatalf("%s: %q: %v", c.root, whole[:i+1], err)
			}
			spans := m.Spans()
			if last := spans[len(spans)-1]; last.Segment == 1 && last.End-m.Held() > 1+len(c.inside) {
				t.Errorf("%s: %q: %+v, %d bytes held", c.root, whole[:i+1], spans, m.Held())
			}
		}
		spans := m.Spans()
		if len(spans) < 3 || spans[1].Segment != 1 || whole[spans[1].Start:spans[1].End] != c.inside || spans[2].Start != spans[1].End || spans[2].End != len(whole) {
			t.Errorf("%s: %q: %+v", c.root, whole, spans)
		}
	}
}

// tokenOf returns the token of a text.
func tokenOf(t testing.TB, v *vocab.Vocab, text string) int32 {
	t.Helper()
	for id := range int32(v.Len()) {
		if string(v.Bytes(id)) == text {
			return id
		}
	}
	t.Fatalf("there is no token %q", text)
	return 0
}
