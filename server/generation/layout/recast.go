package layout

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/vocab"
)

// This file has the model read its first call, which it wrote in a form that isn't its own, in its own form. Small models
// that write one call in a Markdown block end there, whatever they were asked; after the same call in the form of their
// template they tell apart whether another one is wanted.

// further appends what may follow a call in another form that has been put into the model's own: the rest of that form,
// and further calls in it. It returns -1 where the form has no further calls, or numbers them.
func (p *Plan) further(o *builder, last int) int {
	f := p.Calls
	if !p.Parallel || f.Next == "" || f.HasSlot(chat.SlotID, chat.SlotName, chat.SlotIndex, chat.SlotCount) {
		return -1
	}
	_, rest := closing(f)
	if rest == "" {
		return -1
	}
	names := o.add(Node{Role: roleNames})
	p.callsAt(o, names, 1, names, last)
	if f.Close != "" {
		return o.add(Node{Stops: []stopMark{{Mark: rest + f.Next, Next: names}, {Mark: rest + f.Close, Next: last}}})
	}
	again := o.fixed(f.Next, last == end, names)
	if last != end {
		again = o.add(Node{Fork: []int{again, last}})
	}
	return o.fixed(rest, false, again)
}

// closing splits what ends a call into the braces, which end its JSON, and the rest.
func closing(f chat.CallForm) (braces, rest string) {
	rest = strings.TrimLeft(f.After, "}")
	return f.After[:len(f.After)-len(rest)], rest
}

// Recast returns what [engine.Request] calls so, nil where there is nothing to be recast.
func (l *Layout) Recast(v *vocab.Vocab) func() func([]decoder.Span, []byte) ([]int32, []byte) {
	if !l.further {
		return nil
	}
	return func() func([]decoder.Span, []byte) ([]int32, []byte) {
		return func(spans []decoder.Span, text []byte) ([]int32, []byte) {
			return l.recast(v, spans, text)
		}
	}
}

// recast returns the tokens of the first call in the model's own form, and of what comes before it, if the text so far
// ends with a call in another form: one that isn't in a list, in which the model would go on. With them it returns the rest
// of the model's own form, in place of which the model might go back to the other one.
func (l *Layout) recast(v *vocab.Vocab, spans []decoder.Span, text []byte) (as []int32, follows []byte) {
	at := -1
	for i, s := range spans {
		if s.Segment >= 0 && l.Nodes[s.Segment].Role == roleArguments {
			if at >= 0 {
				return nil, nil
			}
			at = i
		}
	}
	if at < 1 || spans[0].Segment < 0 || !l.Nodes[spans[0].Segment].Free || l.Nodes[spans[0].Segment].Role != RoleContent {
		return nil, nil
	}
	call := &l.Nodes[spans[at].Segment]
	begin := spans[0].End - spans[0].Mark
	if call.Form == "" || call.Form == FormFunction || begin < 0 || spans[at].Start > len(text) {
		return nil, nil
	}
	before, opening := text[:begin], text[begin:spans[at].Start]
	if bytes.ContainsRune(opening, '[') {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(text[spans[at].Start:]))
	var arguments json.RawMessage
	if d.Decode(&arguments) != nil {
		return nil, nil
	}
	// The JSON around the arguments has to be complete, and what follows it has to be the beginning of what follows in the
	// model's own form.
	after := string(text[spans[at].Start+int(d.InputOffset()):])
	for range bytes.Count(opening, []byte("{")) {
		var ok bool
		if after, ok = strings.CutPrefix(strings.TrimLeft(after, " \t\r\n"), "}"); !ok {
			return nil, nil
		}
	}
	_, rest := closing(l.calls)
	if !strings.HasPrefix(rest, after) {
		return nil, nil
	}
	own, err := l.calls.Write([]chat.ToolCall{{Name: l.tools[call.Tool], Arguments: arguments}})
	if err != nil {
		return nil, nil
	}
	own = strings.TrimSuffix(own, rest+l.calls.Close)
	lead := l.calls.Triggers[0].Mark
	if len(before) == 0 {
		lead = l.calls.Lead + lead
	}
	tokens := v.TokenizeText(nil, before)
	tokens = v.Tokenize(tokens, lead, true)
	tokens = v.TokenizeText(tokens, []byte(strings.TrimPrefix(own, l.calls.Triggers[0].Mark)+after))
	for _, p := range constraint.Pieces(v, rest) {
		if p.Text == "" {
			return tokens, nil // a token without text
		}
	}
	return tokens, []byte(rest[len(after):])
}
