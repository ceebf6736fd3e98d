package generation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server/generation/arguments"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// autoSchema is the size in bytes up to which prompt_schema auto writes the schema into the prompt. A larger schema
// would take up much of the context.
const autoSchema = 16 << 10

// promptOf returns the tokens of a request's prompt, and the positions up to which other prompts are likely to share
// it. A plain prompt is text to continue, verbatim; a conversation goes through the model's chat template.
//
// With prompt_schema always, the schema is written into the system text of a conversation, or before a plain prompt.
// With auto, it is written only if it describes something in words or names nothing, and only into conversations whose messages don't name its
// properties: masks lead the model to the names, and small models are as often right without them in the prompt. Nothing is added for
// JSON without a schema, grammars and regular expressions.
func promptOf(ctx context.Context, m *registry.Model, q *request.Request, r *Constraint) (tokens []int32, marks []int, err error) {
	instruction := ""
	switch {
	case r == nil || q.PromptSchema == "never":
	case q.PromptSchema == "auto" && !r.free && (r.named == nil || chat.Mention(q.Messages, r.named)):
	default:
		instruction = r.Instruction
	}
	if q.PromptTokens != nil {
		Instructed(q, "", r)
		return q.PromptTokens, nil, known(m, "prompt", q.PromptTokens)
	}
	if q.Prompt != nil {
		text := *q.Prompt
		if q.PromptSchema != "always" {
			instruction = ""
		}
		if instruction = Instructed(q, instruction, r); instruction != "" {
			text = instruction + "\n\n" + text
		}
		tokens, err = m.Prompts.Text(ctx, text)
		return tokens, nil, err
	}
	if q.PromptSchema == "auto" && len(instruction) > autoSchema {
		q.Warnings = append(q.Warnings, fmt.Sprintf("the schema is too long to be written into the prompt (%d bytes); prompt_schema: \"always\" does it nevertheless", len(instruction)))
		instruction = ""
	}
	instruction = Instructed(q, instruction, r)
	if !m.Prompts.HasTemplate() {
		q.Warnings = append(q.Warnings, "this model has no chat template of its own; the conversation was written as ChatML")
	}
	in, err := conversationOf(m, q, instruction)
	if err != nil {
		return nil, nil, err
	}
	write := func(in chat.Input) ([]int32, error) { return m.Prompts.Chat(ctx, in) }
	if q.Before != nil && len(in.Messages) == 1 {
		write = func(in chat.Input) ([]int32, error) { return m.Prompts.Following(ctx, in) }
	}
	if tokens, err = accepted(q, &in, write); err != nil {
		return nil, nil, err
	}
	if q.NoThoughts && in.Begun == "" && registry.BegunToThink(m.Text.Vocab(), tokens, m.ThoughtForm.Open) {
		in.Begun = m.ThoughtForm.Close // the template opens reasoning in any case
		if tokens, err = write(in); err != nil {
			return nil, nil, err
		}
	}
	if bos, ok := m.Text.Vocab().BOS(); q.Before != nil {
		if ok && len(tokens) > 0 && tokens[0] == bos {
			tokens = tokens[1:]
		}
		return slices.Concat(q.Before, tokens), nil, known(m, "context", q.Before)
	}
	switch {
	case m.Engine == nil:
	case m.Engine.WantsMarks(len(tokens)):
		marks = m.Prompts.Marks(ctx, in, tokens)
	case m.Engine.WantsOpening(len(tokens)):
		if at, ok := m.Prompts.Opening(ctx, in, tokens); ok {
			marks = []int{at}
		}
	}
	return tokens, marks, nil
}

// known refuses tokens that the model's vocabulary does not have.
func known(m *registry.Model, param string, tokens []int32) error {
	size := m.Text.Vocab().Len()
	for _, t := range tokens {
		if t < 0 || int(t) >= size {
			return wire.Invalid(param, "%s has the token %d, the vocabulary ends at %d", param, t, size-1)
		}
	}
	return nil
}

// accepted returns a conversation as it is written for the model. Some templates insist on turns, and clients send two messages of one
// role in a row, as after an answer that was stopped: where the template refuses a conversation, they are joined.
func accepted[T any](q *request.Request, in *chat.Input, write func(chat.Input) (T, error)) (T, error) {
	out, err := write(*in)
	var refused *chat.PromptError
	if !errors.As(err, &refused) || !refused.Refused {
		return out, err
	}
	in.Joined = true
	joined, still := write(*in)
	if still != nil {
		return out, err
	}
	q.Warnings = append(q.Warnings, fmt.Sprintf("the model's chat template refuses the conversation as it is (%s); messages of one role in a row were joined", refused.Message))
	return joined, nil
}

// conversationOf returns a request's conversation as input for a chat template.
func conversationOf(m *registry.Model, q *request.Request, instruction string) (chat.Input, error) {
	in := chat.Input{Extra: q.Variables, Begun: begunAs(m, q)}
	if q.Tools != nil && q.Tools.Mode != request.ToolsNone {
		if m.Prompts.Caps().Tools {
			var err error
			if in.Tools, err = toolsForTemplate(q.Tools); err != nil {
				return in, err
			}
		} else {
			instruction = Join(toolInstruction(q.Tools.Callable(), m.CallForm), instruction)
		}
	}
	in.Messages = WithSystem(q.Messages, instruction)
	return in, nil
}

// Written returns a request's conversation as the model's template writes it; with open, up to the start of the answer.
// Nothing is added for a constraint.
func Written(m *registry.Model, q *request.Request, open bool) (string, error) {
	if q.Reasoning {
		q.Variable("enable_thinking", true)
	}
	in, err := conversationOf(m, q, "")
	if err != nil {
		return "", err
	}
	in.AddGenerationPrompt = open
	text, err := accepted(q, &in, m.Prompts.Written)
	if err == nil && open && q.NoThoughts && in.Begun == "" && m.ThoughtForm.Open != "" && strings.HasSuffix(strings.TrimSpace(text), m.ThoughtForm.Open) {
		in.Begun = m.ThoughtForm.Close
		return m.Prompts.Written(in)
	}
	return text, err
}

// begunAs returns the assistant prefill as it is written in a prompt.
func begunAs(m *registry.Model, q *request.Request) string {
	if q.Begun != "" && m.ThoughtForm.Name == chat.Harmony {
		return chat.HarmonyFinal + q.Begun
	}
	if q.Begun != "" && m.CallForm.Answer != "" {
		return m.CallForm.Answer + q.Begun
	}
	return q.Begun
}

// toolsForTemplate returns the callable tools in the form that templates expect.
func toolsForTemplate(s *request.ToolSet) ([]json.RawMessage, error) {
	var out []json.RawMessage
	for _, t := range s.Callable() {
		raw, err := t.OpenAI()
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

// WithSystem returns the conversation with its leading system messages and the instruction merged into one system
// message.
func WithSystem(list []chat.Message, instruction string) []chat.Message {
	system := ""
	for len(list) > 0 && list[0].Role == "system" && list[0].Parts == nil {
		system = Join(system, list[0].Content)
		list = list[1:]
	}
	if system = Join(system, instruction); system == "" {
		return list
	}
	return append([]chat.Message{{Role: "system", Content: system}}, list...)
}

// Join joins two texts by a blank line, unless one is empty.
func Join(a, b string) string {
	if a != "" && b != "" {
		return a + "\n\n" + b
	}
	return a + b
}

// namingSteps limits how many subschemas outerNames visits, since references may form cycles.
const namingSteps = 1000

// outerNames returns the names of the properties of a schema's outermost objects: those of the document itself, of the
// items of a list, and of each alternative. It returns none for a schema that it can't follow.
func outerNames(schema json.RawMessage) []string {
	var root map[string]json.RawMessage
	var whole any
	if json.Unmarshal(schema, &root) != nil || json.Unmarshal(schema, &whole) != nil {
		return nil
	}
	var out []string
	steps := 0
	var visit func(node any)
	visit = func(node any) {
		object, _ := node.(map[string]any)
		if steps++; object == nil || steps > namingSteps {
			return
		}
		if properties, ok := object["properties"].(map[string]any); ok && len(properties) > 0 {
			for name := range properties {
				out = append(out, name)
			}
			return
		}
		if ref, ok := object["$ref"].(string); ok {
			var to any
			if json.Unmarshal(arguments.Target(root, ref), &to) == nil {
				visit(to)
			}
		}
		visit(object["items"])
		for _, keyword := range []string{"prefixItems", "allOf", "anyOf", "oneOf"} {
			list, _ := object[keyword].([]any)
			for _, one := range list {
				visit(one)
			}
		}
	}
	visit(whole)
	return out
}
