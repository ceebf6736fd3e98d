//go:build llama && cgo

package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestDecide runs stencil decide with the bundled model.
func TestDecide(t *testing.T) {
	t.Setenv("STENCIL_THREADS", "1")
	out, _, err := run(t, "decide", "--text", "a note", "--choice", "billing", "--choice", "shipping=parcels", "--orders", "2", "--json", "Which team?")
	var reply struct {
		Answers []struct {
			Probabilities []struct {
				Value       string
				Probability float64
			}
		}
	}
	if err != nil || json.Unmarshal([]byte(out), &reply) != nil || len(reply.Answers) != 1 || len(reply.Answers[0].Probabilities) != 2 || reply.Answers[0].Probabilities[1].Value != "shipping" {
		t.Fatalf("%v: %s", err, out)
	}
	if p := reply.Answers[0].Probabilities; p[0].Probability+p[1].Probability < 0.999 {
		t.Errorf("%v", p)
	}
	if out, _, err = run(t, "decide", "--text", "a note", "--level", "low", "--level", "high", "How urgent?"); err != nil || !strings.Contains(out, "of 0 to 1") {
		t.Errorf("%v: %s", err, out)
	}
	if out, _, err = run(t, "decide", "--text", "a note", "It is so."); err != nil || !strings.HasPrefix(out, "0.") {
		t.Errorf("%v: %s", err, out)
	}
	if _, _, err = run(t, "decide", "--text", "a note", "--choice", "one", "Which?"); err == nil || !strings.Contains(err.Error(), "2 to 255") {
		t.Errorf("%v", err)
	}
}
