package gbnf

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/vocab"
)

func seeds(f *testing.F) {
	for _, s := range slices.Concat(samples(f), tricky, withTokens) {
		f.Add(s.src)
	}
	for _, src := range []string{
		"", "root ::=", "root ::= \"\\U0010FFFF\" [^\\x00] {1", "root ::= a{3,5}?*+ | (\n) # x\na ::= <[1]> !<x> .",
		"root ::= [a-\\x7f]]", "\xff", "root ::= \"\x00\"{2,}", "root ::= root | root root", "root ::= (\"a\"?){2,9}{3}",
	} {
		f.Add(src)
	}
}

// FuzzParse checks that the parser returns a grammar or a documented error, and
// that a grammar's text parses to the same grammar.
func FuzzParse(f *testing.F) {
	seeds(f)
	limits := Limits{Nesting: 200, Elements: 20000}.withDefaults()
	f.Fuzz(func(t *testing.T, src string) {
		g, err := parse(src, limits, nil)
		if err != nil {
			var invalid *InvalidError
			var limit *LimitError
			if !errors.As(err, &invalid) && !errors.As(err, &limit) {
				t.Fatalf("error of type %T", err)
			}
			if invalid != nil && invalid.Issues[0].Line == 0 {
				t.Fatalf("%v has no place", err)
			}
			return
		}
		sameAgain(t, g)
	})
}

// fuzzVocab has a token for each byte, some longer ones, and control tokens.
func fuzzVocab(t testing.TB) *vocab.Vocab {
	t.Helper()
	bytes := byteVocab(t)
	var tokens []vocab.Token
	for id := range int32(bytes.Len()) {
		tokens = append(tokens, vocab.Token{Text: bytes.Text(id), Kind: bytes.Kind(id)})
	}
	for _, name := range []string{"<a>", "<think>", "</think>", "<|tool|>"} {
		tokens = append(tokens, vocab.Token{Text: name, Kind: vocab.Control})
	}
	tokens = append(tokens, vocab.Token{Text: "<b>", Kind: vocab.UserDefined}, vocab.Token{Text: "ab"}, vocab.Token{Text: "é\""})
	end := int32(0)
	v, err := vocab.FromTokens(tokens, vocab.Options{Model: vocab.SPM, EOS: &end})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// FuzzCompile checks that compiled grammars can be generated: no dead end,
// masks that agree with the matcher, and completions that complete.
func FuzzCompile(f *testing.F) {
	seeds(f)
	limits := Limits{Nesting: 60, Elements: 600, Text: 2000, Items: 300, Threads: 40, Memory: 8 << 20}
	v := fuzzVocab(f)
	f.Fuzz(func(t *testing.T, src string) {
		g, err := Compile(src, Options{Limits: limits})
		if err != nil {
			return
		}
		d, err := g.Bind(v)
		if err != nil {
			return
		}
		m := d.NewMatcher()
		for i := range 12 {
			mask, err := m.Mask()
			if isLimit(err) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			list := mask.AppendTokens(nil)
			if len(list) == 0 {
				t.Fatalf("dead end after %q", m.Text())
			}
			for tok := range int32(v.Len()) {
				err := m.Clone().Accept(tok)
				if isLimit(err) {
					return
				}
				if mask.Has(tok) != (err == nil) {
					t.Fatalf("after %q: token %q: in mask %t, accepted: %v", m.Text(), v.Text(tok), mask.Has(tok), err)
				}
			}
			end := m.Clone()
			rest := spellPieces(t, v, end.Remaining())
			for _, tok := range rest {
				if err := end.Accept(tok); isLimit(err) {
					return
				} else if err != nil {
					t.Fatalf("after %q: %v completes nothing: %v", m.Text(), rest, err)
				}
			}
			if !end.Accepting() {
				t.Fatalf("after %q: %v completes nothing", m.Text(), rest)
			}
			if err := m.Accept(list[(i*7+len(src))%len(list)]); err != nil {
				t.Fatal(err)
			}
			if m.Done() {
				return
			}
		}
	})
}

// isLimit reports whether an error names a limit.
func isLimit(err error) bool {
	var own *LimitError
	var engine *decoder.LimitError
	return errors.As(err, &own) || errors.As(err, &engine)
}

// TestCompileIsStable checks that the normal form compiles to the same program.
func TestCompileIsStable(t *testing.T) {
	for _, s := range slices.Concat(samples(t), tricky, withTokens) {
		a, err := Compile(s.src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Compile(a.String(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		pa, _ := a.program(nil, nil)
		pb, _ := b.program(nil, nil)
		if pa.String() != pb.String() || a.Report().Hash != b.Report().Hash || strings.Contains(pa.String(), "never") != (s.name == "never") {
			t.Errorf("%s: the normal form compiles to something else", s.name)
		}
	}
}
