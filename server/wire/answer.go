package wire

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// A Handler returns the answer to a request, or an error. It writes nothing.
type Handler func(r *http.Request) (Answer, error)

// An Answer writes itself, including its headers.
type Answer interface {
	Write(w http.ResponseWriter, r *http.Request) error
}

// JSON is an answer that consists of one JSON value, with status 200.
type JSON struct{ Value any }

func (a JSON) Write(w http.ResponseWriter, r *http.Request) error {
	return WriteJSON(w, http.StatusOK, a.Value)
}

// A Note collects attributes for a request's log line while the request is handled.
// Prompts and texts never go into it.
type Note struct {
	ID       string
	Client   string // identifies the client beyond its address; "" if unknown
	Attrs    []slog.Attr
	ends     []func()
	prepared func() // nil: nothing to end
}

type noteKey struct{}

// WithNote returns a context that carries a new note.
func WithNote(ctx context.Context, id string) (context.Context, *Note) {
	n := &Note{ID: id}
	return context.WithValue(ctx, noteKey{}, n), n
}

// Add adds attributes to the request's log line.
func (n *Note) Add(attrs ...slog.Attr) { n.Attrs = append(n.Attrs, attrs...) }

// AtEnd registers a function to run once the request has been answered.
func (n *Note) AtEnd(f func()) { n.ends = append(n.ends, f) }

// End runs the functions registered by AtEnd.
func (n *Note) End() {
	for _, f := range n.ends {
		f()
	}
}

// Prepare registers done, which ends the client's turn to prepare a request and may be called several times.
func (n *Note) Prepare(done func()) { n.prepared = done }

// Prepared ends the client's turn: what follows takes little of the processor, or is shared out elsewhere.
func (n *Note) Prepared() {
	if n.prepared != nil {
		n.prepared()
	}
}

// Outlive returns a context for work that goes on after the request has been answered, and its note. What was to end with
// the request ends with the work, which calls End.
func Outlive(ctx context.Context) (context.Context, *Note) {
	n := NoteOf(ctx)
	ctx, later := WithNote(context.WithoutCancel(ctx), n.ID)
	later.Client, later.ends, later.prepared = n.Client, n.ends, n.prepared
	n.ends, n.prepared = nil, nil
	return ctx, later
}

// NoteOf returns the note of a request. For a request without one it returns a new note
// that is discarded.
func NoteOf(ctx context.Context) *Note {
	if n, ok := ctx.Value(noteKey{}).(*Note); ok {
		return n
	}
	return new(Note)
}

// WriteJSON writes a JSON response. Strings are written without the escapes that only HTML
// needs.
func WriteJSON(w http.ResponseWriter, status int, value any) error {
	body, err := Marshal(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, err = w.Write(append(body, '\n'))
	return err
}

// Marshal is json.Marshal without the escapes that only HTML needs.
func Marshal(value any) ([]byte, error) {
	var b jsonBuffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return b[:len(b)-1], nil // without the newline that Encode adds
}

type jsonBuffer []byte

func (b *jsonBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// A Pinger keeps an idle connection open.
type Pinger interface{ Ping() error }

// Pinging calls f and pings out until f has returned.
func Pinging(out Pinger, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	ping := time.NewTicker(PingEvery)
	defer ping.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ping.C:
			if err := out.Ping(); err != nil {
				return errors.Join(err, <-done) // the client is gone, so the context ends and f returns
			}
		}
	}
}

// UnixNow returns the current time in Unix seconds.
func UnixNow() int64 { return time.Now().Unix() }

// NewID returns a new random identifier.
func NewID(prefix string) string {
	var b [12]byte
	rand.Read(b[:]) // never fails
	return prefix + hex.EncodeToString(b[:])
}

// ClientOf identifies the client of a request, for fair queueing: by the note's Client, or
// else by its address without the port, which changes with every connection.
func ClientOf(r *http.Request) string {
	if n := NoteOf(r.Context()); n != nil && n.Client != "" {
		return n.Client
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
