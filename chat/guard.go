package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// render renders a conversation. Texts of control tokens in the client's texts get a
// guard, so that they stay text and no client can forge a turn. Other texts are
// rendered unchanged.
//
// A template may cut, trim and join texts, and so form such a text from two harmless
// parts. So the conversation is rendered again with guards wherever the text of a
// control token may begin or end; if the control tokens in the result differ, that
// becomes the prompt.
func (p *Prompts) render(in Input) (text string, guard rune, err error) {
	in.kept = p.keep(in.Tools)
	g := &guards{prompts: p, guard: unusedRune(&in), mark: nil}
	g.mark = g.spellings
	guarded := g.input(in)
	if text, err = p.template.Render(guarded); err != nil {
		return "", g.guard, err
	}
	g.first, g.last = p.controls.Ends()
	g.mark = g.everywhere
	if whole := g.input(in); g.changed {
		other, err := p.template.Render(whole)
		if err == nil && !slices.Equal(p.controls.In(other), p.controls.In(text)) {
			text = other
		}
	}
	return g.unescaped(text), g.guard, nil
}

// unescaped returns a text in which guards that the template has written as JSON or
// Python escapes are replaced by the character.
func (g *guards) unescaped(text string) string {
	if !g.changed {
		return text
	}
	hi, lo := utf16.EncodeRune(g.guard)
	return strings.NewReplacer(fmt.Sprintf(`\u%04x\u%04x`, hi, lo), string(g.guard), fmt.Sprintf(`\U%08x`, g.guard), string(g.guard)).Replace(text)
}

// guards inserts guards into the texts of a conversation.
type guards struct {
	prompts     *Prompts
	guard       rune
	mark        func(text string, own []string) string
	first, last [256]bool // first and last bytes of the texts of control tokens
	changed     bool
}

// unusedRune returns a private-use character that does not occur in the conversation.
func unusedRune(in *Input) rune {
	g := guards{}
	used := map[rune]bool{}
	g.mark = func(text string, _ []string) string {
		for _, r := range text {
			if r >= guardAnywhere {
				used[r] = true
			}
		}
		return text
	}
	g.input(*in)
	r := rune(guardAnywhere)
	for used[r] {
		r++
	}
	return r
}

// spellings guards the text of each control token except those in own.
func (g *guards) spellings(text string, own []string) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		found := g.prompts.controls.At(text, i)
		if found == "" || slices.Contains(own, found) {
			continue
		}
		_, n := utf8.DecodeRuneInString(found)
		b.WriteString(text[from : i+n])
		b.WriteRune(g.guard)
		from = i + n
	}
	return b.String() + text[from:]
}

// everywhere guards every position where the text of a control token may begin or end.
func (g *guards) everywhere(text string, own []string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if found := g.prompts.controls.At(text, i); found != "" && slices.Contains(own, found) {
			b.WriteString(found)
			i += len(found)
			continue
		}
		_, n := utf8.DecodeRuneInString(text[i:])
		if g.last[text[i+n-1]] {
			b.WriteRune(g.guard)
		}
		b.WriteString(text[i : i+n])
		if g.first[text[i]] {
			b.WriteRune(g.guard)
		}
		i += n
	}
	return b.String()
}

func (g *guards) text(text string, own []string) string {
	if text == "" {
		return text
	}
	out := g.mark(text, own)
	g.changed = g.changed || out != text
	return out
}

// input returns the conversation with guards. Marks of reasoning and calls keep their
// meaning in assistant messages, which the model wrote, and in system messages, which
// describe the format to it.
func (g *guards) input(in Input) Input {
	var own, begun []string
	if g.prompts != nil {
		own = g.prompts.own
		begun = append(slices.Clip(own), "<|channel|>", "<|message|>")
	}
	messages := make([]Message, len(in.Messages))
	for i, m := range in.Messages {
		marks := own
		if m.Role != "assistant" && m.Role != "system" && m.Role != "developer" {
			marks = nil
		}
		m.Content, m.Reasoning = g.text(m.Content, marks), g.text(m.Reasoning, marks)
		m.Name, m.ToolCallID = g.text(m.Name, nil), g.text(m.ToolCallID, nil)
		m.Parts = slices.Clone(m.Parts)
		for j := range m.Parts {
			m.Parts[j].Text = g.text(m.Parts[j].Text, marks)
		}
		m.ToolCalls = slices.Clone(m.ToolCalls)
		for j := range m.ToolCalls {
			c := &m.ToolCalls[j]
			c.ID, c.Name, c.Arguments = g.text(c.ID, nil), g.text(c.Name, nil), g.document(c.Arguments)
		}
		m.Extra = g.variables(m.Extra)
		messages[i] = m
	}
	in.Messages = messages
	tools := make([]json.RawMessage, len(in.Tools))
	for i, t := range in.Tools {
		if tools[i] = t; in.kept == nil || in.kept[i] == nil {
			tools[i] = g.document(t)
		}
	}
	in.Tools = tools
	in.Extra = g.variables(in.Extra)
	in.Begun = g.text(in.Begun, begun)
	return in
}

// variables guards the texts in a template's variables.
func (g *guards) variables(vars map[string]any) map[string]any {
	out := maps.Clone(vars)
	for name, v := range out {
		out[name] = g.value(v)
	}
	return out
}

func (g *guards) value(v any) any {
	switch v := v.(type) {
	case string:
		return g.text(v, nil)
	case json.RawMessage:
		return g.document(v)
	case []any:
		list := make([]any, len(v))
		for i, x := range v {
			list[i] = g.value(x)
		}
		return list
	case map[string]any:
		return g.variables(v)
	}
	return v
}

// document guards the strings and keys of a JSON document and keeps the rest
// unchanged.
func (g *guards) document(raw json.RawMessage) json.RawMessage {
	var out []byte
	from := 0
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		end := i + 1
		for end < len(raw) && raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(raw) {
			break // not JSON
		}
		text := string(raw[i+1 : end]) // without escapes, as nearly always
		if bytes.IndexByte(raw[i:end], '\\') < 0 && utf8.ValidString(text) || json.Unmarshal(raw[i:end+1], &text) == nil {
			if marked := g.text(text, nil); marked != text {
				var b strings.Builder
				enc := json.NewEncoder(&b)
				enc.SetEscapeHTML(false)
				if enc.Encode(marked) == nil {
					out = append(append(out, raw[from:i]...), strings.TrimSuffix(b.String(), "\n")...)
					from = end + 1
				}
			}
		}
		i = end
	}
	if out == nil {
		return raw
	}
	return append(out, raw[from:]...)
}

// ownMarks returns the control tokens around reasoning and calls.
func (p *Prompts) ownMarks() (out []string) {
	add := func(texts ...string) {
		for _, text := range texts {
			for i := range len(text) {
				if found := p.controls.At(text, i); found != "" {
					out = append(out, found)
				}
			}
		}
	}
	if f, known := p.CallForm(); known || f.Name != Harmony {
		for _, t := range f.Triggers {
			add(t.Mark, t.Then)
		}
		add(f.Middle, f.After, f.Next, f.Close)
	}
	if f, known := p.ThoughtForm(); known {
		add(f.Open, f.Close, f.Lead, f.Gap)
	}
	return out
}
