package gbnf

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"unicode/utf8"

	"stencil/decoder"
	"stencil/vocab"
)

// Options says how a grammar is compiled.
type Options struct {
	Limits Limits
}

// A Grammar is a compiled constraint: a grammar, a regular expression, a list
// of choices or a built-in format. It is immutable and safe for concurrent
// use.
type Grammar struct {
	text   string // as String returns it
	limits Limits
	report Report
	// source makes the decoder's view; with a file that refers to tokens it
	// depends on the vocabulary.
	source func(v *vocab.Vocab) (decoder.Source, error)
	tokens []*expr
	file   *file
}

// Report says what is known about a grammar.
type Report struct {
	Hash     string // of the grammar as String prints it: "sha256:" and hexadecimal digits
	Rules    int    // 0 for what is not written as rules
	Warnings []Issue
	// Shortest is the length in bytes of the shortest text. It is 0 also
	// while references to tokens leave it open.
	Shortest int
}

// Compile compiles a grammar in GBNF. Errors are *InvalidError or *LimitError.
func Compile(src string, opt Options) (*Grammar, error) {
	limits := opt.Limits.withDefaults()
	f, err := parse(src, limits)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	g := &Grammar{text: f.String(), limits: limits, file: f, tokens: f.tokens()}
	g.report = Report{Hash: hashOf(g.text), Rules: len(f.rules), Warnings: f.unused()}
	// What a token stands for is open without a vocabulary. It doesn't
	// matter for what can be completed.
	p, err := g.program(func(*expr) string { return "?" })
	if err != nil {
		return nil, err
	}
	if err := g.review(p); err != nil {
		return nil, err
	}
	if len(g.tokens) == 0 {
		g.report.Shortest = int(p.cost[p.start[p.root]])
	}
	g.source = func(v *vocab.Vocab) (decoder.Source, error) {
		p := p
		if len(g.tokens) > 0 {
			if p, err = g.withTokens(v); err != nil {
				return nil, err
			}
		}
		return newSource(func(out *outcomes) automaton { return newMachine(p, limits, out) }), nil
	}
	return g, nil
}

// hashOf identifies a constraint by its text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (g *Grammar) program(literal func(*expr) string) (*program, error) {
	p, err := compile(g.file, g.limits, literal)
	if err != nil {
		return nil, err
	}
	if cost := p.cost[p.start[p.root]]; cost != never && cost > int64(g.limits.Text) {
		return nil, &LimitError{Limit: "Text", Max: g.limits.Text}
	}
	return p, nil
}

// review refuses a grammar that no text satisfies and warns of such rules.
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

// withTokens compiles the grammar for a vocabulary.
func (g *Grammar) withTokens(v *vocab.Vocab) (*program, error) {
	texts := map[*expr]string{}
	var issues []Issue
	for _, e := range g.tokens {
		text, reason := tokenText(e, v)
		if reason != "" {
			issues = append(issues, issueAt(g.file.source, int(e.pos), "", reason))
		}
		texts[e] = text
	}
	if len(issues) > 0 {
		return nil, &InvalidError{issues}
	}
	return g.program(func(e *expr) string { return texts[e] })
}

// tokenText returns what a reference to a token stands for, or what is wrong.
func tokenText(e *expr, v *vocab.Vocab) (text, reason string) {
	id := int32(-1)
	name := e.text
	switch {
	case e.text == "":
		name = fmt.Sprintf("<[%d]>", e.min)
		if int(e.min) < v.Len() {
			id = e.min
		}
	default:
		for t := range int32(v.Len()) {
			if v.Text(t) == e.text {
				id = t
				break
			}
		}
	}
	switch {
	case id < 0:
		return "", fmt.Sprintf("the vocabulary has no token %s", name)
	case e.negated:
		return "", fmt.Sprintf("!%s: all tokens but one can't be told apart in a text", name)
	case len(v.Bytes(id)) == 0:
		return "", fmt.Sprintf("token %s adds no text and is never generated inside of a constraint", name)
	case !utf8.Valid(v.Bytes(id)):
		return "", fmt.Sprintf("token %s is no whole character", name)
	}
	return string(v.Bytes(id)), ""
}

// Bind returns the constraint over a vocabulary. An error is an *InvalidError:
// the grammar refers to tokens that the vocabulary doesn't have, or that can't
// be part of a text.
func (g *Grammar) Bind(v *vocab.Vocab) (*decoder.Grammar, error) {
	s, err := g.source(v)
	if err != nil {
		return nil, err
	}
	return decoder.New(s, v, decoder.Limits{Threads: g.limits.Threads, Bytes: g.limits.Memory}), nil
}

// String returns the grammar in a normal form that compiles to the same
// grammar; for other constraints, what they were made of.
func (g *Grammar) String() string { return g.text }

// Report returns what is known about the grammar.
func (g *Grammar) Report() Report { return g.report }
