package chat

import (
	"slices"
	"strings"
)

// Marks returns the positions in a conversation's prompt up to which other
// prompts are likely to be the same, see engine.Request: where the parts of the
// conversation end. What a
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
func (p *Prompts) Marks(in Input, prompt []int32) (out []int) {
	mark := func(in Input) {
		in.Begun = ""
		if tokens, err := p.write(in); err == nil {
			out = append(out, samePrefix(tokens, prompt))
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

// Opening returns the first of the marks, the end of the system's part, without
// writing the conversation again. It reports false if there is none.
func (p *Prompts) Opening(in Input, prompt []int32) (int, bool) {
	list := beginnings(in.Messages)
	if len(list) == 0 {
		return 0, false
	}
	i := list[0]
	in.Messages = append(in.Messages[:i:i], unlike(in.Messages[i]))
	in.AddGenerationPrompt, in.Begun = true, ""
	tokens, err := p.write(in)
	return samePrefix(tokens, prompt), err == nil
}

// beginnings returns the indices of the messages at whose beginnings marks are wanted, in
// order; a short conversation has fewer, and some of them twice.
func beginnings(list []Message) []int {
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
func unlike(m Message) Message {
	text := m.Content
	if len(m.Parts) > 0 {
		text = m.Parts[0].Text
	}
	other := "0"
	if strings.HasPrefix(strings.TrimSpace(text), other) {
		other = "1"
	}
	return Message{Role: m.Role, Content: other, ToolCallID: m.ToolCallID, Name: m.Name}
}

// samePrefix returns how many tokens two prompts begin with in common.
func samePrefix(a, b []int32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
