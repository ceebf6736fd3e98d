package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/backend/remote"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/access"
	"github.com/stencil-json/stencil/server/agentapi"
	"github.com/stencil-json/stencil/server/background"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/generation/assess"
	"github.com/stencil-json/stencil/server/generation/upstream"
	"github.com/stencil-json/stencil/server/openai"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/stored"
)

// Config configures a server. Zero fields mean the default.
type Config struct {
	Version        string
	BodyLimit      int64            // bytes of a request's body; default 32 MiB
	RequestTimeout time.Duration    // of one generation, time in the queue included; default 10 minutes
	SchemaCache    int              // compiled schemas kept; default 256
	MemoryLimit    int64            // bytes that requests and their caches may take; default 2 GiB
	SchemaLimits   schema.Limits    // limits of schemas in requests; zero fields: their defaults
	ToolForm       string           // how models write tool calls, one of chat.CallForms(); "": as their templates say
	Defaults       request.Defaults // for fields that requests omit
	ChatTemplate   string           // replaces the template of every model; "": each model's own
	Verbose        bool             // chat answers include their prompts
	NoSlots        bool             // GET /slots is refused
	SlotFolder     string           // for the files of POST /slots/N; "": saving is refused
	SlotBytes      int64            // of all of them; default 8 GiB
	LlamaMetrics   bool             // GET /metrics adds metrics under llama-server's names
	DefaultTokens  int              // max_tokens of requests without it; default 1024
	StrictModels   bool             // refuse unknown model names; otherwise a sole model answers to every name
	MaxModels      int              // limit of models of AddModel in memory at once; 0: as many as fit
	ManualModels   bool             // models of AddModel are loaded only by POST /models/load, not on demand
	RetryMax       int              // re-asks after an invalid answer; default 2, negative: none
	Feedback       string           // file of assessments and their outcomes, for OpenFeedback; "": not kept
	Responses      stored.Limits    // limits of stored responses; zero fields: 1,000, 64 MiB, 24 hours
	ResponsesFile  string           // file for OpenResponses; "": in memory

	Background background.Limits // of responses in the background; zero fields: 64, 16 for each client, 64 MiB and 5 minutes for their events

	Log       *slog.Logger // default slog.Default()
	LogBodies bool         // log request bodies, including prompts

	Access  access.Config
	TLSCert string // files of the certificate and its key; "": plain HTTP
	TLSKey  string

	AgentTools       agent.Toolbox  // tools that agent runs may use; nil: none
	AgentPrompts     *agent.Prompts // nil: the default prompts
	AgentBounds      agent.Bounds   // upper limits of the bounds a run may request; zero fields: MaxAgentBounds
	AgentPaused      int            // paused runs kept while they wait for their users; default 64
	AgentPausedBytes int64          // their total size; default 64 MiB
	AgentPausedTime  time.Duration  // how long they are kept; default an hour
}

func (c Config) withDefaults() Config {
	c.BodyLimit = cmp.Or(c.BodyLimit, 32<<20)
	c.SlotBytes = cmp.Or(c.SlotBytes, 8<<30)
	c.RequestTimeout = cmp.Or(c.RequestTimeout, 10*time.Minute)
	c.MemoryLimit = cmp.Or(c.MemoryLimit, 2<<30)
	if c.SchemaLimits.Memory <= 0 {
		c.SchemaLimits.Memory = int(min(512<<20, c.MemoryLimit/4))
	}
	c.SchemaCache = cmp.Or(c.SchemaCache, 256)
	c.DefaultTokens = cmp.Or(c.DefaultTokens, 1024)
	c.RetryMax = max(0, cmp.Or(c.RetryMax, 2))
	c.Responses.Number = cmp.Or(c.Responses.Number, 1000)
	c.Responses.Bytes = cmp.Or(c.Responses.Bytes, 64<<20)
	c.Responses.Time = cmp.Or(c.Responses.Time, 24*time.Hour)
	c.Background.Number = cmp.Or(c.Background.Number, 64)
	c.Background.PerClient = cmp.Or(c.Background.PerClient, 16)
	c.Background.Bytes = cmp.Or(c.Background.Bytes, 64<<20)
	c.Background.Keep = cmp.Or(c.Background.Keep, 5*time.Minute)
	if c.Log == nil {
		c.Log = slog.Default()
	}
	c.AgentBounds = agentapi.Bounded(c.AgentBounds)
	c.AgentPaused = cmp.Or(c.AgentPaused, 64)
	c.AgentPausedBytes = cmp.Or(c.AgentPausedBytes, 64<<20)
	c.AgentPausedTime = cmp.Or(c.AgentPausedTime, time.Hour)
	return c
}

// A Server answers HTTP requests. It may listen before its model is loaded: until SetModel or AddModel is called,
// requests that need a model get 503 with Retry-After.
type Server struct {
	cfg     Config
	guard   *access.Guard
	handler http.Handler
	metrics *metrics
	memory  memory
	turns   turns
	models  *registry.Registry
	text    *generation.Service
	assess  *assess.Assessor
	agents  *agentapi.Handlers
	openai  *openai.Handlers
}

// New returns a server without a model.
func New(cfg Config) *Server {
	cfg = cfg.withDefaults()
	s := &Server{cfg: cfg, guard: access.New(cfg.Access), metrics: newMetrics(), models: registry.New(cfg.Log, cfg.SchemaCache), assess: assess.New(cfg.Log)}
	s.models.SchemaLimits, s.models.Strict, s.models.ToolForm = cfg.SchemaLimits, cfg.StrictModels, cfg.ToolForm
	// A quarter for bodies, a quarter for caches of constraints; the rest is for requests in progress.
	s.memory.limit, s.models.CacheBytes = cfg.MemoryLimit/4, int(cfg.MemoryLimit/4)
	s.models.Template, s.models.Max, s.models.Manual = cfg.ChatTemplate, cfg.MaxModels, cfg.ManualModels
	s.text = generation.New(s.models, s.assess, generation.Settings{Log: cfg.Log, Timeout: cfg.RequestTimeout, Tokens: cfg.DefaultTokens, Retries: cfg.RetryMax, Version: cfg.Version, Verbose: cfg.Verbose, Defaults: cfg.Defaults})
	s.agents = agentapi.New(s.text, agentapi.Settings{
		Tools: cfg.AgentTools, Prompts: cfg.AgentPrompts, Bounds: cfg.AgentBounds,
		Paused: cfg.AgentPaused, PausedBytes: cfg.AgentPausedBytes, PausedTime: cfg.AgentPausedTime,
	})
	s.metrics.all.Add(modelMetrics{s.models})
	if cfg.LlamaMetrics {
		s.metrics.all.Add(llamaMetrics{s.models})
	}
	s.metrics.all.Add(s.text.Counts.Metrics()...)
	s.metrics.all.Add(s.assess.Counts.Metrics()...)
	s.metrics.all.Add(s.agents.Metrics()...)
	s.openai = &openai.Handlers{Service: s.text, Responses: stored.New(cfg.Responses), Background: background.New(cfg.Background), Ended: s.ended}
	s.metrics.all.Add(backgroundMetrics{s.openai.Background})
	s.handler = s.routes()
	return s
}

// Handler returns the server as a handler, for tests and for embedding.
func (s *Server) Handler() http.Handler { return s.handler }

// Limits of one connection. Generation takes as long as it needs, so only headers and idle connections are timed here;
// body reads and single writes set their own deadlines.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

// Serve answers requests on l until ctx ends. Then it accepts no more, waits up to grace for running requests, also those
// in the background, and returns.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	h := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.cfg.Log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() {
		if s.cfg.TLSCert != "" {
			failed <- h.ServeTLS(l, s.cfg.TLSCert, s.cfg.TLSKey)
			return
		}
		failed <- h.Serve(l)
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.models.Close()
	s.cfg.Log.Info("shutting down", "grace", grace)
	wait, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.openai.Background.Close(wait)
	}()
	err := h.Shutdown(wait)
	if err != nil {
		// Closing the connections of requests still running cancels them.
		err = errors.Join(err, h.Close())
	}
	<-ended
	return err
}

// Engines and Loader are the registry types that models are added with.
type (
	Engines = registry.Engines
	Loader  = registry.Loader
)

// MaxAgentBounds are the largest bounds that agent runs may request unless Config.AgentBounds changes them.
var MaxAgentBounds = agentapi.MaxBounds

// SetModel serves a model under a name, after preparing what is computed once for its vocabulary. The caller closes the
// engine, after Serve has returned.
func (s *Server) SetModel(name string, e *engine.Engine) error {
	return s.SetEngines(name, Engines{Text: e})
}

// SetEngines is SetModel for a model that also, or only, embeds or reranks.
func (s *Server) SetEngines(name string, e Engines) error {
	return s.models.Set(name, e)
}

// SetSleeping is SetEngines for a model that is unloaded after being unused for keep; the next request loads it again
// with load. The server owns it: CloseModels unloads it.
func (s *Server) SetSleeping(name string, e Engines, closer func() error, load Loader, keep time.Duration) error {
	return s.models.SetSleeping(name, e, closer, load, keep)
}

// DescribeModel sets aliases that requests may use for a model, and tags that GET /models shows. It is called right
// after the model was added.
func (s *Server) DescribeModel(name string, aliases, tags []string) {
	s.models.Describe(name, aliases, tags)
}

// AddModel makes a model available under a name. It is loaded on demand and unloaded after being unused for keep; a
// negative keep means never. CloseModels unloads it if it is still loaded.
func (s *Server) AddModel(name string, load Loader, keep time.Duration) {
	s.models.Add(name, load, keep)
}

// CloseModels unloads the models of AddModel and SetSleeping. Requests for them must have ended.
func (s *Server) CloseModels() error { return s.models.Unload() }

// AddUpstream makes an upstream's model available under a name.
func (s *Server) AddUpstream(name string, c *remote.Client) {
	upstream.Add(s.models, s.cfg.Log, name, c)
}

// OpenFeedback opens the file Config.Feedback, if set. It is called before Serve. After an error the server remains
// usable; requests that need the file get the error.
func (s *Server) OpenFeedback() error {
	err := s.assess.Outcomes.Open(s.cfg.Feedback)
	if s.cfg.Feedback != "" {
		s.Stores("feedback", err == nil)
	}
	return err
}

// CloseFeedback closes the file. Requests must have ended.
func (s *Server) CloseFeedback() error { return s.assess.Outcomes.Close() }

// OpenResponses opens the file Config.ResponsesFile, if set. It is called before Serve. After an error responses are
// kept in memory.
func (s *Server) OpenResponses() error {
	if s.cfg.ResponsesFile == "" {
		return nil
	}
	store, err := stored.Open(s.cfg.ResponsesFile, s.cfg.Responses)
	s.Stores("responses", err == nil)
	if err == nil {
		s.openai.Responses = store
	}
	return err
}

// CloseResponses ends what runs in the background and closes the file. Requests must have ended.
func (s *Server) CloseResponses() error {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	s.openai.Background.Close(now)
	return s.openai.Responses.Close()
}
