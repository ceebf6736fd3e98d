package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"stencil/decoder/walk"
	"stencil/engine"
)

// Config is what a server is made with. Zero fields mean the default.
type Config struct {
	Version        string
	BodyLimit      int64         // bytes of a request's body; default 32 MiB
	RequestTimeout time.Duration // of one generation, its time in the queue included; default 10 minutes
	SchemaCache    int           // compiled schemas kept; default 256
	DefaultTokens  int           // max_tokens of requests that give none; default 1024
	Log            *slog.Logger  // default slog.Default()
}

func (c Config) withDefaults() Config {
	c.BodyLimit = cmp.Or(c.BodyLimit, 32<<20)
	c.RequestTimeout = cmp.Or(c.RequestTimeout, 10*time.Minute)
	c.SchemaCache = cmp.Or(c.SchemaCache, 256)
	c.DefaultTokens = cmp.Or(c.DefaultTokens, 1024)
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

// A Server answers HTTP requests. It listens before its model is loaded:
// until SetModel is called, requests that need one are told to come back.
type Server struct {
	cfg     Config
	handler http.Handler
	model   atomic.Pointer[served]
	closing atomic.Bool
}

// served is the model in service.
type served struct {
	name    string
	created time.Time
	engine  *engine.Engine
	prompts *engine.Prompts
	schemas *engine.Schemas

	grammars *engine.Grammars

	// tokens are the vocabulary by text, made when first asked for.
	tokens func() *walk.Tokens
}

// New returns a server without a model.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg.withDefaults()}
	s.handler = s.routes()
	return s
}

// SetModel puts a model into service under a name, once everything that is
// prepared only once for its vocabulary is. The engine stays the caller's to
// close, after Serve has returned.
func (s *Server) SetModel(name string, e *engine.Engine) error {
	m := &served{
		name:    name,
		created: time.Now(),
		engine:  e,
		prompts: engine.NewPrompts(e.Vocab()),
		schemas: engine.NewSchemas(e.Vocab(), s.cfg.SchemaCache),

		grammars: engine.NewGrammars(e.Vocab(), s.cfg.SchemaCache),

		tokens: sync.OnceValue(func() *walk.Tokens { return walk.NewTokens(e.Vocab()) }),
	}
	if err := m.schemas.Warm(); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	s.model.Store(m)
	return nil
}

// Handler returns the server as a handler, for tests and for embedding.
func (s *Server) Handler() http.Handler { return s.handler }

// ready returns the model in service.
func (s *Server) ready() (*served, error) {
	if s.closing.Load() {
		return nil, engine.ErrClosed
	}
	m := s.model.Load()
	if m == nil {
		return nil, errLoading
	}
	return m, nil
}

// named returns the model that a request asks for; "" is whichever there is.
func (s *Server) named(name string) (*served, error) {
	m, err := s.ready()
	if err != nil {
		return nil, err
	}
	if name = strings.TrimSuffix(name, ":latest"); name != "" && name != m.name {
		return nil, &modelError{asked: name, served: m.name}
	}
	return m, nil
}

// Limits of one connection. Generation takes as long as it takes: only headers
// and idle connections are timed here, bodies and single writes where they are
// read and written.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

// Serve answers requests on a listener until ctx ends. Then it takes no more,
// lets those that run finish for at most grace, and returns.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	h := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.closing.Store(true)
	s.cfg.Log.Info("shutting down", "grace", grace)
	wait, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := h.Shutdown(wait); err != nil {
		// What still runs is cut off: closing its connection cancels it.
		return errors.Join(err, h.Close())
	}
	return nil
}
