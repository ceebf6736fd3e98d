package gbnf

import (
	"errors"
	"strings"
	"testing"

	"stencil/decoder"
)

func seeds(f *testing.F) {
	for _, s := range append(samples(f), tricky...) {
		f.Add(s.src)
	}
	for _, src := range []string{
		"", "root ::=", "root ::= \"\\U0010FFFF\" [^\\x00] {1", "root ::= a{3,5}?*+ | (\n) # x\na ::= <[1]> !<x> .",
		"root ::= [a-\\x7f]]", "\xff", "root ::= \"\x00\"{2,}", "root ::= root | root root", "root ::= (\"a\"?){2,9}{3}",
	} {
		f.Add(src)
	}
}

// FuzzParse holds that the parser ends with a grammar or an error of the
// promised kinds, and that a grammar's text parses to the same grammar.
func FuzzParse(f *testing.F) {
	seeds(f)
	limits := Limits{Nesting: 200, Elements: 20000}.withDefaults()
	f.Fuzz(func(t *testing.T, src string) {
		g, err := parse(src, limits)
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

// FuzzCompile holds that what compiles can be generated: no dead end, masks
// that agree with the matcher, and completions that complete.
func FuzzCompile(f *testing.F) {
	seeds(f)
	limits := Limits{Nesting: 60, Elements: 600, Text: 2000, Items: 300, Threads: 40, Memory: 8 << 20}
	v := byteVocab(f)
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
			for b := range 256 {
				n, err := m.Clone().AcceptBytes([]byte{byte(b)})
				if isLimit(err) {
					return
				}
				if mask.Has(int32(b)+1) != (n == 1) {
					t.Fatalf("after %q: byte %q: in mask %t, accepted %t", m.Text(), rune(b), mask.Has(int32(b)+1), n == 1)
				}
			}
			end := m.Clone()
			rest := end.ShortestCompletion()
			if _, err := end.AcceptBytes(rest); isLimit(err) {
				return
			} else if err != nil || !end.Accepting() {
				t.Fatalf("after %q: %q completes nothing: %v", m.Text(), rest, err)
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

// TestCompileIsStable holds that the normal form compiles to the same program.
func TestCompileIsStable(t *testing.T) {
	for _, s := range append(samples(t), tricky...) {
		a, err := Compile(s.src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Compile(a.String(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		pa, _ := a.program(nil)
		pb, _ := b.program(nil)
		if pa.String() != pb.String() || a.Report().Hash != b.Report().Hash || strings.Contains(pa.String(), "never") != (s.name == "never") {
			t.Errorf("%s: the normal form compiles to something else", s.name)
		}
	}
}
