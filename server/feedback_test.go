package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/agent/outcomes"
	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/server/generation/assess"
)

// startFeedback runs a server that keeps outcomes in a file.
func startFeedback(t testing.TB, path string) (*Server, string) {
	t.Helper()
	srv, url := start(t, setup{cfg: Config{Feedback: path}})
	if err := srv.OpenFeedback(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.CloseFeedback() })
	return srv, url
}

// fetch gets a URL and decodes its JSON.
func fetch(t testing.TB, url string) (int, map[string]any) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, decoded(t, resp)
}

func TestOutcomes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "feedback.db")
	srv, url := startFeedback(t, path)
	confidence := 0.8
	for i := range assess.EnoughOutcomes {
		a := srv.assess.Assess("tiny", signals.Inputs{Own: &signals.Signals{Confidence: &confidence}})
		if a.ID == "" || len(a.Components) != 1 {
			t.Fatalf("assessment %d: %+v", i, a)
		}
		for range 2 { // the second report changes nothing
			status, _, got := post(t, url+"/feedback", fmt.Sprintf(`{"id": %q, "success": %v}`, a.ID, i%2 == 0))
			if status != 200 || got["model"] != "tiny" || got["count"] != float64(i+1) || got["counts"] != (i+1 >= assess.EnoughOutcomes) {
				t.Fatalf("report %d: %d %v", i, status, got)
			}
		}
	}
	status, got := fetch(t, url+"/feedback?model=tiny")
	if status != 200 || got["expected_calibration_error"] != 0.3 || got["accuracy"] != 0.5 || got["mean_confidence"] != 0.8 || got["brier_score"] != 0.34 ||
		len(got["bins"].([]any)) != outcomes.Bins || at(got, "bins", 8, "count") != float64(assess.EnoughOutcomes) || at(got, "bins", 1, "accuracy") != nil || at(got, "bins", 8, "from") != 0.8 {
		t.Errorf("%d %v", status, got)
	}
	// From here the calibration counts.
	a := srv.assess.Assess("tiny", signals.Inputs{Own: &signals.Signals{Confidence: &confidence}})
	if len(a.Components) != 2 || a.Components[1].Name != "calibration" || a.Components[1].Value != 0.7 {
		t.Errorf("%+v", a.Components)
	}
	if a := srv.assess.Assess("another", signals.Inputs{}); len(a.Components) != 0 {
		t.Errorf("the calibration of one model counts for another: %+v", a)
	}
	// Without an assessment.
	status, _, got = post(t, url+"/feedback", `{"model": "tiny:latest", "confidence": 1, "success": true}`)
	if status != 200 || got["model"] != "tiny" || got["count"] != float64(assess.EnoughOutcomes+1) {
		t.Errorf("%d %v", status, got)
	}
	if status, got := fetch(t, url+"/feedback?model=tiny:latest"); status != 200 || got["model"] != "tiny" || got["count"] != float64(assess.EnoughOutcomes+1) {
		t.Errorf("%d %v", status, got)
	}
	if status, got := fetch(t, url+"/feedback"); status != 200 || len(got["models"].([]any)) != 1 || at(got, "models", 0, "model") != "tiny" {
		t.Errorf("%d %v", status, got)
	}
	// Another server continues with the file.
	if err := srv.CloseFeedback(); err != nil {
		t.Fatal(err)
	}
	_, url = startFeedback(t, path)
	if status, _, got := post(t, url+"/feedback", fmt.Sprintf(`{"id": %q, "success": true}`, a.ID)); status != 200 || got["count"] != float64(assess.EnoughOutcomes+2) {
		t.Errorf("after a restart: %d %v", status, got)
	}
}

func TestFeedbackErrors(t *testing.T) {
	_, url := startFeedback(t, filepath.Join(t.TempDir(), "f"))
	for body, want := range map[string]string{
		`{"id": "asm_x", "success": true}`:                                       "404 assessment_not_found id",
		`{"id": "asm_x"}`:                                                        "400 invalid_value success",
		`{"success": true}`:                                                      "400 invalid_value id",
		`{"id": "asm_x", "success": "yes"}`:                                      "400 invalid_value success",
		`{"id": 7, "success": true}`:                                             "400 invalid_value id",
		`{"id": "a", "model": "tiny", "success": true}`:                          "400 invalid_value id",
		`{"id": "a", "sucess": true}`:                                            "400 unknown_field sucess",
		`{"model": "tiny", "success": true}`:                                     "400 invalid_value confidence",
		`{"model": "tiny", "confidence": 1.5, "success": true}`:                  "400 invalid_value confidence",
		`{"model": "tiny", "confidence": "high", "success": true}`:               "400 invalid_value confidence",
		`{"model": "huge", "confidence": 0.5, "success": true}`:                  "404 model_not_found model",
		`{"model": "tiny", "confidence": 0.5, "success": true, "success": true}`: "400 duplicate_field success",
		`[]`: "400 invalid_json <nil>",
		``:   "400 invalid_json <nil>",
	} {
		status, _, got := post(t, url+"/feedback", body)
		if s := fmt.Sprint(status, " ", at(got, "error", "code"), " ", at(got, "error", "param")); s != want {
			t.Errorf("%s: %s, want %s: %v", body, s, want, at(got, "error", "message"))
		}
	}
	for query, want := range map[string]string{"?model=huge": "404 model_not_found", "?mode=x": "400 unknown_field"} {
		status, got := fetch(t, url+"/feedback"+query)
		if s := fmt.Sprint(status, " ", at(got, "error", "code")); s != want {
			t.Errorf("%s: %s, want %s", query, s, want)
		}
	}
	if status, got := fetch(t, url+"/feedback?model=tiny"); status != 200 || got["count"] != 0.0 || got["expected_calibration_error"] != nil {
		t.Errorf("nothing is known yet: %d %v", status, got)
	}
}

// TestFeedbackOff checks that the reason is reported if no
// outcomes are kept.
func TestFeedbackOff(t *testing.T) {
	srv, url := start(t, setup{})
	if err := srv.OpenFeedback(); err != nil {
		t.Fatal(err)
	}
	check := func(url, want string) {
		t.Helper()
		status, _, got := post(t, url+"/feedback", `{"id": "x", "success": true}`)
		if s := fmt.Sprint(status, " ", at(got, "error", "code")); s != want {
			t.Errorf("%s, want %s: %v", s, want, at(got, "error", "message"))
		}
		status, got = fetch(t, url+"/feedback")
		if s := fmt.Sprint(status, " ", at(got, "error", "code")); s != want {
			t.Errorf("%s, want %s: %v", s, want, at(got, "error", "message"))
		}
	}
	check(url, "404 feedback_off")
	if a := srv.assess.Assess("tiny", signals.Inputs{}); a.ID != "" || a.Recommendation != signals.VerifyOutput {
		t.Errorf("%+v", a)
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("this is something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	srv, url = start(t, setup{cfg: Config{Feedback: path}})
	if err := srv.OpenFeedback(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file of something else: %v", err)
	}
	check(url, "503 feedback_unavailable")
	if err := srv.CloseFeedback(); err != nil {
		t.Error(err)
	}
}
