package sampling

import (
	"fmt"
	"math"
	"slices"
)

// Options configures how tokens are drawn. The zero value is greedy: it always
// draws the likeliest allowed token.
type Options struct {
	Temperature float32 // below MinTemperature: greedy
	TopK        int     // keep the k likeliest tokens; 0: all
	TopP        float32 // keep the likeliest tokens that hold this share; 0 or 1: all
	MinP        float32 // drop tokens less likely than this times the likeliest; 0: none
	TypicalP    float32 // keep the tokens nearest to the expected surprise that hold this share; 0 or 1: all

	RepeatPenalty    float32 // divides positive and multiplies negative logits of recent tokens; 0 or 1: off
	RepeatLastN      int     // number of latest tokens that count, prompt included; 0: DefaultRepeatLastN; -1: all
	PresencePenalty  float32 // subtracted from the logit of every token generated before
	FrequencyPenalty float32 // subtracted once for each time the token was generated

	// The following options need the slower path; see Step.
	Steps            []Step   // the steps to apply, in this order; nil: DefaultSteps
	TopNSigma        float32  // keep logits within this many standard deviations of the largest; 0 or less: all
	XTCProbability   float32  // in this share of the steps, drop all likely tokens except the least likely of them; 0: never
	XTCThreshold     float32  // probability from which a token is likely; above 0.5: off
	DynatempRange    float32  // how far the entropy raises or lowers the temperature; 0: not at all
	DynatempExponent float32  // exponent of the normalised entropy for that
	Mirostat         int      // 1, 2: version that keeps the text's surprise near MirostatTau, instead of the truncations; 0: off
	MirostatTau      float32  // target surprise in bits
	MirostatEta      float32  // rate at which the surprise is corrected
	DRYMultiplier    float32  // penalty of tokens that continue a repetition; 0: off
	DRYBase          float32  // growth of the penalty with each token of the repetition; below 1: off
	DRYAllowedLength int      // repetitions shorter than this have no penalty
	DRYLastN         int      // number of latest tokens to search; negative: all
	DRYBreakers      TokenSet // tokens that no repetition extends across
	Keep             bool     // record what Sampler.Kept returns

	LogitBias []Bias // added to the logits first; -Inf forbids a token
	Seed      uint64
}

// DefaultRepeatLastN is the window of the repetition penalty when
// Options.RepeatLastN is 0. It is llama.cpp's and Ollama's default.
const DefaultRepeatLastN = 64

// MinTemperature is the lowest temperature at which anything but the likeliest
// token is drawn. Below it the differences between logits, divided by the
// temperature, are so large that only exact ties would be left to chance, and
// further down 1/temperature is infinite.
const MinTemperature = 1e-5

// A Bias is added to the logit of one token.
type Bias struct {
	Token int32
	Add   float32
}

// An OptionError reports which option is out of range, by its name in requests.
type OptionError struct {
	Option string // for example "top_p"
	Reason string // for example "must be between 0 and 1, got 1.5"
}

// Error implements error.
func (e *OptionError) Error() string { return "sampling: " + e.Option + " " + e.Reason }

// Validate reports the first option that is out of range for a vocabulary of
// n tokens, as an *OptionError.
func (o Options) Validate(n int) error {
	ranged := []struct {
		name     string
		v        float32
		min, max float32
	}{
		{"temperature", o.Temperature, 0, 100},
		{"top_p", o.TopP, 0, 1},
		{"min_p", o.MinP, 0, 1},
		{"typical_p", o.TypicalP, 0, 1},
		{"repeat_penalty", o.RepeatPenalty, 0, 100},
		{"presence_penalty", o.PresencePenalty, -100, 100},
		{"frequency_penalty", o.FrequencyPenalty, -100, 100},
		{"top_n_sigma", o.TopNSigma, -1, 1e6},
		{"xtc_probability", o.XTCProbability, 0, 1},
		{"xtc_threshold", o.XTCThreshold, 0, 1},
		{"dynatemp_range", o.DynatempRange, 0, 100},
		{"dynatemp_exponent", o.DynatempExponent, 0, 100},
		{"mirostat", float32(o.Mirostat), 0, 2},
		{"mirostat_tau", o.MirostatTau, 0, 100},
		{"mirostat_eta", o.MirostatEta, 0, 10},
		{"dry_multiplier", o.DRYMultiplier, 0, 100},
		{"dry_base", o.DRYBase, 0, 100},
	}
	for _, r := range ranged {
		// Written so that NaN fails as well.
		if !(r.v >= r.min && r.v <= r.max) {
			return &OptionError{r.name, fmt.Sprintf("must be between %g and %g, got %g", r.min, r.max, r.v)}
		}
	}
	if o.TopK < 0 {
		return &OptionError{"top_k", fmt.Sprintf("must not be negative, got %d", o.TopK)}
	}
	for i, step := range o.Steps {
		if slices.Contains(o.Steps[:i], step) {
			return &OptionError{"samplers", "must name each step once"}
		}
	}
	if o.DRYAllowedLength < 0 {
		return &OptionError{"dry_allowed_length", fmt.Sprintf("must not be negative, got %d", o.DRYAllowedLength)}
	}
	if o.RepeatLastN < -1 {
		return &OptionError{"repeat_last_n", fmt.Sprintf("must be -1 or more, got %d", o.RepeatLastN)}
	}
	for _, b := range o.LogitBias {
		if b.Token < 0 || int(b.Token) >= n {
			return &OptionError{"logit_bias", fmt.Sprintf("names token %d, the vocabulary ends at %d", b.Token, n-1)}
		}
		if b.Add != b.Add || math.IsInf(float64(b.Add), 1) {
			return &OptionError{"logit_bias", fmt.Sprintf("of token %d must be a finite number or -infinity", b.Token)}
		}
	}
	return nil
}

// Normal returns o in a canonical form: one value for every way to turn an
// option off, and biases sorted by token and added up.
func (o Options) Normal() Options {
	if o.Temperature < MinTemperature {
		o.Temperature = 0
	}
	if o.TopP == 0 {
		o.TopP = 1
	}
	if o.Steps != nil && !slices.Contains(o.Steps, Temperature) && o.Mirostat == 0 {
		o.Temperature, o.DynatempRange = 1, 0 // without the temperature step nothing is greedy
	}
	if o.TypicalP == 0 {
		o.TypicalP = 1
	}
	if o.RepeatPenalty == 0 {
		o.RepeatPenalty = 1
	}
	if o.RepeatLastN == 0 {
		o.RepeatLastN = DefaultRepeatLastN
	}
	bias := slices.Clone(o.LogitBias)
	slices.SortStableFunc(bias, func(a, b Bias) int { return int(a.Token) - int(b.Token) })
	o.LogitBias = bias[:0]
	for _, b := range bias {
		if n := len(o.LogitBias); n > 0 && o.LogitBias[n-1].Token == b.Token {
			o.LogitBias[n-1].Add += b.Add
			continue
		}
		o.LogitBias = append(o.LogitBias, b)
	}
	return o
}

func (o Options) penalises() bool {
	return o.RepeatPenalty != 1 || o.PresencePenalty != 0 || o.FrequencyPenalty != 0
}
