package llamacpp

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// settings are those of a text, under llama-server's names. Unsupported options have the value that means off.
type settings struct {
	Seed             uint64         `json:"seed"`
	Temperature      float32        `json:"temperature"`
	DynatempRange    float32        `json:"dynatemp_range"`
	DynatempExponent float32        `json:"dynatemp_exponent"`
	TopK             int            `json:"top_k"`
	TopP             float32        `json:"top_p"`
	MinP             float32        `json:"min_p"`
	TopNSigma        float32        `json:"top_n_sigma"`
	XTCProbability   float32        `json:"xtc_probability"`
	XTCThreshold     float32        `json:"xtc_threshold"`
	TypicalP         float32        `json:"typical_p"`
	RepeatLastN      int            `json:"repeat_last_n"`
	RepeatPenalty    float32        `json:"repeat_penalty"`
	PresencePenalty  float32        `json:"presence_penalty"`
	FrequencyPenalty float32        `json:"frequency_penalty"`
	DRYMultiplier    float32        `json:"dry_multiplier"`
	DRYBase          float32        `json:"dry_base"`
	DRYAllowed       int            `json:"dry_allowed_length"`
	DRYLastN         int            `json:"dry_penalty_last_n"`
	DRYBreakers      []string       `json:"dry_sequence_breakers"`
	Mirostat         int            `json:"mirostat"`
	MirostatTau      float32        `json:"mirostat_tau"`
	MirostatEta      float32        `json:"mirostat_eta"`
	AdaptiveTarget   float32        `json:"adaptive_target"`
	AdaptiveDecay    float32        `json:"adaptive_decay"`
	Stop             []string       `json:"stop"`
	MaxTokens        int            `json:"max_tokens"`
	Predict          int            `json:"n_predict"` // the same; -1: no limit
	Keep             int            `json:"n_keep"`
	Discard          int            `json:"n_discard"`
	IgnoreEOS        bool           `json:"ignore_eos"`
	Stream           bool           `json:"stream"`
	LogitBias        []biasReply    `json:"logit_bias"`
	Probs            int            `json:"n_probs"`
	MinKeep          int            `json:"min_keep"`
	Grammar          string         `json:"grammar"`
	Samplers         []string       `json:"samplers"`
	TimingsPerToken  bool           `json:"timings_per_token"`
	PostSampling     bool           `json:"post_sampling_probs"`
	LoRA             []adapterReply `json:"lora"`
}

// A biasReply is a token's bias; null means that it is never sampled.
type biasReply struct {
	Token int32    `json:"token"`
	Bias  *float32 `json:"bias"`
}

// settingsOf returns the settings of a sampler.
func settingsOf(o sampling.Options, limit int) settings {
	o = o.Normal()
	steps := o.Steps
	if steps == nil {
		steps = sampling.DefaultSteps
	}
	samplers := []string{}
	for _, step := range steps {
		samplers = append(samplers, request.StepName(step))
	}
	return settings{
		Seed: o.Seed, Temperature: o.Temperature, DynatempRange: o.DynatempRange, DynatempExponent: o.DynatempExponent, TopK: o.TopK, TopP: o.TopP, MinP: o.MinP, TopNSigma: o.TopNSigma,
		XTCProbability: o.XTCProbability, XTCThreshold: o.XTCThreshold, TypicalP: o.TypicalP,
		RepeatLastN: o.RepeatLastN, RepeatPenalty: o.RepeatPenalty, PresencePenalty: o.PresencePenalty, FrequencyPenalty: o.FrequencyPenalty,
		DRYMultiplier: o.DRYMultiplier, DRYBase: o.DRYBase, DRYAllowed: o.DRYAllowedLength, DRYLastN: o.DRYLastN, DRYBreakers: request.DefaultBreakers,
		Mirostat: o.Mirostat, MirostatTau: o.MirostatTau, MirostatEta: o.MirostatEta, AdaptiveTarget: -1, AdaptiveDecay: 0.9,
		Stop: []string{}, MaxTokens: limit, Predict: limit, LogitBias: []biasReply{}, Samplers: samplers, LoRA: []adapterReply{},
	}
}

// settings returns the settings of a request's text.
func (q *completionRequest) settings(g *generation.Generation) settings {
	limit := g.Job.MaxTokens
	if limit == 0 {
		limit = -1
	}
	out := settingsOf(g.Job.Sampling, limit)
	out.Stop = append(out.Stop, q.Stop...)
	out.Stream, out.Probs, out.TimingsPerToken, out.PostSampling = q.Stream, q.probs, q.timings, q.post
	out.chosen(g.Request, g.Job.Sampling.LogitBias)
	if q.Constraint.Kind == "grammar" {
		out.Grammar = q.Constraint.Text
	}
	for id, scale := range g.Job.Adapters {
		out.LoRA = append(out.LoRA, adapterReply{ID: id, Scale: scale})
	}
	return out
}

// chosen sets what a sampler's options don't hold.
func (s *settings) chosen(q *request.Request, biases []sampling.Bias) {
	s.IgnoreEOS = q.IgnoreEnd
	if q.Breakers != nil {
		s.DRYBreakers = q.Breakers
	}
	for _, b := range biases {
		one := biasReply{Token: b.Token}
		if !math.IsInf(float64(b.Add), -1) {
			one.Bias = &b.Add
		}
		s.LogitBias = append(s.LogitBias, one)
	}
}

// pick returns an answer with only the fields that a request asks for. "a/b" is the member b of a; unknown fields are
// omitted.
func (q *completionRequest) pick(reply completionReply) (any, error) {
	if len(q.fields) == 0 {
		return reply, nil
	}
	raw, err := wire.Marshal(reply)
	if err != nil {
		return nil, err
	}
	var whole any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&whole); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, field := range q.fields {
		value, there := whole, true
		for _, name := range strings.Split(field, "/") {
			members, _ := value.(map[string]any)
			if value, there = members[name]; !there {
				break
			}
		}
		if there {
			out[field] = value
		}
	}
	return out, nil
}

// until returns a function that ends a text early, nil if nothing does: before a line that is indented less than
// n_indent and, after the first line, at the end of t_max_predict_ms.
func (q *completionRequest) until() func() func([]byte) (int, bool) {
	if q.indent == 0 && q.limit == 0 {
		return nil
	}
	return func() func([]byte) (int, bool) {
		var start time.Time
		lines, line := false, -1 // whether a line has ended, and the start of the line being measured
		seen := 0
		return func(text []byte) (int, bool) {
			if start.IsZero() {
				start = time.Now()
			}
			for ; seen < len(text); seen++ {
				switch c := text[seen]; {
				case c == '\n':
					lines, line = true, seen+1
				case line < 0 || c == ' ' || c == '\t':
				case q.indent > 0 && seen-line < q.indent:
					return line, true
				default:
					line = -1
				}
			}
			return len(text), lines && q.limit > 0 && time.Since(start) > q.limit
		}
	}
}
