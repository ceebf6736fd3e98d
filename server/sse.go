package server

import (
	"fmt"
	"net/http"
	"time"
)

// eventStream writes server-sent events.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// Time limits of a stream: how often a comment keeps a quiet connection open,
// and how long one write may take before the client counts as gone.
const (
	pingEvery    = 15 * time.Second
	writeTimeout = 30 * time.Second
)

func newEventStream(w http.ResponseWriter) *eventStream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	w.WriteHeader(http.StatusOK)
	return &eventStream{w: w, control: http.NewResponseController(w)}
}

// data writes one event without a name.
func (s *eventStream) data(data any) error {
	body, err := marshal(data)
	if err != nil {
		return err
	}
	return s.flush(fmt.Sprintf("data: %s\n\n", body))
}

// event writes one event. JSON holds no line breaks, so its data is one line.
func (s *eventStream) event(name string, data any) error {
	body, err := marshal(data)
	if err != nil {
		return err
	}
	return s.flush(fmt.Sprintf("event: %s\ndata: %s\n\n", name, body))
}

func (s *eventStream) ping() error { return s.flush(": ping\n\n") }

func (s *eventStream) flush(text string) error { return flushed(s.control, s.w, text) }
