//go:build llama && cgo

package main

import (
	"encoding/json"
	"testing"
)

// TestAgentOnLlama runs the command with a model with random weights: the text is
// meaningless, but it is an envelope.
func TestAgentOnLlama(t *testing.T) {
	t.Setenv("STENCIL_THREADS", "1")
	out, errOut, err := run(t, "agent", "--context", "8192", "--depth", "2", "--frames", "4", "--tokens", "600", "--frame-tokens", "120", "--seed", "3", "--folder", t.TempDir(), "--json", "Plan a town.")
	if err != nil {
		t.Fatalf("%v\n%s", err, errOut)
	}
	var got struct {
		Status string
		Answer struct {
			Conclusion string
			Action     string `json:"next_action"`
		}
		Frames []struct{ Constrained bool }
		Totals struct {
			Tokens int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Status != "done" || got.Answer.Conclusion == "" || got.Answer.Action == "" ||
		len(got.Frames) == 0 || !got.Frames[0].Constrained || got.Totals.Tokens > 600 {
		t.Errorf("%v: %s", err, out)
	}
}
