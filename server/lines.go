package server

import (
	"io"
	"net/http"
	"time"
)

// lineStream writes one JSON value a line.
type lineStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func newLineStream(w http.ResponseWriter) *lineStream {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return &lineStream{w: w, control: http.NewResponseController(w)}
}

func (s *lineStream) line(value any) error {
	body, err := marshal(value)
	if err != nil {
		return err
	}
	return flushed(s.control, s.w, string(body)+"\n")
}

// flushed writes text and sends it on its way.
func flushed(control *http.ResponseController, w io.Writer, text string) error {
	_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every connection has one
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	return control.Flush()
}
