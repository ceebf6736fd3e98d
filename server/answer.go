package server

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

// A handler answers a request or says why it does not. It writes nothing.
type handler func(r *http.Request) (answer, error)

// An answer writes itself, header included.
type answer interface {
	write(w http.ResponseWriter, r *http.Request) error
}

// jsonAnswer is an answer of one JSON value, with status 200.
type jsonAnswer struct{ value any }

func (a jsonAnswer) write(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, a.value)
}

// A note collects, while a request is handled, what its log line says. Prompts
// and texts never go into it.
type note struct {
	id    string
	attrs []slog.Attr
	ends  []func()
}

type noteKey struct{}

// withNote returns a context with a note of its own.
func withNote(ctx context.Context, id string) (context.Context, *note) {
	n := &note{id: id}
	return context.WithValue(ctx, noteKey{}, n), n
}

func (n *note) add(attrs ...slog.Attr) { n.attrs = append(n.attrs, attrs...) }

// atEnd has something done once the request has been answered.
func (n *note) atEnd(f func()) { n.ends = append(n.ends, f) }

func (n *note) end() {
	for _, f := range n.ends {
		f()
	}
}

// noteOf returns the note of a request; one that is thrown away for a request
// that did not come through adapt.
func noteOf(ctx context.Context) *note {
	if n, ok := ctx.Value(noteKey{}).(*note); ok {
		return n
	}
	return new(note)
}

// writeJSON writes a whole answer. JSON is written as it reads best: without
// the escapes that only HTML needs.
func writeJSON(w http.ResponseWriter, status int, value any) error {
	body, err := marshal(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, err = w.Write(append(body, '\n'))
	return err
}

// marshal is json.Marshal without the escapes that only HTML needs.
func marshal(value any) ([]byte, error) {
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

// A pinger keeps a quiet connection open.
type pinger interface{ ping() error }

// pinging calls f and keeps the connection open until it has returned.
func pinging(out pinger, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ping.C:
			if err := out.ping(); err != nil {
				return errors.Join(err, <-done) // nobody is there, and so the context ends
			}
		}
	}
}

// unixNow is the time as dialects write it.
func unixNow() int64 { return time.Now().Unix() }

// newID returns an identifier that nobody has had before.
func newID(prefix string) string {
	var b [12]byte
	rand.Read(b[:]) // never fails
	return prefix + hex.EncodeToString(b[:])
}

// clientOf names who a request comes from, for the queue's turns: the address,
// without the port that changes with every connection.
func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
