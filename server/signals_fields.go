package server

import (
	"encoding/json"
	"fmt"
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

// maxRatedTools is how many tools a model is asked to rate.
const maxRatedTools = 16

// callable returns how many tools may be called.
func (r *rule) callable() int {
	if r == nil {
		return 0
	}
	return len(r.tools)
}

// rated returns the tools that a model rates: those that it may call, if they are
// not too many.
func (r *rule) rated() (names []string) {
	if n := r.callable(); n == 0 || n > maxRatedTools {
		return nil
	}
	for _, t := range r.tools {
		names = append(names, t.Name)
	}
	return names
}

// masked reports whether a mask sees to it that signals follow the answer,
// whatever that is.
func (r *rule) masked() bool { return r.fromBeginning() && r.tags == nil }

// signalInstruction is what the model is told about its signals.
func (q *query) signalInstruction(r *rule) string {
	if q.Signals == nil {
		return ""
	}
	form := signals.Fenced
	if r.masked() {
		form = signals.LastLine
	}
	return signals.Instruction(q.Signals.Mode, form, r.rated())
}

// instructed returns a prompt's instruction with that about signals, where the
// prompt has a place for it, or else warns.
func (q *query) instructed(instruction string, r *rule) string {
	switch {
	case q.Signals == nil:
		return instruction
	case q.PromptSchema == "never" || q.PromptTokens != nil:
		q.Warnings = append(q.Warnings, "the prompt says nothing about signals: prompt_schema is \"never\", or the prompt is given as tokens")
		return instruction
	case q.Messages == nil && q.PromptSchema != "always":
		q.Warnings = append(q.Warnings, "the prompt is gone on with as it is and says nothing about signals; prompt_schema: \"always\" writes an instruction before it, and messages have a place for one")
		return instruction
	}
	return q.withSignals(instruction, r)
}

// withSignals returns an instruction with that about signals.
func (q *query) withSignals(instruction string, r *rule) string {
	return q.withNote(instruction, q.signalInstruction(r))
}

// withNote returns an instruction with one about signals.
func (q *query) withNote(instruction, note string) string {
	if instruction == "" {
		return note
	}
	return instruction + "\n\nAll of that is about the answer alone. " + note
}

// noRoom is a warning.
const noRoom = "the context has no room for signals after the answer; they were left out"

// texts is how many texts are written for a request.
func (q *query) texts() int {
	if q.Signals != nil {
		return max(q.N, q.Signals.Samples)
	}
	return q.N
}

// shortestSignals is the shortest document of signals, with the line break before
// it.
func shortestSignals(tools []string) string {
	var b strings.Builder
	b.WriteString("\n" + `{"confidence":0,"difficulty":"easy","escalation":"none"`)
	for i, name := range tools {
		b.WriteString(map[bool]string{true: `,"tools":{`, false: ","}[i == 0])
		fmt.Fprintf(&b, "%q:0", name)
	}
	if len(tools) > 0 {
		b.WriteByte('}')
	}
	b.WriteByte('}')
	return b.String()
}
