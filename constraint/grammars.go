package constraint

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/gbnf"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/validator"
	"github.com/stencil-json/stencil/vocab"
)

// A judge reports whether a whole text satisfies a constraint.
type judge = func(ctx context.Context, text string) (bool, error)

// Grammars compiles grammars, regular expressions and choices for one vocabulary and caches the
// most recently used ones. It is safe for concurrent use.
type Grammars struct {
	vocab *vocab.Vocab
	cache *cache[[sha256.Size]byte, *CompiledGrammar]
}

// NewGrammars returns a Grammars that keeps up to limit grammars.
func NewGrammars(v *vocab.Vocab, limit int) *Grammars {
	return &Grammars{vocab: v, cache: newCache[[sha256.Size]byte](limit, (*CompiledGrammar).bytes)}
}

// A CompiledGrammar is a grammar ready for use as a constraint. It is safe for
// concurrent use.
type CompiledGrammar struct {
	Report     gbnf.Report
	Bound      *decoder.Grammar
	Constraint engine.Constraint

	kind     string
	plain    *decoder.Grammar // reads text only, without tokens that add none
	check    judge
	document Document
	size     int // of the source, in bytes
}

// bytes returns the memory held, approximately.
func (g *CompiledGrammar) bytes() int {
	const parsed = 64 // bytes of the program for each byte of its text
	n := 1<<14 + parsed*g.size + g.Bound.Held()
	if g.plain != g.Bound {
		n += g.plain.Held()
	}
	return n
}

// KeepBytes limits the cache to n bytes. It must be called before the first grammar is compiled.
func (c *Grammars) KeepBytes(n int) { c.cache.room = n }

// Document returns the grammar as a part of a sequence.
func (g *CompiledGrammar) Document() Document { return g.document }

// Validate checks a whole text: against a regular expression with an independent library, against a
// choice by look-up. No independent checker exists for grammars: the text is read once more from
// its start, byte by byte and without masks; of tokens that the grammar refers to, only the text is
// known then. The error is an *InvalidDocumentError if the text does not fit; any other error is
// the reason why there is no verdict.
func (g *CompiledGrammar) Validate(ctx context.Context, text string) error {
	fits, err := g.check(ctx, text)
	if err != nil || fits {
		return err
	}
	return &InvalidDocumentError{Issues: []schema.Issue{g.place(ctx, text)}, Of: g.kind}
}

// place returns where and why a text leaves the constraint.
func (g *CompiledGrammar) place(ctx context.Context, text string) schema.Issue {
	const chunk = 4096 // bytes between checks of the context
	i := schema.Issue{Keyword: g.kind}
	m := g.plain.NewMatcher()
	for at := 0; at < len(text) && ctx.Err() == nil; at += chunk {
		n, err := m.AcceptBytes([]byte(text[at:min(len(text), at+chunk)]))
		if err != nil {
			i.Line, i.Column = jsondoc.LineColumn(text, at+n)
			i.Reason = strings.TrimPrefix(err.Error(), "decoder: ")
			return i
		}
	}
	i.Line, i.Column = jsondoc.LineColumn(text, len(text))
	if i.Reason = "the text does not fit"; !m.Accepting() {
		i.Reason = fmt.Sprintf("the text ends too early; it could end with %q", m.ShortestCompletion())
	}
	return i
}

// Grammar compiles GBNF. It returns the errors of package gbnf.
func (c *Grammars) Grammar(ctx context.Context, src string) (*CompiledGrammar, error) {
	return c.compile(ctx, "grammar", []string{src}, func(ctx context.Context) (*gbnf.Grammar, judge, error) {
		g, err := gbnf.CompileContext(ctx, src, gbnf.Options{})
		return g, nil, err
	})
}

// Regex compiles a regular expression in the syntax of ECMA-262, which the whole text must match.
func (c *Grammars) Regex(ctx context.Context, pattern string) (*CompiledGrammar, error) {
	return c.compile(ctx, "regex", []string{pattern}, func(ctx context.Context) (*gbnf.Grammar, judge, error) {
		g, err := gbnf.RegexContext(ctx, pattern, gbnf.ECMA, gbnf.Options{})
		if err != nil {
			return nil, nil, err
		}
		re, err := validator.NewPattern("^(?:" + pattern + ")$")
		if err != nil {
			return g, nil, nil // the library can't read it: checked like a grammar
		}
		return g, re.Match, nil
	})
}

// Choice compiles a list of texts.
func (c *Grammars) Choice(ctx context.Context, texts []string) (*CompiledGrammar, error) {
	return c.compile(ctx, "choice", texts, func(ctx context.Context) (*gbnf.Grammar, judge, error) {
		g, err := gbnf.ChoiceContext(ctx, texts, gbnf.Options{})
		return g, func(_ context.Context, text string) (bool, error) { return slices.Contains(texts, text), nil }, err
	})
}

// Builtin compiles a built-in grammar with its parameters.
func (c *Grammars) Builtin(ctx context.Context, name string, opt gbnf.BuiltinOptions) (*CompiledGrammar, error) {
	key, err := json.Marshal(opt)
	if err != nil {
		return nil, err // can't happen: JSON can represent all of it
	}
	return c.compile(ctx, "builtin", []string{name, string(key)}, func(ctx context.Context) (*gbnf.Grammar, judge, error) {
		g, err := gbnf.BuiltinContext(ctx, name, opt)
		return g, nil, err
	})
}

// Stats returns the counts of the cache.
func (c *Grammars) Stats() CacheStats { return c.cache.counts() }

func (c *Grammars) compile(ctx context.Context, kind string, texts []string, build func(context.Context) (*gbnf.Grammar, judge, error)) (*CompiledGrammar, error) {
	h := sha256.New()
	for _, t := range append([]string{kind}, texts...) {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	key := [sha256.Size]byte(h.Sum(nil))
	return c.cache.get(ctx, key, func(ctx context.Context) (*CompiledGrammar, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		g, check, err := build(ctx)
		if err != nil {
			return nil, err
		}
		bound, err := g.BindContext(ctx, c.vocab)
		if err != nil {
			return nil, err
		}
		size := 0
		for _, t := range texts {
			size += len(t)
		}
		out := &CompiledGrammar{size: size, Report: g.Report(), Bound: bound, Constraint: engine.Grammar(bound), check: check}
		out.document = Document{fmt.Sprintf("%s %x", kind, key), func(ctx context.Context) (*decoder.Grammar, error) { return g.BindContext(ctx, c.vocab) }}
		if out.kind = kind; kind == "builtin" {
			out.kind = "grammar"
		}
		out.plain = bound
		if g.ReadsTokens() {
			// Only the text is known, without tokens that added none.
			text, err := g.TokensAsText(ctx, c.vocab)
			if err != nil {
				return nil, err
			}
			if out.plain, err = text.BindContext(ctx, c.vocab); err != nil {
				return nil, err
			}
		}
		if check == nil {
			out.check = func(ctx context.Context, text string) (bool, error) { return reads(ctx, out.plain.NewMatcher(), text) }
		}
		return out, nil
	})
}

// reads reports whether a matcher reads a text to its end.
func reads(ctx context.Context, m *decoder.Matcher, text string) (bool, error) {
	const part = 256 // bytes between looks at the context
	for text != "" {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		n := min(part, len(text))
		if _, err := m.AcceptBytes([]byte(text[:n])); err != nil {
			return false, nil
		}
		text = text[n:]
	}
	return m.Accepting(), nil
}
