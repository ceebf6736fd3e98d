package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/server/openai"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

// bodyTimeout is how long a client may take to send its body.
const bodyTimeout = time.Minute

// adapt turns a handler into a gin handler that does what all requests share: request id, API key,
// limits, panics, logging and metrics.
func (s *Server) adapt(h wire.Handler, body errorBodies) gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		ctx, n := wire.WithNote(c.Request.Context(), requestID(c.Request))
		r := c.Request.WithContext(ctx)
		w := &statusWriter{ResponseWriter: c.Writer}
		defer n.End()
		w.Header().Set("X-Request-Id", n.ID)
		if strings.HasPrefix(r.URL.Path, "/v1/messages") || r.Header.Get("Anthropic-Version") != "" {
			w.Header().Set("Request-Id", n.ID) // the header's name in Anthropic's API
		}
		err := s.guard.Check(r)
		if err == nil {
			n.Client = s.guard.Client(r)
			err = s.readBody(w, r)
		}
		if err == nil {
			if r.Method == http.MethodPost {
				e := s.turns.take(ctx, wire.ClientOf(r))
				n.Prepare(e.done)
				n.AtEnd(e.leave)
				r = r.WithContext(meter.WithPace(ctx, e))
			}
			err = s.call(h, w, r)
		}
		if err != nil && !w.wrote {
			p := problem.Describe(err)
			p.Header(w.Header())
			acceptEncoding(w.Header(), &p)
			if writeErr := wire.WriteJSON(w, p.Status, body(&p, r, n.ID)); writeErr != nil {
				err = errors.Join(err, writeErr)
			}
		}
		s.logRequest(r, w, n, err, time.Since(start))
		s.metrics.request(c.FullPath(), w.status, time.Since(start), err)
	}
}

// readBody reads the whole body, within the limits of size and time. Afterwards net/http watches the
// connection without a read deadline, since the client sends nothing more until it disconnects.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not every connection supports deadlines
	if most := min(s.cfg.BodyLimit, s.memory.largest()); r.ContentLength > most {
		return &http.MaxBytesError{Limit: most} // refused by its Content-Length, before the body is read
	}
	encodings, err := encodingsOf(r.Header)
	if err != nil {
		w.Header().Set("Connection", "close")
		return err
	}
	in := &charged{body: http.MaxBytesReader(w, r.Body, s.cfg.BodyLimit), memory: &s.memory, client: wire.ClientOf(r),
		interrupt: func() { _ = control.SetReadDeadline(time.Now()) }}
	for _, name := range encodings {
		d := decode(name, in.body)
		defer func() { d.close() }()
		in.body, in.decoder = http.MaxBytesReader(w, io.NopCloser(d), s.cfg.BodyLimit), decoderMemory[name]
	}
	if r.ContentLength < 0 || r.ContentLength >= pacedBody || encodings != nil {
		e := s.turns.receive(in.client)
		defer e.leave()
		in.ctx = meter.WithPace(r.Context(), e)
	}
	wire.NoteOf(r.Context()).AtEnd(in.release)
	body, err := io.ReadAll(in)
	if done := in.complete(); done != nil {
		err = done
	}
	if err != nil {
		w.Header().Set("Connection", "close") // or net/http waits for the rest before it sends the answer
		var tooLarge *http.MaxBytesError
		if errors.As(err, new(*wire.Error)) || errors.As(err, &tooLarge) || errors.As(err, new(errNoMemory)) || errors.As(err, new(errManyValues)) {
			return err
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return errSlowBody{}
		}
		return &wire.Error{Code: "unreadable_body", Message: "the body could not be read to its end"}
	}
	_ = control.SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.Header.Del("Content-Encoding")
	if s.cfg.LogBodies {
		wire.NoteOf(r.Context()).Add(slog.String("body", string(body)))
	}
	return nil
}

// call runs the handler and writes its answer. A panic becomes an error, except http.ErrAbortHandler,
// with which net/http aborts a response.
func (s *Server) call(h wire.Handler, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			err = fmt.Errorf("server: panic: %v\n%s", p, debug.Stack())
		}
	}()
	a, err := h(r)
	if err != nil {
		return err
	}
	return a.Write(w, r)
}

// timed is for handlers that compute and don't limit their time themselves: the context of the request ends when the
// time of a request is over, and then there is no answer.
func (s *Server) timed(h wire.Handler) wire.Handler {
	return func(r *http.Request) (wire.Answer, error) {
		ctx, cancel := context.WithTimeoutCause(r.Context(), s.cfg.RequestTimeout, engine.ErrTimeout)
		defer cancel()
		a, err := h(r.WithContext(ctx))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return a, err
	}
}

// quietPaths are polled every few seconds by monitoring; their requests are logged at debug level.
var quietPaths = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true, "/health": true, "/v1/health": true, "/slots": true}

func (s *Server) logRequest(r *http.Request, w *statusWriter, n *wire.Note, err error, took time.Duration) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("id", n.ID), slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.Int("status", w.status), slog.Duration("took", took),
	}
	attrs = append(attrs, n.Attrs...)
	if err != nil {
		p := problem.Describe(err)
		attrs = append(attrs, slog.String("code", p.Code))
		if p.Status >= http.StatusInternalServerError {
			level = slog.LevelError
			attrs = append(attrs, slog.Any("error", err))
		}
	}
	if quietPaths[r.URL.Path] && (err == nil || w.status == http.StatusServiceUnavailable) {
		level = slog.LevelDebug // "not ready" is a valid answer too
	}
	s.cfg.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// ended logs and counts a response in the background, after the request for it has been.
func (s *Server) ended(w openai.Work) {
	level := slog.LevelInfo
	attrs := append([]slog.Attr{slog.String("id", w.Note.ID), slog.String("status", w.Status), slog.Duration("took", w.Took)}, w.Note.Attrs...)
	if w.Err != nil {
		p := problem.Describe(w.Err)
		attrs = append(attrs, slog.String("code", p.Code))
		if p.Status >= http.StatusInternalServerError {
			level = slog.LevelError
			attrs = append(attrs, slog.Any("error", w.Err))
		}
	}
	s.cfg.Log.LogAttrs(context.Background(), level, "background response", attrs...)
	s.metrics.failure(w.Err)
	s.metrics.ended.Count(w.Status)
}

// requestID returns the id that the client sent, if it is safe to log, or a new one.
func requestID(r *http.Request) string {
	const most = 128
	id := r.Header.Get("X-Request-Id")
	fit := id != "" && len(id) <= most
	for i := 0; i < len(id) && fit; i++ {
		c := id[i]
		fit = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == ':'
	}
	if fit {
		return id
	}
	var b [12]byte
	rand.Read(b[:]) // never fails
	return "req-" + hex.EncodeToString(b[:])
}

// A statusWriter records whether a response has started, and its status.
type statusWriter struct {
	http.ResponseWriter
	status int
	wrote  bool
}

func (w *statusWriter) WriteHeader(status int) {
	if !w.wrote {
		w.status, w.wrote = status, true
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
