package request

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/server/wire"
)

// A Request is a generating request of any dialect, decoded. Every dialect converts its body to a
// Request.
type Request struct {
	Model string

	// The prompt is either a text to continue, as text or tokens, or a conversation.
	Prompt       *string
	PromptTokens []int32
	Before       []int32 // an earlier prompt with its answer, which the conversation follows
	Messages     []chat.Message
	Begun        string         // assistant prefill
	ToolForms    string         // "own": calls in other models' forms stay text
	RepeatCalls  bool           // also return calls that repeat an earlier one
	ToolLeast    *float32       // least probability with which the model must begin a call that it need not make
	CallLeast    *float32       // how sure it must be of a call in another form; nil: DefaultCallLeast
	MaxToolCalls int            // of one answer
	Tools        *ToolSet       // nil without tools
	Variables    map[string]any // of the model's chat template

	MaxTokens     int // 0: not given; Unlimited: up to the end of the context
	Sampling      sampling.Options
	BiasTexts     []TextBias // biases by text, beside those of Sampling
	Breakers      []string   // texts that end repetitions for sampling.DRY; nil: DefaultBreakers
	IgnoreEnd     bool       // never sample end-of-generation tokens
	MinTokens     int        // free text does not end before so many
	ShowSpecial   bool       // free text has the spelling of special tokens
	Seeded        bool
	given         []string // the SamplingFields that were given
	Stop          []string
	N             int
	Stream        bool
	Adapters      []AdapterScale // nil: the server's setting
	Place         *int           // where the text can be saved from; nil: anywhere
	Progress      bool           // stream events that report the progress of the prefill
	Logprobs      bool
	TopLogprobs   int
	PromptSchema  string // auto, always, never
	Reasoning     bool   // the model reasons before it answers
	NoThoughts    bool   // no reasoning, even if the model reasons by default
	ThinkTokens   int    // reasoning budget; 0: none of its own
	ThinkOver     string // the text that ends reasoning over its budget
	Forced        bool
	OnBudget      string // close, truncate
	Deterministic bool
	CachePrompt   bool           // reuse the prefix cache
	Timeout       time.Duration  // 0: the server's timeout
	RetryMax      *int           // re-asks after an invalid answer; nil: the server's setting
	KeepAlive     *time.Duration // nil: the configured time
	Signals       *Signals       // nil: no signals

	Constraint Constraint
	Warnings   []string
}

// New returns a request with the defaults that all dialects share.
func New() *Request {
	return &Request{N: 1, PromptSchema: "auto", Forced: true, CachePrompt: true, OnBudget: "close", Constraint: DefaultConstraint(), MaxToolCalls: DefaultToolCalls}
}

// Unlimited is the MaxTokens of a request that may use the rest of the context.
const Unlimited = -1

// Limits of single fields. They are far above normal use and keep one request from exhausting the
// server's memory.
const (
	MaxChoices = 128
	// DefaultToolCalls is the default of MaxToolCalls: more than normal use needs, and low enough to
	// stop a model that never stops calling.
	DefaultToolCalls = 16
	maxStops         = 128 // SillyTavern's are the names of a group
	maxStopBytes     = 256
	MaxTopLogprobs   = 20
	MaxTokensLimit   = 1 << 24
	maxBiases        = 4096
	MaxRetries       = 16
)

// SamplingFields are the fields that ReadSampling reads, in every dialect.
var SamplingFields = append([]string{
	"temperature", "top_p", "top_k", "min_p", "typical_p", "repeat_penalty", "repeat_last_n", "presence_penalty", "frequency_penalty",
	"logit_bias", "seed",
}, chainFields...)

// OwnFields are fields of this server that every dialect accepts.
var OwnFields = []string{"prompt_schema", "forced", "on_budget", "deterministic", "keep_alive", "timeout", "reasoning", "thinking", "retry_max", "signals", "cache_prompt", "tool_forms", "tool_confidence", "call_confidence", "repeat_calls", "max_tool_calls", "lora", "id_slot"}

// Efforts are the levels of reasoning effort.
var Efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// constrainedFields are the own fields that control constrained generation. json_mode accepts them too.
var constrainedFields = []string{"prompt_schema", "forced", "on_budget", "deterministic", "timeout", "retry_max"}

// ReadOwn reads OwnFields.
func (q *Request) ReadOwn(o *wire.Object) error {
	for _, err := range []error{
		q.readConstrained(o),
		q.readMode(o),
		o.Boolean("cache_prompt", &q.CachePrompt),
		o.KeepAlive("keep_alive", &q.KeepAlive),
		o.OneOf("tool_forms", &q.ToolForms, "any", "own"),
		q.readConfidence(o),
		o.Boolean("repeat_calls", &q.RepeatCalls),
		o.Integer("max_tool_calls", &q.MaxToolCalls, 1, MaxTokensLimit),
		q.readAdapters(o),
		q.readPlace(o),
		q.readReasoning(o),
		q.readThinking(o),
		q.ReadSignals(o),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// readMode reads the constrainedFields inside json_mode; its other members belong to the constraint.
func (q *Request) readMode(o *wire.Object) error {
	if !o.Given("json_mode") || o.Members["json_mode"][0] != '{' {
		return nil
	}
	in, err := o.Child("json_mode")
	if err != nil {
		return err
	}
	for _, name := range constrainedFields {
		if in.Given(name) && o.Given(name) {
			return wire.Invalid(in.Path+name, "%s is given both in json_mode and beside it", name)
		}
	}
	return q.readConstrained(in)
}

func (q *Request) readConstrained(o *wire.Object) error {
	seconds, retries := float32(0), 0
	for _, err := range []error{
		o.OneOf("prompt_schema", &q.PromptSchema, "auto", "always", "never"),
		o.Boolean("forced", &q.Forced),
		o.OneOf("on_budget", &q.OnBudget, "close", "truncate"),
		o.Boolean("deterministic", &q.Deterministic),
		o.Number("timeout", &seconds),
		o.Integer("retry_max", &retries, 0, MaxRetries),
	} {
		if err != nil {
			return err
		}
	}
	if o.Given("retry_max") {
		q.RetryMax = &retries
	}
	if o.Given("timeout") {
		if !(seconds > 0 && seconds <= wire.MaxTimeout) {
			return wire.Invalid(o.Path+"timeout", "%stimeout must be between 0 and %d seconds, not %s", o.Path, wire.MaxTimeout, wire.Sketch(o.Members["timeout"]))
		}
		q.Timeout = time.Duration(float64(seconds) * float64(time.Second))
	}
	return nil
}

// An AdapterScale sets the strength of one of a model's adapters, numbered from 0.
type AdapterScale struct {
	ID    int
	Scale float32
}

func (q *Request) readAdapters(o *wire.Object) (err error) {
	if o.Given("lora") && !wire.OffValue(o.Members["lora"]) {
		q.Adapters, err = ReadAdapters(o, "lora")
	}
	return err
}

// DefaultCallLeast is how sure a model must be, as in [engine.Doubt], of a call in another form
// than its own. bench/RESULTS.md has what was tried.
const DefaultCallLeast = 0.78

// LeastCall returns CallLeast or its default.
func (q *Request) LeastCall() float32 {
	if q.CallLeast != nil {
		return *q.CallLeast
	}
	return DefaultCallLeast
}

func (q *Request) readConfidence(o *wire.Object) (err error) {
	if q.ToolLeast, err = readProbability(o, "tool_confidence"); err != nil {
		return err
	}
	q.CallLeast, err = readProbability(o, "call_confidence")
	return err
}

// readProbability returns nil for a member that is not given.
func readProbability(o *wire.Object, name string) (*float32, error) {
	if !o.Given(name) {
		return nil, nil
	}
	var p float32
	if err := o.Number(name, &p); err != nil {
		return nil, err
	}
	if !probability(p) {
		return nil, wire.Invalid(name, "%s must be between 0 and 1, not %s", name, wire.Sketch(o.Members[name]))
	}
	return &p, nil
}

func probability(p float32) bool { return p >= 0 && p <= 1 }

// readPlace reads the number of a place; -1 is for any.
func (q *Request) readPlace(o *wire.Object) error {
	place := -1
	if err := o.Integer("id_slot", &place, -1, math.MaxInt32); err != nil {
		return err
	}
	if place >= 0 {
		q.Place = &place
	}
	return nil
}

// ReadAdapters reads a list of adapters and their scales.
func ReadAdapters(o *wire.Object, name string) ([]AdapterScale, error) {
	list, err := o.List(name)
	out := make([]AdapterScale, 0, len(list))
	for _, one := range list {
		var a AdapterScale
		for _, err := range []error{one.Only("id", "scale"), one.Integer("id", &a.ID, 0, math.MaxInt32), one.Number("scale", &a.Scale)} {
			if err != nil {
				return nil, err
			}
		}
		for _, field := range []string{"id", "scale"} {
			if !one.Given(field) {
				return nil, wire.Invalid(one.Path+field, "%s%s is missing", one.Path, field)
			}
		}
		out = append(out, a)
	}
	return out, err
}

// Scales returns the scale of each of a model's n adapters, 0 for adapters not in the list.
func Scales(list []AdapterScale, n int) ([]float32, error) {
	out := make([]float32, n)
	for _, a := range list {
		if a.ID >= n {
			return nil, wire.Invalid("lora", "lora names the adapter %d; the model has %d, and the server's flag --lora adds some", a.ID, n)
		}
		out[a.ID] = a.Scale
	}
	return out, nil
}

// readReasoning reads reasoning: true, false, or an object as in OpenAI's /v1/responses, with effort
// and budget.
func (q *Request) readReasoning(o *wire.Object) error {
	const name = "reasoning"
	if !o.Given(name) {
		return nil
	}
	if json.Unmarshal(o.Members[name], &q.Reasoning) == nil {
		if !q.Reasoning {
			q.Effort("none")
		}
	} else {
		in, err := o.Child(name)
		if err != nil {
			return o.WrongType(name, "true, false or an object")
		}
		effort, summary, context, mode := "", "", "", "standard"
		enabled, exclude := false, false
		for _, err := range []error{
			in.Only("effort", "summary", "generate_summary", "max_tokens", "context", "mode", "enabled", "exclude"),
			in.OneOf("effort", &effort, Efforts...),
			in.Str("summary", &summary),
			in.Integer("max_tokens", &q.ThinkTokens, 1, MaxTokensLimit),
			in.OneOf("context", &context, "auto", "current_turn", "all_turns"),
			in.OneOf("mode", &mode, "standard", "pro"),
			in.Boolean("enabled", &enabled),
			in.Boolean("exclude", &exclude),
		} {
			if err != nil {
				return err
			}
		}
		if effort != "" {
			q.Effort(effort)
		}
		q.Reasoning = q.ThinkTokens > 0 || enabled
		switch {
		case in.Given("enabled") && !enabled:
			q.Reasoning, q.ThinkTokens = false, 0
			q.Effort("none")
		case mode != "standard":
			return wire.NotOffered(in.Path+"mode", fmt.Sprintf("%smode %q", in.Path, mode))
		case exclude:
			return wire.NotOffered(in.Path+"exclude", in.Path+"exclude: true")
		case context == "all_turns":
			return wire.NotOffered(in.Path+"context", fmt.Sprintf("%scontext %q", in.Path, context))
		}
	}
	return nil
}

// readThinking reads thinking, Anthropic's and DeepSeek's form of reasoning: {"type": "enabled", "budget_tokens": n}. Clients send
// it to every path that generates text.
func (q *Request) readThinking(o *wire.Object) error {
	t, err := o.Child("thinking")
	if t == nil || err != nil {
		return err
	}
	kind, budget, display, clear := "", 0, "", false
	for _, err := range []error{
		t.Only("type", "budget_tokens", "display", "block_binding", "clear_thinking"),
		t.OneOf("type", &kind, "enabled", "disabled", "adaptive", "auto", "between_tools"),
		t.Integer("budget_tokens", &budget, 1, MaxTokensLimit),
		t.Str("display", &display),
		t.Boolean("clear_thinking", &clear),
	} {
		if err != nil {
			return err
		}
	}
	if t.Given("clear_thinking") {
		q.Variable("clear_thinking", clear) // of GLM's template
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

// Default sampling options: llama.cpp's for dialects whose specification has none, and no truncation
// for those whose specification has none.
var (
	LlamaSampling = sampling.Options{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05, RepeatPenalty: 1}
	PlainSampling = sampling.Options{Temperature: 1, RepeatPenalty: 1}
)

// ReadSampling reads SamplingFields.
func (q *Request) ReadSampling(o *wire.Object, defaults sampling.Options) error {
	s := &q.Sampling
	*s = defaults
	topP, minP, typical, repeat := s.TopP, s.MinP, s.TypicalP, s.RepeatPenalty
	for _, err := range []error{
		o.Number("temperature", &s.Temperature),
		o.Number("top_p", &topP),
		o.Integer("top_k", &s.TopK, -1, math.MaxInt32), // vLLM uses -1 for all
		o.Number("min_p", &minP),
		o.Number("typical_p", &typical),
		o.Number("repeat_penalty", &repeat),
		o.Integer("repeat_last_n", &s.RepeatLastN, -1, math.MaxInt32),
		o.Number("presence_penalty", &s.PresencePenalty),
		o.Number("frequency_penalty", &s.FrequencyPenalty),
		o.Seed("seed", &s.Seed),
	} {
		if err != nil {
			return err
		}
	}
	q.Seeded, q.given = o.Given("seed"), nil
	for _, name := range SamplingFields {
		if o.Given(name) || name == "repeat_penalty" && o.Given("repetition_penalty") {
			q.given = append(q.given, name)
		}
	}
	s.TopK = max(s.TopK, 0)
	// 0 turns a sampler off, but in a request it is the literal value.
	if o.Given("top_p") && topP == 0 {
		topP = math.SmallestNonzeroFloat32
	}
	if o.Given("typical_p") && typical == 0 {
		typical = math.SmallestNonzeroFloat32
	}
	if o.Given("repeat_penalty") && repeat <= 0 {
		return wire.Invalid("repeat_penalty", "repeat_penalty must be greater than 0, not %s", wire.Sketch(o.Members["repeat_penalty"]))
	}
	s.TopP, s.MinP, s.TypicalP, s.RepeatPenalty = topP, minP, typical, repeat
	if err := q.readChain(o); err != nil {
		return err
	}
	return q.readBias(o)
}

// CheckTemperature refuses a temperature above a dialect's maximum.
func (q *Request) CheckTemperature(o *wire.Object, most float32) error {
	if t := q.Sampling.Temperature; t > most {
		return wire.Invalid(o.Path+"temperature", "%stemperature must be between 0 and %g, not %g", o.Path, most, t)
	}
	return nil
}

// ReadStop reads stop sequences: a string, or a list.
func (q *Request) ReadStop(o *wire.Object, name string) error {
	if !o.Given(name) {
		return nil
	}
	raw := o.Members[name]
	var one string
	if json.Unmarshal(raw, &one) == nil {
		q.Stop = []string{one}
	} else if json.Unmarshal(raw, &q.Stop) != nil || wire.HasNull(raw) {
		return o.WrongType(name, "a string or an array of strings")
	}
	if len(q.Stop) > maxStops {
		return wire.Invalid(o.Path+name, "%s must have at most %d strings, not %d", o.Path+name, maxStops, len(q.Stop))
	}
	for _, s := range q.Stop {
		if s == "" || len(s) > maxStopBytes {
			return wire.Invalid(o.Path+name, "every stop string must have between 1 and %d bytes, not %d", maxStopBytes, len(s))
		}
	}
	return nil
}
