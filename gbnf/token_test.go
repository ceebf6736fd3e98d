package gbnf

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/vocab"
)

// tokenVocab has single characters, some words twice, and control tokens. Token
// 0 ends a generation.
func tokenVocab(t testing.TB) *vocab.Vocab {
	t.Helper()
	var tokens []vocab.Token
	for _, name := range []string{"<eos>", "<think>", "</think>", "<|tool|>", "<pad>", "<|none|>"} {
		kind := vocab.Control
		if name == "<pad>" {
			kind = vocab.Unused
		}
		tokens = append(tokens, vocab.Token{Text: name, Kind: kind})
	}
	tokens = append(tokens, vocab.Token{Text: "<b>", Kind: vocab.UserDefined})
	for _, word := range append(strings.Split("abcdefghijklmnopqrstuvwxyz(){}<>,./0123456789", ""), "ab", "abc", "think", "<t", "th", "ink", "a(", "12", "call") {
		tokens = append(tokens, vocab.Token{Text: word})
	}
	tokens = append(tokens, vocab.Token{Text: "<0x61>", Kind: vocab.Byte}) // an a as well
	eos := int32(0)
	v, err := vocab.FromTokens(tokens, vocab.Options{Model: vocab.SPM, EOS: &eos})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// withTokens are grammars that refer to tokens of tokenVocab.
var withTokens = []sample{
	{"thoughts", "root ::= <think> (!</think>)* </think> answer\nanswer ::= \"a\" [a-c]* | \"(\" answer \")\""},
	{"calls", "root ::= (free | call)*\nfree ::= [a-z]\ncall ::= <|tool|> [a-z]{2,4} (\"(\" [0-9]+ \")\")? <|none|>"},
	{"same text", "root ::= (<b> | \"<b>\" \"!\"? | <[7]> | \"ab\" \"c\"){1,3}"},
	{"left recursion", "root ::= root <|tool|> item | item\nitem ::= !<|tool|>{1,2} | <b> root </think>"},
	{"numbers", "root ::= <[1]> ([a-z]+ | !<[2]>) <[2]>"},
	{"counted", "root ::= (!<|tool|>){2,5} <|tool|> (<think>? \"a\"){0,40}"},
	{"twins", "root ::= (<0x61> \"b\" | !<0x61> \"c\" | \"a\" \"d\"?){1,4}"},
	{"either", "root ::= (<think> | !<think>) \"a\" | \"th\" !<b> \"c\""},
}

// spellPieces returns pieces as tokens: texts as tokens of single characters,
// tokens unchanged.
func spellPieces(t testing.TB, v *vocab.Vocab, pieces []decoder.Piece) (ids []int32) {
	t.Helper()
	for _, p := range pieces {
		if p.Text == "" {
			ids = append(ids, p.Token)
		}
		for i := range len(p.Text) {
			node := v.Trie().Child[p.Text[i]]
			if node < 0 || len(v.Trie().At(node)) == 0 {
				t.Fatalf("there is no token %q", p.Text[i])
			}
			ids = append(ids, v.Trie().At(node)[0])
		}
	}
	return ids
}

// judgeTokens converts tokens for the recogniser.
func judgeTokens(v *vocab.Vocab, ids []int32) (list []earleyToken) {
	for _, id := range ids {
		list = append(list, earleyToken{v.Text(id), string(v.Bytes(id))})
	}
	return list
}

// numbered replaces <[n]> by a name that no other token has.
func numbered(t testing.TB, v *vocab.Vocab, src string) *earley {
	t.Helper()
	g := newEarley(t, src)
	for _, p := range g.prods {
		for i := range p {
			if e := p[i].char; e != nil && e.op == opToken && e.text == "" {
				p[i].char = &expr{op: opToken, negated: e.negated, text: v.Text(e.min)}
			}
		}
	}
	return g
}

// TestTokenReferences walks through grammars that refer to tokens. Masks must
// equal the results of trying every token, and the recogniser must accept the
// texts; rollbacks and discarded tables must have no effect.
func TestTokenReferences(t *testing.T) {
	v := tokenVocab(t)
	for _, s := range withTokens {
		judge := numbered(t, v, s.src)
		g, err := Compile(s.src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := bound(t, g, v)
		for seed := range uint64(25 / min(slowness, 5)) {
			rng := rand.New(rand.NewPCG(5, seed))
			m := d.NewMatcher()
			var ids []int32
			for len(ids) < 14 {
				mask, err := m.Mask()
				if err != nil {
					t.Fatal(err)
				}
				want := taken(v, func(id int32) error { return m.Clone().Accept(id) })
				got := mask.AppendTokens(nil)
				if !slices.Equal(got, want) || mask.Len() != len(got) {
					t.Fatalf("%s after %v: the mask has %v, accepted are %v", s.name, ids, got, want)
				}
				checkTokens(t, s.name, m, judge, v, ids, want)
				next := got[rng.IntN(len(got))]
				for range 2 {
					if v.IsEOG(next) || len(v.Bytes(next)) > 0 {
						next = got[rng.IntN(len(got))] // control tokens are rare
					}
				}
				if v.IsEOG(next) {
					break
				}
				if err := m.Accept(next); err != nil {
					t.Fatal(err)
				}
				ids = append(ids, next)
				if back := rng.IntN(3); rng.IntN(4) == 0 && back <= len(ids) {
					if err := m.Rollback(back); err != nil {
						t.Fatal(err)
					}
					ids = ids[:len(ids)-back]
				}
			}
		}
	}
}

// checkTokens compares a matcher with the recogniser after some tokens.
func checkTokens(t *testing.T, name string, m *decoder.Matcher, judge *earley, v *vocab.Vocab, ids, allowed []int32) {
	t.Helper()
	whole, _ := judge.parseTokens(judgeTokens(v, ids))
	if whole != m.Accepting() {
		t.Fatalf("%s: %v: accepting %t, belongs %t", name, ids, m.Accepting(), whole)
	}
	for id := range int32(v.Len()) {
		if v.IsEOG(id) {
			continue
		}
		_, beginning := judge.parseTokens(judgeTokens(v, append(slices.Clone(ids), id)))
		if beginning && !slices.Contains(allowed, id) && (len(v.Bytes(id)) > 0 || v.Kind(id) == vocab.Control) {
			t.Fatalf("%s after %v: token %q is not allowed", name, ids, v.Text(id))
		}
		if !beginning && slices.Contains(allowed, id) {
			t.Fatalf("%s after %v: token %q is allowed", name, ids, v.Text(id))
		}
	}
	rest := spellPieces(t, v, m.Remaining())
	if whole, _ := judge.parseTokens(judgeTokens(v, append(slices.Clone(ids), rest...))); !whole {
		t.Fatalf("%s: %v and %v do not belong", name, ids, rest)
	} else if text := v.Decode(rest); string(text) != string(m.ShortestCompletion()) {
		t.Fatalf("%s: completion %q of %v", name, m.ShortestCompletion(), rest)
	}
	forced := slices.Clone(m.ForcedTokens())
	end := m.Clone()
	for i, id := range forced {
		if mask, err := end.Mask(); err != nil || !mask.Has(id) || mask.Len() == 0 {
			t.Fatalf("%s after %v: %v is forced, number %d is not allowed", name, ids, forced, i)
		}
		if err := end.Accept(id); err != nil {
			t.Fatal(err)
		}
	}
	if len(forced) == 0 && len(allowed) == 1 && len(v.Bytes(allowed[0])) == 0 && !v.IsEOG(allowed[0]) {
		t.Fatalf("%s after %v: only %v may follow, and is not forced", name, ids, allowed)
	}
}

// TestTokensForgotten checks that a matcher recovers its state after the
// grammar has discarded its tables, including tokens without text.
func TestTokensForgotten(t *testing.T) {
	v := tokenVocab(t)
	g, err := Compile("root ::= (<think> [a-z]{1,400} </think>){3}", Options{Limits: Limits{Memory: 150_000}})
	if err != nil {
		t.Fatal(err)
	}
	d := bound(t, g, v)
	m, other := d.NewMatcher(), d.NewMatcher()
	letter := v.Tokenize(nil, "x", false)[0]
	accept := func(m *decoder.Matcher, id int32) {
		t.Helper()
		if _, err := m.Mask(); err != nil {
			t.Fatal(err)
		}
		if err := m.Accept(id); err != nil {
			t.Fatal(err)
		}
	}
	accept(other, 1)
	accept(other, letter)
	accept(other, 2)
	for range 2 {
		accept(m, 1)
		for range 400 {
			accept(m, letter)
		}
		accept(m, 2)
	}
	if d.Stats().Resets == 0 {
		t.Error("nothing was forgotten")
	}
	if got := other.ForcedTokens(); !slices.Equal(got, []int32{1}) {
		t.Errorf("%v is forced", got)
	}
	if err := other.Rollback(1); err != nil || other.Accept(letter) != nil || string(other.Text()) != "xx" {
		t.Errorf("after taking back: %q, %v", other.Text(), err)
	}
}

func TestTokenErrors(t *testing.T) {
	v := tokenVocab(t)
	for src, want := range map[string]string{
		"root ::= <a> <[1]>":            "gbnf: 1:10: the vocabulary has no token <a>",
		"root ::= !<[90000]>":           "gbnf: 1:10: the vocabulary has no token !<[90000]>",
		"root ::= \"a\" | <eos>":        "gbnf: 1:16: token <eos> ends a generation, it can't be part of one",
		"root ::= <[4]>":                "gbnf: 1:10: token <[4]> is not in use",
		"root ::= <a>\na ::= \"a\"\n":   "gbnf: 1:10: the vocabulary has no token <a>",
		"root ::= <no>+ <[77777]> !<y>": "gbnf: 1:10: the vocabulary has no token <no>; gbnf: 1:16: the vocabulary has no token <[77777]>; gbnf: 1:26: the vocabulary has no token !<y>",
	} {
		g, err := Compile(src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Bind(v); err == nil || err.Error() != want {
			t.Errorf("%s: got %v", src, err)
		}
	}
	m := bind(t, "root ::= <think> \"a\"", v).NewMatcher()
	if err := m.Accept(2); err == nil || err.Error() != "decoder: end of text at byte 0: expected <think> (root)" {
		t.Errorf("got %v", err)
	}
	if got := fmt.Sprint(m.Explain(1), ", ", m.Explain(2)); got != "allowed, </think> is not allowed: expected <think> (root)" {
		t.Errorf("explained: %s", got)
	}
}

// TestTokensAsText checks that the texts that a grammar with tokens generates
// are accepted as text, and others are not.
func TestTokensAsText(t *testing.T) {
	v := tokenVocab(t)
	g, err := Compile("root ::= <think> !</think>* </think> <b> [0-9]+", Options{})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := g.TokensAsText(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	d := bound(t, plain, v)
	for text, want := range map[string]bool{"<b>1": true, "any thought<b>12": true, "<b>": false, "12": false, "a<b>1<b>2": true, "<b>12x": false} {
		if accepts(d, text) != want {
			t.Errorf("%q: want %t", text, want)
		}
	}
}

// TestTokensInSequence checks that constraints within a sequence may refer to
// tokens.
func TestTokensInSequence(t *testing.T) {
	v := tokenVocab(t)
	s := sequence(t, v,
		decoder.Segment{Free: &decoder.Free{Stops: []decoder.Stop{{Mark: []decoder.Piece{{Token: 3}}, Next: 1}}}},
		decoder.Segment{Grammar: bind(t, "root ::= <think> [a-z]+ </think>", v), Next: 2},
		decoder.Segment{Fixed: text("c"), Next: decoder.End})
	m := s.NewMatcher()
	letter := v.Tokenize(nil, "x", false)[0]
	for _, id := range []int32{letter, 3, 1, letter, letter, 2} {
		mask, err := m.Mask()
		if err != nil || !mask.Has(id) {
			t.Fatalf("after %q: %q is not allowed: %v", m.Text(), v.Text(id), err)
		}
		if err := m.Accept(id); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(m.Spans(), m.Segment()); got != "[{0 0 1 0} {1 1 3 0} {2 3 3 0}] 2" {
		t.Errorf("spans %s", got)
	}
}

// TestTokenWalks generates 200 random texts of grammars that refer to tokens,
// with real vocabularies. The recogniser has to accept them.
func TestTokenWalks(t *testing.T) {
	for name, control := range map[string]string{"llama3.gguf": "<|python_tag|>", "llama2.gguf": "<s>"} {
		v := realVocab(t, name)
		tokens := walk.NewTokens(v)
		for _, src := range []string{
			`root ::= CONTROL [a-z ]{2,30} (":" !CONTROL{0,9} CONTROL "{" [0-9]* "}")?`,
			`root ::= (!CONTROL)* CONTROL list` + "\n" + `list ::= list "," item | item` + "\n" + `item ::= [a-z]+ | "(" list CONTROL ")"`,
		} {
			src = strings.ReplaceAll(src, "CONTROL", control)
			judge := numbered(t, v, src)
			g := bind(t, src, v)
			for i := range 200 / slowness {
				w := &walk.Walker{Tokens: tokens, Rand: rand.New(rand.NewPCG(11, uint64(i))), Budget: 20}
				m := &tokenRecorder{Matcher: g.NewMatcher()}
				if _, err := w.Document(m); err != nil {
					t.Errorf("%s: %s: %v after %v", name, src, err, m.tokens)
					break
				}
				if whole, _ := judge.parseTokens(judgeTokens(v, m.tokens)); !whole {
					t.Errorf("%s: %s: made %v, which does not belong", name, src, m.tokens)
					break
				}
			}
		}
	}
}

// A tokenRecorder records the tokens of a walk.
type tokenRecorder struct {
	*decoder.Matcher
	tokens []int32
}

// Mask implements walk.Matcher.
func (r *tokenRecorder) Mask() (walk.Mask, error) {
	mask, err := r.Matcher.Mask()
	if err != nil {
		return nil, err
	}
	return mask, nil
}

// Accept records the token.
func (r *tokenRecorder) Accept(tok int32) error {
	r.tokens = append(r.tokens, tok)
	return r.Matcher.Accept(tok)
}
