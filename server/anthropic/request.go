package anthropic

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// messagesNames are the fields of POST /v1/messages and count_tokens.
var messagesNames = wire.Names{
	Known: slices.Concat([]string{
		"model", "messages", "max_tokens", "system", "stop_sequences", "stream", "tools", "tool_choice",
		"context_management", "thread", "container",
	}, request.SamplingFields, request.OwnFields),
	Constraint: []string{"output_config", "output_format", "property_order", "whitespace", "on_unsupported", "open_objects"},
	Harmless:   append([]string{"betas", "inference_geo", "speed", "diagnostics", "billing_policy", "fallback_credit_token", "user_profile_id", "workspace_id"}, wire.HarmlessFields...),
	Hints:      []string{"fallbacks"},
	Refused: []string{
		"mcp_servers", "compaction", "response_format", "json_mode", "schema", "grammar", "regex", "choice", "json_schema",
		"structured_outputs", "prompt", "format",
	},
}

// readMessages decodes a body of Anthropic's dialect. max_tokens may be omitted when counting.
func readMessages(o *wire.Object, counting bool) (*messagesRequest, error) {
	q := &messagesRequest{Request: request.New()}
	var err error
	if q.Warnings, err = messagesNames.Check(o); err != nil {
		return nil, err
	}
	if o.Given("thread") {
		return nil, noThreads()
	}
	for _, read := range []func() error{
		func() error { return q.ReadModel(o) },
		func() error { return o.Integer("max_tokens", &q.MaxTokens, 1, request.MaxTokensLimit) },
		func() error { return q.ReadSampling(o, request.PlainSampling) },
		func() error { return q.CheckTemperature(o, 1) },
		func() error { return q.ReadStop(o, "stop_sequences") },
		func() error { return o.Boolean("stream", &q.Stream) },
		func() error { return q.ReadOwn(o) },
		func() error { return q.readSystem(o) },
		func() error { return q.readTurns(o) },
		func() error { return q.readAnthropicTools(o) },
		func() error { return q.readAnthropicChoice(o) },
		func() error { return q.readOutputConfig(o) },
		func() error { return q.readEdits(o) },
		func() error { return q.readContainer(o) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	if q.MaxTokens == 0 && !counting {
		return nil, wire.Invalid("max_tokens", "max_tokens is missing")
	}
	if q.Model == "" && !counting { // llama-server counts without a model
		return nil, wire.Invalid("model", "model is missing")
	}
	return q, nil
}

// readAnthropicTools reads {"name", "description", "input_schema"}.
func (q *messagesRequest) readAnthropicTools(o *wire.Object) error {
	list, err := o.List("tools")
	if err != nil || len(list) == 0 {
		return err
	}
	q.Tools = &request.ToolSet{Mode: request.ToolsAuto, Parallel: true}
	defer func() {
		if len(q.Tools.Tools) == 0 {
			q.Tools = nil // there was none but a search for tools
		}
	}()
	for _, t := range list {
		kind := "custom"
		if err := t.Str("type", &kind); err != nil {
			return err
		}
		if kind != "custom" {
			known, err := q.readBuiltin(t, kind)
			if err == nil && !known {
				err = wire.NotOffered(t.Path+"type", fmt.Sprintf("a tool of type %q, which the client can't run,", kind))
			}
			if err != nil {
				return err
			}
			continue
		}
		if err := t.Only("type", "name", "description", "input_schema", "strict", "cache_control", "input_examples",
			"defer_loading", "allowed_callers", "eager_input_streaming", "return", "returns"); err != nil {
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

// readOutputConfig reads output_config.format, and output_format, its former name.
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
		config.Only("format", "effort", "task_budget"),
		q.readTaskBudget(config),
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

// readTaskBudget reads output_config.task_budget, which tells the model what a task may cost.
func (q *messagesRequest) readTaskBudget(config *wire.Object) error {
	b, err := config.Child("task_budget")
	if b == nil || err != nil {
		return err
	}
	kind, tokens := "", 0
	for _, err := range []error{
		b.Only("type", "total", "remaining"), b.OneOf("type", &kind, "tokens"),
		b.Integer("total", &tokens, 0, math.MaxInt32), b.Integer("remaining", &tokens, 0, math.MaxInt32),
	} {
		if err != nil {
			return err
		}
	}
	q.Warnings = append(q.Warnings, "output_config.task_budget was ignored: models are not told of it")
	return nil
}

// readContainer reads container, in which Anthropic's servers run tools: an id, or an object with skills, which would be
// in the prompt.
func (q *messagesRequest) readContainer(o *wire.Object) error {
	const name = "container"
	id := ""
	if !o.Given(name) || wire.OffValue(o.Members[name]) {
		return nil
	}
	if json.Unmarshal(o.Members[name], &id) != nil {
		in, err := o.Child(name)
		if err != nil {
			return o.WrongType(name, "a string or an object")
		}
		if err := in.Only("id", "skills"); err != nil {
			return err
		}
		if in.Given("skills") && !wire.OffValue(in.Members["skills"]) {
			return wire.NotOffered(in.Path+"skills", in.Path+"skills")
		}
	}
	q.Warnings = append(q.Warnings, "container was ignored: no tools run in one here")
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

// Replies.

type anthropicMessage struct {
	ID           string              `json:"id"`
	Type         string              `json:"type"` // "message"
	Role         string              `json:"role"` // "assistant"
	Model        string              `json:"model"`
	Content      []anthropicBlock    `json:"content"`
	StopReason   *string             `json:"stop_reason"`
	StopSequence *string             `json:"stop_sequence"`
	Usage        anthropicUsage      `json:"usage"`
	Context      *contextReply       `json:"context_management,omitempty"`
	Constraint   *generation.Receipt `json:"x_constraint,omitempty"`
	assess.Appraisal
	Warnings []string `json:"warnings,omitempty"`
}

// anthropicBlock is a block of content; its type determines the fields.
type anthropicBlock struct {
	Type      string          `json:"type"` // text, thinking, tool_use
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"` // of thinking: empty
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

// anthropicUsage counts tokens. As in Anthropic's API, input_tokens excludes cached tokens: count_tokens reports the
// sum of both.
type anthropicUsage struct {
	InputTokens         int `json:"input_tokens"`
	OutputTokens        int `json:"output_tokens"`
	CacheCreationTokens int `json:"cache_creation_input_tokens"`
	CacheReadTokens     int `json:"cache_read_input_tokens"`
}

// A messagesRequest is the body of POST /v1/messages.
type messagesRequest struct {
	*request.Request
	edits   []edit
	context *contextReply // nil: no edits were requested
}
