package llamacpp

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// names are the fields of POST /completion.
var names = wire.Names{
	Known: slices.Concat([]string{
		"model", "prompt", "n_predict", "max_tokens", "max_completion_tokens", "max_new_tokens", "num_predict", "stop", "n", "n_cmpl", "stream", "n_probs", "logprobs", "post_sampling_probs",
		"return_tokens", "timings_per_token", "return_progress", "response_fields", "t_max_predict_ms", "n_indent", "verbose",
	}, request.SamplingFields, request.OwnFields),
	Constraint: request.ConstraintAliases,
	// n_cache_reuse is a hint about caching; here, prefixes are found wherever they are cached. Contexts don't shift,
	// so n_keep and n_discard have no effect. SillyTavern sends num_ctx to every kind of server.
	Harmless: slices.Concat(wire.HarmlessFields, []string{
		"n_keep", "n_discard", "n_cache_reuse", "sse_ping_interval", "backend_sampling", "speculative.n_max", "speculative.n_min", "speculative.p_min",
		"preserved_tokens", "stream_options", "t_max_prompt_ms", "num_ctx",
	}),
	Refused: []string{
		"messages", "tools", "tool_choice", "grammar_lazy", "grammar_triggers", "min_keep", "suffix", "echo", "best_of",
		"adaptive_target", "reasoning_budget_tokens", "thinking_budget_tokens", "image_data", "multimodal_data",
	},
}

// bounds are the ranges to which sampler options are clamped.
var bounds = []struct {
	name        string
	least, most float64
}{
	{"temperature", 0, 100}, {"top_p", 0, 1}, {"min_p", 0, 1}, {"typical_p", 0, 1}, {"top_k", -1, math.MaxInt32},
	{"repeat_last_n", -1, math.MaxInt32}, {"presence_penalty", -100, 100}, {"frequency_penalty", -100, 100},
	{"xtc_probability", 0, 1}, {"xtc_threshold", 0, 1}, {"dynatemp_range", 0, 100}, {"dynatemp_exponent", 0, 100}, {"mirostat", 0, 2}, {"mirostat_tau", 0, 100}, {"mirostat_eta", 0, 10},
	{"dry_multiplier", 0, 100}, {"dry_base", 0, 100}, {"dry_allowed_length", 0, math.MaxInt32}, {"dry_penalty_last_n", -1, math.MaxInt32}, {"top_n_sigma", -1, 1e6},
}

// A completionRequest is the body of POST /completion.
type completionRequest struct {
	*request.Request
	prompts      []prompt
	many         bool // the answer is a list
	probs        int  // alternatives per token; 0: no probabilities
	post         bool // probabilities after the sampler's truncations
	returnTokens bool
	timings      bool // timings in every event of a stream
	fields       []string
	limit        time.Duration // time limit of generation after the first line; 0: none
	indent       int           // the text ends before a line that is indented less
	verbose      bool
}

// A prompt is a sequence of texts and tokens.
type prompt []promptPart

type promptPart struct {
	text   string
	tokens []int32 // nil: the text
}

// readCompletion decodes a body.
func readCompletion(o *wire.Object) (*completionRequest, error) {
	q := &completionRequest{Request: request.New()}
	clamped := clamp(o)
	var err error
	if q.Constraint, err = request.ReadAliases(o); err != nil {
		return nil, err
	}
	if q.Warnings, err = names.Check(o); err != nil {
		return nil, err
	}
	q.Warnings = append(clamped, q.Warnings...)
	milliseconds := 0
	for _, read := range []func() error{
		func() error { return q.ReadModel(o) },
		func() error { return q.ReadSampling(o, request.LlamaSampling) },
		func() error { return q.ReadStop(o, "stop") },
		func() error { return q.readBudget(o) },
		func() error { return o.Integer("n_cmpl", &q.N, 1, request.MaxChoices) },
		func() error { return o.Integer("n", &q.N, 1, request.MaxChoices) },
		func() error { return o.Boolean("stream", &q.Stream) },
		func() error { return q.readProbs(o) },
		func() error { return o.Boolean("return_tokens", &q.returnTokens) },
		func() error { return o.Boolean("timings_per_token", &q.timings) },
		func() error { return o.Boolean("return_progress", &q.Progress) },
		func() error { return o.Decode("response_fields", &q.fields, "an array of strings") },
		func() error { return o.Integer("t_max_predict_ms", &milliseconds, -1, wire.MaxTimeout*1000) },
		func() error { return o.Integer("n_indent", &q.indent, 0, math.MaxInt32) },
		func() error { return o.Boolean("verbose", &q.verbose) },
		func() error { return q.ReadOwn(o) },
		func() error { return q.readPrompts(o) },
		func() error { return q.CheckOptions(o) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	q.limit = time.Duration(max(milliseconds, 0)) * time.Millisecond
	if s := o.Members["seed"]; string(s) == "-1" || string(s) == strconv.FormatUint(math.MaxUint32, 10) {
		q.Seeded = false // llama.cpp's for a random one
	}
	return q, nil
}

// clamp clamps sampler options to their ranges and returns warnings. Values that are not numbers are refused
// elsewhere.
func clamp(o *wire.Object) (warnings []string) {
	for _, b := range bounds {
		var v float64
		if !o.Given(b.name) || json.Unmarshal(o.Members[b.name], &v) != nil {
			continue
		}
		if in := min(max(v, b.least), b.most); in != v {
			warnings = append(warnings, fmt.Sprintf("%s must be between %g and %g; %g was used instead of %s", b.name, b.least, b.most, in, wire.Sketch(o.Members[b.name])))
			o.Members[b.name] = json.RawMessage(strconv.FormatFloat(in, 'f', -1, 64))
		}
	}
	return warnings
}

// readBudget reads the token budget: -1 means up to the end of the context.
func (q *completionRequest) readBudget(o *wire.Object) error {
	for _, name := range []string{"num_predict", "max_new_tokens", "max_completion_tokens", "max_tokens", "n_predict"} {
		n := 0
		if err := o.Integer(name, &n, math.MinInt32, request.MaxTokensLimit); err != nil {
			return err
		}
		switch {
		case !o.Given(name):
		case n < 0:
			q.MaxTokens = request.Unlimited
		case n == 0:
			q.MaxTokens = 1
			q.Warnings = append(q.Warnings, name+" must be at least 1; 1 was used instead of 0")
		default:
			q.MaxTokens = n
		}
	}
	return nil
}

// maxProbs is the largest number of alternatives per token.
const maxProbs = 100

func (q *completionRequest) readProbs(o *wire.Object) error {
	for _, name := range []string{"logprobs", "n_probs"} {
		if !o.Given(name) {
			continue
		}
		if string(o.Members[name]) == "false" {
			continue
		}
		if err := o.Integer(name, &q.probs, 0, math.MaxInt32); err != nil {
			return err
		}
	}
	if q.probs > maxProbs {
		q.Warnings = append(q.Warnings, fmt.Sprintf("n_probs must be at most %d; this was used instead of %d", maxProbs, q.probs))
		q.probs = maxProbs
	}
	q.TopLogprobs, q.Logprobs = q.probs, true // answers report on every token
	if err := o.Boolean("post_sampling_probs", &q.post); err != nil {
		return err
	}
	q.Sampling.Keep = q.post && q.probs > 0
	return nil
}

const promptForms = `a string, an array of strings and token numbers, an object with "prompt_string", or an array of these`

// maxPrompts is the largest number of prompts in a request.
const maxPrompts = 32

// readPrompts reads one prompt or several. A list that contains a number is one prompt.
func (q *completionRequest) readPrompts(o *wire.Object) error {
	if !o.Given("prompt") {
		return wire.Invalid("prompt", "prompt is missing")
	}
	raw := o.Members["prompt"]
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || slices.ContainsFunc(list, isNumber) {
		p, err := readPrompt(o, raw)
		q.prompts = []prompt{p}
		return err
	}
	if len(list) == 0 || len(list) > maxPrompts {
		return wire.Invalid("prompt", "prompt must have between 1 and %d entries, not %d", maxPrompts, len(list))
	}
	q.many = len(list) > 1
	for _, one := range list {
		p, err := readPrompt(o, one)
		if err != nil {
			return err
		}
		q.prompts = append(q.prompts, p)
	}
	return nil
}

func isNumber(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

func readPrompt(o *wire.Object, raw json.RawMessage) (prompt, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
		return prompt{{text: text}}, nil
	}
	if in, err := wire.ParseObject(raw, "prompt."); err == nil {
		if err := in.Only("prompt_string", "multimodal_data"); err != nil {
			return nil, err
		}
		if in.Given("multimodal_data") && !wire.OffValue(in.Members["multimodal_data"]) {
			return nil, wire.NotOffered("prompt.multimodal_data", "prompt.multimodal_data")
		}
		if !in.Given("prompt_string") {
			return nil, wire.Invalid("prompt.prompt_string", "prompt.prompt_string is missing")
		}
		err := in.Str("prompt_string", &text)
		return prompt{{text: text}}, err
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return nil, o.WrongType("prompt", promptForms)
	}
	var out prompt
	for _, one := range list {
		var id int32
		var part promptPart
		switch {
		case isNumber(one) && json.Unmarshal(one, &id) == nil:
			part.tokens = []int32{id}
		case json.Unmarshal(one, &part.text) == nil && string(one) != "null":
		default:
			return nil, o.WrongType("prompt", promptForms)
		}
		out = append(out, part)
	}
	return out, nil
}

// hasTokens reports whether a prompt is anything but a single text.
func (p prompt) hasTokens() bool { return len(p) != 1 || p[0].tokens != nil }

// fill sets the prompt of a request for a model.
func (p prompt) fill(ctx context.Context, q *request.Request, m *registry.Model) error {
	if !p.hasTokens() {
		q.Prompt = &p[0].text
		return nil
	}
	q.PromptTokens = []int32{}
	for i, part := range p {
		var err error
		switch {
		case part.tokens != nil:
			q.PromptTokens = append(q.PromptTokens, part.tokens...)
		case i == 0:
			q.PromptTokens, err = m.Prompts.Text(ctx, part.text)
		default:
			q.PromptTokens, err = m.Prompts.Append(ctx, q.PromptTokens, part.text, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
