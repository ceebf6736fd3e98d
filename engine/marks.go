package engine

import (
	"slices"
	"strings"

	"stencil/chat"
)

// Marks returns the positions in a conversation's prompt, for Request.Marks, up
// to which other prompts are likely to be the same. It returns none if this
// engine has no use for them: a model that can go back shares prefixes of any
// length, and needs marks only for what is kept on disk.
func (e *Engine) Marks(p *Prompts, in chat.Input, prompt []int32) []int {
	if e.slots.atMarks() == nil && e.shelf == nil || len(prompt) < spacing {
		return nil
	}
	return p.marks(in, prompt)
}

// marks finds where the parts of a conversation end in its prompt. What a
// template writes for a message may depend on those after it (thoughts are left
// out of all turns but the last), so parts are not written down by themselves:
// the conversation is written with another text in place of a message, and what
// both have in common ends where that message begins. Whatever a template does, a
// mark is a number of tokens that this prompt begins with, so the worst that can
// come of a wrong one is that nothing else begins with them.
//
// The messages are the first one after the system's (what comes before it is the
// system's text and the tools), the last one (which may be edited or asked again),
// and the user's one before that. The last mark is where the messages end, before
// the beginning of the answer, which many templates write differently once the
// answer is there.
func (p *Prompts) marks(in chat.Input, prompt []int32) (out []int) {
	mark := func(in chat.Input) {
		in.Begun = ""
		if tokens, err := p.write(in); err == nil {
			out = append(out, commonPrefix(tokens, prompt))
		}
	}
	for _, i := range slices.Compact(beginnings(in.Messages)) {
		other := in
		other.AddGenerationPrompt = true
		other.Messages = append(in.Messages[:i:i], unlike(in.Messages[i]))
		mark(other)
	}
	in.AddGenerationPrompt = false
	mark(in)
	return out
}

// beginnings returns the indices of the messages at whose beginnings marks are wanted, in
// order; a short conversation has fewer, and some of them twice.
func beginnings(list []chat.Message) []int {
	first := 0
	for first < len(list) && (list[first].Role == "system" || list[first].Role == "developer") {
		first++
	}
	last := len(list) - 1
	if first > last {
		return nil
	}
	before := max(first, last-1)
	for before > first && list[before].Role != "user" {
		before--
	}
	return []int{first, before, last}
}

// unlike returns a message with a text that differs from its own in the first
// character.
func unlike(m chat.Message) chat.Message {
	text := m.Content
	if len(m.Parts) > 0 {
		text = m.Parts[0].Text
	}
	other := "0"
	if strings.HasPrefix(strings.TrimSpace(text), other) {
		other = "1"
	}
	return chat.Message{Role: m.Role, Content: other, ToolCallID: m.ToolCallID, Name: m.Name}
}
