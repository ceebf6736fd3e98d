package gbnf

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/vocab"
)

// To the machine, a reference to a token is a character of its own, beyond all
// characters that can be encoded: 0x10FFFF is the last one, and the first byte of
// a four-byte encoding can reach at most 0x13FFFF. Reference number i of a
// program is firstToken+i.
const firstToken = 0x200000

// isToken reports whether a character stands for a reference to a token.
func isToken(r rune) bool { return r >= firstToken }

// token returns the character of a reference.
func (c *compiler) token(e *expr) rune {
	key := e.reference()
	id, ok := c.tokens[key]
	if !ok {
		id = int32(len(c.p.tokens))
		c.p.tokens = append(c.p.tokens, e)
		c.tokens[key] = id
	}
	return firstToken + id
}

// reference returns a reference to a token in the syntax of grammars.
func (e *expr) reference() string {
	text := e.text
	if text == "" {
		text = "<[" + strconv.Itoa(int(e.min)) + "]>"
	}
	if e.negated {
		return "!" + text
	}
	return text
}

// A boundToken is the token of a vocabulary that a reference is bound to.
type boundToken struct {
	id    int32
	not   bool   // every other token
	spelt []byte // its spelling, for completions
}

// bindTokens binds the references of a program. The error is an *InvalidError
// that lists all references without a token.
func (g *Grammar) bindTokens(work *meter.Meter, refs []*expr, v *vocab.Vocab) ([]boundToken, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	var issues []Issue
	ids := findTokens(work, refs, v)
	list := make([]boundToken, len(refs))
	for i, e := range refs {
		id := ids[i]
		b := boundToken{id: id, not: e.negated, spelt: decoder.SpellToken(id)}
		reason := ""
		switch {
		case id < 0 || int(id) >= v.Len():
			reason = fmt.Sprintf("the vocabulary has no token %s", e.reference())
		case e.negated:
			if b.spelt = spellOther(id, v); b.spelt == nil {
				reason = fmt.Sprintf("the vocabulary has no token but %s", e.reference()[1:])
			}
		case v.IsEOG(id):
			reason = fmt.Sprintf("token %s ends a generation, it can't be part of one", e.reference())
		case len(v.Bytes(id)) == 0 && v.Kind(id) != vocab.Control && v.Kind(id) != vocab.UserDefined:
			reason = fmt.Sprintf("token %s is not in use", e.reference())
		}
		if reason != "" && len(issues) < maxIssues {
			issues = append(issues, issueAt(g.file.source, int(e.pos), "", reason))
		}
		list[i] = b
	}
	if len(issues) > 0 {
		slices.SortFunc(issues, func(a, b Issue) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
		return nil, &InvalidError{issues}
	}
	return list, nil
}

// findTokens returns the tokens that references name, -1 if there is none: a text
// is looked up first as the tokenizer reads it, then as the vocabulary writes it.
func findTokens(work *meter.Meter, refs []*expr, v *vocab.Vocab) []int32 {
	ids := make([]int32, len(refs))
	missing := map[string][]int{}
	var tokens []int32
	for i, e := range refs {
		if e.text == "" {
			ids[i] = e.min
			continue
		}
		ids[i] = -1
		work.Step(1 + len(e.text)/8)
		if tokens = v.Tokenize(tokens[:0], e.text, true); len(tokens) == 1 {
			ids[i] = tokens[0]
		} else {
			missing[e.text] = append(missing[e.text], i)
		}
	}
	if len(missing) > 0 {
		for id := range int32(v.Len()) {
			for _, i := range missing[v.Text(id)] {
				ids[i] = id
			}
		}
	}
	return ids
}

// spellOther returns the spelling of a short token other than the given one.
func spellOther(not int32, v *vocab.Vocab) []byte {
	other, size := int32(-1), 0
	for id := range int32(v.Len()) {
		if n := len(v.Bytes(id)); id != not && n > 0 && !v.IsEOG(id) && v.Bytes(id)[0] < 0x80 && (other < 0 || n < size) {
			if other, size = id, n; n == 1 {
				break
			}
		}
	}
	if other < 0 {
		return nil
	}
	return decoder.SpellToken(other)
}

// ReadsTokens implements [decoder.TokenReader].
func (s *source) ReadsTokens() bool { return len(s.tokens) > 0 }

// ExpandTokens implements [decoder.TokenReader].
func (s *source) ExpandTokens(f decoder.Frame, e *decoder.TokenEdges) {
	x := s.frames[f]
	if x.kind != frameState {
		return
	}
	edges := s.auto.edges(x.at)
	for i := len(edges) - 1; i >= 0 && isToken(edges[i].hi); i-- {
		for r := edges[i].lo; r <= edges[i].hi; r++ {
			tok := s.tokens[r-firstToken]
			for _, a := range s.out.list[edges[i].out] {
				frames := s.framesOf(a)
				if tok.not {
					e.AddOthers(tok.id, frames[:a.n]...)
				} else {
					e.Add(tok.id, frames[:a.n]...)
				}
			}
		}
	}
}

// ReadsTokens reports whether the grammar refers to tokens, and so depends on the
// vocabulary that it is bound to.
func (g *Grammar) ReadsTokens() bool { return len(g.tokens) > 0 }

// TokensAsText returns the grammar with references to tokens replaced by the
// texts that the tokens add, and !<…> by any text: for checking a generated text
// whose tokens are unknown. Without references it returns the grammar itself.
// Errors are those of [Grammar.Bind].
//
// When the context ends, the work stops, with its cause as the error.
func (g *Grammar) TokensAsText(ctx context.Context, v *vocab.Vocab) (plain *Grammar, err error) {
	if len(g.tokens) == 0 {
		return g, nil
	}
	defer meter.Catch(&err)
	work := started(ctx)
	ids := findTokens(work, g.tokens, v)
	if _, err := g.bindTokens(work, g.tokens, v); err != nil {
		return nil, err
	}
	texts := make(map[*expr]*expr, len(ids))
	for i, e := range g.tokens {
		texts[e] = &expr{op: opLiteral, pos: e.pos, text: string(v.Bytes(ids[i]))}
		if e.negated {
			texts[e] = &expr{op: opRepeat, pos: e.pos, max: unbounded, sub: []*expr{{op: opAny, pos: e.pos}}}
		}
	}
	p, err := g.program(func(e *expr) *expr { return texts[e] }, work)
	if err != nil {
		return nil, err
	}
	plain = &Grammar{text: g.text, limits: g.limits, report: g.report, file: g.file}
	plain.source = func(work *meter.Meter, _ *vocab.Vocab) (decoder.Source, error) {
		return programSource(work, p, g.limits, nil), nil
	}
	return plain, nil
}
