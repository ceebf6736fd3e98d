package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	"stencil/chat"
	"stencil/server/generation"
	"stencil/server/generation/assess"
	"stencil/server/request"
	"stencil/server/wire"
)

// responsesNames are the fields of POST /v1/responses.
var responsesNames = wire.Names{
	Known: slices.Concat([]string{
		"model", "input", "instructions", "max_output_tokens", "stream", "stream_options", "text", "tools", "tool_choice", "parallel_tool_calls",
		"top_logprobs", "truncation", "include", "background", "max_tool_calls", "stop",
	}, request.SamplingFields, request.OwnFields),
	Constraint: append([]string{"text"}, request.ConstraintAliases...),
	Harmless:   wire.HarmlessFields,
	Refused:    []string{"previous_response_id", "conversation", "prompt", "context_management", "moderation", "messages", "response_format"},
}

// A responsesRequest is the body of POST /v1/responses.
type responsesRequest struct {
	*request.Request
	body *wire.Object // of which parts are repeated in the answer
}

func readResponses(o *wire.Object) (*responsesRequest, error) {
	q := &responsesRequest{Request: request.New(), body: o}
	var err error
	if q.Constraint, err = request.ReadAliases(o); err != nil {
		return nil, err
	}
	if q.Warnings, err = responsesNames.Check(o); err != nil {
		return nil, err
	}
	var include []string
	ignored := false
	background, truncation, calls := false, "disabled", 0
	for _, read := range []func() error{
		func() error { return q.ReadModel(o) },
		func() error { return readOpenAISampling(q.Request, o) },
		func() error { return q.ReadMaxTokens(o, "max_output_tokens") },
		func() error { return o.Integer("top_logprobs", &q.TopLogprobs, 0, request.MaxTopLogprobs) },
		func() error { return o.Integer("max_tool_calls", &calls, 1, request.MaxTokensLimit) },
		func() error { return o.Boolean("background", &background) },
		func() error { return o.OneOf("truncation", &truncation, "disabled", "auto") },
		func() error { return o.Decode("include", &include, "an array of strings") },
		func() error { return q.readInput(o) },
		func() error { return q.readTextFormat(o) },
		func() error { return q.readResponsesTools(o) },
		func() error { return q.ReadToolChoice(o) },
		func() error { return readStreaming(q.Request, o, &ignored) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	switch {
	case background:
		return nil, wire.NotOffered("background", "background: true")
	case truncation == "auto":
		return nil, wire.NotOffered("truncation", `truncation "auto"`)
	}
	q.Logprobs = q.TopLogprobs > 0 || slices.Contains(include, "message.output_text.logprobs")
	return q, nil
}

// readInput reads instructions and input: a text, or the items of a
// conversation.
func (q *responsesRequest) readInput(o *wire.Object) error {
	instructions, text := "", ""
	if err := o.Str("instructions", &instructions); err != nil {
		return err
	}
	if instructions != "" {
		q.Messages = append(q.Messages, chat.Message{Role: "system", Content: instructions})
	}
	if !o.Given("input") {
		return wire.Invalid("input", "input is missing")
	}
	if json.Unmarshal(o.Members["input"], &text) == nil {
		q.Messages = append(q.Messages, chat.Message{Role: "user", Content: text})
		return nil
	}
	items, err := o.List("input")
	if err != nil {
		return o.WrongType("input", "a string or an array of items")
	}
	if len(items) == 0 {
		return wire.Invalid("input", "input must not be empty")
	}
	names := map[string]string{}
	for _, item := range items {
		if err := q.readItem(item, names); err != nil {
			return err
		}
	}
	return nil
}

// readItem reads one item of an input.
func (q *responsesRequest) readItem(item *wire.Object, names map[string]string) error {
	kind := "message"
	if err := item.Str("type", &kind); err != nil {
		return err
	}
	switch kind {
	case "message":
		one, err := readChatMessage(item)
		if err != nil {
			return err
		}
		q.Messages = append(q.Messages, one)
	case "function_call":
		past, arguments := chat.ToolCall{}, ""
		for _, err := range []error{item.Str("call_id", &past.ID), item.Str("name", &past.Name), item.Str("arguments", &arguments)} {
			if err != nil {
				return err
			}
		}
		names[past.ID] = past.Name
		// Calls in a row are of one turn.
		if n := len(q.Messages); n == 0 || q.Messages[n-1].Role != "assistant" {
			q.Messages = append(q.Messages, chat.Message{Role: "assistant"})
		}
		request.AddCall(&q.Messages[len(q.Messages)-1], past, arguments)
	case "function_call_output":
		m := chat.Message{Role: "tool"}
		if err := item.Str("call_id", &m.ToolCallID); err != nil {
			return err
		}
		if m.ToolCallID == "" {
			return wire.Invalid(item.Path+"call_id", "%scall_id is missing", item.Path)
		}
		if !item.Given("output") {
			return wire.Invalid(item.Path+"output", "%soutput is missing", item.Path)
		}
		m.Name = names[m.ToolCallID]
		output := &wire.Object{Path: item.Path, Members: map[string]json.RawMessage{"content": item.Members["output"]}}
		if err := request.ReadMessageContent(output, &m); err != nil {
			return err
		}
		q.Messages = append(q.Messages, m)
	case "reasoning": // what was thought is not shown to the model again
	default:
		return wire.NotOffered(item.Path+"type", fmt.Sprintf("an item of type %q", kind))
	}
	return nil
}

// readTextFormat reads text: {"format": …}.
func (q *responsesRequest) readTextFormat(o *wire.Object) error {
	text, err := o.Child("text")
	if text == nil || err != nil {
		return err
	}
	if err := text.Only("format", "verbosity"); err != nil {
		return err
	}
	verbosity := "medium"
	if err := text.OneOf("verbosity", &verbosity, "low", "medium", "high"); err != nil {
		return err
	}
	if verbosity != "medium" {
		return wire.NotOffered("text.verbosity", fmt.Sprintf("text.verbosity %q", verbosity))
	}
	f, err := text.Child("format")
	if f == nil || err != nil {
		return err
	}
	return q.Constraint.ReadFormat(f)
}

// readResponsesTools reads tools that have no inner object.
func (q *responsesRequest) readResponsesTools(o *wire.Object) error {
	list, err := o.List("tools")
	if err != nil {
		return err
	}
	set := &request.ToolSet{Mode: request.ToolsAuto, Parallel: true}
	for _, t := range list {
		kind := ""
		if err := t.Str("type", &kind); err != nil {
			return err
		}
		switch {
		case kind == "":
			return wire.Invalid(t.Path+"type", "%stype is missing", t.Path)
		case kind != "function":
			return wire.NotOffered(t.Path+"type", fmt.Sprintf("a tool of type %q", kind))
		}
		if err := t.Only("type", "name", "description", "parameters", "strict", "defer_loading"); err != nil {
			return err
		}
		if err := request.ReadFunction(set, t, "parameters"); err != nil {
			return err
		}
	}
	if len(set.Tools) > 0 {
		q.Tools = set
	}
	return o.Boolean("parallel_tool_calls", &set.Parallel)
}

// The answers.

// response is the answer, and what events about the whole of it carry.
type response struct {
	ID              string              `json:"id"`
	Object          string              `json:"object"` // "response"
	CreatedAt       int64               `json:"created_at"`
	Status          string              `json:"status"` // in_progress, completed, incomplete, failed
	Background      bool                `json:"background"`
	Error           *responseError      `json:"error"`
	Incomplete      *incomplete         `json:"incomplete_details"`
	Instructions    json.RawMessage     `json:"instructions"`
	MaxOutputTokens *int                `json:"max_output_tokens"`
	Metadata        json.RawMessage     `json:"metadata"`
	Model           string              `json:"model"`
	Output          []responseItem      `json:"output"`
	Parallel        bool                `json:"parallel_tool_calls"`
	Previous        *string             `json:"previous_response_id"` // always null
	Reasoning       json.RawMessage     `json:"reasoning"`
	Store           bool                `json:"store"`
	Temperature     float32             `json:"temperature"`
	Text            json.RawMessage     `json:"text"`
	ToolChoice      json.RawMessage     `json:"tool_choice"`
	Tools           json.RawMessage     `json:"tools"`
	TopP            float32             `json:"top_p"`
	Truncation      string              `json:"truncation"` // "disabled"
	Usage           *responsesUsage     `json:"usage"`
	User            *json.RawMessage    `json:"user"`
	Constraint      *generation.Receipt `json:"x_constraint,omitempty"`
	assess.Appraisal
	Warnings []string `json:"warnings,omitempty"`
}

type responseError struct {
	Code    string        `json:"code"`
	Message string        `json:"message"`
	Details []wire.Detail `json:"details,omitempty"`
}

type incomplete struct {
	Reason string `json:"reason"`
}

type responseItem struct {
	Type      string          `json:"type"` // message, function_call, reasoning
	ID        string          `json:"id"`
	Status    string          `json:"status,omitempty"`
	Role      string          `json:"role,omitempty"`
	Content   *[]responsePart `json:"content,omitempty"`
	Summary   *[]responsePart `json:"summary,omitempty"` // of reasoning: empty
	CallID    string          `json:"call_id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments *string         `json:"arguments,omitempty"`
}

type responsePart struct {
	Type        string                     `json:"type"` // output_text, reasoning_text
	Text        string                     `json:"text"`
	Annotations *[]struct{}                `json:"annotations,omitempty"` // of output_text: empty
	Logprobs    *[]generation.TokenLogprob `json:"logprobs,omitempty"`
}

type responsesUsage struct {
	InputTokens  int `json:"input_tokens"`
	InputDetails struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	OutputTokens  int `json:"output_tokens"`
	OutputDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	TotalTokens int `json:"total_tokens"`
}

// responseEvent is an event of a stream; which fields it has depends on its
// type.
type responseEvent struct {
	Type         string                     `json:"type"`
	Sequence     int                        `json:"sequence_number"`
	Response     *response                  `json:"response,omitempty"`
	OutputIndex  *int                       `json:"output_index,omitempty"`
	ItemID       string                     `json:"item_id,omitempty"`
	ContentIndex *int                       `json:"content_index,omitempty"`
	Item         *responseItem              `json:"item,omitempty"`
	Part         *responsePart              `json:"part,omitempty"`
	Delta        *string                    `json:"delta,omitempty"`
	Text         *string                    `json:"text,omitempty"`
	Name         string                     `json:"name,omitempty"`
	Arguments    *string                    `json:"arguments,omitempty"`
	Logprobs     *[]generation.TokenLogprob `json:"logprobs,omitempty"`
}
