package server

import (
	"math"
	"net/http"

	"stencil/agent/outcomes"
)

// feedback is where outcomes are kept.
type feedback struct {
	store *outcomes.Store // nil: nowhere
	err   error           // why not, if that was not wanted
}

// errFeedbackOff says that the server keeps no outcomes.
var errFeedbackOff = newKnown(problem{
	status: http.StatusNotFound, kind: kindNotFound, code: "feedback_off",
	message: "feedback is switched off on this server: it was started without a file for it (--feedback)",
})

// A feedbackError says that outcomes can't be kept although they should be.
type feedbackError struct{ cause error }

// Error implements error.
func (e *feedbackError) Error() string { return "feedback is not available: " + e.cause.Error() }

// Unwrap returns the cause.
func (e *feedbackError) Unwrap() error { return e.cause }

// opened returns where outcomes are kept.
func (f *feedback) opened() (*outcomes.Store, error) {
	switch {
	case f.err != nil:
		return nil, &feedbackError{f.err}
	case f.store == nil:
		return nil, errFeedbackOff
	}
	return f.store, nil
}

// enoughOutcomes is how many outcomes a model's calibration counts from: with
// fewer, chance alone makes an expected calibration error of a fifth.
const enoughOutcomes = 20

// round4 drops digits that nobody needs of a share.
func round4(p float64) float64 { return math.Round(p*1e4) / 1e4 }

func (e *feedbackError) problem() problem {
	return problem{status: http.StatusServiceUnavailable, kind: kindServer, code: "feedback_unavailable", message: e.Error()}
}

// open opens the file of outcomes, if there is one.
func (f *feedback) open(path string) error {
	if path != "" {
		f.store, f.err = outcomes.Open(path, outcomes.Options{})
	}
	return f.err
}

// close closes the file.
func (f *feedback) close() error {
	if f.store == nil {
		return nil
	}
	return f.store.Close()
}
