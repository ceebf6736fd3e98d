package native

import (
	"encoding/json"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// nativeNames are the fields of POST /generate and /generate_json.
var nativeNames = wire.Names{
	Known: append([]string{
		"model", "prompt", "messages", "system", "max_tokens", "stop", "n", "stream", "logprobs", "top_logprobs",
	}, append(request.SamplingFields, request.OwnFields...)...),
	Constraint: request.ConstraintNames,
	Harmless:   wire.HarmlessFields,
	Refused: []string{
		"inputs", "text", "parameters", "sampling_params", "tools", "tool_choice", "response_format", "functions", "function_call",
		"best_of", "suffix", "echo", "tfs_z",
		"logits_processors", "guided_json", "guided_regex", "guided_choice", "guided_grammar", "json_schema", "structured_outputs",
		"format", "template", "images", "audio", "max_new_tokens", "num_predict", "n_predict",
	},
}

// readNative decodes a body.
func readNative(o *wire.Object) (*nativeRequest, error) {
	q := &nativeRequest{request.New()}
	var err error
	if q.Constraint, err = request.ReadConstraint(o); err == nil {
		err = q.Constraint.Whole()
	}
	if err != nil {
		return nil, err
	}
	if q.Warnings, err = nativeNames.Check(o); err != nil {
		return nil, err
	}
	steps := []error{
		o.Str("model", &q.Model),
		o.Decode("prompt", &q.Prompt, "a string"),
		q.readNativeMessages(o),
		o.Integer("max_tokens", &q.MaxTokens, 1, request.MaxTokensLimit),
		q.ReadSampling(o, request.LlamaSampling),
		q.ReadStop(o, "stop"),
		o.Integer("n", &q.N, 1, request.MaxChoices),
		o.Boolean("stream", &q.Stream),
		o.Boolean("logprobs", &q.Logprobs),
		o.Integer("top_logprobs", &q.TopLogprobs, 0, request.MaxTopLogprobs),
		q.ReadOwn(o),
	}
	for _, err := range steps {
		if err != nil {
			return nil, err
		}
	}
	if q.TopLogprobs > 0 && !q.Logprobs {
		return nil, wire.Invalid("top_logprobs", "top_logprobs needs logprobs: true")
	}
	return q, q.checkPrompt(o)
}

func (q *nativeRequest) readNativeMessages(o *wire.Object) error {
	if !o.Given("messages") {
		return nil
	}
	list, err := o.List("messages")
	if err != nil {
		return err
	}
	for _, m := range list {
		if err := m.Only("role", "content"); err != nil {
			return err
		}
		var one chat.Message
		if err := m.OneOf("role", &one.Role, "system", "user", "assistant"); err != nil {
			return err
		}
		if one.Role == "" {
			return wire.Invalid(m.Path+"role", "%srole is missing", m.Path)
		}
		if !m.Given("content") {
			return wire.Invalid(m.Path+"content", "%scontent is missing", m.Path)
		}
		if err := m.Str("content", &one.Content); err != nil {
			return err
		}
		q.Messages = append(q.Messages, one)
	}
	if len(q.Messages) == 0 {
		return wire.Invalid("messages", "messages must not be empty")
	}
	return nil
}

// checkPrompt ensures that there is exactly one prompt. A prompt with a
// system text becomes a conversation.
func (q *nativeRequest) checkPrompt(o *wire.Object) error {
	switch {
	case q.Prompt == nil && q.Messages == nil:
		return wire.Invalid("prompt", "prompt or messages is needed")
	case q.Prompt != nil && q.Messages != nil:
		return wire.Invalid("prompt", "prompt and messages exclude each other")
	}
	if !o.Given("system") {
		return nil
	}
	var system string
	if err := o.Str("system", &system); err != nil {
		return err
	}
	if q.Prompt != nil {
		q.Messages, q.Prompt = []chat.Message{{Role: "user", Content: *q.Prompt}}, nil
	}
	q.Messages = append([]chat.Message{{Role: "system", Content: system}}, q.Messages...)
	return nil
}

// Replies.

// generateReply is the answer of /generate and /generate_json.
type generateReply struct {
	Model string `json:"model"`
	choiceReply
	Choices  []choiceReply      `json:"choices,omitempty"` // with n > 1
	Usage    generation.Usage   `json:"usage"`
	Timings  generation.Timings `json:"timings"`
	Warnings []string           `json:"warnings,omitempty"`
}

// choiceReply is one text. With n > 1 the first one is repeated at the top
// level.
type choiceReply struct {
	Index        int                 `json:"index"`
	JSON         json.RawMessage     `json:"json,omitempty"`
	Text         string              `json:"text"`
	Reasoning    string              `json:"reasoning,omitempty"`
	FinishReason string              `json:"finish_reason"`
	StopString   string              `json:"stop_string,omitempty"`
	Seed         uint64              `json:"seed"`
	Constraint   *generation.Receipt `json:"constraint,omitempty"`
	Logprobs     []tokenReply        `json:"logprobs,omitempty"`

	Signals    *assess.Signals    `json:"signals,omitempty"`
	Assessment *assess.Assessment `json:"assessment,omitempty"`

	Fields map[string]generation.FieldReply `json:"fields,omitempty"`
}

// tokenReply is a token of the text. A forced token has no probability.
type tokenReply struct {
	Token   string     `json:"token"`
	ID      int32      `json:"id"`
	Bytes   []int      `json:"bytes"`
	Logprob *float32   `json:"logprob"`
	Forced  bool       `json:"forced,omitempty"`
	Top     []topReply `json:"top_logprobs,omitempty"`
}

type topReply struct {
	Token   string  `json:"token"`
	ID      int32   `json:"id"`
	Bytes   []int   `json:"bytes"`
	Logprob float32 `json:"logprob"`
}

// tokenEvent is the data of a stream's token event.
type tokenEvent struct {
	Index    int          `json:"index"`
	Text     string       `json:"text"`
	Logprobs []tokenReply `json:"logprobs,omitempty"`
}

// fieldEvent is the data of a field event: a complete value. Containers have
// no confidence.
type fieldEvent struct {
	Index      int             `json:"index"`
	Pointer    string          `json:"pointer"`
	Value      json.RawMessage `json:"value"`
	Confidence *float64        `json:"confidence,omitempty"`

	Alternatives map[string]float64 `json:"alternatives,omitempty"`
}

// doneEvent is the data of the last event of a choice.
type doneEvent struct {
	Model string `json:"model"`
	choiceReply
	Usage    generation.Usage   `json:"usage"`
	Timings  generation.Timings `json:"timings"`
	Warnings []string           `json:"warnings,omitempty"`
}

// A nativeRequest is the body of POST /generate or /generate_json.
type nativeRequest struct{ *request.Request }
