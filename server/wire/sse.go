package wire

import (
	"fmt"
	"net/http"
	"time"
)

// EventStream writes server-sent events.
type EventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// Time limits of a stream: the interval of the comments that keep an idle
// connection open, and the longest time that a write may take before the
// client counts as gone.
const (
	PingEvery    = 15 * time.Second
	WriteTimeout = 30 * time.Second
)

// NewEventStream starts a response of server-sent events.
func NewEventStream(w http.ResponseWriter) *EventStream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // otherwise nginx would buffer events
	w.WriteHeader(http.StatusOK)
	return &EventStream{w: w, control: http.NewResponseController(w)}
}

// Data writes an event without a name.
func (s *EventStream) Data(data any) error {
	body, err := Marshal(data)
	if err != nil {
		return err
	}
	return s.Flush(fmt.Sprintf("data: %s\n\n", body))
}

// Event writes a named event.
func (s *EventStream) Event(name string, data any) error {
	text, err := EventText(name, data)
	if err != nil {
		return err
	}
	return s.Flush(text)
}

// EventText returns the text of a named event. JSON contains no line breaks, so its data is
// one line.
func EventText(name string, data any) (string, error) {
	body, err := Marshal(data)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("event: %s\ndata: %s\n\n", name, body), nil
}

// Ping writes a comment, which keeps an idle connection open.
func (s *EventStream) Ping() error { return s.Flush(": ping\n\n") }

// Flush writes text unchanged and flushes it.
func (s *EventStream) Flush(text string) error { return flushed(s.control, s.w, text) }
