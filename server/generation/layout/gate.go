package layout

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/vocab"
)

// This file asks how sure the model is that it wants to call a tool. Small models call whatever tool they see, also
// one that is of no use; the probability of all tokens that begin a call, where the answer begins, tells more than the
// likeliest of them.

// Gate returns the gate of answers that begin with a call: the model must begin it with a probability of at least
// least. It is nil if an answer is a call in any case, or is constrained otherwise. What is kept from beginning with a
// call explains it, and shows it in a Markdown block, so that calls in other forms stay text there.
func (l *Layout) Gate(ctx context.Context, all *constraint.Sequences, v *vocab.Vocab, p *Plan, least float64) (*engine.Gate, error) {
	if p.Must || p.constrained() || len(p.Tools) == 0 || !l.HasFree() {
		return nil, nil
	}
	var marks []string
	for _, t := range p.Calls.Triggers {
		marks = append(marks, strings.TrimLeft(p.Calls.Lead+t.Mark, " \n"), strings.TrimLeft(t.Mark, " \n"))
	}
	if p.Foreign {
		marks = append(append(marks, "{", "["), blockOpenings...)
	}
	var first [256]bool // bytes with which marks begin
	for _, mark := range marks {
		if mark != "" {
			first[mark[0]] = true
		}
	}
	g := &engine.Gate{Least: least, At: l.unanswered}
	if p.Foreign {
		o := builder{slices.Clone(l.Nodes)}
		for i, n := range o.nodes {
			o.nodes[i].Stops = slices.DeleteFunc(slices.Clone(n.Stops), func(s stopMark) bool { return s.Foreign })
		}
		var err error
		if g.Instead, _, err = o.compile(ctx, all, v, 0); err != nil {
			return nil, err
		}
	}
	for token := range int32(v.Len()) {
		text := v.Bytes(token)
		if len(text) == 0 {
			text = []byte(v.Text(token))
		}
		if text = bytes.TrimLeft(text, " \n"); len(text) == 0 || !first[text[0]] || !opens(string(text), marks) {
			continue
		}
		if p.Think != ThinkPerhaps || !bytes.HasPrefix([]byte(p.Thought.Open), text) {
			g.Tokens = append(g.Tokens, token)
		}
	}
	return g, nil
}

// leastLetters is how many letters of a mark a token must have: fewer begin words.
const leastLetters = 4

// opens reports whether a token's text begins one of the marks, or a mark the token.
func opens(text string, marks []string) bool {
	for _, mark := range marks {
		if mark == "" {
			continue
		}
		if strings.HasPrefix(text, mark) {
			return true
		}
		if first, _ := utf8.DecodeRuneInString(mark); strings.HasPrefix(mark, text) && (!unicode.IsLetter(first) || len(text) >= leastLetters) {
			return true
		}
	}
	return false
}

// unanswered reports whether the next token may be the first of the answer.
func (l *Layout) unanswered(spans []decoder.Span, text []byte) bool {
	for i, s := range spans {
		if s.Segment < 0 {
			return false
		}
		n := &l.Nodes[s.Segment]
		last := i == len(spans)-1
		if last && !(n.Free && n.Role == RoleContent) || n.Role != RoleReasoning && n.Role != roleMark && len(bytes.TrimSpace(text[s.Start:s.End])) > 0 {
			return false
		}
	}
	return true
}
