package server

import (
	"encoding/json"
	"fmt"

	"stencil/chat"
)

// autoSchema is the size in bytes up to which prompt_schema: auto writes the
// schema into the prompt. A longer one would take a good part of the context
// that was meant for the conversation.
const autoSchema = 16 << 10

// promptOf returns the tokens of a query's prompt, and the places in it up to which
// other prompts are likely to be the same. A prompt alone is text that
// the model goes on with, as it is; a conversation goes through the model's
// chat template.
//
// With prompt_schema always, the schema is written into the system text of a
// conversation, or before a prompt; with auto, only into conversations that don't
// name its properties: a small model that has been told what to write does
// worse with a schema to read, which it copies from. Nothing is added for JSON
// without a schema, grammars and regular expressions.
func promptOf(m *served, q *query, r *rule) (tokens []int32, marks []int, err error) {
	instruction := ""
	switch {
	case r == nil || q.PromptSchema == "never":
	case q.PromptSchema == "auto" && !r.free && (r.named == nil || mention(q.Messages, r.named)):
	default:
		instruction = r.instruction
	}
	if q.PromptTokens != nil {
		instructed(q, "", r)
		size := m.text.Vocab().Len()
		for _, t := range q.PromptTokens {
			if t < 0 || int(t) >= size {
				return nil, nil, invalid("prompt", "prompt has the token %d, the vocabulary ends at %d", t, size-1)
			}
		}
		return q.PromptTokens, nil, nil
	}
	if q.Prompt != nil {
		text := *q.Prompt
		if q.PromptSchema != "always" {
			instruction = ""
		}
		if instruction = instructed(q, instruction, r); instruction != "" {
			text = instruction + "\n\n" + text
		}
		return m.prompts.Text(text), nil, nil
	}
	if q.PromptSchema == "auto" && len(instruction) > autoSchema {
		q.Warnings = append(q.Warnings, fmt.Sprintf("the schema is too long to be written into the prompt (%d bytes); prompt_schema: \"always\" does it nevertheless", len(instruction)))
		instruction = ""
	}
	instruction = instructed(q, instruction, r)
	if !m.prompts.HasTemplate() {
		q.Warnings = append(q.Warnings, "this model has no chat template of its own; the conversation was written as ChatML")
	}
	in := chat.Input{Extra: q.Variables, Begun: begunAs(m, q)}
	if q.Tools != nil && q.Tools.Mode != toolsNone {
		if m.prompts.Caps().Tools {
			if in.Tools, err = q.Tools.forTemplate(); err != nil {
				return nil, nil, err
			}
		} else {
			instruction = join(toolInstruction(q.Tools.callable(), m.callForm), instruction)
		}
	}
	in.Messages = withSystem(q.Messages, instruction)
	if tokens, err = m.prompts.Chat(in); err != nil {
		return nil, nil, err
	}
	if m.here != nil {
		marks = m.here.Marks(m.prompts, in, tokens)
	}
	return tokens, marks, nil
}

// begunAs returns the beginning of an answer as it stands in a prompt.
func begunAs(m *served, q *query) string {
	if q.Begun != "" && m.thoughts.Name == chat.Harmony {
		return harmonyFinal + q.Begun
	}
	return q.Begun
}

// forTemplate returns the tools that may be called as templates expect them.
func (s *toolSet) forTemplate() ([]json.RawMessage, error) {
	var out []json.RawMessage
	for _, t := range s.callable() {
		raw, err := t.openAI()
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

// withSystem returns a conversation with the system texts that it begins with
// and the instruction in one system message.
func withSystem(list []chat.Message, instruction string) []chat.Message {
	system := ""
	for len(list) > 0 && list[0].Role == "system" && list[0].Parts == nil {
		system = join(system, list[0].Content)
		list = list[1:]
	}
	if system = join(system, instruction); system == "" {
		return list
	}
	return append([]chat.Message{{Role: "system", Content: system}}, list...)
}

// join puts a blank line between two texts that are not empty.
func join(a, b string) string {
	if a != "" && b != "" {
		return a + "\n\n" + b
	}
	return a + b
}
