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
	ContextLength int    `json:"context_length,omitempty"`
	Loaded        bool   `json:"loaded"`

	// What it can be asked for, and how many numbers an embedding has.
	Capabilities    []purpose `json:"capabilities,omitempty"`
	EmbeddingLength int       `json:"embedding_length,omitempty"`

	// How the model writes calls of tools and thoughts, by the name of the form;
	// in brackets if its template doesn't say and the form is the usual one.
	ToolCalls string `json:"tool_calls,omitempty"`
	Thoughts  string `json:"thoughts,omitempty"`
}

// listModels is GET /v1/models.
func (s *openAI) listModels(*http.Request) (answer, error) {
	hosts, err := s.models.list()
	if err != nil {
		return nil, err
	}
	reply := modelsReply{Object: "list", FirstID: hosts[0].name, LastID: hosts[len(hosts)-1].name}
	for _, h := range hosts {
		reply.Data = append(reply.Data, modelOf(h))
	}
	return jsonAnswer{reply}, nil
}

// getModel is GET /v1/models/NAME.
func (s *openAI) getModel(r *http.Request) (answer, error) {
	h, err := s.models.find(strings.TrimPrefix(r.URL.Path, "/v1/models/"))
	if err != nil {
		return nil, err
	}
	return jsonAnswer{modelOf(h)}, nil
}

// modelOf describes a model; one that is not in memory only by its name.
func modelOf(h *host) modelReply {
	out := modelReply{
		ID: h.name, Object: "model", Created: h.created.Unix(), OwnedBy: "stencil",
		Type: "model", DisplayName: h.name, CreatedAt: h.created.UTC().Format(time.RFC3339),
	}
	if m := h.inMemory(); m != nil {
		info := m.text.Model().Info()
		out.Loaded, out.ContextLength = true, m.text.ContextLimit()
		out.Architecture, out.Description = info.Architecture, info.Description
		out.Quantization, out.Parameters = info.Quantization, info.Parameters
		out.Capabilities = m.purposes()
		if m.serves(toEmbed) {
			out.EmbeddingLength = m.embeddings.Info().Width
		}
		if m.serves(toGenerate) {
			out.ToolCalls, out.Thoughts = bracketed(m.callForm.Name, m.callsAs), bracketed(m.thoughts.Name, m.thinksAs)
		}
	}
	return out
}

// bracketed returns a name, in brackets unless it is sure.
func bracketed(name string, sure bool) string {
	if sure {
		return name
	}
	return "(" + name + ")"
}
