package layout

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stencil-json/stencil/chat"
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
func (l *Layout) Gate(all *constraint.Sequences, v *vocab.Vocab, p *Plan, least float64) *engine.Gate {
	if !p.Gated() || p.Must || p.constrained() || len(p.Tools) == 0 || !l.HasFree() {
		return nil
	}
	g := &engine.Gate{Least: least, At: l.unanswered, Tokens: p.beginnings(v)}
	if p.Foreign {
		g.Instead = l.withoutForeign(all, v)
	}
	return g
}

// Gated reports whether the place where an answer begins is known, so that a gate can look there for calls: not if the model first
// writes whom it addresses.
func (p *Plan) Gated() bool { return p.Calls.Answer == "" }

// beginnings is the key under which the tokens that may begin a call are kept: the marks of calls and of reasoning.
type beginnings struct{ marks, reasoning string }

// beginnings returns the tokens with which a call may begin.
func (p *Plan) beginnings(v *vocab.Vocab) []int32 {
	var marks []string
	for _, t := range p.Calls.Triggers {
		marks = append(marks, strings.TrimLeft(p.Calls.Lead+t.Mark, " \n"), strings.TrimLeft(t.Mark, " \n"))
	}
	if p.Foreign {
		marks = append(append(marks, "{", "[", "<function=", "<invoke ", "<｜"), blockOpenings...)
	}
	key := beginnings{marks: strings.Join(marks, "\x00")}
	if p.Think == ThinkPerhaps {
		key.reasoning = p.Thought.Open
	}
	return v.Attach(key, func() any {
		var first [256]bool // bytes with which marks begin
		for _, mark := range marks {
			if mark != "" {
				first[mark[0]] = true
			}
		}
		var list []int32
		for token := range int32(v.Len()) {
			text := v.Bytes(token)
			if len(text) == 0 {
				text = []byte(v.Text(token))
			}
			if text = bytes.TrimLeft(text, " \n"); len(text) == 0 || !first[text[0]] || !opens(string(text), marks) {
				continue
			}
			if key.reasoning == "" || !bytes.HasPrefix([]byte(key.reasoning), text) {
				list = append(list, token)
			}
		}
		return list
	}).([]int32)
}

// notProse is the key under which the tokens are kept with which no prose begins.
type notProse struct{ reasoning string }

// notProseOf returns the tokens with which no prose begins: those of calls and other JSON, of blocks and tags, and of no text at all.
func notProseOf(v *vocab.Vocab, p *Plan) []int32 {
	key := notProse{}
	if p.Think == ThinkPerhaps {
		key.reasoning = p.Thought.Open
	}
	return v.Attach(key, func() any {
		var list []int32
		for token := range int32(v.Len()) {
			text := v.Bytes(token)
			if len(text) == 0 {
				text = []byte(v.Text(token))
			}
			text = bytes.TrimLeft(text, " \n\r\t")
			opens := len(text) > 0 && (text[0] == '(' || text[0] == '<' || bytes.ContainsAny(text, "{[`"))
			if opens && (key.reasoning == "" || !strings.HasPrefix(key.reasoning, string(text))) {
				list = append(list, token)
			}
		}
		return append(list, v.EOG()...)
	}).([]int32)
}

// Prose returns a gate that has answers begin with prose.
func (l *Layout) Prose(v *vocab.Vocab, p *Plan) *engine.Gate {
	return &engine.Gate{Tokens: notProseOf(v, p), Least: 2, At: l.unanswered} // no probability is as large
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

// withoutForeign returns the constraint with the same nodes to which calls in other forms are text.
func (l *Layout) withoutForeign(all *constraint.Sequences, v *vocab.Vocab) engine.Fallback {
	return func(ctx context.Context) (engine.Constraint, error) {
		o := builder{slices.Clone(l.Nodes)}
		for i, n := range o.nodes {
			o.nodes[i].Stops = slices.DeleteFunc(slices.Clone(n.Stops), func(s stopMark) bool { return s.Foreign })
		}
		c, _, err := o.compile(ctx, all, v, 0)
		return c, err
	}
}

// argues reports whether a span is arguments, whole or one by one.
func (l *Layout) argues(s decoder.Span) bool {
	if s.Segment < 0 {
		return false
	}
	switch l.Nodes[s.Segment].Role {
	case roleArguments, roleBetween, roleValue, roleText, roleName:
		return true
	}
	return false
}

// Called returns the index of the tool that a text calls first, -1 if it calls none.
func (l *Layout) Called(spans []decoder.Span) int {
	for _, s := range spans {
		if l.argues(s) {
			return l.Nodes[s.Segment].Tool
		}
	}
	return -1
}

// goesOn reports whether the line of a call as in Python goes on with something that follows no call, as it does in prose and
// code, and whether that is known yet.
func (l *Layout) goesOn(spans []decoder.Span, text []byte) (known, refused bool) {
	list := false
	for i, s := range spans[1:] {
		before := spans[i]
		list = list || before.Mark > 0 && before.End <= len(text) && bytes.ContainsRune(text[before.End-before.Mark:before.End], '[')
		if s.Segment < 0 || l.Nodes[s.Segment].Role != roleRest || before.Segment < 0 || l.Nodes[before.Segment].Form != FormPython {
			continue
		}
		start := min(s.Start, len(text))
		if start > 0 && text[start-1] != ')' {
			start-- // the mark after a call without arguments
		}
		rest := bytes.TrimLeft(text[start:], " \t")
		separators := "\r\n;"
		if list {
			separators = "\r\n,"
		}
		if after, ok := bytes.CutPrefix(rest, []byte("]")); ok && list {
			rest, separators = bytes.TrimLeft(after, " \t"), "\r\n"
		}
		if len(rest) == 0 || len(rest) == 1 && rest[0] == '<' {
			return false, false
		}
		for _, mark := range []string{"<|", "</", "```"} {
			if bytes.HasPrefix([]byte(mark), rest) || bytes.HasPrefix(rest, []byte(mark)) {
				return true, false
			}
		}
		return true, !strings.ContainsRune(separators, rune(rest[0]))
	}
	return true, false
}

// Shun returns what leaves out the call that a text must not begin with: see Plan.Shunned.
func (l *Layout) Shun(v *vocab.Vocab, p *Plan) *engine.Doubt {
	return &engine.Doubt{
		Tokens: notProseOf(v, p), At: l.unanswered,
		Find: func(spans []decoder.Span) (part, decides int) {
			part = slices.IndexFunc(spans, func(s decoder.Span) bool { return s.Segment >= 0 && l.Nodes[s.Segment].Role == roleShunned })
			return part, part - 1 // what follows the mark doesn't matter
		},
		Unwanted: func([]decoder.Span, []byte) bool { return true },
	}
}

// Doubt returns what makes a call in another form than the model's own text again if the model was not sure of it
// and its arguments: it is nil if an answer is a call in any case, or can't have such calls. A call in its own form is one
// whatever its arguments; one in another form is taken for one by guess. Where no tool is of use, small models call one
// all the same, and make its arguments up.
func (l *Layout) Doubt(all *constraint.Sequences, v *vocab.Vocab, p *Plan, least float64) *engine.Doubt {
	if !p.Foreign || p.Must || p.constrained() && !p.Beside || !l.HasFree() && !p.Beside {
		return nil
	}
	foreign := make([]bool, len(l.Nodes)) // what may follow the mark of such a call
	for i, n := range l.Nodes {
		foreign[i] = foreign[i] || n.Foreign
		for _, s := range n.Stops {
			if !s.Foreign {
				continue
			}
			foreign[s.Next] = true
			for _, way := range l.Nodes[s.Next].Fork {
				foreign[way] = true
			}
		}
	}
	begins := func(s decoder.Span) bool { return s.Segment >= 0 && foreign[s.Segment] }
	d := &engine.Doubt{
		Least: least, Instead: l.withoutForeign(all, v), Tokens: p.beginnings(v), At: l.unanswered,
		Find: func(spans []decoder.Span) (part, decides int) {
			if part = slices.IndexFunc(spans, begins); part < 0 && p.Beside {
				part = slices.IndexFunc(spans, l.argues)
			}
			if part < 0 {
				return -1, -1
			}
			decides = part
			for decides < len(spans) && !l.argues(spans[decides]) {
				decides++
			}
			if decides == len(spans) {
				return part, -1
			}
			for decides+1 < len(spans) && l.argues(spans[decides+1]) {
				decides++
			}
			return part, decides
		},
		Refuse: l.goesOn, Unwanted: l.repeated(),
	}
	if p.Beside { // the text of a call is no document; one in the model's own form may be all that masks left, and may be repeated
		d.Instead, d.Exempt = nil, func(spans []decoder.Span) bool { return !slices.ContainsFunc(spans, begins) }
	}
	return d
}

// DocumentAlone returns the constraint of texts that are no calls but the document, which the same layout reads.
func (l *Layout) DocumentAlone(ctx context.Context, all *constraint.Sequences, v *vocab.Vocab) (engine.Constraint, error) {
	o := builder{slices.Clone(l.Nodes)}
	for i, n := range o.nodes {
		if at := slices.IndexFunc(n.Fork, func(way int) bool { return l.Nodes[way].Document }); at >= 0 {
			o.nodes[i].Fork = n.Fork[at : at+1]
		}
	}
	c, _, err := o.compile(ctx, all, v, 0)
	return c, err
}

// repeated returns the function that reports whether a text begins with a call that has been made before; nil if none has been.
func (l *Layout) repeated() func(spans []decoder.Span, text []byte) bool {
	if l.Repeats || len(l.Made) == 0 {
		return nil
	}
	one := *l
	one.Repeats, one.MaxCalls = true, 1
	return func(spans []decoder.Span, text []byte) bool {
		r := NewReader(&one)
		var calls Message
		for i, s := range spans {
			if s.Segment < 0 {
				break
			}
			end := min(s.End-s.Mark, len(text))
			for _, p := range r.Add("", []engine.Passage{{Segment: s.Segment, Visit: i, Text: string(text[min(s.Start, end):end])}}) {
				calls.Add(p)
			}
		}
		for _, p := range r.End() {
			calls.Add(p)
		}
		if len(calls.Calls) != 1 || calls.Content != "" {
			return false
		}
		key := callKey(calls.Calls[0].Name, calls.Calls[0].Arguments)
		return slices.ContainsFunc(l.Made, func(c chat.ToolCall) bool { return callKey(c.Name, string(c.Arguments)) == key })
	}
}
