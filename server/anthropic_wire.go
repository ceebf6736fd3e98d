package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stencil/chat"
)

// messagesNames are the fields of POST /v1/messages and count_tokens.
var messagesNames = names{
	known: slices.Concat([]string{
		"model", "messages", "max_tokens", "system", "stop_sequences", "stream", "temperature", "top_p", "top_k", "seed", "tools", "tool_choice",
		"thinking",
	}, ownFields),
	constraint: []string{"output_config", "output_format", "property_order", "whitespace", "on_unsupported"},
	harmless:   append([]string{"betas", "inference_geo", "speed", "diagnostics"}, harmlessFields...),
	refused: []string{
		"container", "mcp_servers", "context_management", "response_format", "json_mode", "schema", "grammar", "regex", "choice", "json_schema",
		"structured_outputs", "fallbacks", "prompt", "format",
	},
}

// readMessages decodes a body of Anthropic's dialect. For counting, max_tokens
// is not needed.
func readMessages(o *object, counting bool) (*messagesRequest, error) {
	q := &messagesRequest{newQuery()}
	var err error
	if q.Warnings, err = messagesNames.check(o); err != nil {
		return nil, err
	}
	for _, read := range []func() error{
		func() error { return q.readModel(o) },
		func() error { return o.integer("max_tokens", &q.MaxTokens, 1, maxTokensLimit) },
		func() error { return q.readSampling(o, plainSampling) },
		func() error { return q.readStop(o, "stop_sequences") },
		func() error { return o.boolean("stream", &q.Stream) },
		func() error { return q.readOwn(o) },
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
		return nil, invalid("max_tokens", "max_tokens is missing")
	}
	if q.Model == "" {
		return nil, invalid("model", "model is missing")
	}
	return q, nil
}

// readSystem reads the system text: a string or a list of text blocks.
func (q *messagesRequest) readSystem(o *object) error {
	if !o.given("system") {
		return nil
	}
	m := chat.Message{Role: "system"}
	if json.Unmarshal(o.members["system"], &m.Content) != nil {
		blocks, err := o.list("system")
		if err != nil {
			return o.wrongType("system", "a string or an array of text blocks")
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
func textOf(blocks []*object) (string, error) {
	var texts []string
	for _, b := range blocks {
		kind, text := "", ""
		if err := b.str("type", &kind); err != nil {
			return "", err
		}
		if kind != "text" {
			return "", notOffered(b.path+"type", fmt.Sprintf("a block of type %q", kind))
		}
		if err := b.str("text", &text); err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}

// readTurns reads the conversation. What the assistant called and what came
// back become messages of their own.
func (q *messagesRequest) readTurns(o *object) error {
	if !o.given("messages") {
		return invalid("messages", "messages is missing")
	}
	list, err := o.list("messages")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return invalid("messages", "messages must not be empty")
	}
	names := map[string]string{} // of tools by the id of a call
	role := ""
	for _, m := range list {
		if !m.given("role") {
			return invalid(m.path+"role", "%srole is missing", m.path)
		}
		if err := m.oneOf("role", &role, "user", "assistant", "system"); err != nil {
			return err
		}
		if !m.given("content") {
			return invalid(m.path+"content", "%scontent is missing", m.path)
		}
		one := chat.Message{Role: role}
		if json.Unmarshal(m.members["content"], &one.Content) == nil {
			q.Messages = append(q.Messages, one)
			continue
		}
		blocks, err := m.list("content")
		if err != nil {
			return m.wrongType("content", "a string or an array of blocks")
		}
		if err := q.readBlocks(role, blocks, names); err != nil {
			return err
		}
	}
	if role == "assistant" {
		return q.continueLast("messages")
	}
	return nil
}

// readBlocks reads the blocks of one turn.
func (q *messagesRequest) readBlocks(role string, blocks []*object, names map[string]string) error {
	one := chat.Message{Role: role}
	for _, b := range blocks {
		kind, text := "", ""
		if err := b.str("type", &kind); err != nil {
			return err
		}
		switch kind {
		case "text":
			if err := b.str("text", &text); err != nil {
				return err
			}
			if one.Content != "" {
				one.Content += "\n"
			}
			one.Content += text
		case "thinking":
			if err := b.str("thinking", &text); err != nil {
				return err
			}
			one.Reasoning += text
		case "redacted_thinking":
		case "tool_use":
			past := chat.ToolCall{}
			for _, err := range []error{b.str("id", &past.ID), b.str("name", &past.Name)} {
				if err != nil {
					return err
				}
			}
			names[past.ID] = past.Name
			addCall(&one, past, string(b.members["input"]))
		case "tool_result":
			result, err := readResult(b, names)
			if err != nil {
				return err
			}
			q.Messages = append(q.Messages, result)
		case "":
			return invalid(b.path+"type", "%stype is missing", b.path)
		default:
			return notOffered(b.path+"type", fmt.Sprintf("a block of type %q", kind))
		}
	}
	if one.Content != "" || len(one.ToolCalls) > 0 || one.Reasoning != "" {
		q.Messages = append(q.Messages, one)
	}
	return nil
}

func readResult(b *object, names map[string]string) (chat.Message, error) {
	m := chat.Message{Role: "tool"}
	failed := false
	for _, err := range []error{b.str("tool_use_id", &m.ToolCallID), b.boolean("is_error", &failed)} {
		if err != nil {
			return m, err
		}
	}
	if m.ToolCallID == "" {
		return m, invalid(b.path+"tool_use_id", "%stool_use_id is missing", b.path)
	}
	m.Name = names[m.ToolCallID]
	if b.given("content") && json.Unmarshal(b.members["content"], &m.Content) != nil {
		blocks, err := b.list("content")
		if err != nil {
			return m, b.wrongType("content", "a string or an array of blocks")
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
func (q *messagesRequest) readAnthropicTools(o *object) error {
	list, err := o.list("tools")
	if err != nil || len(list) == 0 {
		return err
	}
	q.Tools = &toolSet{Mode: toolsAuto, Parallel: true}
	for _, t := range list {
		kind := "custom"
		if err := t.str("type", &kind); err != nil {
			return err
		}
		if kind != "custom" {
			return notOffered(t.path+"type", fmt.Sprintf("a tool of type %q", kind))
		}
		if err := t.only("type", "name", "description", "input_schema", "strict", "cache_control", "input_examples",
			"defer_loading", "allowed_callers", "eager_input_streaming"); err != nil {
			return err
		}
		if !t.given("input_schema") {
			return invalid(t.path+"input_schema", "%sinput_schema is missing", t.path)
		}
		if err := readFunction(q.Tools, t, "input_schema"); err != nil {
			return err
		}
	}
	return nil
}

// readAnthropicChoice reads {"type": "auto" | "any" | "tool" | "none"}.
func (q *messagesRequest) readAnthropicChoice(o *object) error {
	c, err := o.child("tool_choice")
	if c == nil || err != nil {
		return err
	}
	kind, name, single := "", "", false
	if !c.given("type") {
		return invalid(c.path+"type", "%stype is missing", c.path)
	}
	for _, err := range []error{
		c.only("type", "name", "disable_parallel_tool_use"),
		c.oneOf("type", &kind, "auto", "any", "tool", "none"),
		c.str("name", &name),
		c.boolean("disable_parallel_tool_use", &single),
	} {
		if err != nil {
			return err
		}
	}
	if q.Tools == nil {
		if kind == "any" || kind == "tool" {
			return invalid("tool_choice", "tool_choice needs tools")
		}
		return nil
	}
	q.Tools.Parallel = !single
	switch kind {
	case "any":
		q.Tools.Mode = toolsRequired
	case "none":
		q.Tools.Mode = toolsNone
	case "tool":
		if name == "" {
			return invalid(c.path+"name", "%sname is missing", c.path)
		}
		q.Tools.Mode, q.Tools.Parallel = toolsRequired, false
		return q.Tools.allow(c.path+"name", []string{name})
	}
	return nil
}

// readOutputConfig reads output_config.format, and output_format, which it was
// called before.
func (q *messagesRequest) readOutputConfig(o *object) error {
	c := &q.Constraint
	c.Strict = false
	if err := c.readOptions(o); err != nil {
		return err
	}
	if err := readJSONSchema(c, o, "output_format"); err != nil {
		return err
	}
	config, err := o.child("output_config")
	if config == nil || err != nil {
		return err
	}
	effort := ""
	for _, err := range []error{
		config.only("format", "effort"),
		config.oneOf("effort", &effort, "low", "medium", "high", "xhigh", "max"),
		readJSONSchema(c, config, "format"),
	} {
		if err != nil {
			return err
		}
	}
	if effort != "" {
		q.effort(effort)
	}
	return nil
}

// readJSONSchema reads {"type": "json_schema", "schema": …}.
func readJSONSchema(c *constraintFields, o *object, name string) error {
	f, err := o.child(name)
	if f == nil || err != nil {
		return err
	}
	kind := ""
	if !f.given("type") {
		return invalid(f.path+"type", "%stype is missing", f.path)
	}
	for _, err := range []error{f.only("type", "schema", "name"), f.oneOf("type", &kind, "json_schema")} {
		if err != nil {
			return err
		}
	}
	if !f.given("schema") {
		return invalid(f.path+"schema", "%sschema is missing", f.path)
	}
	return c.set(f, "schema", "schema")
}

// readThinking reads whether the model is to think first.
func (q *messagesRequest) readThinking(o *object) error {
	t, err := o.child("thinking")
	if t == nil || err != nil {
		return err
	}
	kind, budget, display := "", 0, ""
	for _, err := range []error{
		t.only("type", "budget_tokens", "display"),
		t.oneOf("type", &kind, "enabled", "disabled", "adaptive"),
		t.integer("budget_tokens", &budget, 1, maxTokensLimit),
		t.str("display", &display),
	} {
		if err != nil {
			return err
		}
	}
	switch kind {
	case "":
		return invalid(t.path+"type", "%stype is missing", t.path)
	case "enabled":
		q.Reasoning, q.ThinkTokens = true, budget
	case "disabled":
		q.effort("none")
	}
	return nil
}

// The answers.

type anthropicMessage struct {
	ID           string           `json:"id"`
	Type         string           `json:"type"` // "message"
	Role         string           `json:"role"` // "assistant"
	Model        string           `json:"model"`
	Content      []anthropicBlock `json:"content"`
	StopReason   *string          `json:"stop_reason"`
	StopSequence *string          `json:"stop_sequence"`
	Usage        anthropicUsage   `json:"usage"`
	Constraint   *receipt         `json:"x_constraint,omitempty"`
	appraisal
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
type messagesRequest struct{ *query }
