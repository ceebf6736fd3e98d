package server

import (
	"fmt"

	"stencil/chat"
	"stencil/engine"
)

// autoSchema is the size in bytes up to which prompt_schema: auto writes the
// schema into the prompt. A longer one would take a good part of the context
// that was meant for the conversation.
const autoSchema = 16 << 10

// prompt returns the tokens of a request's prompt. A prompt alone is text that
// the model goes on with, as it is; messages, or a prompt beside a system
// text, are a conversation and go through the model's chat template.
//
// With prompt_schema always, the schema is written into the system text of a
// conversation, or before a prompt; with auto, into conversations only.
func (m *served) prompt(q *nativeRequest, schema *engine.CompiledSchema) ([]int32, error) {
	instruction := ""
	if schema != nil && q.PromptSchema != "never" {
		instruction = schema.Instruction()
	}
	if q.Prompt != nil && q.System == nil {
		text := *q.Prompt
		if instruction != "" && q.PromptSchema == "always" {
			text = instruction + "\n\n" + text
		}
		return m.prompts.Text(text), nil
	}
	if q.PromptSchema == "auto" && len(instruction) > autoSchema {
		q.Warnings = append(q.Warnings, fmt.Sprintf("the schema is too long to be written into the prompt (%d bytes); prompt_schema: \"always\" does it nevertheless", len(instruction)))
		instruction = ""
	}
	var in chat.Input
	for _, msg := range q.conversation(instruction) {
		in.Messages = append(in.Messages, chat.Message{Role: msg.Role, Content: msg.Content})
	}
	if !m.prompts.HasTemplate() {
		q.Warnings = append(q.Warnings, "this model has no chat template of its own; the conversation was written as ChatML")
	}
	return m.prompts.Chat(in)
}

// conversation returns the messages with the system text and the instruction
// in their system message.
func (q *nativeRequest) conversation(instruction string) []message {
	list := q.Messages
	if q.Prompt != nil {
		list = []message{{"user", *q.Prompt}}
	}
	system := ""
	join := func(s string) {
		if system != "" && s != "" {
			system += "\n\n"
		}
		system += s
	}
	if q.System != nil {
		join(*q.System)
	}
	if list[0].Role == "system" {
		join(list[0].Content)
		list = list[1:]
	}
	join(instruction)
	if system == "" {
		return list
	}
	return append([]message{{"system", system}}, list...)
}
