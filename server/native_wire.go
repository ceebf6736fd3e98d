package server

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"stencil/decoder/sampling"
)

// A nativeRequest is the body of POST /generate and /generate_json.
type nativeRequest struct {
	Model    string
	Prompt   *string
	System   *string
	Messages []message

	MaxTokens    int // 0: not given
	Sampling     sampling.Options
	Seeded       bool
	Stop         []string
	N            int
	Stream       bool
	Logprobs     bool
	TopLogprobs  int
	PromptSchema string // auto, always, never
	Forced       bool
	OnBudget     string // close, truncate

	Constraint constraintFields
	Warnings   []string
}

// A message is one turn of a conversation.
type message struct {
	Role    string
	Content string
}

// Limits of single fields. They are far above any use and keep one request
// from taking the server's memory.
const (
	maxChoices     = 128
	maxStops       = 16
	maxStopBytes   = 256
	maxTopLogprobs = 20
	maxTokensLimit = 1 << 24
	maxBiases      = 4096
)

// nativeFields are the fields at the top level, in the order of the
// documentation; the fields of the constraint come in addition.
var nativeFields = []string{
	"model", "prompt", "messages", "system", "max_tokens", "temperature", "top_p", "top_k", "min_p", "typical_p",
	"repeat_penalty", "repeat_last_n", "presence_penalty", "frequency_penalty", "logit_bias", "seed", "stop", "n",
	"stream", "logprobs", "top_logprobs", "keep_alive", "prompt_schema", "reasoning", "forced", "on_budget", "json_mode",
}

// harmlessFields are known to some client's specification and don't change the
// text; they are accepted without a word.
var harmlessFields = []string{"user", "metadata", "store", "service_tier", "cache_control", "safety_identifier", "prompt_cache_key"}

// foreignFields would change the text but belong to another dialect of this
// path or to nothing that is offered. They are refused by name.
var foreignFields = []string{
	"inputs", "text", "parameters", "sampling_params", "tools", "tool_choice", "response_format", "functions", "function_call",
	"best_of", "suffix", "echo", "mirostat", "mirostat_tau", "mirostat_eta", "tfs_z", "dry_multiplier", "xtc_probability",
	"logits_processors", "guided_json", "guided_regex", "guided_choice", "guided_grammar", "json_schema", "structured_outputs",
	"format", "template", "images", "audio", "deterministic", "max_new_tokens", "num_predict", "n_predict",
}

// readNative decodes a body.
func readNative(o *object) (*nativeRequest, error) {
	q := &nativeRequest{N: 1, PromptSchema: "auto", Forced: true, OnBudget: "close"}
	var err error
	if q.Constraint, err = readConstraint(o); err != nil {
		return nil, err
	}
	if err := q.checkNames(o); err != nil {
		return nil, err
	}
	if o.given("reasoning") && string(o.members["reasoning"]) != "false" {
		return nil, notOffered("reasoning", "reasoning")
	}
	var keepAlive any
	steps := []error{
		o.str("model", &q.Model),
		o.decode("prompt", &q.Prompt, "a string"),
		o.decode("system", &q.System, "a string"),
		q.readMessages(o),
		o.integer("max_tokens", &q.MaxTokens, 1, maxTokensLimit),
		q.readSampling(o),
		q.readStop(o),
		o.integer("n", &q.N, 1, maxChoices),
		o.boolean("stream", &q.Stream),
		o.boolean("logprobs", &q.Logprobs),
		o.integer("top_logprobs", &q.TopLogprobs, 0, maxTopLogprobs),
		o.decode("keep_alive", &keepAlive, "a duration"),
		o.oneOf("prompt_schema", &q.PromptSchema, "auto", "always", "never"),
		o.boolean("forced", &q.Forced),
		o.oneOf("on_budget", &q.OnBudget, "close", "truncate"),
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

// checkNames applies the rules for fields that are not known.
func (q *nativeRequest) checkNames(o *object) error {
	known := append(slices.Clone(nativeFields), constraintNames...)
	for _, name := range o.names {
		switch {
		case slices.Contains(known, name), slices.Contains(harmlessFields, name):
		case slices.Contains(foreignFields, name):
			return notOffered(name, name)
		default:
			if near := nearest(name, append(slices.Clone(constraintNames), "json_mode")); near != "" {
				return unknownField(name, near)
			}
			w := fmt.Sprintf("the field %s is not known and was ignored", name)
			if near := nearest(name, known); near != "" {
				w += fmt.Sprintf("; was %s meant?", near)
			}
			q.Warnings = append(q.Warnings, w)
		}
	}
	return nil
}

// notOffered refuses a field, or one of its values, that can't be ignored.
func notOffered(param, what string) *requestError {
	return &requestError{Param: param, Code: "not_offered", Message: fmt.Sprintf("%s is not offered here, and ignoring it would change the text", what)}
}

func unknownField(name, near string) *requestError {
	e := &requestError{Param: name, Code: "unknown_field", Message: fmt.Sprintf("the field %s is not known", name)}
	if near != "" {
		e.Message += fmt.Sprintf("; was %s meant?", near)
	}
	return e
}

func (q *nativeRequest) readMessages(o *object) error {
	if !o.given("messages") {
		return nil
	}
	var list []json.RawMessage
	if err := o.decode("messages", &list, "an array"); err != nil {
		return err
	}
	for i, raw := range list {
		m, err := parseObject(raw, fmt.Sprintf("messages[%d].", i))
		if err != nil {
			return err
		}
		for _, name := range m.names {
			if name != "role" && name != "content" {
				return unknownField(m.path+name, nearest(name, []string{"role", "content"}))
			}
		}
		var one message
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

// checkPrompt sees to it that there is exactly one prompt.
func (q *nativeRequest) checkPrompt(o *object) error {
	switch {
	case q.Prompt == nil && q.Messages == nil:
		return invalid("prompt", "prompt or messages is needed")
	case q.Prompt != nil && q.Messages != nil:
		return invalid("prompt", "prompt and messages exclude each other")
	}
	return nil
}

func (q *nativeRequest) readSampling(o *object) error {
	s := &q.Sampling
	s.Temperature, s.RepeatPenalty = 0.8, 1 // as llama.cpp has it
	s.TopK, s.TopP, s.MinP = 40, 0.95, 0.05
	topP, minP, typical, repeat := s.TopP, s.MinP, s.TypicalP, s.RepeatPenalty
	for _, err := range []error{
		o.number("temperature", &s.Temperature),
		o.number("top_p", &topP),
		o.integer("top_k", &s.TopK, 0, math.MaxInt32),
		o.number("min_p", &minP),
		o.number("typical_p", &typical),
		o.number("repeat_penalty", &repeat),
		o.integer("repeat_last_n", &s.RepeatLastN, -1, math.MaxInt32),
		o.number("presence_penalty", &s.PresencePenalty),
		o.number("frequency_penalty", &s.FrequencyPenalty),
		o.seed("seed", &s.Seed),
	} {
		if err != nil {
			return err
		}
	}
	q.Seeded = o.given("seed")
	// To the sampler 0 means off; in a request it means what it says.
	if o.given("top_p") && topP == 0 {
		topP = math.SmallestNonzeroFloat32
	}
	if o.given("typical_p") && typical == 0 {
		typical = math.SmallestNonzeroFloat32
	}
	if o.given("repeat_penalty") && repeat <= 0 {
		return invalid("repeat_penalty", "repeat_penalty must be greater than 0, not %s", sketch(o.members["repeat_penalty"]))
	}
	s.TopP, s.MinP, s.TypicalP, s.RepeatPenalty = topP, minP, typical, repeat
	return q.readBias(o)
}

func (q *nativeRequest) readBias(o *object) error {
	var bias map[string]float64
	if err := o.decode("logit_bias", &bias, "an object of token numbers and biases"); err != nil {
		return err
	}
	if len(bias) > maxBiases {
		return invalid("logit_bias", "logit_bias must have at most %d entries, not %d", maxBiases, len(bias))
	}
	for key, add := range bias {
		token, err := strconv.ParseInt(key, 10, 32)
		if err != nil {
			return invalid("logit_bias", "logit_bias: %q is not a token number", key)
		}
		if add < -100 || add > 100 {
			return invalid("logit_bias", "logit_bias of token %d must be between -100 and 100, not %g", token, add)
		}
		b := sampling.Bias{Token: int32(token), Add: float32(add)}
		if add == -100 {
			b.Add = float32(math.Inf(-1)) // a ban, as OpenAI has it
		}
		q.Sampling.LogitBias = append(q.Sampling.LogitBias, b)
	}
	sort.Slice(q.Sampling.LogitBias, func(i, j int) bool { return q.Sampling.LogitBias[i].Token < q.Sampling.LogitBias[j].Token })
	return nil
}

func (q *nativeRequest) readStop(o *object) error {
	if !o.given("stop") {
		return nil
	}
	raw := o.members["stop"]
	var one string
	if json.Unmarshal(raw, &one) == nil {
		q.Stop = []string{one}
	} else if json.Unmarshal(raw, &q.Stop) != nil {
		return o.wrongType("stop", "a string or an array of strings")
	}
	if len(q.Stop) > maxStops {
		return invalid("stop", "stop must have at most %d strings, not %d", maxStops, len(q.Stop))
	}
	for _, s := range q.Stop {
		if s == "" || len(s) > maxStopBytes {
			return invalid("stop", "every stop string must have between 1 and %d bytes, not %d", maxStopBytes, len(s))
		}
	}
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
	FinishReason string          `json:"finish_reason"`
	StopString   string          `json:"stop_string,omitempty"`
	Seed         uint64          `json:"seed"`
	Constraint   *receipt        `json:"constraint,omitempty"`
	Logprobs     []tokenReply    `json:"logprobs,omitempty"`
}

// usageReply counts tokens. The tokens of failed tries are among the
// completion's.
type usageReply struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	PromptDetails    struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// timingsReply is in milliseconds.
type timingsReply struct {
	Queue           float64 `json:"queue_ms"`
	Prompt          float64 `json:"prompt_ms"`
	Generate        float64 `json:"generate_ms"`
	TokensPerSecond float64 `json:"tokens_per_second"`
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

// doneEvent is the data of the last event of a choice.
type doneEvent struct {
	Model string `json:"model"`
	choiceReply
	Usage    usageReply   `json:"usage"`
	Timings  timingsReply `json:"timings"`
	Warnings []string     `json:"warnings,omitempty"`
}
