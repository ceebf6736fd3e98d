package engine

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"stencil/decoder"
	"stencil/gbnf"
	"stencil/schema"
	"stencil/vocab"
)

// Grammars compiles grammars, regular expressions and choices for one
// vocabulary and keeps the ones used last. It is safe for concurrent use.
type Grammars struct {
	vocab *vocab.Vocab
	cache *cache[[sha256.Size]byte, *CompiledGrammar]
}

// NewGrammars keeps up to limit grammars.
func NewGrammars(v *vocab.Vocab, limit int) *Grammars {
	return &Grammars{vocab: v, cache: newCache[[sha256.Size]byte, *CompiledGrammar](limit)}
}

// A CompiledGrammar is a grammar ready for use as a constraint. It is safe for
// concurrent use.
type CompiledGrammar struct {
	Report     gbnf.Report
	Bound      *decoder.Grammar
	Constraint Constraint

	check    func(text string) bool
	document Document
}

// Document returns the grammar as a part of a sequence.
func (g *CompiledGrammar) Document() Document { return g.document }

// Validate checks a whole text: a regular expression with a library of its
// own, a choice by looking it up, a grammar, for which there is nothing else, by
// reading the text once more from its beginning, byte by byte and without masks;
// of tokens that a grammar refers to only their text is known then. The error is an *InvalidDocumentError.
func (g *CompiledGrammar) Validate(text string) error {
	if g.check(text) {
		return nil
	}
	return &InvalidDocumentError{[]schema.Issue{{Reason: "the text does not belong to the constraint"}}}
}

// Grammar compiles GBNF. Errors are those of package gbnf.
func (c *Grammars) Grammar(src string) (*CompiledGrammar, error) {
	return c.compile("grammar", []string{src}, func() (*gbnf.Grammar, func(string) bool, error) {
		g, err := gbnf.Compile(src, gbnf.Options{})
		return g, nil, err
	})
}

// Regex compiles a regular expression, as ECMA-262 has them, that the whole text
// must match.
func (c *Grammars) Regex(pattern string) (*CompiledGrammar, error) {
	return c.compile("regex", []string{pattern}, func() (*gbnf.Grammar, func(string) bool, error) {
		g, err := gbnf.Regex(pattern, gbnf.ECMA, gbnf.Options{})
		if err != nil {
			return nil, nil, err
		}
		re, err := compilePattern("^(?:" + pattern + ")$")
		if err != nil {
			return g, nil, nil // read by us and not by the library: checked like a grammar
		}
		return g, re.MatchString, nil
	})
}

// Choice compiles a list of texts.
func (c *Grammars) Choice(texts []string) (*CompiledGrammar, error) {
	return c.compile("choice", texts, func() (*gbnf.Grammar, func(string) bool, error) {
		g, err := gbnf.Choice(texts, gbnf.Options{})
		return g, func(text string) bool { return slices.Contains(texts, text) }, err
	})
}

// Stats returns how often a grammar was asked for that was there, and that was
// not.
func (c *Grammars) Stats() CacheStats { return c.cache.counts() }

func (c *Grammars) compile(kind string, texts []string, build func() (*gbnf.Grammar, func(string) bool, error)) (*CompiledGrammar, error) {
	h := sha256.New()
	for _, t := range append([]string{kind}, texts...) {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	key := [sha256.Size]byte(h.Sum(nil))
	return c.cache.get(key, func() (*CompiledGrammar, error) {
		g, check, err := build()
		if err != nil {
			return nil, err
		}
		bound, err := g.Bind(c.vocab)
		if err != nil {
			return nil, err
		}
		out := &CompiledGrammar{Report: g.Report(), Bound: bound, Constraint: Grammar(bound), check: check}
		out.document = Document{fmt.Sprintf("%s %x", kind, key), func() (*decoder.Grammar, error) { return g.Bind(c.vocab) }}
		if check == nil {
			// Only the text is known, without tokens that added none.
			plain := bound
			if g.ReadsTokens() {
				text, err := g.TokensAsText(c.vocab)
				if err != nil {
					return nil, err
				}
				if plain, err = text.Bind(c.vocab); err != nil {
					return nil, err
				}
			}
			out.check = func(text string) bool {
				m := plain.NewMatcher()
				_, err := m.AcceptBytes([]byte(text))
				return err == nil && m.Accepting()
			}
		}
		return out, nil
	})
}
