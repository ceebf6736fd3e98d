package request

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/server/wire"
)

// chainFields are options of llama.cpp's less common samplers.
var chainFields = []string{
	"samplers", "top_n_sigma", "xtc_probability", "xtc_threshold", "dynatemp_range", "dynatemp_exponent", "mirostat", "mirostat_tau", "mirostat_eta",
	"dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers", "ignore_eos",
}

// stepNames are the names of steps in samplers, and their letters in its string form.
var stepNames = []struct {
	step   sampling.Step
	letter byte
	names  []string
}{
	{sampling.Penalties, 'e', []string{"penalties"}},
	{sampling.DRY, 'd', []string{"dry"}},
	{sampling.TopNSigma, 's', []string{"top_n_sigma", "top-n-sigma"}},
	{sampling.TopK, 'k', []string{"top_k", "top-k"}},
	{sampling.Typical, 'y', []string{"typ_p", "typical_p", "typical", "typical-p", "typ-p", "typ"}},
	{sampling.TopP, 'p', []string{"top_p", "top-p", "nucleus"}},
	{sampling.MinP, 'm', []string{"min_p", "min-p"}},
	{sampling.XTC, 'x', []string{"xtc"}},
	{sampling.Temperature, 't', []string{"temperature", "temp"}},
}

// leftOut are steps that clients name but that are ignored here: one that llama.cpp has removed, and those whose
// options are refused if given.
var leftOut = []string{"tfs_z", "tfs", "tail-free", "infill", "adaptive_p", "adaptive-p"}

// StepName returns the first name of a step.
func StepName(step sampling.Step) string {
	for _, s := range stepNames {
		if s.step == step {
			return s.names[0]
		}
	}
	return ""
}

// readChain reads chainFields.
func (q *Request) readChain(o *wire.Object) error {
	s := &q.Sampling
	if s.DynatempExponent == 0 {
		s.DynatempExponent, s.XTCThreshold, s.MirostatTau, s.MirostatEta, s.DRYBase, s.DRYAllowedLength, s.DRYLastN = 1, 0.1, 5, 0.1, 1.75, 2, -1
	}
	for _, err := range []error{
		o.Number("top_n_sigma", &s.TopNSigma),
		o.Number("xtc_probability", &s.XTCProbability),
		o.Number("xtc_threshold", &s.XTCThreshold),
		o.Number("dynatemp_range", &s.DynatempRange),
		o.Number("dynatemp_exponent", &s.DynatempExponent),
		o.Integer("mirostat", &s.Mirostat, 0, 2),
		o.Number("mirostat_tau", &s.MirostatTau),
		o.Number("mirostat_eta", &s.MirostatEta),
		o.Number("dry_multiplier", &s.DRYMultiplier),
		o.Number("dry_base", &s.DRYBase),
		o.Integer("dry_allowed_length", &s.DRYAllowedLength, 0, math.MaxInt32),
		o.Integer("dry_penalty_last_n", &s.DRYLastN, -1, math.MaxInt32),
		o.Boolean("ignore_eos", &q.IgnoreEnd),
		q.readBreakers(o),
		q.readSteps(o),
	} {
		if err != nil {
			return err
		}
	}
	s.TopNSigma = max(s.TopNSigma, -1) // any negative number means off
	return nil
}

// readBreakers reads the texts that end a repetition for DRY.
func (q *Request) readBreakers(o *wire.Object) error {
	const name, most = "dry_sequence_breakers", 64
	if !o.Given(name) {
		return nil
	}
	var list []string
	var text string // SillyTavern sends a list as a string of JSON
	if json.Unmarshal(o.Members[name], &text) == nil && json.Unmarshal([]byte(text), &list) != nil || text == "" && json.Unmarshal(o.Members[name], &list) != nil {
		return o.WrongType(name, "an array of strings")
	}
	if len(list) > most {
		return wire.Invalid(o.Path+name, "%s must have at most %d texts, not %d", o.Path+name, most, len(list))
	}
	for _, one := range list {
		if one == "" || len(one) > maxBiasText {
			return wire.Invalid(o.Path+name, "every text of %s must have between 1 and %d bytes, not %d", o.Path+name, maxBiasText, len(one))
		}
	}
	q.Breakers = list
	return nil
}

// readSteps reads the order of the steps: names, or a string of letters. An empty one is ignored.
func (q *Request) readSteps(o *wire.Object) error {
	const name = "samplers"
	if !o.Given(name) {
		return nil
	}
	var list []string
	var letters string
	if json.Unmarshal(o.Members[name], &letters) == nil {
		for i := range len(letters) {
			list = append(list, letters[i:i+1])
		}
	} else if json.Unmarshal(o.Members[name], &list) != nil {
		return o.WrongType(name, "an array of names, or a string of letters")
	}
	if len(list) == 0 {
		return nil
	}
	steps := []sampling.Step{}
	for _, one := range list {
		i := slices.IndexFunc(stepNames, func(s struct {
			step   sampling.Step
			letter byte
			names  []string
		}) bool {
			return slices.Contains(s.names, one) || letters != "" && one[0] == s.letter
		})
		switch {
		case i >= 0 && !slices.Contains(steps, stepNames[i].step):
			steps = append(steps, stepNames[i].step)
		case i >= 0:
		case slices.Contains(leftOut, one) || letters != "" && one == "i":
			q.Warnings = append(q.Warnings, fmt.Sprintf("the sampler %s is not supported and was ignored", wire.Sketch(json.RawMessage(one))))
		default:
			var known []string
			for _, s := range stepNames {
				known = append(known, s.names[0])
			}
			return wire.Invalid(o.Path+name, "there is no sampler %.40q; there are %s", one, wire.QuotedList(known))
		}
	}
	if !slices.Equal(steps, sampling.DefaultSteps) {
		q.Sampling.Steps = steps
	}
	return nil
}

// DefaultBreakers are the breakers of requests that give none.
var DefaultBreakers = []string{"\n", ":", "\"", "*"}
