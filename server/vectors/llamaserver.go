package vectors

import (
	"math"
	"net/http"

	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/wire"
)

// A llamaServerReply is an input's embedding in llama-server's form: a list, which holds one vector for pooled
// embeddings.
type llamaServerReply struct {
	Index     int         `json:"index"`
	Embedding [][]float32 `json:"embedding"`
}

// LlamaServer handles POST /embedding and /embeddings in llama-server's own form: the field may be named content,
// and the answer is a bare list of embeddings.
func (s *Handlers) LlamaServer(r *http.Request) (wire.Answer, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	field := "input"
	if !o.Given(field) && o.Given("content") {
		field = "content"
	}
	norm := 2
	if err := o.Integer("embd_normalize", &norm, -1, math.MaxInt32); err != nil {
		return nil, err
	}
	q, err := readEmbeddings(o, field, "embd_normalize", "content")
	if err != nil {
		return nil, err
	}
	if q.Base64 {
		return nil, wire.NotOffered("encoding_format", "encoding_format base64 at this path, unlike at /v1/embeddings,")
	}
	q.Raw = norm != 2
	m, err := s.Models.NamedFor(r.Context(), q.Model, q.KeepAlive, registry.ToEmbed)
	if err != nil {
		return nil, err
	}
	result, err := s.Embed(r, m, q)
	if err != nil {
		return nil, err
	}
	out := make([]llamaServerReply, 0, len(result.Rows))
	for i, row := range result.Rows {
		if q.Raw && norm >= 0 {
			embedding.NormalizeBy(row, norm)
		}
		out = append(out, llamaServerReply{i, [][]float32{row}})
	}
	return wire.JSON{Value: out}, nil
}
