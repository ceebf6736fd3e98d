package server

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
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

	// Of /api/ps only.
	ExpiresAt     *time.Time `json:"expires_at,omitempty"`
	SizeVRAM      *int64     `json:"size_vram,omitempty"`
	ContextLength int        `json:"context_length,omitempty"`
}

// ollamaModelOf describes a model; one that is not in memory only by its name.
func ollamaModelOf(h *host) ollamaModel {
	sum := sha256.Sum256([]byte(h.name))
	out := ollamaModel{
		Name: h.name, Model: h.name, ModifiedAt: h.created.UTC(), Digest: hex.EncodeToString(sum[:]),
		Details: ollamaDetails{Format: "gguf", Families: []string{}},
	}
	m := h.inMemory()
	if m == nil {
		return out
	}
	info := m.text.Model().Info()
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

// parameterSize writes a number of weights as people do: 1.2B, 25.4M.
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

// ollamaTags is GET /api/tags: the models that can be asked for.
func (s *ollamaAPI) ollamaTags(*http.Request) (answer, error) {
	hosts, err := s.models.list()
	if err != nil {
		return nil, err
	}
	var list ollamaList
	for _, h := range hosts {
		list.Models = append(list.Models, ollamaModelOf(h))
	}
	return jsonAnswer{list}, nil
}

// ollamaPs is GET /api/ps: the models that are in memory.
func (s *ollamaAPI) ollamaPs(*http.Request) (answer, error) {
	hosts, err := s.models.list()
	if err != nil {
		return nil, err
	}
	list := ollamaList{[]ollamaModel{}}
	for _, h := range hosts {
		m := h.inMemory()
		if m == nil {
			continue
		}
		one, vram, expires := ollamaModelOf(h), int64(0), h.expiry()
		for _, d := range m.text.Model().Info().Devices {
			if !strings.HasPrefix(d, "CPU") {
				vram = one.Size
			}
		}
		one.ExpiresAt, one.SizeVRAM, one.ContextLength = &expires, &vram, m.text.ContextLimit()
		list.Models = append(list.Models, one)
	}
	return jsonAnswer{list}, nil
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

var ollamaShowNames = names{
	known:    []string{"model", "name", "verbose"},
	harmless: []string{"system", "template", "options"},
}

// ollamaShow is POST /api/show: what is known about a model.
func (s *ollamaAPI) ollamaShow(r *http.Request) (answer, error) {
	o, err := readObject(r)
	if err != nil {
		return nil, err
	}
	if _, err := ollamaShowNames.check(o); err != nil {
		return nil, err
	}
	name, verbose := "", false
	for _, err := range []error{o.str("name", &name), o.str("model", &name), o.boolean("verbose", &verbose)} {
		if err != nil {
			return nil, err
		}
	}
	if name == "" {
		return nil, invalid("model", "model is required")
	}
	m, err := s.models.anyNamed(r.Context(), name, nil)
	if err != nil {
		return nil, err
	}
	info, one := m.text.Model().Info(), ollamaModelOf(m.host)
	arch := info.Architecture
	var capabilities []string
	for _, p := range m.purposes() {
		if capabilities = append(capabilities, string(p)); p == toGenerate {
			capabilities = append(capabilities, "tools")
		}
	}
	return jsonAnswer{ollamaShowReply{
		Modelfile: "FROM " + info.Path, Template: m.text.Vocab().ChatTemplate(), Details: one.Details, ModifiedAt: one.ModifiedAt,
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

// ollamaVersion is GET /api/version.
func (s *ollamaAPI) ollamaVersion(*http.Request) (answer, error) {
	return jsonAnswer{ollamaVersionReply{s.version}}, nil
}

// ollamaHello is HEAD /, by which Ollama's client finds out that somebody is
// there.
func (s *ollamaAPI) ollamaHello(*http.Request) (answer, error) { return nothing{}, nil }

// nothing is an answer without a body.
type nothing struct{}

func (nothing) write(w http.ResponseWriter, _ *http.Request) error {
	w.WriteHeader(http.StatusOK)
	return nil
}
