package request

import (
	"encoding/json"
	"strings"

	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/server/wire"
)

// Signals request that a model assess its own answer.
type Signals struct {
	Mode    signals.Mode
	Samples int // samples generated for one answer, to measure their agreement
	Weights signals.Weights
}

// maxSamples is the largest number of samples of an answer; all pairs are
// compared.
const maxSamples = 16

// ReadSignals reads signals: true or false, or an object.
func (q *Request) ReadSignals(o *wire.Object) error {
	const name = "signals"
	if !o.Given(name) {
		return nil
	}
	f := &Signals{Mode: signals.Full, Samples: 1, Weights: signals.DefaultWeights()}
	var wanted bool
	if json.Unmarshal(o.Members[name], &wanted) == nil {
		if wanted {
			q.Signals = f
		}
		return nil
	}
	in, err := o.Child(name)
	if err != nil {
		return o.WrongType(name, "true, false or an object")
	}
	mode := string(f.Mode)
	for _, err := range []error{
		in.Only("instruction", "samples", "weights"),
		in.OneOf("instruction", &mode, string(signals.Full), string(signals.Compact)),
		in.Integer("samples", &f.Samples, 1, maxSamples),
		f.ReadWeights(in),
	} {
		if err != nil {
			return err
		}
	}
	f.Mode = signals.Mode(mode)
	q.Signals = f
	return nil
}

// ReadWeights reads weights; omitted ones keep their default.
func (f *Signals) ReadWeights(in *wire.Object) error {
	w, err := in.Child("weights")
	if w == nil || err != nil {
		return err
	}
	to := map[string]*float64{
		"own": &f.Weights.Own, "population": &f.Weights.Population, "calibration": &f.Weights.Calibration, "surprise": &f.Weights.Surprise,
	}
	if err := w.Only("own", "population", "calibration", "surprise"); err != nil {
		return err
	}
	for _, name := range w.Names {
		if err := w.Decode(name, to[name], "a number"); err != nil {
			return err
		}
	}
	if err := f.Weights.Check(); err != nil {
		return wire.Invalid(in.Path+"weights", "%sweights: %s", in.Path, strings.TrimPrefix(err.Error(), "signals: "))
	}
	return nil
}

// CheckSignals reports what in a request is incompatible with signals: an error,
// or a warning added to the request.
func (q *Request) CheckSignals() error {
	const param = "signals.samples"
	f := q.Signals
	if f != nil && q.Stream && q.N > 1 {
		q.Warnings = append(q.Warnings, "in a stream it is not known how far the texts agree")
	}
	if f != nil && !q.Stream && q.N > 1 && q.Sampling.Temperature <= 0 {
		q.Warnings = append(q.Warnings, "at temperature 0 all texts are alike, so their agreement is meaningless and was ignored")
	}
	switch {
	case f == nil || f.Samples == 1:
	case q.N > 1:
		return wire.Invalid(param, "signals.samples and n exclude each other: with n, the texts themselves are the samples")
	case q.Stream:
		return wire.NotOffered(param, param+" with a stream")
	case q.Sampling.Temperature <= 0:
		return wire.Invalid(param, "signals.samples needs a temperature above 0: without one all samples are alike")
	}
	return nil
}

// Texts returns the number of texts generated for the request.
func (q *Request) Texts() int {
	if q.Signals != nil {
		return max(q.N, q.Signals.Samples)
	}
	return q.N
}
