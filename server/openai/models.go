package openai

import (
	"net/http"
	"strings"
	"time"

	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/wire"
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

	// For Anthropic's clients:
	MaxInput     int     `json:"max_input_tokens,omitempty"`
	MaxTokens    int     `json:"max_tokens,omitempty"`
	Lifecycle    string  `json:"lifecycle"` // "active"
	Line         *string `json:"line"`
	DeprecatedAt *string `json:"deprecated_at"`
	RetiresAt    *string `json:"retires_at"`

	Architecture  string `json:"architecture,omitempty"`
	Description   string `json:"description,omitempty"`
	Quantization  string `json:"quantization,omitempty"`
	Parameters    uint64 `json:"parameters,omitempty"`
	ContextLength int    `json:"context_length,omitempty"`
	Loaded        bool   `json:"loaded"`

	// For llama-server's clients:
	Aliases []string      `json:"aliases"`
	Tags    []string      `json:"tags"`
	Status  modelStatus   `json:"status"`
	Meta    *modelNumbers `json:"meta,omitempty"`

	// The purposes of the model or, for Anthropic's clients, what its API can do with it; and the length of its embeddings.
	Capabilities    any `json:"capabilities,omitempty"`
	EmbeddingLength int `json:"embedding_length,omitempty"`

	// The forms of the model's tool calls and reasoning; in brackets if its
	// template doesn't say and the form is a default.
	ToolCalls string `json:"tool_calls,omitempty"`
	Thoughts  string `json:"thoughts,omitempty"`
}

type modelStatus struct {
	Value  string `json:"value"` // loaded, loading, unloaded
	Failed bool   `json:"failed,omitempty"`
}

// modelNumbers are known for models in memory.
type modelNumbers struct {
	Vocab      int    `json:"n_vocab"`
	Context    int    `json:"n_ctx"`
	Trained    int    `json:"n_ctx_train"`
	Width      int    `json:"n_embd"`
	Parameters uint64 `json:"n_params"`
	Size       uint64 `json:"size"` // bytes
}

// ListModels handles GET /v1/models.
func (s *Handlers) ListModels(r *http.Request) (wire.Answer, error) {
	hosts, err := s.Models.List()
	if err != nil {
		return nil, err
	}
	reply := modelsReply{Object: "list", FirstID: hosts[0].Name, LastID: hosts[len(hosts)-1].Name}
	for _, h := range hosts {
		reply.Data = append(reply.Data, modelOf(h, r))
	}
	return wire.JSON{Value: reply}, nil
}

// GetModel handles GET /v1/models/NAME.
func (s *Handlers) GetModel(r *http.Request) (wire.Answer, error) {
	name := strings.TrimPrefix(r.URL.Path, "/v1/models/")
	if name == "" {
		return s.ListModels(r)
	}
	h, err := s.Models.Find(name)
	if err != nil {
		return nil, err
	}
	return wire.JSON{Value: modelOf(h, r)}, nil
}

// modelOf describes a model; only its name is known if it is not in memory. Anthropic's clients, which send the version of their API, expect
// an object where others have a list.
func modelOf(h *registry.Entry, r *http.Request) modelReply {
	out := modelReply{
		ID: h.Name, Object: "model", Created: h.Created.Unix(), OwnedBy: "stencil",
		Type: "model", DisplayName: h.Name, CreatedAt: h.Created.UTC().Format(time.RFC3339), Lifecycle: "active",
		Aliases: append([]string{h.Name}, h.Aliases...), Tags: append([]string{}, h.Tags...),
	}
	out.Status.Value, out.Status.Failed = h.Status()
	if m := h.InMemory(); m != nil {
		info := m.Text.Model().Info()
		out.Loaded, out.ContextLength = true, m.Text.ContextLimit()
		out.Architecture, out.Description = info.Architecture, info.Description
		out.Quantization, out.Parameters = info.Quantization, info.Parameters
		out.Capabilities = m.Purposes()
		if r.Header.Get("Anthropic-Version") != "" {
			out.Capabilities, out.MaxInput, out.MaxTokens = anthropicCapabilities(m), out.ContextLength, out.ContextLength
		}
		out.Meta = &modelNumbers{m.Text.Vocab().Len(), out.ContextLength, info.ContextLength, info.Width, info.Parameters, info.Bytes}
		if m.Serves(registry.ToEmbed) {
			out.EmbeddingLength = m.Embeddings.Info().Width
		}
		if m.Serves(registry.ToGenerate) {
			out.ToolCalls, out.Thoughts = bracketed(m.CallForm.Name, m.CallsSaid), bracketed(m.ThoughtForm.Name, m.ThoughtsSaid)
		}
	}
	return out
}

// anthropicCapabilities returns what Anthropic's API can do with a model. Its clients read each key.
func anthropicCapabilities(m *registry.Model) map[string]any {
	is := func(supported bool, more ...any) map[string]any {
		out := map[string]any{"supported": supported}
		for i := 0; i+1 < len(more); i += 2 {
			out[more[i].(string)] = more[i+1]
		}
		return out
	}
	writes := m.Serves(registry.ToGenerate)
	thinks := writes && m.ThoughtsSaid
	no, yes, thought := is(false), is(writes), is(thinks)
	return map[string]any{
		"batch": no, "citations": no, "code_execution": no, "image_input": no, "pdf_input": no, "structured_outputs": yes,
		"server_tools":       is(false, "code_execution", no, "web_search", no),
		"context_management": is(writes, "clear_thinking_20251015", yes, "clear_tool_uses_20250919", yes, "compact_20260112", no),
		"effort":             is(thinks, "low", thought, "medium", thought, "high", thought, "xhigh", thought, "max", thought),
		"thinking":           is(thinks, "types", map[string]any{"adaptive": yes, "between_tools": yes, "disabled": yes, "enabled": yes}),
	}
}

// bracketed returns a name, in brackets unless it is certain.
func bracketed(name string, sure bool) string {
	if sure {
		return name
	}
	return "(" + name + ")"
}
