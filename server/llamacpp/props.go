package llamacpp

import (
	"math"
	"net/http"
	"path/filepath"
	"time"

	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
	"github.com/stencil-json/stencil/vocab"
)

// A propsReply is what programs query about a server before anything else.
type propsReply struct {
	Defaults     slotReply       `json:"default_generation_settings"`
	Slots        int             `json:"total_slots"`
	Alias        string          `json:"model_alias"`
	Path         string          `json:"model_path"`
	Modalities   map[string]bool `json:"modalities"`
	SlotsPath    bool            `json:"endpoint_slots"`
	PropsPath    bool            `json:"endpoint_props"` // whether they can be changed
	MetricsPath  bool            `json:"endpoint_metrics"`
	UI           bool            `json:"webui"`
	ChatTemplate string          `json:"chat_template"`
	BOS          string          `json:"bos_token"`
	EOS          string          `json:"eos_token"`
	Build        string          `json:"build_info"`
	Sleeping     bool            `json:"is_sleeping"`
	Role         string          `json:"role"` // "model"; "router" if there are several models

	// With several models: how many may be in memory at once, 0 for as many as fit, and whether requests load them.
	MaxInstances *int  `json:"max_instances,omitempty"`
	Autoload     *bool `json:"models_autoload,omitempty"`
}

// Props handles GET /props for the model that the query names, or else the first one. It does not load the model.
func (s *Handlers) Props(r *http.Request) (wire.Answer, error) {
	h, err := s.Models.Find(r.URL.Query().Get("model"))
	if err != nil {
		return nil, err
	}
	all, err := s.Models.List()
	if err != nil {
		return nil, err
	}
	reply := propsReply{
		Alias: h.Name, Path: h.Name, Modalities: map[string]bool{"vision": false, "audio": false, "video": false},
		SlotsPath: true, MetricsPath: true, Build: Build(s.Version), Sleeping: true, Role: "model",
	}
	if len(all) > 1 {
		auto := !s.Models.Manual
		reply.Role, reply.MaxInstances, reply.Autoload = "router", &s.Models.Max, &auto
	}
	q := &request.Request{Sampling: request.LlamaSampling}
	defaults := &s.Defaults
	if m := h.InMemory(); m != nil {
		defaults = defaults.Over(m.Text.Model().Info().Sampling)
	}
	if err := q.Fill(defaults); err != nil {
		return nil, err
	}
	params := settingsOf(q.Sampling, s.Tokens)
	params.chosen(q, q.Sampling.LogitBias)
	if !q.Seeded {
		params.Seed = math.MaxUint32 // a random one
	}
	reply.Defaults.Params = &params
	if m := h.InMemory(); m != nil {
		reply.Sleeping = false
		reply.Slots, reply.Defaults.Context = m.Text.Parallel(), contextOf(m)
		if m.Engine != nil || m.Embeddings != nil {
			reply.Path = filepath.Base(m.Text.Model().Info().Path) // folders are not for clients
		}
		if m.Prompts != nil {
			reply.ChatTemplate = m.Prompts.Template()
		}
		v := m.Text.Vocab()
		reply.BOS, reply.EOS = textOf(v, v.BOS), textOf(v, v.EOS)
	}
	return wire.JSON{Value: reply}, nil
}

func textOf(v *vocab.Vocab, token func() (int32, bool)) string {
	id, ok := token()
	if !ok {
		return ""
	}
	return v.Text(id)
}

type healthReply struct {
	Status string `json:"status"`
}

// Health handles GET /health: it reports ok once requests are served.
func (s *Handlers) Health(*http.Request) (wire.Answer, error) {
	if _, err := s.Models.List(); err != nil {
		return nil, err
	}
	return wire.JSON{Value: healthReply{"ok"}}, nil
}

type doneReply struct {
	Success bool `json:"success"`
}

// Load handles POST /models/load: it starts loading a model and does not wait; GET /models reports the status.
func (s *Handlers) Load(r *http.Request) (wire.Answer, error) {
	h, err := s.named(r)
	if err != nil {
		return nil, err
	}
	h.Load()
	return wire.JSON{Value: doneReply{true}}, nil
}

// Unload handles POST /models/unload: it frees a model's memory unless a request uses it.
func (s *Handlers) Unload(r *http.Request) (wire.Answer, error) {
	h, err := s.named(r)
	if err != nil {
		return nil, err
	}
	if !h.Unloadable() {
		return nil, wire.Invalid("model", "the model %q was loaded when the server started and stays until it ends", h.Name)
	}
	if err := h.UnloadNow(); err != nil {
		return nil, err
	}
	if h.InMemory() != nil {
		return nil, errInUse
	}
	return wire.JSON{Value: doneReply{true}}, nil
}

func (s *Handlers) named(r *http.Request) (*registry.Entry, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	var q request.Request
	for _, err := range []error{o.Only("model"), q.ReadModel(o)} {
		if err != nil {
			return nil, err
		}
	}
	if q.Model == "" {
		return nil, wire.Invalid("model", "model is missing")
	}
	return s.Models.Find(q.Model)
}

// Errors about slots and models in use.
var (
	errNoSlot = problem.New(problem.Problem{Status: http.StatusServiceUnavailable, Kind: problem.Server, Code: "no_slot", Message: "no slot available: all of them are in use", RetryAfter: time.Second})
	errInUse  = problem.New(problem.Problem{Status: http.StatusConflict, Kind: problem.Invalid, Code: "model_in_use", Message: "the model is in use"})
)
