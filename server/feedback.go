package server

import (
	"errors"
	"fmt"
	"net/http"

	"stencil/agent/outcomes"
)

// This file is about outcomes: what became of answers, as it is reported through
// POST /feedback, and what that says about a model's confidence.

// calibrationReply says how well a model's confidence foretells its success.
type calibrationReply struct {
	Model string `json:"model"`
	Count int    `json:"count"` // outcomes that are known
	// The rest is null without outcomes.
	Error      *float64   `json:"expected_calibration_error"`
	Brier      *float64   `json:"brier_score"`
	Confidence *float64   `json:"mean_confidence"`
	Accuracy   *float64   `json:"accuracy"`
	Counts     bool       `json:"counts"` // there are enough outcomes for it to count in assessments
	Needed     int        `json:"counts_from"`
	Bins       []binReply `json:"bins,omitempty"` // of GET /feedback
}

// binReply is what is known of confidences from From up to, but for the last,
// below To.
type binReply struct {
	From       float64  `json:"from"`
	To         float64  `json:"to"`
	Count      int      `json:"count"`
	Confidence *float64 `json:"mean_confidence"`
	Accuracy   *float64 `json:"accuracy"`
}

// rounded returns a share with four decimals, nil where it is one of nothing.
func rounded(of int, p float64) *float64 {
	if of == 0 {
		return nil
	}
	p = round4(p)
	return &p
}

func calibrationOf(model string, c outcomes.Calibration) calibrationReply {
	return calibrationReply{
		Model: model, Count: c.Count, Error: rounded(c.Count, c.Error), Brier: rounded(c.Count, c.Brier),
		Confidence: rounded(c.Count, c.Confidence), Accuracy: rounded(c.Count, c.Accuracy),
		Counts: c.Count >= enoughOutcomes, Needed: enoughOutcomes,
	}
}

// report is POST /feedback: whether an answer was right, by the id of its
// assessment, or by a model and its confidence.
func (s *feedbackAPI) report(r *http.Request) (answer, error) {
	o, err := readObject(r)
	if err != nil {
		return nil, err
	}
	if err := o.only("id", "model", "confidence", "success"); err != nil {
		return nil, err
	}
	store, err := s.outcomes.opened()
	if err != nil {
		return nil, err
	}
	id, model, success := "", "", false
	for _, err := range []error{o.str("id", &id), o.str("model", &model), o.boolean("success", &success)} {
		if err != nil {
			return nil, err
		}
	}
	switch {
	case !o.given("success"):
		return nil, invalid("success", "success is missing: true or false")
	case o.given("id") && (o.given("model") || o.given("confidence")):
		return nil, invalid("id", "id and model with confidence exclude each other")
	case o.given("id"):
		name, c, err := store.Report(id, success)
		if errors.Is(err, outcomes.ErrUnknown) {
			return nil, &unknownAssessmentError{id}
		}
		if err != nil {
			return nil, err
		}
		return jsonAnswer{calibrationOf(name, c)}, nil
	case !o.given("model"):
		return nil, invalid("id", "id is missing: that of an assessment; or model and confidence")
	case !o.given("confidence"):
		return nil, invalid("confidence", "confidence is missing")
	}
	confidence := float64(-1)
	if err := o.decode("confidence", &confidence, "a number"); err != nil {
		return nil, err
	}
	if !(confidence >= 0 && confidence <= 1) {
		return nil, invalid("confidence", "confidence must be between 0 and 1, not %s", sketch(o.members["confidence"]))
	}
	h, err := s.models.find(model)
	if err != nil {
		return nil, err
	}
	c, err := store.Record(h.name, confidence, success)
	if err != nil {
		return nil, err
	}
	return jsonAnswer{calibrationOf(h.name, c)}, nil
}

// An unknownAssessmentError says that there is no assessment of an id, or none any
// more.
type unknownAssessmentError struct{ id string }

// Error implements error.
func (e *unknownAssessmentError) Error() string {
	return fmt.Sprintf("there is no assessment with the id %s; the oldest are dropped when there are too many", sketch([]byte(fmt.Sprintf("%q", e.id))))
}

// calibrations is GET /feedback: how well models are calibrated, one with its
// bins, or all of which outcomes are known.
func (s *feedbackAPI) calibrations(r *http.Request) (answer, error) {
	store, err := s.outcomes.opened()
	if err != nil {
		return nil, err
	}
	asked := r.URL.Query()
	for name := range asked {
		if name != "model" {
			return nil, unknownField(name, nearest(name, []string{"model"}))
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
		return jsonAnswer{list}, nil
	}
	model := asked.Get("model")
	c, err := store.Calibration(model)
	if err != nil {
		return nil, err
	}
	if c.Count == 0 {
		h, err := s.models.find(model)
		if err != nil {
			return nil, err
		}
		model = h.name
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
	return jsonAnswer{reply}, nil
}

func (e *unknownAssessmentError) problem() problem {
	return problem{status: http.StatusNotFound, kind: kindNotFound, param: "id", code: "assessment_not_found", message: e.Error()}
}

// feedbackAPI answers the requests about outcomes.
type feedbackAPI struct {
	models   *registry
	outcomes *feedback
}
