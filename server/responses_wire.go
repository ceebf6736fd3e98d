package server

import (
	"encoding/json"
	"fmt"
	"slices"

	"stencil/chat"
)

// responsesNames are the fields of POST /v1/responses.
var responsesNames = names{
	known: slices.Concat([]string{
		"model", "input", "instructions", "max_output_tokens", "stream", "stream_options", "text", "tools", "tool_choice", "parallel_tool_calls",
		"top_logprobs", "truncation", "include", "background", "max_tool_calls", "stop",
	}, samplingFields, ownFields),
	constraint: append([]string{"text"}, constraintSpellings...),
	harmless:   harmlessFields,
	refused:    []string{"previous_response_id", "conversation", "prompt", "context_management", "moderation", "messages", "response_format"},
}

// A responsesRequest is the body of POST /v1/responses.
type responsesRequest struct {
	*query
	body *object // of which parts are repeated in the answer
}

func readResponses(o *object) (*responsesRequest, error) {
	q := &responsesRequest{query: newQuery(), body: o}
	var err error
	if q.Constraint, err = readSpellings(o); err != nil {
		return nil, err
	}
	if q.Warnings, err = responsesNames.check(o); err != nil {
		return nil, err
	}
	var include []string
	ignored := false
	background, truncation, calls := false, "disabled", 0
	for _, read := range []func() error{
		func() error { return q.readModel(o) },
		func() error { return readOpenAISampling(q.query, o) },
		func() error { return q.readMaxTokens(o, "max_output_tokens") },
		func() error { return o.integer("top_logprobs", &q.TopLogprobs, 0, maxTopLogprobs) },
		func() error { return o.integer("max_tool_calls", &calls, 1, maxTokensLimit) },
		func() error { return o.boolean("background", &background) },
		func() error { return o.oneOf("truncation", &truncation, "disabled", "auto") },
		func() error { return o.decode("include", &include, "an array of strings") },
		func() error { return q.readInput(o) },
		func() error { return q.readTextFormat(o) },
		func() error { return q.readResponsesTools(o) },
		func() error { return q.readToolChoice(o) },
		func() error { return readStreaming(q.query, o, &ignored) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	switch {
	case background:
		return nil, notOffered("background", "background: true")
	case truncation == "auto":
		return nil, notOffered("truncation", `truncation "auto"`)
	}
	q.Logprobs = q.TopLogprobs > 0 || slices.Contains(include, "message.output_text.logprobs")
	return q, nil
}

// readInput reads instructions and input: a text, or the items of a
// conversation.
func (q *responsesRequest) readInput(o *object) error {
	instructions, text := "", ""
	if err := o.str("instructions", &instructions); err != nil {
		return err
	}
	if instructions != "" {
		q.Messages = append(q.Messages, chat.Message{Role: "system", Content: instructions})
	}
	if !o.given("input") {
		return invalid("input", "input is missing")
	}
	if json.Unmarshal(o.members["input"], &text) == nil {
		q.Messages = append(q.Messages, chat.Message{Role: "user", Content: text})
		return nil
	}
	items, err := o.list("input")
	if err != nil {
		return o.wrongType("input", "a string or an array of items")
	}
	if len(items) == 0 {
		return invalid("input", "input must not be empty")
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
func (q *responsesRequest) readItem(item *object, names map[string]string) error {
	kind := "message"
	if err := item.str("type", &kind); err != nil {
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
		for _, err := range []error{item.str("call_id", &past.ID), item.str("name", &past.Name), item.str("arguments", &arguments)} {
			if err != nil {
				return err
			}
		}
		names[past.ID] = past.Name
		// Calls in a row are of one turn.
		if n := len(q.Messages); n == 0 || q.Messages[n-1].Role != "assistant" {
			q.Messages = append(q.Messages, chat.Message{Role: "assistant"})
		}
		addCall(&q.Messages[len(q.Messages)-1], past, arguments)
	case "function_call_output":
		m := chat.Message{Role: "tool"}
		if err := item.str("call_id", &m.ToolCallID); err != nil {
			return err
		}
		if m.ToolCallID == "" {
			return invalid(item.path+"call_id", "%scall_id is missing", item.path)
		}
		if !item.given("output") {
			return invalid(item.path+"output", "%soutput is missing", item.path)
		}
		m.Name = names[m.ToolCallID]
		output := &object{path: item.path, members: map[string]json.RawMessage{"content": item.members["output"]}}
		if err := readMessageContent(output, &m); err != nil {
			return err
		}
		q.Messages = append(q.Messages, m)
	case "reasoning": // what was thought is not shown to the model again
	default:
		return notOffered(item.path+"type", fmt.Sprintf("an item of type %q", kind))
	}
	return nil
}

// readTextFormat reads text: {"format": …}.
func (q *responsesRequest) readTextFormat(o *object) error {
	text, err := o.child("text")
	if text == nil || err != nil {
		return err
	}
	if err := text.only("format", "verbosity"); err != nil {
		return err
	}
	verbosity := "medium"
	if err := text.oneOf("verbosity", &verbosity, "low", "medium", "high"); err != nil {
		return err
	}
	if verbosity != "medium" {
		return notOffered("text.verbosity", fmt.Sprintf("text.verbosity %q", verbosity))
	}
	f, err := text.child("format")
	if f == nil || err != nil {
		return err
	}
	return q.Constraint.readFormat(f)
}

// readResponsesTools reads tools that have no inner object.
func (q *responsesRequest) readResponsesTools(o *object) error {
	list, err := o.list("tools")
	if err != nil {
		return err
	}
	set := &toolSet{Mode: toolsAuto, Parallel: true}
	for _, t := range list {
		kind := ""
		if err := t.str("type", &kind); err != nil {
			return err
		}
		switch {
		case kind == "":
			return invalid(t.path+"type", "%stype is missing", t.path)
		case kind != "function":
			return notOffered(t.path+"type", fmt.Sprintf("a tool of type %q", kind))
		}
		if err := t.only("type", "name", "description", "parameters", "strict", "defer_loading"); err != nil {
			return err
		}
		if err := readFunction(set, t, "parameters"); err != nil {
			return err
		}
	}
	if len(set.Tools) > 0 {
		q.Tools = set
	}
	return o.boolean("parallel_tool_calls", &set.Parallel)
}

// The answers.

// response is the answer, and what events about the whole of it carry.
type response struct {
	ID              string           `json:"id"`
	Object          string           `json:"object"` // "response"
	CreatedAt       int64            `json:"created_at"`
	Status          string           `json:"status"` // in_progress, completed, incomplete, failed
	Background      bool             `json:"background"`
	Error           *responseError   `json:"error"`
	Incomplete      *incomplete      `json:"incomplete_details"`
	Instructions    json.RawMessage  `json:"instructions"`
	MaxOutputTokens *int             `json:"max_output_tokens"`
	Metadata        json.RawMessage  `json:"metadata"`
	Model           string           `json:"model"`
	Output          []responseItem   `json:"output"`
	Parallel        bool             `json:"parallel_tool_calls"`
	Previous        *string          `json:"previous_response_id"` // always null
	Reasoning       json.RawMessage  `json:"reasoning"`
	Store           bool             `json:"store"`
	Temperature     float32          `json:"temperature"`
	Text            json.RawMessage  `json:"text"`
	ToolChoice      json.RawMessage  `json:"tool_choice"`
	Tools           json.RawMessage  `json:"tools"`
	TopP            float32          `json:"top_p"`
	Truncation      string           `json:"truncation"` // "disabled"
	Usage           *responsesUsage  `json:"usage"`
	User            *json.RawMessage `json:"user"`
	Constraint      *receipt         `json:"x_constraint,omitempty"`
	appraisal
	Warnings []string `json:"warnings,omitempty"`
}

type responseError struct {
	Code    string        `json:"code"`
	Message string        `json:"message"`
	Details []errorDetail `json:"details,omitempty"`
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
	Type        string       `json:"type"` // output_text, reasoning_text
	Text        string       `json:"text"`
	Annotations *[]struct{}  `json:"annotations,omitempty"` // of output_text: empty
	Logprobs    *[]chatToken `json:"logprobs,omitempty"`
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
	Type         string        `json:"type"`
	Sequence     int           `json:"sequence_number"`
	Response     *response     `json:"response,omitempty"`
	OutputIndex  *int          `json:"output_index,omitempty"`
	ItemID       string        `json:"item_id,omitempty"`
	ContentIndex *int          `json:"content_index,omitempty"`
	Item         *responseItem `json:"item,omitempty"`
	Part         *responsePart `json:"part,omitempty"`
	Delta        *string       `json:"delta,omitempty"`
	Text         *string       `json:"text,omitempty"`
	Name         string        `json:"name,omitempty"`
	Arguments    *string       `json:"arguments,omitempty"`
	Logprobs     *[]chatToken  `json:"logprobs,omitempty"`
}
