package ollama

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/wire"
)

type ollamaDetails struct {
	Parent       string   `json:"parent_model"`
	Format       string   `json:"format"`
	Family       string   `json:"family"`
	Families     []string `json:"families"`
	Parameters   string   `json:"parameter_size"`
	Quantization string   `json:"quantization_level"`
}

type ollamaModel struct {
	Name       string        `json:"name"`
	Model      string        `json:"model"`
	ModifiedAt time.Time     `json:"modified_at"`
	Size       int64         `json:"size"`
	Digest     string        `json:"digest"`
	Details    ollamaDetails `json:"details"`

	// Only in /api/ps:
	ExpiresAt     *time.Time `json:"expires_at,omitempty"`
	SizeVRAM      *int64     `json:"size_vram,omitempty"`
	ContextLength int        `json:"context_length,omitempty"`
}

// ollamaModelOf describes a model; only its name is known if it is not in memory.
func ollamaModelOf(h *registry.Entry) ollamaModel {
	sum := sha256.Sum256([]byte(h.Name))
	out := ollamaModel{
		Name: h.Name, Model: h.Name, ModifiedAt: h.Created.UTC(), Digest: hex.EncodeToString(sum[:]),
		Details: ollamaDetails{Format: "gguf", Families: []string{}},
	}
	m := h.InMemory()
	if m == nil {
		return out
	}
	info := m.Text.Model().Info()
	out.Size = int64(info.Bytes)
	out.Details = ollamaDetails{
		Format: "gguf", Family: info.Architecture, Families: []string{info.Architecture},
		Parameters: parameterSize(info.Parameters), Quantization: info.Quantization,
	}
	if file, err := os.Stat(info.Path); err == nil {
		out.ModifiedAt, out.Size = file.ModTime().UTC(), file.Size()
	}
	return out
}

// parameterSize formats a number of weights: 1.2B, 25.4M.
func parameterSize(n uint64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1fB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1fK", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

type ollamaList struct {
	Models []ollamaModel `json:"models"`
}

// Tags handles GET /api/tags: it lists the models that can be requested.
func (s *Handlers) Tags(*http.Request) (wire.Answer, error) {
	hosts, err := s.Models.List()
	if err != nil {
		return nil, err
	}
	var list ollamaList
	for _, h := range hosts {
		list.Models = append(list.Models, ollamaModelOf(h))
	}
	return wire.JSON{Value: list}, nil
}

// Ps handles GET /api/ps: it lists the models in memory.
func (s *Handlers) Ps(*http.Request) (wire.Answer, error) {
	hosts, err := s.Models.List()
	if err != nil {
		return nil, err
	}
	list := ollamaList{[]ollamaModel{}}
	for _, h := range hosts {
		m := h.InMemory()
		if m == nil {
			continue
		}
		one, vram, expires := ollamaModelOf(h), int64(0), h.Expiry()
		for _, d := range m.Text.Model().Info().Devices {
			if !strings.HasPrefix(d, "CPU") {
				vram = one.Size
			}
		}
		one.ExpiresAt, one.SizeVRAM, one.ContextLength = &expires, &vram, m.Text.ContextLimit()
		list.Models = append(list.Models, one)
	}
	return wire.JSON{Value: list}, nil
}

type ollamaShowReply struct {
	Modelfile    string         `json:"modelfile"`
	Parameters   string         `json:"parameters"`
	Template     string         `json:"template"`
	Details      ollamaDetails  `json:"details"`
	ModelInfo    map[string]any `json:"model_info"`
	Capabilities []string       `json:"capabilities"`
	ModifiedAt   time.Time      `json:"modified_at"`
}

var ollamaShowNames = wire.Names{
	Known:    []string{"model", "name", "verbose"},
	Harmless: []string{"system", "template", "options"},
}

// Show handles POST /api/show: it describes a model.
func (s *Handlers) Show(r *http.Request) (wire.Answer, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	if _, err := ollamaShowNames.Check(o); err != nil {
		return nil, err
	}
	name, verbose := "", false
	for _, err := range []error{o.Str("name", &name), o.Str("model", &name), o.Boolean("verbose", &verbose)} {
		if err != nil {
			return nil, err
		}
	}
	if name == "" {
		return nil, wire.Invalid("model", "model is required")
	}
	m, err := s.Models.AnyNamed(r.Context(), name, nil)
	if err != nil {
		return nil, err
	}
	info, one := m.Text.Model().Info(), ollamaModelOf(m.Entry)
	arch := info.Architecture
	var capabilities []string
	for _, p := range m.Purposes() {
		if capabilities = append(capabilities, string(p)); p == registry.ToGenerate {
			capabilities = append(capabilities, "tools")
			if m.ThoughtsSaid {
				capabilities = append(capabilities, "thinking")
			}
		}
	}
	return wire.JSON{Value: ollamaShowReply{
		Modelfile: "FROM " + info.Path, Template: m.Text.Vocab().ChatTemplate(), Details: one.Details, ModifiedAt: one.ModifiedAt,
		ModelInfo: map[string]any{
			"general.architecture":         arch,
			"general.name":                 info.Name,
			"general.parameter_count":      info.Parameters,
			arch + ".context_length":       info.ContextLength,
			arch + ".embedding_length":     info.Width,
			arch + ".block_count":          info.Layers,
			arch + ".attention.head_count": info.Heads,
		},
		Capabilities: capabilities,
	}}, nil
}

type ollamaVersionReply struct {
	Version string `json:"version"`
}

// Version is the version of Ollama whose client this dialect is tested with. Some programs parse it as
// numbers.
const Version = "0.24.0"

// ShowVersion handles GET /api/version.
func (s *Handlers) ShowVersion(*http.Request) (wire.Answer, error) {
	return wire.JSON{Value: ollamaVersionReply{Version}}, nil
}

// Hello handles GET and HEAD /, which programs use to detect a server.
func (s *Handlers) Hello(*http.Request) (wire.Answer, error) { return hello{}, nil }

// hello is Ollama's greeting; the response to HEAD has no body.
type hello struct{}

func (hello) Write(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := io.WriteString(w, "Ollama is running")
	return err
}

// pullNames are the fields of POST /api/pull.
var pullNames = wire.Names{Known: []string{"model", "name", "stream"}, Harmless: []string{"insecure", "username", "password"}}

// Pull handles POST /api/pull: it succeeds for a model that is available. Other models are downloaded on the
// command line.
func (s *Handlers) Pull(r *http.Request) (wire.Answer, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	if _, err := pullNames.Check(o); err != nil {
		return nil, err
	}
	name, stream := "", true
	for _, err := range []error{o.Str("name", &name), o.Str("model", &name), o.Boolean("stream", &stream)} {
		if err != nil {
			return nil, err
		}
	}
	if name == "" {
		return nil, wire.Invalid("model", "model is required")
	}
	if _, err := s.Models.Find(name); err != nil {
		return nil, err
	}
	if stream {
		return pulled{}, nil
	}
	return wire.JSON{Value: pullStatus{"success"}}, nil
}

type pullStatus struct {
	Status string `json:"status"`
}

// pulled is the stream for a model that is available.
type pulled struct{}

func (pulled) Write(w http.ResponseWriter, _ *http.Request) error {
	out := wire.NewLineStream(w)
	for _, status := range []string{"pulling manifest", "verifying sha256 digest", "writing manifest", "success"} {
		if err := out.Line(pullStatus{status}); err != nil {
			return err
		}
	}
	return nil
}
