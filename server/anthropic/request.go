package anthropic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stencil/chat"
	"stencil/server/generation"
	"stencil/server/generation/assess"
	"stencil/server/request"
	"stencil/server/wire"
)

// messagesNames are the fields of POST /v1/messages and count_tokens.
var messagesNames = wire.Names{
	Known: slices.Concat([]string{
		"model", "messages", "max_tokens", "system", "stop_sequences", "stream", "tools", "tool_choice", "thinking",
	}, request.SamplingFields, request.OwnFields),
	Constraint: []string{"output_config", "output_format", "property_order", "whitespace", "on_unsupported"},
	Harmless:   append([]string{"betas", "inference_geo", "speed", "diagnostics"}, wire.HarmlessFields...),
	Refused: []string{
		"container", "mcp_servers", "context_management", "response_format", "json_mode", "schema", "grammar", "regex", "choice", "json_schema",
		"structured_outputs", "fallbacks", "prompt", "format",
	},
}

// readMessages decodes a body of Anthropic's dialect. For counting, max_tokens
// is not needed.
func readMessages(o *wire.Object, counting bool) (*messagesRequest, error) {
	q := &messagesRequest{request.New()}
	var err error
	if q.Warnings, err = messagesNames.Check(o); err != nil {
		return nil, err
	}
	for _, read := range []func() error{
		func() error { return q.ReadModel(o) },
		func() error { return o.Integer("max_tokens", &q.MaxTokens, 1, request.MaxTokensLimit) },
		func() error { return q.ReadSampling(o, request.PlainSampling) },
		func() error { return q.ReadStop(o, "stop_sequences") },
		func() error { return o.Boolean("stream", &q.Stream) },
		func() error { return q.ReadOwn(o) },
		func() error { return q.readSystem(o) },
		func() error { return q.readTurns(o) },
		func() error { return q.readAnthropicTools(o) },
		func() error { return q.readAnthropicChoice(o) },
		func() error { return q.readOutputConfig(o) },
		func() error { return q.readThinking(o) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	if q.MaxTokens == 0 && !counting {
		return nil, wire.Invalid("max_tokens", "max_tokens is missing")
	}
	if q.Model == "" {
		return nil, wire.Invalid("model", "model is missing")
	}
	return q, nil
}

// readSystem reads the system text: a string or a list of text blocks.
func (q *messagesRequest) readSystem(o *wire.Object) error {
	if !o.Given("system") {
		return nil
	}
	m := chat.Message{Role: "system"}
	if json.Unmarshal(o.Members["system"], &m.Content) != nil {
		blocks, err := o.List("system")
		if err != nil {
			return o.WrongType("system", "a string or an array of text blocks")
		}
		if m.Content, err = textOf(blocks); err != nil {
			return err
		}
	}
	if m.Content != "" {
		q.Messages = append(q.Messages, m)
	}
	return nil
}

// textOf joins blocks that must all be text.
func textOf(blocks []*wire.Object) (string, error) {
	var texts []string
	for _, b := range blocks {
		kind, text := "", ""
		if err := b.Str("type", &kind); err != nil {
			return "", err
		}
		if kind != "text" {
			return "", wire.NotOffered(b.Path+"type", fmt.Sprintf("a block of type %q", kind))
		}
		if err := b.Str("text", &text); err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}

// readTurns reads the conversation. What the assistant called and what came
// back become messages of their own.
func (q *messagesRequest) readTurns(o *wire.Object) error {
	if !o.Given("messages") {
		return wire.Invalid("messages", "messages is missing")
	}
	list, err := o.List("messages")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return wire.Invalid("messages", "messages must not be empty")
	}
	names := map[string]string{} // of tools by the id of a call
	role := ""
	for _, m := range list {
		if !m.Given("role") {
			return wire.Invalid(m.Path+"role", "%srole is missing", m.Path)
		}
		if err := m.OneOf("role", &role, "user", "assistant", "system"); err != nil {
			return err
		}
		if !m.Given("content") {
			return wire.Invalid(m.Path+"content", "%scontent is missing", m.Path)
		}
		one := chat.Message{Role: role}
		if json.Unmarshal(m.Members["content"], &one.Content) == nil {
			q.Messages = append(q.Messages, one)
			continue
		}
		blocks, err := m.List("content")
		if err != nil {
			return m.WrongType("content", "a string or an array of blocks")
		}
		if err := q.readBlocks(role, blocks, names); err != nil {
			return err
		}
	}
	if role == "assistant" {
		return q.ContinueLast("messages")
	}
	return nil
}

// readBlocks reads the blocks of one turn.
func (q *messagesRequest) readBlocks(role string, blocks []*wire.Object, names map[string]string) error {
	one := chat.Message{Role: role}
	for _, b := range blocks {
		kind, text := "", ""
		if err := b.Str("type", &kind); err != nil {
			return err
		}
		switch kind {
		case "text":
			if err := b.Str("text", &text); err != nil {
				return err
			}
			if one.Content != "" {
				one.Content += "\n"
			}
			one.Content += text
		case "thinking":
			if err := b.Str("thinking", &text); err != nil {
				return err
			}
			one.Reasoning += text
		case "redacted_thinking":
		case "tool_use":
			past := chat.ToolCall{}
			for _, err := range []error{b.Str("id", &past.ID), b.Str("name", &past.Name)} {
				if err != nil {
					return err
				}
			}
			names[past.ID] = past.Name
			request.AddCall(&one, past, string(b.Members["input"]))
		case "tool_result":
			result, err := readResult(b, names)
			if err != nil {
				return err
			}
			q.Messages = append(q.Messages, result)
		case "":
			return wire.Invalid(b.Path+"type", "%stype is missing", b.Path)
		default:
			return wire.NotOffered(b.Path+"type", fmt.Sprintf("a block of type %q", kind))
		}
	}
	if one.Content != "" || len(one.ToolCalls) > 0 || one.Reasoning != "" {
		q.Messages = append(q.Messages, one)
	}
	return nil
}

func readResult(b *wire.Object, names map[string]string) (chat.Message, error) {
	m := chat.Message{Role: "tool"}
	failed := false
	for _, err := range []error{b.Str("tool_use_id", &m.ToolCallID), b.Boolean("is_error", &failed)} {
		if err != nil {
			return m, err
		}
	}
	if m.ToolCallID == "" {
		return m, wire.Invalid(b.Path+"tool_use_id", "%stool_use_id is missing", b.Path)
	}
	m.Name = names[m.ToolCallID]
	if b.Given("content") && json.Unmarshal(b.Members["content"], &m.Content) != nil {
		blocks, err := b.List("content")
		if err != nil {
			return m, b.WrongType("content", "a string or an array of blocks")
		}
		if m.Content, err = textOf(blocks); err != nil {
			return m, err
		}
	}
	if failed {
		m.Content = "error: " + m.Content
	}
	return m, nil
}

// readAnthropicTools reads {"name", "description", "input_schema"}.
func (q *messagesRequest) readAnthropicTools(o *wire.Object) error {
	list, err := o.List("tools")
	if err != nil || len(list) == 0 {
		return err
	}
	q.Tools = &request.ToolSet{Mode: request.ToolsAuto, Parallel: true}
	for _, t := range list {
		kind := "custom"
		if err := t.Str("type", &kind); err != nil {
			return err
		}
		if kind != "custom" {
			return wire.NotOffered(t.Path+"type", fmt.Sprintf("a tool of type %q", kind))
		}
		if err := t.Only("type", "name", "description", "input_schema", "strict", "cache_control", "input_examples",
			"defer_loading", "allowed_callers", "eager_input_streaming"); err != nil {
			return err
		}
		if !t.Given("input_schema") {
			return wire.Invalid(t.Path+"input_schema", "%sinput_schema is missing", t.Path)
		}
		if err := request.ReadFunction(q.Tools, t, "input_schema"); err != nil {
			return err
		}
	}
	return nil
}

// readAnthropicChoice reads {"type": "auto" | "any" | "tool" | "none"}.
func (q *messagesRequest) readAnthropicChoice(o *wire.Object) error {
	c, err := o.Child("tool_choice")
	if c == nil || err != nil {
		return err
	}
	kind, name, single := "", "", false
	if !c.Given("type") {
		return wire.Invalid(c.Path+"type", "%stype is missing", c.Path)
	}
	for _, err := range []error{
		c.Only("type", "name", "disable_parallel_tool_use"),
		c.OneOf("type", &kind, "auto", "any", "tool", "none"),
		c.Str("name", &name),
		c.Boolean("disable_parallel_tool_use", &single),
	} {
		if err != nil {
			return err
		}
	}
	if q.Tools == nil {
		if kind == "any" || kind == "tool" {
			return wire.Invalid("tool_choice", "tool_choice needs tools")
		}
		return nil
	}
	q.Tools.Parallel = !single
	switch kind {
	case "any":
		q.Tools.Mode = request.ToolsRequired
	case "none":
		q.Tools.Mode = request.ToolsNone
	case "tool":
		if name == "" {
			return wire.Invalid(c.Path+"name", "%sname is missing", c.Path)
		}
		q.Tools.Mode, q.Tools.Parallel = request.ToolsRequired, false
		return q.Tools.Allow(c.Path+"name", []string{name})
	}
	return nil
}

// readOutputConfig reads output_config.format, and output_format, which it was
// called before.
func (q *messagesRequest) readOutputConfig(o *wire.Object) error {
	c := &q.Constraint
	c.Strict = false
	if err := c.ReadOptions(o); err != nil {
		return err
	}
	if err := readJSONSchema(c, o, "output_format"); err != nil {
		return err
	}
	config, err := o.Child("output_config")
	if config == nil || err != nil {
		return err
	}
	effort := ""
	for _, err := range []error{
		config.Only("format", "effort"),
		config.OneOf("effort", &effort, "low", "medium", "high", "xhigh", "max"),
		readJSONSchema(c, config, "format"),
	} {
		if err != nil {
			return err
		}
	}
	if effort != "" {
		q.Effort(effort)
	}
	return nil
}

// readJSONSchema reads {"type": "json_schema", "schema": …}.
func readJSONSchema(c *request.Constraint, o *wire.Object, name string) error {
	f, err := o.Child(name)
	if f == nil || err != nil {
		return err
	}
	kind := ""
	if !f.Given("type") {
		return wire.Invalid(f.Path+"type", "%stype is missing", f.Path)
	}
	for _, err := range []error{f.Only("type", "schema", "name"), f.OneOf("type", &kind, "json_schema")} {
		if err != nil {
			return err
		}
	}
	if !f.Given("schema") {
		return wire.Invalid(f.Path+"schema", "%sschema is missing", f.Path)
	}
	return c.Set(f, "schema", "schema")
}

// readThinking reads whether the model is to think first.
func (q *messagesRequest) readThinking(o *wire.Object) error {
	t, err := o.Child("thinking")
	if t == nil || err != nil {
		return err
	}
	kind, budget, display := "", 0, ""
	for _, err := range []error{
		t.Only("type", "budget_tokens", "display"),
		t.OneOf("type", &kind, "enabled", "disabled", "adaptive"),
		t.Integer("budget_tokens", &budget, 1, request.MaxTokensLimit),
		t.Str("display", &display),
	} {
		if err != nil {
			return err
		}
	}
	switch kind {
	case "":
		return wire.Invalid(t.Path+"type", "%stype is missing", t.Path)
	case "enabled":
		q.Reasoning, q.ThinkTokens = true, budget
	case "disabled":
		q.Effort("none")
	}
	return nil
}

// The answers.

type anthropicMessage struct {
	ID           string              `json:"id"`
	Type         string              `json:"type"` // "message"
	Role         string              `json:"role"` // "assistant"
	Model        string              `json:"model"`
	Content      []anthropicBlock    `json:"content"`
	StopReason   *string             `json:"stop_reason"`
	StopSequence *string             `json:"stop_sequence"`
	Usage        anthropicUsage      `json:"usage"`
	Constraint   *generation.Receipt `json:"x_constraint,omitempty"`
	assess.Appraisal
	Warnings []string `json:"warnings,omitempty"`
}

// anthropicBlock is a block of content, as its type wants.
type anthropicBlock struct {
	Type      string          `json:"type"` // text, thinking, tool_use
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"` // of thinking: empty
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

// anthropicUsage counts tokens. Those that were cached are among the input's,
// so that it equals what count_tokens says.
type anthropicUsage struct {
	InputTokens         int `json:"input_tokens"`
	OutputTokens        int `json:"output_tokens"`
	CacheCreationTokens int `json:"cache_creation_input_tokens"`
	CacheReadTokens     int `json:"cache_read_input_tokens"`
}

// A messagesRequest is the body of POST /v1/messages.
type messagesRequest struct{ *request.Request }
