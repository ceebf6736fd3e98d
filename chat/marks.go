package chat

import (
	"context"
	"slices"
	"strings"
)

// Marks returns the positions in a conversation's prompt up to which other prompts
// are likely to be equal, see engine.Request: the ends of parts of the conversation.
// What a template writes for a message may depend on later ones (reasoning is left
// out of all turns but the last), so parts are not rendered separately: the
// conversation is rendered with another text in place of a message, and the common
// prefix ends where that message begins. Regardless of the template, a mark is the
// length of a prefix of this prompt, so a wrong one only means that no other prompt
// shares it.
//
// The messages are the first one after the system messages (before it are the system
// prompt and the tools), the last one (which may be edited or asked again), and the user
// message before that. The last mark is the end of the messages, before the start of the
// answer, which many templates write differently once the answer exists.
func (p *Prompts) Marks(ctx context.Context, in Input, prompt []int32) (out []int) {
	mark := func(in Input) {
		in.Begun = ""
		if tokens, err := p.write(ctx, in); err == nil {
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

// Opening returns the first of the marks, the end of the system prompt, without computing
// the others. It returns false if there is none.
func (p *Prompts) Opening(ctx context.Context, in Input, prompt []int32) (int, bool) {
	list := beginnings(in.Messages)
	if len(list) == 0 {
		return 0, false
	}
	i := list[0]
	in.Messages = append(in.Messages[:i:i], unlike(in.Messages[i]))
	in.AddGenerationPrompt, in.Begun = true, ""
	tokens, err := p.write(ctx, in)
	return samePrefix(tokens, prompt), err == nil
}

// beginnings returns the indices of the messages that get a mark at their start, in
// order; in a short conversation there are fewer, and some occur twice.
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

// unlike returns a message whose text differs in the first character.
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

// samePrefix returns the length of the common prefix of two prompts.
func samePrefix(a, b []int32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
