// Package feedback receives outcomes of answers, and reports how well models are calibrated.
package feedback

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/stencil-json/stencil/agent/outcomes"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/wire"
)

// Outcomes of answers are reported through POST /feedback; they determine a model's calibration.

// A calibrationReply reports how well a model's confidence predicts its success.
type calibrationReply struct {
	Model string `json:"model"`
	Count int    `json:"count"` // known outcomes
	// The following are null without outcomes.
	Error      *float64   `json:"expected_calibration_error"`
	Brier      *float64   `json:"brier_score"`
	Confidence *float64   `json:"mean_confidence"`
	Accuracy   *float64   `json:"accuracy"`
	Counts     bool       `json:"counts"` // enough outcomes for it to count in assessments
	Needed     int        `json:"counts_from"`
	Bins       []binReply `json:"bins,omitempty"` // in GET /feedback
}

// A binReply covers the confidences from From up to, except in the last bin, below To.
type binReply struct {
	From       float64  `json:"from"`
	To         float64  `json:"to"`
	Count      int      `json:"count"`
	Confidence *float64 `json:"mean_confidence"`
	Accuracy   *float64 `json:"accuracy"`
}

// rounded returns a share rounded to four decimals, nil if it is a share of nothing.
func rounded(of int, p float64) *float64 {
	if of == 0 {
		return nil
	}
	p = assess.Round4(p)
	return &p
}

func calibrationOf(model string, c outcomes.Calibration) calibrationReply {
	return calibrationReply{
		Model: model, Count: c.Count, Error: rounded(c.Count, c.Error), Brier: rounded(c.Count, c.Brier),
		Confidence: rounded(c.Count, c.Confidence), Accuracy: rounded(c.Count, c.Accuracy),
		Counts: c.Count >= assess.EnoughOutcomes, Needed: assess.EnoughOutcomes,
	}
}

// Report handles POST /feedback: whether an answer was right, by the id of its assessment, or by a
// model and its confidence.
func (s *Handlers) Report(r *http.Request) (wire.Answer, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	if err := o.Only("id", "model", "confidence", "success"); err != nil {
		return nil, err
	}
	store, err := s.Outcomes.Opened()
	if err != nil {
		return nil, err
	}
	id, model, success := "", "", false
	for _, err := range []error{o.Str("id", &id), o.Str("model", &model), o.Boolean("success", &success)} {
		if err != nil {
			return nil, err
		}
	}
	switch {
	case !o.Given("success"):
		return nil, wire.Invalid("success", "success is missing: true or false")
	case o.Given("id") && (o.Given("model") || o.Given("confidence")):
		return nil, wire.Invalid("id", "id and model with confidence exclude each other")
	case o.Given("id"):
		name, c, err := store.Report(id, success)
		if errors.Is(err, outcomes.ErrUnknown) {
			return nil, &unknownAssessmentError{id}
		}
		if err != nil {
			return nil, err
		}
		return wire.JSON{Value: calibrationOf(name, c)}, nil
	case !o.Given("model"):
		return nil, wire.Invalid("id", "id is missing: that of an assessment; or model and confidence")
	case !o.Given("confidence"):
		return nil, wire.Invalid("confidence", "confidence is missing")
	}
	confidence := float64(-1)
	if err := o.Decode("confidence", &confidence, "a number"); err != nil {
		return nil, err
	}
	if !(confidence >= 0 && confidence <= 1) {
		return nil, wire.Invalid("confidence", "confidence must be between 0 and 1, not %s", wire.Sketch(o.Members["confidence"]))
	}
	h, err := s.Models.Find(model)
	if err != nil {
		return nil, err
	}
	c, err := store.Record(h.Name, confidence, success)
	if err != nil {
		return nil, err
	}
	return wire.JSON{Value: calibrationOf(h.Name, c)}, nil
}

// An unknownAssessmentError means that there is no assessment with an id, or no longer.
type unknownAssessmentError struct{ id string }

// Error implements error.
func (e *unknownAssessmentError) Error() string {
	return fmt.Sprintf("there is no assessment with the id %s; the oldest are dropped when there are too many", wire.Sketch([]byte(fmt.Sprintf("%q", e.id))))
}

// Calibrations handles GET /feedback: the calibration of one model, with bins, or of all models with
// known outcomes.
func (s *Handlers) Calibrations(r *http.Request) (wire.Answer, error) {
	store, err := s.Outcomes.Opened()
	if err != nil {
		return nil, err
	}
	asked := r.URL.Query()
	for name := range asked {
		if name != "model" {
			return nil, wire.UnknownField(name, wire.Nearest(name, []string{"model"}))
		}
	}
	if !asked.Has("model") {
		names, err := store.Models()
		if err != nil {
			return nil, err
		}
		list := struct {
			Models []calibrationReply `json:"models"`
		}{[]calibrationReply{}}
		for _, name := range names {
			c, err := store.Calibration(name)
			if err != nil {
				return nil, err
			}
			list.Models = append(list.Models, calibrationOf(name, c))
		}
		return wire.JSON{Value: list}, nil
	}
	model := asked.Get("model")
	c, err := store.Calibration(model)
	if err != nil {
		return nil, err
	}
	if c.Count == 0 {
		h, err := s.Models.Find(model)
		if err != nil {
			return nil, err
		}
		model = h.Name
		if c, err = store.Calibration(model); err != nil {
			return nil, err
		}
	}
	reply := calibrationOf(model, c)
	for i, b := range c.Bins {
		reply.Bins = append(reply.Bins, binReply{
			From: float64(i) / outcomes.Bins, To: float64(i+1) / outcomes.Bins, Count: b.Count,
			Confidence: rounded(b.Count, b.Confidence), Accuracy: rounded(b.Count, b.Accuracy),
		})
	}
	return wire.JSON{Value: reply}, nil
}

func (e *unknownAssessmentError) Problem() problem.Problem {
	return problem.Problem{Status: http.StatusNotFound, Kind: problem.NotFound, Param: "id", Code: "assessment_not_found", Message: e.Error()}
}

// Handlers implements the endpoint for outcomes.
type Handlers struct {
	Models   *registry.Registry
	Outcomes *assess.Outcomes
}
