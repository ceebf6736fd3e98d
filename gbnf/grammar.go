package gbnf

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/vocab"
)

// Options configures how a grammar is compiled.
type Options struct {
	Limits Limits
}

// A Grammar is a compiled constraint: a grammar, a regular expression, a list
// of choices or a built-in format. It is immutable and safe for concurrent
// use.
type Grammar struct {
	text   string // the result of String
	limits Limits
	report Report
	// source returns the decoder's view. If the file refers to tokens, it
	// depends on the vocabulary.
	source func(work *meter.Meter, v *vocab.Vocab) (decoder.Source, error)
	tokens []*expr
	file   *file
}

// Report describes a grammar.
type Report struct {
	Hash     string // of the grammar as String prints it: "sha256:" and hexadecimal digits
	Rules    int    // 0 for constraints that are not written as rules
	Warnings []Issue
	// Shortest is the length in bytes of the shortest text. It is also 0 if
	// references to tokens leave the length open.
	Shortest int
}

// Compile compiles a grammar in GBNF. Errors are *InvalidError or *LimitError.
func Compile(src string, opt Options) (*Grammar, error) {
	return CompileContext(context.Background(), src, opt)
}

// CompileContext is [Compile] with a context: when it ends, the work stops, with its cause as the error. The work keeps to
// the context's pace.
func CompileContext(ctx context.Context, src string, opt Options) (g *Grammar, err error) {
	defer meter.Catch(&err)
	limits, work := opt.Limits.withDefaults(), started(ctx)
	f, err := parse(src, limits, work)
	if err != nil {
		return nil, err
	}
	if err := f.check(work); err != nil {
		return nil, err
	}
	g = &Grammar{text: f.String(), limits: limits, file: f, tokens: f.tokens()}
	g.report = Report{Hash: hashOf(g.text), Rules: len(f.rules), Warnings: append(f.empty, f.unused()...)}
	work.Look()
	p, err := g.program(nil, work)
	if err != nil {
		return nil, err
	}
	if err := g.review(p); err != nil {
		return nil, err
	}
	if len(g.tokens) == 0 {
		g.report.Shortest = int(p.cost[p.start[p.root]])
	}
	g.source = func(work *meter.Meter, v *vocab.Vocab) (decoder.Source, error) {
		tokens, err := g.bindTokens(work, p.tokens, v)
		if err != nil {
			return nil, err
		}
		return programSource(work, p, limits, tokens), nil
	}
	return g, nil
}

// started returns a meter that ends work with a context.
func started(ctx context.Context) *meter.Meter {
	m := meter.New(meter.Limits{}, nil)
	m.Start(ctx)
	m.Look() // it may have ended before
	return m
}

// programSource returns the decoder's view of a program whose references to
// tokens are bound to the given ones.
func programSource(work *meter.Meter, p *program, limits Limits, tokens []boundToken) decoder.Source {
	var m *machine
	s := newSource(func(out *outcomes) automaton {
		m = newMachine(p, limits, tokens, out)
		return m
	})
	s.tokens = tokens
	m.setMeter(work)
	if !m.warm() {
		s.Reset()
	}
	m.setMeter(nil)
	return s
}

// hashOf returns the hash of a constraint's text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// program compiles the rules; see compile for asText.
func (g *Grammar) program(asText func(*expr) *expr, work *meter.Meter) (*program, error) {
	p, err := compile(g.file, g.limits, asText, work)
	if err != nil {
		return nil, err
	}
	if cost := p.cost[p.start[p.root]]; cost != never && cost > int64(g.limits.Text) {
		return nil, &LimitError{Limit: "Text", Max: g.limits.Text}
	}
	return p, nil
}

// review rejects a grammar that no text satisfies, and warns of rules that no
// text satisfies.
func (g *Grammar) review(p *program) error {
	for i, r := range g.file.rules {
		if p.cost[p.start[i]] != never {
			continue
		}
		issue := issueAt(g.file.source, int(r.pos), r.name, "can never end: every way through it needs a rule that can never end")
		if int32(i) == p.root {
			return &InvalidError{[]Issue{issue}}
		}
		if len(g.report.Warnings) < maxIssues {
			g.report.Warnings = append(g.report.Warnings, issue)
		}
	}
	return nil
}

// Bind returns the constraint over a vocabulary. The error is an *InvalidError
// if the grammar refers to tokens that the vocabulary doesn't have, or that end
// a generation.
func (g *Grammar) Bind(v *vocab.Vocab) (*decoder.Grammar, error) {
	return g.BindContext(context.Background(), v)
}

// BindContext is [Grammar.Bind] with a context: when it ends, the work stops, with its cause as the error.
func (g *Grammar) BindContext(ctx context.Context, v *vocab.Vocab) (bound *decoder.Grammar, err error) {
	defer meter.Catch(&err)
	s, err := g.source(started(ctx), v)
	if err != nil {
		return nil, err
	}
	return decoder.New(s, v, decoder.Limits{Threads: g.limits.Threads, Bytes: g.limits.Memory}), nil
}

// String returns the grammar in a normal form that compiles to the same
// grammar, or the text that another constraint was built from.
func (g *Grammar) String() string { return g.text }

// Report returns the description of the grammar.
func (g *Grammar) Report() Report { return g.report }
