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

// A Handler answers a request or says why it does not. It writes nothing.
type Handler func(r *http.Request) (Answer, error)

// An Answer writes itself, header included.
type Answer interface {
	Write(w http.ResponseWriter, r *http.Request) error
}

// JSON is an answer of one JSON value, with status 200.
type JSON struct{ Value any }

func (a JSON) Write(w http.ResponseWriter, r *http.Request) error {
	return WriteJSON(w, http.StatusOK, a.Value)
}

// A Note collects, while a request is handled, what its log line says. Prompts
// and texts never go into it.
type Note struct {
	ID     string
	Client string // who asks, if that is known by more than an address
	Attrs  []slog.Attr
	ends   []func()
}

type noteKey struct{}

// WithNote returns a context with a note of its own.
func WithNote(ctx context.Context, id string) (context.Context, *Note) {
	n := &Note{ID: id}
	return context.WithValue(ctx, noteKey{}, n), n
}

// Add adds attributes to the request's log line.
func (n *Note) Add(attrs ...slog.Attr) { n.Attrs = append(n.Attrs, attrs...) }

// AtEnd has something done once the request has been answered.
func (n *Note) AtEnd(f func()) { n.ends = append(n.ends, f) }

// End does what AtEnd was given.
func (n *Note) End() {
	for _, f := range n.ends {
		f()
	}
}

// NoteOf returns the note of a request; one that is thrown away for a request
// that did not come through adapt.
func NoteOf(ctx context.Context) *Note {
	if n, ok := ctx.Value(noteKey{}).(*Note); ok {
		return n
	}
	return new(Note)
}

// WriteJSON writes a whole answer. JSON is written as it reads best: without
// the escapes that only HTML needs.
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

// A Pinger keeps a quiet connection open.
type Pinger interface{ Ping() error }

// Pinging calls f and keeps the connection open until it has returned.
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
				return errors.Join(err, <-done) // nobody is there, and so the context ends
			}
		}
	}
}

// UnixNow is the time as dialects write it.
func UnixNow() int64 { return time.Now().Unix() }

// NewID returns an identifier that nobody has had before.
func NewID(prefix string) string {
	var b [12]byte
	rand.Read(b[:]) // never fails
	return prefix + hex.EncodeToString(b[:])
}

// ClientOf names who a request comes from, for the queue's turns: who the note says, or
// else the address, without the port that changes with every connection.
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
