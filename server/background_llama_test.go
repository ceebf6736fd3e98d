//go:build llama && cgo

package server

import (
	"testing"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/models"
)

// TestBackgroundLlama checks that a response in the background is made by llama.cpp, is followed there, and frees its place
// when it is cancelled.
func TestBackgroundLlama(t *testing.T) {
	e, url := startLlama(t, models.RandomOptions{Layers: 2, Width: 64}, engine.Config{Parallel: 1})
	id := queue(t, url, "ann", `{"background": true, "input": "a", "max_output_tokens": 3000, `+endless(t)+`}`)
	reached(t, url, "ann", id, "in_progress")
	next := queue(t, url, "ann", `{"background": true, "input": "b", "max_output_tokens": 20, `+endless(t)+`}`)
	if status, got := sendAs(t, "POST", url+"/v1/responses/"+id+"/cancel", "ann", ""); status != 200 || got["status"] != "cancelled" {
		t.Errorf("%d %v", status, got)
	}
	events := eventsFrom(t, url, "ann", next, "")
	text := numbered(t, events, 0)
	if got := reached(t, url, "ann", next, "incomplete"); text == "" || at(got, "output", 0, "content", 0, "text") != text || at(got, "usage", "output_tokens") != 20.0 {
		t.Errorf("%q, %v", text, got)
	}
	poll.Until(func() bool { return e.Stats().Active == 0 })
}
