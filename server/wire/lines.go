package wire

import (
	"io"
	"net/http"
	"time"
)

// A LineStream writes JSON values, one per line.
type LineStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewLineStream starts a response of JSON lines.
func NewLineStream(w http.ResponseWriter) *LineStream {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return &LineStream{w: w, control: http.NewResponseController(w)}
}

// Line writes one value.
func (s *LineStream) Line(value any) error {
	body, err := Marshal(value)
	if err != nil {
		return err
	}
	return flushed(s.control, s.w, string(body)+"\n")
}

// flushed writes text and flushes it.
func flushed(control *http.ResponseController, w io.Writer, text string) error {
	_ = control.SetWriteDeadline(time.Now().Add(WriteTimeout)) // not every connection supports deadlines
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	return control.Flush()
}
