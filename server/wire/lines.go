package wire

import (
	"io"
	"net/http"
	"time"
)

// LineStream writes one JSON value a line.
type LineStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewLineStream begins an answer of lines.
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

// flushed writes text and sends it on its way.
func flushed(control *http.ResponseController, w io.Writer, text string) error {
	_ = control.SetWriteDeadline(time.Now().Add(WriteTimeout)) // not every connection has one
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	return control.Flush()
}
