package layout

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/vocab"
)

// This file has the model reread its first call, written in a form other than its own, as the start of a list. Small
// models that write one call in a Markdown block stop there regardless of the question; after the same call in a list
// they decide whether another one is needed. On 37 questions of the Berkeley leaderboard, Qwen2.5-Coder-0.5B continued
// with a probability of 0.87 or more where several calls are needed (once 0.5) and of 0.2 or less where one is (once
// 0.7); in its template's form it mostly stopped in both cases.

// listed is the form of the list in which the first call is reread.
var listed = chat.CallForm{
	Name:      "list",
	Triggers:  []chat.Trigger{{Mark: "[\n", Then: `{"name": "`}},
	Middle:    `", "arguments": `,
	Arguments: chat.ArgumentForm{Layout: chat.Spaced},
	After:     "}",
}

// Recast returns the function for [engine.Request.Recast], nil if no call can be recast.
func (l *Layout) Recast(v *vocab.Vocab) func() engine.Recaster {
	if !l.recasts {
		return nil
	}
	return func() engine.Recaster {
		return func(spans []decoder.Span, text []byte) *engine.Recast {
			tokens := l.recast(v, spans, text)
			if tokens == nil {
				return nil
			}
			return &engine.Recast{Tokens: tokens, More: goingOn(v), Least: leastMore}
		}
	}
}

// leastMore is how sure of another call the model must be after a list with one: what it would have written ended there.
const leastMore = 0.8

// goesOn is the key under which the tokens that go on with a list are kept.
type goesOn struct{}

// goingOn returns the tokens that go on with a list after one of its elements.
func goingOn(v *vocab.Vocab) []int32 {
	return v.Attach(goesOn{}, func() any {
		var list []int32
		for token := range int32(v.Len()) {
			if text := v.Bytes(token); len(text) > 0 {
				if text = bytes.TrimLeft(text, " \t\r\n"); len(text) == 0 || text[0] == ',' {
					list = append(list, token)
				}
			}
		}
		return list
	}).([]int32)
}

// recast returns the tokens of the text so far with its first call rewritten as the start of a list, if the text ends
// with a call in another form outside a list.
func (l *Layout) recast(v *vocab.Vocab, spans []decoder.Span, text []byte) []int32 {
	at := -1
	for i, s := range spans {
		if s.Segment >= 0 && l.Nodes[s.Segment].Role == roleArguments {
			if at >= 0 {
				return nil
			}
			at = i
		}
	}
	if at < 1 || spans[0].Segment < 0 {
		return nil
	}
	begin := 0
	if first := &l.Nodes[spans[0].Segment]; first.Free {
		if first.Role != RoleContent {
			return nil
		}
		begin = spans[0].End - spans[0].Mark
	}
	call := &l.Nodes[spans[at].Segment]
	if call.Form != FormJSON && call.Form != FormBlock || begin < 0 || spans[at].Start > len(text) {
		return nil
	}
	before, opening := text[:begin], text[begin:spans[at].Start]
	if bytes.ContainsRune(opening, '[') {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text[spans[at].Start:]))
	var arguments json.RawMessage
	if d.Decode(&arguments) != nil {
		return nil
	}
	// The JSON around the arguments must be complete, with only blanks after it.
	after := string(text[spans[at].Start+int(d.InputOffset()):])
	for range bytes.Count(opening, []byte("{")) {
		var ok bool
		if after, ok = strings.CutPrefix(strings.TrimLeft(after, " \t\r\n"), "}"); !ok {
			return nil
		}
	}
	if strings.TrimSpace(after) != "" {
		return nil
	}
	list, err := listed.Write([]chat.ToolCall{{Name: l.tools[call.Tool], Arguments: arguments}})
	if err != nil {
		return nil
	}
	return v.TokenizeText(v.TokenizeText(nil, before), []byte(list))
}
