package decoder

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stencil-json/stencil/vocab"
)

// parens is the language of balanced parentheses of any depth: S is empty or (
// S ) S. Frame 0 is S, frame 1 expects ).
type parens struct{}

func (parens) Start() Frame { return 0 }
func (parens) Expand(f Frame, e *Edges) {
	if f == 0 {
		e.Add('(', '(', 0, 1, 0)
		e.MayEnd()
	} else {
		e.Add(')', ')')
	}
}
func (parens) ExpandByte(Frame, byte, *Edges)                              {}
func (parens) Resolve(Frame, byte, []byte, *Edges)                         {}
func (parens) Prepare(Frame, *vocab.Vocab) *Prepared                       { return nil }
func (parens) PrepareAt(Frame, *vocab.Vocab, *vocab.Trie, int32) *Prepared { return nil }
func (parens) Finish(f Frame) []byte                                       { return []byte([]string{"", ")"}[f]) }
func (parens) Describe(f Frame) string                                     { return []string{"(", ")"}[f] }
func (parens) Err() error                                                  { return nil }
func (parens) Bytes() int                                                  { return 0 }
func (parens) Reset()                                                      {}

// word is the language of one text, then an a or a b.
type word struct{ parens }

const forcedWord = "hello, world"

func (word) Expand(f Frame, e *Edges) {
	if int(f) < len(forcedWord) {
		e.Add(forcedWord[f], forcedWord[f], f+1)
	} else {
		e.Add('a', 'b')
	}
}
func (word) Finish(f Frame) []byte { return []byte((forcedWord + "a")[f:]) }
func (word) Describe(Frame) string { return "a letter" }

func testVocab(t testing.TB, texts ...string) *vocab.Vocab {
	t.Helper()
	var tokens []vocab.Token
	for b := range 256 {
		tokens = append(tokens, vocab.Token{Text: fmt.Sprintf("<0x%02X>", b), Kind: vocab.Byte})
	}
	for _, text := range texts {
		tokens = append(tokens, vocab.Token{Text: text, Kind: vocab.Normal})
	}
	v, err := vocab.FromTokens(tokens, vocab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func balanced(text []byte) (prefix, whole bool) {
	depth := 0
	for _, b := range text {
		switch b {
		case '(':
			depth++
		case ')':
			depth--
		default:
			return false, false
		}
		if depth < 0 {
			return false, false
		}
	}
	return true, depth == 0
}

func TestParens(t *testing.T) {
	v := testVocab(t, "((", "))", "()", ")(", "(()", "((((", "x(")
	g := New(parens{}, v, Limits{})
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		m := g.NewMatcher()
		for range 40 {
			mask, err := m.Mask()
			if err != nil {
				t.Fatal(err)
			}
			var allowed []int32
			for tok := range int32(v.Len()) {
				ok, _ := balanced(append(bytes.Clone(m.Text()), v.Bytes(tok)...))
				if ok != mask.Has(tok) {
					t.Fatalf("after %q token %q: mask %v", m.Text(), v.Bytes(tok), mask.Has(tok))
				}
				if ok {
					allowed = append(allowed, tok)
				}
			}
			if _, whole := balanced(m.Text()); whole != m.Accepting() {
				t.Fatalf("after %q: accepting %v", m.Text(), m.Accepting())
			}
			if _, whole := balanced(append(bytes.Clone(m.Text()), m.ShortestCompletion()...)); !whole {
				t.Fatalf("after %q: completion %q", m.Text(), m.ShortestCompletion())
			}
			if err := m.Accept(allowed[rng.IntN(len(allowed))]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestRollbackAndClone(t *testing.T) {
	v := testVocab(t, "((", "))")
	g := New(parens{}, v, Limits{})
	m := g.NewMatcher()
	accept := func(m *Matcher, b byte) { t.Helper(); _ = must(t, m.Accept(int32(b))) }
	accept(m, '(')
	accept(m, '(')
	c := m.Clone()
	accept(c, ')')
	if string(m.Text()) != "((" || string(c.Text()) != "(()" {
		t.Fatalf("clone shares its text: %q %q", m.Text(), c.Text())
	}
	if err := m.Rollback(2); err != nil || len(m.Text()) != 0 || !m.Accepting() {
		t.Fatalf("rollback: %v %q", err, m.Text())
	}
	if err := m.Rollback(1); err == nil {
		t.Error("rollback past the beginning")
	}
	var refused *RefusedError
	if err := m.Accept(')'); !errors.As(err, &refused) || refused.Offset != 0 || refused.Token != ')' {
		t.Errorf("refused: %v", err)
	}
	if len(m.Text()) != 0 {
		t.Error("a refused token left text behind")
	}
	if n, err := m.AcceptBytes([]byte("()x")); n != 2 || err == nil {
		t.Errorf("AcceptBytes: %d %v", n, err)
	}
	if err := m.Accept(int32(v.Len())); err == nil {
		t.Error("a token outside of the vocabulary is accepted")
	}
}

func must(t *testing.T, err error) error {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return err
}

// With a small memory limit the tables are discarded repeatedly, without an
// effect on the results.
func TestForgetting(t *testing.T) {
	v := testVocab(t, "((", "))", ")(")
	small, large := New(parens{}, v, Limits{Bytes: 1}), New(parens{}, v, Limits{})
	a, b := small.NewMatcher(), large.NewMatcher()
	for i, x := range []byte("(()(()))()") {
		ma, err := a.Mask()
		must(t, err)
		mb, err := b.Mask()
		must(t, err)
		if fmt.Sprint(ma.AppendTokens(nil)) != fmt.Sprint(mb.AppendTokens(nil)) {
			t.Fatalf("masks differ at %d", i)
		}
		must(t, a.Accept(int32(x)))
		must(t, b.Accept(int32(x)))
	}
	must(t, a.Rollback(4))
	if string(a.Text()) != "(()(()" || a.Accepting() {
		t.Errorf("after rollback: %q", a.Text())
	}
	if small.Stats().Resets == 0 {
		t.Error("the limit was never reached")
	}
}

func TestForced(t *testing.T) {
	v := testVocab(t, "hello", ",", " world", " worlda", "wor")
	g := New(word{}, v, Limits{})
	m := g.NewMatcher()
	if got := string(m.ForcedBytes()); got != forcedWord {
		t.Fatalf("forced bytes %q", got)
	}
	var text []byte
	for _, tok := range m.ForcedTokens() {
		text = append(text, v.Bytes(tok)...)
	}
	// " worlda" extends beyond the forced text: nothing from there on is
	// forced.
	if string(text) != "hello," {
		t.Errorf("forced tokens spell %q", text)
	}
	_, err := m.AcceptBytes([]byte(forcedWord))
	must(t, err)
	if got := m.ForcedBytes(); len(got) != 0 {
		t.Errorf("forced bytes where two may follow: %q", got)
	}
	if got := m.Explain('c'); got == "allowed" || m.Explain('a') != "allowed" {
		t.Errorf("explain: %q, %q", got, m.Explain('a'))
	}
}

func TestWarmStepsDoNotAllocate(t *testing.T) {
	v := testVocab(t, "((", "))")
	m := New(parens{}, v, Limits{}).NewMatcher()
	round := func() {
		for _, b := range []byte("(())") {
			if _, err := m.Mask(); err != nil {
				t.Fatal(err)
			}
			if err := m.Accept(int32(b)); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Rollback(4); err != nil {
			t.Fatal(err)
		}
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}
