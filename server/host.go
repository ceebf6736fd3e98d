package server

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

	"stencil/backend"
	"stencil/chat"
	"stencil/decoder/walk"
	"stencil/embedding"
	"stencil/engine"
	"stencil/vocab"
)

// Engines are what serves a model: one that generates text, one for embeddings
// or reranking, or both. Either may be nil.
type Engines struct {
	Text       *engine.Engine
	Embeddings *embedding.Engine
}

// A Loader loads a model and makes its engines. It returns what closes all of
// them. When memory is short, the error matches backend.ErrMemory.
type Loader func(ctx context.Context) (e Engines, close func() error, err error)

// A host is a model that can be asked for, in memory or not.
type host struct {
	name    string
	created time.Time
	all     *registry
	load    Loader        // nil: always in memory
	keep    time.Duration // how long it stays in memory unused; negative: for ever

	mu      sync.Mutex
	current *served // nil while it is not in memory
	close   func() error
	users   int           // requests that use it
	used    time.Time     // when the last one ended
	loading chan struct{} // closed when the running attempt to load has ended; nil if there is none
	err     error         // of the last attempt
	timer   *time.Timer   // unloads it
	expires time.Time     // when that is; zero: never
}

// served is a model in memory.
type served struct {
	host     *host
	name     string
	created  time.Time
	text     text           // what writes its texts, if anything does
	here     *engine.Engine // the same, where it is an engine of this process; else nil
	unmasked string         // why its texts can only be checked; "": masks enforce constraints
	remote   bool           // it is behind someone else's API
	prompts  *engine.Prompts
	schemas  *engine.Schemas
	grammars *engine.Grammars
	parts    *engine.Sequences
	callForm chat.CallForm // how the model writes calls, and whether its template says so
	callsAs  bool
	thoughts chat.ThoughtForm // how it writes thoughts
	thinksAs bool
	// tokens are the vocabulary by text, made when first asked for.
	tokens func() *walk.Tokens

	embeddings *embedding.Engine // nil: the model neither embeds nor reranks
}

// newModel returns a model whose texts are written by t, with what is compiled once
// for its vocabulary.
func (h *host) newModel(t text) *served {
	v, limit := t.Vocab(), h.all.schemas
	return &served{
		host: h, name: h.name, created: h.created, text: t,
		prompts: engine.NewPrompts(v), schemas: engine.NewSchemas(v, limit), grammars: engine.NewGrammars(v, limit), parts: engine.NewSequences(v, limit),
		tokens: sync.OnceValue(func() *walk.Tokens { return walk.NewTokens(v) }),
	}
}

// newServed prepares what is prepared once for a model's vocabulary.
func (h *host) newServed(engines Engines) (*served, error) {
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
	m.here, m.embeddings = engines.Text, engines.Embeddings
	if engines.Text == nil {
		return m, nil
	}
	m.callForm, m.callsAs = m.prompts.CallForm()
	m.thoughts, m.thinksAs = m.prompts.ThoughtForm()
	if err := m.schemas.Warm(); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	return m, nil
}

// A registry holds the models that can be asked for.
type registry struct {
	log     *slog.Logger
	schemas int // compiled schemas kept for each model
	closing atomic.Bool

	mu    sync.Mutex
	hosts []*host // replaced, never changed
}

// newRegistry returns a registry without a model.
func newRegistry(log *slog.Logger, schemas int) *registry {
	return &registry{log: log, schemas: schemas}
}

// set puts a model into service under a name, once everything that is prepared
// only once for its vocabulary is. The engines stay the caller's to close.
func (r *registry) set(name string, e Engines) error {
	h := &host{name: name, created: time.Now(), all: r, keep: -1}
	m, err := h.newServed(e)
	if err != nil {
		return err
	}
	h.current = m
	r.put(h)
	return nil
}

// add makes a model available under a name. It is loaded when it is asked for, and
// unloaded when nobody has used it for keep; a negative keep is for ever.
func (r *registry) add(name string, load Loader, keep time.Duration) {
	r.put(&host{name: name, created: time.Now(), all: r, load: load, keep: keep})
}

// addRemote makes a model available that is behind someone else's API, and whose
// texts can only be checked, for the reason that unmasked gives.
func (r *registry) addRemote(name string, t text, unmasked string) {
	h := &host{name: name, created: time.Now(), all: r, keep: -1}
	h.current = h.newModel(t)
	h.current.unmasked, h.current.remote = unmasked, true
	r.put(h)
}

func (r *registry) put(h *host) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts = slices.DeleteFunc(slices.Clone(r.hosts), func(x *host) bool { return x.name == h.name })
	r.hosts = append(r.hosts, h)
}

// every returns the models that can be asked for, in the order in which they were
// added, if there are any.
func (r *registry) every() []*host {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hosts
}

// list is every, but an error while there are none, and when the server ends.
func (r *registry) list() ([]*host, error) {
	if r.closing.Load() {
		return nil, engine.ErrClosed
	}
	hosts := r.every()
	if len(hosts) == 0 {
		return nil, errLoading
	}
	return hosts, nil
}

// close has every request from now on refused.
func (r *registry) close() { r.closing.Store(true) }

// unload frees the models that add brought. Requests for them must have ended.
func (r *registry) unload() error {
	var all error
	for _, h := range r.every() {
		all = errors.Join(all, h.unloadNow())
	}
	return all
}

// unloadNow frees the model's memory unless somebody uses it.
func (h *host) unloadNow() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unload()
}

// inMemory returns the model if it is in memory, else nil.
func (h *host) inMemory() *served {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.current
}

// acquire returns the model, loaded if it is not in memory. It stays there
// until release.
func (h *host) acquire(ctx context.Context) (*served, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	tried := false
	for h.current == nil {
		if h.loading == nil {
			if tried {
				return nil, h.err
			}
			h.loading = make(chan struct{})
			go h.bring(h.loading)
		}
		tried = true
		wait := h.loading
		h.mu.Unlock()
		select {
		case <-wait:
			h.mu.Lock()
		case <-ctx.Done():
			h.mu.Lock()
			return nil, context.Cause(ctx)
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

// bring loads the model. It goes on when the request that asked for it is gone:
// the next one will be glad.
func (h *host) bring(done chan struct{}) {
	start := time.Now()
	e, closer, err := h.load(context.Background())
	for errors.Is(err, backend.ErrMemory) && h.all.makeRoom(h) {
		e, closer, err = h.load(context.Background())
	}
	var m *served
	if err == nil {
		if m, err = h.newServed(e); err != nil {
			err = errors.Join(err, closer())
		}
	}
	log := h.all.log
	if err != nil {
		log.Error("a model can't be loaded", slog.String("model", h.name), slog.Any("error", err))
		err = &loadError{h.name, err}
	} else {
		log.Info("a model is loaded", slog.String("model", h.name), slog.Duration("took", time.Since(start)))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current, h.close, h.err, h.loading = m, closer, err, nil
	close(done)
}

// release says that a request no longer uses the model. It is unloaded after
// its time, or after keep if that is given.
func (h *host) release(keep *time.Duration) {
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
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.expires.IsZero() || time.Now().Before(h.expires) {
			return // somebody came in between
		}
		if err := h.unload(); err != nil {
			h.all.log.Error("a model can't be unloaded", slog.String("model", h.name), slog.Any("error", err))
		}
	})
}

// unload frees the model's memory unless somebody uses it. The lock is held.
func (h *host) unload() error {
	if h.current == nil || h.users > 0 || h.load == nil {
		return nil
	}
	closer := h.close
	h.current, h.close, h.expires = nil, nil, time.Time{}
	h.all.log.Info("a model is unloaded", slog.String("model", h.name))
	return closer()
}

// makeRoom unloads the model that was not used for longest and reports whether
// there was one.
func (r *registry) makeRoom(wanted *host) bool {
	hosts := r.every()
	var oldest *host
	var since time.Time
	for _, h := range hosts {
		if h == wanted {
			continue
		}
		h.mu.Lock()
		idle, used := h.current != nil && h.load != nil && h.users == 0, h.used
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

// A loadError says that a model can't be loaded.
type loadError struct {
	name  string
	cause error
}

// Error implements error.
func (e *loadError) Error() string { return fmt.Sprintf("the model %q can't be loaded", e.name) }

// why returns what kind of fault the file has, to be added to the text. The cause
// itself is for the log: it tells where files lie.
func (e *loadError) why() string {
	for _, kind := range []struct {
		is  error
		why string
	}{
		{fs.ErrNotExist, "its file is gone"},
		{backend.ErrTruncated, "its file is truncated"},
		{backend.ErrDamaged, "its file is damaged"},
		{backend.ErrArchitecture, "its architecture is not supported"},
		{backend.ErrNotModel, "its file is no model"},
	} {
		if errors.Is(e.cause, kind.is) {
			return ": " + kind.why
		}
	}
	return ""
}

// Unwrap returns the cause.
func (e *loadError) Unwrap() error { return e.cause }

// find returns the host of a model by its name; "" is the first one.
func (r *registry) find(name string) (*host, error) {
	hosts, err := r.list()
	if err != nil {
		return nil, err
	}
	if name == "" {
		return hosts[0], nil
	}
	var names []string
	for _, h := range hosts {
		if name == h.name || name == h.name+":latest" {
			return h, nil
		}
		names = append(names, h.name)
	}
	return nil, &modelError{asked: name, served: names}
}

// named returns the model that a request for text asks for, in memory until the
// request has ended. After it, the model stays there for keep, if that is given.
func (r *registry) named(ctx context.Context, name string, keep *time.Duration) (*served, error) {
	return r.namedFor(ctx, name, keep, toGenerate)
}

// namedFor is named for any purpose. A model that can't be asked for that is
// refused.
func (r *registry) namedFor(ctx context.Context, name string, keep *time.Duration, p purpose) (*served, error) {
	m, err := r.anyNamed(ctx, name, keep)
	if err == nil && !m.serves(p) {
		return nil, &purposeError{model: m.name, wanted: p, served: m.purposes(), remote: m.remote}
	}
	return m, err
}

// anyNamed is named for whatever the model can do.
func (r *registry) anyNamed(ctx context.Context, name string, keep *time.Duration) (*served, error) {
	h, err := r.find(name)
	if err != nil {
		return nil, err
	}
	m, err := h.acquire(ctx)
	if err != nil {
		return nil, err
	}
	noteOf(ctx).atEnd(func() { h.release(keep) })
	return m, nil
}

// someServed returns a model in memory that generates text, nil if there is none.
func (r *registry) someServed() *served {
	for _, h := range r.every() {
		if m := h.inMemory(); m != nil && m.serves(toGenerate) {
			return m
		}
	}
	return nil
}

// expiry is when a model will be unloaded as things are.
func (h *host) expiry() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.expires.IsZero() && h.load != nil && h.keep >= 0 {
		return time.Now().Add(h.keep) // in use
	}
	return cmp.Or(h.expires, forEver)
}

// errLoading says that there is no model yet.
var errLoading = newKnown(problem{
	status: http.StatusServiceUnavailable, kind: kindServer, code: "loading", message: "the model is still loading", retryAfter: 2 * time.Second,
})

// A modelError says that a request names a model that is not served.
type modelError struct {
	asked  string
	served []string
}

func (e *modelError) Error() string {
	if len(e.served) == 1 {
		return fmt.Sprintf("the model %q is not served here; %q is", e.asked, e.served[0])
	}
	return fmt.Sprintf("the model %q is not served here; %s are", e.asked, quotedList(e.served))
}

func (e *modelError) problem() problem {
	return problem{status: http.StatusNotFound, kind: kindNotFound, param: "model", code: "model_not_found", message: e.Error()}
}

func (e *loadError) problem() problem {
	p := problem{status: http.StatusUnprocessableEntity, kind: kindInvalid, param: "model", code: "model_not_loadable", message: e.Error() + e.why()}
	if errors.Is(e.cause, backend.ErrMemory) {
		p.code, p.message = "not_enough_memory", e.Error()+": there is not enough memory for it"
	}
	return p
}

// A text is what is known of whatever writes a model's texts: an engine, or a server
// that is asked.
type text interface {
	Vocab() *vocab.Vocab
	Model() backend.Model
	ContextLimit() int // 0: nobody says
	Parallel() int
	Stats() engine.Stats
}

// forEver is when a model expires that does not.
var forEver = time.Date(2318, 1, 1, 0, 0, 0, 0, time.UTC)
