package server

import (
	"log/slog"
	"time"

	"stencil/agent/outcomes"
	"stencil/agent/signals"
)

// An assessor weighs what is known of answers.
type assessor struct {
	outcomes feedback
	counts   signalCounts
	log      *slog.Logger
}

// newAssessor returns an assessor that keeps no outcomes yet.
func newAssessor(log *slog.Logger) *assessor { return &assessor{log: log} }

// assessmentReply is how far an answer can be trusted, with the id by which its
// outcome can be reported.
type assessmentReply struct {
	ID string `json:"id,omitempty"` // none where outcomes are not kept
	signals.Assessment
}

// assess weighs what is known of an answer with the default weights. See weigh.
func (s *assessor) assess(model string, in signals.Inputs) assessmentReply {
	return s.weigh(model, in, signals.DefaultWeights())
}

// weigh weighs what is known of an answer of a model, whose calibration it looks
// up, and keeps the assessment for an outcome to come.
func (s *assessor) weigh(model string, in signals.Inputs, w signals.Weights) assessmentReply {
	store := s.outcomes.store
	if store != nil && in.Calibration == nil {
		c, err := store.Calibration(model)
		if err != nil {
			s.log.Error("a model's calibration can't be read", slog.String("model", model), slog.Any("error", err))
		} else if c.Count >= enoughOutcomes {
			calibration := 1 - c.Error
			in.Calibration = &calibration
		}
	}
	out := assessmentReply{Assessment: shortened(signals.Aggregate(in, w))}
	s.counts.recommended(out.Recommendation)
	if store == nil {
		return out
	}
	a := outcomes.Assessment{ID: newID("asm_"), Model: model, Composite: out.Confidence, Time: time.Now().UTC()}
	if in.Own != nil {
		a.Own = in.Own.Confidence
	}
	if err := store.Add(a); err != nil {
		s.log.Error("an assessment can't be kept", slog.Any("error", err))
		return out
	}
	out.ID = a.ID
	return out
}

// shortened returns an assessment whose numbers have four decimals.
func shortened(a signals.Assessment) signals.Assessment {
	for _, p := range []*float64{a.Agreement, a.Surprise} {
		if p != nil {
			*p = round4(*p)
		}
	}
	a.Confidence, a.Urgency = round4(a.Confidence), round4(a.Urgency)
	for i := range a.Components {
		c := &a.Components[i]
		c.Value, c.Weight = round4(c.Value), round4(c.Weight)
	}
	return a
}

// signalsReply is what a model said about its answer, and where it was read.
type signalsReply struct {
	signals.Signals
	Source signals.Source `json:"source"`
}

// appraisal is what dialects that are not our own carry beside the receipt.
type appraisal struct {
	Signals    *signalsReply    `json:"x_signals,omitempty"`
	Assessment *assessmentReply `json:"x_assessment,omitempty"`
}

// said is what a model said about its answer.
type said struct {
	signals signals.Signals
	from    signals.Source
}

// own returns what the model said itself, nil if it said nothing.
func (s *said) own() *signals.Signals {
	if s == nil || s.from == signals.FromDefaults {
		return nil
	}
	return &s.signals
}

// reply returns it as answers have it.
func (s *said) reply() *signalsReply {
	if s == nil {
		return nil
	}
	return &signalsReply{s.signals, s.from}
}
