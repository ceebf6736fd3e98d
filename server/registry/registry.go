package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
	"github.com/stencil-json/stencil/vocab"
)

// Engines are the engines of a model: one for text, one for embeddings or reranking, or both. Either may be nil.
type Engines struct {
	Text       *engine.Engine
	Embeddings *embedding.Engine
}

// A Loader loads a model and creates its engines. It returns a function that closes all of them. If memory is short,
// the error matches backend.ErrMemory.
type Loader func(ctx context.Context) (e Engines, close func() error, err error)

// An Entry is a model that can be requested, in memory or not.
type Entry struct {
	Name     string
	Created  time.Time
	Aliases  []string // further names
	Tags     []string // labels set by the operator
	registry *Registry
	load     Loader        // nil: always in memory
	keep     time.Duration // how long it stays in memory unused; negative: forever

	mu      sync.Mutex
	current *Model // nil while not in memory
	close   func() error
	users   int           // requests that are using it
	waiting int           // requests waiting for it to be loaded
	placed  bool          // counts towards the registry's Max
	used    time.Time     // when the last use ended
	loading chan struct{} // closed when the load attempt in progress ends; nil if there is none
	err     error         // of the last attempt
	timer   *time.Timer   // unloads the model
	expires time.Time     // when the timer fires; zero: never
}

// Model is a model in memory.
type Model struct {
	Entry        *Entry
	Name         string
	created      time.Time
	Text         text           // what generates its texts, or describes a model that generates none
	Engine       *engine.Engine // Text, if it is an engine of this process; else nil
	Unmasked     string         // why its texts can only be validated; "": masks enforce constraints
	remote       bool           // served by an upstream
	Prompts      *chat.Prompts
	Schemas      *constraint.Schemas
	Grammars     *constraint.Grammars
	Sequences    *constraint.Sequences
	CallForm     chat.CallForm // how the model writes tool calls, and whether its template says so
	CallsSaid    bool
	ThoughtForm  chat.ThoughtForm // how it writes reasoning
	ThoughtsSaid bool
	// Tokens returns the vocabulary by text, computed on first use.
	Tokens func() *walk.Tokens

	Embeddings *embedding.Engine // nil: the model neither embeds nor reranks
}

// newModel returns a model whose texts t generates, with the caches for its vocabulary.
func (h *Entry) newModel(t text) *Model {
	v, limit := t.Vocab(), h.registry.schemas
	m := &Model{
		Entry: h, Name: h.Name, created: h.Created, Text: t,
		Prompts: chat.NewPromptsAs(v, h.registry.Template, h.registry.ToolForm), Schemas: constraint.NewSchemas(v, limit), Grammars: constraint.NewGrammars(v, limit), Sequences: constraint.NewSequences(v, limit),
		Tokens: sync.OnceValue(func() *walk.Tokens { return walk.NewTokens(v) }),
	}
	m.Schemas.Limits = h.registry.SchemaLimits
	if n := h.registry.CacheBytes / 3; n > 0 {
		m.Schemas.KeepBytes(n)
		m.Grammars.KeepBytes(n)
		m.Sequences.KeepBytes(n)
	}
	return m
}

// newServed returns a model for engines, after preparing what is computed once for its vocabulary.
func (h *Entry) newServed(engines Engines) (*Model, error) {
	var e text
	switch {
	case engines.Text != nil:
		e = engines.Text
	case engines.Embeddings != nil:
		e = embedsOnly{engines.Embeddings}
	default:
		return nil, errors.New("server: a model without an engine")
	}
	m := h.newModel(e)
	m.Engine, m.Embeddings = engines.Text, engines.Embeddings
	if m.Engine != nil {
		m.Prompts.Within(m.Engine.ContextLimit())
	}
	if engines.Text == nil {
		return m, nil
	}
	m.CallForm, m.CallsSaid = m.Prompts.CallForm()
	m.ThoughtForm, m.ThoughtsSaid = m.Prompts.ThoughtForm()
	if err := m.Schemas.Warm(); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	return m, nil
}

// A Registry holds the models that can be requested.
type Registry struct {
	// SchemaLimits are the limits of schemas in requests; zero fields mean the default. Set before models are added.
	SchemaLimits schema.Limits
	// CacheBytes limits each model's caches of compiled constraints; 0: constraint.DefaultCacheBytes for each kind.
	CacheBytes int

	// Template replaces the chat template of every model; "": each model's own. Set before models are added.
	Template string

	// Strict refuses requests for models that are not served. Otherwise a server with one model answers them with that
	// one, since some programs have model names built in. Set before requests are served.
	Strict bool

	// Max is how many models loaded on demand may be in memory at once; 0: as many as fit. Set before models are added.
	Max int

	// Manual makes Load the only way to load models: requests don't. Set before requests are served.
	Manual bool

	// ToolForm is how all models write tool calls, one of chat.CallForms(); "": as each model's template says. Set
	// before models are added.
	ToolForm string

	log     *slog.Logger
	schemas int // size of each model's cache of compiled schemas
	closing atomic.Bool
	places  places

	mu    sync.Mutex
	hosts []*Entry // replaced on change, never modified
}

// New returns a registry without models.
func New(log *slog.Logger, schemas int) *Registry {
	r := &Registry{log: log, schemas: schemas}
	r.places.moved.L = &r.places.mu
	return r
}

// Set serves a model under a name, after preparing what is computed once for its vocabulary. The caller closes the
// engines.
func (r *Registry) Set(name string, e Engines) error {
	h := &Entry{Name: name, Created: time.Now(), registry: r, keep: -1}
	m, err := h.newServed(e)
	if err != nil {
		return err
	}
	h.current = m
	r.put(h)
	return nil
}

// SetSleeping is Set for a model that is unloaded after being unused for keep; the next request loads it again. The
// registry closes its engines.
func (r *Registry) SetSleeping(name string, e Engines, closer func() error, load Loader, keep time.Duration) error {
	h := &Entry{Name: name, Created: time.Now(), registry: r, load: load, keep: keep}
	m, err := h.newServed(e)
	if err != nil {
		return err
	}
	h.current, h.close, h.users = m, closer, 1
	r.put(h)
	h.release(nil) // starts its timer
	return nil
}

// Describe sets aliases and tags of a model. It is called before requests for it are served.
func (r *Registry) Describe(name string, aliases, tags []string) {
	for _, h := range r.Every() {
		if h.Name == name {
			h.Aliases, h.Tags = aliases, tags
		}
	}
}

// Add makes a model available under a name. It is loaded on demand and unloaded after being unused for keep; a negative
// keep means never.
func (r *Registry) Add(name string, load Loader, keep time.Duration) {
	r.put(&Entry{Name: name, Created: time.Now(), registry: r, load: load, keep: keep})
}

// AddRemote makes an upstream's model available. Its texts can only be validated, for the reason unmasked.
func (r *Registry) AddRemote(name string, t text, unmasked string) {
	h := &Entry{Name: name, Created: time.Now(), registry: r, keep: -1}
	h.current = h.newModel(t)
	h.current.Unmasked, h.current.remote = unmasked, true
	r.put(h)
}

func (r *Registry) put(h *Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts = slices.DeleteFunc(slices.Clone(r.hosts), func(x *Entry) bool { return x.Name == h.Name })
	r.hosts = append(r.hosts, h)
}

// Every returns all entries in the order in which they were added, possibly none.
func (r *Registry) Every() []*Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hosts
}

// List is Every, but returns an error while there are no models and after Close.
func (r *Registry) List() ([]*Entry, error) {
	if r.closing.Load() {
		return nil, engine.ErrClosed
	}
	hosts := r.Every()
	if len(hosts) == 0 {
		return nil, errLoading
	}
	return hosts, nil
}

// Close makes the registry refuse all further requests.
func (r *Registry) Close() {
	r.closing.Store(true)
	r.leave()
}

// Unload unloads all models that the registry loads or closes. Requests for them must have ended.
func (r *Registry) Unload() error {
	var all error
	for _, h := range r.Every() {
		all = errors.Join(all, h.UnloadNow())
	}
	return all
}

// UnloadNow frees the model's memory unless a request uses it.
func (h *Entry) UnloadNow() error {
	defer h.registry.leave()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unload()
}

// Unloadable reports whether the model's memory can be freed while the server runs.
func (h *Entry) Unloadable() bool { return h.load != nil }

// Load starts loading the model unless it is loaded or being loaded. It does not wait.
func (h *Entry) Load() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current != nil || h.loading != nil {
		return
	}
	h.loading = make(chan struct{})
	h.waiting++ // counts as a waiting request, on behalf of the caller
	go func(done chan struct{}) {
		h.bring(done)
		h.mu.Lock()
		h.waiting--
		h.mu.Unlock()
		if _, err := h.acquire(context.Background()); err == nil { // bring logs its error
			h.release(nil) // starts its timer
		}
	}(h.loading)
}

// Status returns "loaded", "loading" or "unloaded", and whether the last attempt to load the model failed.
func (h *Entry) Status() (status string, failed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.current != nil:
		return "loaded", false
	case h.loading != nil:
		return "loading", false
	}
	return "unloaded", h.err != nil
}

// InMemory returns the model, nil if it is not in memory.
func (h *Entry) InMemory() *Model {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.current
}

// acquire returns the model, after loading it if necessary. It stays in memory until release.
func (h *Entry) acquire(ctx context.Context) (*Model, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	tried := false
	for h.current == nil {
		if h.loading == nil {
			if tried && h.err != nil {
				return nil, h.err
			}
			h.loading = make(chan struct{})
			go h.bring(h.loading)
		}
		tried = true
		wait := h.loading
		h.waiting++
		h.mu.Unlock()
		wire.NoteOf(ctx).Prepared() // other requests of the client don't wait for the model
		var err error
		select {
		case <-wait:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		h.mu.Lock()
		h.waiting--
		if err != nil {
			go h.registry.leave() // this may have been the last waiting request
			return nil, err
		}
	}
	h.users++
	if h.timer != nil {
		h.timer.Stop()
		h.timer = nil
	}
	h.expires = time.Time{}
	return h.current, nil
}

// bring loads the model. It continues even if the request that started it is cancelled: later requests benefit.
func (h *Entry) bring(done chan struct{}) {
	if !h.registry.enter(h, done) {
		return
	}
	defer h.registry.leave()
	start := time.Now()
	e, closer, err := h.load(context.Background())
	for errors.Is(err, backend.ErrMemory) && h.registry.makeRoom(h) {
		e, closer, err = h.load(context.Background())
	}
	var m *Model
	if err == nil {
		if m, err = h.newServed(e); err != nil {
			err = errors.Join(err, closer())
		}
	}
	log := h.registry.log
	if err != nil {
		log.Error("loading a model failed", slog.String("model", h.Name), slog.Any("error", err))
		err = &loadError{h.Name, err}
	} else {
		log.Info("model loaded", slog.String("model", h.Name), slog.Duration("took", time.Since(start)))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current, h.close, h.err, h.loading, h.placed = m, closer, err, nil, m != nil && h.placed
	close(done)
}

// release ends one use of the model. Once unused, the model is unloaded after its keep time, or after *keep if given.
func (h *Entry) release(keep *time.Duration) {
	defer h.registry.leave()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.users--
	h.used = time.Now()
	after := h.keep
	if keep != nil {
		after = *keep
	}
	if h.users > 0 || h.load == nil || after < 0 {
		return
	}
	h.expires = h.used.Add(after)
	if h.timer != nil {
		h.timer.Stop()
	}
	h.timer = time.AfterFunc(after, func() {
		defer h.registry.leave()
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.expires.IsZero() || time.Now().Before(h.expires) {
			return // used again in the meantime
		}
		if err := h.unload(); err != nil {
			h.registry.log.Error("unloading a model failed", slog.String("model", h.Name), slog.Any("error", err))
		}
	})
}

// unload frees the model's memory unless a request uses it. The caller holds the lock.
func (h *Entry) unload() error {
	if h.current == nil || h.users > 0 || h.load == nil {
		return nil
	}
	closer := h.close
	h.current, h.close, h.expires, h.placed = nil, nil, time.Time{}, false
	h.registry.log.Info("model unloaded", slog.String("model", h.Name))
	return closer()
}

// makeRoom unloads the least recently used idle model and reports whether there was one.
func (r *Registry) makeRoom(wanted *Entry) bool {
	hosts := r.Every()
	var oldest *Entry
	var since time.Time
	for _, h := range hosts {
		if h == wanted {
			continue
		}
		h.mu.Lock()
		idle, used := h.current != nil && h.load != nil && h.users == 0 && h.waiting == 0, h.used
		h.mu.Unlock()
		if idle && (oldest == nil || used.Before(since)) {
			oldest, since = h, used
		}
	}
	if oldest == nil {
		return false
	}
	oldest.mu.Lock()
	defer oldest.mu.Unlock()
	return oldest.current != nil && oldest.unload() == nil
}

// A loadError means that a model can't be loaded.
type loadError struct {
	name  string
	cause error
}

// Error implements error.
func (e *loadError) Error() string { return fmt.Sprintf("the model %q can't be loaded", e.name) }

// why returns the kind of fault as an addition to the message. The cause itself goes only to the log, since it contains
// file paths.
func (e *loadError) why() string {
	for _, kind := range []struct {
		is  error
		why string
	}{
		{fs.ErrNotExist, "its file is gone"},
		{backend.ErrTruncated, "its file is truncated"},
		{backend.ErrDamaged, "its file is damaged"},
		{backend.ErrArchitecture, "its architecture is not supported"},
		{backend.ErrNotModel, "its file is not a model"},
	} {
		if errors.Is(e.cause, kind.is) {
			return ": " + kind.why
		}
	}
	return ""
}

// Unwrap returns the cause.
func (e *loadError) Unwrap() error { return e.cause }

// Find returns the entry of a model by name or alias; "" is the first model.
func (r *Registry) Find(name string) (*Entry, error) {
	hosts, err := r.List()
	if err != nil {
		return nil, err
	}
	if name == "" {
		return hosts[0], nil
	}
	var names []string
	for _, h := range hosts {
		if name == h.Name || name == h.Name+":latest" || slices.Contains(h.Aliases, name) {
			return h, nil
		}
		names = append(names, h.Name)
	}
	return nil, &modelError{asked: name, served: names}
}

// Named returns the model that a request for text names; it stays in memory until the request has ended, and for *keep
// after that if given.
func (r *Registry) Named(ctx context.Context, name string, keep *time.Duration) (*Model, error) {
	return r.NamedFor(ctx, name, keep, ToGenerate)
}

// NamedFor is Named for any purpose. It refuses a model that can't serve the purpose.
func (r *Registry) NamedFor(ctx context.Context, name string, keep *time.Duration, p Purpose) (*Model, error) {
	m, err := r.AnyNamed(ctx, name, keep)
	if err == nil && !m.Serves(p) {
		return nil, &purposeError{model: m.Name, wanted: p, served: m.Purposes(), remote: m.remote}
	}
	return m, err
}

// AnyNamed is Named regardless of the model's purposes.
func (r *Registry) AnyNamed(ctx context.Context, name string, keep *time.Duration) (*Model, error) {
	h, err := r.Find(name)
	if hosts := r.Every(); err != nil && !r.Strict && len(hosts) == 1 && !r.closing.Load() {
		h, err = hosts[0], nil
	}
	if err != nil {
		return nil, err
	}
	if status, _ := h.Status(); r.Manual && status == "unloaded" {
		return nil, errNotLoaded
	}
	m, err := h.acquire(ctx)
	if err != nil {
		return nil, err
	}
	wire.NoteOf(ctx).AtEnd(func() { h.release(keep) })
	return m, nil
}

// SomeServed returns a model in memory that generates text, nil if there is none.
func (r *Registry) SomeServed() *Model {
	for _, h := range r.Every() {
		if m := h.InMemory(); m != nil && m.Serves(ToGenerate) {
			return m
		}
	}
	return nil
}

// Expiry returns when the model will be unloaded if no further request uses it.
func (h *Entry) Expiry() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.expires.IsZero() && h.load != nil && h.keep >= 0 {
		return time.Now().Add(h.keep) // in use
	}
	return cmp.Or(h.expires, forEver)
}

// errLoading means that no model has been added yet.
var errLoading = problem.New(problem.Problem{
	Status: http.StatusServiceUnavailable, Kind: problem.Server, Code: "loading", Message: "the model is still loading", RetryAfter: 2 * time.Second,
})

// A modelError means that a request names a model that is not served.
type modelError struct {
	asked  string
	served []string
}

func (e *modelError) Error() string {
	if len(e.served) == 1 {
		return fmt.Sprintf("model %q not found: it is not served here; %q is", e.asked, e.served[0])
	}
	return fmt.Sprintf("model %q not found: it is not served here; %s are", e.asked, wire.QuotedList(e.served))
}

func (e *modelError) Problem() problem.Problem {
	return problem.Problem{Status: http.StatusNotFound, Kind: problem.NotFound, Param: "model", Code: "model_not_found", Message: e.Error()}
}

func (e *loadError) Problem() problem.Problem {
	p := problem.Problem{Status: http.StatusUnprocessableEntity, Kind: problem.Invalid, Param: "model", Code: "model_not_loadable", Message: e.Error() + e.why()}
	if errors.Is(e.cause, backend.ErrMemory) {
		p.Code, p.Message = "not_enough_memory", e.Error()+": there is not enough memory for it"
	}
	return p
}

// A text generates a model's texts, or describes the model: an engine or an upstream.
type text interface {
	Vocab() *vocab.Vocab
	Model() backend.Model
	ContextLimit() int // 0: unknown
	Parallel() int
	Stats() engine.Stats
}

// forEver is the expiry of models that don't expire.
var forEver = time.Date(2318, 1, 1, 0, 0, 0, 0, time.UTC)
