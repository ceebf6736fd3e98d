package assess

import (
	"log/slog"
	"time"

	"github.com/stencil-json/stencil/agent/outcomes"
	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/server/wire"
)

// An Assessor turns signals and measurements into assessments.
type Assessor struct {
	Outcomes Outcomes
	Counts   *Counts
	log      *slog.Logger
}

// New returns an assessor that keeps no outcomes yet.
func New(log *slog.Logger) *Assessor { return &Assessor{Counts: newCounts(), log: log} }

// An Assessment says how far an answer can be trusted. Its ID is for reporting
// the outcome.
type Assessment struct {
	ID string `json:"id,omitempty"` // empty if outcomes are not kept
	signals.Assessment
}

// Assess is Weigh with the default weights.
func (s *Assessor) Assess(model string, in signals.Inputs) Assessment {
	return s.Weigh(model, in, signals.DefaultWeights())
}

// Weigh returns the assessment of a model's answer. It looks up the model's
// calibration, and stores the assessment so that an outcome can be reported for
// it.
func (s *Assessor) Weigh(model string, in signals.Inputs, w signals.Weights) Assessment {
	store := s.Outcomes.Store
	if store != nil && in.Calibration == nil {
		c, err := store.Calibration(model)
		if err != nil {
			s.log.Error("a model's calibration can't be read", slog.String("model", model), slog.Any("error", err))
		} else if c.Count >= EnoughOutcomes {
			calibration := 1 - c.Error
			in.Calibration = &calibration
		}
	}
	out := Assessment{Assessment: shortened(signals.Aggregate(in, w))}
	s.Counts.recommended(out.Recommendation)
	if store == nil {
		return out
	}
	a := outcomes.Assessment{ID: wire.NewID("asm_"), Model: model, Composite: out.Confidence, Time: time.Now().UTC()}
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

// shortened returns an assessment with numbers rounded to four decimals.
func shortened(a signals.Assessment) signals.Assessment {
	for _, p := range []*float64{a.Agreement, a.Surprise} {
		if p != nil {
			*p = Round4(*p)
		}
	}
	a.Confidence, a.Urgency = Round4(a.Confidence), Round4(a.Urgency)
	for i := range a.Components {
		c := &a.Components[i]
		c.Value, c.Weight = Round4(c.Value), Round4(c.Weight)
	}
	return a
}

// Signals are a model's signals about its answer, and their source.
type Signals struct {
	signals.Signals
	Source signals.Source `json:"source"`
}

// An Appraisal holds the fields that other vendors' dialects carry beside the
// receipt.
type Appraisal struct {
	Signals    *Signals    `json:"x_signals,omitempty"`
	Assessment *Assessment `json:"x_assessment,omitempty"`
}

// Said holds a model's signals about its answer, and their source.
type Said struct {
	Signals signals.Signals
	From    signals.Source
}

// Own returns the signals that the model wrote itself, nil if it wrote none.
func (s *Said) Own() *signals.Signals {
	if s == nil || s.From == signals.FromDefaults {
		return nil
	}
	return &s.Signals
}

// Reply returns the signals as they stand in answers.
func (s *Said) Reply() *Signals {
	if s == nil {
		return nil
	}
	return &Signals{s.Signals, s.From}
}
