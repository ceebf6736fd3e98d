package server

import (
	"encoding/json"
	"math"
	"sort"
	"strconv"
	"time"

	"stencil/chat"
	"stencil/decoder/sampling"
)

// A query is a generating request of any dialect, decoded: what every dialect
// makes of its body before it is run.
type query struct {
	Model string

	// One of the first two is the prompt: a text to go on with, in words or
	// tokens, or a conversation.
	Prompt       *string
	PromptTokens []int32
	Messages     []chat.Message
	Begun        string         // how the answer to them begins
	Tools        *toolSet       // nil without tools
	Variables    map[string]any // for the model's chat template

	MaxTokens     int // 0: not given
	Sampling      sampling.Options
	Seeded        bool
	Stop          []string
	N             int
	Stream        bool
	Logprobs      bool
	TopLogprobs   int
	PromptSchema  string // auto, always, never
	Reasoning     bool   // the model thinks before it answers
	NoThoughts    bool   // it does not, even if it is used to
	ThinkTokens   int    // how long at most; 0: no bound of its own
	Forced        bool
	OnBudget      string // close, truncate
	Deterministic bool
	Timeout       time.Duration  // 0: the server's
	RetryMax      *int           // further tries for an answer that won't do; nil: as the server has it
	KeepAlive     *time.Duration // nil: as configured
	Signals       *signalFields  // nil: the model does not assess its answer

	Constraint constraintFields
	Warnings   []string
}

// newQuery returns a query with every default that dialects share.
func newQuery() *query {
	return &query{N: 1, PromptSchema: "auto", Forced: true, OnBudget: "close", Constraint: defaultConstraint()}
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
	maxRetries     = 16
)

// samplingFields are read by readSampling, whatever the dialect.
var samplingFields = []string{
	"temperature", "top_p", "top_k", "min_p", "typical_p", "repeat_penalty", "repeat_last_n", "presence_penalty", "frequency_penalty",
	"logit_bias", "seed",
}

// ownFields are fields of this server that every dialect takes.
var ownFields = []string{"prompt_schema", "forced", "on_budget", "deterministic", "keep_alive", "timeout", "reasoning", "retry_max", "signals"}

// readOwn reads ownFields.
func (q *query) readOwn(o *object) error {
	seconds, retries := float32(0), 0
	if o.given("timeout") {
		seconds = -1
	}
	for _, err := range []error{
		o.oneOf("prompt_schema", &q.PromptSchema, "auto", "always", "never"),
		o.boolean("forced", &q.Forced),
		o.oneOf("on_budget", &q.OnBudget, "close", "truncate"),
		o.boolean("deterministic", &q.Deterministic),
		o.number("timeout", &seconds),
		o.integer("retry_max", &retries, 0, maxRetries),
		o.keepAlive("keep_alive", &q.KeepAlive),
		q.readReasoning(o),
		q.readSignals(o),
	} {
		if err != nil {
			return err
		}
	}
	if o.given("retry_max") {
		q.RetryMax = &retries
	}
	if o.given("timeout") {
		if !(seconds > 0 && seconds <= maxTimeout) {
			return invalid(o.path+"timeout", "%stimeout must be between 0 and %d seconds, not %s", o.path, maxTimeout, sketch(o.members["timeout"]))
		}
		q.Timeout = time.Duration(float64(seconds) * float64(time.Second))
	}
	return nil
}

// readReasoning reads whether the model is to think before it answers: yes or
// no, or an object as OpenAI's /v1/responses has it, with how much.
func (q *query) readReasoning(o *object) error {
	const name = "reasoning"
	if !o.given(name) {
		return nil
	}
	if json.Unmarshal(o.members[name], &q.Reasoning) == nil {
		if !q.Reasoning {
			q.effort("none")
		}
	} else {
		in, err := o.child(name)
		if err != nil {
			return o.wrongType(name, "true, false or an object")
		}
		effort, summary := "", ""
		for _, err := range []error{
			in.only("effort", "summary", "generate_summary", "max_tokens"),
			in.oneOf("effort", &effort, "none", "minimal", "low", "medium", "high", "xhigh"),
			in.str("summary", &summary),
			in.integer("max_tokens", &q.ThinkTokens, 1, maxTokensLimit),
		} {
			if err != nil {
				return err
			}
		}
		if effort != "" {
			q.effort(effort)
		}
		q.Reasoning = q.ThinkTokens > 0
	}
	return nil
}

// Defaults of sampling: llama.cpp's for dialects whose specification names
// none, and no truncation at all for those whose specification has it so.
var (
	llamaSampling = sampling.Options{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05, RepeatPenalty: 1}
	plainSampling = sampling.Options{Temperature: 1, RepeatPenalty: 1}
)

// readSampling reads samplingFields.
func (q *query) readSampling(o *object, defaults sampling.Options) error {
	s := &q.Sampling
	*s = defaults
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

func (q *query) readBias(o *object) error {
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

// readStop reads stop strings: one, or a list.
func (q *query) readStop(o *object, name string) error {
	if !o.given(name) {
		return nil
	}
	raw := o.members[name]
	var one string
	if json.Unmarshal(raw, &one) == nil {
		q.Stop = []string{one}
	} else if json.Unmarshal(raw, &q.Stop) != nil {
		return o.wrongType(name, "a string or an array of strings")
	}
	if len(q.Stop) > maxStops {
		return invalid(o.path+name, "%s must have at most %d strings, not %d", o.path+name, maxStops, len(q.Stop))
	}
	for _, s := range q.Stop {
		if s == "" || len(s) > maxStopBytes {
			return invalid(o.path+name, "every stop string must have between 1 and %d bytes, not %d", maxStopBytes, len(s))
		}
	}
	return nil
}
