package llamacpp

import (
	"net/http"
	"path/filepath"

	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// An adapterReply is one of a model's adapters.
type adapterReply struct {
	ID    int     `json:"id"`
	Path  string  `json:"path,omitempty"` // the file's base name
	Scale float32 `json:"scale"`
}

// Adapters handles GET /lora-adapters: it lists a model's adapters with their default scales. The query names the
// model; without one, it is the first.
func (s *Handlers) Adapters(r *http.Request) (wire.Answer, error) {
	m, err := s.adaptable(r)
	if err != nil {
		return nil, err
	}
	out := []adapterReply{}
	for i, a := range m.Engine.Adapters() {
		out = append(out, adapterReply{i, filepath.Base(a.Path), a.Scale})
	}
	return wire.JSON{Value: out}, nil
}

// SetAdapters handles POST /lora-adapters: it sets the default scales for later requests, 0 for adapters not in the
// list.
func (s *Handlers) SetAdapters(r *http.Request) (wire.Answer, error) {
	o, err := wire.ReadList(r, "adapters")
	if err != nil {
		return nil, err
	}
	list, err := request.ReadAdapters(o, "adapters")
	if err != nil {
		return nil, err
	}
	m, err := s.adaptable(r)
	if err != nil {
		return nil, err
	}
	scales, err := request.Scales(list, len(m.Engine.Adapters()))
	if err != nil {
		return nil, err
	}
	m.Engine.Adapt(scales)
	return wire.JSON{Value: doneReply{true}}, nil
}

func (s *Handlers) adaptable(r *http.Request) (*registry.Model, error) {
	m, err := s.Models.Named(r.Context(), r.URL.Query().Get("model"), nil)
	if err == nil && m.Engine == nil {
		err = notSupported("not_offered", "the model %q has no adapters", m.Name)
	}
	return m, err
}
