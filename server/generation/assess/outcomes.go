package assess

import (
	"math"
	"net/http"

	"github.com/stencil-json/stencil/agent/outcomes"
	"github.com/stencil-json/stencil/server/problem"
)

// Outcomes holds the store of outcomes.
type Outcomes struct {
	Store *outcomes.Store // nil: outcomes are not kept
	err   error           // why the store could not be opened
}

// errFeedbackOff means that the server keeps no outcomes.
var errFeedbackOff = problem.New(problem.Problem{
	Status: http.StatusNotFound, Kind: problem.NotFound, Code: "feedback_off",
	Message: "feedback is switched off on this server: it was started without a file for it (--feedback)",
})

// A feedbackError means that outcomes can't be kept although the server is
// configured to.
type feedbackError struct{ cause error }

// Error implements error.
func (e *feedbackError) Error() string { return "feedback is not available: " + e.cause.Error() }

// Unwrap returns the cause.
func (e *feedbackError) Unwrap() error { return e.cause }

// Opened returns the store of outcomes.
func (f *Outcomes) Opened() (*outcomes.Store, error) {
	switch {
	case f.err != nil:
		return nil, &feedbackError{f.err}
	case f.Store == nil:
		return nil, errFeedbackOff
	}
	return f.Store, nil
}

// EnoughOutcomes is the number of outcomes from which a model's calibration
// counts: with fewer, chance alone makes an expected calibration error of
// 0.2.
const EnoughOutcomes = 20

// Round4 rounds a share to four decimals.
func Round4(p float64) float64 { return math.Round(p*1e4) / 1e4 }

func (e *feedbackError) Problem() problem.Problem {
	return problem.Problem{Status: http.StatusServiceUnavailable, Kind: problem.Server, Code: "feedback_unavailable", Message: e.Error()}
}

// Open opens the file of outcomes; "" means that none are kept.
func (f *Outcomes) Open(path string) error {
	if path != "" {
		f.Store, f.err = outcomes.Open(path, outcomes.Options{})
	}
	return f.err
}

// Close closes the file.
func (f *Outcomes) Close() error {
	if f.Store == nil {
		return nil
	}
	return f.Store.Close()
}
