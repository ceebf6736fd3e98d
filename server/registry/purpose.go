package registry

import (
	"fmt"
	"net/http"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/vocab"
)

// A Purpose is what a request uses a model for. The words are Ollama's where it
// has one.
type Purpose string

// The purposes.
const (
	ToGenerate Purpose = "completion"
	ToEmbed    Purpose = "embedding"
	ToRerank   Purpose = "rerank"
)

// Serves reports whether the model can serve a purpose.
func (m *Model) Serves(p Purpose) bool {
	if p == ToGenerate {
		return m.Engine != nil || m.remote
	}
	return m.Embeddings != nil && m.Embeddings.Info().Reranks() == (p == ToRerank)
}

// Purposes lists the purposes that the model can serve.
func (m *Model) Purposes() (out []Purpose) {
	for _, p := range []Purpose{ToGenerate, ToEmbed, ToRerank} {
		if m.Serves(p) {
			out = append(out, p)
		}
	}
	return out
}

// A purposeError means that a model can't serve the purpose of a request.
type purposeError struct {
	model  string
	wanted Purpose
	served []Purpose
	remote bool
}

// Error implements error.
func (e *purposeError) Error() string {
	does := map[Purpose]string{ToGenerate: "generates text", ToEmbed: "gives embeddings", ToRerank: "reranks documents"}
	lacks := map[Purpose]string{
		ToGenerate: "it does not generate text", ToEmbed: "it does not give embeddings", ToRerank: "it does not rerank documents",
	}[e.wanted]
	switch {
	case e.remote:
		lacks = "it is behind an upstream, which is asked for text alone"
	case e.wanted == ToEmbed && e.served[0] == ToGenerate:
		lacks = "it was not loaded for embeddings, as stencil serve --embeddings does"
	}
	return fmt.Sprintf("the model %q %s; %s", e.model, does[e.served[0]], lacks)
}

// embedsOnly is the text of a model that generates none.
type embedsOnly struct{ e *embedding.Engine }

func (o embedsOnly) Vocab() *vocab.Vocab  { return o.e.Model().Vocab() }
func (o embedsOnly) Model() backend.Model { return o.e.Model() }
func (o embedsOnly) ContextLimit() int    { return o.e.Limit() }
func (o embedsOnly) Parallel() int        { return 1 }
func (o embedsOnly) Stats() engine.Stats {
	s := o.e.Stats()
	return engine.Stats{Queued: s.Queued, Active: s.Active}
}

func (e *purposeError) Problem() problem.Problem {
	return problem.Problem{Status: http.StatusBadRequest, Kind: problem.Invalid, Param: "model", Code: "model_not_capable", Message: e.Error()}
}
