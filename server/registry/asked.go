package registry

import (
	"context"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/vocab"
)

// Asked returns the prompt of a conversation after which the model's next token is of its answer, without reasoning before it.
func (m *Model) Asked(ctx context.Context, messages []chat.Message) ([]int32, error) {
	in := chat.Input{Messages: messages}
	if m.Prompts.Mentions("enable_thinking") {
		in.Extra = map[string]any{"enable_thinking": false}
	}
	if m.ThoughtForm.Name == chat.Harmony {
		in.Begun = chat.HarmonyFinal
	}
	tokens, err := m.Prompts.Chat(ctx, in)
	if err == nil && in.Begun == "" && BegunToThink(m.Text.Vocab(), tokens, m.ThoughtForm.Open) {
		in.Begun = m.ThoughtForm.Close // the template opens reasoning in any case
		tokens, err = m.Prompts.Chat(ctx, in)
	}
	return tokens, err
}

// BegunToThink reports whether a prompt ends with the mark that opens reasoning, as some templates write it.
func BegunToThink(v *vocab.Vocab, prompt []int32, mark string) bool {
	const blanks = 8 // that may follow the mark
	text := ""
	for i := len(prompt) - 1; i >= 0 && len(text) < len(mark)+blanks; i-- {
		if b := v.Bytes(prompt[i]); len(b) > 0 {
			text = string(b) + text
		} else {
			text = v.Text(prompt[i]) + text
		}
	}
	return strings.HasSuffix(strings.TrimSpace(text), mark)
}
