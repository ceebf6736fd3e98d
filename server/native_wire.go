package server

import (
	"encoding/json"

	"stencil/chat"
)

// nativeNames are the fields of POST /generate and /generate_json.
var nativeNames = names{
	known: append([]string{
		"model", "prompt", "messages", "system", "max_tokens", "stop", "n", "stream", "logprobs", "top_logprobs",
	}, append(samplingFields, ownFields...)...),
	constraint: constraintNames,
	harmless:   harmlessFields,
	refused: []string{
		"inputs", "text", "parameters", "sampling_params", "tools", "tool_choice", "response_format", "functions", "function_call",
		"best_of", "suffix", "echo", "mirostat", "mirostat_tau", "mirostat_eta", "tfs_z", "dry_multiplier", "xtc_probability",
		"logits_processors", "guided_json", "guided_regex", "guided_choice", "guided_grammar", "json_schema", "structured_outputs",
		"format", "template", "images", "audio", "max_new_tokens", "num_predict", "n_predict",
	},
}

// readNative decodes a body.
func readNative(o *object) (*nativeRequest, error) {
	q := &nativeRequest{newQuery()}
	var err error
	if q.Constraint, err = readConstraint(o); err != nil {
		return nil, err
	}
	if q.Warnings, err = nativeNames.check(o); err != nil {
		return nil, err
	}
	steps := []error{
		o.str("model", &q.Model),
		o.decode("prompt", &q.Prompt, "a string"),
		q.readNativeMessages(o),
		o.integer("max_tokens", &q.MaxTokens, 1, maxTokensLimit),
		q.readSampling(o, llamaSampling),
		q.readStop(o, "stop"),
		o.integer("n", &q.N, 1, maxChoices),
		o.boolean("stream", &q.Stream),
		o.boolean("logprobs", &q.Logprobs),
		o.integer("top_logprobs", &q.TopLogprobs, 0, maxTopLogprobs),
		q.readOwn(o),
	}
	for _, err := range steps {
		if err != nil {
			return nil, err
		}
	}
	if q.TopLogprobs > 0 && !q.Logprobs {
		return nil, invalid("top_logprobs", "top_logprobs needs logprobs: true")
	}
	return q, q.checkPrompt(o)
}

func (q *nativeRequest) readNativeMessages(o *object) error {
	if !o.given("messages") {
		return nil
	}
	list, err := o.list("messages")
	if err != nil {
		return err
	}
	for _, m := range list {
		if err := m.only("role", "content"); err != nil {
			return err
		}
		var one chat.Message
		if err := m.oneOf("role", &one.Role, "system", "user", "assistant"); err != nil {
			return err
		}
		if one.Role == "" {
			return invalid(m.path+"role", "%srole is missing", m.path)
		}
		if !m.given("content") {
			return invalid(m.path+"content", "%scontent is missing", m.path)
		}
		if err := m.str("content", &one.Content); err != nil {
			return err
		}
		q.Messages = append(q.Messages, one)
	}
	if len(q.Messages) == 0 {
		return invalid("messages", "messages must not be empty")
	}
	return nil
}

// checkPrompt sees to it that there is exactly one prompt. A prompt beside a
// system text is a conversation.
func (q *nativeRequest) checkPrompt(o *object) error {
	switch {
	case q.Prompt == nil && q.Messages == nil:
		return invalid("prompt", "prompt or messages is needed")
	case q.Prompt != nil && q.Messages != nil:
		return invalid("prompt", "prompt and messages exclude each other")
	}
	if !o.given("system") {
		return nil
	}
	var system string
	if err := o.str("system", &system); err != nil {
		return err
	}
	if q.Prompt != nil {
		q.Messages, q.Prompt = []chat.Message{{Role: "user", Content: *q.Prompt}}, nil
	}
	q.Messages = append([]chat.Message{{Role: "system", Content: system}}, q.Messages...)
	return nil
}

// The answers.

// generateReply is the answer of /generate and, with JSON or JSONError, of
// /generate_json.
type generateReply struct {
	Model string `json:"model"`
	choiceReply
	Choices  []choiceReply `json:"choices,omitempty"` // with n > 1
	Usage    usageReply    `json:"usage"`
	Timings  timingsReply  `json:"timings"`
	Warnings []string      `json:"warnings,omitempty"`
}

// choiceReply is one text. With n > 1 the first one stands at the top level
// too.
type choiceReply struct {
	Index        int             `json:"index"`
	JSON         json.RawMessage `json:"json,omitempty"`
	Text         string          `json:"text"`
	Reasoning    string          `json:"reasoning,omitempty"`
	FinishReason string          `json:"finish_reason"`
	StopString   string          `json:"stop_string,omitempty"`
	Seed         uint64          `json:"seed"`
	Constraint   *receipt        `json:"constraint,omitempty"`
	Logprobs     []tokenReply    `json:"logprobs,omitempty"`

	Signals    *signalsReply    `json:"signals,omitempty"`
	Assessment *assessmentReply `json:"assessment,omitempty"`

	Fields map[string]fieldReply `json:"fields,omitempty"`
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

// fieldEvent is the data of a field event: a value that is complete.
// Containers have no confidence.
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
	Usage    usageReply   `json:"usage"`
	Timings  timingsReply `json:"timings"`
	Warnings []string     `json:"warnings,omitempty"`
}

// A nativeRequest is the body of POST /generate or /generate_json.
type nativeRequest struct{ *query }
