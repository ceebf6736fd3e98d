package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/openai/conversations"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// responsesNames are the fields of POST /v1/responses.
var responsesNames = wire.Names{
	Known: slices.Concat([]string{
		"model", "input", "instructions", "max_output_tokens", "stream", "stream_options", "text", "tools", "tool_choice", "parallel_tool_calls",
		"top_logprobs", "truncation", "include", "background", "stop", "store", "previous_response_id", "conversation",
		"timings_per_token", "return_progress", "context_management",
	}, beside, request.SamplingFields, request.OwnFields),
	Constraint: append([]string{"text"}, request.ConstraintAliases...),
	Harmless:   append([]string{"access_programs", "background_options", "image", "betas", "guided_decoding_backend"}, wire.HarmlessFields...),
	Hints:      []string{"personality"},
	Refused:    []string{"prompt", "multi_agent", "messages"},
}

// A responsesRequest is the body of POST /v1/responses.
type responsesRequest struct {
	*request.Request
	body         *wire.Object // parts of it are repeated in the answer
	kept                      // stored responses of the same client
	store        bool
	background   bool
	previous     string                // id of the previous response
	conversation string                // id of the conversation that the response belongs to
	truncation   string                // disabled, auto
	compactAt    int                   // tokens of a prompt from which on it is to be compacted; 0: none
	timings      bool                  // in text events and the last event
	past         []json.RawMessage     // items up to the end of the previous response, or of the conversation
	pastName     string                // the field that names it
	items        []json.RawMessage     // of the input, with references resolved, as lists show them
	origins      map[string]toolOrigin // by name in the prompt, of tools with another name for the client
	leftOut      []leftTool            // tools that the model doesn't get
}

func readResponses(o *wire.Object, kept kept) (*responsesRequest, error) {
	q := &responsesRequest{Request: request.New(), body: o, kept: kept, store: true, truncation: "disabled"}
	var err error
	if q.Constraint, err = request.ReadAliases(o); err != nil {
		return nil, err
	}
	if q.Warnings, err = responsesNames.Check(o); err != nil {
		return nil, err
	}
	var include []string
	ignored := false
	for _, read := range []func() error{
		func() error { return q.ReadModel(o) },
		func() error { return readOpenAISampling(q.Request, o) },
		func() error { return q.ReadMaxTokens(o, "max_output_tokens") },
		func() error { return readBeside(q.Request, o) },
		func() error { return q.readContextManagement(o) },
		func() error { return o.Integer("top_logprobs", &q.TopLogprobs, 0, request.MaxTopLogprobs) },
		func() error { return o.Boolean("background", &q.background) },
		func() error { return o.Boolean("store", &q.store) },
		func() error { return o.Boolean("timings_per_token", &q.timings) },
		func() error { return o.Boolean("return_progress", &q.Progress) },
		func() error { return o.OneOf("truncation", &q.truncation, "disabled", "auto") },
		func() error { return o.Decode("include", &include, "an array of strings") },
		func() error { return q.readTextFormat(o) },
		func() error { return q.readResponsesTools(o) },
		func() error { return q.readPrevious(o) },
		func() error { return q.readConversation(o) },
		func() error { return q.readInput(o) },
		func() error { return q.readResponsesChoice(o) },
		func() error { return readStreaming(q.Request, o, &ignored) },
		func() error { return q.CheckOptions(o) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	if q.background && !q.store {
		return nil, wire.Invalid("background", "a response with background: true is stored, so store can't be false")
	}
	for i := range q.items {
		if !q.store && q.conversation == "" {
			break
		}
		if q.items[i], err = conversations.Listed(q.items[i]); err != nil {
			return nil, err
		}
	}
	q.Logprobs = q.TopLogprobs > 0 || slices.Contains(include, "message.output_text.logprobs")
	return q, nil
}

// readContextManagement reads context_management: [{"type": "compaction", "compact_threshold": n}].
func (q *responsesRequest) readContextManagement(o *wire.Object) error {
	list, err := o.List("context_management")
	if err != nil {
		return err
	}
	for _, one := range list {
		kind, threshold := "", 0
		if !one.Given("type") {
			return wire.Invalid(one.Path+"type", "%stype is missing", one.Path)
		}
		for _, err := range []error{
			one.Only("type", "compact_threshold"), one.OneOf("type", &kind, "compaction"), one.Integer("compact_threshold", &threshold, 1, request.MaxTokensLimit),
		} {
			if err != nil {
				return err
			}
		}
		if threshold > 0 && (q.compactAt == 0 || threshold < q.compactAt) {
			q.compactAt = threshold
		}
	}
	return nil
}

// warnWhole says that a conversation was not compacted. It is answered whole, from more than the client asked for, which
// serves it better than an error would: one that doesn't fit the context is refused in any case.
func (q *responsesRequest) warnWhole(tokens int) {
	if q.compactAt > 0 && tokens > q.compactAt {
		q.Warnings = append(q.Warnings, fmt.Sprintf(
			"the conversation has %d tokens, more than compact_threshold: it was left whole, as nothing summarizes conversations here", tokens))
	}
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
	if err := readVerbosity(q.Request, text); err != nil {
		return err
	}
	f, err := text.Child("format")
	if f == nil || err != nil {
		return err
	}
	return q.Constraint.ReadFormat(f)
}

// Replies.

// response is the answer, also carried by events about the whole answer.
type response struct {
	ID              string              `json:"id"`
	Object          string              `json:"object"` // "response"
	CreatedAt       int64               `json:"created_at"`
	Status          string              `json:"status"` // queued, in_progress, completed, incomplete, failed, cancelled
	Background      bool                `json:"background"`
	Error           *responseError      `json:"error"`
	Incomplete      *incomplete         `json:"incomplete_details"`
	Conversation    *conversationID     `json:"conversation,omitempty"`
	Instructions    json.RawMessage     `json:"instructions"`
	MaxOutputTokens *int                `json:"max_output_tokens"`
	Metadata        json.RawMessage     `json:"metadata"`
	Model           string              `json:"model"`
	Output          []responseItem      `json:"output"`
	Parallel        bool                `json:"parallel_tool_calls"`
	Previous        *string             `json:"previous_response_id"`
	Reasoning       json.RawMessage     `json:"reasoning"`
	Store           bool                `json:"store"`
	Temperature     float32             `json:"temperature"`
	Text            json.RawMessage     `json:"text"`
	ToolChoice      json.RawMessage     `json:"tool_choice"`
	Tools           json.RawMessage     `json:"tools"`
	TopP            float32             `json:"top_p"`
	Truncation      string              `json:"truncation"`
	Usage           *responsesUsage     `json:"usage"`
	User            *json.RawMessage    `json:"user"`
	Constraint      *generation.Receipt `json:"x_constraint,omitempty"`
	assess.Appraisal
	Warnings []string `json:"warnings,omitempty"`
}

type conversationID struct {
	ID string `json:"id"`
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
	Type      string          `json:"type"` // message, function_call, custom_tool_call, reasoning
	ID        string          `json:"id"`
	Status    string          `json:"status,omitempty"`
	Role      string          `json:"role,omitempty"`
	Content   *[]responsePart `json:"content,omitempty"`
	Summary   *[]responsePart `json:"summary,omitempty"` // of reasoning: empty
	CallID    string          `json:"call_id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	Input     *string         `json:"input,omitempty"` // of a custom tool's call
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
		WriteTokens  int `json:"cache_write_tokens"` // always 0: cache writes cost nothing
	} `json:"input_tokens_details"`
	OutputTokens  int `json:"output_tokens"`
	OutputDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	TotalTokens int `json:"total_tokens"`
}

// responseEvent is an event of a stream; its type determines the fields.
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
	Input        *string                    `json:"input,omitempty"`
	Logprobs     *[]generation.TokenLogprob `json:"logprobs,omitempty"`
	Progress     *generation.Progress       `json:"prompt_progress,omitempty"`
	Timings      *generation.Timings        `json:"timings,omitempty"`
}
