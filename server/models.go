package server

import (
	"net/http"
	"strings"
	"time"
)

// modelsReply is read by OpenAI's clients (object, data) and by Anthropic's
// (data, first_id, last_id, has_more).
type modelsReply struct {
	Object  string       `json:"object"`
	Data    []modelReply `json:"data"`
	FirstID string       `json:"first_id,omitempty"`
	LastID  string       `json:"last_id,omitempty"`
	HasMore bool         `json:"has_more"`
}

type modelReply struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	OwnedBy     string `json:"owned_by"`
	Type        string `json:"type"`
	DisplayName string `json:"display_name"`
	CreatedAt   string `json:"created_at"`

	Architecture  string `json:"architecture,omitempty"`
	Description   string `json:"description,omitempty"`
	Quantization  string `json:"quantization,omitempty"`
	Parameters    uint64 `json:"parameters,omitempty"`
	ContextLength int    `json:"context_length"`
}

// listModels is GET /v1/models.
func (s *Server) listModels(*http.Request) (answer, error) {
	m, err := s.ready()
	if err != nil {
		return nil, err
	}
	return jsonAnswer{modelsReply{Object: "list", FirstID: m.name, LastID: m.name, Data: []modelReply{modelOf(m)}}}, nil
}

// getModel is GET /v1/models/NAME.
func (s *Server) getModel(r *http.Request) (answer, error) {
	m, err := s.named(strings.TrimPrefix(r.URL.Path, "/v1/models/"))
	if err != nil {
		return nil, err
	}
	return jsonAnswer{modelOf(m)}, nil
}

func modelOf(m *served) modelReply {
	info := m.engine.Model().Info()
	return modelReply{
		ID: m.name, Object: "model", Created: m.created.Unix(), OwnedBy: "stencil",
		Type: "model", DisplayName: m.name, CreatedAt: m.created.UTC().Format(time.RFC3339),
		Architecture: info.Architecture, Description: info.Description, Quantization: info.Quantization,
		Parameters: info.Parameters, ContextLength: m.engine.ContextLimit(),
	}
}
