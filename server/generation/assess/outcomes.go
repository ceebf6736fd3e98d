package assess

import (
	"math"
	"net/http"

	"github.com/stencil-json/stencil/agent/outcomes"
	"github.com/stencil-json/stencil/server/problem"
)

// Outcomes is where outcomes are kept.
type Outcomes struct {
	Store *outcomes.Store // nil: nowhere
	err   error           // why not, if that was not wanted
}

// errFeedbackOff says that the server keeps no outcomes.
var errFeedbackOff = problem.New(problem.Problem{
	Status: http.StatusNotFound, Kind: problem.NotFound, Code: "feedback_off",
	Message: "feedback is switched off on this server: it was started without a file for it (--feedback)",
})

// A feedbackError says that outcomes can't be kept although they should be.
type feedbackError struct{ cause error }

// Error implements error.
func (e *feedbackError) Error() string { return "feedback is not available: " + e.cause.Error() }

// Unwrap returns the cause.
func (e *feedbackError) Unwrap() error { return e.cause }

// Opened returns where outcomes are kept.
func (f *Outcomes) Opened() (*outcomes.Store, error) {
	switch {
	case f.err != nil:
		return nil, &feedbackError{f.err}
	case f.Store == nil:
		return nil, errFeedbackOff
	}
	return f.Store, nil
}

// EnoughOutcomes is how many outcomes a model's calibration counts from: with
// fewer, chance alone makes an expected calibration error of a fifth.
const EnoughOutcomes = 20

// Round4 drops digits that nobody needs of a share.
func Round4(p float64) float64 { return math.Round(p*1e4) / 1e4 }

func (e *feedbackError) Problem() problem.Problem {
	return problem.Problem{Status: http.StatusServiceUnavailable, Kind: problem.Server, Code: "feedback_unavailable", Message: e.Error()}
}

// Open opens the file of outcomes, if there is one.
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
