package server

import (
	"encoding/json"
	"strings"

	"stencil/agent/signals"
)

// signalFields say that a model is to assess its own answer, and how.
type signalFields struct {
	Mode    signals.Mode
	Samples int // texts that are written for one answer, to see whether they agree
	Weights signals.Weights
}

// maxSamples is how many samples an answer may have; all pairs of them are
// compared.
const maxSamples = 16

// readSignals reads signals: true or false, or an object.
func (q *query) readSignals(o *object) error {
	const name = "signals"
	if !o.given(name) {
		return nil
	}
	f := &signalFields{Mode: signals.Full, Samples: 1, Weights: signals.DefaultWeights()}
	var wanted bool
	if json.Unmarshal(o.members[name], &wanted) == nil {
		if wanted {
			q.Signals = f
		}
		return nil
	}
	in, err := o.child(name)
	if err != nil {
		return o.wrongType(name, "true, false or an object")
	}
	mode := string(f.Mode)
	for _, err := range []error{
		in.only("instruction", "samples", "weights"),
		in.oneOf("instruction", &mode, string(signals.Full), string(signals.Compact)),
		in.integer("samples", &f.Samples, 1, maxSamples),
		f.readWeights(in),
	} {
		if err != nil {
			return err
		}
	}
	f.Mode = signals.Mode(mode)
	q.Signals = f
	return nil
}

// readWeights reads weights; those that are not given keep their default.
func (f *signalFields) readWeights(in *object) error {
	w, err := in.child("weights")
	if w == nil || err != nil {
		return err
	}
	to := map[string]*float64{
		"own": &f.Weights.Own, "population": &f.Weights.Population, "calibration": &f.Weights.Calibration, "surprise": &f.Weights.Surprise,
	}
	if err := w.only("own", "population", "calibration", "surprise"); err != nil {
		return err
	}
	for _, name := range w.names {
		if err := w.decode(name, to[name], "a number"); err != nil {
			return err
		}
	}
	if err := f.Weights.Check(); err != nil {
		return invalid(in.path+"weights", "%sweights: %s", in.path, strings.TrimPrefix(err.Error(), "signals: "))
	}
	return nil
}

// checkSignals says what of a request does not go with signals.
func (q *query) checkSignals() error {
	const param = "signals.samples"
	f := q.Signals
	if f != nil && q.Stream && q.N > 1 {
		q.Warnings = append(q.Warnings, "in a stream it is not known how far the texts agree")
	}
	if f != nil && !q.Stream && q.N > 1 && q.Sampling.Temperature <= 0 {
		q.Warnings = append(q.Warnings, "at temperature 0 all texts are alike, so that their agreement says nothing and is left out")
	}
	switch {
	case f == nil || f.Samples == 1:
	case q.N > 1:
		return invalid(param, "signals.samples and n exclude each other: with n, the texts themselves are the samples")
	case q.Stream:
		return notOffered(param, param+" with a stream")
	case q.Sampling.Temperature <= 0:
		return invalid(param, "signals.samples needs a temperature above 0: without one all samples are alike")
	}
	return nil
}

// texts is how many texts are written for a request.
func (q *query) texts() int {
	if q.Signals != nil {
		return max(q.N, q.Signals.Samples)
	}
	return q.N
}
